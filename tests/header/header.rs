//! Holds the headers in `include` to src/ffi: C, C++ and cffi read them without a warning, and the library exports just what
//! they declare. Nobody writes a declaration by hand.
//!
//! cbindgen writes the declarations, and the templates `src/ffi/*.h.in` their order. But cbindgen takes type names on trust;
//! safer-ffi prints plain prototypes of what the compiler really exports. One C file that includes both is refused by the C
//! compiler if they differ. `ASIDE_BLESS=1` rewrites the checked-in files.

use std::collections::{BTreeMap, BTreeSet};
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

/// The headers, the first for what the others include.
const HEADERS: [&str; 3] = ["aside.h", "aside_compress.h", "aside_unstable.h"];

/// The headers as the sources say them; with `ASIDE_BLESS=1`, written before any test looks at the checked-in ones.
static TEXTS: LazyLock<[String; 3]> = LazyLock::new(|| {
    let texts = HEADERS.map(|name| fill(&template(name), &DECLARATIONS));
    for (name, text) in HEADERS.iter().zip(&texts) {
        bless(&format!("include/{name}"), text);
    }
    texts
});

/// Each declaration of the sources with its comment, by the name that it declares.
static DECLARATIONS: LazyLock<BTreeMap<String, String>> = LazyLock::new(declarations);

/// All headers in one.
static HEADER: LazyLock<String> = LazyLock::new(|| TEXTS.concat());

fn template(name: &str) -> String {
    fs::read_to_string(root().join("src/ffi").join(format!("{name}.in"))).unwrap()
}

/// The files of src/ffi that the declarations come from.
const SOURCES: &[&str] = &[
    "constants.rs",
    "version.rs",
    "bytes.rs",
    "status.rs",
    "dialect.rs",
    "simple.rs",
    "scanner/event.rs",
    "scanner/options.rs",
    "scanner/handle.rs",
    "scanner/callback.rs",
    "scanner/token.rs",
    "scanner/array.rs",
    "scanner/text.rs",
    "scanner/progress.rs",
    "scanner/borrowed.rs",
    "scanner/thoughts.rs",
    "call_writer.rs",
    "rewriter.rs",
    "gate.rs",
    "compress/types.rs",
    "compress/registry.rs",
    "compress/host.rs",
    "compress/compressor.rs",
    "compress/command_line.rs",
    "compress/tool_stream.rs",
];

/// Lets cbindgen write the declarations.
fn declarations() -> BTreeMap<String, String> {
    let config = cbindgen::Config::from_file(root().join("cbindgen.toml")).unwrap();
    let mut sources = String::new();
    for file in SOURCES {
        let text = fs::read_to_string(root().join("src/ffi").join(file)).unwrap();
        for line in text.split("#[cfg(test)]").next().unwrap_or_default().lines() {
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
    let header = String::from_utf8(header).unwrap();
    let blocks = header.split("\n\n").map(str::trim).filter(|block| !block.is_empty());
    let declarations = blocks.map(|block| (declared(block).to_owned(), on_one_line(block)));
    declarations.filter(|(name, _)| name.to_ascii_lowercase().starts_with("aside_")).collect()
}

/// The name that a declaration of cbindgen's declares.
fn declared(block: &str) -> &str {
    let code = block.split_once("*/").map_or(block, |(_, code)| code).trim();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if code.starts_with("typedef") || code.starts_with('#') {
        let mut words = code.split(|c| !is_word(c));
        return words.find(|word| word.to_ascii_lowercase().starts_with("aside_")).unwrap_or_default();
    }
    code.split('(').next().unwrap().rsplit(|c| !is_word(c)).next().unwrap()
}

/// Puts comments of one line on one line.
fn on_one_line(block: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    for line in block.lines() {
        if let (" */", [.., first, text]) = (line.trim_start_matches("    "), &out[..]) {
            let indent = &line[..line.len() - 3];
            match text.strip_prefix(&format!("{indent} * ")) {
                Some(text) if *first == format!("{indent}/**") && line.len() + text.len() < 120 => {
                    let text = format!("{indent}/** {text} */");
                    out.truncate(out.len() - 2);
                    out.push(text);
                    continue;
                }
                _ => {}
            }
        }
        out.push(line.to_owned());
    }
    out.join("\n")
}

/// The name of the declaration that a template's line stands for.
fn placed(line: &str) -> Option<&str> {
    line.trim().strip_prefix('@')?.strip_suffix('@').filter(|name| !name.contains('@'))
}

/// Writes a header: each `@name@` becomes that declaration, inside an `enum` as an enumerator; lines that begin with `@@ `
/// become a heading.
fn fill(template: &str, declarations: &BTreeMap<String, String>) -> String {
    let rule = "=".repeat(74);
    let mut out = String::new();
    let mut lines = template.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("@@ ") {
            out += &format!("/* {rule} *\n * {heading}\n");
            let mut blank = " *\n";
            while let Some(text) = lines.peek().and_then(|line| line.strip_prefix("@@ ")) {
                out += &format!("{blank} * {text}\n");
                blank = "";
                lines.next();
            }
            out += &format!(" * {rule} */\n");
        } else if let Some(name) = placed(line) {
            let declaration = declarations.get(name).unwrap_or_else(|| panic!("src/ffi has no {name}"));
            let indent = &line[..line.len() - line.trim_start().len()];
            for line in declaration.lines() {
                let line = match line.strip_prefix("#define ").filter(|_| !indent.is_empty()) {
                    Some(number) => format!("{},", number.replacen(' ', " = ", 1)),
                    None => line.to_owned(),
                };
                out += &format!("{indent}{line}\n");
            }
        } else {
            let line =
                line.replace("@VERSION@", env!("CARGO_PKG_VERSION")).replace("@VERSION_SYMBOL@", &version_symbol());
            out += &format!("{line}\n");
        }
    }
    out
}

/// The function that carries this version in its name.
fn version_symbol() -> String {
    format!("aside_version_{}", env!("CARGO_PKG_VERSION").replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
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

/// The library that cargo built next to this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().join(format!("{}aside{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX))
}

#[test]
fn headers_are_what_the_sources_say() {
    for (name, text) in HEADERS.iter().zip(&*TEXTS) {
        compare(&format!("include/{name}"), text);
    }
}

/// A new function for most hosts must push out an old one, or go to `aside_unstable.h`.
#[test]
fn stable_headers_have_at_most_80_functions() {
    let [stable @ .., unstable] = &*TEXTS;
    let (functions, others) = (names(&stable.concat()), names(unstable));
    assert!(functions.len() <= 80, "{} functions: {functions:?}", functions.len());
    assert!(functions.len() > 40 && others.len() > 10, "this test reads nothing");
}

#[test]
fn every_declaration_has_one_place_in_the_templates() {
    let templates = HEADERS.map(template).concat();
    let mut places: Vec<&str> = templates.lines().filter_map(placed).collect();
    places.sort_unstable();
    assert_eq!(places, DECLARATIONS.keys().collect::<Vec<_>>());
    assert!(DECLARATIONS.len() > 150, "cbindgen printed in another form: this test reads nothing");
}

#[test]
fn cffi_reads_the_headers() {
    let program = "\
import re, sys
try:
    import cffi
except ImportError:
    print('skipped')
    sys.exit()
text = ''.join(open(name).read() for name in sys.argv[1:])
text = re.sub(r'#ifdef __cplusplus.*?#endif', '', text, flags=re.S)
ffi = cffi.FFI()
ffi.cdef(''.join(line for line in text.splitlines(True) if not line.startswith('#')))
c = ffi.dlopen(None)
print(c.ASIDE_ERROR_NULL, c.ASIDE_CHANNEL_TOOL, c.ASIDE_NO_FILTER, ffi.sizeof('aside_event'), ffi.sizeof('aside_status'))
";
    let files = HEADERS.map(|name| root().join("include").join(name));
    LazyLock::force(&TEXTS);
    // Debian's package is for the system's Python, which need not be the first on the PATH.
    let outputs = ["python3", "/usr/bin/python3"]
        .map(|python| Command::new(python).arg("-c").arg(program).args(&files).output())
        .into_iter()
        .flatten();
    for output in outputs {
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(["skipped\n", "-1001 3 -1 80 4\n"].contains(&&*said), "cffi reads {said}");
    }
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
fn headers_compile_alone_without_a_warning() {
    LazyLock::force(&TEXTS);
    let folder = scratch("alone");
    let source = folder.join("alone.c");
    let includes: String = HEADERS.iter().rev().map(|name| format!("#include \"{name}\"\n").repeat(2)).collect();
    fs::write(&source, includes + "int aside_header_alone;\n").unwrap();
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
        "#include <stddef.h>\n#include <stdint.h>\n#include \"aside_unstable.h\"\n\
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
        .filter(|block| !block.starts_with("typedef") && !block.starts_with("enum"))
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
    let number = |line| {
        let defined = str::strip_prefix(line, "#define ").or(line.strip_prefix("    ASIDE_").map(|_| line.trim()));
        Some(defined?.split_once(' ')?.0)
    };
    let numbers = HEADER.lines().filter_map(number);
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
            || pair[1].starts_with("    ASIDE_")
            || pair[1] == "enum {"
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
    assert!(names(&HEADER).contains(&symbol), "src/ffi/version.rs: add `{symbol}`, and keep those of before");
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
    // Found at run time by the name that it has in itself.
    let version = HEADER.lines().find_map(|line| line.strip_prefix("#define ASIDE_ABI_VERSION ")).unwrap();
    fs::copy(library(), folder.join(format!("libaside.so.{version}"))).unwrap();
    let output = run(Command::new(&program).env("LD_LIBRARY_PATH", &folder));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "It is 42.\n");
}
