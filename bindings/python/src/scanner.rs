//! The scanner: one stream of text, cut anywhere, split into its channels.

use aside::{Budget, BudgetScope, BudgetUnit, Channel, Kind, ScannerOptions, Token};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyTuple};

use crate::calls::{CallDelta, Writer, tools};
use crate::dialect::{Dialect, DialectLike, start};
use crate::errors::{self, Exclusive};
use crate::event::{Event, cause_name};
use crate::text::{Form, Text, released};
use crate::words;

/// The limit of whole thoughts if the host sets none: 1 MiB.
const COLLECTED: usize = 1 << 20;

/// The result of one feed: the text of each channel, without markers and framing. All are `str` or all `bytes`, like the
/// stream.
#[pyclass(frozen, get_all, generic, module = "libaside")]
pub struct Split {
    thinking: Py<PyAny>,
    content: Py<PyAny>,
    narration: Py<PyAny>,
    /// The text of tool calls, as the model wrote it.
    tool: Py<PyAny>,
    /// The new parts of calls, if the scanner was made with `calls` or `tools`.
    calls: Vec<Py<CallDelta>>,
}

#[pymethods]
impl Split {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = |text: &Py<PyAny>| text.bind(py).repr().map(|text| text.to_string());
        Ok(format!(
            "Split(thinking={}, content={}, narration={}, tool={})",
            text(&self.thinking)?,
            text(&self.content)?,
            text(&self.narration)?,
            text(&self.tool)?
        ))
    }
}

/// The counts of the reported text of a channel since the stream began.
#[pyclass(frozen, get_all, module = "libaside")]
pub struct Counts {
    bytes: u64,
    characters: u64,
    spans: u64,
    tokens: u64,
    /// Of `thinking`: whole thoughts that were lost because 1,024 others had not been taken.
    lost_thoughts: u64,
}

/// The whole text of a thinking span.
#[pyclass(frozen, get_all, generic, module = "libaside")]
pub struct Thought {
    text: Py<PyAny>,
    /// Names and decoded values of the opening tag, in their order.
    attributes: Vec<(Py<PyAny>, Py<PyAny>)>,
    thought_type: Option<Py<PyAny>>,
    confidence: Option<f64>,
    offset: u64,
    cause: &'static str,
    /// Whether `collect` was too small for the whole thought.
    truncated: bool,
}

/// The state of a scanner, which one call at a time may use.
struct State {
    scanner: aside::Scanner,
    writer: Option<Writer>,
    form: Option<Form>,
}

/// Separates the channels of one stream, in chunks cut anywhere. One thread at a time may be inside a scanner; another gets
/// BusyError.
///
///     >>> from libaside import Scanner
///     >>> scanner = Scanner("qwen3")
///     >>> [scanner.split(text).content for text in ["<thi", "nk>hm</think>", "Yes"]] + [scanner.finish_split().content]
///     ['', '', 'Yes', '']
///
/// `start` is the span that is open at the first byte; the default is the dialect's. `budget` limits the thinking of the
/// stream, in characters: the event `budget` says where it is exceeded. `collect` keeps whole thoughts for `take_thought`:
/// True, or the most bytes of them. With `calls`, or with the `tools` of the request, tool calls are reported: as events, and
/// as `calls` of the result of `split`; `max_tools` is the most bytes of `tools` as JSON. With `calls_in_thinking="never"`,
/// tool openers inside the thinking are text; with `stray_close="text"`, so is a closer of the thinking after other content,
/// and `stray_close="drop"` removes it alone. With `leading_tags="text"`, a tag of another family at the beginning of a stream
/// is text. They are `"dialect"` by default: the dialect says.
///
/// The rest is about the `calls` that `split` returns. `not_whole` says which part of a call is sent before the call is whole:
/// its arguments as they come (`"tell"`), or nothing (`"hold"`, and `"text"`, with which a very long call is sent as it comes
/// all the same); one that is not whole is then not among the calls. With `unknown_tool="tell"`, calls of tools that are not in
/// `tools` are reported too. `max_calls` is the most calls that are. With `implied_end="off"`, a call that lacks its last
/// markers is not whole, even if the answer ended by itself (`end_reason`). `repair_arguments` mends arguments that can mean
/// only one thing, and the call's end says `is_repaired`.
#[pyclass(frozen, generic, module = "libaside")]
pub struct Scanner {
    state: Exclusive<State>,
}

/// The text of each channel.
#[derive(Default)]
pub struct Texts<'a> {
    /// The input. Most chunks are text of one channel, and then Python's own object is returned.
    fed: &'a [u8],
    whole: Option<Channel>,
    parts: [Vec<u8>; 4],
    /// Whether memory has run out for a text.
    is_lost: bool,
}

impl<'a> Texts<'a> {
    fn of(fed: &'a [u8]) -> Texts<'a> {
        Texts { fed, ..Texts::default() }
    }

    pub fn take(&mut self, event: &aside::Event<'_>) {
        let is_text = match event.kind {
            Kind::Text => true,
            Kind::Open { .. } | Kind::Close(_) | Kind::Framing => false,
            // The parts of a call are its text.
            _ => event.channel == Channel::Tool,
        };
        if is_text && !self.fed.is_empty() && std::ptr::eq(event.bytes, self.fed) {
            self.whole = Some(event.channel);
        } else if is_text {
            self.add(event.channel, event.bytes);
        }
        if event.kind == Kind::Reclassify {
            let other = if event.channel == Channel::Thinking { Channel::Content } else { Channel::Thinking };
            let moved = std::mem::take(&mut self.parts[other as usize]);
            self.add(event.channel, &moved);
        }
    }

    fn add(&mut self, channel: Channel, bytes: &[u8]) {
        let part = &mut self.parts[channel as usize];
        match part.try_reserve(bytes.len()) {
            Ok(()) => part.extend_from_slice(bytes),
            Err(_) => self.is_lost = true,
        }
    }

    /// Returns the texts as Python's objects. `fed` is the text that was fed.
    pub fn split(
        self,
        py: Python<'_>,
        form: Form,
        fed: Option<&Bound<'_, PyAny>>,
        calls: Vec<Py<CallDelta>>,
    ) -> PyResult<Split> {
        if self.is_lost {
            return Err(errors::memory());
        }
        let text = |channel: Channel| match fed {
            Some(fed) if self.whole == Some(channel) => Ok(fed.clone().unbind()),
            _ => form.text(py, &self.parts[channel as usize]).map(Bound::unbind),
        };
        Ok(Split {
            thinking: text(Channel::Thinking)?,
            content: text(Channel::Content)?,
            narration: text(Channel::Narration)?,
            tool: text(Channel::Tool)?,
            calls,
        })
    }
}

/// Returns an event, with the part of a call that it adds.
fn made_event(py: Python<'_>, form: Form, event: &aside::Event<'_>, writer: Option<&mut Writer>) -> PyResult<Event> {
    let mut calls = Vec::new();
    if let Some(writer) = writer {
        writer.take(py, event, &mut calls)?;
    }
    Event::new(py, form, event, calls)
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Feed(&'a [u8]),
    Flush,
    ForceClose,
    Finish,
}

impl State {
    fn run(&mut self, step: Step<'_>, on_event: impl FnMut(aside::Event<'_>)) -> PyResult<()> {
        match step {
            Step::Feed(text) => self.scanner.feed(text, on_event),
            Step::Flush => self.scanner.flush(on_event),
            Step::ForceClose => self.scanner.force_close(on_event),
            Step::Finish => self.scanner.finish(on_event),
        }
        .map_err(errors::scanner)
    }

    fn events<'py>(&mut self, py: Python<'py>, form: Form, step: Step<'_>) -> PyResult<Bound<'py, PyList>> {
        let mut events = Vec::new();
        let mut made = Ok(());
        let mut writer = self.writer.take();
        let ran = self.run(step, |event| {
            if made.is_ok() {
                made = made_event(py, form, &event, writer.as_mut()).map(|event| events.push(event));
            }
        });
        self.writer = writer;
        ran.and(made)?;
        self.end(step);
        PyList::new(py, events)
    }

    fn split(&mut self, py: Python<'_>, form: Form, step: Step<'_>, fed: Option<&Bound<'_, PyAny>>) -> PyResult<Split> {
        let bytes = if let Step::Feed(bytes) = step { bytes } else { b"" };
        let mut texts = Texts::of(bytes);
        let mut calls = Vec::new();
        match self.writer.take() {
            None => released(py, bytes.len(), || self.run(step, |event| texts.take(&event)))?,
            Some(mut writer) => {
                let mut made = Ok(());
                let ran = self.run(step, |event| {
                    texts.take(&event);
                    if made.is_ok() {
                        made = writer.take(py, &event, &mut calls);
                    }
                });
                self.writer = Some(writer);
                ran.and(made)?;
            }
        }
        self.end(step);
        texts.split(py, form, fed, calls)
    }

    fn end(&mut self, step: Step<'_>) {
        if matches!(step, Step::Finish) {
            self.begin();
        }
    }

    fn begin(&mut self) {
        self.form = None;
        if let Some(writer) = &mut self.writer {
            writer.reset();
        }
    }
}

#[pymethods]
impl Scanner {
    #[new]
    #[pyo3(signature = (dialect, *, start = None, budget = None, collect = None, calls = false, tools = None,
        calls_in_thinking = "dialect", stray_close = "dialect", leading_tags = "dialect", max_tools = None,
        not_whole = "tell", unknown_tool = "text", implied_end = "on", max_calls = None, repair_arguments = false))]
    #[allow(clippy::too_many_arguments)] // They are keywords in Python.
    fn new(
        dialect: DialectLike<'_>,
        start: Option<&str>,
        budget: Option<u64>,
        collect: Option<&Bound<'_, PyAny>>,
        calls: bool,
        tools: Option<&Bound<'_, PyAny>>,
        calls_in_thinking: &str,
        stray_close: &str,
        leading_tags: &str,
        max_tools: Option<usize>,
        not_whole: &str,
        unknown_tool: &str,
        implied_end: &str,
        max_calls: Option<u64>,
        repair_arguments: bool,
    ) -> PyResult<Scanner> {
        let collect = match collect {
            None => None,
            Some(collect) if collect.is_instance_of::<PyBool>() => collect.extract::<bool>()?.then_some(COLLECTED),
            Some(collect) => Some(collect.extract()?),
        };
        let tools = self::tools(tools, max_tools)?;
        let calls = calls || tools.is_some();
        let budget = budget.map(|limit| Budget::new(limit, BudgetUnit::Characters, BudgetScope::Stream));
        let options = ScannerOptions::new()
            .start(self::start(start)?)
            .budget(budget)
            .collect(collect)
            .calls(calls)
            .calls_in_thinking(words::find("calls_in_thinking", calls_in_thinking, words::CALLS_IN_THINKING)?)
            .stray_close(words::find("stray_close", stray_close, words::STRAY_CLOSE)?)
            .leading_tags(words::find("leading_tags", leading_tags, words::LEADING_TAGS)?);
        let dialect = dialect.find()?;
        let scanner = aside::Scanner::with_options(&dialect, &options).map_err(errors::scanner)?;
        let writing = aside::call_writer::Options::new()
            .tools(tools)
            .not_whole(words::find("not_whole", not_whole, words::NOT_WHOLE)?)
            .unknown_tool(words::find("unknown_tool", unknown_tool, words::UNKNOWN_TOOL)?)
            .implied_end(words::find("implied_end", implied_end, words::IMPLIED_END)?)
            .max_calls(max_calls)
            .repair_arguments(repair_arguments);
        let writer = calls.then(|| Writer::new(&dialect, writing));
        Ok(Scanner { state: Exclusive::new(State { scanner, writer, form: None }) })
    }

    /// Feed the next text of the stream, cut anywhere, and return a list of events.
    fn feed<'py>(&self, py: Python<'py>, text: Text<'py>) -> PyResult<Bound<'py, PyList>> {
        self.state.enter(|state| {
            let bytes = text.bytes()?;
            let form = text.set_form(&mut state.form)?;
            state.events(py, form, Step::Feed(bytes))
        })
    }

    /// Feed the next text of the stream, and return the text of each channel. A server calls this for each token.
    ///
    /// Content that turns out to have been thinking, or thinking that turns out to be content (the event `reclassify`), is only
    /// moved within the result of one call: a program that must know of earlier text takes `feed`.
    fn split(&self, py: Python<'_>, text: Text<'_>) -> PyResult<Split> {
        self.state.enter(|state| {
            let bytes = text.bytes()?;
            let form = text.set_form(&mut state.form)?;
            state.split(py, form, Step::Feed(bytes), Some(text.object()))
        })
    }

    /// Feed the model's own tokens: a text, the length of each token in bytes of UTF-8, and which are special. A special
    /// token alone may be a marker, and any other token is text, whatever it looks like. The events say which tokens
    /// they have: `first_token` and `tokens`.
    fn feed_tokens<'py>(
        &self,
        py: Python<'py>,
        text: Text<'py>,
        lengths: Vec<u32>,
        special: Vec<bool>,
    ) -> PyResult<Bound<'py, PyList>> {
        if lengths.len() != special.len() {
            return Err(errors::value("lengths and special must have the same length, one entry for each token"));
        }
        let token = |(&len, &special): (&u32, &bool)| if special { Token::special(len) } else { Token::text(len) };
        let tokens: Vec<Token> = lengths.iter().zip(&special).map(token).collect();
        self.state.enter(|state| {
            let bytes = text.bytes()?;
            let form = text.set_form(&mut state.form)?;
            let mut events = Vec::new();
            let mut made = Ok(());
            let State { scanner, writer, .. } = state;
            let fed = scanner.feed_tokens(bytes, &tokens, |event| {
                if made.is_ok() {
                    made = made_event(py, form, &event, writer.as_mut()).map(|event| events.push(event));
                }
            });
            fed.map_err(errors::scanner)?;
            made?;
            PyList::new(py, events)
        })
    }

    /// End the stream and return its last events. The next feed begins a new stream.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.state.enter(|state| {
            let form = state.form.unwrap_or(Form::Str);
            state.events(py, form, Step::Finish)
        })
    }

    /// End the stream and return the text that was held back, by channel. The next feed begins a new stream.
    fn finish_split(&self, py: Python<'_>) -> PyResult<Split> {
        self.state.enter(|state| {
            let form = state.form.unwrap_or(Form::Str);
            state.split(py, form, Step::Finish, None)
        })
    }

    /// Release the bytes that are held back as text of their channel. The stream continues.
    fn flush<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.state.enter(|state| {
            let form = state.form.unwrap_or(Form::Str);
            state.events(py, form, Step::Flush)
        })
    }

    /// Close the thinking that is open, as if its closer had come: for a host that ends it and continues with the answer.
    fn force_close<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.state.enter(|state| {
            let form = state.form.unwrap_or(Form::Str);
            state.events(py, form, Step::ForceClose)
        })
    }

    /// Start the next stream where a rendered prompt ends, and return the span that is open there. `tail` is the end of the
    /// prompt. Undecided markers at its end are not open: a marker that is cut off, and an opener of a tool call that counts
    /// only if a call comes after it. If the stream decides that the opener counts, the first event opens its span.
    fn start_from_prompt(&self, tail: Text<'_>) -> PyResult<&'static str> {
        self.state.enter(|state| {
            let tail = tail.bytes()?;
            Ok(state.scanner.start_from_prompt(tail).map_err(errors::scanner)?.as_str())
        })
    }

    /// The start of the current stream, or of the next one: from a prompt or `start`, or else the dialect's.
    #[getter]
    fn start(&self) -> PyResult<&'static str> {
        self.state.enter(|state| Ok(state.scanner.start().as_str()))
    }

    /// Returns whether that is only the dialect's guess that its models start in the thinking.
    #[getter]
    fn is_start_guessed(&self) -> PyResult<bool> {
        self.state.enter(|state| Ok(state.scanner.is_start_guessed()))
    }

    /// Set the reason why the stream ends: `ended` if the model has ended its answer (`"finish_reason": "stop"`), `cut_off` if
    /// a limit or an error has, or `unknown`. Call it before `finish`, which clears the reason. If an answer ended in the thinking
    /// in which it was guessed to start, and nothing has confirmed the guess, `finish` has an event `reclassify` with the channel
    /// `content`.
    fn end_reason(&self, reason: &str) -> PyResult<()> {
        let reason = words::find("reason", reason, words::END_REASON)?;
        self.state.enter(|state| {
            state.scanner.end_reason(reason);
            Ok(())
        })
    }

    /// Return the counts of the text of a channel since the stream began.
    fn counts(&self, channel: &str) -> PyResult<Counts> {
        let channel = words::find("channel", channel, &Channel::ALL.map(|channel| (channel.as_str(), channel)))?;
        self.state.enter(|state| {
            let counts = state.scanner.counts(channel);
            Ok(Counts {
                bytes: counts.bytes,
                characters: counts.characters,
                spans: counts.spans,
                tokens: counts.tokens,
                lost_thoughts: if channel == Channel::Thinking { state.scanner.lost_thoughts() } else { 0 },
            })
        })
    }

    /// Take the oldest whole thought that was not taken yet, or None. Needs `collect`.
    fn take_thought(&self, py: Python<'_>) -> PyResult<Option<Thought>> {
        self.state.enter(|state| {
            let form = state.form.unwrap_or(Form::Str);
            let Some(thought) = state.scanner.take_thought() else { return Ok(None) };
            let text = |bytes: &[u8]| form.text(py, bytes).map(Bound::unbind);
            let attributes = thought.attributes.iter().map(|(name, value)| Ok((text(name)?, text(value)?)));
            Ok(Some(Thought {
                text: text(&thought.text)?,
                attributes: attributes.collect::<PyResult<_>>()?,
                thought_type: thought.thought_type.as_deref().map(text).transpose()?,
                confidence: thought.confidence,
                offset: thought.offset,
                cause: cause_name(thought.cause),
                truncated: thought.truncated,
            }))
        })
    }

    /// Return a scanner in the same state, in the middle of a stream too. Scanners that report calls cannot be copied.
    fn copy(&self) -> PyResult<Scanner> {
        self.state.enter(|state| {
            if state.writer.is_some() {
                return Err(errors::value(
                    "a scanner that reports calls cannot be copied: make one without `calls` and `tools`",
                ));
            }
            let scanner = state.scanner.try_clone().map_err(errors::scanner)?;
            Ok(Scanner { state: Exclusive::new(State { scanner, writer: None, form: state.form }) })
        })
    }

    /// Forget the stream. The next feed begins a new one.
    fn reset(&self) -> PyResult<()> {
        self.state.enter(|state| {
            state.scanner.reset();
            state.begin();
            Ok(())
        })
    }

    /// The scanner's dialect.
    #[getter]
    fn dialect(&self) -> PyResult<Dialect> {
        self.state.enter(|state| Ok(state.scanner.dialect().clone().into()))
    }

    /// The bytes that are held back now, because they may become a marker.
    #[getter]
    fn held(&self) -> PyResult<usize> {
        self.state.enter(|state| Ok(state.scanner.held().len()))
    }

    fn __reduce__(&self) -> PyResult<Py<PyTuple>> {
        Err(pyo3::exceptions::PyTypeError::new_err("a scanner cannot be pickled: it is in the middle of a stream"))
    }
}
