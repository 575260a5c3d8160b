//! `aside resplit`: the rewriter of event streams as a filter. It is an example for hosts that rewrite answers.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use aside::answer::{ImpliedEnd, NotWhole, Thinking, Tools, UnknownTool};
use aside::sse::{Comments, Field, Formats, Options, ResponsesAs, Rewriter, Shapes, Stats};
use clap::{Args, ValueEnum};

use crate::choose;
use crate::files::{Input, READ, read_text};
use crate::names::words;
use crate::output::{Output, note, say};
use crate::stop::Stop;

/// Splits a server's answer: an event stream, lines of JSON, or one JSON body
///
/// The thinking moves from `content` to a separate field, and with --calls tool calls to `tool_calls`, or to the places that other
/// formats have for them. Without a dialect, the markers of all families are looked for (the dialect any).
#[derive(Args)]
pub struct Arguments {
    /// The answer; without FILE, or with -, standard input
    file: Option<PathBuf>,

    #[command(flatten)]
    dialect: choose::Source,

    /// The field for the thinking
    #[arg(long, value_name = "NAME", value_parser = words::<Field>(), default_value = "reasoning_content")]
    field: Field,

    /// Makes `tool_calls` from the calls in the text, if the dialect says how calls are written
    #[arg(long)]
    calls: bool,

    /// The `tools` of the request, a JSON array: calls of other tools stay content. Without it, every call becomes `tool_calls`
    #[arg(long, value_name = "FILE", requires = "calls")]
    tools: Option<PathBuf>,

    /// The formats of answers that are split, with commas between them
    #[arg(long, value_name = "LIST", value_parser = words::<Formats>(), value_delimiter = ',', default_value = "all")]
    formats: Vec<Formats>,

    /// The form of the thinking in responses
    #[arg(long, value_name = "WHAT", value_parser = words::<ResponsesAs>(), default_value = "reasoning_text")]
    responses_as: ResponsesAs,

    /// Mends faults in a stream of events that make clients fail
    #[arg(long)]
    repair: bool,

    /// Sends the thinking again as content if an answer has neither content nor a call
    #[arg(long)]
    promote_empty: bool,

    /// Leaves guessed thinking unchanged; without this option, guessed thinking in which the answer ends by itself is content
    #[arg(long)]
    keep_guessed: bool,

    /// The part of a call that is sent before the call is whole: its arguments as they arrive, or nothing; with text, only a call
    /// that is too long to be held
    #[arg(long, value_name = "WHAT", value_parser = words::<NotWhole>(), default_value = "tell", requires = "calls")]
    not_whole: NotWhole,

    /// The treatment of calls of tools that are not in --tools
    #[arg(long, value_name = "WHAT", value_parser = words::<UnknownTool>(), default_value = "text", requires = "calls")]
    unknown_tool: UnknownTool,

    /// The maximum number of calls of a choice that become `tool_calls`; later ones stay content
    #[arg(long, value_name = "COUNT", requires = "calls")]
    max_calls: Option<u64>,

    /// Treats a call that the end of the answer cuts between two values as incomplete
    #[arg(long, requires = "calls")]
    no_implied_end: bool,

    /// Mends arguments of calls that can mean only one thing
    #[arg(long, requires = "calls")]
    repair_arguments: bool,

    /// The name of a tool: each text, without its thinking, is the arguments of a call of that tool, because a grammar for a
    /// named tool makes the model write nothing else
    #[arg(long, value_name = "NAME", requires = "calls")]
    start_call: Option<String>,

    /// Writes one chunk for each chunk of the server, the thinking before the content
    #[arg(long)]
    merge: bool,

    /// The differences between servers' answers that are removed, with commas between them; without LIST, all. field: the server's
    /// thinking is sent in the field of --field. lists: content that is a list becomes a string, and its thinking is sent in the
    /// field. chunks: a chunk with thinking and content becomes two. content: content after thinking that the server has split is
    /// split, too
    #[arg(long, value_name = "LIST", value_parser = words::<Shapes>(), value_delimiter = ',', num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    normalise: Vec<Shapes>,

    /// Whether the thinking is sent
    #[arg(long, value_name = "WHAT", value_parser = words::<Thinking>(), default_value = "keep")]
    thinking: Thinking,

    /// Labels the thinking blocks and reasoning items that are made, so that `aside history` recognises them
    #[arg(long)]
    label: bool,

    /// The treatment of comments in a stream of events, for clients that fail on them; with chunk, each comment becomes an event
    /// without text
    #[arg(long, value_name = "WHAT", value_parser = words::<Comments>(), default_value = "keep")]
    comments: Comments,

    /// Writes the counts to standard error at the end: as lines, or as a JSON object
    #[arg(long, value_name = "FORM", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "lines")]
    stats: Option<Form>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    Lines,
    Json,
}

impl Arguments {
    fn options(&self) -> Result<Options, Stop> {
        let formats = self.formats.iter().copied().reduce(|all, format| all | format);
        let tools = self.tools.as_deref().map(read_tools).transpose()?;
        Ok(Options::new()
            .field(self.field)
            .responses_as(self.responses_as)
            .formats(formats.unwrap_or_default())
            .calls(self.calls)
            .tools(tools)
            .not_whole(self.not_whole)
            .unknown_tool(self.unknown_tool)
            .max_calls(self.max_calls)
            .implied_end(if self.no_implied_end { ImpliedEnd::Off } else { ImpliedEnd::On })
            .repair_arguments(self.repair_arguments)
            .start_call(self.start_call.as_deref())
            .repair(self.repair)
            .promote_empty(self.promote_empty)
            .keep_guessed(self.keep_guessed)
            .merge(self.merge)
            .label(self.label)
            .comments(self.comments)
            .normalise(self.normalise.iter().fold(Shapes::NONE, |all, &shape| all | shape))
            .thinking(self.thinking))
    }
}

fn read_tools(file: &Path) -> Result<Arc<Tools>, Stop> {
    // The length of the list is not limited, because the user has chosen the file.
    Tools::read_up_to(&read_text(file)?, Some(usize::MAX)).map_err(|error| Stop::in_file(file, error))
}

/// Returns the counts in a form.
fn counts(stats: &Stats, dialect: &str, form: Form) -> String {
    match form {
        Form::Json => format!("{}\n", serde_json::Value::from_iter(stats.counts())),
        Form::Lines => {
            let lines = stats.counts().map(|(name, count)| format!("   {name:15} {count:>8}\n"));
            format!("-- {dialect}:\n{}", lines.concat())
        }
    }
}

/// Runs the subcommand: reads an answer, feeds it to a rewriter, and writes the output, as a gateway does.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let failed = |error: aside::Error| Stop::Failed(error.to_string());
    let chosen = arguments.dialect.choose()?;
    let options = arguments.options()?.stray_close(chosen.stray_close).leading_tags(chosen.leading_tags);
    if arguments.calls && !chosen.dialect.has_calls() {
        let name = chosen.dialect.name();
        note(&format!("--calls finds nothing: the dialect {name} does not say how calls are written"));
    }
    let mut rewriter = Rewriter::new(&chosen.dialect, &options).map_err(failed)?;
    // A gateway reuses its rewriters, and sets the start for each answer, depending on the request.
    let started = rewriter.use_dialect(None, chosen.start);
    started.map_err(|error| Stop::Usage(format!("{}: {error}", chosen.dialect.name())))?;
    let mut input = Input::open(arguments.file.as_deref())?;
    let mut buffer = vec![0; READ];
    let mut out = Vec::new();
    let mut output = Output::new();
    loop {
        let len = input.read(&mut buffer)?;
        if len == 0 {
            break;
        }
        rewriter.feed(&buffer[..len], &mut out).map_err(failed)?;
        output.write(&out)?;
        out.clear();
    }
    rewriter.finish(&mut out).map_err(failed)?;
    output.write(&out)?;
    output.finish()?;
    let stats = rewriter.stats();
    if stats.encoded {
        note("the stream is compressed, and has passed as it came: decode it first");
    } else if stats.unread == stats.events {
        note("the input has passed as it came: nothing in it is an answer in one of the formats");
    }
    if let Some(form) = arguments.stats {
        say(&counts(&stats, chosen.dialect.name(), form));
    }
    Ok(ExitCode::SUCCESS)
}
