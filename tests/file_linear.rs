//! Files that cannot be used are refused in linear work, whatever they are made of, by instruction count (callgrind).
//! Nothing here may depend on a clock.

#[path = "support/callgrind.rs"]
mod callgrind;

use std::hint::black_box;

use aside::Dialect;
use callgrind::SIZES;

/// Four times the file is at most so many times the work: 4.2, and what lists that grow and sorted tables of keys take
/// beyond that. What looks at each byte again for each byte takes 16 times the work.
const MOST: f64 = 5.0;

/// `unit`, as often as it fits into `size` bytes.
fn repeated(unit: &str, size: usize) -> String {
    unit.repeat((size / unit.len()).max(1))
}

/// `line` for 0, 1, 2 and so on, up to `size` bytes.
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

/// What a file may be full of: each a byte, or a few, again and again.
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

/// Where in a file that may stand, `|` being its place. The first fault of some is what they are full of, of others it
/// comes after.
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

/// A file that is full of a unit in a place.
fn run(place: &str, unit: &str, size: usize) -> String {
    place.replace('|', &repeated(unit, size))
}

/// Dialect files with many of something, each wrong in the end or beyond a limit.
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

/// Files by name: each unit in each place, then the dialect files with many of something.
fn files() -> Vec<(String, Box<dyn Fn(usize) -> String>)> {
    let runs = PLACES.iter().flat_map(|place| UNITS.iter().map(move |unit| (place, unit)));
    let runs = runs.map(|(place, unit)| -> (String, Box<dyn Fn(usize) -> String>) {
        (format!("{unit:?} in {place:?}"), Box::new(move |size| run(place, unit, size)))
    });
    let many = MANY.iter().map(|name| -> (String, Box<dyn Fn(usize) -> String>) {
        (format!("many {name}"), Box::new(move |size| many(name, size)))
    });
    runs.chain(many).collect()
}

/// The only function in which callgrind counts, call by call.
#[inline(never)]
fn counted(file: &str) {
    let error = Dialect::from_toml(file).map(drop).expect_err("a file that cannot be used");
    let said = error.to_string();
    assert!(!said.is_empty() && said.len() <= LONGEST, "{} bytes: {said:.200}", said.len());
}

/// The most bytes that an error says.
const LONGEST: usize = 8 << 10;

/// Run under valgrind by the tests below: reads the files of the job in its sizes, and does nothing else.
#[test]
#[ignore = "a helper of the tests of this file"]
fn work() {
    let Ok(job) = std::env::var("ASIDE_WORK") else { return };
    for (name, file) in files().iter().filter(|(name, _)| is_of(&job, name)) {
        for size in sizes(&job) {
            let text = file(size);
            println!("{name}");
            counted(black_box(&text));
        }
    }
}

fn sizes(job: &str) -> [usize; 3] {
    if job == "large" { [2000, 256 << 10, 1 << 20] } else { SIZES }
}

/// The large files are few: what is counted is the same as of smaller ones.
fn is_of(job: &str, name: &str) -> bool {
    let is_many = name.starts_with("many ");
    match job {
        "many" => is_many,
        "runs" => !is_many,
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

#[test]
fn a_megabyte_is_as_linear() {
    linear("large");
}
