//! The Python module `libaside._libaside`: classes and functions over the crate's types and functions. This crate has no logic
//! that belongs in the library; it adds only Python's part: texts that are `str` or `bytes`, the lock of the interpreter, and
//! exceptions.

mod answer;
mod arrow;
mod compressor;
mod dialect;
mod errors;
mod event;
mod gate;
mod history;
mod rewriter;
mod scanner;
mod text;
mod tokens;
mod whole;
mod words;

use pyo3::prelude::*;

#[pymodule]
mod _libaside {
    #[pymodule_export]
    use super::answer::{Answer, Part};
    #[pymodule_export]
    use super::arrow::{arrow_compress, arrow_spans, arrow_split, arrow_strip};
    #[pymodule_export]
    use super::compressor::{Compressed, Compressor, Report, ToolStream};
    #[pymodule_export]
    use super::dialect::{Dialect, Draft, ToolGrammar};
    #[pymodule_export]
    use super::errors::{AmbiguousDialectError, AsideError, DialectError, JoinError, UnknownDialectError};
    #[pymodule_export]
    use super::event::{Attribute, Event};
    #[pymodule_export]
    use super::gate::{Request, read_request, request_hint, request_model, wants};
    #[pymodule_export]
    use super::history::{
        HistoryReport, history_format, history_server, history_servers, load_history_server, rewrite_history,
    };
    #[pymodule_export]
    use super::rewriter::{Rewriter, Stats};
    #[pymodule_export]
    use super::scanner::{Counts, Scanner, Split, Thought};
    #[pymodule_export]
    use super::tokens::{TokenState, Vocabulary};
    #[pymodule_export]
    use super::whole::{escape, join, spans, split, strip};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("BusyError", super::errors::busy_error(module.py())?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
