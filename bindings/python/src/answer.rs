//! The answer: one text of a model, cut anywhere, in; thinking, content and tool calls out.

use std::sync::Arc;

use aside::answer::{self, Options, Tools};
use aside::{Budget, ScannerOptions};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::dialect::{DialectLike, json_of, start};
use crate::errors::{self, Exclusive};
use crate::event::cause_name;
use crate::scanner::{Counts, channel_of, tokens};
use crate::text::{Form, Text};
use crate::words;

/// A part of an answer. Fields that its kind does not have are empty, 0, False or None. Later versions may add kinds: ignore those
/// that you do not know.
///
/// - `thinking` and `content` have the next `text` of that channel.
/// - `call`: a call begins. It has the `name` of the tool, and an `id` that no other call of the answer has; `is_made` says whether the
///   library made the id, because the model wrote none, or the id of an earlier call.
/// - `arguments`: `text` is the next part of the arguments of a call. Joined, they are a JSON object if the call is whole.
/// - `call_end`: a call ends, for the `cause`. Do not run a call that is not whole (`is_whole`). `is_repaired` says whether it broke a
///   rule of its grammar, so that the model may have meant other arguments. `late_id` is an id that the model wrote only after the
///   call was reported: use it in a whole message, and not for a client that got the call already.
/// - `moved`: all text that was reported in the channel `from_channel` belongs to `to_channel`. Only with `may_take_back`.
/// - `budget`: the thinking exceeds its budget here.
#[pyclass(frozen, get_all, generic, module = "libaside")]
pub struct Part {
    kind: &'static str,
    /// The text, as `str` or `bytes` like the stream.
    text: Py<PyAny>,
    /// The number of the call in the answer, from 0.
    index: u64,
    id: String,
    name: String,
    is_made: bool,
    is_whole: bool,
    is_repaired: bool,
    cause: Option<&'static str>,
    late_id: Option<String>,
    from_channel: Option<&'static str>,
    to_channel: Option<&'static str>,
}

impl Part {
    /// Returns a part, or None if its kind is unknown.
    fn new(py: Python<'_>, form: Form, part: answer::Part<'_>) -> PyResult<Option<Part>> {
        let of = |kind, text| {
            Ok(Part {
                kind,
                text: form.text(py, text)?.unbind(),
                index: 0,
                id: String::new(),
                name: String::new(),
                is_made: false,
                is_whole: false,
                is_repaired: false,
                cause: None,
                late_id: None,
                from_channel: None,
                to_channel: None,
            })
        };
        let part = match part {
            answer::Part::Thinking(text) => of("thinking", text),
            answer::Part::Content(text) => of("content", text),
            answer::Part::Call { index, id, is_made, name } => {
                of("call", b"").map(|part| Part { index, id: id.to_owned(), is_made, name: name.to_owned(), ..part })
            }
            answer::Part::Arguments { index, json } => {
                of("arguments", json.as_bytes()).map(|part| Part { index, ..part })
            }
            answer::Part::CallEnd { index, is_whole, is_repaired, cause, late_id } => {
                let (cause, late_id) = (Some(cause_name(cause)), late_id.map(str::to_owned));
                of("call_end", b"").map(|part| Part { index, is_whole, is_repaired, cause, late_id, ..part })
            }
            answer::Part::Moved { from, to } => of("moved", b"").map(|part| Part {
                from_channel: Some(from.as_str()),
                to_channel: Some(to.as_str()),
                ..part
            }),
            answer::Part::Budget => of("budget", b""),
            _ => return Ok(None),
        };
        part.map(Some)
    }
}

#[pymethods]
impl Part {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shown = match self.kind {
            "thinking" | "content" => format!(", text={}", self.text.bind(py).repr()?),
            "call" => {
                let (id, name) = ((&self.id).into_pyobject(py)?.repr()?, (&self.name).into_pyobject(py)?.repr()?);
                format!(", index={}, id={id}, name={name}", self.index)
            }
            "arguments" => format!(", index={}, text={}", self.index, self.text.bind(py).repr()?),
            "call_end" => {
                format!(", index={}, is_whole={}", self.index, if self.is_whole { "True" } else { "False" })
            }
            _ => String::new(),
        };
        Ok(format!("Part(kind='{}'{shown})", self.kind))
    }
}

/// Reads the tools of a request: a list in the form of the API, or such a list as JSON, of at most `max_tools` bytes.
pub fn tools(tools: Option<&Bound<'_, PyAny>>, max_tools: Option<usize>) -> PyResult<Option<Arc<Tools>>> {
    let Some(tools) = tools else { return Ok(None) };
    let tools = Tools::read_up_to(&json_of(tools)?, max_tools).map_err(errors::value)?;
    Ok(Some(tools))
}

fn budget(limit: Option<usize>, unit: &str, scope: &str) -> PyResult<Option<Budget>> {
    let unit = words::find("budget_unit", unit)?;
    let scope = words::find("budget_scope", scope)?;
    Ok(limit.map(|limit| Budget::new(limit as u64, unit, scope)))
}

/// The state of an answer, which one call at a time may use.
struct State {
    answer: answer::Answer,
    form: Option<Form>,
}

impl State {
    /// Returns the parts that a function of the answer reports.
    fn parts<'py>(
        &mut self,
        py: Python<'py>,
        run: impl FnOnce(&mut answer::Answer, &mut dyn FnMut(answer::Part<'_>)) -> Result<(), aside::Error>,
    ) -> PyResult<Bound<'py, PyList>> {
        let form = self.form.unwrap_or(Form::Str);
        let (mut parts, mut made) = (Vec::new(), Ok(()));
        let ran = run(&mut self.answer, &mut |part| {
            if made.is_ok() {
                made = Part::new(py, form, part).map(|part| parts.extend(part));
            }
        });
        ran.map_err(errors::scanner).and(made)?;
        PyList::new(py, parts)
    }
}

/// Reads one text of a model, in chunks cut anywhere, and reports thinking, content and tool calls as parts. Every byte of the text is
/// in exactly one part, in a call that is reported, or is a marker or framing around these: a text that turns out not to be a call is
/// content, in its place. One thread at a time may use an answer; a second thread gets BusyError. After a MemoryError, reset it.
///
///     >>> from libaside import Answer
///     >>> answer = Answer("qwen3")
///     >>> parts = answer.feed("<think>hm</think>Yes.<tool_call>{\"name\": \"f\"}</tool_call>") + answer.finish("ended")
///     >>> [(part.kind, part.text or part.name) for part in parts]
///     [('thinking', 'hm'), ('content', 'Yes.'), ('call', 'f'), ('arguments', '{}'), ('call_end', '')]
///
#[doc = include_str!("answer_options.txt")]
#[pyclass(frozen, generic, module = "libaside")]
pub struct Answer {
    state: Exclusive<State>,
    max_tools: Option<usize>,
}

impl Answer {
    fn open(
        dialect: &aside::Dialect,
        mut options: Options,
        id_prefix: Option<&str>,
        max_tools: Option<usize>,
    ) -> PyResult<Answer> {
        if let Some(id_prefix) = id_prefix {
            options = options.id_prefix(id_prefix.to_owned());
        }
        let answer = answer::Answer::new(dialect, &options).map_err(errors::scanner)?;
        Ok(Answer { state: Exclusive::new(State { answer, form: None }), max_tools })
    }
}

#[pymethods]
impl Answer {
    // Generated from src/ffi by tests/header: do not edit.
    #[new]
    #[pyo3(signature = (dialect, *, start = None, stray_close = "dialect", calls_in_thinking = "dialect",
        leading_tags = "dialect", thinking = "keep", not_whole = "tell", unknown_tool = "text",
        implied_end = "on", tools = None, start_call = None, id_prefix = None, max_tools = None,
        max_held = None, max_calls = None, budget = None, budget_unit = "bytes", budget_scope = "span",
        repair_arguments = false, promote_empty = false, keep_guessed = false, may_take_back = false,
        inline_calls = false))]
    #[allow(clippy::too_many_arguments)] // They are keywords in Python.
    fn new(
        dialect: DialectLike<'_>,
        start: Option<&str>,
        stray_close: &str,
        calls_in_thinking: &str,
        leading_tags: &str,
        thinking: &str,
        not_whole: &str,
        unknown_tool: &str,
        implied_end: &str,
        tools: Option<&Bound<'_, PyAny>>,
        start_call: Option<&str>,
        id_prefix: Option<&str>,
        max_tools: Option<usize>,
        max_held: Option<usize>,
        max_calls: Option<u64>,
        budget: Option<usize>,
        budget_unit: &str,
        budget_scope: &str,
        repair_arguments: bool,
        promote_empty: bool,
        keep_guessed: bool,
        may_take_back: bool,
        inline_calls: bool,
    ) -> PyResult<Answer> {
        let tools = self::tools(tools, max_tools)?;
        let scanner = ScannerOptions::new()
            .start(self::start(start)?)
            .stray_close(words::find("stray_close", stray_close)?)
            .calls_in_thinking(words::find("calls_in_thinking", calls_in_thinking)?)
            .leading_tags(words::find("leading_tags", leading_tags)?)
            .budget(self::budget(budget, budget_unit, budget_scope)?);
        let options = Options::new()
            .scanner(scanner)
            .thinking(words::find("thinking", thinking)?)
            .not_whole(words::find("not_whole", not_whole)?)
            .unknown_tool(words::find("unknown_tool", unknown_tool)?)
            .implied_end(words::find("implied_end", implied_end)?)
            .tools(tools)
            .start_call(start_call)
            .max_held(max_held)
            .max_calls(max_calls)
            .repair_arguments(repair_arguments)
            .promote_empty(promote_empty)
            .keep_guessed(keep_guessed)
            .may_take_back(may_take_back)
            .inline_calls(inline_calls);
        Answer::open(&dialect.find()?, options, id_prefix, max_tools)
    }
    // End of the generated part.

    /// Feed the next text, cut anywhere, and return a list of the parts that are decided, which may be empty.
    fn feed<'py>(&self, py: Python<'py>, text: Text<'py>) -> PyResult<Bound<'py, PyList>> {
        self.state.enter(|state| {
            let bytes = text.bytes()?;
            text.set_form(&mut state.form)?;
            state.parts(py, |answer, on_part| answer.feed(bytes, on_part))
        })
    }

    /// Feed the model's own tokens: a text, the length of each token in bytes of UTF-8, and which are special. Only a special token
    /// may be a marker; any other token is text, whatever it looks like.
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
            text.set_form(&mut state.form)?;
            state.parts(py, |answer, on_part| answer.feed_tokens(bytes, &tokens, on_part))
        })
    }

    /// Return the held text: text that may begin a marker, and text of a call that is not decided. The text continues.
    fn flush<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.state.enter(|state| state.parts(py, |answer, on_part| answer.flush(on_part)))
    }

    /// Close the open thinking, or the open call, as `Scanner.force_close` does.
    fn force_close<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.state.enter(|state| state.parts(py, |answer, on_part| answer.force_close(on_part)))
    }

    /// End the text, and return the parts that are left. The next feed begins a new text, with the answer's own start and tools.
    ///
    /// `reason` is `ended` if the model ended its answer (`"finish_reason": "stop"`), `cut_off` if a limit or an error ended it, or
    /// `unknown`. Only a text that ended by itself may end a call that has no end, or turn out to be an answer without markers.
    #[pyo3(signature = (reason = "unknown"))]
    fn finish<'py>(&self, py: Python<'py>, reason: &str) -> PyResult<Bound<'py, PyList>> {
        let reason = words::find("reason", reason)?;
        self.state.enter(|state| {
            let parts = state.parts(py, |answer, on_part| answer.finish(reason, on_part));
            state.form = None;
            parts
        })
    }

    /// Start the next text where a rendered prompt ends, before its first byte, and return the span that is open there. `tail` is
    /// the end of the prompt.
    fn start_from_prompt(&self, tail: Text<'_>) -> PyResult<&'static str> {
        self.state.enter(|state| {
            let tail = tail.bytes()?;
            Ok(state.answer.start_from_prompt(tail).map_err(errors::scanner)?.as_str())
        })
    }

    /// Set the tools of the next text, before its first byte: for an answer that serves one request after another. With None, calls
    /// of any tool are reported; with an empty list, all calls are content.
    #[pyo3(signature = (tools))]
    fn use_tools(&self, tools: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let tools = self::tools(tools, self.max_tools)?;
        self.state.enter(|state| state.answer.use_tools(tools).map_err(errors::scanner))
    }

    /// Return the counts of a channel's text: also of thinking that was dropped, and of text that was moved later. After the end of a
    /// text, its counts are returned until another text begins.
    fn counts(&self, channel: &str) -> PyResult<Counts> {
        let channel = channel_of(channel)?;
        self.state.enter(|state| Ok(Counts::new(state.answer.counts(channel), 0)))
    }

    /// Forget the text. The next feed begins a new one, with the answer's own start and tools.
    fn reset(&self) -> PyResult<()> {
        self.state.enter(|state| {
            state.answer.reset();
            state.form = None;
            Ok(())
        })
    }

    /// The number of bytes of the text that are held back now.
    #[getter]
    fn held(&self) -> PyResult<usize> {
        self.state.enter(|state| Ok(state.answer.held()))
    }

    fn __reduce__(&self) -> PyResult<Py<PyTuple>> {
        Err(pyo3::exceptions::PyTypeError::new_err("an answer cannot be pickled: it is in the middle of a text"))
    }
}
