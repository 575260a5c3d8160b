//! Exceptions. Their attributes have the data that a program may need to react to them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, TryLockError};

use pyo3::create_exception;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

create_exception!(libaside, AsideError, PyValueError, "The base of libaside's errors. The message says why.");
create_exception!(
    libaside,
    UnknownDialectError,
    AsideError,
    "No dialect has this name, or is known for this model or template.\n\nnearest: list[str], the names that are nearest to it."
);
create_exception!(
    libaside,
    AmbiguousDialectError,
    UnknownDialectError,
    "A template fits several dialects equally well.\n\ncandidates: list[str], their names."
);
create_exception!(
    libaside,
    DialectError,
    AsideError,
    "A dialect file or a filter file has an error.\n\nline: int | None, counted from 1. key: str, with its table."
);
create_exception!(
    libaside,
    JoinError,
    AsideError,
    "Texts cannot be joined or escaped.\n\npart: str | None, `thinking`, `content` or `call`. offset: int | None, the index in the \
     part, in bytes of UTF-8, of the first byte that would be read as something else."
);

static BUSY_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Returns the class `BusyError`, which `create_exception!` cannot make because it has two bases.
pub fn busy_error(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    let class = BUSY_ERROR.get_or_try_init(py, || {
        let bases = (py.get_type::<AsideError>(), py.get_type::<PyRuntimeError>());
        let members = PyDict::new(py);
        members.set_item("__module__", "libaside")?;
        members.set_item("__doc__", "Another thread is inside this object. Nothing has changed.")?;
        let class = py.get_type::<PyType>().call1(("BusyError", bases, members))?;
        PyResult::Ok(class.cast_into::<PyType>()?.unbind())
    })?;
    Ok(class.bind(py).clone())
}

fn busy() -> PyErr {
    Python::attach(|py| match busy_error(py) {
        Ok(class) => PyErr::from_type(class, "another thread is inside this object"),
        Err(failure) => failure,
    })
}

/// Returns an exception of a class with attributes.
fn with(error: PyErr, set: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>) -> PyErr {
    Python::attach(|py| match set(error.value(py).as_any()) {
        Ok(()) => error,
        Err(failure) => failure,
    })
}

pub fn unknown(message: String, nearest: Vec<String>) -> PyErr {
    with(UnknownDialectError::new_err(message), |error| error.setattr("nearest", nearest))
}

pub fn template(error: &aside::UnknownTemplate) -> PyErr {
    if error.is_out_of_memory() {
        return memory();
    }
    if error.is_of_variables() {
        return value(error);
    }
    if error.candidates().is_empty() {
        return unknown(error.to_string(), Vec::new());
    }
    with(AmbiguousDialectError::new_err(error.to_string()), |value| {
        value.setattr("nearest", Vec::<String>::new())?;
        value.setattr("candidates", error.candidates())
    })
}

pub fn file(error: &aside::FileError) -> PyErr {
    with(DialectError::new_err(error.to_string()), |value| {
        value.setattr("line", error.line())?;
        value.setattr("key", error.key())
    })
}

pub fn join(error: aside::JoinError) -> PyErr {
    let (part, offset) = match &error {
        aside::JoinError::OutOfMemory => return memory(),
        aside::JoinError::Marker { part, offset } => (Some(part.as_str()), Some(*offset)),
        aside::JoinError::Call { .. } => (Some("call"), None),
        _ => (None, None),
    };
    with(JoinError::new_err(error.to_string()), |value| {
        value.setattr("part", part)?;
        value.setattr("offset", offset)
    })
}

pub fn scanner(error: aside::Error) -> PyErr {
    match error {
        aside::Error::OutOfMemory => memory(),
        other => AsideError::new_err(other.to_string()),
    }
}

pub fn value(message: impl std::fmt::Display) -> PyErr {
    AsideError::new_err(message.to_string())
}

pub fn memory() -> PyErr {
    PyMemoryError::new_err("out of memory")
}

/// Returns the error of an argument of a wrong type. `wanted` says which types it may have.
pub fn wrong_type(wanted: &str, value: &Bound<'_, PyAny>) -> PyErr {
    if value.is_none() {
        return PyTypeError::new_err(format!("{wanted}, not None"));
    }
    let class = value.get_type().name().map_or_else(|_| "another type".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{wanted}, not {class}"))
}

/// Runs `body` so that a defect of the library, a panic, is a `RuntimeError`.
pub fn guarded<T>(body: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        Err(PyRuntimeError::new_err("a defect of libaside: please report it with the input that led to it"))
    })
}

/// An object that one thread at a time may use.
pub struct Exclusive<T>(Mutex<T>);

impl<T> Exclusive<T> {
    pub fn new(state: T) -> Exclusive<T> {
        Exclusive(Mutex::new(state))
    }

    /// Runs `body` with the object. It never waits: a second thread gets an error, because using one stream in two threads is a
    /// mistake of the program. After a panic of `body` the object cannot be used any more, because its lock stays poisoned.
    pub fn enter<R>(&self, body: impl FnOnce(&mut T) -> PyResult<R>) -> PyResult<R> {
        let mut state = self.0.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => busy(),
            TryLockError::Poisoned(_) => {
                PyRuntimeError::new_err("a defect of libaside has ended this object; it cannot be used any more")
            }
        })?;
        guarded(move || body(&mut state))
    }
}
