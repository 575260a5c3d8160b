//! Exceptions. Each carries what a program may want to act on, as attributes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, TryLockError};

use pyo3::create_exception;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    libaside,
    AsideError,
    PyValueError,
    "What libaside is asked for cannot be done. The message says why."
);
create_exception!(
    libaside,
    UnknownDialectError,
    AsideError,
    "No dialect has this name, or is known for this model or template.\n\nnearest: list[str], the names that are nearest to it."
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
create_exception!(libaside, BusyError, AsideError, "Another thread is inside this object. Nothing has changed.");

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

pub fn file(error: &aside::FileError) -> PyErr {
    with(DialectError::new_err(error.to_string()), |value| {
        value.setattr("line", error.line())?;
        value.setattr("key", error.key())
    })
}

pub fn join(error: aside::JoinError) -> PyErr {
    let (part, offset) = match &error {
        aside::JoinError::OutOfMemory => return PyMemoryError::new_err(error.to_string()),
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
        aside::Error::OutOfMemory => PyMemoryError::new_err(error.to_string()),
        other => AsideError::new_err(other.to_string()),
    }
}

pub fn value(message: impl std::fmt::Display) -> PyErr {
    AsideError::new_err(message.to_string())
}

/// Runs `body` so that a defect of the library, a panic, is a `RuntimeError`.
pub fn guarded<T>(body: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        Err(PyRuntimeError::new_err("a defect of libaside: please report it with the input that led to it"))
    })
}

/// An object of which one thread at a time may be inside.
pub struct Exclusive<T>(Mutex<T>);

impl<T> Exclusive<T> {
    pub fn new(state: T) -> Exclusive<T> {
        Exclusive(Mutex::new(state))
    }

    /// Enters. It never waits: two threads inside one stream are a mistake of the program.
    pub fn enter(&self) -> PyResult<MutexGuard<'_, T>> {
        self.0.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => BusyError::new_err("another thread is inside this object"),
            TryLockError::Poisoned(_) => {
                PyRuntimeError::new_err("a defect of libaside has ended this object; it cannot be used any more")
            }
        })
    }
}
