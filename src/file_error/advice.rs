//! What to write instead of what a TOML file has: the messages of serde and of the TOML library, said for whoever writes
//! the file. No key of any file is named here: which keys a table has, the file's own reader is asked.

use serde::de::DeserializeOwned;

use super::{Location, cut, quoted};
use crate::distance::distance;

/// A value that is longer is not shown again in its right form.
const LONGEST_VALUE: usize = 60;

/// A better message than `said`, of the fault in this place; `value`: what the file has there.
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
    if said == "wanted string or table" {
        return Some("write a string in quotes".to_owned());
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

/// The key that is missing, if that is the fault.
pub fn missing(said: &str) -> Option<String> {
    Some(said.strip_prefix("missing field `")?.strip_suffix('`')?.to_owned())
}

/// The keys that a table may have; of the file itself where the path is empty.
pub fn keys<T: DeserializeOwned>(path: &str) -> Vec<String> {
    table::<T>(path).map_or(Vec::new(), |(_, keys)| keys)
}

/// How the header of a table is written, `[a]` or `[[a]]`, and the keys that it may have. Its reader is asked with a key
/// that no table has.
fn table<T: DeserializeOwned>(path: &str) -> Option<(String, Vec<String>)> {
    let forms = |path: &str| vec![format!("[{path}]"), format!("[[{path}]]")];
    let parents = path.rsplit_once('.').map_or(vec![String::new()], |(parent, _)| forms(parent));
    let headers = if path.is_empty() { vec![String::new()] } else { forms(path) };
    parents.iter().find_map(|parent| {
        headers.iter().find_map(|header| {
            let error = toml::from_str::<T>(&format!("{parent}\n{header}\n_ = 1")).err()?;
            let (_, keys) = unknown("unknown field", error.message()).filter(|(key, _)| *key == "_")?;
            Some((header.clone(), keys))
        })
    })
}

/// May this key of the whole file be a list of strings, whatever else it may be?
fn takes_strings<T: DeserializeOwned>(key: &str) -> bool {
    toml::from_str::<T>(&format!("{key} = ['']")).err().is_none_or(|error| !error.message().starts_with("invalid type"))
}

/// Of a message such as "unknown field `a`, expected one of `b`, `c`": the unknown one and the known ones.
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
    // It names a table that is a part of another: `[route]`.
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
            Some((header, _)) => format!("{shown} is a table of its own: write {header}"),
            None => format!("put {shown} above the first {}: it is a key of the whole file", first_header(place)),
        };
    }
    // An inline table's keys have no other place.
    let is_inline = known != keys::<T>(place.table);
    if !homes.is_empty() && !is_inline {
        return format!("{shown} is not a key here: put it below {}", homes.join(" or "));
    }
    let nearest = known.iter().min_by_key(|known| distance(key.as_bytes(), known.as_bytes()));
    let near = nearest.map_or(String::new(), |near| format!("the nearest is `{near}`; "));
    let what = if is_header { "table" } else { "key" };
    format!("unknown {what} {shown}: {near}known here: {}", listed(known, "and"))
}

/// Two keys or tables of one name.
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
        _ => "a number",
    };
    let of = if place.key.is_empty() { String::new() } else { format!("{key} takes ") };
    Some(format!("{of}{what}, not {found}{instead}"))
}

/// Returns whether this is all that stands after the row's `=`.
fn is_whole(row: &str, value: &str) -> bool {
    row.split_once('=').is_some_and(|(_, given)| given.trim() == value)
}

fn is_header(row: &str) -> bool {
    row.starts_with('[')
}

/// The header of the place's table, with its brackets.
fn header(place: &Location<'_>) -> String {
    cut(place.row, LONGEST_VALUE).into_owned()
}

fn first_header(place: &Location<'_>) -> String {
    cut(place.first_header, LONGEST_VALUE).into_owned()
}

/// `a`, `b` and `c`.
fn listed(names: &[String], word: &str) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {word} {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
