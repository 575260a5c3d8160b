//! Checks the imports of the library, the program, the proxy and the bindings, so that a part can be read without the parts
//! above it. No two folders may import each other, and the imports between the files of a folder must not form a circle. This test
//! reads the text of the sources: it does not see the code that macros generate, and it ignores test code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use support::ROOT;

/// A file of the crate, as a module.
#[derive(Debug, Default)]
struct Module {
    /// The names of its child modules in separate files.
    children: BTreeSet<String>,
    /// The names that it imports, and the paths to which they refer.
    imports: Vec<(String, Vec<String>)>,
    /// All paths that it mentions, relative to the crate's root or to itself.
    paths: Vec<Vec<String>>,
}

/// All modules by path. The path of the crate's root is empty.
type Modules = BTreeMap<Vec<String>, Module>;

fn names(path: &str) -> Vec<String> {
    path.split("::").map(ToOwned::to_owned).collect()
}

/// Returns a path in the module `here` as a path from the crate's root, or `None` for another crate's path or a local name.
fn from_root(path: &[String], here: &[String], children: &BTreeSet<String>) -> Option<Vec<String>> {
    let mut whole = here.to_vec();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => (whole, rest) = (Vec::new(), &rest[1..]),
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|name| name == "super") {
                whole.pop()?;
                rest = &rest[1..];
            }
        }
        first if children.contains(first) => {}
        _ => return None,
    }
    whole.extend_from_slice(rest);
    Some(whole)
}

/// Returns the paths in the tree of a `use` item, each with the name that it gets in the module.
fn tree(text: &str) -> Vec<(String, Vec<String>)> {
    let text = text.trim();
    let Some(open) = text.find('{') else {
        let (path, name) = text.split_once(" as ").unwrap_or((text, ""));
        let path: Vec<String> = names(path).into_iter().filter(|name| !name.is_empty()).collect();
        let name = if name.is_empty() { path.last().cloned().unwrap_or_default() } else { name.trim().to_owned() };
        return vec![(name, path)];
    };
    let prefix = names(text[..open].trim_end_matches("::"));
    let inside = &text[open + 1..text.rfind('}').unwrap()];
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for character in inside.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().unwrap().push(character);
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty()).flat_map(|part| tree(part));
    let whole = parts.map(|(name, path)| {
        // `{self}` is the module before it.
        let path: Vec<String> = prefix.iter().filter(|name| !name.is_empty()).cloned().chain(path).collect();
        match name.as_str() {
            "self" => (path[path.len() - 2].clone(), path[..path.len() - 1].to_vec()),
            _ => (name, path),
        }
    });
    whole.collect()
}

/// Returns the paths in a line of code that begin with `crate::` or `super::`.
fn mentioned(line: &str) -> Vec<Vec<String>> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut found = Vec::new();
    for (at, _) in line.match_indices("crate::").chain(line.match_indices("super::")) {
        if line[..at].ends_with(|character| is_word(character) || character == ':' || character == '$') {
            continue;
        }
        let end =
            line[at..].find(|character| !is_word(character) && character != ':').map_or(line.len(), |end| at + end);
        found.push(names(line[at..end].trim_end_matches(':')));
    }
    found
}

/// Reads the file of the module `here`. Returns its test modules in separate files.
fn read(source: &str, here: &[String], module: &mut Module) -> BTreeSet<String> {
    let mut test_modules = BTreeSet::new();
    // The inline modules around the current line, each with the line that ends it.
    let mut inner: Vec<(String, String)> = Vec::new();
    let (mut is_test, mut skipped_to) = (false, None::<String>);
    let mut item = String::new();
    let lines = source.lines().map(|line| line.split("//").next().unwrap().trim_end());
    let mut mentioned_in = Vec::new();
    for line in lines {
        if let Some(end) = &skipped_to {
            if line == end {
                skipped_to = None;
            }
            continue;
        }
        if inner.last().is_some_and(|(_, end)| line == end) {
            inner.pop();
            continue;
        }
        let code = line.trim_start();
        if item.is_empty() {
            if code.starts_with("#[cfg(test)]") || code.starts_with("#[cfg(all(test") {
                is_test = true;
                continue;
            }
            if code.starts_with("#[") || code.is_empty() {
                continue;
            }
            let plain = code.strip_prefix("pub").filter(|rest| rest.starts_with([' ', '('])).map_or(code, |rest| {
                let rest = rest.trim_start();
                if rest.starts_with('(') { rest.split_once(')').unwrap().1.trim_start() } else { rest }
            });
            let end = format!("{}}}", &line[..line.len() - code.len()]);
            if let Some(name) = plain.strip_prefix("mod ") {
                if let Some(name) = name.strip_suffix(';') {
                    module.children.insert(name.to_owned());
                    if is_test {
                        test_modules.insert(name.to_owned());
                    }
                } else if let Some(name) = name.strip_suffix(" {") {
                    if is_test {
                        skipped_to = Some(end);
                    } else {
                        inner.push((name.to_owned(), end));
                    }
                }
                is_test = false;
                continue;
            }
            if is_test && plain.ends_with('{') {
                skipped_to = Some(end);
                is_test = false;
                continue;
            }
            if let Some(start) = plain.strip_prefix("use ") {
                item = start.to_owned();
            } else {
                if !is_test {
                    let place: Vec<String> =
                        here.iter().cloned().chain(inner.iter().map(|(name, _)| name.clone())).collect();
                    mentioned_in.extend(mentioned(code).into_iter().map(|path| (place.clone(), path)));
                }
                is_test = false;
                continue;
            }
        } else {
            item += code;
        }
        if let Some(whole) = item.strip_suffix(';') {
            if !is_test {
                let place: Vec<String> =
                    here.iter().cloned().chain(inner.iter().map(|(name, _)| name.clone())).collect();
                for (name, path) in tree(whole) {
                    mentioned_in.push((place.clone(), path.clone()));
                    if inner.is_empty() {
                        module.imports.push((name, path));
                    }
                }
            }
            item.clear();
            is_test = false;
        }
    }
    for (place, path) in mentioned_in {
        let children = if place.len() == here.len() { module.children.clone() } else { BTreeSet::new() };
        module.paths.extend(from_root(&path, &place, &children));
    }
    module.imports = std::mem::take(&mut module.imports)
        .into_iter()
        .filter_map(|(name, path)| Some((name, from_root(&path, here, &module.children)?)))
        .collect();
    test_modules
}

/// Returns the module that defines the item of a path. If a module only imports the item, this is another module.
fn defined_in(modules: &Modules, path: &[String], depth: usize) -> Vec<String> {
    let mut module = Vec::new();
    for (at, name) in path.iter().enumerate() {
        let child: Vec<String> = module.iter().chain([name]).cloned().collect();
        if modules.contains_key(&child) {
            module = child;
            continue;
        }
        let here = &modules[&module];
        let import = here.imports.iter().find(|(import, _)| import == name);
        if let Some((_, of)) = import.filter(|(_, of)| depth > 0 && of != path) {
            let whole: Vec<String> = of.iter().chain(&path[at + 1..]).cloned().collect();
            return defined_in(modules, &whole, depth - 1);
        }
        return module;
    }
    module
}

/// Reads a crate. `sources` has the path of each file in `src`, and its text.
fn modules(sources: &[(String, String)]) -> Modules {
    let (mut modules, mut tests) = (Modules::new(), BTreeSet::new());
    for (file, source) in sources {
        let mut path: Vec<String> = file.trim_end_matches(".rs").split('/').map(ToOwned::to_owned).collect();
        if path.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
            path.pop();
        }
        let mut module = Module::default();
        for test in read(source, &path, &mut module) {
            tests.insert(path.iter().cloned().chain([test]).collect::<Vec<_>>());
        }
        modules.insert(path, module);
    }
    modules.retain(|path, _| !tests.iter().any(|test| path.starts_with(test)));
    modules
}

/// Returns the imports between the files and subfolders of each folder. `mod` is the folder's own file.
fn folders(modules: &Modules) -> BTreeMap<String, BTreeMap<String, BTreeSet<String>>> {
    let has_files = |path: &[String]| modules.keys().any(|other| other.len() > path.len() && other.starts_with(path));
    let file = |path: &[String]| {
        let mut path = path.to_vec();
        if has_files(&path) {
            path.push("mod".to_owned());
        }
        path
    };
    let mut folders: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (path, module) in modules {
        let from = file(path);
        for used in &module.paths {
            let to = file(&defined_in(modules, used, 8));
            if from == to {
                continue;
            }
            let common = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
            let folder = format!("src/{}", from[..common].join("/"));
            let imports = folders.entry(folder.trim_end_matches('/').to_owned()).or_default();
            imports.entry(from[common].clone()).or_default().insert(to[common].clone());
        }
    }
    folders
}

/// Returns the shortest circle through the file `from`.
fn circle(imports: &BTreeMap<String, BTreeSet<String>>, from: &str) -> Option<Vec<String>> {
    let mut ways = vec![vec![from.to_owned()]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut next = Vec::new();
        for way in ways {
            for to in imports.get(way.last().unwrap()).into_iter().flatten() {
                if to == from {
                    return Some(way);
                }
                if seen.insert(to.clone()) {
                    next.push(way.iter().cloned().chain([to.clone()]).collect());
                }
            }
        }
        ways = next;
    }
    None
}

/// Returns all circles of imports, by folder.
fn circles(modules: &Modules) -> BTreeMap<(String, Vec<String>), String> {
    let mut circles = BTreeMap::new();
    for (folder, imports) in folders(modules) {
        for from in imports.keys() {
            if let Some(circle) = circle(&imports, from) {
                let shown = format!("{} → {from}", circle.join(" → "));
                let mut members = circle;
                members.sort();
                circles.entry((folder.clone(), members)).or_insert(shown);
            }
        }
    }
    circles
}

fn sources(folder: &Path, below: &str, files: &mut Vec<(String, String)>) {
    for path in support::files(folder) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            sources(&path, &format!("{below}{name}/"), files);
        } else if name.ends_with(".rs") {
            files.push((format!("{below}{name}"), fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn no_files_or_folders_import_each_other_in_a_circle() {
    let mut shown = Vec::new();
    for package in [".", "cli", "proxy", "bindings/js/wasm", "bindings/python"] {
        let mut files = Vec::new();
        sources(&Path::new(ROOT).join(package).join("src"), "", &mut files);
        assert!(files.len() > 5, "{package} has {} files", files.len());
        let circles = circles(&modules(&files));
        shown.extend(circles.into_iter().map(|((folder, _), circle)| format!("{package}/{folder}: {circle}")));
    }
    assert!(shown.is_empty(), "imports in a circle:\n{}", shown.join("\n"));
}

#[test]
fn the_page_on_the_design_lists_each_folder() {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/design.md")).unwrap();
    let table: String = page.lines().filter(|line| line.starts_with("| `")).collect();
    for entry in fs::read_dir(Path::new(ROOT).join("src")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let name = name.trim_end_matches(".rs");
        let is_listed = table.contains(&format!("`{name}/`")) || table.contains(&format!("`{name}`"));
        assert!(is_listed || name == "lib", "docs/design.md does not list src/{name}");
    }
}

/// Returns the modules of a package in JavaScript or Python that a file imports: `./NAME.js`, `.NAME`, or the package itself.
fn imported(text: &str, is_python: bool) -> BTreeSet<String> {
    let of_line = |line: &str| {
        if is_python {
            let (from, names) = line.trim_start().strip_prefix("from .")?.split_once(" import ")?;
            let is_module = |name: &&str| name.starts_with('_') && from.is_empty();
            let name = names.split(',').map(str::trim).find(is_module).unwrap_or("__init__");
            return Some(if from.is_empty() { name.to_owned() } else { from.to_owned() });
        }
        let (_, path) = line.split_once("from \"./").or_else(|| line.split_once("import(\"./"))?;
        Some(path.split_once(".js\"")?.0.to_owned())
    };
    text.lines().filter_map(of_line).collect()
}

#[test]
fn no_files_of_the_packages_in_javascript_and_python_import_each_other_in_a_circle() {
    for (folder, extension) in [("bindings/js/src", ".js"), ("bindings/python/python/libaside", ".py")] {
        let mut imports = BTreeMap::new();
        for path in support::files(Path::new(ROOT).join(folder)) {
            if let Some(name) = path.file_name().unwrap().to_str().unwrap().strip_suffix(extension) {
                imports.insert(name.to_owned(), imported(&fs::read_to_string(&path).unwrap(), extension == ".py"));
            }
        }
        assert!(imports.values().map(BTreeSet::len).sum::<usize>() > 10, "{folder}: {imports:?}");
        let found: Vec<_> = imports.keys().filter_map(|from| circle(&imports, from)).collect();
        assert!(found.is_empty(), "{folder}: {found:?}");
    }
}

/// Returns the circles of a made-up crate.
fn made(sources: &[(&str, &str)]) -> Vec<String> {
    let sources: Vec<_> = sources.iter().map(|(file, text)| (file.to_string(), text.to_string())).collect();
    circles(&modules(&sources)).into_iter().map(|((folder, _), shown)| format!("{folder}: {shown}")).collect()
}

const LIB: (&str, &str) = ("lib.rs", "mod a;\nmod b;\npub use a::one::One;\n");

#[test]
fn folders_that_import_each_other_are_found() {
    let a = ("a/mod.rs", "pub mod one;\n");
    let up = ("a/one.rs", "use crate::{\n    b::two::{self, Two},\n};\npub struct One;\n");
    let b = ("b/mod.rs", "pub mod two;\n");
    // The import is found by a name in the crate's root and in code without `use`, but not in tests or comments.
    for down in ["use crate::One;\n", "fn two() -> crate::a::one::One {\n", "pub(crate) use super::super::a::one;\n"] {
        assert_eq!(made(&[LIB, a, up, b, ("b/two.rs", down)]), ["src: a → b → a"], "{down}");
    }
    for down in [
        "use std::fmt;\n",
        "// use crate::One;\n",
        "#[cfg(test)]\nmod tests {\n    use crate::One;\n}\n",
        "#[cfg(test)]\nuse crate::One;\n",
    ] {
        assert!(made(&[LIB, a, up, b, ("b/two.rs", down)]).is_empty(), "{down}");
    }
}

#[test]
fn files_of_a_folder_that_import_each_other_are_found() {
    let a = ("a/mod.rs", "mod one;\nmod two;\n#[cfg(test)]\nmod tests;\npub use two::Two;\nstruct Own;\n");
    let circle = |one: &str, two: &str| {
        made(&[LIB, a, ("a/one.rs", one), ("a/two.rs", two), ("a/tests.rs", "use super::one;\n")])
    };
    assert_eq!(circle("use super::two::Two;\n", "use super::one;\n"), ["src/a: one → two → one"]);
    assert_eq!(circle("use super::Two;\n", "use super::one;\n"), ["src/a: one → two → one"]);
    assert_eq!(circle("", "use super::Own;\n"), ["src/a: mod → two → mod"]);
    assert!(circle("use super::Two;\n", "").is_empty());
    assert!(circle("use super::Two;\n", "use std::fmt;\n\nmod inner {\n    use super::Two;\n}\n").is_empty());
    let three = [
        LIB,
        a,
        ("a/one.rs", "use super::two;\n"),
        ("a/two.rs", "use super::three;\n"),
        ("a/three.rs", "use super::one;\n"),
    ];
    assert_eq!(made(&three), ["src/a: one → two → three → one"]);
}

#[test]
fn a_tree_of_imports_is_read() {
    let read =
        |text| tree(text).into_iter().map(|(name, path)| format!("{name}={}", path.join("::"))).collect::<Vec<_>>();
    assert_eq!(read("crate::a::B"), ["B=crate::a::B"]);
    assert_eq!(read("super::a as b"), ["b=super::a"]);
    assert_eq!(read("crate::{a::{self, B as C}, d::*,}"), ["a=crate::a", "C=crate::a::B", "*=crate::d::*"]);
}
