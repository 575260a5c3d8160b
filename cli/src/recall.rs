//! `aside recall`: shows lines of a whole text that `aside squeeze --store` or `aside hook` kept.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

use aside::store::Store;
use clap::Args;

use crate::output::write_out;
use crate::state::{self, Count};
use crate::stop::Stop;

/// The maximum number of lines that one call shows, and the maximum number of bytes of these lines.
const MOST_LINES: usize = 200;
const MOST_BYTES: usize = 20_000;
/// The length above which a search shows only a part of a line, and the number of bytes that it shows before and after a match.
const LONG_LINE: usize = 2000;
const BESIDE: usize = 300;

/// Shows lines of a whole text that `aside squeeze --store` or `aside hook` kept
#[derive(Args)]
pub struct Arguments {
    /// The id that the shortened text begins with
    id: String,

    /// The lines to show, counted from 1: 12, 12-80 or 12-; or bytes of a line: 12:501-1400 or 12:501- [default: from the first line on]
    lines: Option<String>,

    /// The folder with the texts [default: the folder in the user's state folder]
    #[arg(long, value_name = "FOLDER")]
    store: Option<PathBuf>,

    /// Shows only lines that contain this text, each with its number; of a long line, the parts around the text
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
        let wanted = self.lines.map_or(Ok(Wanted { lines: (1, usize::MAX), bytes: None }), Wanted::read)?;
        let is_own = folder.is_none();
        let folder = folder.map_or_else(state::texts, Ok).map_err(|error| Stop::io("the state folder", &error))?;
        let store = Store::open_existing(&folder).map_err(|error| Stop::io(&folder.display().to_string(), &error))?;
        let text = store.get(self.id).map_err(|error| Stop::io(self.id, &error))?;
        if is_own {
            Count::Recall { id: self.id.to_owned() }.add();
        }
        let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
        let shown = page(&lines, &self.pieces(&lines, &wanted));
        if shown.is_empty() {
            let counted = |count: usize, name: &str| format!("{count} {name}{}", if count == 1 { "" } else { "s" });
            let whole = counted(lines.len(), "line");
            let whole = match lines.get(wanted.lines.0 - 1).filter(|_| wanted.bytes.is_some()) {
                Some(line) => format!("{whole}, line {} has {}", wanted.lines.0, counted(line.len(), "byte")),
                None => whole,
            };
            return Err(Stop::Failed(format!("{} has {whole}, and none of those that were asked for", self.id)));
        }
        Ok(shown)
    }

    /// Returns the pieces to show: the wanted lines, or those of them that contain a text, with lines around them.
    fn pieces(&self, lines: &[&[u8]], wanted: &Wanted) -> Vec<Piece> {
        let find = self.find.unwrap_or_default().as_bytes();
        let (first, last) = (wanted.lines.0, wanted.lines.1.min(lines.len()));
        let part = |number: usize| {
            let len = lines[number - 1].len();
            wanted.bytes.map_or(0..len, |(from, to)| (from - 1).min(len)..to.min(len))
        };
        let places = |number: usize| {
            let part = part(number);
            let all = lines[number - 1][part.clone()].windows(find.len().max(1)).enumerate();
            all.filter(|(_, bytes)| *bytes == find).map(move |(at, _)| part.start + at)
        };
        let has = |number: &usize| find.is_empty() || places(*number).next().is_some();
        let context = self.context.min(MOST_LINES);
        let around = |number: usize| number.saturating_sub(context).max(1)..=(number + context).min(lines.len());
        // One more line than can be shown is enough to know that there are too many.
        let found: BTreeSet<usize> = (first..=last).filter(has).take(MOST_LINES + 1).collect();
        let numbers: BTreeSet<usize> = found.iter().copied().flat_map(around).collect();
        let mut pieces: Vec<Piece> = Vec::new();
        for number in numbers {
            let is_found = found.contains(&number);
            let sign = self.find.map(|_| if is_found { ':' } else { '-' });
            let is_part = wanted.bytes.is_some();
            if !is_found || find.is_empty() || part(number).len() <= LONG_LINE {
                let bytes = if is_found { part(number) } else { 0..lines[number - 1].len() };
                pieces.extend((!bytes.is_empty()).then_some(Piece { number, bytes, sign, is_part }));
                continue;
            }
            let beside = |at: usize| at.saturating_sub(BESIDE)..(at + find.len() + BESIDE).min(lines[number - 1].len());
            for bytes in places(number).take(MOST_BYTES).map(beside) {
                match pieces.last_mut().filter(|last| last.number == number && last.bytes.end >= bytes.start) {
                    Some(last) => last.bytes.end = bytes.end,
                    None => pieces.push(Piece { number, bytes, sign, is_part: true }),
                }
            }
        }
        pieces
    }
}

/// A line to show, or a part of it.
struct Piece {
    number: usize,
    bytes: Range<usize>,
    /// The sign after the number of a line that a search shows.
    sign: Option<char>,
    is_part: bool,
}

/// Returns pieces of lines as far as they fit. If there are too many, the last line names the first one that is missing.
fn page(lines: &[&[u8]], pieces: &[Piece]) -> Vec<u8> {
    let mut shown = Vec::new();
    for (count, Piece { number, bytes, sign, is_part }) in pieces.iter().enumerate() {
        let line = lines[number - 1];
        let (start, end) = (character(line, bytes.start), character(line, bytes.end));
        let next_line = || format!("[the next of {} lines: {number}-]\n", lines.len());
        let next_byte = |at: usize| {
            let next = format!("[the next of {} bytes of line {number}: {number}:{}-", line.len(), at + 1);
            let is_last = *number == lines.len();
            next + &if is_last {
                "]\n".to_owned()
            } else {
                format!("; the next of {} lines: {}-]\n", lines.len(), number + 1)
            }
        };
        if count == MOST_LINES || count > 0 && shown.len() + (end - start) > MOST_BYTES {
            let is_inside = *is_part && bytes.start > 0;
            shown.extend_from_slice(if is_inside { next_byte(start) } else { next_line() }.as_bytes());
            break;
        }
        let before = count.checked_sub(1).map(|before| pieces[before].number);
        if sign.is_some()
            && before.is_some_and(|before| *number > before + 1)
            && pieces.iter().any(|piece| piece.sign == Some('-'))
        {
            shown.extend_from_slice(b"--\n");
        }
        let most = character(line, end.min(start + MOST_BYTES));
        if let Some(sign) = sign {
            let part = if *is_part { format!(":{}-{most}", start + 1) } else { String::new() };
            shown.extend_from_slice(format!("{number}{part}{sign} ").as_bytes());
        }
        shown.extend_from_slice(&line[start..most]);
        if !shown.ends_with(b"\n") {
            shown.push(b'\n');
        }
        if most < end {
            shown.extend_from_slice(next_byte(most).as_bytes());
            break;
        }
    }
    shown
}

/// Returns the place, or, inside a character, the place of the character's first byte.
fn character(line: &[u8], at: usize) -> usize {
    let begins = |&at: &usize| line.get(at).is_none_or(|byte| byte & 0xC0 != 0x80);
    (at.saturating_sub(3)..=at).rev().find(begins).unwrap_or(at)
}

/// The lines that are asked for, or bytes of one line.
struct Wanted {
    lines: (usize, usize),
    bytes: Option<(usize, usize)>,
}

impl Wanted {
    /// Reads `12`, `12-80`, `12-`, `12:501-1400` or `12:501-`.
    fn read(text: &str) -> Result<Wanted, Stop> {
        let number = |text: &str| text.parse::<usize>().ok().filter(|&number| number > 0);
        let range = |text: &str| match text.split_once('-') {
            None => number(text).map(|line| (line, line)),
            Some((first, "")) => number(first).map(|first| (first, usize::MAX)),
            Some((first, last)) => number(first).zip(number(last)).filter(|(first, last)| first <= last),
        };
        let wanted = match text.split_once(':') {
            None => range(text).map(|lines| Wanted { lines, bytes: None }),
            Some((line, bytes)) => {
                number(line).zip(range(bytes)).map(|(line, bytes)| Wanted { lines: (line, line), bytes: Some(bytes) })
            }
        };
        let forms = "write lines as 12, 12-80 or 12-, and bytes of a line as 12:501-1400 or 12:501-";
        wanted.ok_or_else(|| Stop::Usage(format!("{text}: {forms}")))
    }
}
