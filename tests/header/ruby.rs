//! Writes the Ruby gem's data about the C interface: numbers, structs for `String#pack` and `String#unpack`, functions for
//! FFI; the symbols of its signatures; and its options, with their comments and types.

use std::collections::BTreeSet;

use crate::description::{Description, Enumeration, Form, Function, Signature, Struct, Type};
use crate::options::{Kind, Options, Words};
use crate::words::{translated, wrap};

/// Enumerations that the library returns, which Ruby looks up by number. The others are looked up by symbol.
const REPORTED: &[&str] = &["aside_kind", "aside_part_kind", "aside_channel", "aside_cause", "aside_change"];

/// The bytes from which the fields of a part of a struct are unpacked.
enum Place {
    /// Each element of an array, from the element's first byte to its last.
    Element,
    /// From the struct's first byte.
    Start,
    /// From the first of the fields, whose offset is the constant that ends in `_AT`.
    First,
}

/// The longest line of a comment.
const WIDTH: usize = 132;

/// Parts of structs: the name of the constant, the struct, and the fields in order. Each unpacked number costs time, so the fields
/// of every text event can be unpacked without the others.
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

const WORDS: Words = Words { on: "true: ", off: "false: ", zero: "0: ", not_set: "nil: " };

/// Returns the file `layout.rb`.
pub fn layout(description: &Description, options: &[Options<'_>]) -> String {
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

    out += &kinds(options);
    out += "
    # The parameters and the result of each function without a callback.
    FUNCTIONS = {
";
    // The gem calls no function with a callback, and does not need the symbol of the version.
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

/// Returns the tables by which the values of options become fields of their struct.
fn kinds(options: &[Options<'_>]) -> String {
    let kind = |kind: &Kind<'_>| match kind {
        Kind::Flag => ":flag".to_owned(),
        Kind::Number => ":count".to_owned(),
        Kind::Value(enumeration) => constant(&enumeration.name),
        Kind::Bits(enumeration) => format!("[{}].freeze", constant(&enumeration.name)),
        Kind::Text | Kind::Tools => ":text".to_owned(),
    };
    let table = |options: &Options<'_>| {
        let name = options.object.to_ascii_uppercase() + "_OPTIONS";
        let inner = options.inner.iter().map(|(field, _)| format!("{field}: :struct"));
        let own = options.part(false).map(|option| format!("{}: {}", option.name, kind(&option.kind)));
        let items = inner.chain(own).chain(options.is_padded.then(|| "reserved: :zero".to_owned())).collect();
        let of_inner = options.inner.map(|(field, _)| {
            let items = options.part(true).map(|option| option.name.to_owned()).collect();
            let name = format!("{name}_{}", field.to_ascii_uppercase());
            list(&name, &Values { open: "%i[", separator: " ", close: "]", items })
        });
        list(&name, &Values { open: "{ ", separator: ", ", close: " }", items }) + &of_inner.unwrap_or_default()
    };
    let about = "The options of a struct in their order, each with the kind of its value: the symbols of which it is one, an
    # Array with the symbols of which it is a set, or one of :flag, :count, :text, :zero and :struct, the bytes of another struct,
    # whose options are in a list.";
    format!("\n    # {about}\n{}", options.iter().map(table).collect::<Vec<_>>().join("\n"))
}

/// Returns the comment about options, for the method that takes them.
pub fn options(description: &Description, options: &Options<'_>) -> String {
    let mut out = String::new();
    for option in &options.options {
        let symbols = match option.kind {
            Kind::Value(enumeration) => format!(" One of {}.", enumeration.quoted()),
            Kind::Bits(enumeration) => format!(" A symbol or an Array of symbols: {}.", enumeration.quoted()),
            _ => String::new(),
        };
        let text = said(description, options, &(option.text(&WORDS) + &symbols));
        let head = format!("+{}+:: ", option.name);
        for (index, line) in wrap(&text, WIDTH - 6 - head.len()).iter().enumerate() {
            let indent = if index == 0 { head.clone() } else { " ".repeat(head.len()) };
            out += &format!("    # {indent}{line}\n");
        }
    }
    format!("    #++\n{out}    #--\n")
}

/// Returns the declaration of the method that takes options.
pub fn options_signature(options: &Options<'_>) -> String {
    let what = |kind: &Kind<'_>| match kind {
        Kind::Flag => "boolish".to_owned(),
        Kind::Number => "Integer?".to_owned(),
        Kind::Value(enumeration) => enumeration.name.trim_start_matches("aside_").to_owned() + "?",
        Kind::Bits(enumeration) => {
            let name = enumeration.name.trim_start_matches("aside_").trim_end_matches('s');
            format!("({name} | Array[{name}])?")
        }
        Kind::Text | Kind::Tools => "text?".to_owned(),
    };
    let options = options.options.iter().map(|option| format!("      ?{}: {}", option.name, what(&option.kind)));
    let options = options.collect::<Vec<_>>().join(",\n");
    format!("    def initialize: (\n      Dialect | name dialect,\n{options}\n    ) -> void\n")
}

/// Returns a comment in the words of Ruby.
fn said(description: &Description, options: &Options<'_>, text: &str) -> String {
    let is_plain = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    translated(text, |word| {
        Some(match description.enumerator(word) {
            Some((_, short)) if short == "default" => "nil".into(),
            Some((_, short)) => format!("+:{short}+"),
            None if options.has(word) => format!("+{word}+"),
            None => match description.mentioned(word) {
                Some(method) => format!("#{method}"),
                None if is_plain(word) => format!("+{word}+"),
                None => format!("<tt>{word}</tt>"),
            },
        })
    })
}

/// Returns the types of `aside.rbs`.
pub fn signatures(description: &Description) -> String {
    let mut out = String::new();
    for enumeration in description.general_enumerations() {
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

/// The source text of an array or a hash.
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
    // An array that has only symbols is written with `%i[]`.
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

/// Returns a number with an underscore before every three digits, counted from the right.
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

/// Returns the definition of a frozen list, on as many lines as it needs.
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

/// Returns repeated codes with a count: `L3Q` for `LLLQ`.
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
            // The format of a single struct may jump to an offset.
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

/// Returns whether Ruby writes such a struct: a function reads it, a struct from the caller points to it, or a function fills it
/// and it points to memory of the caller.
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

/// Returns the structs that the library fills for a function or a callback, and the structs to which they point.
fn filled(description: &Description) -> BTreeSet<&str> {
    let takes = |signature: &Signature, name: &str, constant: bool| {
        signature.parameters.iter().any(|(_, what)| what.is_pointer_to(name, constant))
    };
    let lends = |signature: &Signature, name: &str| {
        let lent = signature.parameters.iter().filter_map(|(_, what)| what.target());
        lent.chain([&signature.result]).any(|what| what.is_pointer_to(name, true))
    };
    let is_first = |one: &&Struct| {
        let functions = &description.functions;
        functions
            .iter()
            .any(|function| takes(&function.signature, &one.name, false) || lends(&function.signature, &one.name))
            || description.callbacks.iter().any(|callback| takes(&callback.signature, &one.name, true))
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

/// Returns the arguments of `attach_function` for a function. Handles are addresses, and buffers are Strings.
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
    // A text whose length is returned separately need not end in a NUL.
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
