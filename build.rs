//! Lists the files of `dialects/`, `filters/` and `servers/`, and embeds each of them up to its first example or test, dialects
//! without comments. Sets also the name of the shared library.

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

#[allow(dead_code)] // Only the crate reads its fields.
#[path = "src/dialect/model_table.rs"]
mod model_table;
#[allow(dead_code)]
#[path = "src/dialect/spelling.rs"]
mod spelling;

use model_table::{Builder, Table};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    embed_dialects();
    embed_filters();
    embed_servers();
    name_library();
}

/// Sets the name under which programs ask for the shared library when they start. It contains `ASIDE_ABI_VERSION`, so that two
/// incompatible libraries can be installed next to each other. tests/header compares the name with the number.
fn name_library() {
    match env::var("CARGO_CFG_TARGET_OS").unwrap_or_default().as_str() {
        "macos" => println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libaside.1.dylib"),
        // The systems whose libraries are ELF files.
        "android" | "dragonfly" | "freebsd" | "haiku" | "illumos" | "linux" | "netbsd" | "openbsd" | "solaris" => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libaside.so.1");
        }
        _ => {}
    }
}

/// Returns a file with LF as line end. Git may check out files with CR LF.
fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap().replace("\r\n", "\n")
}

/// Writes the catalogue's tables. Names and patterns are read at build time, so that `find` need not parse every file.
fn embed_dialects() {
    let files = toml_files("dialects");
    let mut table = format!("static ENTRIES: [Entry; {}] = [\n", files.len());
    let (mut names, mut patterns) = (Vec::new(), Vec::<Vec<String>>::new());
    for file in files {
        let text = read(&file);
        let text = text.split("\n[[example]]").next().unwrap();
        let keys: toml::Table = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let name = keys["name"].as_str().unwrap();
        let strings = |key: &str| -> Vec<&str> {
            let values = keys.get(key).into_iter().flat_map(|values| values.as_array().unwrap());
            values.map(|value| value.as_str().unwrap()).collect()
        };
        let aliases = strings("aliases");
        let models = keys.get("models").into_iter().flat_map(|values| values.as_array().unwrap());
        let models: Vec<_> = models.map(|value| (pattern_text(value), pattern_start(value))).collect();
        let start = keys.get("start").map_or("Start::Channel(Channel::Content)".to_owned(), start_of);
        names.push(name.to_owned());
        patterns.push(models.iter().map(|(text, _)| text.clone()).collect());
        let models = models.iter().map(|(text, start)| {
            let start = start.as_ref().map_or("None".to_owned(), |start| format!("Some({start})"));
            format!("Pattern {{ text: {text:?}, start: {start} }}")
        });
        let models = models.collect::<Vec<_>>().join(", ");
        // Comments are left out, so that a browser that loads the library need not fetch them.
        let text: String = text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
        writeln!(
            table,
            "Entry {{ name: {name:?}, #[cfg(feature = \"c-api\")] c_name: c{name:?}, aliases: &{aliases:?}, start: {start}, \
             models: &[{models}], text: {text:?}, compiled: OnceLock::new() }},"
        )
        .unwrap();
    }
    table.push_str("];\n");
    writeln!(table, "const PATTERNS: usize = {};", patterns.iter().map(Vec::len).sum::<usize>()).unwrap();
    write_table(&mut table, "MODELS", &patterns);
    let file = "src/dialect/without_thinking.toml";
    println!("cargo::rerun-if-changed={file}");
    let keys: toml::Table = read(Path::new(file)).parse().unwrap_or_else(|error| panic!("{file}: {error}"));
    let strings = |values: &toml::Value| -> Vec<String> {
        values.as_array().unwrap().iter().map(|value| value.as_str().unwrap().to_ascii_lowercase()).collect()
    };
    writeln!(table, "static WITHOUT_THINKING: &[&str] = &{:?};", strings(&keys["models"])).unwrap();
    write_table(&mut table, "NAMES_WITHOUT", &[strings(&keys["names_without"])]);
    let of_calls = keys["calls"].as_table().unwrap();
    if let Some(unknown) = of_calls.keys().find(|name| !names.contains(name)) {
        panic!("{file}: there is no dialect {unknown}");
    }
    let patterns: Vec<_> = names.iter().map(|name| of_calls.get(name).map(&strings).unwrap_or_default()).collect();
    write_table(&mut table, "CALLS_ALONE", &patterns);
    fs::write(Path::new(&env::var("OUT_DIR").unwrap()).join("dialects.rs"), table).unwrap();
}

/// Writes the table of each dialect's patterns.
fn write_table(text: &mut String, name: &str, patterns: &[Vec<String>]) {
    let builder = Builder::new(patterns.iter().map(|patterns| patterns.iter().map(String::as_str)));
    let Table { patterns, edges, stops, leaves, numbers, roots, slashed, tails } = builder.table();
    writeln!(
        text,
        "static {name}: Table<'static> = Table {{ patterns: &{patterns:?}, edges: &{edges:?}, stops: &{stops:?}, \
         leaves: &{leaves:?}, numbers: &{numbers:?}, roots: {roots:?}, slashed: {slashed:?}, tails: {tails:?} }};"
    )
    .unwrap();
}

/// Returns an entry of `models` in lower case: the string itself, or `pattern` if the entry is a table.
fn pattern_text(value: &toml::Value) -> String {
    value.as_str().unwrap_or_else(|| value["pattern"].as_str().unwrap()).to_ascii_lowercase()
}

/// Returns the start for the models of an entry.
fn pattern_start(value: &toml::Value) -> Option<String> {
    value.get("start").map(start_of)
}

/// Returns the expression of a start.
fn start_of(value: &toml::Value) -> String {
    match value.as_str().unwrap() {
        "header" => "Start::Header".to_owned(),
        channel => format!("Start::Channel(Channel::{}{})", channel[..1].to_uppercase(), &channel[1..]),
    }
}

/// Embeds the filters' files, in the order of their names, each with the patterns that decide whether it is read; and
/// `_failures.toml`, which is not a filter, without its examples.
fn embed_filters() {
    let mut files = toml_files("filters");
    files.retain(|file| !file.file_stem().unwrap().to_string_lossy().starts_with('_'));
    let mut table = String::from("&[\n");
    let mut programs = std::collections::BTreeSet::new();
    for file in files {
        let text = read(&file);
        let text = text.split("\n[[test]]").next().unwrap();
        let keys: toml::Table = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let tables = |key: &str| keys.get(key).and_then(toml::Value::as_array).cloned().unwrap_or_default();
        let strings = |tables: Vec<toml::Value>, key: &str| -> Vec<String> {
            let values = tables.iter().filter_map(|table| table.get(key)).flat_map(|values| values.as_array().unwrap());
            values.map(|value| value.as_str().unwrap().to_owned()).collect()
        };
        let is = |key: &str| keys.get(key).and_then(toml::Value::as_bool).unwrap_or(false);
        let (id, budget, fallback) = (&keys["id"], is("budget"), is("fallback"));
        let commands = strings(tables("run"), "command");
        let (opens, closes) = (strings(tables("signature"), "opens"), strings(tables("signature"), "closes"));
        writeln!(
            table,
            "BuiltIn {{ id: {id}, budget: {budget}, fallback: {fallback}, commands: &{commands:?}, opens: &{opens:?}, \
             closes: &{closes:?}, text: {text:?} }},"
        )
        .unwrap();
        programs.extend(commands);
    }
    table.push_str("]\n");
    let folder = env::var("OUT_DIR").unwrap();
    fs::write(Path::new(&folder).join("filters.rs"), table).unwrap();
    fs::write(Path::new(&folder).join("programs.rs"), format!("{:?}", programs.iter().collect::<Vec<_>>())).unwrap();
    let mut failures: toml::Table = read(Path::new("filters/_failures.toml")).parse().unwrap();
    for (_, value) in failures.iter_mut() {
        let tables = match value {
            toml::Value::Array(tables) => &mut tables[..],
            table => std::slice::from_mut(table),
        };
        for table in tables.iter_mut().filter_map(toml::Value::as_table_mut) {
            table.retain(|key, _| key != "yes" && key != "no");
        }
    }
    // JSON is read faster.
    fs::write(Path::new(&folder).join("failures.json"), serde_json::to_string(&failures).unwrap()).unwrap();
}

/// Embeds the servers' files, each with the name that it contains.
fn embed_servers() {
    let mut table = String::from("static SERVERS: &[Entry] = &[\n");
    for file in toml_files("servers") {
        let text = read(&file);
        let text = text.split("\n[[example]]").next().unwrap();
        let keys: toml::Table = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let name = keys["name"].as_str().unwrap();
        writeln!(table, "Entry {{ name: {name:?}, #[cfg(feature = \"c-api\")] c_name: c{name:?}, text: {text:?} }},")
            .unwrap();
    }
    table.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR").unwrap()).join("servers.rs"), table).unwrap();
}

fn toml_files(folder: &str) -> Vec<PathBuf> {
    println!("cargo::rerun-if-changed={folder}");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort_by_key(|file| file.file_stem().map(ToOwned::to_owned));
    files
}
