//! Writes the words of the JavaScript package: the types of its declarations, and the lists by which it reads numbers; and its
//! options: their declarations, and the part of the WebAssembly that reads them.

use crate::description::{Description, Enumeration, Form};
use crate::options::{Choice, Kind, Options, Words, default_of};
use crate::python::is_of_scanner;
use crate::words::{camel, translated, uncapitalized, wrap};

const WORDS: Words = Words { on: "If true, ", off: "If false, ", zero: "Not set: ", not_set: "Not set: " };

/// Returns the members of the interface of options.
pub fn options(description: &Description, options: &Options<'_>) -> String {
    let name = |name: &str| uncapitalized(&camel(name, &[]));
    let member = |option: &Choice<'_>| {
        let more = match option.kind {
            Kind::Tools if options.has("calls") => " A list implies `calls`, unless `calls` is false.".to_owned(),
            Kind::Value(enumeration) => {
                default_of(enumeration).map_or(String::new(), |word| format!(" Default: {word:?}."))
            }
            _ => String::new(),
        };
        let text = translated(&(option.text(&WORDS) + &more), |word| match description.enumerator(word) {
            Some((_, short)) => Some(format!("{short:?}")),
            None if options.has(word) => Some(format!("`{}`", name(word))),
            None => description.mentioned(word).map(|method| format!("`{}`", name(method))),
        });
        let what = match option.kind {
            Kind::Flag => "boolean".to_owned(),
            Kind::Number => "number".to_owned(),
            Kind::Value(enumeration) if enumeration.short().any(|(short, _)| short == "default") => {
                type_of(enumeration) + " | null"
            }
            Kind::Value(enumeration) => type_of(enumeration),
            Kind::Bits(enumeration) => {
                format!("{0} | readonly {0}[] | null", type_of(enumeration).trim_end_matches('s'))
            }
            Kind::Text => "string".to_owned(),
            Kind::Tools => "Tools | null".to_owned(),
        };
        let lines = wrap(&text, 115).join("\n   * ");
        format!("  /** {lines} */\n  {}?: {what};\n", name(option.name))
    };
    options.options.iter().map(member).collect()
}

/// Returns the arms of the `match` that reads an option's value. rustfmt changes nothing in them.
pub fn options_read(options: &Options<'_>) -> String {
    let arm = |option: &Choice<'_>| {
        let name = option.name;
        let value = match option.kind {
            Kind::Flag => "flag(name, value)?".to_owned(),
            Kind::Number if option.is_wide() => "number(name, value)?".to_owned(),
            Kind::Number => "size(name, value)?".to_owned(),
            Kind::Value(enumeration) if enumeration.short().any(|(short, _)| short == "default") => {
                format!("{name}(value)?")
            }
            Kind::Value(_) => "words::find(name, value)?".to_owned(),
            Kind::Bits(enumeration) => format!("words::{}(value)?", enumeration.rust.to_ascii_lowercase()),
            Kind::Text if name == "id_prefix" => "value.to_owned()".to_owned(),
            Kind::Text => "value".to_owned(),
            Kind::Tools => panic!("tools are read apart"),
        };
        let key = uncapitalized(&camel(name, &[]));
        let line = format!("            {key:?} => options = options.{name}({value}),\n");
        match line.len() <= 121 {
            true => line,
            false => format!(
                "            {key:?} => {{\n                options = options.{name}({value});\n            }}\n"
            ),
        }
    };
    // Tools and whether calls are wanted depend on each other, and a separate function reads a scanner's options.
    let is_apart =
        |option: &&Choice<'_>| ["calls", "tools", "max_tools"].contains(&option.name) || is_of_scanner(options, option);
    options.options.iter().filter(|option| !is_apart(option)).map(arm).collect()
}

fn type_of(enumeration: &Enumeration) -> String {
    enumeration.type_name(&[])
}

/// The enumerations for which the module writes lists.
const LISTS: [(&str, &str); 4] = [
    ("KINDS", "aside_kind"),
    ("PART_KINDS", "aside_part_kind"),
    ("CHANNELS", "aside_channel"),
    ("CAUSES", "aside_cause"),
];

/// Returns a type for each enumeration that the other declarations mention.
pub fn types(description: &Description, rest: &str) -> String {
    let mut out = String::new();
    for enumeration in description.enumerations.iter().filter(|one| one.form != Form::Status) {
        let name = type_of(enumeration);
        let name = if enumeration.form == Form::Bits { name.trim_end_matches('s') } else { &name };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if rest.split(|c| !is_name(c)).any(|word| word == name) {
            out += &list(&format!("export type {name} ="), &words(enumeration), "\n  | ", " | ", ";");
        }
    }
    out
}

/// Returns the lists of words. The index of a word is its number.
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

/// Returns the words of an enumeration in quotes, without `default`.
fn words(enumeration: &Enumeration) -> Vec<String> {
    enumeration.short().filter(|(short, _)| short != "default").map(|(short, _)| format!("{short:?}")).collect()
}

/// Returns a declaration on one line, or if that is too long, with a line for each word.
fn list(before: &str, words: &[String], broken: &str, separator: &str, end: &str) -> String {
    let line = format!("{before} {}{end}\n", words.join(separator));
    if line.len() <= 120 {
        return line;
    }
    format!("{before}{broken}{}{end}\n", words.join(broken))
}
