//! Runs the vectors, which other implementations can run too: every `*.jsonl` in the folder that `ASIDE_VECTORS` names, or else in
//! `tests/vectors/` and in the shared folder next to the project, if it exists. `tests/vectors/README.md` describes a case.

use base64::Engine;
use reference::Event;
use samples::Random;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use support::Pair;

const CHANNELS: [&str; 4] = ["content", "thinking", "narration", "tool"];
const KEYS: [&str; 9] = ["about", "dialect", "chunks", "chunks_b64", "start", "thoughts", "attributes", "causes", "id"];
const CAP: usize = 1 << 26;

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = support::files(folder);
    files.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    assert!(!files.is_empty(), "{}: there is no vector file in it", folder.display());
    files
}

fn decoded(value: &Value) -> Result<Vec<u8>, String> {
    let text = value.as_str().ok_or("base64 is a string")?;
    base64::engine::general_purpose::STANDARD.decode(text).map_err(|error| error.to_string())
}

struct Case {
    dialect: String,
    start: Option<String>,
    chunks: Vec<Vec<u8>>,
    fields: Map<String, Value>,
}

impl Case {
    fn parse(line: &str) -> Result<Case, String> {
        let mut fields: Map<String, Value> = serde_json::from_str(line).map_err(|error| error.to_string())?;
        fields.retain(|_, value| !value.is_null());
        let mut chunks = Vec::new();
        match (fields.get("chunks"), fields.get("chunks_b64")) {
            (Some(Value::Array(list)), None) => {
                for chunk in list {
                    chunks.push(chunk.as_str().ok_or("a chunk is a string")?.as_bytes().to_vec());
                }
            }
            (None, Some(Value::Array(list))) => {
                for chunk in list {
                    chunks.push(decoded(chunk)?);
                }
            }
            _ => return Err("one list of chunks".to_string()),
        }
        let string = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_string);
        Ok(Case { dialect: string("dialect").ok_or("no dialect")?, start: string("start"), chunks, fields })
    }

    /// Returns the expected text of a channel, if the case has one.
    fn wanted(&self, channel: &str) -> Result<Option<Vec<u8>>, String> {
        if let Some(text) = self.fields.get(channel) {
            return Ok(Some(text.as_str().ok_or("text is a string")?.as_bytes().to_vec()));
        }
        self.fields.get(&format!("{channel}_b64")).map(decoded).transpose()
    }

    /// Checks that the events and thoughts meet the expectations of the case.
    fn judge(&self, who: &str, events: &[Event], thoughts: &[Said]) -> Result<(), String> {
        for channel in CHANNELS {
            let Some(wanted) = self.wanted(channel)? else { continue };
            let got = reference::channel(events, channel);
            if got != wanted {
                let (wanted, got) = (wanted.escape_ascii(), got.escape_ascii());
                return Err(format!("{who}, {channel}:\n  wanted \"{wanted}\"\n  got    \"{got}\""));
            }
        }
        if let Some(wanted) = self.fields.get("thoughts") {
            let wanted = wanted.as_array().ok_or("thoughts are a list")?;
            if wanted.len() != thoughts.len() || !wanted.iter().zip(thoughts).all(|(wanted, got)| got.is(wanted)) {
                return Err(format!("{who}, thoughts:\n  wanted {wanted:?}\n  got    {thoughts:?}"));
            }
        }
        if let Some(wanted) = self.fields.get("attributes") {
            let text = |bytes: &[u8]| Value::from(String::from_utf8_lossy(bytes).into_owned());
            let got = reference::attributes(events);
            let got: Vec<Value> = got.iter().map(|(name, value)| Value::from(vec![text(name), text(value)])).collect();
            if *wanted != Value::from(got.clone()) {
                return Err(format!("{who}, attributes:\n  wanted {wanted}\n  got    {got:?}"));
            }
        }
        if let Some(wanted) = self.fields.get("causes") {
            let got = reference::causes(events);
            if *wanted != Value::from(got.clone()) {
                return Err(format!("{who}, causes:\n  wanted {wanted}\n  got    {got:?}"));
            }
        }
        Ok(())
    }
}

/// A whole thought, with the members that a vector describes.
#[derive(Debug)]
struct Said {
    text: Vec<u8>,
    kind: Option<Vec<u8>>,
    confidence: Option<f64>,
}

impl Said {
    fn is(&self, wanted: &Value) -> bool {
        let bytes = |value: &Value| value.as_str().map(|text| text.as_bytes().to_vec());
        match wanted {
            Value::String(text) => self.text == text.as_bytes(),
            _ => {
                Some(&self.text) == bytes(&wanted["thought"]).as_ref()
                    && self.kind == bytes(&wanted["thought_type"])
                    && self.confidence == wanted["confidence"].as_f64()
            }
        }
    }
}

impl From<reference::Thought> for Said {
    fn from(thought: reference::Thought) -> Said {
        Said { text: thought.text, kind: thought.thought_type, confidence: thought.confidence }
    }
}

impl From<aside::Thought> for Said {
    fn from(thought: aside::Thought) -> Said {
        assert!(!thought.truncated, "a thought cut short below the cap");
        Said { text: thought.text, kind: thought.thought_type, confidence: thought.confidence }
    }
}

fn check(pairs: &mut HashMap<String, Pair>, random: &mut Random, line: &str) -> Result<(), String> {
    let case = Case::parse(line)?;
    let name = case.dialect.as_str();
    let start = case.start.as_deref();
    if !pairs.contains_key(name) {
        let library = aside::Dialect::find(name).map_err(|error| error.to_string())?;
        let reference = reference::find(name).ok_or_else(|| format!("no file of a dialect `{name}`"))?;
        pairs.insert(name.to_string(), Pair { library, reference });
    }
    let pair = &pairs[name];
    let text = case.chunks.concat();
    let wanted = reference::read(&pair.reference, &text, start);
    let thoughts: Vec<Said> = reference::thoughts(&pair.reference, &wanted).into_iter().map(Said::from).collect();
    case.judge("the reference", &wanted, &thoughts)?;

    let mut ways: Vec<(&str, Vec<&[u8]>)> = vec![
        ("cut as the vector says", case.chunks.iter().map(Vec::as_slice).collect()),
        ("whole", vec![&text]),
        ("byte by byte", support::bytes(&text)),
    ];
    for most in [2, 5, 17] {
        ways.push(("cut at random", support::random_cuts(random, &text, most)));
    }
    for (way, chunks) in ways {
        let mut scanner = support::scanner(&pair.library, start, Some(CAP));
        let (events, thoughts) = support::collect(&mut scanner, &chunks);
        let thoughts: Vec<Said> = thoughts.into_iter().map(Said::from).collect();
        let who = format!("the scanner, {way}");
        case.judge(&who, &events, &thoughts)
            .and_then(|()| match support::difference(&wanted, &events) {
                Some(difference) => Err(format!("{who}, against the reference: {difference}")),
                None => Ok(()),
            })
            .map_err(|error| format!("{error}\n  chunks {}", support::shown(&chunks)))?;
    }
    Ok(())
}

/// Returns a key that this program does not know. In the project's own vectors, that is a mistake, but other vectors may have more
/// keys.
fn unknown_key(line: &str) -> Option<String> {
    let fields: Map<String, Value> = serde_json::from_str(line).unwrap_or_default();
    fields.keys().map(String::clone).find(|key| {
        let channel = key.strip_suffix("_b64").unwrap_or(key);
        !KEYS.contains(&key.as_str()) && !CHANNELS.contains(&channel)
    })
}

fn run(folder: &Path) {
    let mut random = Random::announced("vectors");
    let mut pairs = HashMap::new();
    let mut cases = 0;
    let mut failures = Vec::new();
    for file in files(folder) {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            cases += 1;
            if let Err(error) = check(&mut pairs, &mut random, line) {
                let value: Value = serde_json::from_str(line).unwrap_or_default();
                let dialect = value["dialect"].as_str().unwrap_or("?");
                failures.push(format!("{}, line {}, dialect {dialect}: {error}", file.display(), number + 1));
            }
        }
    }
    println!("{}: {cases} cases", folder.display());
    assert!(cases > 0, "{}: there is no case in its files", folder.display());
    if !failures.is_empty() {
        let first: Vec<&String> = failures.iter().take(5).collect();
        let first: Vec<&str> = first.iter().map(|failure| failure.as_str()).collect();
        panic!("{} of {cases} cases fail, the first of them:\n\n{}", failures.len(), first.join("\n\n"));
    }
}

fn named_folder() -> Option<PathBuf> {
    std::env::var_os("ASIDE_VECTORS").map(PathBuf::from)
}

#[test]
fn the_named_folder() {
    if let Some(folder) = named_folder() {
        run(&folder);
    }
}

#[test]
fn the_projects_own() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    for file in files(&folder) {
        for (number, line) in std::fs::read_to_string(&file).unwrap().lines().enumerate() {
            assert_eq!(unknown_key(line), None, "{}, line {}", file.display(), number + 1);
        }
    }
    if named_folder().is_none() {
        run(&folder);
    }
}

#[test]
fn the_shared_ones_where_present() {
    if named_folder().is_some() {
        return;
    }
    if let Some(folder) = support::shared("vectors") {
        run(&folder);
    }
}

// The tests below check that this program fails if it should.

#[test]
#[should_panic(expected = "there is no vector file in it")]
fn a_folder_without_vectors_is_a_failure() {
    run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("dialects"));
}

#[test]
fn a_wrong_case_is_a_failure() {
    let fails = |line: &str, naming: &str| {
        let error = check(&mut HashMap::new(), &mut Random::new(1), line).unwrap_err();
        assert!(error.contains(naming), "{error}");
    };
    fails(r#"{"dialect": "qwen33", "chunks": ["a"]}"#, "qwen33");
    assert_eq!(unknown_key(r#"{"dialect": "qwen3", "chunks": ["a"], "contents": "a"}"#).as_deref(), Some("contents"));
    fails(r#"{"dialect": "qwen3", "chunks": ["a"], "content": "b"}"#, "content");
    fails(r#"{"dialect": "qwen3", "chunks": ["<think>a"], "thoughts": []}"#, "thoughts");
    fails(r#"{"dialect": "qwen3", "chunks": ["<think>a"], "causes": ["marker"]}"#, "causes");
    fails(r#"{"dialect": "qwen3", "chunks_b64": ["YQ=="], "content_b64": "Yg=="}"#, "content");
    fails(r#"{"dialect": "qwen3"}"#, "chunks");
}
