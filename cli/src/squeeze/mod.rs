//! `aside squeeze`: makes the output of a command shorter, in a pipe or around the command.

mod signals;
mod source;

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind, IsTerminal, PipeReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use aside::compress::{
    Compressor, Input, MIN_BUDGET, MIN_BUDGET_TOKENS, Registry, Report, ToolStream, estimated_tokens,
};
use aside::store::Entry;
use clap::Args;

use crate::files::{Input as File, read_text, wrong_kind};
use crate::output::{Output, note, say_raw};
use crate::size;
use crate::state::Bounds;
use crate::stop::{Stop, reason};
use crate::words::written;
use source::Source;

/// Shortens the output of a command, before a model reads it
///
/// In a pipe: make 2>&1 | aside squeeze --command make. To run the command and return its exit status: aside squeeze -- make.
#[derive(Args)]
#[command(override_usage = "aside squeeze [OPTIONS] [FILE]\n       aside squeeze [OPTIONS] -- COMMAND...")]
pub struct Arguments {
    /// The command's output; without FILE, or with -, standard input
    #[arg(conflicts_with = "program")]
    file: Option<PathBuf>,

    /// The maximum number of bytes of the result: 1024, 10k, 1m. Without a budget, only repeats and the like are left out
    #[arg(long, value_name = "N", value_parser = size::parse)]
    budget: Option<usize>,

    /// The maximum number of tokens of the result, by an estimate: 2500, 10k (thousands). With --budget, the result keeps within both
    #[arg(long, value_name = "N", value_parser = size::parse_count)]
    budget_tokens: Option<usize>,

    /// The command line that printed the text; not needed if the command is given after --
    #[arg(long, value_name = "LINE", conflicts_with = "program")]
    command: Option<String>,

    /// The exit code of the command that printed the text
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "program")]
    exit_code: Option<i64>,

    /// A filter file of your own, in TOML; may be given several times
    #[arg(long = "filter", value_name = "FILE")]
    filters: Vec<PathBuf>,

    /// The maximum number of bytes of output that are held, at least four times the budget; longer output is shortened while it
    /// arrives. The program may use several times this much memory
    #[arg(long, value_name = "N", value_parser = size::parse, default_value = "64m")]
    memory: usize,

    /// Keeps the whole text for a while in this folder, or in the user's state folder. The result then begins with the text's id,
    /// for `aside recall`
    #[arg(long, value_name = "FOLDER")]
    store: Option<Option<PathBuf>>,

    #[command(flatten)]
    bounds: Bounds,

    /// Reports on standard error the sizes before and after, and the filters that were used
    #[arg(long)]
    report: bool,

    /// The command to run, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    program: Vec<OsString>,
}

/// Runs the subcommand: reads the output, feeds it to a stream of the library, and writes the result.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let mut registry = Registry::new();
    for file in &arguments.filters {
        let text = read_text(file)?;
        registry.add_toml(&text).map_err(|error| wrong_kind(file, &text, error))?;
    }
    let mut compressor = Compressor::new(&registry);
    let (mut least, mut least_tokens) = (MIN_BUDGET, MIN_BUDGET_TOKENS);
    if let Some(folder) = &arguments.store {
        compressor = compressor.number_lines();
        (least, least_tokens) = least_with_store(folder.as_deref());
    }
    // The line with the id counts too, so that the whole result is within the budget.
    let too_small = |budget: usize, unit: &str, least: usize| {
        Stop::Usage(format!("a budget of {budget} {unit} is too small: the least is {least}"))
    };
    if let Some(budget) = arguments.budget {
        let rest = budget.checked_sub(least - MIN_BUDGET).filter(|_| budget >= least);
        let rest = rest.ok_or_else(|| too_small(budget, "bytes", least))?;
        compressor = compressor.budget(rest).map_err(|error| Stop::Usage(error.to_string()))?;
    }
    if let Some(budget) = arguments.budget_tokens {
        let rest = budget.checked_sub(least_tokens - MIN_BUDGET_TOKENS).filter(|_| budget >= least_tokens);
        let rest = rest.ok_or_else(|| too_small(budget, "tokens", least_tokens))?;
        compressor = compressor.budget_tokens(rest).map_err(|error| Stop::Usage(error.to_string()))?;
    }
    let line = arguments.command.clone().unwrap_or_else(|| written(&arguments.program));
    let mut call = serde_json::json!({ "command": line });
    if let Some(code) = arguments.exit_code {
        call["exit_code"] = code.into();
    }
    let input = Input::from_json(&call.to_string()).map_err(|error| Stop::Failed(error.to_string()))?;
    let budgets = [arguments.budget, arguments.budget_tokens.map(|tokens| tokens.saturating_mul(6))];
    let memory = budgets.into_iter().flatten().min().map_or(0, |budget| budget.saturating_mul(4)).max(arguments.memory);
    let mut stream = ToolStream::new(Arc::new(compressor), "terminal", input, memory)
        .map_err(|error| Stop::Usage(error.to_string()))?;

    let mut kept = arguments.store.as_ref().map(|folder| Kept::new(folder.as_deref(), &arguments.bounds));
    let mut output = Output::new();
    let mut progress = Progress::new(arguments);
    let mut failed = None;
    let ended = source::read(
        || open(arguments),
        |chunk| {
            progress.add(chunk.len());
            if let Some(kept) = &mut kept {
                kept.add(chunk);
            }
            stream.feed(chunk, |bytes| {
                if let Some(head) = kept.as_mut().and_then(Kept::head) {
                    write(&mut output, head.as_bytes(), &mut failed);
                }
                write(&mut output, bytes, &mut failed);
            });
            failed.is_none()
        },
    )?;
    let code = match (ended.status, ended.signal) {
        (Some(status), _) => Some(code_of(status)),
        (None, signal) => signal.map(of_signal),
    };
    progress.end();
    // The exit code is known only now, and decides how the end of the output is interpreted.
    if let Some(code) = code.filter(|_| !arguments.program.is_empty()) {
        stream.set_exit_code(code.into());
    }
    let mut rest = Vec::new();
    let report = stream.finish(|bytes| rest.extend_from_slice(bytes));
    let is_shorter = !report.filters.is_empty() && report.after < report.before;
    if let Some(head) = kept.and_then(|kept| kept.end(is_shorter)) {
        write(&mut output, head.as_bytes(), &mut failed);
    }
    write(&mut output, &rest, &mut failed);
    if failed.is_none() {
        failed = output.finish().err();
    }
    if arguments.report {
        summary(&report);
    } else if arguments.budget.is_none()
        && arguments.budget_tokens.is_none()
        && report.filters.is_empty()
        && io::stderr().is_terminal()
    {
        note(NOTHING_LEFT_OUT);
    }
    let code = ExitCode::from(code.unwrap_or(0));
    match failed {
        // The status of the command is returned, even if the reader of the output has closed it.
        Some(Stop::PipeClosed) if !arguments.program.is_empty() => Ok(code),
        Some(stop) => Err(stop),
        None => Ok(code),
    }
}

/// The message on a terminal if the text stayed unchanged and there is no budget.
const NOTHING_LEFT_OUT: &str =
    "nothing was left out; --budget 10k leaves what says most, --command LINE says what printed it";

/// The whole text, which is stored while it is read. If storing fails, a message reports it and the entry is dropped: the output
/// and the exit status do not depend on the store.
struct Kept {
    entry: Option<Entry>,
    /// The line with the id, with which the result begins if there is an entry.
    head: String,
    is_said: bool,
}

impl Kept {
    fn new(folder: Option<&Path>, bounds: &Bounds) -> Kept {
        // If a file of the store would exceed the system's limit, writing must return an error and not end the program.
        signals::catch_too_large();
        let entry = bounds.open(folder).and_then(|store| store.begin()).inspect_err(not_kept).ok();
        let head = entry.as_ref().map(|entry| head(folder, entry.id())).unwrap_or_default();
        Kept { entry, head, is_said: false }
    }

    fn add(&mut self, bytes: &[u8]) {
        let written = self.entry.as_mut().map_or(Ok(()), |entry| entry.write_all(bytes));
        if let Err(error) = written {
            not_kept(&error);
            if let Some(entry) = self.entry.take() {
                entry.discard();
            }
        }
    }

    /// Returns the line with the id in the first call, and nothing after that.
    fn head(&mut self) -> Option<&str> {
        let is_first = self.entry.is_some() && !std::mem::replace(&mut self.is_said, true);
        is_first.then_some(&self.head)
    }

    /// Ends the text, and returns the line with the id if it must still be written. If the result is not shorter and the id was
    /// not written, nobody can ask for the text, so it is removed.
    fn end(mut self, is_shorter: bool) -> Option<String> {
        let entry = self.entry.take()?;
        if !self.is_said && !is_shorter {
            entry.discard();
            return None;
        }
        entry.finish().inspect_err(not_kept).ok().filter(|_| !self.is_said).map(|_| std::mem::take(&mut self.head))
    }
}

/// Removes the text if the run ends before the text does.
impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(entry) = self.entry.take() {
            entry.discard();
        }
    }
}

/// Returns the smallest budgets, in bytes and in tokens, for a result whose first line names the stored text.
pub fn least_with_store(folder: Option<&Path>) -> (usize, usize) {
    // All ids are of this length.
    let head = head(folder, "000000000000");
    (MIN_BUDGET + head.len(), MIN_BUDGET_TOKENS + estimated_tokens(head.as_bytes()))
}

fn head(folder: Option<&Path>, id: &str) -> String {
    let store = folder.map(|folder| format!("--store {} ", written(&[folder.as_os_str().to_owned()])));
    format!("[The whole text: aside recall {}{id} LINES]\n", store.unwrap_or_default())
}

/// A line on a terminal that shows, four times a second, how much of a file has been read.
struct Progress {
    /// The length of the file, or `None` if nothing is shown.
    length: Option<u64>,
    read: u64,
    last: Instant,
    is_shown: bool,
}

impl Progress {
    fn new(arguments: &Arguments) -> Progress {
        let data =
            arguments.file.as_deref().filter(|_| io::stderr().is_terminal()).and_then(|file| fs::metadata(file).ok());
        let length = data.filter(Metadata::is_file).map(|data| data.len());
        Progress { length, read: 0, last: Instant::now(), is_shown: false }
    }

    fn add(&mut self, bytes: usize) {
        self.read += bytes as u64;
        if let Some(length) = self.length.filter(|_| self.last.elapsed() >= Duration::from_millis(250)) {
            let million = |bytes: u64| bytes.div_ceil(1_000_000);
            say_raw(&format!("\raside squeeze: {} of {} MB", million(self.read), million(length)));
            (self.last, self.is_shown) = (Instant::now(), true);
        }
    }

    fn end(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            say_raw("\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

fn not_kept(error: &io::Error) {
    note(&format!("the whole text is not kept: the store: {}", reason(error)));
}

fn write(output: &mut Output, bytes: &[u8], failed: &mut Option<Stop>) {
    if failed.is_none() {
        *failed = output.write(bytes).err();
    }
}

/// Opens the file, or starts the command, whose standard output and standard error are one stream, as on a terminal.
fn open(arguments: &Arguments) -> Result<Source, Stop> {
    let Some((name, args)) = arguments.program.split_first() else {
        let file = arguments.file.clone();
        return Ok(Source::Input(Box::new(move || open_file(file.as_deref()))));
    };
    let spawn = || -> io::Result<(PipeReader, Child)> {
        let (reader, writer) = io::pipe()?;
        // `Command` is dropped here with its ends of the pipe, so that the pipe ends when the child process closes it.
        Ok((reader, Command::new(name).args(args).stdout(writer.try_clone()?).stderr(writer).spawn()?))
    };
    let (reader, child) = spawn().map_err(|error| {
        let code = if error.kind() == ErrorKind::NotFound { 127 } else { 126 };
        Stop::NotRun(format!("{}: {}", name.display(), reason(&error)), code)
    })?;
    Ok(Source::Command(reader, child, name.display().to_string()))
}

/// Opens a file. If there is no such file, the error mentions that the name may be meant as a command.
fn open_file(file: Option<&Path>) -> Result<File, Stop> {
    let name =
        file.and_then(Path::to_str).filter(|name| *name != "-" && !name.contains('/') && !Path::new(name).exists());
    match name {
        Some(name) => {
            Err(Stop::Failed(format!("{name}: there is no such file. To run a command: aside squeeze -- {name}")))
        }
        None => File::open(file),
    }
}

/// Returns the exit code of a command that has ended.
#[cfg(unix)]
fn code_of(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    status.code().map(|code| code as u8).or_else(|| status.signal().map(of_signal)).unwrap_or(1)
}

#[cfg(not(unix))]
fn code_of(status: ExitStatus) -> u8 {
    status.code().unwrap_or(1) as u8
}

/// Returns the exit code after a signal, as shells report it.
fn of_signal(signal: i32) -> u8 {
    (128 + signal) as u8
}

/// Prints the report on standard error.
fn summary(report: &Report) {
    let by = if report.filters.is_empty() { String::new() } else { format!(", by {}", report.filters.join(", ")) };
    note(&format!("{} → {} bytes{by}", report.before, report.after));
    for failed in &report.failed {
        note(&format!("{} failed: {}", failed.filter, failed.reason));
    }
    if report.cut_protected {
        note("text of a machine format was cut");
    }
    if report.unexplained {
        note("it failed, and what is left says only that it passed");
    }
}
