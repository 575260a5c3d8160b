//! Writes the numbers of the Go module: a type for each enumeration, its constants, and their names as text.

use crate::description::{Description, Enumeration, Form};
use crate::words::{camel, translated, uncapitalized, wrap};

/// Words that Go writes in capitals.
const INITIALS: &[&str] = &["ID", "JSON"];

/// The longest line of a comment, without its indentation.
const WIDTH: usize = 118;

pub fn constants(description: &Description) -> String {
    let mut out = "// Code generated from src/ffi by tests/header. DO NOT EDIT.\n\npackage aside\n".to_owned();
    let statuses = description.enumerations.iter().filter(|one| one.form == Form::Status);
    let errors: Vec<_> = statuses.flat_map(Enumeration::short).filter(|(_, status)| status.value < 0).collect();
    let name = |short: &str| format!("e{}", &camel(short, &[])[1..]);
    let width = errors.iter().map(|(short, _)| name(short).len()).max().unwrap_or_default();
    out += "\n// The numbers of errors.\nconst (\n";
    for (short, status) in &errors {
        out += &format!("\t{:width$} = {}\n", name(short), status.value);
    }
    out += ")\n";
    for enumeration in description.enumerations.iter().filter(|one| one.form != Form::Status) {
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
    camel(enumeration.name.trim_start_matches("aside_"), INITIALS)
}

fn constant(enumeration: &Enumeration, short: &str) -> String {
    let kind = match enumeration.form {
        Form::Status => return "Err".to_owned() + &camel(short.trim_start_matches("error_"), INITIALS),
        Form::Values => type_of(enumeration),
        Form::Bits => type_of(enumeration).trim_end_matches('s').to_owned(),
    };
    kind + &camel(short, INITIALS)
}

/// Returns a comment in the words of Go, which has no backticks.
fn said(description: &Description, text: &str) -> String {
    translated(text, |word| {
        if let Some((enumeration, short)) = description.enumerator(word) {
            return Some(constant(enumeration, &short));
        }
        if let Some(option) = word.strip_prefix("options.") {
            return Some(format!("options.{}", camel(option, INITIALS)));
        }
        let function = word.strip_suffix("()").filter(|word| word.starts_with("aside_"));
        Some(function.map_or(word.to_owned(), |function| camel(description.method(function), INITIALS)))
    })
}

fn comment(text: &str, indent: &str) -> String {
    let lines = wrap(text, WIDTH - indent.len() * 4);
    lines.iter().map(|line| format!("{indent}// {line}\n")).collect()
}
