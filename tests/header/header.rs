//! Checks that the files generated from `src/ffi` are up to date: the headers and their plain forms, the C test of layouts, and the
//! numbers of the bindings. C, C++, cffi and LuaJIT must read the headers without a warning, and the library must export exactly
//! the declared functions. So each declaration and each number is written by hand only once.
//!
//! `description.rs` reads the declarations, and the other modules write them in one language each. The macro `layout!` lets Rust's
//! compiler check the layouts that are written for C. With `ASIDE_BLESS=1`, this test rewrites the checked-in files.

mod c;
mod cpp;
mod description;
mod go;
mod javascript;
mod options;
mod python;
mod ruby;
mod rust;
mod stats;
mod words;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use c::{HEADERS, functions};
use description::Description;
use options::Options;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Returns a folder for this test's files.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("header").join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

static DESCRIPTION: LazyLock<Description> = LazyLock::new(Description::read);

/// The path and the right text of each generated file. With `ASIDE_BLESS=1`, the files are rewritten before a test reads the
/// checked-in ones.
static FILES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let description = &*DESCRIPTION;
    let headers = c::headers(description);
    let [stable, compress, unstable] = headers.each_ref().map(|header| c::plain(header));
    let mut files: Vec<_> = HEADERS.iter().map(|name| format!("include/{name}")).zip(headers).collect();
    let mut add = |path: &str, text| files.push((path.to_owned(), text));
    add("include/aside_cdef.h", stable + &compress);
    add("include/aside_unstable_cdef.h", unstable);
    add("tests/c/layout.c", c::layout(description));
    add("tests/support/src/c/declarations.rs", rust::declarations(description));
    let classes = ["aside_answer_options", "aside_rewriter_options"].map(|name| Options::read(description, name));
    let path = "bindings/cpp/include/aside.hpp";
    let structs = classes.each_ref().map(|options| cpp::options(description, options)).concat();
    let counts = stats::read(description);
    let structs = structs + &stats::cpp(&counts);
    add(path, section(path, "// ", |_| cpp::enumerations(description, false) + &structs + "\n"));
    let path = "bindings/cpp/include/aside_compress.hpp";
    add(path, section(path, "// ", |_| cpp::enumerations(description, true) + "\n"));
    add("bindings/go/constants.go", go::constants(description));
    add("bindings/go/options.go", go::options(description, &classes) + &stats::go(&counts));
    add("bindings/go/options_cgo.go", go::options_for_c(&classes) + &stats::go_of_c(&counts));
    let wazero = go::options_as_texts(&classes) + &stats::go_of_numbers(&counts);
    add("bindings/go/wasm/options_wazero.go", wazero);
    add("bindings/ruby/lib/aside/layout.rb", ruby::layout(description, &classes));
    let path = "bindings/ruby/sig/aside.rbs";
    let mut text = section(path, "  # ", |_| ruby::signatures(description));
    for options in &classes {
        let class = format!("\n  class {}\n", words::camel(options.object, &[]));
        text = section_after(&text, path, &class, "    # ", |_| ruby::options_signature(options));
        let path = format!("bindings/ruby/lib/aside/{}.rb", options.object);
        let text = fs::read_to_string(root().join(&path)).unwrap();
        add(&path, section_after(&text, &path, "\n    #--\n", "    # ", |_| ruby::options(description, options)));
    }
    add(path, text);
    let path = "bindings/python/python/libaside/types.py";
    let stub = texts_in("bindings/python/python/libaside", "pyi");
    add(path, section(path, "# ", |_| python::literals(description, &stub)));
    let path = "src/words.rs";
    add(path, section(path, "// ", |rest| rust::words(description, rest)));
    let path = "bindings/js/src/words.js";
    add(path, section(path, "// ", |_| javascript::lists(description) + &stats::javascript_list(&counts)));
    let path = "bindings/js/src/index.d.ts";
    let mut text = fs::read_to_string(root().join(path)).unwrap();
    for options in &classes {
        let interface = format!("\nexport interface {}Options {{\n", words::camel(options.object, &[]));
        text = section_after(&text, path, &interface, "  // ", |_| javascript::options(description, options));
        let path = format!("bindings/js/wasm/src/{}s.rs", options.object);
        add(&path, section(&path, "            // ", |_| javascript::options_read(options)));
    }
    add(path, section_of(&text, path, "// ", |rest| javascript::types(description, rest)));
    let path = "bindings/python/python/libaside/_libaside.pyi";
    let mut text = fs::read_to_string(root().join(path)).unwrap();
    for options in &classes {
        let class = format!("\nclass {}", words::camel(options.object, &[]));
        text = section_after(&text, path, &class, "    # ", |_| python::options_stub(options));
        let path = format!("bindings/python/src/{}.rs", options.object);
        add(&path, section(&path, "    // ", |_| python::options_new(options)));
        let path = format!("bindings/python/src/{}_options.txt", options.object);
        add(&path, python::options_text(description, options));
    }
    add(path, text);
    let sections = [
        ("bindings/ruby/lib/aside/rewriter.rb", "\n    include Handle\n", "    # ", stats::ruby(&counts)),
        ("bindings/ruby/sig/aside.rbs", "\n    class Stats", "      # ", stats::ruby_signature(&counts)),
        ("bindings/python/src/rewriter.rs", "\n", "// ", stats::python(&counts)),
        ("bindings/python/python/libaside/_libaside.pyi", "\nclass Stats:\n", "    # ", stats::python_stub(&counts)),
        ("bindings/js/src/index.d.ts", "\nexport interface Stats {\n", "  // ", stats::javascript_types(&counts)),
    ];
    for (path, start, comment, written) in sections {
        let (_, text) = files.iter_mut().find(|(known, _)| known == path).expect("a file with options");
        *text = section_after(text, path, start, comment, |_| written.clone());
    }
    for (path, text) in &files {
        bless(path, text);
    }
    files
});

/// The declarations of all headers.
static HEADER: LazyLock<String> =
    LazyLock::new(|| FILES[..HEADERS.len()].iter().map(|(_, text)| text.as_str()).collect());

/// Returns a checked-in file with the generated lines between two comments replaced. `write` gets the rest of the file.
fn section(path: &str, comment: &str, write: impl Fn(&str) -> String) -> String {
    section_of(&fs::read_to_string(root().join(path)).unwrap(), path, comment, write)
}

/// The same for a file that has several such sections, after `comment`s of different indentation.
fn section_of(text: &str, path: &str, comment: &str, write: impl Fn(&str) -> String) -> String {
    let begin = format!("\n{comment}Generated from src/ffi by tests/header: do not edit.");
    let end = format!("\n{comment}End of the generated part.\n");
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("{path} lacks the line {begin}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{path} lacks the line {end}"));
    format!("{before}{begin}\n{}{}{after}", write(&format!("{before}{after}")), &end[1..])
}

/// The same for the first section after a text.
fn section_after(text: &str, path: &str, start: &str, comment: &str, write: impl Fn(&str) -> String) -> String {
    let at = text.find(start).unwrap_or_else(|| panic!("{path} lacks{start}")) + start.len();
    text[..at].to_owned() + &section_of(&text[at - 1..], path, comment, write)[1..]
}

/// Returns the name of the function whose name contains this version.
fn version_symbol() -> String {
    format!("aside_version_{}", env!("CARGO_PKG_VERSION").replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
}

fn bless(path: &str, text: &str) {
    if std::env::var_os("ASIDE_BLESS").is_some() {
        fs::write(root().join(path), text).unwrap();
    }
}

/// Checks that a checked-in file is up to date.
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

/// Returns the C or C++ compiler that the environment names, or the system's.
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

/// Returns the library that cargo built next to this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().join(format!("{}aside{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX))
}

#[test]
fn generated_files_are_what_the_sources_say() {
    for (path, text) in &*FILES {
        compare(path, text);
    }
}

/// Checks the limit on stable functions: above it, a new function must replace an old one or be declared in `aside_unstable.h`.
#[test]
fn stable_headers_have_at_most_88_functions() {
    let [stable, unstable] = ["aside_cdef.h", "aside_unstable_cdef.h"].map(|name| {
        let path = format!("include/{name}");
        functions(&FILES.iter().find(|(known, _)| *known == path).unwrap().1)
    });
    assert!(stable.len() <= 88, "{} functions: {stable:?}", stable.len());
    assert!(stable.len() > 40 && unstable.len() > 10, "this test reads nothing");
}

#[test]
fn every_declaration_has_one_place_in_the_templates() {
    let templates = HEADERS.map(c::template).concat();
    let mut places: Vec<&str> = templates.lines().filter_map(c::placed).collect();
    places.sort_unstable();
    let Description { numbers, opaque, structs, callbacks, functions, .. } = &*DESCRIPTION;
    let mut names: Vec<&str> = numbers.iter().map(|one| &*one.name).collect();
    names.extend(opaque.iter().map(|one| &*one.name));
    names.extend(structs.iter().map(|one| &*one.name));
    names.extend(callbacks.iter().map(|one| &*one.name));
    names.extend(functions.iter().map(|one| &*one.name));
    names.sort_unstable();
    // A place for an enumeration is optional.
    places.retain(|name| DESCRIPTION.enumeration(name).is_none());
    assert_eq!(places, names);
}

/// Compares the headers with what cbindgen reads in `src/ffi`: structs, callbacks and functions must be the same. cbindgen cannot
/// write the headers: it does not expand `enumeration!`, and the templates decide the order of the declarations and the text between
/// them.
#[test]
fn cbindgen_declares_the_same() {
    let files = description::sources().into_iter();
    let mut builder = files.fold(cbindgen::Builder::new(), cbindgen::Builder::with_src);
    builder = builder.with_language(cbindgen::Language::C).with_style(cbindgen::Style::Both);
    let mut written = Vec::new();
    builder.generate().expect("cbindgen reads src/ffi").write(&mut written);
    let read = c::declared(&String::from_utf8(written).unwrap());
    let declared = c::declared(&HEADER);
    assert!(declared.len() > 100, "this test reads nothing");
    assert_eq!(declared.difference(&read).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn cffi_reads_the_plain_headers() {
    let program = "\
import sys
try:
    import cffi
except ImportError:
    print('skipped')
    sys.exit()
ffi = cffi.FFI()
for name in sys.argv[1:]:
    ffi.cdef(open(name).read())
c = ffi.dlopen(None)
print(c.ASIDE_ERROR_NULL, c.ASIDE_CHANNEL_TOOL, c.ASIDE_NO_FILTER, c.ASIDE_ABI_VERSION, ffi.sizeof('aside_status'))
print(ffi.sizeof('aside_event'), ffi.sizeof('aside_token'))
";
    // Debian's package of cffi is for the system's Python, which need not be the first one on the PATH.
    let outputs = ["python3", "/usr/bin/python3"].map(|python| read_plain(Command::new(python).arg("-c").arg(program)));
    for said in outputs.into_iter().flatten() {
        let size = DESCRIPTION.find_struct("aside_event").unwrap().size;
        let should = format!("-1001 3 -1 1 4\n{size} 8\n");
        assert!(said == "skipped\n" || said == should, "cffi reads {said}");
    }
}

#[test]
fn luajit_reads_the_plain_headers() {
    let program = "\
local ffi = require('ffi')
for _, name in ipairs(arg) do
    ffi.cdef(io.open(name):read('*a'))
end
print(ffi.C.ASIDE_ERROR_NULL, ffi.C.ASIDE_NO_FILTER, ffi.sizeof('aside_event'), ffi.sizeof('aside_status'))
";
    let path = scratch("luajit").join("read.lua");
    fs::write(&path, program).unwrap();
    if let Some(said) = read_plain(Command::new("luajit").arg(path)) {
        let size = DESCRIPTION.find_struct("aside_event").unwrap().size;
        assert_eq!(said, format!("-1001\t-1\t{size}\t4\n"));
    }
}

/// Returns a program's output for the plain headers, or None if it is not installed.
fn read_plain(program: &mut Command) -> Option<String> {
    LazyLock::force(&FILES);
    let files = ["aside_cdef.h", "aside_unstable_cdef.h"].map(|name| root().join("include").join(name));
    let output = program.args(files).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn headers_compile_alone_without_a_warning() {
    LazyLock::force(&FILES);
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

/// Compares the computed layout of each struct with the macro `layout!` in `src/ffi`, which Rust's compiler checks. C's compiler
/// checks the same layout in `tests/c/layout.c`.
#[test]
fn structs_have_the_layout_that_the_compiler_gives_them() {
    let sources: String = description::sources().iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let joined = |text: &str| text.split_whitespace().collect::<String>();
    let sources = joined(&sources);
    for one in &DESCRIPTION.structs {
        let fields: Vec<String> = one.fields.iter().map(|field| format!("{} {}", field.name, field.at)).collect();
        let layout = format!("layout!({} {}: {});", one.name, one.size, fields.join(", "));
        assert!(sources.contains(&joined(&layout)), "src/ffi does not hold the compiler to `{layout}`");
    }
    assert!(DESCRIPTION.structs.len() > 20, "this test reads nothing");
}

#[test]
fn library_exports_the_listed_symbols_and_no_others() {
    let listed = functions(&HEADER);
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
    let unused: Vec<String> = functions(&HEADER).into_iter().filter(|name| !c.contains(&format!("{name}("))).collect();
    assert!(unused.is_empty(), "tests/c never calls {unused:?}");
}

#[test]
fn every_declaration_is_documented() {
    assert_eq!(c::undocumented(&DESCRIPTION), Vec::<String>::new());
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
    assert!(functions(&HEADER).contains(&symbol), "src/ffi/version.rs: add `{symbol}`, and keep those of before");
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
    // At run time, the loader finds the library by the name that is written in it.
    let version = HEADER.lines().find_map(|line| line.strip_prefix("#define ASIDE_ABI_VERSION ")).unwrap();
    fs::copy(library(), folder.join(format!("libaside.so.{version}"))).unwrap();
    let output = run(Command::new(&program).env("LD_LIBRARY_PATH", &folder));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "It is 42.\n");
}

/// Returns the files of a folder with this extension, as one text, without tests.
fn texts_in(folder: &str, extension: &str) -> String {
    let (mut folders, mut out) = (vec![root().join(folder)], String::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "ffi" && name != "tests" {
                folders.push(path);
            } else if path.extension().is_some_and(|is| is == extension)
                && !name.ends_with(&format!("_test.{extension}"))
            {
                out += &fs::read_to_string(path).unwrap();
            }
        }
    }
    out
}

/// Returns whether a text declares a name: a line begins with one of these words, or with the name itself if a word is empty, and
/// contains the name as a whole word.
fn declares(text: &str, words: &[&str], name: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '?';
    text.lines().any(|line| {
        let Some(at) = line.find(name) else { return false };
        let (before, after) = (line[..at].trim_start(), &line[at + name.len()..]);
        !before.ends_with(is_name)
            && !after.starts_with(is_name)
            && words.iter().any(|word| if word.is_empty() { before.is_empty() } else { before.starts_with(word) })
    })
}

#[test]
fn one_thing_has_one_name() {
    let page = fs::read_to_string(root().join("docs/bindings.md")).unwrap();
    let (_, table) = page.split_once("| | C | C++ | Rust |").expect("the page has a table of names");
    let sources = [
        (&HEADER[..], &["typedef", "struct", "aside", "const", "char", "int32_t", "uint32_t", "size_t", "}"][..]),
        (
            &texts_in("bindings/cpp/include", "hpp"),
            &[
                "class",
                "struct",
                "enum class",
                "inline",
                "static",
                "[[nodiscard]]",
                "std::",
                "Dialect",
                "Status",
                "Text",
            ],
        ),
        (&texts_in("src", "rs"), &["pub "]),
        (
            &texts_in("bindings/js/src", "ts"),
            &["export class ", "export interface ", "export type ", "export function ", "static "],
        ),
        (&texts_in("bindings/go", "go"), &["type ", "func "]),
        (&texts_in("bindings/ruby/sig", "rbs"), &["class ", "type ", "def ", "interface "]),
        (
            &["pyi", "py"].map(|form| texts_in("bindings/python/python/libaside", form)).concat(),
            &["class ", "def ", ""],
        ),
    ];
    let mut named = BTreeSet::new();
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 8, "{row}");
        for (cell, (text, words)) in cells[1..].iter().zip(&sources) {
            for name in cell.split('`').skip(1).step_by(2) {
                assert!(declares(text, words, name), "`{name}` of this row is not declared: {row}");
                named.insert(name.to_owned());
            }
        }
    }
    let types = DESCRIPTION.structs.iter().map(|one| &one.name);
    let types = types.chain(DESCRIPTION.opaque.iter().map(|one| &one.name));
    let missing: Vec<_> = types
        .chain(DESCRIPTION.enumerations.iter().map(|one| &one.name))
        .filter(|name| !named.contains(*name))
        .collect();
    assert!(missing.is_empty(), "docs/bindings.md has no row for {missing:?}");
}
