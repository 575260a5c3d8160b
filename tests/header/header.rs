//! `include/aside.h` is what src/ffi says, C and C++ read it without a warning, and the library exports just that.
//!
//! cbindgen writes the header but takes type names on trust; safer-ffi prints plain prototypes of what the compiler
//! really exports. One C file that includes both is refused by the C compiler if they differ. `ASIDE_BLESS=1` rewrites
//! the checked-in files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

// Linked for what it exports; nothing here calls it.
use aside as _;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A folder for this test's files.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("header").join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The header as the sources say it; with `ASIDE_BLESS=1`, written before any test looks at the checked-in one.
static HEADER: LazyLock<String> = LazyLock::new(|| {
    let header = generate();
    bless("include/aside.h", &header);
    header
});

/// The files of src/ffi that the header comes from, in the order in which a reader wants it.
const SOURCES: &[&str] = &[
    "types.rs",
    "dialect.rs",
    "scanner/mod.rs",
    "scanner/callback.rs",
    "scanner/array.rs",
    "scanner/text.rs",
    "scanner/progress.rs",
    "sse.rs",
    "compress/types.rs",
    "compress/registry.rs",
    "compress/host.rs",
    "compress/compressor.rs",
    "compress/command_line.rs",
    "compress/tool_stream.rs",
    "mod.rs",
];

/// Lets cbindgen write the header from the sources.
fn generate() -> String {
    let mut config = cbindgen::Config::from_file(root().join("cbindgen.toml")).unwrap();
    config.after_includes = Some(format!(
        "\n/**\n * The version of this header.\n */\n#define ASIDE_VERSION \"{}\"\n\n\
         /**\n * The function of that version: a call of it does not link with an older library.\n */\n\
         #define ASIDE_VERSION_SYMBOL {}",
        env!("CARGO_PKG_VERSION"),
        version_symbol()
    ));
    let mut sources = String::new();
    for file in SOURCES {
        for line in fs::read_to_string(root().join("src/ffi").join(file)).unwrap().lines() {
            // cbindgen does not know safer-ffi's attribute, and all is in one file here.
            if !line.starts_with("mod ")
                && !line.starts_with("//!")
                && !line.starts_with("#![")
                && !line.starts_with("#[cfg(feature = \"compress\")]")
            {
                sources += &line.replace("#[ffi_export]", "#[unsafe(no_mangle)]");
                sources += "\n";
            }
        }
    }
    let copy = scratch("sources").join("ffi.rs");
    fs::write(&copy, sources).unwrap();
    let builder = cbindgen::Builder::new().with_config(config).with_src(copy);
    let mut header = Vec::new();
    builder.generate().expect("cbindgen reads src/ffi").write(&mut header);
    tidy(&String::from_utf8(header).unwrap())
}

/// The function that carries this version in its name.
fn version_symbol() -> String {
    format!("aside_version_{}", env!("CARGO_PKG_VERSION").replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
}

/// What cbindgen has no option for: headings (comments that begin with `== Heading ==`), comments of one line on one
/// line, and negative numbers in parentheses.
fn tidy(header: &str) -> String {
    let rule = "=".repeat(74);
    let mut out: Vec<String> = Vec::new();
    let mut lines = header.lines();
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix(" * == ").and_then(|line| line.strip_suffix(" ==")) {
            out.pop();
            out.extend([format!("/* {rule} *"), format!(" * {heading}"), format!(" * {rule} */"), String::new()]);
            out.push("/**".to_owned());
            lines.next();
        } else if let (" */", [.., first, text]) = (line.trim_start_matches("    "), &out[..]) {
            let indent = &line[..line.len() - 3];
            match text.strip_prefix(&format!("{indent} * ")) {
                Some(text) if *first == format!("{indent}/**") && line.len() + text.len() < 120 => {
                    let text = format!("{indent}/** {text} */");
                    out.truncate(out.len() - 2);
                    out.push(text);
                }
                _ => out.push(line.to_owned()),
            }
        } else {
            match line.split_once(" -").filter(|_| line.starts_with("#define")) {
                Some((name, number)) => out.push(format!("{name} (-{number})")),
                None => out.push(line.to_owned()),
            }
        }
    }
    out.join("\n") + "\n"
}

fn bless(path: &str, text: &str) {
    if std::env::var_os("ASIDE_BLESS").is_some() {
        fs::write(root().join(path), text).unwrap();
    }
}

/// Compares a checked-in file.
fn compare(path: &str, text: &str) {
    let found = fs::read_to_string(root().join(path)).unwrap_or_default();
    let differs = found.lines().chain([""]).zip(text.lines().chain([""])).position(|(is, should)| is != should);
    assert!(
        found == text,
        "{path} is not what src/ffi says, from line {} on: is {:?}, should be {:?}\n\
         run `ASIDE_BLESS=1 cargo test -p aside-header`, then read the difference",
        differs.map_or(0, |at| at + 1),
        differs.and_then(|at| found.lines().nth(at)),
        differs.and_then(|at| text.lines().nth(at)),
    );
}

/// The C or C++ compiler that the environment names, or the system's.
fn compiler(cpp: bool) -> Command {
    let (variable, usual) = if cpp { ("CXX", "c++") } else { ("CC", "cc") };
    Command::new(std::env::var(variable).unwrap_or_else(|_| usual.into()))
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// The library that cargo built beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().join(format!("{}aside{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX))
}

#[test]
fn header_is_what_the_sources_say() {
    compare("include/aside.h", &HEADER);
}

#[test]
fn every_file_with_something_for_the_header_is_read() {
    fn look(folder: &Path, found: &mut BTreeSet<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                look(&path, found);
            } else if ["#[ffi_export]", "#[derive_ReprC]", "pub const ASIDE_", "pub type aside_"]
                .iter()
                .any(|mark| fs::read_to_string(&path).unwrap().lines().any(|line| line.starts_with(mark)))
            {
                found.insert(path);
            }
        }
    }
    let mut found = BTreeSet::new();
    look(&root().join("src/ffi"), &mut found);
    assert_eq!(found, SOURCES.iter().map(|file| root().join("src/ffi").join(file)).collect());
}

#[test]
fn header_compiles_alone_without_a_warning() {
    LazyLock::force(&HEADER);
    let folder = scratch("alone");
    let source = folder.join("alone.c");
    fs::write(&source, "#include \"aside.h\"\n#include \"aside.h\"\nint aside_header_alone;\n").unwrap();
    for standard in ["c99", "c11", "c++11", "c++17", "c++20"] {
        let cpp = standard.starts_with("c++");
        run(compiler(cpp)
            .args(STRICT)
            .args(["-x", if cpp { "c++" } else { "c" }, "-c", "-o"])
            .arg(folder.join("alone.o"))
            .arg(format!("-std={standard}"))
            .arg("-I")
            .arg(root().join("include"))
            .arg(&source));
    }
}

#[test]
fn header_declares_what_the_compiler_exports() {
    let mut printed = Vec::new();
    safer_ffi::headers::builder()
        .with_guard("ASIDE_WITNESS_H")
        .with_banner("/* Printed by safer-ffi. */")
        .to_writer(&mut printed)
        .generate()
        .unwrap();
    let printed = String::from_utf8(printed).unwrap();

    // Its types are kept apart by a prefix; they are compared by size and place, the functions by their declarations.
    let (mut types, mut functions, mut asserts) = (String::new(), String::new(), String::new());
    let header = &*HEADER;
    let mut structs = 0;
    let mut named = Vec::new();
    let blocks = blocks(&printed);
    for block in &blocks {
        if let Some(rest) = block.strip_prefix("typedef struct ") {
            let name = rest.split_whitespace().next().unwrap();
            named.push(name);
            if !block.contains('{') {
                continue; // opaque: the pretty header's own
            }
            structs += 1;
            types += &block.replace(&format!("struct {name}"), &format!("struct witness_{name}"));
            types += "\n";
            asserts += &format!("_Static_assert(sizeof(witness_{name}_t) == sizeof({name}), \"{name}\");\n");
            for field in block.lines().filter_map(field) {
                asserts += &format!(
                    "_Static_assert(offsetof(witness_{name}_t, {field}) == offsetof({name}, {field}), \"{field}\");\n\
                     _Static_assert(_Generic(&((witness_{name}_t *)0)->{field}, \
                     __typeof__(&(({name} *)0)->{field}): 1, default: 0), \"type of {name}.{field}\");\n"
                );
            }
        } else if block.contains("aside_") && block.contains('(') {
            functions += block;
            functions += "\n";
        }
    }
    let declared = names(header);
    let listed: BTreeSet<String> = names(&functions).into_iter().filter(|name| name != "aside_test_panic").collect();
    assert_eq!(declared, listed, "functions of the header, and of the compiler");
    assert!(structs >= 5 && listed.len() > 20, "safer-ffi printed in another form: this test reads nothing");

    let mut maps = String::new();
    for name in named {
        // In types, the witness's own structs; in prototypes, the header's.
        types = types.replace(&format!("}} {name}_t;"), &format!("}} witness_{name}_t;"));
        maps += &format!("#define {name}_t {name}\n");
    }
    // c_char is an alias of one of these in Rust, which shows through; nothing else here has 8 bits.
    let c = format!(
        "#include <stddef.h>\n#include <stdint.h>\n#include \"aside.h\"\n\
         #define int8_t char\n#define uint8_t char\n{maps}{types}\n{asserts}\n{functions}\n"
    );
    let folder = scratch("witness");
    let source = folder.join("witness.c");
    fs::write(&source, c).unwrap();
    run(compiler(false)
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-c", "-o"])
        .arg(folder.join("witness.o"))
        .arg("-I")
        .arg(root().join("include"))
        .arg(&source));
}

/// A header's declarations, one by one, without comments and preprocessor lines.
fn blocks(header: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = header;
    while let Some((before, comment)) = rest.split_once("/*") {
        plain += before;
        rest = comment.split_once("*/").expect("the comment's end").1;
    }
    plain += rest;

    let (mut blocks, mut block, mut depth) = (Vec::new(), String::new(), 0);
    for line in plain.lines().map(str::trim) {
        let around = line.starts_with('#') || line.starts_with("extern \"C\"") || line.starts_with("}  //");
        if line.is_empty() || around || depth == 0 && line == "}" {
            continue;
        }
        depth += i32::from(line.contains('{')) - i32::from(line.contains('}'));
        block += line;
        block += "\n";
        if depth == 0 && line.ends_with(';') {
            blocks.push(std::mem::take(&mut block));
        }
    }
    blocks
}

/// The name that a struct's line declares.
fn field(line: &str) -> Option<&str> {
    let declared = line.trim().strip_suffix(';').filter(|line| !line.starts_with('}'))?;
    // A pointer to a function has its name inside: `int (*name)(void *)`.
    if let Some((name, _)) = declared.split_once("(*").and_then(|(_, rest)| rest.split_once(')')) {
        return Some(name);
    }
    declared.rsplit([' ', '*']).next()
}

/// The functions that a header declares.
fn names(header: &str) -> BTreeSet<String> {
    blocks(header)
        .iter()
        .filter(|block| !block.starts_with("typedef"))
        .filter_map(|block| block.split('(').next()?.split_whitespace().last())
        .map(|name| name.trim_start_matches('*').to_owned())
        .collect()
}

#[test]
fn library_exports_the_listed_symbols_and_no_others() {
    let listed = names(&HEADER);
    let text: String = listed.iter().map(|name| format!("{name}\n")).collect();
    bless("include/aside.symbols", &text);
    compare("include/aside.symbols", &text);

    let output = run(Command::new("nm").args(["-D", "--defined-only"]).arg(library()));
    let exported: BTreeSet<String> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .filter(|name| !(cfg!(feature = "panic-hook") && *name == "aside_test_panic"))
        .map(String::from)
        .collect();
    assert_eq!(exported, listed, "what the library exports, and what the header declares");
}

#[test]
fn every_function_is_used_by_the_c_tests() {
    let mut c = String::new();
    for entry in fs::read_dir(root().join("tests/c")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "c") {
            c += &fs::read_to_string(path).unwrap();
        }
    }
    let unused: Vec<String> = names(&HEADER).into_iter().filter(|name| !c.contains(&format!("{name}("))).collect();
    assert!(unused.is_empty(), "tests/c never calls {unused:?}");
}

#[test]
fn every_number_and_field_is_held_by_the_c_tests() {
    let c = fs::read_to_string(root().join("tests/c/layout.c")).unwrap();
    let words: BTreeSet<&str> = c.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let numbers = HEADER.lines().filter_map(|line| Some(line.strip_prefix("#define ")?.split_once(' ')?.0));
    let unheld: Vec<&str> = numbers.filter(|name| !words.contains(name)).collect();
    assert!(unheld.is_empty(), "tests/c/layout.c lacks {unheld:?}");

    let mut wanted = Vec::new();
    for block in blocks(&HEADER).iter().filter(|block| block.starts_with("typedef struct") && block.contains('{')) {
        let name = block.split_whitespace().nth(2).unwrap();
        wanted.push(format!("sizeof({name}) =="));
        wanted.extend(block.lines().filter_map(field).map(|field| format!("offsetof({name}, {field}) ==")));
    }
    assert!(wanted.len() > 90, "cbindgen printed in another form: this test reads nothing");
    wanted.retain(|wanted| !c.contains(wanted));
    assert!(wanted.is_empty(), "tests/c/layout.c lacks {wanted:?}");
}

#[test]
fn every_declaration_is_documented() {
    let names = names(&HEADER);
    let lines: Vec<&str> = HEADER.lines().collect();
    for pair in lines.windows(2) {
        let declares = pair[1].starts_with("#define ASIDE_") && !pair[1].ends_with("_H")
            || pair[1].starts_with("typedef")
            || !pair[1].starts_with([' ', '/']) && names.iter().any(|name| pair[1].contains(&format!("{name}(")));
        assert!(!declares || pair[0].ends_with("*/"), "no comment: {}", pair[1]);
    }
}

#[test]
fn library_is_named_after_the_binary_interface() {
    let version = HEADER.lines().find_map(|line| line.strip_prefix("#define ASIDE_ABI_VERSION ")).unwrap();
    let output = run(Command::new("readelf").arg("-d").arg(library()));
    let name = format!("[libaside.so.{version}]");
    assert!(String::from_utf8_lossy(&output.stdout).contains(&name), "the soname is not {name}");
}

#[test]
fn a_symbol_carries_the_version() {
    let symbol = version_symbol();
    assert!(names(&HEADER).contains(&symbol), "src/ffi/mod.rs: add `{symbol}`, and keep those of before");
}

#[test]
fn example_in_the_header_runs() {
    let example: String = HEADER
        .lines()
        .skip_while(|line| !line.starts_with(" *     #include"))
        .take_while(|line| line.starts_with(" *     ") || *line == " *")
        .map(|line| line.strip_prefix(" *     ").unwrap_or_default().to_owned() + "\n")
        .collect();
    let folder = scratch("example");
    let (source, program) = (folder.join("example.c"), folder.join("example"));
    fs::write(&source, example).unwrap();
    run(compiler(false)
        .args(STRICT)
        .args(["-std=c99", "-o"])
        .arg(&program)
        .arg("-I")
        .arg(root().join("include"))
        .arg(&source)
        .arg(library()));
    // Found at run time by the name that it gives itself.
    let version = HEADER.lines().find_map(|line| line.strip_prefix("#define ASIDE_ABI_VERSION ")).unwrap();
    fs::copy(library(), folder.join(format!("libaside.so.{version}"))).unwrap();
    let output = run(Command::new(&program).env("LD_LIBRARY_PATH", &folder));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "It is 42.\n");
}
