//! Runs the examples of a dialect file, whole and cut everywhere, as the project's tests do for built-in dialects.

use std::fmt::{self, Write};

use aside::{Channel, Dialect, Error, Event, Kind, Scanner, ScannerOptions, Start, answer::Tools};
use serde::Deserialize;
use toml::Spanned;

use super::{
    calls::{self, Call, Called, What},
    kinds,
};

/// Texts up to this length are also cut in three. The number of ways grows with the square of the length.
const SHORT: usize = 128;

/// The approximate number of bytes that are fed in total for a file, however many examples it has. But each example is fed at
/// least `LEAST` times.
const WORK: usize = 16 << 20;
const LEAST: usize = 16;

const DEFECT: &str = "  Uncut it is right, so this is a defect of the library: please report it.\n";

/// An example that is printed as a starting point if a file has no examples.
const KINDS: &str = "  the ordinary answer: thinking, then content
  empty thinking
  a text without the opener (the prompt may have written it), and one without the closer
  a text that ends inside a marker, and inside framing
  a tool call inside the thinking, where the model calls tools
  two blocks of thinking, and text before the first
  with tables of calls: two calls, one without arguments, a closer inside a value, text after a call, a cut value, a broken
  body, and a mention of the opener inside the thinking
  what you saw in real output and did not expect
";

#[derive(Deserialize)]
struct File {
    #[serde(default, rename = "example")]
    examples: Vec<Spanned<Example>>,
    #[serde(default, rename = "span")]
    spans: Vec<kinds::Span>,
    header: Option<kinds::Header>,
}

#[derive(Deserialize)]
struct Example {
    #[serde(default)]
    about: String,
    input: String,
    start: Option<String>,
    #[serde(default)]
    content: String,
    #[serde(default)]
    thinking: String,
    #[serde(default)]
    narration: String,
    #[serde(default)]
    tool: String,
    thoughts: Option<Vec<Thought>>,
    attributes: Option<Vec<(String, String)>>,
    causes: Option<Vec<String>>,
    tools: Option<Vec<toml::Table>>,
    calls: Option<Vec<Call>>,
}

#[derive(Deserialize, PartialEq)]
#[serde(untagged)]
enum Thought {
    Text(String),
    Typed { thought: String, thought_type: Option<String>, confidence: Option<f64> },
}

impl fmt::Debug for Thought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Thought::Text(text) => text.fmt(f),
            Thought::Typed { thought, thought_type, confidence } => {
                write!(f, "{thought:?} (type {thought_type:?}, confidence {confidence:?})")
            }
        }
    }
}

/// The result for one way to cut a text.
#[derive(PartialEq)]
struct Outcome {
    /// The text of each channel.
    texts: [Vec<u8>; 4],
    thoughts: Vec<aside::Thought>,
    attributes: Vec<(String, String)>,
    causes: Vec<&'static str>,
    /// The events of the text. Neighbouring text is joined.
    events: Vec<(What, Channel, u64, usize)>,
}

/// Returns the report, and whether the file has no faults. A file that is not a dialect is an error.
pub fn check(name: &str, text: &str) -> Result<(String, bool), String> {
    let dialect = Dialect::load(text).map_err(|error| format!("{name}: {error}"))?;
    let file: File = toml::from_str(text).map_err(|error| format!("{name}: {error}"))?;
    let count = file.examples.len();
    if count == 0 {
        let report = format!("{name}: no [[example]], so nothing shows that it is right. Good ones are:\n{KINDS}");
        return Ok((report, false));
    }
    let mut report = String::new();
    let markers = kinds::Markers::new(&file.spans, file.header.as_ref());
    let bytes: usize = file.examples.iter().map(|example| example.get_ref().input.len()).sum();
    let runs = (WORK / bytes.max(1)).max(LEAST);
    let (mut wrong, mut shown) = (0, Vec::new());
    for (index, spanned) in file.examples.iter().enumerate() {
        let example = spanned.get_ref();
        let mut faults = faults(&dialect, example, runs);
        if markers.is_some() || example.calls.is_some() {
            match called(&dialect, example, runs) {
                Ok(called) => shown.push(called),
                Err(fault) => faults += &fault,
            }
        }
        if !faults.is_empty() {
            wrong += 1;
            let line = 1 + text[..spanned.span().start].matches('\n').count();
            let about = if example.about.is_empty() { String::new() } else { format!(": {}", example.about) };
            let _ = writeln!(report, "{name}, line {line}, example {}{about}", index + 1);
            let _ = writeln!(report, "  input       {:?}", example.input);
            report += &faults;
        }
    }
    let examples = if count == 1 { "1 example".to_owned() } else { format!("{count} examples") };
    let _ = match wrong {
        0 => writeln!(report, "{name}: {examples} of `{}`, right however the text is cut", dialect.name()),
        _ => writeln!(report, "{name}: {examples} of `{}`, {wrong} not right", dialect.name()),
    };
    let missing = markers.map(|markers| markers.missing(&shown)).unwrap_or_default();
    if !missing.is_empty() {
        let _ = writeln!(report, "{name}: no example shows {}", missing.join(", "));
    }
    Ok((report, wrong == 0))
}

/// Returns the calls of an example if every cut has the expected calls, and otherwise the differences as lines.
fn called(dialect: &Dialect, example: &Example, runs: usize) -> Result<Called, String> {
    let start: Option<Start> = example.start.as_ref().and_then(|start| start.parse().ok());
    let tools = match &example.tools {
        Some(tools) => {
            let json = serde_json::to_string(tools).map_err(|error| format!("  tools       {error}\n"))?;
            Some(Tools::read(&json).map_err(|error| format!("  tools       {error}\n"))?)
        }
        None => None,
    };
    let run =
        |chunks: &[&[u8]]| calls::run(dialect, start, tools.as_ref(), chunks).map_err(|error| format!("  {error}\n"));
    let text = example.input.as_bytes();
    let whole = run(&[text])?;
    let faults = example.calls.as_ref().map(|wanted| whole.differences(wanted)).unwrap_or_default();
    if !faults.is_empty() {
        return Err(faults);
    }
    for (how, chunks) in twos(text, runs) {
        if run(&chunks)? != whole {
            return Err(format!("  {how}\n  other calls, or other events of them\n{DEFECT}"));
        }
    }
    Ok(whole)
}

/// Returns the differences from the example as lines, or an empty text.
fn faults(dialect: &Dialect, example: &Example, runs: usize) -> String {
    let start: Option<Start> = example.start.as_ref().and_then(|start| start.parse().ok());
    // Thoughts of any length are kept whole.
    let options = ScannerOptions::new().start(start).collect(usize::MAX);
    let mut scanner = match Scanner::with_options(dialect, &options) {
        Ok(scanner) => scanner,
        Err(error) => return format!("  start       {:?}: {error}\n", example.start.as_deref().unwrap_or_default()),
    };
    let text = example.input.as_bytes();
    let mut whole = match run(&mut scanner, &[text]) {
        Ok(whole) => whole,
        Err(error) => return format!("  {error}\n"),
    };
    let faults = differences(example, &whole);
    if !faults.is_empty() {
        return faults;
    }
    // If there are more thoughts than a scanner keeps, the kept ones depend on the cuts, so they are not compared.
    if scanner.lost_thoughts() > 0
        && let Ok(without) = Scanner::with_options(dialect, &ScannerOptions::new().start(start))
    {
        scanner = without;
        whole.thoughts.clear();
    }
    for (how, chunks) in cuts(text, runs) {
        match run(&mut scanner, &chunks) {
            Ok(cut) if cut == whole => {}
            Ok(cut) => {
                let faults = differences(example, &cut);
                let what = if faults.is_empty() { "  the same text, but other events\n" } else { &faults };
                return format!("  {how}\n{what}{DEFECT}");
            }
            Err(error) => return format!("  {how}\n  {error}\n"),
        }
    }
    String::new()
}

/// Returns ways to cut a text, each with its description and its chunks: the ways of [`twos`], and, for a short text, every way
/// to cut it in three, if these are at most `runs`.
fn cuts(text: &[u8], runs: usize) -> impl Iterator<Item = (String, Vec<&[u8]>)> {
    let is_short = text.len() <= SHORT && text.len().pow(2) / 2 <= runs;
    let short = if is_short { text.len() } else { 0 };
    let threes = (1..short).flat_map(move |first| {
        (first + 1..short).map(move |second| {
            let chunks = vec![&text[..first], &text[first..second], &text[second..]];
            (format!("cut after bytes {first} and {second}"), chunks)
        })
    });
    twos(text, runs).chain(threes)
}

/// Returns every way to cut a text in two, and the text byte by byte. If there are more ways than `runs`, several cuts, far from
/// each other, are made in one run, so that the text is still cut after each of its bytes.
fn twos(text: &[u8], runs: usize) -> impl Iterator<Item = (String, Vec<&[u8]>)> {
    let twos = (1..text.len().min(runs + 1)).map(move |first| {
        let (begin, rest) = text.split_at(first);
        let chunks: Vec<&[u8]> = std::iter::once(begin).chain(rest.chunks(runs)).collect();
        let more = if chunks.len() > 2 { format!(", and then every {runs} bytes") } else { String::new() };
        (format!("cut after byte {first}{more}"), chunks)
    });
    twos.chain([("byte by byte".to_owned(), text.chunks(1).collect())])
}

/// Compares the example's keys with the output. Each difference has two lines, for the expected and the actual value.
fn differences(example: &Example, outcome: &Outcome) -> String {
    let mut faults = String::new();
    let mut compare = |key: &str, wanted: String, got: String| {
        if wanted != got {
            let _ = writeln!(faults, "  {key:<10}  expected {wanted}\n{:14}actual   {got}", "");
        }
    };
    let channels = [&example.content, &example.thinking, &example.narration, &example.tool];
    for (channel, wanted) in Channel::ALL.into_iter().zip(channels) {
        // The input is valid UTF-8, so the result is valid too.
        let got = String::from_utf8_lossy(&outcome.texts[channel as usize]);
        compare(channel.as_str(), format!("{wanted:?}"), format!("{got:?}"));
    }
    if let Some(wanted) = &example.thoughts {
        let typed =
            wanted.iter().map(|thought| matches!(thought, Thought::Typed { .. })).chain(std::iter::repeat(false));
        let got: Vec<Thought> =
            outcome.thoughts.iter().zip(typed).map(|(thought, typed)| shown(thought, typed)).collect();
        compare("thoughts", format!("{wanted:?}"), format!("{got:?}"));
    }
    if let Some(wanted) = &example.attributes {
        compare("attributes", format!("{wanted:?}"), format!("{:?}", outcome.attributes));
    }
    if let Some(wanted) = &example.causes {
        compare("causes", format!("{wanted:?}"), format!("{:?}", outcome.causes));
    }
    faults
}

/// Writes a thought in the form of examples. `typed` adds its type and confidence.
fn shown(thought: &aside::Thought, typed: bool) -> Thought {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match typed {
        false => Thought::Text(text(&thought.text)),
        true => Thought::Typed {
            thought: text(&thought.text),
            thought_type: thought.thought_type.as_deref().map(text),
            confidence: thought.confidence,
        },
    }
}

fn run(scanner: &mut Scanner, chunks: &[&[u8]]) -> Result<Outcome, Error> {
    let mut outcome = Outcome {
        texts: Default::default(),
        thoughts: Vec::new(),
        attributes: Vec::new(),
        causes: Vec::new(),
        events: Vec::new(),
    };
    for chunk in chunks {
        scanner.feed(chunk, |event| outcome.add(&event))?;
        outcome.thoughts.extend(std::iter::from_fn(|| scanner.take_thought()));
    }
    scanner.finish(|event| outcome.add(&event))?;
    outcome.thoughts.extend(std::iter::from_fn(|| scanner.take_thought()));
    Ok(outcome)
}

impl Outcome {
    fn add(&mut self, event: &Event<'_>) {
        let what = What::new(&event.kind);
        match &event.kind {
            Kind::Text => {
                self.texts[event.channel as usize].extend_from_slice(event.bytes);
                if let Some((last, channel, _, len)) = self.events.last_mut()
                    && (*last, *channel) == (what, event.channel)
                {
                    *len += event.bytes.len();
                    return;
                }
            }
            Kind::Attribute(attribute) => {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                self.attributes.push((text(attribute.name), text(attribute.value)));
            }
            Kind::Close(cause) => self.causes.push(cause.as_str()),
            Kind::Reclassify if event.channel == Channel::Content => {
                let thinking = std::mem::take(&mut self.texts[Channel::Thinking as usize]);
                self.texts[Channel::Content as usize].extend(thinking);
            }
            // The content so far was thinking.
            Kind::Reclassify => {
                let content = std::mem::take(&mut self.texts[Channel::Content as usize]);
                self.texts[Channel::Thinking as usize].splice(..0, content);
            }
            _ => {}
        }
        self.events.push((what, event.channel, event.offset, event.bytes.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAST, twos};

    /// Checks that a text of any length is cut after each of its bytes, at a limited cost.
    #[test]
    fn every_text_is_cut_after_each_byte() {
        for length in [0, 1, 2, LEAST, LEAST + 1, LEAST + 2, 1000] {
            let text = vec![b'x'; length];
            for runs in [LEAST, 100, 5000] {
                let mut is_cut = vec![false; length];
                let all: Vec<_> = twos(&text, runs).collect();
                assert!(all.len() <= runs + 1, "{length} {runs}");
                for (how, chunks) in all.iter().filter(|(how, _)| how != "byte by byte") {
                    assert_eq!(chunks.concat(), text, "{how}");
                    assert!(length > runs || chunks.len() == 2, "{how}");
                    let mut at = 0;
                    for chunk in &chunks[..chunks.len() - 1] {
                        at += chunk.len();
                        is_cut[at] = true;
                    }
                }
                assert!(is_cut.iter().skip(1).all(|&is_cut| is_cut), "{length} {runs}");
            }
        }
    }
}
