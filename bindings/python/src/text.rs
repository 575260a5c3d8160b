//! Texts that are `str` or `bytes`: an object returns the type that it was fed.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use pyo3::{Borrowed, intern};

use crate::errors;

/// The length in bytes from which on the interpreter's lock is released while a text is read: for a shorter text, releasing the
/// lock takes longer than reading.
pub const RELEASE_FROM: usize = 4096;

/// Whether texts are `str` or `bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Str,
    Bytes,
}

impl Form {
    /// Returns text in this form, or a `MemoryError`. It is UTF-8 if it came as `str`, because no event cuts a character.
    pub fn text<'py>(self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Form::Str if bytes.is_empty() => intern!(py, "").clone().into_any(),
            Form::Bytes => {
                let copy = |room: &mut [u8]| {
                    room.copy_from_slice(bytes);
                    Ok(())
                };
                PyBytes::new_with(py, bytes.len(), copy)?.into_any()
            }
            Form::Str => PyString::from_bytes(py, String::from_utf8_lossy(bytes).as_bytes())?.into_any(),
        })
    }
}

/// A text that came from Python.
pub enum Text<'py> {
    Str(Bound<'py, PyString>),
    Bytes(Bound<'py, PyBytes>),
}

impl<'py> FromPyObject<'_, 'py> for Text<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Text<'py>> {
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(Text::Str(text.to_owned()));
        }
        let bytes = value.cast::<PyBytes>().map_err(|_| errors::wrong_type("text must be str or bytes", &value))?;
        Ok(Text::Bytes(bytes.to_owned()))
    }
}

impl<'py> Text<'py> {
    /// Returns Python's own object.
    pub fn object(&self) -> &Bound<'py, PyAny> {
        match self {
            Text::Str(text) => text.as_any(),
            Text::Bytes(bytes) => bytes.as_any(),
        }
    }

    pub fn form(&self) -> Form {
        match self {
            Text::Str(_) => Form::Str,
            Text::Bytes(_) => Form::Bytes,
        }
    }

    /// Returns the text's bytes. A lone surrogate in a `str` is a `UnicodeEncodeError`, which is a `ValueError` and has its index.
    pub fn bytes(&self) -> PyResult<&[u8]> {
        match self {
            Text::Str(text) => Ok(text.to_str()?.as_bytes()),
            Text::Bytes(bytes) => Ok(bytes.as_bytes()),
        }
    }

    /// Sets the form of a stream from its first text, and refuses a later text of the other form.
    pub fn set_form(&self, form: &mut Option<Form>) -> PyResult<Form> {
        let own = self.form();
        match *form {
            Some(other) if other != own => Err(mixed(other)),
            _ => {
                *form = Some(own);
                Ok(own)
            }
        }
    }
}

fn mixed(form: Form) -> PyErr {
    PyTypeError::new_err(match form {
        Form::Str => "this stream began with str: feed str, not bytes",
        Form::Bytes => "this stream began with bytes: feed bytes, not str",
    })
}

/// Runs `body` without the interpreter's lock if it reads a long text.
pub fn released<T: Send>(py: Python<'_>, len: usize, body: impl FnOnce() -> T + Send) -> T {
    if len < RELEASE_FROM { body() } else { py.detach(body) }
}
