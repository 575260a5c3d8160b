//! Counts the instructions for refusing invalid files with callgrind: the work must be linear in the size of the file, for any
//! content. Callgrind makes the counts independent of the machine's speed.

use std::hint::black_box;

use aside::Dialect;
use support::callgrind::{self, SIZES};

/// A file of four times the size may need at most this many times the work: 4.2 times, and some more for growing lists and sorted
/// tables of keys. Quadratic code needs 16 times the work.
const MOST: f64 = 5.0;

/// Returns `unit` repeated as often as it fits into `size` bytes.
fn repeated(unit: &str, size: usize) -> String {
    unit.repeat((size / unit.len()).max(1))
}

/// Returns the lines that `line` makes for 0, 1, 2 and so on, up to `size` bytes.
fn numbered(size: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(size);
    for number in 0.. {
        text += &line(number);
        if text.len() >= size {
            break;
        }
    }
    text
}

/// The units with which files are filled, by repeating one of them.
const UNITS: [&str; 34] = [
    "a",
    "1",
    "é",
    "\u{1F600}",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "\0",
    "\u{1b}",
    "\u{7f}",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "\\",
    "\\\"",
    "[",
    "]",
    "[[",
    "{",
    "}",
    "#",
    ".",
    "a.",
    "=",
    "a=",
    ",",
    "a,",
    "-",
    "_",
    "`",
    "<",
];

/// The files that are filled. The units replace the `|`. In some files, the units are the first fault, and in others the first
/// fault follows them.
const PLACES: [&str; 11] = [
    "|",
    "x = |",
    "x = [|",
    "x = \"|",
    "x = \"|\"\ny = 1",
    "x = '|'\ny = 1",
    "x = \"\"\"|\"\"\"\ny = 1",
    "x = '''|'''\ny = 1",
    "# |\nx = 1",
    "[|]\nx = 1",
    "name = \"x\" |\nx = 1",
];

/// Returns a file with this unit repeated at this place.
fn run(place: &str, unit: &str, size: usize) -> String {
    place.replace('|', &repeated(unit, size))
}

/// Dialect files with many parts of one kind. Each has a fault at its end or exceeds a limit.
const MANY: [&str; 40] = [
    "models",
    "aliases",
    "turns",
    "drop",
    "open",
    "close",
    "spans",
    "wrong spans",
    "examples",
    "causes",
    "attributes",
    "thoughts",
    "wrong thoughts",
    "names",
    "keys",
    "long keys",
    "begin",
    "whole",
    "routes",
    "when",
    "guard",
    "unknown keys",
    "unknown tables",
    "dotted",
    "deep",
    "tables in tables",
    "duplicate keys",
    "long name",
    "long literal",
    "long key",
    "long value",
    "long channel",
    "escapes",
    "rows of a text",
    "deep inline",
    "open quotes",
    "comments",
    "same literals",
    "framed",
    "deep keys",
];

fn many(name: &str, size: usize) -> String {
    let span = "[[span]]\nchannel = \"thinking\"\nopen = [\"<a>\"]\nclose = [\"</a>\"]\n";
    let header = "[header]\nbegin = [\"<h>\"]\nend = [\"<m>\"]\n";
    let route = "[[header.route]]\nchannel = \"content\"\n";
    let list = |unit: &dyn Fn(usize) -> String| numbered(size, |number| format!("\"{}\",", unit(number)));
    let plain = list(&|number| format!("<{number:06}>"));
    let tagged =
        |names: &str| format!("name = \"x\"\n[[span]]\nchannel = \"thinking\"\ntag = {{ names = [{names}] }}\n");
    match name {
        "models" | "aliases" | "turns" => format!("name = \"x\"\n{name} = [{plain}]\n{span}x = 1\n"),
        "drop" => format!("name = \"x\"\ndrop = [{plain}]\n{span}"),
        "open" => format!("name = \"x\"\n[[span]]\nchannel = \"thinking\"\nopen = [{plain}]\n"),
        "close" => format!("name = \"x\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<a>\"]\nclose = [{plain}]\n"),
        "same literals" => format!("name = \"x\"\ndrop = [{}]\n{span}x = 1\n", list(&|_| "<x>".into())),
        "framed" => format!(
            "name = \"x\"\n[[span]]\nchannel = \"thinking\"\nopen = [{plain}]\nframing = {{ before_open = \"{}\" }}\n",
            "b".repeat(1000)
        ),
        "spans" => format!("name = \"x\"\n{}", repeated(span, size)),
        "wrong spans" => format!("name = \"x\"\n{}", repeated("[[span]]\nchannel = \"thoughts\"\n", size)),
        "examples" => format!(
            "name = \"x\"\n{span}{}wrong = 1\n",
            repeated("[[example]]\ninput = \"x\"\ncontent = \"x\"\n", size)
        ),
        "causes" => {
            format!("name = \"x\"\n{span}[[example]]\ninput = \"x\"\ncauses = [{}1]\n", repeated("\"marker\",", size))
        }
        "attributes" => {
            format!(
                "name = \"x\"\n{span}[[example]]\ninput = \"x\"\nattributes = [{}1]\n",
                repeated("[\"a\", \"b\"],", size)
            )
        }
        "thoughts" => {
            format!("name = \"x\"\n{span}[[example]]\ninput = \"x\"\nthoughts = [{}1]\n", repeated("\"a\",", size))
        }
        "wrong thoughts" => format!(
            "name = \"x\"\n{span}[[example]]\ninput = \"x\"\nthoughts = [{}1]\n",
            repeated("{ thought = \"a\", x = [[1]] },", size)
        ),
        "names" => tagged(&plain.replace(['<', '>'], "")),
        "keys" => format!(
            "name = \"x\"\n{header}keys = {{ {} }}\n{route}",
            numbered(size, |number| format!("k{number} = \"k{number:06}=\",")).trim_end_matches(',')
        ),
        "long keys" => format!("name = \"x\"\n{header}keys = {{ {} = 1 }}\n{route}", repeated("k", size)),
        "begin" => format!("name = \"x\"\n[header]\nbegin = [{plain}]\nend = [\"<m>\"]\n{route}"),
        "whole" => format!("name = \"x\"\n{header}whole = [{plain}]\n{route}"),
        "routes" => format!("name = \"x\"\n{header}{}wrong = 1\n", repeated(route, size)),
        "when" => format!(
            "name = \"x\"\n{header}{route}when = {{ {} }}\n",
            numbered(size, |number| format!("k{number} = \"a\",")).trim_end_matches(',')
        ),
        "guard" => format!("name = \"x\"\nguard = [{}]\n{span}x = 1\n", repeated("\"inline\",", size)),
        "unknown keys" => numbered(size, |number| format!("k{number:06} = 1\n")),
        "unknown tables" => numbered(size, |number| format!("[k{number:06}]\n")),
        "dotted" => numbered(size, |number| format!("a.b.k{number:06} = 1\n")),
        "deep" => numbered(size, |number| format!("{}k{number:06} = 1\n", "a.".repeat(70))),
        "tables in tables" => repeated("[[a]]\n[[a.b]]\n[a.b.c]\n", size),
        "duplicate keys" => repeated("x = 1\n", size),
        "long name" => format!("name = \"{}\"\nx = 1\n", repeated("x ", size)),
        "long literal" => format!("name = \"x\"\ndrop = [\"{}\"]\n{span}", repeated("é", size)),
        "long key" => format!("name = \"x\"\n{} = 1\n", repeated("k", size)),
        "long value" => format!("name = \"x\"\n{span}keep = \"{}\"\n", repeated("é", size)),
        "long channel" => format!("name = \"x\"\n[[span]]\nchannel = \"{}\"\n", repeated("\\u001b", size)),
        "escapes" => format!("name = \"x\"\nstart = \"{}\"\n{span}", repeated("\\u0000", size)),
        "rows of a text" => format!("name = \"\"\"\n{}\"\"\"\nx = 1\n", repeated("a = 'b' # c\n", size)),
        "deep inline" => format!("x = {}\n", repeated("{ a = ", size)),
        "open quotes" => repeated("x = '''\n", size),
        "comments" => format!("{}x = 1\n", repeated("# a = [b]\n", size)),
        "deep keys" => format!("{}{} = 1\n", repeated("a = 1 # b\n", size / 2), repeated("a.", size / 2) + "b"),
        other => panic!("no file of {other}"),
    }
}

/// Filter files with many parts of one kind. Each has a fault at its end or exceeds a limit.
#[cfg(feature = "compress")]
const FILTERS: [&str; 24] = [
    "rules",
    "few rules",
    "patterns",
    "few patterns",
    "wrong last pattern",
    "large patterns",
    "long pattern",
    "groups",
    "named groups",
    "classes",
    "alternatives",
    "repeats",
    "tools",
    "flags",
    "runs",
    "tests",
    "wrong tests",
    "tests without a pass",
    "long input",
    "lines that stay",
    "lines that go",
    "long output",
    "long command",
    "long id",
];

#[cfg(feature = "compress")]
fn filter(name: &str, size: usize) -> String {
    let file = |run: &str, rules: &str, tests: &str| format!("id = 'a'\n[[run]]\ncommand = ['a']\n{run}{rules}{tests}");
    let rule = "[[rule]]\ndrop = ['^ok ']\n";
    let test = |kind: &str, input: &str, output: &str| {
        let output = if output.is_empty() { String::new() } else { format!("output = '''\n{output}'''\n") };
        format!("[[test]]\nname = 't'\nkind = '{kind}'\ncommand = 'a'\ninput = '''\n{input}'''\n{output}")
    };
    let look_alike = test("look-alike", "x\n", "");
    let last = |pass: String| file("", rule, &[test("fail", "x\n", "x\n"), look_alike.clone(), pass].concat());
    let drop = |patterns: String| file("", &format!("[[rule]]\ndrop = [{patterns}]\n"), "");
    let list = |unit: &dyn Fn(usize) -> String| numbered(size, |number| format!("'{}',", unit(number)));
    match name {
        "rules" => file("", &repeated("[[rule]]\nkeep = ['a']\n", size), ""),
        "few rules" => {
            let rules = repeated("[[rule]]\nkeep = ['a']\n", size.min(500));
            last(test("pass", &repeated("b\n", size), "b\n")).replace(rule, &rules)
        }
        "patterns" => drop(list(&|number| format!("^{number:06}"))),
        "few patterns" => {
            let patterns = numbered(900, |number| format!("'^{number:03}',"));
            last(test("pass", &repeated("b\n", size), "b\n")).replace("'^ok '", &patterns)
        }
        "wrong last pattern" => drop(repeated("'^ok [a-z]+',", size.min(40_000)) + "'('"),
        "large patterns" => drop(repeated("'[a-c]{1000}',", size.min(40_000))),
        "long pattern" => drop(format!("'{}('", repeated("ab*", size))),
        "groups" => drop(format!("'{}'", repeated("(", size))),
        "named groups" => drop(format!("'{}'", numbered(size, |number| format!("(?<a{:06}>)", 999_999 - number)))),
        "classes" => drop(format!("'{}'", repeated("[a-z&&[^b]]", size))),
        "alternatives" => drop(format!("'{}('", repeated("a|bc|", size))),
        "repeats" => drop(format!("'{}('", repeated("(?:a{9}){9}", size))),
        "tools" => format!("id = 'a'\ntools = [{}1]\n{rule}", list(&|number| format!("t{number}"))),
        "flags" => file(&format!("flags = [{}1]\n", list(&|number| format!("-{number}"))), rule, ""),
        "runs" => file(&repeated("[[run]]\ncommand = ['b']\n", size), "", ""),
        "tests" => file("", rule, &repeated(&test("pass", "x\n", "x\n"), size)),
        "wrong tests" => last(repeated(&test("pass", "x\n", "x\n"), size) + &test("pass", "x\n", "y\n")),
        "tests without a pass" => file("", rule, &repeated(&look_alike, size)),
        "long input" => last(test("pass", &repeated("ok x", size), "y\n")),
        "lines that stay" => last(test("pass", &repeated("error: x\nok 1\n", size), "y\n")),
        "lines that go" => last(test("pass", &repeated("ok 1\n", size), &repeated("ok 1\n", size))),
        "long output" => last(test("pass", "x\n", &repeated("y\n", size))),
        "long command" => {
            last(test("pass", "x\n", "y\n")).replace("'a'\ninput", &format!("'a{}'\ninput", repeated(" b", size)))
        }
        "long id" => format!("id = '{}'\n", repeated("A", size)),
        other => panic!("no filter of {other}"),
    }
}

/// A file of a size.
type Make = Box<dyn Fn(usize) -> String>;

/// Returns the files by name: each unit in every second place, then the files with many parts of one kind.
fn files() -> Vec<(String, Make)> {
    let mut files: Vec<(String, Make)> = Vec::new();
    for (at, place) in PLACES.into_iter().enumerate() {
        for unit in UNITS.into_iter().skip(at % 2).step_by(2) {
            files.push((format!("{unit:?} in {place:?}"), Box::new(move |size| run(place, unit, size))));
        }
    }
    for name in MANY {
        files.push((format!("many {name}"), Box::new(move |size| many(name, size))));
    }
    #[cfg(feature = "compress")]
    for name in FILTERS {
        files.push((format!("filter of {name}"), Box::new(move |size| filter(name, size))));
    }
    files
}

fn refused(name: &str, file: &str) -> Option<String> {
    #[cfg(feature = "compress")]
    if name.starts_with("filter ") {
        return aside::compress::check_filter(file).err().map(|error| error.to_string());
    }
    let _ = name;
    Dialect::load(file).err().map(|error| error.to_string())
}

/// Runs the measured code. Callgrind counts only inside this function, and writes a count for each call.
#[inline(never)]
fn counted(name: &str, file: &str) {
    let said = refused(name, file).expect("a file that cannot be used");
    assert!(!said.is_empty() && said.len() <= LONGEST, "{} bytes: {said:.200}", said.len());
}

/// The maximum length of an error's message in bytes.
const LONGEST: usize = 8 << 10;

/// Reads the files of a job in the job's sizes under valgrind, for the tests below.
#[test]
#[ignore = "a helper of the tests of this file"]
fn work() {
    let Ok(job) = std::env::var("ASIDE_WORK") else { return };
    for (name, file) in files().iter().filter(|(name, _)| is_of(&job, name)) {
        for size in sizes(&job) {
            let text = file(size);
            println!("{name}");
            counted(name, black_box(&text));
        }
    }
}

fn sizes(job: &str) -> [usize; 3] {
    if job == "large" { [2000, 256 << 10, 1 << 20] } else { SIZES }
}

/// Returns whether a file belongs to a job. The job with large files has only a few of them, because they have the same results as
/// smaller files.
fn is_of(job: &str, name: &str) -> bool {
    let (is_many, is_filter) = (name.starts_with("many "), name.starts_with("filter "));
    match job {
        "many" => is_many,
        "filters" => is_filter,
        "runs" => !is_many && !is_filter,
        "large" => ["a", "\0", "[", "\"", "{"]
            .iter()
            .any(|unit| ["x = |", "x = \"|\"\ny = 1"].iter().any(|place| name == format!("{unit:?} in {place:?}"))),
        other => panic!("no job {other}"),
    }
}

fn linear(job: &str) {
    let names: Vec<String> = files().into_iter().map(|(name, _)| name).filter(|name| is_of(job, name)).collect();
    assert!(!names.is_empty());
    callgrind::within(MOST, "file_linear", job, &names.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn runs_of_anything_are_linear() {
    linear("runs");
}

#[test]
fn many_of_anything_are_linear() {
    linear("many");
}

/// Checks also filter files, whose tests are run when they are read.
#[cfg(feature = "compress")]
#[test]
fn filters_of_many_of_anything_are_linear() {
    linear("filters");
}

#[test]
fn a_megabyte_is_as_linear() {
    linear("large");
}
