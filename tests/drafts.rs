//! Drafts a dialect from each published chat template, without the family's own file. Compares the results of the draft and of the
//! hand-written file for ordinary examples of that file and for random answers that it writes.
#![cfg(feature = "templates")]

use std::collections::BTreeMap;
use std::fs;

use aside::call_writer::{self, CallWriter};
use aside::{Channel, ChatTemplate, Dialect, JoinCall, JoinOptions, Kind, Scanner, ScannerOptions, Start};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Families with headers instead of spans. `draft` refuses their templates.
const HEADERS: [&str; 5] = ["harmony", "muse", "kimi-k3", "inkling", "solar"];

/// The reasons why drafts of a family differ from its file.
const REASONS: [(&str, &str); 8] = [
    (
        "cohere-command-a",
        "the template wraps answers in `<|START_TEXT|>`; `<|START_RESPONSE|>`, which other models of the family write, is in none of its turns",
    ),
    (
        "command-r-plus",
        "the template copies the calls from the request, each object inside another object, a form that no table can read",
    ),
    ("deepseek-v3", "the template is V3.1's, which writes a call without `function` and the code fence of V3"),
    ("granite-4", "the prompt asks the model for `<|tool_call|>`; later models write `<tool_call>`"),
    ("lfm2.5", "a template that only lists the tools shows no calls"),
    ("llama-3", "no turn has `<|python_tag|>`, which the model may write before a call"),
    (
        "mistral",
        "four templates are of older models, which write a list of objects after `[TOOL_CALLS]` and no `[ARGS]`",
    ),
    ("headers", "the messages have headers"),
];

const DOCS: &str = "docs/dialects.md";
const BEGIN: &str =
    "<!-- drafts: written by `ASIDE_BLESS=1 cargo test --release --features templates --test drafts` -->\n";
const END: &str = "<!-- end of drafts -->";

/// Returns a row for each family: how many templates were drafted, and how many of the drafts have the results of its file.
fn table(families: &BTreeMap<&str, Vec<&Compared>>) -> String {
    let mut table = String::from(
        "\n| family | templates | drafted | same thinking and content | same calls | what differs |\n|---|--:|--:|--:|--:|---|\n",
    );
    for (family, all) in families {
        let count = |is_so: fn(&Compared) -> bool| all.iter().filter(|it| is_so(it)).count();
        let counts =
            [count(|it| it.is_drafted), count(Compared::is_same_without_calls), count(Compared::has_same_calls)];
        let key = if HEADERS.contains(family) { "headers" } else { family };
        let reason = REASONS.iter().find(|(known, _)| *known == key).map(|(_, reason)| *reason);
        let is_right = counts.iter().all(|count| *count == all.len());
        assert_eq!(is_right, reason.is_none(), "{family}: {counts:?} of {}", all.len());
        let [drafted, same, calls] = counts;
        let reason = reason.unwrap_or_default().replace('|', "\\|");
        table += &format!("| `{family}` | {} | {drafted} | {same} | {calls} | {reason} |\n", all.len());
    }
    table + "\n"
}

/// Compares the table with the one in the page, or writes it to the page.
fn check_page(table: &str) {
    let page = format!("{ROOT}/{DOCS}");
    let text = fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap_or_else(|| panic!("{DOCS} has no list of drafts"));
    let (old, after) = rest.split_once(END).unwrap();
    if std::env::var_os("ASIDE_BLESS").is_some() {
        fs::write(&page, [before, BEGIN, table, END, after].concat()).unwrap();
    } else {
        assert!(old == table, "{DOCS} has an old table: run the test with ASIDE_BLESS=1\n{table}");
    }
}

/// The number of random answers for each template.
const ANSWERS: u64 = 20;

struct Row {
    file: String,
    family: String,
    text: String,
}

/// Returns the templates with a known dialect. If several dialects are right, the first one is taken.
fn rows() -> Vec<Row> {
    let folder = format!("{ROOT}/tests/field/templates");
    let index = fs::read_to_string(format!("{folder}/INDEX.tsv")).unwrap();
    let rows = index.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (file, rest) = line.split_once('\t').unwrap();
        let family = rest.split(['\t', '|']).next().unwrap();
        let text = fs::read_to_string(format!("{folder}/{file}")).unwrap();
        (family != "-").then(|| Row { file: file.to_owned(), family: family.to_owned(), text })
    });
    rows.collect()
}

/// The result of reading a text.
#[derive(Debug, Default, PartialEq)]
struct Read {
    thinking: String,
    content: String,
    calls: Vec<(String, String)>,
}

fn read(dialect: &Dialect, text: &[u8], start: Option<Start>) -> Read {
    let mut read = Read::default();
    let mut writer = CallWriter::new(dialect, call_writer::Options::new());
    let mut scanner = Scanner::with_options(dialect, &ScannerOptions::new().start(start).calls(true)).unwrap();
    let mut take = |event: aside::Event<'_>| {
        let text = String::from_utf8_lossy(event.bytes);
        match (event.kind.clone(), event.channel) {
            (Kind::Text, Channel::Thinking) => read.thinking += &text,
            (Kind::Text, Channel::Content) => read.content += &text,
            (Kind::Reclassify, Channel::Thinking) => read.thinking = std::mem::take(&mut read.content),
            (Kind::Reclassify, _) => read.content = std::mem::take(&mut read.thinking),
            _ => {}
        }
        let written = writer.event(&event, |delta| {
            if let Some(name) = delta.name {
                read.calls.push((name.to_owned(), String::new()));
            }
            if let Some((_, arguments)) = read.calls.last_mut() {
                arguments.push_str(delta.arguments);
            }
        });
        written.unwrap();
    };
    scanner.feed(text, &mut take).unwrap();
    scanner.finish(&mut take).unwrap();
    read.thinking = read.thinking.trim().to_owned();
    read.content = read.content.trim().to_owned();
    for (_, arguments) in &mut read.calls {
        if let Ok(json) = serde_json::from_str::<serde_json::Value>(arguments) {
            *arguments = json.to_string();
        }
    }
    read
}

/// A small random number generator, which makes the same answers on every machine.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % most
    }

    fn pick<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.next(list.len() as u64) as usize]
    }

    fn words(&mut self, most: u64) -> String {
        const WORDS: [&str; 12] = [
            "first",
            "It is 42.",
            "we look",
            "naïve",
            "a < b",
            "the list:\n- one\n- two",
            "so",
            "x = {1: 2}",
            "и",
            "[1, 2]",
            "\"quoted\"",
            "done",
        ];
        let words: Vec<&str> = (0..=self.next(most)).map(|_| self.pick(&WORDS)).collect();
        words.join(" ")
    }

    fn arguments(&mut self) -> String {
        const VALUES: [&str; 12] = [
            "\"Oslo\"",
            "\"two words\"",
            "\"line\\nbreak\"",
            "42",
            "-1.5",
            "true",
            "false",
            "null",
            "[1, \"a\"]",
            "{\"in\": {\"x\": 1}}",
            "\"\"",
            "\"a, b = c\"",
        ];
        let members = (0..self.next(4))
            .map(|index| format!("\"{}\": {}", ["city", "count", "note_2"][index as usize], self.pick(&VALUES)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
    }
}

/// The results of one template.
struct Compared {
    file: String,
    family: String,
    /// The counts of the examples and of the answers: all of them, those with the same thinking and content, and those with the
    /// same calls.
    examples: [usize; 3],
    answers: [usize; 3],
    /// The counts of the answers without calls: all of them, and those with the same thinking and content.
    plain: [usize; 2],
    calls: usize,
    thoughts: usize,
    note: String,
    is_drafted: bool,
}

impl Compared {
    fn is_same(&self) -> bool {
        self.is_drafted && self.answers[1] == self.answers[0]
    }

    /// Returns whether all answers without calls have the same thinking and content. A call that the draft does not recognise stays
    /// in the content, so answers with calls are not compared here.
    fn is_same_without_calls(&self) -> bool {
        self.is_drafted && self.plain[1] == self.plain[0]
    }

    fn has_same_calls(&self) -> bool {
        self.is_drafted && self.answers[2] == self.answers[0]
    }
}

fn compare(row: &Row) -> Compared {
    let known = Dialect::find(&row.family).unwrap();
    let mut compared = Compared {
        file: row.file.clone(),
        family: row.family.clone(),
        examples: [0; 3],
        answers: [0; 3],
        plain: [0; 2],
        calls: 0,
        thoughts: 0,
        note: String::new(),
        is_drafted: false,
    };
    let draft = match Dialect::draft(&ChatTemplate::new(&row.text)) {
        Ok(draft) => draft,
        Err(error) => {
            compared.note = error.to_string();
            return compared;
        }
    };
    compared.is_drafted = true;
    let judge = |counts: &mut [usize; 3], text: &[u8], starts: [Option<Start>; 2], note: &mut String| {
        let (wanted, found) = (read(&known, text, starts[0]), read(&draft.dialect, text, starts[1]));
        let same = (&wanted.thinking, &wanted.content) == (&found.thinking, &found.content);
        let same_calls = wanted.calls == found.calls;
        counts[0] += 1;
        counts[1] += usize::from(same);
        counts[2] += usize::from(same_calls);
        if !(same && same_calls) && note.is_empty() {
            *note = format!("{:?}: {wanted:?} is read as {found:?}", String::from_utf8_lossy(text));
        }
        wanted
    };
    for (input, start) in examples(&row.family) {
        judge(&mut compared.examples, input.as_bytes(), [start; 2], &mut compared.note);
    }
    // If a template does not have the family's closer, its model does not think.
    let thinks = closers(&row.family).iter().any(|close| row.text.contains(close.as_str()));
    for seed in 0..ANSWERS {
        let mut numbers = Numbers(seed * 7919 + 17);
        let thinking = if numbers.next(4) > 0 && thinks { numbers.words(4) } else { String::new() };
        let content = numbers.words(4);
        let arguments: Vec<String> = (0..numbers.next(3)).map(|_| numbers.arguments()).collect();
        let calls: Vec<JoinCall> = arguments.iter().map(|arguments| JoinCall::new("get_weather", arguments)).collect();
        // If the family cannot write a part of the answer, that part is left out: the calls or the thinking.
        let write =
            |thinking: &str, calls: &[JoinCall]| known.join(thinking, &content, &JoinOptions::new().calls(calls));
        let text = write(&thinking, &calls).or_else(|_| write(&thinking, &calls[..0])).or_else(|_| write("", &calls));
        let Ok(text) = text.or_else(|_| write("", &[])) else { continue };
        let before = compared.answers[1];
        let wanted = judge(&mut compared.answers, &text, [None; 2], &mut compared.note);
        if wanted.calls.is_empty() {
            compared.plain = [compared.plain[0] + 1, compared.plain[1] + compared.answers[1] - before];
        }
        compared.calls += wanted.calls.len();
        compared.thoughts += usize::from(!wanted.thinking.is_empty());
    }
    compared
}

fn file(family: &str) -> toml::Table {
    fs::read_to_string(format!("{ROOT}/dialects/{family}.toml")).unwrap().parse().unwrap()
}

/// Returns the closers of a family's thinking.
fn closers(family: &str) -> Vec<String> {
    let file = file(family);
    let spans = file.get("span").and_then(toml::Value::as_array).into_iter().flatten();
    let thinking = spans.filter(|span| span["channel"].as_str() == Some("thinking"));
    let closers = thinking.flat_map(|span| span.get("close").and_then(toml::Value::as_array).into_iter().flatten());
    closers.map(|close| close.as_str().unwrap().to_owned()).collect()
}

/// Returns the examples of a family's file that show an ordinary answer.
fn examples(family: &str) -> Vec<(String, Option<Start>)> {
    const ORDINARY: [&str; 6] =
        ["the ordinary", "a tool call after", "two calls", "a call with", "a call after", "several calls"];
    let file = file(family);
    let examples = file["example"].as_array().unwrap().iter().filter(|example| {
        let about = example.get("about").and_then(toml::Value::as_str).unwrap_or_default();
        ORDINARY.iter().any(|begin| about.starts_with(begin))
    });
    let text = |example: &toml::Value, key: &str| Some(example.get(key)?.as_str()?.to_owned());
    let examples = examples
        .map(|example| (text(example, "input").unwrap(), text(example, "start").map(|start| start.parse().unwrap())));
    examples.collect()
}

#[test]
fn drafts_read_as_the_families_own_files_do() {
    let rows = rows();
    let compared: Vec<Compared> = rows.iter().map(compare).collect();
    let mut families: BTreeMap<&str, Vec<&Compared>> = BTreeMap::new();
    compared.iter().for_each(|it| families.entry(&it.family).or_default().push(it));
    println!("| family | template | examples | thinking and content | calls | note |\n|---|---|---|---|---|---|");
    for it in families.values().flatten() {
        let ratio = |[all, same, calls]: [usize; 3], index: usize| format!("{}/{all}", [same, calls][index]);
        let note: String = it.note.chars().take(400).collect();
        println!(
            "| {} | {} | {} {} | {} | {} of {} | {} |",
            it.family,
            it.file,
            ratio(it.examples, 0),
            ratio(it.examples, 1),
            ratio(it.answers, 0),
            ratio(it.answers, 1),
            it.calls,
            note
        );
    }
    let table = table(&families);
    println!("{table}");
    check_page(&table);
    let usual: Vec<&Compared> = compared.iter().filter(|it| !HEADERS.contains(&&*it.family)).collect();
    let drafted: Vec<&&Compared> = usual.iter().filter(|it| it.is_drafted).collect();
    let of = |count: usize, all: usize| 100.0 * count as f64 / all.max(1) as f64;
    let with_thoughts: Vec<&Compared> = drafted.iter().filter(|it| it.thoughts > 0).copied().copied().collect();
    let count = |list: &[&Compared], is_so: fn(&Compared) -> bool| list.iter().filter(|it| is_so(it)).count();
    let all: Vec<&Compared> = drafted.iter().copied().copied().collect();
    let share = |what: &str, count: usize, all: usize, goal: f64| {
        println!("{what}: {count} of {all}, {:.0} %", of(count, all));
        assert!(of(count, all) >= goal, "{what}: {count} of {all}");
    };
    share("drafted", drafted.len(), usual.len(), 85.0);
    share(
        "same thinking and content, in answers without calls",
        count(&all, Compared::is_same_without_calls),
        all.len(),
        85.0,
    );
    share(
        "the same of models that think",
        count(&with_thoughts, Compared::is_same_without_calls),
        with_thoughts.len(),
        85.0,
    );
    share("same thinking and content in all answers", count(&all, Compared::is_same), all.len(), 80.0);
    share("the same of models that think", count(&with_thoughts, Compared::is_same), with_thoughts.len(), 85.0);
    share("same calls", count(&all, Compared::has_same_calls), all.len(), 75.0);
    for it in compared.iter().filter(|it| HEADERS.contains(&&*it.family)) {
        assert!(!it.is_drafted && it.note.contains("header"), "{}: {}", it.file, it.note);
    }
}
