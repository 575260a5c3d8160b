//! Splits what a language model writes into its channels, as it arrives: thinking, content, narration, tool calls.
//!
//!     cargo run --example split -- --dialect qwen3 examples/recordings/qwen3.txt
//!
//! The function `split` below shows how a host uses the scanner. The rest is options and display. `check` is for those who write
//! a dialect file.

mod calls;
mod check;
mod kinds;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use aside::call_writer::{self, CallWriter};
use aside::{Cause, Channel, Dialect, Event, Kind, Options, Scanner, Start, StrayClose};

const HELP: &str = "\
Splits what a language model writes into its channels, as it arrives.

Usage: split [OPTIONS] [FILE]        without FILE, or with -, standard input is read

  --dialect NAME       how the model marks its thinking (see --list). Without it: the dialect
                       that FILE is named after (qwen3.txt, qwen3-cut.txt), else inline-think;
                       standard error says which
  --dialect-file F     a dialect of your own, in TOML
  --model NAME         the dialect of this model: Qwen/Qwen3-32B, gpt-oss:20b, a file's path
  --template F         the dialect and the start that this chat template (Jinja) asks for
  --variables JSON     with --template: what it is rendered with, such as {\"enable_thinking\": true};
                       needs the feature `templates`
  --check F            run the examples of a dialect file, whole and cut everywhere, and say what differs
  --start WHAT         what is open at the first byte: content, thinking, narration, tool, header
  --stray-close WHAT   what becomes of a closer of the thinking without an opener, after content:
                       dialect (default), what the dialect says; text, it stays, for a model that
                       does not think
  --calls              tool calls one by one, each with its name and its arguments as JSON; with --events,
                       their names, keys and values as events. For dialects that say how calls are
                       written ([[span.call]])
  --chunk N            feed the scanner N bytes at a time: 7, 4k (the result is the same for every N)
  --only CHANNEL       the bytes of that channel and nothing else: content, thinking, narration, tool
  --events             one JSON object per event and line; bytes that are not UTF-8 come as text_hex
  --list               the dialects, what they start with and how many bytes they hold back at most
  -h, --help, -V, --version

Values are written --chunk 7 or --chunk=7. A terminal shows thinking dimmed; a pipe, or NO_COLOR, gets a line such as [thinking] before each
part. Counts follow on standard error, so that standard output holds the text alone.
";

const READ: usize = 64 * 1024;

fn main() -> ExitCode {
    let (message, code) = match run() {
        // Whoever reads our output has seen enough (`| head -1`).
        Ok(()) | Err(Stop::PipeClosed) => return ExitCode::SUCCESS,
        Err(Stop::Said) => return ExitCode::FAILURE,
        Err(Stop::Failed(message)) => (message, 1),
        Err(Stop::Usage(message)) => (format!("{message}\nTry `split --help`."), 2),
    };
    let _ = writeln!(io::stderr(), "split: {message}");
    ExitCode::from(code)
}

fn run() -> Result<(), Stop> {
    match parse(std::env::args_os().skip(1))? {
        Task::Print(text) => write_out(text.as_bytes()),
        Task::Check(path) => check_file(&path),
        Task::Split(settings) => split(settings),
    }
}

fn check_file(path: &OsStr) -> Result<(), Stop> {
    let name = path.to_string_lossy();
    let text = read_text(path)?;
    let (report, is_right) = check::check(&name, &text).map_err(Stop::Failed)?;
    write_out(report.as_bytes())?;
    if is_right { Ok(()) } else { Err(Stop::Said) }
}

/// Reads, feeds, shows: what every host does.
fn split(settings: Settings) -> Result<(), Stop> {
    let (mut input, name) = open(settings.file)?;
    let options = Options::new().start(settings.start).stray_close(settings.stray_close).calls(settings.calls);
    let mut scanner = Scanner::with_options(&settings.dialect, &options)
        .map_err(|error| Stop::Usage(format!("{}: {error}", settings.dialect.name())))?;
    if !settings.is_given {
        let name = settings.dialect.name();
        let _ = writeln!(io::stderr(), "split: no dialect was given: {name} is taken; --dialect NAME takes another");
    }
    let calls = settings.calls.then(|| CallWriter::new(call_writer::Options::default()));
    let mut view = View::new(settings.show, &settings.dialect, calls);
    let mut summary = Summary::default();

    // The buffer has room for whole feeds of N bytes, so that only the last one of a read can be shorter.
    let feed = settings.chunk.unwrap_or(READ);
    let mut buffer = vec![0; feed * (READ / feed).max(1)];
    loop {
        let arrived = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => &buffer[..n],
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(&name, &error)),
        };
        for chunk in arrived.chunks(feed) {
            let fed = scanner.feed(chunk, |event| {
                summary.add(&event);
                view.show(&event);
            });
            fed.map_err(|error| Stop::Failed(error.to_string()))?;
        }
        // Written at once, so that it is on the screen before we wait for more.
        write_out(&view.out)?;
        view.out.clear();
    }
    let finished = scanner.finish(|event| {
        summary.add(&event);
        view.show(&event);
    });
    finished.map_err(|error| Stop::Failed(error.to_string()))?;

    view.end();
    write_out(&view.out)?;
    if !matches!(view.how, Show::Only(_)) {
        let _ = io::stderr().write_all(summary.text(&scanner).as_bytes());
    }
    Ok(())
}

// ---- display ----

enum Show {
    Styled,
    Labelled,
    Events,
    Only(Channel),
}

/// Turns events into what is written. `out` is written and cleared after each read.
struct View<'a> {
    how: Show,
    dialect: &'a Dialect,
    out: Vec<u8>,
    /// The channel of the part that is being shown.
    part: Option<Channel>,
    /// What the markers of the next part say, such as a tool's name.
    attributes: String,
    line_start: bool,
    /// Makes calls of the events, if calls are shown.
    calls: Option<CallWriter>,
}

impl View<'_> {
    fn new(how: Show, dialect: &Dialect, calls: Option<CallWriter>) -> View<'_> {
        View { how, dialect, out: Vec::new(), part: None, attributes: String::new(), line_start: true, calls }
    }

    fn show(&mut self, event: &Event<'_>) {
        match self.how {
            Show::Styled | Show::Labelled => {
                self.show_call(event);
                self.show_part(event);
            }
            Show::Events => self.show_json(event),
            Show::Only(channel) => {
                if event.channel == channel && matches!(event.kind, Kind::Text) {
                    self.out.extend_from_slice(event.bytes);
                }
            }
        }
    }

    /// Shows what an event adds to a call: one part for each, with the name in its label.
    fn show_call(&mut self, event: &Event<'_>) {
        let Some(mut writer) = self.calls.take() else { return };
        let written = writer.event(self.dialect, event, |delta| {
            if let Some(name) = delta.name {
                self.attributes = format!(" call={name:?} id={:?}", delta.id.unwrap_or_default());
                self.begin(Channel::Tool);
            }
            self.text(Channel::Tool, delta.arguments.as_bytes());
            if let Some(end) = delta.end.filter(|end| !end.is_whole) {
                self.text(Channel::Tool, format!(" [{}]", end.cause.as_str()).as_bytes());
            }
            if delta.end.is_some() {
                self.part = None;
            }
        });
        // Without memory for what is held, the calls to come are not shown.
        self.calls = written.is_ok().then_some(writer);
    }

    fn show_part(&mut self, event: &Event<'_>) {
        match &event.kind {
            // A wrapper around content, such as a box, belongs to the part that it stands in.
            Kind::Open { .. } if event.channel == Channel::Content => {}
            Kind::Open { .. } => self.part = None,
            Kind::Attribute(attribute) => {
                self.part = None;
                let (name, value) = (String::from_utf8_lossy(attribute.name), String::from_utf8_lossy(attribute.value));
                self.attributes += &format!(" {name}={value:?}");
            }
            Kind::Text => {
                if self.part != Some(event.channel) {
                    self.begin(event.channel);
                }
                self.text(event.channel, event.bytes);
            }
            // A span without text is still worth a line if its marker says something.
            Kind::Close(_) if !self.attributes.is_empty() => self.begin(event.channel),
            Kind::Reclassify => {
                self.begin(Channel::Content);
                self.text(Channel::Content, b"[all content above was thinking]\n");
                self.part = None;
            }
            _ => {}
        }
    }

    /// Starts a part on a line of its own, below its label.
    fn begin(&mut self, channel: Channel) {
        self.end();
        if matches!(self.how, Show::Labelled) || !self.attributes.is_empty() {
            let label = format!("[{}{}]\n", channel.as_str(), self.attributes);
            self.text(channel, label.as_bytes());
        }
        self.attributes.clear();
        self.part = Some(channel);
    }

    fn text(&mut self, channel: Channel, bytes: &[u8]) {
        let style = match channel {
            _ if !matches!(self.how, Show::Styled) => "",
            Channel::Content => "",
            Channel::Thinking => "\x1b[2m",
            Channel::Narration => "\x1b[3m",
            Channel::Tool => "\x1b[36m",
        };
        // Switched off after each piece: whoever interrupts us keeps a clean terminal.
        let plain = if style.is_empty() { "" } else { "\x1b[0m" };
        self.out.extend_from_slice(&[style.as_bytes(), bytes, plain.as_bytes()].concat());
        self.line_start = bytes.ends_with(b"\n");
    }

    /// Ends the line that a part stopped in.
    fn end(&mut self) {
        if !self.line_start {
            self.out.push(b'\n');
            self.line_start = true;
        }
    }

    fn show_json(&mut self, event: &Event<'_>) {
        let (kind, more) = match &event.kind {
            Kind::Open { rule, tag } => {
                let family = self.dialect.family(*rule).unwrap_or_default();
                let opener = self.dialect.opener(*rule, *tag).unwrap_or_default();
                let words = json("family", family.as_bytes()) + &json("opener", opener.as_bytes());
                ("open", format!(r#","rule":{rule},"tag":{tag}{words}"#))
            }
            Kind::Attribute(a) => ("attribute", json("name", a.name) + &json("value", a.value)),
            Kind::Text => ("text", String::new()),
            Kind::Framing => ("framing", String::new()),
            Kind::Close(cause) => ("close", format!(r#","cause":"{}""#, cause.as_str())),
            Kind::Reclassify => ("reclassify", String::new()),
            Kind::Budget => ("budget", String::new()),
            Kind::Call { rule, table, index } => ("call", format!(r#","index":{index},"rule":{rule},"table":{table}"#)),
            Kind::CallName(name) => ("call_name", name.map_or(String::new(), |name| json("name", name))),
            Kind::CallId => ("call_id", String::new()),
            Kind::CallKey => ("call_key", String::new()),
            Kind::CallType => ("call_type", String::new()),
            Kind::CallValue => ("call_value", String::new()),
            Kind::CallValueEnd => ("call_value_end", String::new()),
            Kind::CallEnd { index, cause } => ("call_end", format!(r#","index":{index},"cause":"{}""#, cause.as_str())),
            _ => ("other", String::new()),
        };
        let (offset, channel, length) = (event.offset, event.channel.as_str(), event.bytes.len());
        let text = if kind == "attribute" { String::new() } else { json("text", event.bytes) };
        let line =
            format!(r#"{{"offset":{offset},"length":{length},"event":"{kind}","channel":"{channel}"{more}{text}}}"#);
        self.out.extend_from_slice(line.as_bytes());
        self.out.push(b'\n');
    }
}

/// A field of a JSON object; bytes that JSON cannot say are written in hexadecimal.
fn json(key: &str, bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => format!(r#","{key}":{}"#, serde_json::Value::from(text)),
        Err(_) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!(r#","{key}_hex":"{hex}""#)
        }
    }
}

/// What the summary says besides the scanner's own counts.
#[derive(Default)]
struct Summary {
    markers: u64,
    last: Option<(Channel, Cause)>,
}

impl Summary {
    fn add(&mut self, event: &Event<'_>) {
        if event.kind != Kind::Text {
            self.markers += event.bytes.len() as u64;
        }
        if let Kind::Close(cause) = event.kind {
            self.last = Some((event.channel, cause));
        }
    }

    fn text(&self, scanner: &Scanner) -> String {
        let total = self.markers + Channel::ALL.iter().map(|channel| scanner.counts(*channel).bytes).sum::<u64>();
        let dialect = scanner.dialect().name();
        let mut text = format!("-- {dialect}, {total} bytes:\n             spans    bytes  characters\n");
        for channel in [Channel::Thinking, Channel::Content, Channel::Narration, Channel::Tool] {
            let counts = scanner.counts(channel);
            if counts.spans + counts.bytes > 0 {
                let (spans, bytes, characters) = (counts.spans, counts.bytes, counts.characters);
                text += &format!("   {:9}{spans:>6}{bytes:>9}{characters:>12}\n", channel.as_str());
            }
        }
        text += &format!("   markers        {:>9}\n", self.markers);
        text += &match self.last {
            None => "   no span\n".to_owned(),
            Some((channel, cause)) => {
                let how = match cause {
                    Cause::Marker => "ended by its marker",
                    Cause::Implied => "ended by what follows it",
                    Cause::EndOfStream => "cut off by the end of the stream",
                    Cause::Forced => "closed by the host",
                    Cause::Malformed => "broken off",
                    other => other.as_str(),
                };
                format!("   last span: {}, {how}\n", channel.as_str())
            }
        };
        text
    }
}

// ---- options, files, errors ----

enum Task {
    Print(String),
    Check(OsString),
    Split(Settings),
}

struct Settings {
    dialect: Dialect,
    /// The dialect was asked for, and not guessed.
    is_given: bool,
    start: Option<Start>,
    stray_close: StrayClose,
    calls: bool,
    chunk: Option<usize>,
    show: Show,
    file: Option<OsString>,
}

fn parse(mut args: impl Iterator<Item = OsString>) -> Result<Task, Stop> {
    let usage = |message: String| Err(Stop::Usage(message));
    let (mut source, mut file) = (None, None::<OsString>);
    let mut variables = String::new();
    let mut stray_close = StrayClose::Dialect;
    let (mut start, mut chunk, mut only, mut events, mut calls) = (None, None, None, false, false);
    let mut options_over = false;
    let mut alone = true;
    while let Some(arg) = args.next() {
        let Some(option) = arg.to_str().filter(|text| !options_over && text.starts_with('-') && text.len() > 1) else {
            if file.replace(arg).is_some() {
                return usage("one FILE at a time".to_owned());
            }
            alone = false;
            continue;
        };
        let (option, joined) = match option.split_once('=') {
            Some((option, value)) => (option, Some(OsString::from(value))),
            None => (option, None),
        };
        let takes_value = [
            "--dialect",
            "--dialect-file",
            "--model",
            "--template",
            "--variables",
            "--check",
            "--start",
            "--stray-close",
            "--chunk",
            "--only",
        ]
        .contains(&option);
        if !takes_value && joined.is_some() {
            return usage(format!("{option} takes no value"));
        }
        let value = if takes_value { joined.or_else(|| args.next()) } else { Some(OsString::new()) };
        let Some(value) = value else { return usage(format!("{option} needs a value")) };
        let text = value.to_string_lossy();
        match option {
            "--" => options_over = true,
            "-h" | "--help" => return Ok(Task::Print(HELP.to_owned())),
            "-V" | "--version" => return Ok(Task::Print(format!("split (aside {})\n", env!("CARGO_PKG_VERSION")))),
            "--list" => return Ok(Task::Print(list())),
            "--events" => events = true,
            "--calls" => calls = true,
            "--dialect" | "--dialect-file" | "--model" | "--template" => {
                if source.is_some() {
                    return usage("--dialect, --dialect-file, --model and --template exclude each other".to_owned());
                }
                source = Some((option.to_owned(), value));
            }
            "--variables" => variables = text.into_owned(),
            "--check" if alone && args.next().is_none() => return Ok(Task::Check(value)),
            "--check" => return usage("--check FILE goes alone".to_owned()),
            "--start" => match text.parse::<Start>() {
                Ok(found) => start = Some(found),
                Err(unknown) => return usage(format!("--start: {unknown}")),
            },
            "--stray-close" => match &*text {
                "dialect" => stray_close = StrayClose::Dialect,
                "text" => stray_close = StrayClose::Text,
                _ => return usage(format!("--stray-close: `{text}` is neither dialect nor text")),
            },
            "--chunk" => match size(&text) {
                Some(n @ 1..=READ) => chunk = Some(n),
                _ => return usage(format!("--chunk: `{text}` is not a number from 1 to {READ}")),
            },
            "--only" => match Channel::ALL.into_iter().find(|channel| channel.as_str() == text) {
                None => return usage(format!("--only: `{text}` is none of content, thinking, narration, tool")),
                found => only = found,
            },
            _ => return usage(format!("unknown option `{option}`")),
        }
        alone = false;
    }
    if file.is_none() && io::stdin().is_terminal() {
        return usage("no FILE (with - you can type the text)".to_owned());
    }
    if only.is_some() && calls {
        return usage("--only and --calls exclude each other".to_owned());
    }
    let show = match (only, events) {
        (Some(_), true) => return usage("--only and --events exclude each other".to_owned()),
        (Some(channel), false) => Show::Only(channel),
        (None, true) => Show::Events,
        (None, false) if colours() => Show::Styled,
        (None, false) => Show::Labelled,
    };
    let is_given = source.is_some();
    let is_template = source.as_ref().is_some_and(|(option, _)| option == "--template");
    if !variables.is_empty() && !is_template {
        return usage("--variables goes with --template".to_owned());
    }
    let (dialect, begins) = choose(source, &variables, file.as_deref())?;
    let start = start.or(begins);
    Ok(Task::Split(Settings { dialect, is_given, start, stray_close, calls, chunk, show, file }))
}

/// The dialect that was asked for, and the start that a template says.
fn choose(
    source: Option<(String, OsString)>,
    variables: &str,
    input: Option<&OsStr>,
) -> Result<(Dialect, Option<Start>), Stop> {
    let Some((option, value)) = source else {
        return Ok((named_after(input), None));
    };
    let name = value.to_string_lossy();
    let read = || read_text(&value);
    let dialect = match option.as_str() {
        "--dialect" => Dialect::find(&name).map_err(|unknown| Stop::Usage(unknown.to_string()))?,
        "--model" => Dialect::find_for_model(&name).map_err(|unknown| Stop::Usage(unknown.to_string()))?,
        "--template" => {
            let found = find_for_template(&read()?, variables);
            let (dialect, start) = found.map_err(|message| Stop::Failed(format!("{name}: {message}")))?;
            return Ok((dialect, Some(start)));
        }
        _ => Dialect::from_toml(&read()?).map_err(|error| Stop::Failed(format!("{name}: {error}")))?,
    };
    Ok((dialect, None))
}

#[cfg(feature = "templates")]
fn find_for_template(template: &str, variables: &str) -> Result<(Dialect, Start), String> {
    Dialect::find_for_template_with(template, variables).map_err(|unknown| unknown.to_string())
}

#[cfg(not(feature = "templates"))]
fn find_for_template(template: &str, variables: &str) -> Result<(Dialect, Start), String> {
    if !variables.is_empty() {
        return Err("this program renders no templates: build it with --features templates".to_owned());
    }
    Dialect::find_for_template(template).map_err(|unknown| unknown.to_string())
}

/// The dialect that a recording is named after, else the plainest one.
fn named_after(input: Option<&OsStr>) -> Dialect {
    let mut stem = input.and_then(|path| Path::new(path).file_stem()?.to_str()).unwrap_or_default();
    loop {
        if let Ok(dialect) = Dialect::find(stem) {
            return dialect;
        }
        let shorter = stem.rsplit_once('-').map(|(shorter, _)| shorter);
        stem = shorter.unwrap_or("inline-think");
    }
}

fn list() -> String {
    let mut text = format!("{:18}{:12}{:>8}  {}\n", "dialect", "start", "holds", "aliases");
    for dialect in Dialect::names().filter_map(|name| Dialect::find(name).ok()) {
        let (name, start, holds) = (dialect.name(), dialect.start().as_str(), dialect.max_hold());
        let line = format!("{name:18}{start:12}{holds:>8}  {}", dialect.aliases().join(" "));
        text += &format!("{}\n", line.trim_end());
    }
    text
}

/// A number of bytes: 512, 4k (4,096), 1M.
fn size(text: &str) -> Option<usize> {
    let (digits, unit) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 1 << 10),
        (at, 'm' | 'M') => (&text[..at], 1 << 20),
        _ => (text, 1),
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

fn colours() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stdout().is_terminal() && !set("NO_COLOR") && !dumb
}

fn open(file: Option<OsString>) -> Result<(Box<dyn Read>, String), Stop> {
    match file.filter(|file| file != "-") {
        None => Ok((Box::new(io::stdin().lock()), "standard input".to_owned())),
        Some(path) => {
            let name = path.to_string_lossy().into_owned();
            match File::open(&path) {
                Ok(file) => Ok((Box::new(file), name)),
                Err(error) => Err(failed(&name, &error)),
            }
        }
    }
}

/// The text of a TOML file or a template, which is UTF-8.
fn read_text(path: &OsStr) -> Result<String, Stop> {
    let name = path.to_string_lossy();
    let bytes = fs::read(path).map_err(|error| failed(&name, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|&&byte| byte == b'\n').count();
        Stop::Failed(format!("{name}: line {line}: not UTF-8"))
    })
}

/// `println!` would panic where the reader has gone.
fn write_out(bytes: &[u8]) -> Result<(), Stop> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Stop::PipeClosed,
        _ => failed("standard output", &error),
    })
}

/// Why the program ends before its input does.
enum Stop {
    PipeClosed,
    /// All has been said on standard output.
    Said,
    Failed(String),
    Usage(String),
}

fn failed(what: &str, error: &io::Error) -> Stop {
    let text = error.to_string();
    // As other tools say it: without ` (os error 2)`.
    let reason = text.split(" (os error").next().unwrap_or_default();
    Stop::Failed(format!("{what}: {reason}"))
}
