//! Writes the words of the JavaScript package: the types of its declarations, and the lists by which it reads numbers.

use crate::description::{Description, Enumeration, Form};
use crate::words::camel;

/// The enumerations whose numbers the module writes.
const LISTS: [(&str, &str); 3] = [("KINDS", "aside_kind"), ("CHANNELS", "aside_channel"), ("CAUSES", "aside_cause")];

/// Returns a type for each enumeration that the rest of the declarations mentions.
pub fn types(description: &Description, rest: &str) -> String {
    let mut out = String::new();
    for enumeration in description.enumerations.iter().filter(|one| one.form != Form::Status) {
        let name = camel(enumeration.name.trim_start_matches("aside_"), &[]);
        let name = if enumeration.form == Form::Bits { name.trim_end_matches('s') } else { &name };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if rest.split(|c| !is_name(c)).any(|word| word == name) {
            out += &list(&format!("export type {name} ="), &words(enumeration), "\n  | ", " | ", ";");
        }
    }
    out
}

/// Returns the lists of words, each at the place of its number.
pub fn lists(description: &Description) -> String {
    let list_of = |&(list_name, name): &(&str, &str)| {
        let enumeration = description.enumerations.iter().find(|one| one.name == name).expect("an enumeration");
        let words = words(enumeration);
        let line = format!("export const {list_name} = [{}];\n", words.join(", "));
        if line.len() <= 120 {
            return line;
        }
        format!("export const {list_name} = [\n  {},\n];\n", words.join(",\n  "))
    };
    LISTS.iter().map(list_of).collect()
}

/// Returns the words of an enumeration in quotes; none is the default.
fn words(enumeration: &Enumeration) -> Vec<String> {
    enumeration.short().filter(|(short, _)| short != "default").map(|(short, _)| format!("{short:?}")).collect()
}

/// Returns a declaration on one line, or with a line for each word.
fn list(before: &str, words: &[String], broken: &str, separator: &str, end: &str) -> String {
    let line = format!("{before} {}{end}\n", words.join(separator));
    if line.len() <= 120 {
        return line;
    }
    format!("{before}{broken}{}{end}\n", words.join(broken))
}
