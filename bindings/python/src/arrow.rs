//! Columns of text in Arrow's memory, row by row, without the interpreter's lock. `libaside.arrow` says what they are for.

use std::sync::Arc;

use arrow_array::builder::{LargeStringBuilder, StringBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field};
use aside::compress::{Invocation, Outcome, Part};
use aside::{Channel, Kind};
use pyo3::prelude::*;
use pyo3_arrow::PyChunkedArray;
use pyo3_arrow::input::AnyArray;

use crate::compressor::{self, Compressor};
use crate::dialect::{DialectLike, start};
use crate::errors::{self, guarded};

/// Returns the rows of a column of strings, in one of Arrow's three layouts.
fn rows(chunk: &ArrayRef) -> PyResult<Box<dyn Iterator<Item = Option<&str>> + '_>> {
    Ok(match chunk.data_type() {
        DataType::Utf8 => Box::new(chunk.as_string::<i32>().iter()),
        DataType::LargeUtf8 => Box::new(chunk.as_string::<i64>().iter()),
        DataType::Utf8View => Box::new(chunk.as_string_view().iter()),
        other => {
            let message =
                format!("an array of strings is needed (string, large_string or string_view), not of {other}");
            return Err(errors::value(message));
        }
    })
}

/// A column that is made, of the layout of the one that came.
enum Column {
    Utf8(StringBuilder),
    LargeUtf8(LargeStringBuilder),
    Utf8View(StringViewBuilder),
}

impl Column {
    fn like(chunk: &ArrayRef) -> Column {
        match chunk.data_type() {
            DataType::LargeUtf8 => Column::LargeUtf8(LargeStringBuilder::new()),
            DataType::Utf8View => Column::Utf8View(StringViewBuilder::new()),
            _ => Column::Utf8(StringBuilder::new()),
        }
    }

    /// Adds a row. It is UTF-8, because no event cuts a character.
    fn add(&mut self, text: Option<&[u8]>) {
        let text = text.map(String::from_utf8_lossy);
        let text = text.as_deref();
        match self {
            Column::Utf8(column) => column.append_option(text),
            Column::LargeUtf8(column) => column.append_option(text),
            Column::Utf8View(column) => column.append_option(text),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Column::Utf8(mut column) => Arc::new(column.finish()),
            Column::LargeUtf8(mut column) => Arc::new(column.finish()),
            Column::Utf8View(mut column) => Arc::new(column.finish()),
        }
    }
}

/// Returns columns that `row` makes of each text. A null stays one.
fn mapped<const N: usize>(
    py: Python<'_>,
    array: AnyArray,
    mut row: impl FnMut(&str) -> Result<[Vec<u8>; N], aside::Error> + Send,
) -> PyResult<[PyChunkedArray; N]> {
    let array = array.into_chunked_array()?;
    let field = Arc::new(Field::new("", array.data_type().clone(), true));
    let chunks = array.chunks().to_vec();
    let columns = guarded(|| {
        py.detach(|| {
            let mut columns: [Vec<ArrayRef>; N] = std::array::from_fn(|_| Vec::new());
            for chunk in &chunks {
                let mut made: [Column; N] = std::array::from_fn(|_| Column::like(chunk));
                for text in rows(chunk)? {
                    let texts = text.map(&mut row).transpose().map_err(errors::scanner)?;
                    for (number, column) in made.iter_mut().enumerate() {
                        column.add(texts.as_ref().map(|texts| &texts[number][..]));
                    }
                }
                for (column, made) in columns.iter_mut().zip(made) {
                    column.push(made.finish());
                }
            }
            Ok(columns)
        })
    })?;
    let mut failed = None;
    let arrays = columns.map(|chunks| {
        PyChunkedArray::try_new(chunks, Arc::clone(&field)).unwrap_or_else(|error| {
            failed = Some(error);
            PyChunkedArray::try_new(Vec::new(), Arc::clone(&field)).expect("a column without rows")
        })
    });
    failed.map_or(Ok(arrays), Err)
}

#[pyfunction]
#[pyo3(signature = (array, dialect, *, start = None))]
pub fn arrow_split(
    py: Python<'_>,
    array: AnyArray,
    dialect: DialectLike<'_>,
    start: Option<&str>,
) -> PyResult<(PyChunkedArray, PyChunkedArray)> {
    let options = aside::ScannerOptions::new().start(self::start(start)?);
    let mut scanner = aside::Scanner::with_options(&dialect.find()?, &options).map_err(errors::scanner)?;
    let [thinking, content] = mapped(py, array, |text| {
        let [mut thinking, mut content] = [Vec::new(), Vec::new()];
        let mut take = |event: aside::Event<'_>| match (event.kind, event.channel) {
            (Kind::Text, Channel::Thinking) => thinking.extend_from_slice(event.bytes),
            (Kind::Text, Channel::Content | Channel::Narration) => content.extend_from_slice(event.bytes),
            (Kind::Reclassify, Channel::Content) => content.append(&mut thinking),
            (Kind::Reclassify, _) => thinking.append(&mut content),
            _ => {}
        };
        scanner.reset();
        scanner.feed(text, &mut take)?;
        scanner.finish(&mut take)?;
        Ok([thinking, content])
    })?;
    Ok((thinking, content))
}

#[pyfunction]
pub fn arrow_strip(py: Python<'_>, array: AnyArray, dialect: DialectLike<'_>) -> PyResult<PyChunkedArray> {
    let dialect = dialect.find()?;
    let [answers] = mapped(py, array, |text| Ok([dialect.strip(text)?]))?;
    Ok(answers)
}

#[pyfunction]
#[pyo3(signature = (array, compressor, *, tool_id, input))]
pub fn arrow_compress(
    py: Python<'_>,
    array: AnyArray,
    compressor: &Bound<'_, Compressor>,
    tool_id: &str,
    input: &Bound<'_, PyAny>,
) -> PyResult<PyChunkedArray> {
    let input = compressor::input(input)?;
    let compressor = Arc::clone(&compressor.get().inner);
    let [results] = mapped(py, array, |text| {
        let mut result = compressor.compress(&Invocation::new(tool_id, &input), &[Part::Text(text.as_bytes())]);
        Ok([match result.parts.pop() {
            Some(Outcome::Text(short)) => short,
            _ => text.as_bytes().to_vec(),
        }])
    })?;
    Ok(results)
}
