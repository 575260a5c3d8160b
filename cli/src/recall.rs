//! `aside recall`: shows lines of a whole text that `aside squeeze --store` or `aside hook` kept.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use aside::store::Store;
use clap::Args;

use crate::output::write_out;
use crate::state::{self, Count};
use crate::stop::Stop;

/// The most lines that one call shows, and the most bytes of these lines.
const MOST_LINES: usize = 200;
const MOST_BYTES: usize = 20_000;

/// Shows lines of a whole text that `aside squeeze --store` or `aside hook` kept
#[derive(Args)]
pub struct Arguments {
    /// The id that the shortened text begins with
    id: String,

    /// The lines to show, counted from 1: 12, 12-80 or 12- [default: from the first line on]
    lines: Option<String>,

    /// The folder with the texts [default: the folder in the user's state folder]
    #[arg(long, value_name = "FOLDER")]
    store: Option<PathBuf>,

    /// Shows only lines that contain this text, each with its number
    #[arg(long, value_name = "TEXT")]
    find: Option<String>,

    /// Also shows N lines before and after each line that --find finds
    #[arg(long, value_name = "N", default_value_t = 0, requires = "find")]
    context: usize,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let question = Question {
        id: &arguments.id,
        lines: arguments.lines.as_deref(),
        find: arguments.find.as_deref(),
        context: arguments.context,
    };
    write_out(&question.answer(arguments.store.clone())?)?;
    Ok(ExitCode::SUCCESS)
}

/// A request for lines of a text.
pub struct Question<'a> {
    pub id: &'a str,
    pub lines: Option<&'a str>,
    pub find: Option<&'a str>,
    pub context: usize,
}

impl Question<'_> {
    /// Returns the lines. The text is in this folder, or by default in the user's state folder.
    pub fn answer(&self, folder: Option<PathBuf>) -> Result<Vec<u8>, Stop> {
        let (first, last) = self.lines.map_or(Ok((1, usize::MAX)), range)?;
        let is_own = folder.is_none();
        let folder = folder.map_or_else(state::texts, Ok).map_err(|error| Stop::io("the state folder", &error))?;
        let store = Store::open_existing(&folder).map_err(|error| Stop::io(&folder.display().to_string(), &error))?;
        let text = store.get(self.id).map_err(|error| Stop::io(self.id, &error))?;
        if is_own {
            Count::Recall { id: self.id.to_owned() }.add();
        }
        let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
        let shown = self.page(&lines, first, last);
        if shown.is_empty() {
            let (count, name) = (lines.len(), if lines.len() == 1 { "line" } else { "lines" });
            return Err(Stop::Failed(format!("{} has {count} {name}, and none of those that were asked for", self.id)));
        }
        Ok(shown)
    }

    /// Returns the lines from `first` to `last`, or those that contain the text to find, with lines around them. If there are too
    /// many lines, the result ends with a note that has the number of the first missing line.
    fn page(&self, lines: &[&[u8]], first: usize, last: usize) -> Vec<u8> {
        let wanted = first..=last.min(lines.len());
        let find = self.find.unwrap_or_default().as_bytes();
        let has = |number: &usize| find.is_empty() || lines[number - 1].windows(find.len()).any(|part| part == find);
        let context = self.context.min(MOST_LINES);
        let around = |number: usize| number.saturating_sub(context).max(1)..=(number + context).min(lines.len());
        // One more line than can be shown is enough to know that there are too many.
        let found: BTreeSet<usize> = wanted.filter(has).take(MOST_LINES + 1).collect();
        let numbers: BTreeSet<usize> = found.iter().copied().flat_map(around).collect();
        let (mut shown, mut before) = (Vec::new(), 0);
        for (count, number) in numbers.into_iter().enumerate() {
            let line = lines[number - 1];
            if count == MOST_LINES || count > 0 && shown.len() + line.len() > MOST_BYTES {
                shown.extend_from_slice(format!("[the next of {} lines: {number}-]\n", lines.len()).as_bytes());
                break;
            }
            if self.context > 0 && before > 0 && number > before + 1 {
                shown.extend_from_slice(b"--\n");
            }
            if self.find.is_some() {
                let sign = if found.contains(&number) { ':' } else { '-' };
                shown.extend_from_slice(format!("{number}{sign} ").as_bytes());
            }
            shown.extend_from_slice(&line[..line.len().min(MOST_BYTES)]);
            if !shown.ends_with(b"\n") {
                shown.push(b'\n');
            }
            before = number;
        }
        shown
    }
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
