//! Finds functions and options of the headers that no fuzz target uses. Additions to a header must also be added to a target.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use support::ROOT;

/// Returns the text of all headers.
fn headers() -> String {
    let paths = ["aside.h", "aside_compress.h", "aside_unstable.h"].map(|name| format!("{ROOT}/include/{name}"));
    paths.map(|path| std::fs::read_to_string(path).unwrap()).concat()
}

/// Returns a text without the parts from `begin` to `end`.
fn without(text: &str, begin: &str, end: &str) -> String {
    let mut parts = text.split(begin);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + "\n" + part.split_once(end).map_or("", |(_, rest)| rest))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|sign: char| !sign.is_alphanumeric() && sign != '_').filter(|word| !word.is_empty())
}

/// Returns the sources of all targets, without comments.
fn sources(folder: &Path) -> String {
    let text = |path: PathBuf| match path.is_dir() {
        true => sources(&path),
        false => without(&std::fs::read_to_string(path).unwrap(), "//", "\n"),
    };
    support::files(folder).into_iter().map(text).collect()
}

/// Returns the comment at the end of a text, as one line.
fn comment(text: &str) -> String {
    let comment = text.rsplit("/**").next().unwrap_or_default();
    comment.split_whitespace().filter(|word| *word != "*").collect::<Vec<_>>().join(" ")
}

/// Returns the names in backquotes in a text.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Returns a text up to the brace that matches the open brace before the text.
fn braced(text: &str) -> &str {
    let mut depth = 1;
    let end = text.find(|sign| {
        depth += i32::from(sign == '{') - i32::from(sign == '}');
        depth == 0
    });
    &text[..end.unwrap_or(text.len())]
}

/// The status numbers are not options: `aside_status_text` accepts any number.
const NO_OPTION: &str = "aside_status";

/// Returns the functions, the options and their numbers in the headers that the sources do not contain.
fn unnamed(headers: &str, sources: &str) -> Vec<String> {
    let declared = without(headers, "/*", "*/");
    let named: BTreeSet<&str> = words(sources).collect();
    let mut missing = Vec::new();

    let mut functions: Vec<&str> = declared.split('(').filter_map(|part| words(part).last()).collect();
    functions.retain(|name| name.starts_with("aside_") && declared.contains(&format!("{name}(")));
    missing.extend(functions.iter().filter(|name| !named.contains(**name)).map(|name| name.to_string()));

    // The types of parameters, and of fields that a caller sets.
    let mut types: BTreeSet<String> = BTreeSet::new();
    for list in declared.split('(').skip(1).filter_map(|rest| rest.split(')').next()) {
        let values = list.split(',').filter(|parameter| !parameter.contains('*'));
        types.extend(values.filter_map(|one| words(one).next()).map(str::to_owned));
    }
    let parts = || headers.split("typedef struct ");
    for (part, before) in parts().skip(1).zip(parts()) {
        let comment = comment(before);
        let Some((_, set)) = comment.split_once("Set all of it to zero, then ") else { continue };
        let Some((name, rest)) = part.split_once(" {") else { continue };
        // The comment of a struct that the library fills names the fields that the caller sets.
        let set = quoted(set.split(';').next().unwrap());
        let fields = without(braced(rest), "/*", "*/");
        // The struct's name in the tests' declarations.
        let rust: String =
            name["aside_".len()..].split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
        let literals: Vec<&str> = sources.split(&format!("{rust} {{")).skip(1).map(braced).collect();
        for field in fields.split(';').filter(|field| !field.trim().is_empty()) {
            let (kind, field) = (words(field).next().unwrap(), words(field).last().unwrap());
            if set.len() > 1 && !set.contains(&field) {
                continue;
            }
            types.insert(kind.to_owned());
            // A field that is always zero does not count as set.
            let sets = |literal: &&str| {
                let mut parts = literal.split([',', '{', '\n']).map(str::trim);
                let place = parts.find(|part| words(part).next() == Some(field));
                place.is_some_and(|part| {
                    ![format!("{field}: 0"), format!("{field}: ptr::null()")].contains(&part.to_owned())
                })
            };
            if !literals.iter().any(sets) {
                missing.push(format!("{name}.{field}"));
            }
        }
    }
    let parts = || headers.split("enum {");
    for (part, before) in parts().skip(1).zip(parts()) {
        let comment = comment(before);
        let names = comment.split("alues of ").nth(1).or(comment.split("bits of ").nth(1));
        let Some(name) = names.and_then(|names| quoted(names).first().copied()) else { continue };
        if types.contains(name) && name != NO_OPTION {
            let numbers = without(part.split('}').next().unwrap(), "/*", "*/");
            let names = numbers.split(',').filter_map(|number| words(number).next());
            missing.extend(names.filter(|name| !named.contains(&name["ASIDE_".len()..])).map(str::to_owned));
        }
    }
    missing
}

#[cfg(feature = "compress")]
#[test]
fn the_targets_name_every_function_and_option_of_the_headers() {
    let sources = sources(&Path::new(ROOT).join("fuzz/targets"));
    assert_eq!(unnamed(&headers(), &sources), [""; 0]);
}

#[test]
fn what_no_target_names_is_found() {
    let headers = "/** Set all of it to\n * zero, then `size`. */ typedef struct aside_a_b {\n/** x; */ size_t size;\naside_way way;\nint on;\n} aside_a_b;
        /** Set all of it to zero, then `in`, `size`; `out` is filled. */ typedef struct aside_c { size_t size; int in; aside_kind out; } aside_c;
        /** A way: the\n * values of `aside_way`. */ enum { ASIDE_ONE = 0, /** , */ ASIDE_TWO = 1, };
        /** The bits of `aside_set`. */ enum { ASIDE_BIT = 0, };
        /** The values of `aside_kind`: none of an option. */ enum { ASIDE_OTHER = 0, };
        /** From `aside_first()`. */ enum { ASIDE_NOT = -1 };
        typedef int (*aside_fn)(void *user); /* aside_never(). */
        int aside_first(aside_a_b *options, aside_set set); int aside_second(void);";
    let sources =
        "aside_first(); ABB { } AB {\n size: 7,\n way: { one_of(&[ONE]) },\n on: 0,\n } on: 1 C { size: 1, in: 0 };";
    assert_eq!(unnamed(headers, sources), ["aside_second", "aside_a_b.on", "aside_c.in", "ASIDE_TWO", "ASIDE_BIT"]);
    let all = format!("{sources} AB {{\n on,\n }}; C {{ in: 1 }} aside_second; TWO BIT");
    assert_eq!(unnamed(headers, &all), [""; 0]);
}
