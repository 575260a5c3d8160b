//! Advice on faults in a TOML file: the messages of serde and of the TOML library, reworded for the author of the file. This file
//! names no key: the keys of a table come from the reader of the file's own type.
//!
//! Neither library's error types describe the fault, so their English messages are parsed. Each parsed phrase has a test below,
//! which fails if a version of a library words it differently: the advice would then be missing, and the library's message shown.

use serde::de::DeserializeOwned;

use super::{Location, cut, listed, quoted, values};
use crate::distance::nearest;

/// The longest value that is repeated in its correct form.
const LONGEST_VALUE: usize = 60;

/// Returns a better message for a fault, if there is one. `said` is the library's message, and `value` is the file's text at the
/// place of the fault.
pub fn of<T: DeserializeOwned>(place: &Location<'_>, value: &str, said: &str) -> Option<String> {
    if let Some((key, known)) = unknown("unknown field", said) {
        return Some(unknown_key::<T>(place, key, &known));
    }
    if let Some((value, known)) = unknown("unknown variant", said) {
        return Some(format!("{} is not known here: write {}", quoted(value), listed(&known, "or")));
    }
    if let Some(key) = missing(said) {
        let table = if is_header(place.row) { format!("this {}", header(place)) } else { quoted(place.key) };
        return Some(format!("{table} has no {}", quoted(&key)));
    }
    if said == "duplicate key" {
        return Some(twice::<T>(place));
    }
    if said.ends_with("expected a tuple of size 2") {
        return Some("write pairs of strings: `[[\"name\", \"value\"]]`".to_owned());
    }
    if let Some(number) = said.strip_prefix("invalid value: integer `") {
        let (number, kind) = number.split_once("`, expected ")?;
        let most = if kind == "u32" { format!(" to {}", u32::MAX) } else { String::new() };
        return Some(format!("`{number}` is out of range: write a whole number from 0{most}"));
    }
    let (found, expected) = said.strip_prefix("invalid type: ")?.rsplit_once(", expected ")?;
    wrong_type(place, value, found, expected)
}

/// Returns the missing key, if the fault is a missing key.
pub fn missing(said: &str) -> Option<String> {
    Some(said.strip_prefix("missing field `")?.strip_suffix('`')?.to_owned())
}

/// Returns the keys that a table may have, or the file's top-level keys if the path is empty.
pub fn keys<T: DeserializeOwned>(path: &str) -> Vec<String> {
    table::<T>(path).map_or(Vec::new(), |(_, keys)| keys)
}

/// Returns the form of a table's header, `[a]` or `[[a]]`, and the keys that the table may have. To find out, makes the reader
/// read such a table with an unknown key, and parses the error.
fn table<T: DeserializeOwned>(path: &str) -> Option<(String, Vec<String>)> {
    let forms = |path: &str| vec![format!("[{path}]"), format!("[[{path}]]")];
    let parents = path.rsplit_once('.').map_or(vec![String::new()], |(parent, _)| forms(parent));
    let headers = if path.is_empty() { vec![String::new()] } else { forms(path) };
    parents.iter().find_map(|parent| {
        headers.iter().find_map(|header| {
            let error = values::read::<T>(&format!("{parent}\n{header}\n_ = 1")).err()?;
            let (_, keys) = unknown("unknown field", &error.message).filter(|(key, _)| *key == "_")?;
            Some((header.clone(), keys))
        })
    })
}

/// Returns whether this top-level key may be a list of strings, perhaps among other types.
fn takes_strings<T: DeserializeOwned>(key: &str) -> bool {
    values::read::<T>(&format!("{key} = ['']")).err().is_none_or(|error| !error.message.starts_with("invalid type"))
}

/// Splits a message such as "unknown field `a`, expected one of `b`, `c`" into the unknown field and the known ones.
fn unknown<'a>(what: &str, said: &'a str) -> Option<(&'a str, Vec<String>)> {
    let rest = said.strip_prefix(what)?.strip_prefix(" `")?;
    let (name, known) = rest.rsplit_once("`, expected ").or_else(|| rest.rsplit_once("`, there are no "))?;
    Some((name, known.split('`').skip(1).step_by(2).map(str::to_owned).collect()))
}

fn unknown_key<T: DeserializeOwned>(place: &Location<'_>, key: &str, known: &[String]) -> String {
    let top = keys::<T>("");
    let shown = quoted(key);
    let is_named = |keys: &[String]| keys.iter().any(|known| known == key);
    let is_of_file = known == top;
    // The header names a table that is a part of another table: `[route]`.
    let is_header = is_header(place.row);
    let mut homes = Vec::new();
    for parent in &top {
        let Some((header, keys)) = table::<T>(parent).filter(|(_, keys)| is_named(keys)) else { continue };
        match table::<T>(&format!("{parent}.{key}")) {
            Some((part, _)) if is_header => return format!("unknown table {shown}: write {part}"),
            _ if keys != known => homes.push(header),
            _ => {}
        }
    }
    if !is_of_file && is_named(&top) {
        return match table::<T>(key).filter(|_| !takes_strings::<T>(key)) {
            Some((header, _)) => format!("{shown} is a separate table: write {header}"),
            None => format!("put {shown} above the first {}: it is a key of the whole file", first_header(place)),
        };
    }
    // The keys of an inline table cannot be moved to another place.
    let is_inline = known != keys::<T>(place.table);
    if !homes.is_empty() && !is_inline {
        return format!("{shown} is not a key here: put it below {}", homes.join(" or "));
    }
    let near = nearest(key, known.iter().map(String::as_str));
    let near = near.map_or(String::new(), |known| format!("the nearest is `{known}`; "));
    let what = if is_header { "table" } else { "key" };
    format!("unknown {what} {shown}: {near}known here: {}", listed(known, "and"))
}

/// Returns the message for two keys or tables of the same name.
fn twice<T: DeserializeOwned>(place: &Location<'_>) -> String {
    if !is_header(place.row) {
        return format!("the key {} is there twice", quoted(place.key));
    }
    match table::<T>(place.table) {
        Some((header, _)) if header.starts_with("[[") => format!("write {header}: there may be several"),
        Some((header, _)) if place.row.starts_with("[[") => format!("write {header}: there is only one"),
        _ => format!("the table {} is there twice", header(place)),
    }
}

fn wrong_type(place: &Location<'_>, value: &str, found: &str, expected: &str) -> Option<String> {
    let key = quoted(place.key);
    match (found, expected) {
        ("map", "a sequence") if is_header(place.row) => {
            return Some(format!("write [[{}]]: there may be several", cut(place.table, LONGEST_VALUE)));
        }
        ("sequence", "a table" | "a map") if is_header(place.row) => {
            return Some(format!("write [{}]: there is only one", cut(place.table, LONGEST_VALUE)));
        }
        _ => {}
    }
    let is_short = value.len() <= LONGEST_VALUE && !value.contains('\n');
    let assign = |value: String| format!(": write `{} = {value}`", cut(place.key, LONGEST_VALUE));
    let is_element = !is_short || place.key.is_empty() || !is_whole(place.row, value);
    let is_scalar = found.contains(['`', '"']);
    let (what, instead) = match expected {
        "a string" if !is_scalar => ("a string in quotes", String::new()),
        "a string" if is_element => ("a string in quotes", String::new()),
        "a string" => ("a string in quotes", assign(format!("\"{value}\""))),
        "a sequence" if is_element || !is_scalar => ("a list", ": write it in brackets, `[…]`".to_owned()),
        "a sequence" => ("a list", assign(format!("[{value}]"))),
        "a boolean" => ("a boolean, `true` or `false` without quotes", String::new()),
        "f64" => ("a number, without quotes", String::new()),
        "u32" | "usize" | "i64" => ("a whole number, without quotes", String::new()),
        "a table" | "a map" => ("a table", assign("{ … }".to_owned())),
        _ => return None,
    };
    let found = match found.split([' ', '`']).next()? {
        "map" => "a table",
        "sequence" => "a list",
        "string" => "a string",
        "boolean" => "a boolean",
        "date" => "a date",
        _ => "a number",
    };
    let of = if place.key.is_empty() { String::new() } else { format!("{key} takes ") };
    Some(format!("{of}{what}, not {found}{instead}"))
}

/// Returns whether this is the whole text after the row's `=`.
fn is_whole(row: &str, value: &str) -> bool {
    row.split_once('=').is_some_and(|(_, given)| given.trim() == value)
}

fn is_header(row: &str) -> bool {
    row.starts_with('[')
}

/// Returns the header of the place's table, with its brackets.
fn header(place: &Location<'_>) -> String {
    cut(place.row, LONGEST_VALUE).into_owned()
}

fn first_header(place: &Location<'_>) -> String {
    cut(place.first_header, LONGEST_VALUE).into_owned()
}

/// One test for each phrase of serde or the TOML library that is parsed here or in `file_error.rs`, with the advice for it.
#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::{Deserialize, de::DeserializeOwned};

    use crate::file_error::{read, values};

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Named {
        name: String,
        #[serde(default)]
        size: u32,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Many {
        one: u32,
        two: u32,
        three: u32,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Empty {}

    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        One,
        Two,
    }

    type Of<T> = BTreeMap<String, T>;

    /// Checks that the libraries report `phrase` for a file, and the advice for it.
    fn says<T: DeserializeOwned>(file: &str, phrase: &str, advice: &str) {
        let Err(error) = values::read::<T>(file) else { panic!("this is read: {file}") };
        assert_eq!(error.message, phrase, "a library words this differently now: advice.rs must parse that");
        let Err(error) = read::<T>(file) else { panic!("this is read: {file}") };
        assert_eq!(error.message(), advice, "{file}");
    }

    #[test]
    fn unknown_field() {
        says::<Named>(
            "nam = 'a'",
            "unknown field `nam`, expected `name` or `size`",
            "unknown key `nam`: the nearest is `name`; known here: `name` and `size`",
        );
    }

    #[test]
    fn unknown_field_of_many() {
        says::<Many>(
            "four = 1",
            "unknown field `four`, expected one of `one`, `two`, `three`",
            "unknown key `four`: known here: `one`, `two` and `three`",
        );
    }

    #[test]
    fn unknown_field_of_none() {
        says::<Empty>("nam = 'a'", "unknown field `nam`, there are no fields", "unknown key `nam`: known here: ");
    }

    #[test]
    fn unknown_variant() {
        says::<Of<Word>>(
            "a = 'three'",
            "unknown variant `three`, expected `one` or `two`",
            "`three` is not known here: write `one` or `two`",
        );
    }

    #[test]
    fn missing_field() {
        says::<Of<Named>>("[a]\nsize = 1", "missing field `name`", "this [a] has no `name`");
    }

    #[test]
    fn missing_field_of_the_file() {
        says::<Named>("size = 1", "missing field `name`", "the file has no `name`");
    }

    #[test]
    fn duplicate_key() {
        says::<Of<String>>("a = 'b'\na = 'c'", "duplicate key", "the key `a` is there twice");
    }

    #[test]
    fn duplicate_key_of_a_table() {
        says::<Of<Of<String>>>("[a]\n[a]", "duplicate key", "the table [a] is there twice");
    }

    #[test]
    fn a_number_where_a_word_is_expected() {
        says::<Of<Word>>("a = 3", "write a string in quotes", "write a string in quotes");
    }

    #[test]
    fn expected_a_tuple_of_size_2() {
        says::<Of<(String, String)>>(
            "a = 'b'",
            "invalid type: string \"b\", expected a tuple of size 2",
            "write pairs of strings: `[[\"name\", \"value\"]]`",
        );
    }

    #[test]
    fn invalid_length() {
        says::<Of<(String, String)>>(
            "a = ['b']",
            "invalid length 1, expected a tuple of size 2",
            "write pairs of strings: `[[\"name\", \"value\"]]`",
        );
    }

    #[test]
    fn invalid_length_of_a_longer_list() {
        says::<Of<(String, String)>>(
            "a = ['b', 'c', 'd']",
            "invalid length 3, expected a tuple of size 2",
            "write pairs of strings: `[[\"name\", \"value\"]]`",
        );
    }

    #[test]
    fn a_date_and_numbers_that_are_not_finite() {
        says::<Of<String>>(
            "a = 2026-11-28",
            "invalid type: date, expected a string",
            "`a` takes a string in quotes, not a date",
        );
        for number in ["inf", "-nan", "1e999"] {
            let message = "the number is too large, or not finite";
            says::<Of<f64>>(&format!("a = {number}"), message, message);
        }
    }

    /// Compares this reader with that of the TOML library.
    #[test]
    fn reads_the_same_values_as_the_library() {
        for folder in ["dialects", "filters", "servers"] {
            for file in std::fs::read_dir(format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"))).unwrap() {
                let file = file.unwrap().path();
                let text = std::fs::read_to_string(&file).unwrap();
                let theirs: toml::Table = toml::from_str(&text).unwrap();
                assert_eq!(values::read::<toml::Table>(&text).unwrap(), theirs, "{}", file.display());
            }
        }
    }

    #[test]
    fn invalid_value() {
        says::<Of<usize>>(
            "a = -1",
            "invalid value: integer `-1`, expected usize",
            "`-1` is out of range: write a whole number from 0",
        );
    }

    #[test]
    fn invalid_value_of_u32() {
        says::<Of<u32>>(
            "a = -1",
            "invalid value: integer `-1`, expected u32",
            "`-1` is out of range: write a whole number from 0 to 4294967295",
        );
    }

    #[test]
    fn expected_a_string() {
        says::<Of<String>>(
            "a = 1",
            "invalid type: integer `1`, expected a string",
            "`a` takes a string in quotes, not a number: write `a = \"1\"`",
        );
    }

    #[test]
    fn expected_a_sequence() {
        says::<Of<Vec<String>>>(
            "a = 'b'",
            "invalid type: string \"b\", expected a sequence",
            "`a` takes a list, not a string: write `a = ['b']`",
        );
    }

    #[test]
    fn expected_a_boolean() {
        says::<Of<bool>>(
            "a = 'b'",
            "invalid type: string \"b\", expected a boolean",
            "`a` takes a boolean, `true` or `false` without quotes, not a string",
        );
    }

    #[test]
    fn expected_f64() {
        says::<Of<f64>>(
            "a = true",
            "invalid type: boolean `true`, expected f64",
            "`a` takes a number, without quotes, not a boolean",
        );
    }

    #[test]
    fn expected_u32() {
        says::<Of<u32>>(
            "a = 1.5",
            "invalid type: floating point `1.5`, expected u32",
            "`a` takes a whole number, without quotes, not a number",
        );
    }

    #[test]
    fn expected_usize() {
        says::<Of<usize>>(
            "a = []",
            "invalid type: sequence, expected usize",
            "`a` takes a whole number, without quotes, not a list",
        );
    }

    #[test]
    fn expected_i64() {
        says::<Of<i64>>(
            "a = {}",
            "invalid type: map, expected i64",
            "`a` takes a whole number, without quotes, not a table",
        );
    }

    #[test]
    fn expected_a_map() {
        says::<Of<Of<String>>>(
            "a = 1",
            "invalid type: integer `1`, expected a map",
            "`a` takes a table, not a number: write `a = { … }`",
        );
    }

    #[test]
    fn a_map_where_a_sequence_is_expected() {
        says::<Of<Vec<Of<String>>>>(
            "[a]",
            "invalid type: map, expected a sequence",
            "write [[a]]: there may be several",
        );
    }

    #[test]
    fn a_sequence_where_a_map_is_expected() {
        says::<Of<Of<String>>>("[[a]]", "invalid type: sequence, expected a map", "write [a]: there is only one");
    }

    #[test]
    fn recursion_limit() {
        says::<Of<toml::Value>>(&format!("{}a = 1", "a.".repeat(200)), "recursion limit", "a key has too many parts");
    }
}
