//! Tool calls as clients take them: id, name, and arguments that are JSON.

use std::sync::Arc;

use aside::call_writer::{self, CallWriter, Options, Tools};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::dialect::to_json;
use crate::errors;
use crate::event::cause_name;

/// The end of a call.
#[pyclass(frozen, get_all, module = "libaside")]
pub struct CallEnd {
    /// Why the call ended: `marker`, `implied`, `end_of_stream`, `forced` or `malformed`.
    cause: &'static str,
    /// Whether the arguments are complete, so that the call may be run.
    is_whole: bool,
    /// Whether the call was repaired: the model may have meant other arguments.
    is_repaired: bool,
    /// The id of the call if the model wrote it after the first delta was sent.
    late_id: Option<String>,
}

/// The next part of a tool call. The first part of a call has its `id` and `name`, the last part its `end`; the `arguments` of
/// all parts, joined, are JSON if the call is whole.
#[pyclass(frozen, get_all, module = "libaside")]
pub struct CallDelta {
    /// The number of the call among those that are emitted, from 0.
    index: u64,
    id: Option<String>,
    name: Option<String>,
    arguments: Py<PyString>,
    end: Option<Py<CallEnd>>,
}

impl CallDelta {
    fn new(py: Python<'_>, delta: &call_writer::CallDelta<'_>) -> PyResult<CallDelta> {
        let end = delta.end.map(|end| CallEnd {
            cause: cause_name(end.cause),
            is_whole: end.is_whole,
            is_repaired: end.is_repaired,
            late_id: end.late_id.map(Into::into),
        });
        Ok(CallDelta {
            index: delta.index,
            id: delta.id.map(Into::into),
            name: delta.name.map(Into::into),
            arguments: PyString::from_bytes(py, delta.arguments.as_bytes())?.unbind(),
            end: end.map(|end| Py::new(py, end)).transpose()?,
        })
    }
}

#[pymethods]
impl CallDelta {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shown = |text: &Option<String>| PyResult::Ok(text.as_deref().into_pyobject(py)?.repr()?.to_string());
        let (index, id, name) = (self.index, shown(&self.id)?, shown(&self.name)?);
        let arguments = self.arguments.bind(py).repr()?;
        Ok(format!("CallDelta(index={index}, id={id}, name={name}, arguments={arguments})"))
    }
}

/// Reads the tools of a request: a list as the API takes it, or the JSON of one, of at most `max_tools` bytes.
pub fn tools(tools: Option<&Bound<'_, PyAny>>, max_tools: Option<usize>) -> PyResult<Option<Arc<Tools>>> {
    let Some(tools) = tools else { return Ok(None) };
    let json = match tools.extract::<String>() {
        Ok(json) => json,
        Err(_) => to_json(tools)?,
    };
    let tools = Tools::read_up_to(&json, max_tools).map_err(errors::value)?;
    Ok(Some(Arc::new(tools)))
}

/// Makes deltas of the calls that a scanner reports.
pub struct Writer(CallWriter);

impl Writer {
    pub fn new(dialect: &aside::Dialect, options: Options) -> Writer {
        Writer(CallWriter::new(dialect, options))
    }

    pub fn reset(&mut self) {
        self.0.reset();
    }

    pub fn take(&mut self, py: Python<'_>, event: &aside::Event<'_>, deltas: &mut Vec<Py<CallDelta>>) -> PyResult<()> {
        let mut made = Ok(());
        let written = self.0.event(event, |delta| {
            if made.is_ok() {
                made = CallDelta::new(py, &delta).and_then(|delta| Py::new(py, delta)).map(|delta| deltas.push(delta));
            }
        });
        written.map_err(errors::scanner)?;
        made
    }
}
