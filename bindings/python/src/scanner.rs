//! The scanner: one stream of text, cut anywhere, split into its channels.

use aside::{Budget, BudgetScope, BudgetUnit, Channel, Kind, ScannerOptions, Token};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyTuple};

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
    /// For `thinking`: the number of whole thoughts that were lost because 1,024 earlier ones had not been taken.
    lost_thoughts: u64,
}

impl Counts {
    pub fn new(counts: aside::Counts, lost_thoughts: u64) -> Counts {
        let aside::Counts { bytes, characters, spans, tokens, .. } = counts;
        Counts { bytes, characters, spans, tokens, lost_thoughts }
    }
}

/// Returns the channel of this name.
pub fn channel_of(name: &str) -> PyResult<Channel> {
    words::find("channel", name)
}

/// Returns the tokens of these lengths.
pub fn tokens(lengths: &[u32], special: &[bool]) -> PyResult<Vec<Token>> {
    if lengths.len() != special.len() {
        return Err(errors::value("lengths and special must have the same length, one entry for each token"));
    }
    let token = |(&len, &special): (&u32, &bool)| if special { Token::special(len) } else { Token::text(len) };
    Ok(lengths.iter().zip(special).map(token).collect())
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
    form: Option<Form>,
}

/// Separates the channels of one stream, in chunks cut anywhere. One thread at a time may use a scanner; a second thread gets
/// BusyError.
///
///     >>> from libaside import Scanner
///     >>> scanner = Scanner("qwen3")
///     >>> [scanner.split(text).content for text in ["<thi", "nk>hm</think>", "Yes"]] + [scanner.finish_split().content]
///     ['', '', 'Yes', '']
///
/// `start` is the span that is open at the first byte; the default is the dialect's. `budget` limits the thinking of the stream, in
/// characters: the event `budget` marks where the thinking exceeds it. `collect` keeps whole thoughts for `take_thought`: True, or
/// the largest number of bytes to keep. With `calls`, the parts of tool calls are reported as events; an `Answer` makes calls of
/// them. With `calls_in_thinking="never"`, tool openers inside the thinking are text. With `stray_close="text"`, a closer of the
/// thinking after other content is text; with `stray_close="drop"`, only the closer is removed. With `leading_tags="text"`, a tag of
/// another family at the beginning of a stream is text. The default of these three options is `"dialect"`: the dialect decides.
#[pyclass(frozen, generic, module = "libaside")]
pub struct Scanner {
    state: Exclusive<State>,
}

/// The text of each channel.
#[derive(Default)]
pub struct Texts<'a> {
    /// The input. For most chunks, all text is of one channel, and Python's own object is returned.
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
    pub fn split(self, py: Python<'_>, form: Form, fed: Option<&Bound<'_, PyAny>>) -> PyResult<Split> {
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
        })
    }
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
        let events = made_events(py, form, |on_event| self.run(step, on_event))?;
        self.end(step);
        PyList::new(py, events)
    }

    fn split(&mut self, py: Python<'_>, form: Form, step: Step<'_>, fed: Option<&Bound<'_, PyAny>>) -> PyResult<Split> {
        let bytes = if let Step::Feed(bytes) = step { bytes } else { b"" };
        let mut texts = Texts::of(bytes);
        released(py, bytes.len(), || self.run(step, |event| texts.take(&event)))?;
        self.end(step);
        texts.split(py, form, fed)
    }

    fn end(&mut self, step: Step<'_>) {
        if matches!(step, Step::Finish) {
            self.form = None;
        }
    }
}

/// Returns the events that a function of the scanner reports.
fn made_events(
    py: Python<'_>,
    form: Form,
    run: impl FnOnce(&mut dyn FnMut(aside::Event<'_>)) -> PyResult<()>,
) -> PyResult<Vec<Event>> {
    let (mut events, mut made) = (Vec::new(), Ok(()));
    let ran = run(&mut |event| {
        if made.is_ok() {
            made = Event::new(py, form, &event).map(|event| events.push(event));
        }
    });
    ran.and(made)?;
    Ok(events)
}

#[pymethods]
impl Scanner {
    #[new]
    #[pyo3(signature = (dialect, *, start = None, budget = None, collect = None, calls = false,
        calls_in_thinking = "dialect", stray_close = "dialect", leading_tags = "dialect"))]
    #[allow(clippy::too_many_arguments)] // The options are keywords in Python.
    fn new(
        dialect: DialectLike<'_>,
        start: Option<&str>,
        budget: Option<u64>,
        collect: Option<&Bound<'_, PyAny>>,
        calls: bool,
        calls_in_thinking: &str,
        stray_close: &str,
        leading_tags: &str,
    ) -> PyResult<Scanner> {
        let collect = match collect {
            None => None,
            Some(collect) if collect.is_instance_of::<PyBool>() => collect.extract::<bool>()?.then_some(COLLECTED),
            Some(collect) => Some(collect.extract()?),
        };
        let budget = budget.map(|limit| Budget::new(limit, BudgetUnit::Characters, BudgetScope::Stream));
        let options = ScannerOptions::new()
            .start(self::start(start)?)
            .budget(budget)
            .collect(collect)
            .calls(calls)
            .calls_in_thinking(words::find("calls_in_thinking", calls_in_thinking)?)
            .stray_close(words::find("stray_close", stray_close)?)
            .leading_tags(words::find("leading_tags", leading_tags)?);
        let scanner = aside::Scanner::with_options(&dialect.find()?, &options).map_err(errors::scanner)?;
        Ok(Scanner { state: Exclusive::new(State { scanner, form: None }) })
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
    /// moved within the result of one call: a program that must move earlier text too uses `feed`.
    fn split(&self, py: Python<'_>, text: Text<'_>) -> PyResult<Split> {
        self.state.enter(|state| {
            let bytes = text.bytes()?;
            let form = text.set_form(&mut state.form)?;
            state.split(py, form, Step::Feed(bytes), Some(text.object()))
        })
    }

    /// Feed the model's own tokens: a text, the length of each token in bytes of UTF-8, and which are special. Only a special token
    /// may be a marker; any other token is text, whatever it looks like. The events say which tokens they have: `first_token` and
    /// `tokens`.
    fn feed_tokens<'py>(
        &self,
        py: Python<'py>,
        text: Text<'py>,
        lengths: Vec<u32>,
        special: Vec<bool>,
    ) -> PyResult<Bound<'py, PyList>> {
        let tokens = tokens(&lengths, &special)?;
        self.state.enter(|state| {
            let bytes = text.bytes()?;
            let form = text.set_form(&mut state.form)?;
            let events = made_events(py, form, |on_event| {
                state.scanner.feed_tokens(bytes, &tokens, on_event).map_err(errors::scanner)
            })?;
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

    /// Close the open thinking, as if the model had written its closer: for a host that ends the thinking and continues with the
    /// answer.
    fn force_close<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.state.enter(|state| {
            let form = state.form.unwrap_or(Form::Str);
            state.events(py, form, Step::ForceClose)
        })
    }

    /// Start the next stream where a rendered prompt ends, and return the span that is open there. `tail` is the end of the
    /// prompt. An undecided marker at its end opens no span: an incomplete marker, or an opener of a tool call that counts only if
    /// a call follows. If the stream decides that the opener counts, the first event opens its span.
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

    /// Whether the start is only the dialect's guess that its models start in the thinking.
    #[getter]
    fn is_start_guessed(&self) -> PyResult<bool> {
        self.state.enter(|state| Ok(state.scanner.is_start_guessed()))
    }

    /// Set the reason why the stream ends: `ended` if the model ended its answer (`"finish_reason": "stop"`), `cut_off` if a limit
    /// or an error ended it, or `unknown`. Call it before `finish`, which clears the reason. If a stream was only guessed to start
    /// in the thinking, and the answer ended there without confirming the guess, `finish` returns an event `reclassify` with the
    /// channel `content`.
    fn end_reason(&self, reason: &str) -> PyResult<()> {
        let reason = words::find("reason", reason)?;
        self.state.enter(|state| {
            state.scanner.end_reason(reason);
            Ok(())
        })
    }

    /// Return the counts of the text of a channel since the stream began.
    fn counts(&self, channel: &str) -> PyResult<Counts> {
        let channel = channel_of(channel)?;
        self.state.enter(|state| {
            let lost = if channel == Channel::Thinking { state.scanner.lost_thoughts() } else { 0 };
            Ok(Counts::new(state.scanner.counts(channel), lost))
        })
    }

    /// Remove and return the oldest whole thought, or None. Needs `collect`.
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

    /// Return a scanner in the same state, in the middle of a stream too.
    fn copy(&self) -> PyResult<Scanner> {
        self.state.enter(|state| {
            let scanner = state.scanner.try_clone().map_err(errors::scanner)?;
            Ok(Scanner { state: Exclusive::new(State { scanner, form: state.form }) })
        })
    }

    /// Forget the stream. The next feed begins a new one.
    fn reset(&self) -> PyResult<()> {
        self.state.enter(|state| {
            state.scanner.reset();
            state.form = None;
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
