//! Shortens tool results: whole results, and results that arrive in chunks.

use std::sync::Arc;

use aside::compress::{self, Input, Invocation, Outcome, Part, Registry};
use pyo3::prelude::*;

use crate::dialect::to_json;
use crate::errors::{self, Exclusive, guarded};
use crate::text::{Form, Text};

/// A report on one tool's result.
#[pyclass(frozen, get_all, module = "libaside")]
pub struct Report {
    /// The names of the filters that changed the text.
    filters: Vec<String>,
    /// The length of the text before, in bytes.
    before: usize,
    /// The length of the text after, in bytes, banner included.
    after: usize,
    /// The length of the text before, in UTF-16 units, as in the banner.
    before_units: usize,
    /// The length of the text after, in UTF-16 units.
    after_units: usize,
    /// Pairs of a filter that failed and was skipped, and the reason. Unstable: a later version may change it.
    failed: Vec<(String, String)>,
    /// Whether a text in a machine format was cut to keep the budget, so that it cannot be parsed any more.
    cut_protected: bool,
    /// Whether the command failed, and the remaining text says only that it passed: show its exit code to the model.
    unexplained: bool,
}

impl Report {
    fn new(report: compress::Report) -> Report {
        Report {
            filters: report.filters,
            before: report.before,
            after: report.after,
            before_units: report.before_units,
            after_units: report.after_units,
            failed: report.failed.into_iter().map(|failed| (failed.filter, failed.reason)).collect(),
            cut_protected: report.cut_protected,
            unexplained: report.unexplained,
        }
    }
}

/// A tool's result, made shorter.
#[pyclass(frozen, get_all, generic, module = "libaside")]
pub struct Compressed {
    /// The text, `str` or `bytes` like the input; equal to the input if it does not get shorter.
    text: Py<PyAny>,
    report: Py<Report>,
}

/// Shortens the output of tools before a model reads it, without hiding a line that matters.
///
///     >>> from libaside import Compressor
///     >>> log = "".join(f"compiling unit {n}\n" for n in range(500)) + "error: no such file\n"
///     >>> call = {"command": "make", "exit_code": 2}
///     >>> short = Compressor(budget=1024).compress(log, tool_id="bash", input=call)
///     >>> len(short.text) <= 1024 and "error: no such file" in short.text
///     True
///
/// `budget` is the maximum length of a result in bytes. `budget_tokens` is the maximum in tokens, estimated from the shape of the
/// text; if both are set, both apply. `count` is a function that returns the number of tokens of a `str`, in place of the estimate:
/// it is called at most eight times for one result, from any thread. If it raises an exception, the estimate counts, and
/// `report.failed` says why. `filters` are texts of filter files, in addition to the built-in ones. `minify_json` removes white
/// space from JSON (unstable: a later version may change it). `memory` is the longest text, in bytes, that `compress` works on as a
/// whole: a longer text is read window by window, as in a stream with that much memory. `switch_off` is the sentence at the end of
/// the banner. A compressor never changes; all threads may use it.
#[pyclass(frozen, module = "libaside")]
pub struct Compressor {
    pub inner: Arc<compress::Compressor>,
}

/// Returns the number of tokens of a text, which the host's function counts.
fn counted(count: &Py<PyAny>, text: &[u8]) -> PyResult<usize> {
    Python::attach(|py| count.call1(py, (String::from_utf8_lossy(text),))?.extract(py))
}

pub fn input(value: &Bound<'_, PyAny>) -> PyResult<Input> {
    let json = match value.extract::<String>() {
        Ok(command) => return Ok(Input::of_command(&command)),
        Err(_) => to_json(value)?,
    };
    Input::from_json(&json).map_err(errors::value)
}

#[pymethods]
impl Compressor {
    #[new]
    #[pyo3(signature = (*, budget = None, budget_tokens = None, count = None, filters = None, minify_json = false, memory = None,
        switch_off = None))]
    fn new(
        budget: Option<usize>,
        budget_tokens: Option<usize>,
        count: Option<Py<PyAny>>,
        filters: Option<Vec<String>>,
        minify_json: bool,
        memory: Option<usize>,
        switch_off: Option<&str>,
    ) -> PyResult<Compressor> {
        let mut registry = Registry::new();
        if minify_json {
            registry.minify_json();
        }
        for filter in filters.iter().flatten() {
            registry.add_toml(filter).map_err(|error| errors::file(&error))?;
        }
        let mut inner = compress::Compressor::new(&registry);
        if let Some(budget) = budget {
            inner = inner.budget(budget).map_err(errors::value)?;
        }
        if let Some(budget) = budget_tokens {
            inner = inner.budget_tokens(budget).map_err(errors::value)?;
        }
        if let Some(count) = count {
            inner = inner.count_tokens(move |text| counted(&count, text).map_err(|error| error.to_string()));
        }
        if let Some(memory) = memory {
            inner = inner.memory(memory);
        }
        if let Some(sentence) = switch_off {
            inner = inner.switch_off(sentence);
        }
        Ok(Compressor { inner: Arc::new(inner) })
    }

    /// Return a tool's result made shorter. `input` is the tool's input: a command line, or for a terminal tool a
    /// dict with `command`, and `exit_code` and `cwd` if they are known; for any other tool a value that JSON can represent.
    #[pyo3(signature = (text, *, tool_id, input))]
    fn compress<'py>(
        &self,
        py: Python<'py>,
        text: Text<'py>,
        tool_id: &str,
        input: &Bound<'py, PyAny>,
    ) -> PyResult<Compressed> {
        let input = self::input(input)?;
        let bytes = text.bytes()?;
        let inner = &self.inner;
        let mut compressed =
            guarded(|| Ok(py.detach(|| inner.compress(&Invocation::new(tool_id, &input), &[Part::Text(bytes)]))))?;
        let text = match compressed.parts.pop() {
            Some(Outcome::Text(short)) => text.form().text(py, &short)?,
            _ => text.form().text(py, bytes)?,
        };
        Ok(Compressed { text: text.unbind(), report: Py::new(py, Report::new(compressed.report))? })
    }

    /// Return a stream for a result that arrives in chunks and may be long: it holds at most `memory` bytes.
    #[pyo3(signature = (*, tool_id, input, memory = 1_048_576))]
    fn stream(&self, tool_id: &str, input: &Bound<'_, PyAny>, memory: usize) -> PyResult<ToolStream> {
        let input = self::input(input)?;
        let stream =
            compress::ToolStream::new(Arc::clone(&self.inner), tool_id, input, memory).map_err(errors::value)?;
        Ok(ToolStream {
            state: Exclusive::new(State { stream: Some(stream), form: None, tail: Vec::new(), report: None }),
        })
    }
}

struct State {
    stream: Option<compress::ToolStream>,
    form: Option<Form>,
    /// The bytes of an incomplete character at the end of the output.
    tail: Vec<u8>,
    report: Option<Py<Report>>,
}

/// A tool's result that arrives in chunks. It is a context manager, which drops the rest of the result after an exception.
///
///     >>> from libaside import Compressor
///     >>> with Compressor(budget=1024).stream(tool_id="bash", input="make") as stream:
///     ...     out = "".join(stream.feed(f"compiling unit {n}\n") for n in range(500)) + stream.finish()
///     >>> len(out) <= 1024, stream.report.before
///     (True, 9390)
#[pyclass(frozen, generic, module = "libaside")]
pub struct ToolStream {
    state: Exclusive<State>,
}

#[pymethods]
impl ToolStream {
    /// Feed the next chunk and return the text that is decided, which may be empty.
    fn feed<'py>(&self, py: Python<'py>, text: Text<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.state.enter(|state| {
            let bytes = text.bytes()?;
            let form = text.set_form(&mut state.form)?;
            let stream = state.stream.as_mut().ok_or_else(ended)?;
            let mut out = Vec::new();
            py.detach(|| stream.feed(bytes, |part| out.extend_from_slice(part)));
            let tail = std::mem::take(&mut state.tail);
            let mut out = if tail.is_empty() { out } else { [tail, out].concat() };
            if let Form::Str = form {
                // A long line may be cut inside a character.
                let whole = match std::str::from_utf8(&out) {
                    Err(error) if error.error_len().is_none() => error.valid_up_to(),
                    _ => out.len(),
                };
                state.tail = out.split_off(whole);
            }
            form.text(py, &out)
        })
    }

    /// Set the exit code of the command, which is known when the command has ended: after the last chunk, before `finish`. Until
    /// then, a command without an exit code counts as failed.
    fn set_exit_code(&self, code: i64) -> PyResult<()> {
        self.state.enter(|state| {
            state.stream.as_mut().ok_or_else(ended)?.set_exit_code(code);
            Ok(())
        })
    }

    /// End the result and return the rest of it. After that, `report` has the report.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.state.enter(|state| {
            let stream = state.stream.take().ok_or_else(ended)?;
            let mut out = std::mem::take(&mut state.tail);
            let report = py.detach(|| stream.finish(|part| out.extend_from_slice(part)));
            state.report = Some(Py::new(py, Report::new(report))?);
            state.form.unwrap_or(Form::Str).text(py, &out)
        })
    }

    /// The report, once the result has ended; None before.
    #[getter]
    fn report(&self, py: Python<'_>) -> PyResult<Option<Py<Report>>> {
        self.state.enter(|state| Ok(state.report.as_ref().map(|report| report.clone_ref(py))))
    }

    fn __enter__(this: Py<ToolStream>) -> Py<ToolStream> {
        this
    }

    fn __exit__(
        &self,
        class: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if !class.is_none() {
            return self.state.enter(|state| {
                state.stream = None;
                Ok(())
            });
        }
        Ok(())
    }
}

fn ended() -> PyErr {
    errors::value("the stream has ended: make another one")
}
