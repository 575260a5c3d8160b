//! Checks that no model has special code: the code of `src/` must not contain the name or an alias of a dialect. Comments may, as
//! the examples in the documentation do.

use std::path::{Path, PathBuf};

/// Names that are ordinary words or words of the code's subject. They are only found as a whole string.
const ORDINARY: [&str; 3] = ["any", "dots", "think"];

/// Names that are also members of an API or words of a prompt, or that a test leaves out, and the file that uses them so.
const MEMBERS: [(&str, &str); 3] = [("sse/gate.rs", "think"), ("draft/texts.rs", "think"), ("grammar/tests.rs", "any")];

/// Returns the names that the code contains as a word of an identifier or of a string, in any case.
fn named<'a>(source: &str, names: &'a [String]) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    for (number, line) in source.lines().enumerate() {
        let code = match line.find("//") {
            // The two slashes of an address in a string do not begin a comment.
            Some(at) if at == 0 || line.as_bytes()[at - 1].is_ascii_whitespace() => &line[..at],
            _ => line,
        };
        let words = words(code);
        for name in names {
            let is_word = words.iter().any(|word| word == name) && !ORDINARY.contains(&name.as_str());
            if is_word || code.to_ascii_lowercase().contains(&format!("\"{name}\"")) {
                found.push((number + 1, name.as_str()));
            }
        }
    }
    found
}

/// Returns the words of code in lower case. A word consists of letters, digits, `-` and `.`. The parts of camel case are returned
/// too.
fn words(code: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in code.split(|c: char| !c.is_ascii_alphanumeric() && !"-.".contains(c)) {
        let word = word.trim_matches(['-', '.']);
        let mut parts = vec![String::new()];
        let mut last = ' ';
        for c in word.chars() {
            if c.is_ascii_uppercase() && !last.is_ascii_uppercase() {
                parts.push(String::new());
            }
            parts.last_mut().unwrap().push(c.to_ascii_lowercase());
            last = c;
        }
        words.push(word.to_ascii_lowercase());
        words.extend(parts);
        // `tables.solar` is two words, `qwen3.5` is one.
        words.extend(word.split('.').map(str::to_ascii_lowercase));
    }
    words
}

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

fn names() -> Vec<String> {
    reference::all().into_iter().flat_map(|dialect| [vec![dialect.name], dialect.aliases].concat()).collect()
}

#[test]
fn no_dialect_is_named_in_the_code() {
    let names = names();
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(names.len() > 50 && files.len() > 15, "{} names, {} files", names.len(), files.len());
    for file in files {
        let mut found = named(&std::fs::read_to_string(&file).unwrap(), &names);
        found.retain(|(_, name)| !MEMBERS.iter().any(|(end, member)| file.ends_with(end) && member == name));
        assert!(found.is_empty(), "{} names a dialect, by line: {found:?}", file.display());
    }
}

#[test]
fn a_name_would_be_found() {
    let names = names();
    let finds = |code: &str, name: &str| {
        let found = named(&format!("fn f() {{\n    {code}\n}}\n"), &names);
        assert!(found.contains(&(2, name)), "{code}: {found:?}");
    };
    finds(r#"if dialect.name() == "harmony" {"#, "harmony");
    finds(r#"find("qwen3.5")"#, "qwen3.5");
    finds(r#"name => "think", // as most"#, "think");
    finds(r#"message("as of kimi-k2, it ends")"#, "kimi-k2");
    finds("struct HarmonyHeader;", "harmony");
    finds("fn is_solar() -> bool {", "solar");
    finds("tables.muse", "muse");
    finds("const QWEN3: u8 = 1;", "qwen3");
    for code in ["// as qwen3 does", "x(); // as qwen3 does", "spans.any(|it| it)", "let think = 1;", "harmonyx()"] {
        assert_eq!(named(code, &names), [], "{code}");
    }
}
