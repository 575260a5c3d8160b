//! Dialects: found by name, model or template, or read from a file's text.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;

/// How a family of models marks its thinking, its answer and its tool calls.
///
/// A dialect never changes, and may be used by all threads.
///
///     >>> from libaside import Dialect
///     >>> Dialect.for_model("Qwen/Qwen3-32B").name
///     'qwen3'
#[pyclass(frozen, module = "libaside")]
#[derive(Clone)]
pub struct Dialect {
    pub inner: aside::Dialect,
}

/// A dialect, or the name of one.
#[derive(FromPyObject)]
pub enum DialectLike<'py> {
    Dialect(Bound<'py, Dialect>),
    Name(String),
}

impl DialectLike<'_> {
    pub fn find(&self) -> PyResult<aside::Dialect> {
        match self {
            DialectLike::Dialect(dialect) => Ok(dialect.get().inner.clone()),
            DialectLike::Name(name) => find(name),
        }
    }
}

fn find(name: &str) -> PyResult<aside::Dialect> {
    aside::Dialect::find(name).map_err(|error| {
        let nearest = error.nearest().iter().map(ToString::to_string).collect();
        errors::unknown(error.to_string(), nearest)
    })
}

#[pymethods]
impl Dialect {
    /// Return the built-in dialect of this name. Raises UnknownDialectError, which has the nearest names.
    #[staticmethod]
    fn find(name: &str) -> PyResult<Dialect> {
        Ok(Dialect { inner: find(name)? })
    }

    /// Return the built-in dialect of a model, by the name that it has on a hub or in a server. Raises UnknownDialectError.
    #[staticmethod]
    fn for_model(model: &str) -> PyResult<Dialect> {
        let found = aside::Dialect::find_for_model(model);
        let inner = found.map_err(|error| {
            let nearest = error.nearest().map(|known| known.model.to_owned()).collect();
            errors::unknown(error.to_string(), nearest)
        })?;
        Ok(Dialect { inner })
    }

    /// Return the built-in dialect that a chat template is written for, and where generation starts after its prompt: a
    /// pair of a dialect and a start. `variables` are those of one request, such as `enable_thinking`. Raises UnknownDialectError.
    #[staticmethod]
    #[pyo3(signature = (template, variables = None))]
    fn for_template(
        py: Python<'_>,
        template: &str,
        variables: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<(Dialect, &'static str)> {
        let variables = variables.map(|variables| to_json(variables.as_any())).transpose()?;
        let found = py.detach(|| match &variables {
            Some(variables) => aside::Dialect::find_for_template_with(template, variables),
            None => aside::Dialect::find_for_template(template),
        });
        let (inner, start) = found.map_err(|error| errors::unknown(error.to_string(), Vec::new()))?;
        Ok((Dialect { inner }, start.as_str()))
    }

    /// Return the dialect of a dialect file's text. Raises DialectError, which has the line and the key.
    #[staticmethod]
    fn from_toml(py: Python<'_>, text: &str) -> PyResult<Dialect> {
        let inner = py.detach(|| aside::Dialect::from_toml(text)).map_err(|error| errors::file(&error))?;
        Ok(Dialect { inner })
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// What is open where a stream starts, unless a scanner is told otherwise.
    #[getter]
    fn start(&self) -> &'static str {
        self.inner.start().as_str()
    }

    /// What may be open where a stream starts.
    #[getter]
    fn starts(&self) -> PyResult<Vec<&'static str>> {
        let channels = aside::Channel::ALL.into_iter().map(aside::Start::Channel);
        let mut starts = Vec::new();
        for start in channels.chain([aside::Start::Header]) {
            match aside::Scanner::with_options(&self.inner, &aside::ScannerOptions::new().start(start)) {
                Ok(_) => starts.push(start.as_str()),
                Err(aside::Error::NoSuchStart) => {}
                Err(error) => return Err(errors::scanner(error)),
            }
        }
        Ok(starts)
    }

    /// The most bytes of a stream that are held back until it is clear what they are.
    #[getter]
    fn max_hold(&self) -> usize {
        self.inner.max_hold()
    }

    fn __repr__(&self) -> String {
        format!("Dialect({:?})", self.inner.name())
    }
}

/// Return the names of the built-in dialects.
#[pyfunction]
pub fn dialects() -> Vec<&'static str> {
    aside::Dialect::names().collect()
}

/// Returns a Python value as JSON, which it must be able to become.
pub fn to_json(value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.py().import("json")?.call_method1("dumps", (value,))?.extract()
}

/// Returns the start of this name.
pub fn start(name: Option<&str>) -> PyResult<Option<aside::Start>> {
    name.map(|name| name.parse().map_err(errors::value)).transpose()
}
