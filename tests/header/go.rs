//! Writes the numbers of the Go module: a type for each enumeration, its constants, and their names as text; and its options,
//! with what hands them to C and to the WebAssembly.

use crate::description::{Description, Enumeration, Form};
use crate::options::{Choice, Kind, Options, Words};
use crate::words::{camel, translated, uncapitalized, wrap};

/// Words that Go writes in capitals.
const INITIALS: &[&str] = &["ID", "JSON"];

/// The maximum length of a comment's line, without its indentation.
const WIDTH: usize = 118;

const WORDS: Words = Words { on: "If true, ", off: "If false, ", zero: "0: ", not_set: "Not set: " };

const HEAD: &str = "// Code generated from src/ffi by tests/header. DO NOT EDIT.\n\npackage aside\n";

/// Returns the structs of options, for both modules.
pub fn options(description: &Description, structs: &[Options<'_>]) -> String {
    structs.iter().fold(HEAD.to_owned(), |out, options| out + &options_of(description, options))
}

fn options_of(description: &Description, options: &Options<'_>) -> String {
    let name = type_name(options);
    let article = if options.object.starts_with('a') { "an" } else { "a" };
    let about = format!("{name} are the options of {article} {}. The zero value has the defaults.", options.object);
    let mut out = format!("\n{}type {name} struct {{\n", comment(&about, ""));
    for option in &options.options {
        let what = match option.kind {
            Kind::Flag => "bool".to_owned(),
            Kind::Number => "uint64".to_owned(),
            Kind::Value(enumeration) | Kind::Bits(enumeration) => type_of(enumeration),
            Kind::Text => "string".to_owned(),
            Kind::Tools => "[]byte".to_owned(),
        };
        let text = said_of(description, options, &option.text(&WORDS));
        out += &format!("{}\t{} {what}\n", comment(&text, "\t"), camel(option.name, INITIALS));
    }
    out + "}\n"
}

/// Returns the functions that make the options of C.
pub fn options_for_c(structs: &[Options<'_>]) -> String {
    let head = format!("{HEAD}\n// #include \"bridge.h\"\nimport \"C\"\n\nimport \"runtime\"\n");
    structs.iter().fold(head, |out, options| out + &of_c(options))
}

fn of_c(options: &Options<'_>) -> String {
    let (name, object) = (type_name(options), options.object);
    let assign = |option: &Choice<'_>| {
        let field = camel(option.name, INITIALS);
        let to = format!("{}.{}", if option.is_inner { "inner" } else { "c" }, option.name);
        match option.kind {
            Kind::Flag => format!("\t{to} = flag(o.{field})\n"),
            Kind::Number => format!("\t{to} = C.uint64_t(o.{field})\n"),
            Kind::Value(_) | Kind::Bits(_) => format!("\t{to} = C.uint32_t(o.{field})\n"),
            Kind::Text => format!("\tif o.{field} != \"\" {{\n\t\t{to} = pinned(pin, o.{field})\n\t}}\n"),
            Kind::Tools => format!("\t{to} = pinnedTools(pin, o.{field})\n"),
        }
    };
    let mut assigned: String = options.part(false).map(assign).collect();
    if let Some((field, inner)) = options.inner {
        assigned += &format!(
            "\tinner := &C.aside_{inner}_options{{size: C.sizeof_aside_{inner}_options}}\n\tpin.Pin(inner)\n\tc.{field} = inner\n"
        );
        assigned.extend(options.part(true).map(assign));
    }
    format!(
        "
// c returns the options for C. They point to texts that pin keeps in their place.
func (o *{name}) c(pin *runtime.Pinner) C.aside_{object}_options {{
\tc := C.aside_{object}_options{{size: C.sizeof_aside_{object}_options}}
{assigned}\treturn c
}}
"
    )
}

/// Returns the functions that make the options of the WebAssembly: names and values as texts.
pub fn options_as_texts(structs: &[Options<'_>]) -> String {
    structs.iter().fold(format!("{HEAD}\nimport \"strconv\"\n"), |out, options| out + &as_texts(options))
}

fn as_texts(options: &Options<'_>) -> String {
    let add = |(name, kind): (&str, &Kind<'_>)| {
        let (key, field) = (uncapitalized(&camel(name, &[])), camel(name, INITIALS));
        match kind {
            // There, tools without `calls` ask for calls.
            Kind::Flag if name == "calls" => format!("\ttexts.add({key:?}, strconv.FormatBool(o.{field}))\n"),
            Kind::Flag => format!("\ttexts.flag({key:?}, o.{field})\n"),
            Kind::Number => format!("\ttexts.number({key:?}, o.{field})\n"),
            Kind::Value(_) | Kind::Bits(_) => format!("\tword(&texts, {key:?}, o.{field})\n"),
            Kind::Text => format!("\ttexts.text({key:?}, o.{field})\n"),
            Kind::Tools => format!("\tif err := texts.tools(o.{field}); err != nil {{\n\t\treturn nil, err\n\t}}\n"),
        }
    };
    let added: String = options.options.iter().map(|option| add((option.name, &option.kind))).collect();
    format!(
        "
// texts returns the names and values of the options that are set.
func (o *{}) texts() (options, error) {{
\tvar texts options
{added}\treturn texts, nil
}}
",
        type_name(options)
    )
}

fn type_name(options: &Options<'_>) -> String {
    format!("{}Options", camel(options.object, INITIALS))
}

pub fn constants(description: &Description) -> String {
    let mut out = HEAD.to_owned();
    let statuses = description.enumerations.iter().filter(|one| one.form == Form::Status);
    let errors: Vec<_> = statuses.flat_map(Enumeration::short).filter(|(_, status)| status.value < 0).collect();
    let name = |short: &str| format!("e{}", &camel(short, &[])[1..]);
    let width = errors.iter().map(|(short, _)| name(short).len()).max().unwrap_or_default();
    out += "\n// The numbers of errors.\nconst (\n";
    for (short, status) in &errors {
        out += &format!("\t{:width$} = {}\n", name(short), status.value);
    }
    out += ")\n";
    for enumeration in description.general_enumerations() {
        let name = type_of(enumeration);
        let about = uncapitalized(&said(description, &enumeration.about));
        out += &format!("\n{}type {name} uint32\n\nconst (\n", comment(&format!("{name} is {about}"), ""));
        for (short, enumerator) in enumeration.short() {
            let constant = constant(enumeration, &short);
            let doc = format!("{constant}: {}", said(description, &enumerator.doc.join(" ")));
            out += &format!("{}\t{constant} {name} = {}\n", comment(&doc, "\t"), enumerator.value);
        }
        out += ")\n";
        if enumeration.form == Form::Bits {
            let receiver = name[..1].to_ascii_lowercase();
            let bits: String = (enumeration.short())
                .filter(|(_, enumerator)| enumerator.value.count_ones() == 1)
                .map(|(short, _)| format!(", {short:?}"))
                .collect();
            out +=
                "\n// String returns the names of the set's bits, with commas between them, or \"none\" or \"all\".\n";
            out +=
                &format!("func ({receiver} {name}) String() string {{\n\treturn names(uint32({receiver}){bits})\n}}\n");
        }
        if enumeration.form == Form::Values {
            let first = enumeration.short().next().expect("an enumeration has enumerators").0;
            let receiver = name[..1].to_ascii_lowercase();
            let what = format!("String returns the name, such as {first:?}, or the number of an unknown {name}.");
            let most = enumeration.enumerators.iter().map(|enumerator| enumerator.value).max().unwrap_or_default();
            let names = (0..=most).map(|value| {
                let named = enumeration.short().find(|(_, enumerator)| enumerator.value == value);
                format!(", {:?}", named.map(|(short, _)| short).unwrap_or_default())
            });
            let call = format!("return name(uint32({receiver}){})", names.collect::<String>());
            let call = wrap(&call, WIDTH - 8).join("\n\t\t");
            out += &format!("\n{}", comment(&what, ""));
            out += &format!("func ({receiver} {name}) String() string {{\n\t{call}\n}}\n");
        }
    }
    out
}

fn type_of(enumeration: &Enumeration) -> String {
    enumeration.type_name(INITIALS)
}

fn constant(enumeration: &Enumeration, short: &str) -> String {
    let kind = match enumeration.form {
        Form::Status => return "Err".to_owned() + &camel(short.trim_start_matches("error_"), INITIALS),
        Form::Values => type_of(enumeration),
        Form::Bits => type_of(enumeration).trim_end_matches('s').to_owned(),
    };
    kind + &camel(short, INITIALS)
}

/// Returns a comment with the names of Go, and without backticks.
fn said(description: &Description, text: &str) -> String {
    translated(text, |word| {
        if let Some((enumeration, short)) = description.enumerator(word) {
            return Some(constant(enumeration, &short));
        }
        if let Some(option) = word.strip_prefix("options.") {
            return Some(format!("options.{}", camel(option, INITIALS)));
        }
        if let Some(field) = word.strip_prefix("is_") {
            return Some(camel(field, INITIALS));
        }
        Some(description.mentioned(word).map_or(word.to_owned(), |method| camel(method, INITIALS)))
    })
}

/// Returns the comment of an option, which may name others.
fn said_of(description: &Description, options: &Options<'_>, text: &str) -> String {
    let named = translated(text, |word| options.has(word).then(|| camel(word, INITIALS)));
    said(description, &named)
}

fn comment(text: &str, indent: &str) -> String {
    let lines = wrap(text, WIDTH - indent.len() * 4);
    lines.iter().map(|line| format!("{indent}// {line}\n")).collect()
}
