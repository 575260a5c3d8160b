//! Counts how often the dialect `any` splits recorded answers differently from the dialect of their model.
//!
//!     cargo run --release --example compare_any -- FOLDER
//!
//! FOLDER contains `*.jsonl` files with a message in each line: an object with `model` and `text`. The model determines a message's
//! own dialect. The joined texts of the thinking and of the content are compared. A difference is of one of these kinds:
//!
//! - blanks: only white space differs, because `any` removes no white space with a tag
//! - start: no difference if `any` has the start of the model's dialect
//! - other: a difference even with that start

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use aside::{Channel, Dialect, Kind, Scanner, ScannerOptions, Start};

/// Thinking and content.
type Split = [Vec<u8>; 2];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).ok_or("usage: compare_any FOLDER")?;
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, Box<dyn Error>>>()?;
    files.retain(|file| file.extension().is_some_and(|end| end == "jsonl"));
    files.sort();

    let any = Dialect::find("any")?;
    // For each dialect, the number of messages, and the number of differences of each kind.
    let mut counts: BTreeMap<String, [usize; 1 + KINDS.len()]> = BTreeMap::new();
    let mut unknown = 0;
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        for (line, message) in fs::read_to_string(file)?.lines().enumerate() {
            let message: serde_json::Value = serde_json::from_str(message)?;
            let model = message["model"].as_str().unwrap_or_default();
            let text = message["text"].as_str().unwrap_or_default();
            let Ok(own) = Dialect::find_for_model(model) else {
                unknown += 1;
                continue;
            };
            let wanted = split(&own, own.start(), text)?;
            let got = split(&any, any.start(), text)?;
            let row = counts.entry(own.name().to_owned()).or_default();
            row[0] += 1;
            if wanted == got {
                continue;
            }
            let kind = if same_words(&wanted, &got) {
                0
            } else if same_words(&wanted, &split(&any, own.start(), text)?) {
                1
            } else {
                2
            };
            row[1 + kind] += 1;
            println!("{name}:{} {model} ({}): {}, {}", line + 1, own.name(), KINDS[kind], difference(&wanted, &got));
        }
    }

    println!("\n{:18}{:>9}{:>9}{:>9}{:>9}{:>9}", "dialect", "messages", "the same", "blanks", "start", "other");
    let mut total = [0; 1 + KINDS.len()];
    let show = |name: &str, row: [usize; 1 + KINDS.len()]| {
        let same = row[0] - row[1] - row[2] - row[3];
        println!("{name:18}{:>9}{same:>9}{:>9}{:>9}{:>9}", row[0], row[1], row[2], row[3]);
    };
    for (name, row) in counts {
        total.iter_mut().zip(row).for_each(|(total, count)| *total += count);
        show(&name, row);
    }
    show("all", total);
    println!("{unknown} messages of models that no dialect names");
    Ok(())
}

const KINDS: [&str; 3] = ["blanks", "start", "other"];

fn split(dialect: &Dialect, start: Start, text: &str) -> Result<Split, aside::Error> {
    let mut split = Split::default();
    let mut add = |event: aside::Event<'_>| match (event.kind, event.channel) {
        (Kind::Text, Channel::Thinking) => split[0].extend_from_slice(event.bytes),
        (Kind::Text, Channel::Content) => split[1].extend_from_slice(event.bytes),
        (Kind::Reclassify, _) => split[0] = std::mem::take(&mut split[1]),
        _ => {}
    };
    let mut scanner = Scanner::with_options(dialect, &ScannerOptions::new().start(start))?;
    scanner.feed(text.as_bytes(), &mut add)?;
    scanner.finish(add)?;
    Ok(split)
}

fn same_words(a: &Split, b: &Split) -> bool {
    let words = |text: &[u8]| text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect::<Vec<u8>>();
    a.iter().zip(b).all(|(a, b)| words(a) == words(b))
}

/// Returns the sizes of both texts, and the text from the first difference on.
fn difference(wanted: &Split, got: &Split) -> String {
    let shown =
        ["thinking", "content"].into_iter().zip(wanted.iter().zip(got)).filter(|(_, (wanted, got))| wanted != got);
    let shown = shown.map(|(channel, (wanted, got))| {
        let at = wanted.iter().zip(got).take_while(|(a, b)| a == b).count();
        let from = |text: &[u8]| {
            let rest = String::from_utf8_lossy(&text[at..]);
            rest.chars().take(24).collect::<String>()
        };
        let (own, any) = (from(wanted), from(got));
        format!("{channel} of {} bytes is of {}, from {at} on {own:?} is {any:?}", wanted.len(), got.len())
    });
    shown.collect::<Vec<String>>().join("; ")
}
