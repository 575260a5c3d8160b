//! `aside recall`: shows lines of a whole text that `aside squeeze --store` kept.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use aside::store::Store;
use clap::Args;

use crate::output::write_out;
use crate::stop::Stop;

/// The most lines, and the most bytes of them, that one call shows.
const MOST_LINES: usize = 200;
const MOST_BYTES: usize = 20_000;

/// Shows lines of a whole text that `aside squeeze --store` kept
#[derive(Args)]
pub struct Arguments {
    /// The id that the shortened text begins with
    id: String,

    /// The lines to show, counted from 1: 12, 12-80 or 12-. Without them, from the first line on
    lines: Option<String>,

    /// The folder that the texts are in
    #[arg(long, value_name = "FOLDER")]
    store: PathBuf,

    /// Shows only lines with this text in them, each with its number
    #[arg(long, value_name = "TEXT")]
    find: Option<String>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let (first, last) = arguments.lines.as_deref().map_or(Ok((1, usize::MAX)), range)?;
    let folder = arguments.store.display().to_string();
    let store = Store::open_existing(&arguments.store).map_err(|error| Stop::io(&folder, &error))?;
    let text = store.get(&arguments.id).map_err(|error| Stop::io(&arguments.id, &error))?;
    let shown = page(&text, first, last, arguments.find.as_deref());
    if shown.is_empty() {
        let count = text.split_inclusive(|&byte| byte == b'\n').count();
        let lines = if count == 1 { "line" } else { "lines" };
        return Err(Stop::Failed(format!(
            "{} has {count} {lines}, and none of those that were asked for",
            arguments.id
        )));
    }
    write_out(&shown)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads `12`, `12-80` or `12-`.
fn range(text: &str) -> Result<(usize, usize), Stop> {
    let number = |text: &str| text.parse::<usize>().ok().filter(|&number| number > 0);
    let range = match text.split_once('-') {
        None => number(text).map(|line| (line, line)),
        Some((first, "")) => number(first).map(|first| (first, usize::MAX)),
        Some((first, last)) => number(first).zip(number(last)).filter(|(first, last)| first <= last),
    };
    range.ok_or_else(|| Stop::Usage(format!("{text}: write lines as 12, 12-80 or 12-")))
}

/// Returns the lines from `first` to `last`, or those of them that contain a text. If there are too many, the last line names the first
/// one that is missing.
fn page(text: &[u8], first: usize, last: usize, find: Option<&str>) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let has = |line: &[u8]| {
        let find = find.unwrap_or_default().as_bytes();
        find.is_empty() || line.windows(find.len()).any(|part| part == find)
    };
    let wanted = lines.iter().zip(1..).filter(|&(line, number)| number >= first && number <= last && has(line));
    let mut shown = Vec::new();
    for (count, (line, number)) in wanted.enumerate() {
        let is_full = count == MOST_LINES || count > 0 && shown.len() + line.len() > MOST_BYTES;
        if is_full {
            let mut rest = String::new();
            let _ = writeln!(rest, "[the next of {} lines: {number}-]", lines.len());
            shown.extend_from_slice(rest.as_bytes());
            break;
        }
        if find.is_some() {
            shown.extend_from_slice(format!("{number}: ").as_bytes());
        }
        shown.extend_from_slice(&line[..line.len().min(MOST_BYTES)]);
        if !shown.ends_with(b"\n") {
            shown.push(b'\n');
        }
    }
    shown
}
