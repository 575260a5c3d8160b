//! How much of what agents did next is left in a shortened result: of the places, identifiers and numbers that an agent's next ten
//! actions cite from a tool's result, and that it could have from nowhere else. Lines of logs that somebody marked, as in `recall`, say what
//! is important; this says what agents made use of.
//!
//!     cargo bench -p aside-benches --bench trajectories -- FOLDER     transcripts of a folder
//!     cargo bench -p aside-benches --bench trajectories -- --each FOLDER
//!
//! A transcript is a file of JSON lines as Claude Code writes them (`.jsonl`), a trajectory of SWE-agent (`.traj`), or what mini-swe-agent
//! printed on a terminal (`.log`).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use aside::compress::{
    Compressor, Input, Invocation, MIN_BUDGET_TOKENS, MIN_COMPRESSIBLE_LENGTH, Outcome, Part, Registry,
    estimated_tokens, units,
};
use serde_json::{Value, json};

const BUDGETS: [usize; 3] = [1_000, 2_000, 4_000];
/// The number of actions after a result in which a citation counts.
const NEXT: usize = 10;
/// Results up to this many bytes are left alone by every way.
const SHORT: usize = 1_000;

/// A step of a session, in the order of its transcript.
enum Step {
    /// The agent runs a tool, with this input.
    Action(String),
    /// The tool's result, with the command line that printed it and its exit code, where they are known.
    Result { command: String, code: Option<i64>, text: String },
    /// Other text that the agent has read.
    Text(String),
}

/// A way to shorten a result to a number of tokens.
type Way = fn(&str, Option<i64>, &str, usize) -> String;

const WAYS: [(&str, Way); 4] = [
    ("aside", shortened),
    ("head and tail, half each", |_, _, text, budget| head_and_tail(text, budget / 2, budget / 2)),
    ("head 20 %, tail 80 %", |_, _, text, budget| head_and_tail(text, budget / 5, budget - budget / 5)),
    ("head only", |_, _, text, budget| head_and_tail(text, budget, 0)),
];

/// A result and what the next actions cite of it.
struct Cited {
    name: String,
    command: String,
    code: Option<i64>,
    text: String,
    facts: BTreeSet<String>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let is_each = arguments.iter().any(|argument| argument == "--each");
    let Some(folder) = arguments.iter().find(|argument| *argument != "--each") else {
        println!("trajectories: name a folder of transcripts: -- FOLDER");
        return;
    };
    let mut files = Vec::new();
    walk(Path::new(folder), &mut files);
    files.sort();
    let (mut sessions, mut long, mut cited) = (0, 0, Vec::new());
    for file in files {
        let steps = read(&file);
        sessions += usize::from(steps.iter().any(|step| matches!(step, Step::Result { .. })));
        long += steps.iter().filter(|step| matches!(step, Step::Result { text, .. } if text.len() > SHORT)).count();
        cited.extend(of_session(&file.file_name().unwrap().to_string_lossy(), &steps));
    }
    report(sessions, long, &cited, is_each);
    if let Some(program) = std::env::var_os("ASIDE_TOKENJUICE") {
        report_peer(&program, &cited);
    }
}

/// Reports on tokenjuice, which has no budget: it chooses a size, which is then `aside`'s budget too, as far as that goes down.
fn report_peer(program: &OsStr, cited: &[Cited]) {
    let version = Command::new(program).arg("--version").output().unwrap().stdout;
    let (mut facts, mut left, mut own, mut size, mut whole) = (0, 0, 0, 0, 0);
    for result in cited {
        let mut asked = json!({ "toolName": "exec", "command": result.command, "combinedText": result.text });
        if let Some(code) = result.code {
            asked["exitCode"] = code.into();
        }
        let mut child =
            Command::new(program).arg("reduce-json").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(asked.to_string().as_bytes()).unwrap();
        let answer: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
        let short = answer["inlineText"].as_str().unwrap().to_owned();
        let tokens = estimated_tokens(short.as_bytes());
        facts += result.facts.len();
        left += self::facts(&short).intersection(&result.facts).count();
        own += result.left(shortened, tokens.max(MIN_BUDGET_TOKENS));
        (size, whole) = (size + tokens, whole + estimated_tokens(result.text.as_bytes()));
    }
    let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    let version = String::from_utf8_lossy(&version);
    println!(
        "trajectories\tpeer\ttokenjuice {}\t{:.1}\t{:.1}\t{:.1}",
        version.trim(),
        share(left, facts),
        share(own, facts),
        share(size, whole)
    );
}

fn report(sessions: usize, long: usize, cited: &[Cited], is_each: bool) {
    let facts: usize = cited.iter().map(|result| result.facts.len()).sum();
    println!("trajectories\tsessions\t{sessions}\ntrajectories\tresults\t{long}");
    println!("trajectories\tcited\t{}\ntrajectories\tfacts\t{facts}", cited.len());
    for budget in BUDGETS {
        let over: Vec<&Cited> =
            cited.iter().filter(|result| estimated_tokens(result.text.as_bytes()) > budget).collect();
        let of_over: usize = over.iter().map(|result| result.facts.len()).sum();
        println!("trajectories\tlonger\t{budget}\t{}\t{of_over}", over.len());
        for (name, way) in WAYS {
            let left: Vec<usize> = over.iter().map(|result| result.left(way, budget)).collect();
            let all = facts - of_over + left.iter().sum::<usize>();
            let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
            println!(
                "trajectories\tleft\t{budget}\t{name}\t{:.1}\t{:.1}",
                share(all, facts),
                share(left.iter().sum(), of_over)
            );
            for (result, left) in over.iter().zip(left).filter(|_| is_each) {
                println!(
                    "each\t{budget}\t{name}\t{}\t{left} of {}\t{:?}",
                    result.name,
                    result.facts.len(),
                    result.command
                );
            }
        }
    }
}

impl Cited {
    /// Returns how many of the facts are left.
    fn left(&self, way: Way, budget: usize) -> usize {
        let short = way(&self.command, self.code, &self.text, budget);
        let tokens = estimated_tokens(short.as_bytes());
        // A text of fewer units is never made shorter, whatever its tokens are.
        if tokens > budget && units(short.as_bytes()) >= MIN_COMPRESSIBLE_LENGTH {
            eprintln!("{}: {tokens} tokens of {budget}, in {} bytes of {}", self.name, short.len(), self.text.len());
        }
        facts(&short).intersection(&self.facts).count()
    }
}

/// Returns the long results of a session of which later actions cite something new.
fn of_session(name: &str, steps: &[Step]) -> Vec<Cited> {
    let mut found = Vec::new();
    let mut earlier = BTreeSet::new();
    for (at, step) in steps.iter().enumerate() {
        let (Step::Action(text) | Step::Result { text, .. } | Step::Text(text)) = step;
        let here = facts(text);
        if let Step::Result { command, code, text } = step
            && text.len() > SHORT
        {
            let actions = steps[at + 1..].iter().filter_map(|step| match step {
                Step::Action(text) => Some(facts(text)),
                _ => None,
            });
            let next: BTreeSet<String> = actions.take(NEXT).flatten().collect();
            let facts: BTreeSet<String> =
                here.intersection(&next).filter(|fact| !earlier.contains(*fact)).cloned().collect();
            if !facts.is_empty() {
                found.push(Cited {
                    name: name.to_owned(),
                    command: command.clone(),
                    code: *code,
                    text: text.clone(),
                    facts,
                });
            }
        }
        earlier.extend(here);
    }
    found
}

/// Returns the facts in a text: paths, with a line if one follows; identifiers, which have an underscore, a digit or a capital inside;
/// numbers of three digits and more.
fn facts(text: &str) -> BTreeSet<String> {
    let is_of_word = |character: char| character.is_alphanumeric() || "_./-:".contains(character);
    let mut found = BTreeSet::new();
    for word in text.split(|character| !is_of_word(character)) {
        let word = word.trim_matches(['.', '-', ':', '/']);
        let path = word.trim_end_matches(|character: char| character.is_ascii_digit() || character == ':');
        if path.len() > 3 && path.contains(['/', '.']) && path.contains(|character: char| character.is_alphabetic()) {
            // With its line, and without it: a tool takes a path, and a person says both.
            found.extend([path.to_owned(), word.to_owned()]);
        }
        for part in word.split(['/', '.', ':', '-']) {
            let letters = part.trim_start_matches('_');
            let is_name = letters.len() > 3
                && letters.starts_with(|character: char| character.is_alphabetic())
                && letters[1..].contains(|character: char| {
                    character == '_' || character.is_ascii_digit() || character.is_uppercase()
                })
                && letters.contains(|character: char| character.is_lowercase());
            let is_number = part.len() > 2 && part.bytes().all(|byte| byte.is_ascii_digit());
            if is_name || is_number {
                found.insert(part.to_owned());
            }
        }
    }
    found
}

fn shortened(command: &str, code: Option<i64>, text: &str, budget: usize) -> String {
    let mut input = json!({ "command": command });
    if let Some(code) = code {
        input["exit_code"] = code.into();
    }
    let input = Input::from_json(&input.to_string()).unwrap();
    let compressor = Compressor::new(&Registry::new()).budget_tokens(budget).unwrap();
    match &compressor.compress(&Invocation::new("bash", &input), &[Part::Text(text.as_bytes())]).parts[0] {
        Outcome::Text(short) => String::from_utf8_lossy(short).into_owned(),
        _ => text.to_owned(),
    }
}

/// Keeps whole lines from both ends, with a line between them that says so, as agents do.
fn head_and_tail(text: &str, head: usize, tail: usize) -> String {
    const CUT: &str = "[... truncated ...]\n";
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let tokens = |line: &&str| estimated_tokens(line.as_bytes()).max(1);
    let fill = |lines: &mut dyn Iterator<Item = &&str>, mut room: usize| {
        lines.take_while(|line| room.checked_sub(tokens(line)).map(|rest| room = rest).is_some()).count()
    };
    let room = estimated_tokens(CUT.as_bytes());
    let first = fill(&mut lines.iter(), head.saturating_sub(room));
    let last = fill(&mut lines.iter().rev(), tail.saturating_sub(room)).min(lines.len() - first);
    format!("{}{CUT}{}", lines[..first].concat(), lines[lines.len() - last..].concat())
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|end| ["jsonl", "traj", "log"].iter().any(|known| end == *known)) {
            files.push(path);
        }
    }
}

fn read(file: &Path) -> Vec<Step> {
    let text = String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned();
    match file.extension().and_then(|end| end.to_str()) {
        Some("jsonl") => of_claude(&text),
        Some("traj") => of_swe_agent(&text),
        _ => of_terminal(&text),
    }
}

/// Reads a session of Claude Code: messages with content blocks.
fn of_claude(text: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let entry: Value = serde_json::from_str(line).unwrap_or_default();
        let content = &entry["message"]["content"];
        steps.extend(content.as_str().map(|text| Step::Text(text.to_owned())));
        for block in content.as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("tool_use") => {
                    let command = block["input"]["command"].as_str().unwrap_or_default();
                    commands.push((block["id"].to_string(), command.to_owned()));
                    steps.push(Step::Action(strings(&block["input"])));
                }
                Some("tool_result") => {
                    let id = block["tool_use_id"].to_string();
                    let command = commands.iter().find(|(of, _)| *of == id).map(|(_, command)| command.clone());
                    let code = (block["is_error"] == true).then_some(1);
                    steps.push(Step::Result {
                        command: command.unwrap_or_default(),
                        code,
                        text: strings(&block["content"]),
                    });
                }
                _ => steps.extend(block["text"].as_str().map(|text| Step::Text(text.to_owned()))),
            }
        }
    }
    steps
}

/// Returns all strings in a value.
fn strings(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(values) => values.iter().map(strings).collect(),
        Value::Object(fields) => fields.values().map(strings).collect(),
        _ => String::new(),
    }
}

/// Reads a trajectory of SWE-agent: the prompts of its history, then its actions, each with what was observed.
fn of_swe_agent(text: &str) -> Vec<Step> {
    let all: Value = serde_json::from_str(text).unwrap_or_default();
    let before = all["history"].as_array().into_iter().flatten().take_while(|entry| entry["role"] != "assistant");
    let mut steps: Vec<Step> = before.map(|entry| Step::Text(strings(&entry["content"]))).collect();
    for step in all["trajectory"].as_array().into_iter().flatten() {
        let command = step["action"].as_str().unwrap_or_default().to_owned();
        let text = step["observation"].as_str().unwrap_or_default().to_owned();
        steps.push(Step::Text(step["thought"].as_str().unwrap_or_default().to_owned()));
        steps.extend([Step::Action(command.clone()), Step::Result { command, code: None, text }]);
    }
    steps
}

/// Reads what mini-swe-agent printed: in each step a command in a fence, then its exit code and output in tags.
fn of_terminal(text: &str) -> Vec<Step> {
    let text = plain(text);
    let mut steps = Vec::new();
    let mut parts = text.split("\nmini-swe-agent (step ");
    steps.extend(parts.next().map(|prompt| Step::Text(prompt.to_owned())));
    for part in parts {
        let (said, observed) = part.split_once("\nUser:\n").unwrap_or((part, ""));
        let command =
            said.split_once("```bash\n").and_then(|(_, rest)| rest.split_once("\n```")).map_or("", |(line, _)| line);
        steps.extend([Step::Text(said.to_owned()), Step::Action(command.to_owned())]);
        let code = observed.split_once("<returncode>").and_then(|(_, rest)| rest.split_once("</returncode>"));
        let output = observed.split_once("<output>\n").and_then(|(_, rest)| rest.split_once("</output>"));
        let code = code.and_then(|(code, _)| code.trim().parse().ok());
        // An output whose middle the agent itself left out is in other tags.
        steps.push(match output {
            Some((output, _)) => Step::Result { command: command.to_owned(), code, text: output.to_owned() },
            None => Step::Text(observed.to_owned()),
        });
    }
    steps
}

/// Returns a text without the terminal's sequences and carriage returns.
fn plain(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain +=
            part.trim_start_matches(|character: char| !character.is_ascii_alphabetic()).get(1..).unwrap_or_default();
    }
    plain.replace('\r', "")
}
