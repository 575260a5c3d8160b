//! Writes the Ruby gem's data about the C interface: numbers, structs for `String#pack` and `String#unpack`, functions for
//! FFI; and the symbols of its signatures.

use std::collections::BTreeSet;

use crate::description::{Description, Enumeration, Form, Function, Signature, Struct, Type};

/// Enumerations that the library reports, which Ruby looks up by number. The others are looked up by symbol.
const REPORTED: &[&str] = &["aside_kind", "aside_channel", "aside_cause", "aside_change"];

/// How the fields of a part of a struct are unpacked.
enum Place {
    /// Those of each element of an array, from the element's first byte to its last.
    Element,
    /// From the struct's first byte.
    Start,
    /// From the first of the fields, of which the struct's `_AT` has the offset.
    First,
}

/// Each unpacked number costs time, so the fields that every text needs are also unpacked without the others: the name of the
/// constant, the struct, and the fields in their order.
const PARTS: &[(&str, &str, Place, &[&str])] = &[
    ("EVENT_TEXT", "aside_event", Place::Element, &["kind", "channel", "offset", "len"]),
    ("EVENT_RULE_TAG_CALL", "aside_event", Place::First, &["rule", "tag", "call"]),
    ("EVENT_NAME_VALUE", "aside_event", Place::First, &["text_at", "name_len", "value_len"]),
    ("EVENT_TOKENS", "aside_event", Place::First, &["tokens", "first_token"]),
    ("EVENT_ARRAY_COUNT_OFFSET", "aside_event_array", Place::Start, &["count", "offset"]),
    ("EVENT_ARRAY_CONSUMED", "aside_event_array", Place::Start, &["consumed"]),
    ("EVENT_ARRAY_HELD", "aside_event_array", Place::Start, &["held"]),
    ("EVENT_ARRAY_ATTRIBUTES", "aside_event_array", Place::Start, &["attributes"]),
];

/// Returns the file `layout.rb`.
pub fn layout(description: &Description) -> String {
    let mut out = "\
# frozen_string_literal: true

# Generated from src/ffi by tests/header: do not edit.

module Aside
  module Native # :nodoc:
    # The values of a status.
"
    .to_owned();
    for enumeration in &description.enumerations {
        let name = constant(&enumeration.name);
        if enumeration.form == Form::Status {
            for (short, enumerator) in enumeration.short() {
                out += &format!("    {} = {}\n", short.to_ascii_uppercase(), number(enumerator.value));
            }
            continue;
        }
        let values =
            if REPORTED.contains(&&*enumeration.name) { by_number(enumeration) } else { by_symbol(enumeration) };
        out += &format!("\n    # {}\n{}", enumeration.about, list(&name, &values));
    }
    out.push('\n');
    for one in &description.numbers {
        out += &format!("    {} = {}\n", one.name.trim_start_matches("ASIDE_"), number(one.value));
    }

    out += "
    # Each struct's size and the offsets of its fields; the format that packs it, in which a text or an array is a String, or
    # nil; and the one that unpacks it without its size and what is reserved, in which they are addresses.
";
    for (name, of, ..) in PARTS {
        assert!(description.find_struct(of).is_some(), "{name} is a part of {of}, which there is not");
    }
    let filled = filled(description);
    for one in &description.structs {
        let name = constant(&one.name);
        let places = one.fields.iter().map(|field| format!("{}: {}", field.name, field.at)).collect::<Vec<_>>();
        out += &format!("\n    {name}_SIZE = {}\n", one.size);
        out += &list(&format!("{name}_AT"), &Values { open: "{ ", separator: ", ", close: " }", items: places });
        if is_given(description, one) {
            let whole = one.fields.iter().map(|field| codes(description, &field.what, true)).collect::<String>();
            out += &format!("    {name}_PACK = {:?}\n", shortened(&whole));
        }
        if filled.contains(&*one.name) {
            let told = one.fields.iter().map(|field| &*field.name).filter(|name| !["size", "reserved"].contains(name));
            let told = told.collect::<Vec<_>>();
            out += &format!("    {name}_UNPACK = {:?}\n", part(description, one, &Place::Element, &told));
        }
        for (name, _, place, fields) in PARTS.iter().filter(|(_, of, ..)| *of == one.name) {
            out += &format!("    {name} = {:?}\n", part(description, one, place, fields));
        }
    }

    out += "
    # The parameters and the result of each function without a callback.
    FUNCTIONS = {
";
    // Ruby calls none with a callback; and its loader does not need a symbol for the version.
    let is_called = |one: &&Function| {
        let mut parameters = one.signature.parameters.iter();
        !one.name.starts_with("aside_version_")
            && !parameters
                .any(|(_, what)| description.callbacks.iter().any(|known| *what == Type::Named(known.name.clone())))
    };
    let functions = description.functions.iter().filter(is_called);
    let functions = functions.map(|one| format!("      {}", function(description, one)));
    out += &functions.collect::<Vec<_>>().join(",\n");
    out + "\n    }.freeze\n  end\nend\n"
}

/// Returns the types of `aside.rbs`.
pub fn signatures(description: &Description) -> String {
    let mut out = String::new();
    for enumeration in description.enumerations.iter().filter(|one| one.form != Form::Status) {
        let name = enumeration.name.trim_start_matches("aside_");
        let name = if enumeration.form == Form::Bits { name.trim_end_matches('s') } else { name };
        let symbols = enumeration.short().filter(|(short, _)| short != "default").map(|(short, _)| format!(":{short}"));
        let mut line = format!("  type {name} =");
        for (index, symbol) in symbols.enumerate() {
            let separator = if index == 0 { "" } else { " |" };
            if line.rsplit('\n').next().unwrap_or_default().len() + separator.len() + symbol.len() + 1 > 120 {
                line += &format!("\n           {separator} {symbol}");
            } else {
                line += &format!("{separator} {symbol}");
            }
        }
        out += &format!("{line}\n");
    }
    out
}

/// An array or a hash as it is written.
struct Values {
    open: &'static str,
    separator: &'static str,
    close: &'static str,
    items: Vec<String>,
}

fn by_number(enumeration: &Enumeration) -> Values {
    let most = enumeration.enumerators.iter().map(|enumerator| enumerator.value).max().unwrap_or_default();
    let names = (0..=most).map(|value| {
        let named = enumeration.short().find(|(_, enumerator)| enumerator.value == value);
        named.map(|(short, _)| short)
    });
    let names: Vec<_> = names.collect();
    // An array of symbols alone is written as words.
    match names.iter().cloned().collect::<Option<Vec<_>>>() {
        Some(items) => Values { open: "%i[", separator: " ", close: "]", items },
        None => {
            let items = names.into_iter().map(|name| name.map_or("nil".into(), |name| format!(":{name}")));
            Values { open: "[", separator: ", ", close: "]", items: items.collect() }
        }
    }
}

fn by_symbol(enumeration: &Enumeration) -> Values {
    let items = enumeration.short().map(|(short, enumerator)| match &*short {
        "default" => format!("nil => {}", number(enumerator.value)),
        short => format!("{short}: {}", number(enumerator.value)),
    });
    Values { open: "{ ", separator: ", ", close: " }", items: items.collect() }
}

/// Returns a number with an underscore after each three digits from the right.
fn number(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && digits.len() >= 5 && (digits.len() - index).is_multiple_of(3) {
            out.push('_');
        }
        out.push(digit);
    }
    if value < 0 { format!("-{out}") } else { out }
}

/// Defines a frozen list over as many lines as it needs.
fn list(name: &str, values: &Values) -> String {
    let mut lines = vec![format!("    {name} = {}", values.open)];
    let indent = " ".repeat(lines[0].len());
    for (index, item) in values.items.iter().enumerate() {
        let last = lines.last_mut().expect("there is one");
        let separator = if index == 0 { "" } else { values.separator };
        if last.len() + separator.len() + item.len() + 12 > 132 {
            *last += separator.trim_end();
            lines.push(format!("{indent}{item}"));
        } else {
            *last += &format!("{separator}{item}");
        }
    }
    lines.join("\n") + values.close + ".freeze\n"
}

fn constant(name: &str) -> String {
    name.trim_start_matches("aside_").to_ascii_uppercase()
}

/// Returns the codes of `String#pack` for a type. In a struct that the caller passes, a pointer to bytes or to structs is a
/// String.
fn codes(description: &Description, what: &Type, is_given: bool) -> String {
    match what {
        Type::Int32 => "l".into(),
        Type::Uint32 => "L".into(),
        Type::Int64 => "q".into(),
        Type::Uint64 => "Q".into(),
        Type::Size => "J".into(),
        Type::Double => "d".into(),
        Type::Pointer { to, .. } => {
            let is_object = matches!(&**to, Type::Named(name) if description.is_opaque(name)) || **to == Type::Void;
            if is_given && !is_object { "p".into() } else { "J".into() }
        }
        Type::Array(of, len) => codes(description, of, is_given).repeat(*len),
        Type::Named(name) => match (description.enumeration(name), description.find_struct(name)) {
            (Some(enumeration), _) if enumeration.form == Form::Status => "l".into(),
            (Some(_), _) => "L".into(),
            (_, Some(one)) => one.fields.iter().map(|field| codes(description, &field.what, is_given)).collect(),
            _ => "J".into(), // a callback
        },
        Type::Void | Type::Char => panic!("a field has no such type"),
    }
}

/// Returns codes in short, such as `L3Q` for `LLLQ`.
fn shortened(codes: &str) -> String {
    let mut out = String::new();
    let mut rest = codes;
    while let Some(code) = rest.chars().next() {
        let count = rest.len() - rest.trim_start_matches(code).len();
        out.push(code);
        if count > 1 {
            out += &count.to_string();
        }
        rest = &rest[count..];
    }
    out
}

fn part(description: &Description, one: &Struct, place: &Place, fields: &[&str]) -> String {
    let find = |name: &&str| {
        one.fields.iter().find(|field| field.name == *name).unwrap_or_else(|| panic!("{} has no {name}", one.name))
    };
    let mut fields = fields.iter().map(find).peekable();
    let mut at = match place {
        Place::First => fields.peek().expect("a part has fields").at,
        Place::Element | Place::Start => 0,
    };
    let mut out = String::new();
    let mut run = String::new();
    for field in fields {
        if field.at > at {
            let gap = field.at - at;
            // A format for one struct may jump.
            out += &shortened(&std::mem::take(&mut run));
            out += &if matches!(place, Place::Start) { format!("@{}", field.at) } else { format!("x{gap}") };
        }
        let codes = codes(description, &field.what, false);
        at = field.at + codes.chars().map(width).sum::<usize>();
        run += &codes;
    }
    out += &shortened(&run);
    if matches!(place, Place::Element) && one.size > at {
        out += &format!("x{}", one.size - at);
    }
    out
}

fn width(code: char) -> usize {
    if "lL".contains(code) { 4 } else { 8 }
}

/// Returns whether Ruby writes such a struct: a function reads it, a struct that the caller passes points to it, or a function
/// fills it and it points to memory.
fn is_given(description: &Description, one: &Struct) -> bool {
    let has_room = one.fields.iter().any(|field| {
        matches!(&field.what, Type::Pointer { is_const: false, to }
            if !matches!(&**to, Type::Void) && !matches!(&**to, Type::Named(name) if description.is_opaque(name)))
    });
    let parameters = description.functions.iter().flat_map(|function| &function.signature.parameters);
    parameters
        .map(|(_, what)| what)
        .any(|what| what.is_pointer_to(&one.name, true) || has_room && what.is_pointer_to(&one.name, false))
        || description.structs.iter().any(|other| {
            other.name != one.name
                && other.fields.iter().any(|field| field.what.is_pointer_to(&one.name, true))
                && is_given(description, other)
        })
}

/// Returns the structs that the library writes: for a function, for a callback, and those that they point to.
fn filled(description: &Description) -> BTreeSet<&str> {
    let takes = |signature: &Signature, name: &str, constant: bool| {
        signature.parameters.iter().any(|(_, what)| what.is_pointer_to(name, constant))
    };
    let is_first = |one: &&Struct| {
        let functions = &description.functions;
        functions.iter().any(|function| {
            takes(&function.signature, &one.name, false) || function.signature.result.is_pointer_to(&one.name, true)
        }) || description.callbacks.iter().any(|callback| takes(&callback.signature, &one.name, true))
    };
    let mut all: BTreeSet<&str> = description.structs.iter().filter(is_first).map(|one| &*one.name).collect();
    loop {
        let fields = all.iter().filter_map(|name| description.find_struct(name)).flat_map(|one| &one.fields);
        let mut more: BTreeSet<&str> = fields
            .filter_map(|field| match field.what.target().unwrap_or(&field.what) {
                Type::Named(name) => description.find_struct(name).map(|one| &*one.name),
                _ => None,
            })
            .collect();
        more.retain(|name| !all.contains(name));
        if more.is_empty() {
            return all;
        }
        all.extend(more);
    }
}

/// Returns a function for `attach_function`. Handles are addresses, and buffers that are read or written are Strings.
fn function(description: &Description, function: &Function) -> String {
    let Function { name, signature, .. } = function;
    let parameters = signature.parameters.iter().map(|(_, what)| match what {
        Type::Pointer { is_const, to } => match &**to {
            Type::Void => "address",
            Type::Named(name) if description.is_opaque(name) => "address",
            _ if *is_const => "buffer_in",
            _ => "buffer_inout",
        },
        plain => scalar(description, plain),
    });
    let parameters: Vec<_> = parameters.collect();
    // A text whose length is written elsewhere need not end in a NUL.
    let has_length = signature
        .parameters
        .iter()
        .any(|(_, what)| matches!(what, Type::Pointer { is_const: false, to } if **to == Type::Size));
    let result = match &signature.result {
        Type::Pointer { is_const: true, to } if **to == Type::Char && !has_length => "string",
        Type::Pointer { .. } => "address",
        plain => scalar(description, plain),
    };
    let parameters = match &parameters[..] {
        [] => "[]".to_owned(),
        [one] => format!("[:{one}]"),
        several => format!("%i[{}]", several.join(" ")),
    };
    let short = format!("{name}: [{parameters}, :{result}]");
    let room = 132 - ",".len() - 6;
    if short.len() <= room { short } else { short.replace("], :", &format!("],\n{}:", " ".repeat(6 + name.len() + 3))) }
}

fn scalar(description: &Description, what: &Type) -> &'static str {
    match what {
        Type::Void => "void",
        Type::Int32 => "int32",
        Type::Uint32 => "uint32",
        Type::Int64 => "int64",
        Type::Uint64 => "uint64",
        Type::Size => "size_t",
        Type::Double => "double",
        Type::Named(name) => match description.enumeration(name).map(|one| one.form) {
            Some(Form::Status) => "int32",
            Some(_) => "uint32",
            None => "address", // a callback
        },
        Type::Char | Type::Pointer { .. } | Type::Array(..) => panic!("not a number"),
    }
}
