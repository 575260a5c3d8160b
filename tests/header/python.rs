//! Writes the words of the Python package: those of its stub, and the value of each in the extension, which is written in Rust
//! and needs no numbers.

use crate::description::{Description, Enumeration, Form};
use crate::words::camel;

/// Returns a type for each enumeration that the stub mentions.
pub fn literals(description: &Description, stub: &str) -> String {
    let mut out = String::new();
    for enumeration in description.enumerations.iter().filter(|one| one.form != Form::Status) {
        let name = camel(enumeration.name.trim_start_matches("aside_"), &[]);
        let name = if enumeration.form == Form::Bits { name.trim_end_matches('s') } else { &name };
        if mentions(stub, name) {
            // None is the default.
            let names =
                enumeration.short().filter(|(short, _)| short != "default").map(|(short, _)| format!("{short:?}"));
            let names: Vec<_> = names.collect();
            let line = format!("{name}: TypeAlias = Literal[{}]\n", names.join(", "));
            if line.len() <= 120 {
                out += &line;
            } else {
                out += &format!("{name}: TypeAlias = Literal[\n    {},\n]\n", names.join(",\n    "));
            }
        }
    }
    out
}

/// Returns a table for each enumeration whose type the rest of the file imports.
pub fn tables(description: &Description, rest: &str) -> String {
    let imported = description.enumerations.iter().filter(|one| mentions(rest, &one.rust));
    imported.map(table).collect::<Vec<_>>().join("\n")
}

/// Returns a table as rustfmt lays it out.
fn table(enumeration: &Enumeration) -> String {
    let name = enumeration.name.trim_start_matches("aside_").to_ascii_uppercase();
    let rust = &enumeration.rust;
    let value = |value: &str| match enumeration.form {
        Form::Bits => format!("{rust}::{value}"),
        _ => value.to_owned(),
    };
    let words = enumeration.short().map(|(short, enumerator)| format!("({short:?}, {})", value(&enumerator.rust)));
    let words: Vec<_> = words.collect();
    let (before, list) = (format!("pub const {name}: &Words<{rust}> ="), format!("&[{}];", words.join(", ")));
    if before.len() + list.len() < 120 {
        format!("{before} {list}\n")
    } else if 4 + list.len() <= 120 {
        format!("{before}\n    {list}\n")
    } else {
        format!("{before} &[\n    {},\n];\n", words.join(",\n    "))
    }
}

/// Returns whether a text has this word.
fn mentions(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|is| is == word)
}
