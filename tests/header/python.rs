//! Writes the names of enumerators in the Python stub. The extension is written in Rust and needs no numbers.

use crate::description::{Description, Form};
use crate::words::camel;

/// A type for each enumeration that the rest of the stub mentions.
pub fn literals(description: &Description, rest: &str) -> String {
    let mut out = String::new();
    for enumeration in description.enumerations.iter().filter(|one| one.form != Form::Status) {
        let name = camel(enumeration.name.trim_start_matches("aside_"), &[]);
        let name = if enumeration.form == Form::Bits { name.trim_end_matches('s') } else { &name };
        let is_used =
            rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == format!("_{name}"));
        if is_used {
            // None is the default.
            let names =
                enumeration.short().filter(|(short, _)| short != "default").map(|(short, _)| format!("{short:?}"));
            let names: Vec<_> = names.collect();
            let line = format!("_{name}: TypeAlias = Literal[{}]\n", names.join(", "));
            if line.len() <= 120 {
                out += &line;
            } else {
                out += &format!("_{name}: TypeAlias = Literal[\n    {},\n]\n", names.join(",\n    "));
            }
        }
    }
    out
}
