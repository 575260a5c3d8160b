//! `aside squeeze`: makes the output of a command shorter, in a pipe or around the command.

mod signals;
mod source;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal, PipeReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::Arc;

use aside::compress::{
    Compressor, Input, MIN_BUDGET, MIN_BUDGET_TOKENS, Registry, Report, ToolStream, estimated_tokens,
};
use aside::store::{Entry, Store};
use clap::Args;

use crate::files::{Input as File, read_text};
use crate::output::{Output, say};
use crate::size;
use crate::stop::Stop;
use source::Source;

/// Makes what a command printed shorter, for a model to read
///
/// In a pipe: make 2>&1 | aside squeeze --command make. Around the command, whose exit status it returns: aside squeeze --
/// make.
#[derive(Args)]
#[command(override_usage = "aside squeeze [OPTIONS] [FILE]\n       aside squeeze [OPTIONS] -- COMMAND...")]
pub struct Arguments {
    /// The command's output; without FILE, or with -, standard input
    #[arg(conflicts_with = "program")]
    file: Option<PathBuf>,

    /// At most N bytes come out: 1024, 10k, 1m. Without it, only repeats and the like go
    #[arg(long, value_name = "N", value_parser = size::parse)]
    budget: Option<usize>,

    /// At most N tokens come out, by an estimate: 2500, 10k (thousands). Of two budgets, both hold
    #[arg(long, value_name = "N", value_parser = size::parse_count)]
    budget_tokens: Option<usize>,

    /// The command line that printed the text; after -- it is known
    #[arg(long, value_name = "LINE", conflicts_with = "program")]
    command: Option<String>,

    /// The exit code of that command
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "program")]
    exit_code: Option<i64>,

    /// A filter file of your own, in TOML; may be given several times
    #[arg(long = "filter", value_name = "FILE")]
    filters: Vec<PathBuf>,

    /// Bytes of output to hold; longer output is cut as it goes. In all it may take some times as much
    #[arg(long, value_name = "N", value_parser = size::parse, default_value = "64m")]
    memory: usize,

    /// Keeps the whole text in this folder, for a while. The result begins with its id, for `aside recall`
    #[arg(long, value_name = "FOLDER")]
    store: Option<PathBuf>,

    /// Says on standard error what was done
    #[arg(long)]
    report: bool,

    /// The command to run, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    program: Vec<OsString>,
}

/// Reads, feeds and writes, as every host does.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let mut registry = Registry::new();
    for file in &arguments.filters {
        registry.add_toml(&read_text(file)?).map_err(|error| Stop::Failed(format!("{}: {error}", file.display())))?;
    }
    let mut compressor = Compressor::new(&registry);
    let mut kept = arguments.store.as_deref().map(Kept::new).transpose()?;
    if kept.is_some() {
        compressor = compressor.number_lines();
    }
    if let Some(budget) = arguments.budget {
        let head = kept.as_ref().map_or(0, |kept| kept.head.len());
        if budget < MIN_BUDGET + head {
            // The result has a line more than that of a smaller budget, and is never over its own.
            let least = MIN_BUDGET + head;
            return Err(Stop::Usage(format!("a budget of {budget} bytes is too small: the least is {least}")));
        }
        compressor = compressor.budget(budget - head).map_err(|error| Stop::Usage(error.to_string()))?;
    }
    if let Some(budget) = arguments.budget_tokens {
        let head = kept.as_ref().map_or(0, |kept| estimated_tokens(kept.head.as_bytes()));
        if budget < MIN_BUDGET_TOKENS + head {
            let least = MIN_BUDGET_TOKENS + head;
            return Err(Stop::Usage(format!("a budget of {budget} tokens is too small: the least is {least}")));
        }
        compressor = compressor.budget_tokens(budget - head).map_err(|error| Stop::Usage(error.to_string()))?;
    }
    let line = arguments.command.clone().unwrap_or_else(|| written(&arguments.program));
    let mut call = serde_json::json!({ "command": line });
    if let Some(code) = arguments.exit_code {
        call["exit_code"] = code.into();
    }
    let input = Input::from_json(&call.to_string()).map_err(|error| Stop::Failed(error.to_string()))?;
    let mut stream = ToolStream::new(Arc::new(compressor), "terminal", input, arguments.memory)
        .map_err(|error| Stop::Usage(error.to_string()))?;

    let mut output = Output::new();
    let mut failed = None;
    let ended = source::read(
        || open(arguments),
        |chunk| {
            if let Some(kept) = &mut kept {
                kept.add(chunk, &mut failed);
            }
            stream.feed(chunk, |bytes| {
                before_first(&mut kept, &mut output, &mut failed);
                write(&mut output, bytes, &mut failed);
            });
            failed.is_none()
        },
    )?;
    let code = match (ended.status, ended.signal) {
        (Some(status), _) => Some(code_of(status)),
        (None, signal) => signal.map(of_signal),
    };
    // The code of a command is known last, and says how the end is read.
    if let Some(code) = code.filter(|_| !arguments.program.is_empty()) {
        stream.set_exit_code(code.into());
    }
    let mut rest = Vec::new();
    let report = stream.finish(|bytes| rest.extend_from_slice(bytes));
    if !report.filters.is_empty() && report.after < report.before {
        before_first(&mut kept, &mut output, &mut failed);
    }
    write(&mut output, &rest, &mut failed);
    if let Some(kept) = kept {
        kept.end(&mut failed);
    }
    if failed.is_none() {
        failed = output.finish().err();
    }
    if arguments.report {
        say(&summary(&report));
    } else if arguments.budget.is_none()
        && arguments.budget_tokens.is_none()
        && report.filters.is_empty()
        && io::stderr().is_terminal()
    {
        say(NOTHING_LEFT_OUT);
    }
    let code = ExitCode::from(code.unwrap_or(0));
    match failed {
        // The command's own status counts, even if nobody reads any more.
        Some(Stop::PipeClosed) if !arguments.program.is_empty() => Ok(code),
        Some(stop) => Err(stop),
        None => Ok(code),
    }
}

/// The message on a terminal if a text is unchanged and there is no budget.
const NOTHING_LEFT_OUT: &str =
    "aside squeeze: nothing was left out; --budget 10k leaves what says most, --command LINE says what printed it\n";

/// The whole text, which is stored while it is read.
struct Kept {
    entry: Entry,
    /// The line with the id, which the result begins with.
    head: String,
    is_said: bool,
}

impl Kept {
    fn new(folder: &Path) -> Result<Kept, Stop> {
        let entry = Store::open(folder).and_then(|store| store.begin());
        let entry = entry.map_err(|error| Stop::io(&folder.display().to_string(), &error))?;
        let folder = written(&[folder.as_os_str().to_owned()]);
        let head = format!("[The whole text: aside recall --store {folder} {} LINES]\n", entry.id());
        Ok(Kept { entry, head, is_said: false })
    }

    fn add(&mut self, bytes: &[u8], failed: &mut Option<Stop>) {
        if let Err(error) = self.entry.write_all(bytes) {
            failed.get_or_insert(Stop::io("the store", &error));
        }
    }

    /// Ends the text. If its id was never written, nobody can ask for it, and it is removed.
    fn end(self, failed: &mut Option<Stop>) {
        if !self.is_said {
            self.entry.discard();
        } else if let Err(error) = self.entry.finish() {
            failed.get_or_insert(Stop::io("the store", &error));
        }
    }
}

/// Writes the line with the id of the whole text, once.
fn before_first(kept: &mut Option<Kept>, output: &mut Output, failed: &mut Option<Stop>) {
    if let Some(kept) = kept.as_mut().filter(|kept| !kept.is_said) {
        kept.is_said = true;
        write(output, kept.head.as_bytes(), failed);
    }
}

fn write(output: &mut Output, bytes: &[u8], failed: &mut Option<Stop>) {
    if failed.is_none() {
        *failed = output.write(bytes).err();
    }
}

/// Opens the file, or a command's output with its errors in between, as in a terminal.
fn open(arguments: &Arguments) -> Result<Source, Stop> {
    let Some((name, args)) = arguments.program.split_first() else {
        let file = arguments.file.clone();
        return Ok(Source::Input(Box::new(move || open_file(file.as_deref()))));
    };
    let spawn = || -> io::Result<(PipeReader, Child)> {
        let (reader, writer) = io::pipe()?;
        // The command is dropped here with its ends of the pipe, so that reading sees the end.
        Ok((reader, Command::new(name).args(args).stdout(writer.try_clone()?).stderr(writer).spawn()?))
    };
    let (reader, child) = spawn().map_err(|error| {
        let code = if error.kind() == ErrorKind::NotFound { 127 } else { 126 };
        Stop::NotRun(format!("{}: {error}", name.display()), code)
    })?;
    Ok(Source::Command(reader, child, name.display().to_string()))
}

/// Opens a file. A name that is not a file's may be that of a command.
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

/// Returns the report in words.
fn summary(report: &Report) -> String {
    let mut text = format!("aside squeeze: {} → {} chars", report.before_units, report.after_units);
    if !report.filters.is_empty() {
        let _ = write!(text, ", by {}", report.filters.join(", "));
    }
    text.push('\n');
    for failed in &report.failed {
        let _ = writeln!(text, "aside squeeze: {} failed: {}", failed.filter, failed.reason);
    }
    if report.cut_protected {
        text.push_str("aside squeeze: text of a machine format was cut\n");
    }
    if report.unexplained {
        text.push_str("aside squeeze: it failed, and what is left says only that it passed\n");
    }
    text
}

/// Returns a command as one would write it in a shell.
fn written(program: &[OsString]) -> String {
    let word = |word: &OsString| {
        let word = word.to_string_lossy();
        let plain =
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=:+,@%".contains(&byte));
        if plain { word.into_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    program.iter().map(word).collect::<Vec<_>>().join(" ")
}
