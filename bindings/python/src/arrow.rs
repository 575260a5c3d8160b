//! Columns of text in Arrow's memory, row by row, without the interpreter's lock. `libaside.arrow` says what they are for.

use std::collections::HashMap;
use std::iter;
use std::sync::Arc;

use arrow_array::builder::{
    Int64Builder, LargeStringBuilder, ListBuilder, StringBuilder, StringViewBuilder, StructBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, Fields};
use aside::compress::{Invocation, Outcome, Part};
use aside::{Channel, Kind};
use pyo3::Borrowed;
use pyo3::prelude::*;
use pyo3_arrow::PyChunkedArray;
use pyo3_arrow::input::AnyArray;

use crate::compressor::{self, Compressor};
use crate::dialect::{self, DialectLike, start};
use crate::errors::{self, guarded};
use crate::text::Form;
use crate::whole::places;

type Rows<'a> = Box<dyn Iterator<Item = Option<&'a str>> + 'a>;

/// Returns the rows of a column of texts: strings in one of Arrow's three layouts, a dictionary of them, or nulls alone.
fn rows(chunk: &ArrayRef) -> PyResult<Rows<'_>> {
    Ok(match chunk.data_type() {
        DataType::Utf8 => Box::new(chunk.as_string::<i32>().iter()),
        DataType::LargeUtf8 => Box::new(chunk.as_string::<i64>().iter()),
        DataType::Utf8View => Box::new(chunk.as_string_view().iter()),
        DataType::Null => Box::new(iter::repeat_n(None, chunk.len())),
        DataType::Dictionary(..) => {
            let dictionary = chunk.as_any_dictionary();
            let values: Vec<_> = rows(dictionary.values())?.collect();
            let keys = if values.is_empty() { vec![0; chunk.len()] } else { dictionary.normalized_keys() };
            let row = move |(row, key): (usize, usize)| if dictionary.is_null(row) { None } else { values[key] };
            Box::new(keys.into_iter().enumerate().map(row))
        }
        other => {
            let message = format!(
                "an array of strings is needed (string, large_string or string_view, or a dictionary of them), not of {other}"
            );
            return Err(errors::value(message));
        }
    })
}

/// Returns the type of the text columns that are made from a column of this type.
fn text_type(column: &DataType) -> DataType {
    match column {
        DataType::Null => DataType::Utf8,
        DataType::Dictionary(_, values) => text_type(values),
        other => other.clone(),
    }
}

/// A column that is made, with the layout of the input column.
enum Column {
    Utf8(StringBuilder),
    LargeUtf8(LargeStringBuilder),
    Utf8View(StringViewBuilder),
}

impl Column {
    fn like(chunk: &ArrayRef) -> Column {
        match text_type(chunk.data_type()) {
            DataType::LargeUtf8 => Column::LargeUtf8(LargeStringBuilder::new()),
            DataType::Utf8View => Column::Utf8View(StringViewBuilder::new()),
            _ => Column::Utf8(StringBuilder::new()),
        }
    }

    /// Adds a row. The text is UTF-8, because no event cuts a character.
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

/// A dialect for all rows, or a column with the name of each row's dialect.
pub enum Dialects<'py> {
    One(DialectLike<'py>),
    Each(AnyArray),
}

impl<'py> FromPyObject<'_, 'py> for Dialects<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Dialects<'py>> {
        let one = value.extract::<DialectLike<'py>>();
        one.map(Dialects::One).or_else(|error| value.extract().map(Dialects::Each).map_err(|_| error))
    }
}

/// A function that makes the state for a dialect.
type Make<T> = Box<dyn Fn(&aside::Dialect) -> Result<T, aside::Error> + Send>;

/// The state for each dialect of a column, such as a scanner, and the column of their names.
struct Named<T> {
    make: Make<T>,
    one: Option<T>,
    each: HashMap<String, T>,
    names: Vec<ArrayRef>,
}

impl<T> Named<T> {
    fn new(
        dialects: Dialects<'_>,
        texts: &[ArrayRef],
        make: impl Fn(&aside::Dialect) -> Result<T, aside::Error> + Send + 'static,
    ) -> PyResult<Named<T>> {
        let mut named = Named { make: Box::new(make), one: None, each: HashMap::new(), names: Vec::new() };
        match dialects {
            Dialects::One(one) => named.one = Some((named.make)(&one.find()?).map_err(errors::scanner)?),
            Dialects::Each(names) => named.names = names.into_chunked_array()?.chunks().to_vec(),
        }
        let len = |chunks: &[ArrayRef]| chunks.iter().map(|chunk| chunk.len()).sum::<usize>();
        let (names, texts) = (len(&named.names), len(texts));
        if named.one.is_none() && names != texts {
            return Err(errors::value(format!("the column of dialects has {names} rows, and that of texts {texts}")));
        }
        Ok(named)
    }

    /// Returns the state for the dialect of this name, or for the only dialect.
    fn find(&mut self, name: &str) -> PyResult<&mut T> {
        if let Some(one) = &mut self.one {
            return Ok(one);
        }
        if !self.each.contains_key(name) {
            let made = (self.make)(&dialect::find(name)?).map_err(errors::scanner)?;
            self.each.insert(name.to_owned(), made);
        }
        Ok(self.each.get_mut(name).expect("it was just made"))
    }
}

/// Reads a column chunk by chunk: `begin` makes a builder, `row` adds each row to it, and `finish` makes a chunk of it. A row
/// whose text or dialect is null is null.
fn read<T: Send, B, R: Send>(
    py: Python<'_>,
    chunks: &[ArrayRef],
    mut dialects: Named<T>,
    mut begin: impl FnMut(&ArrayRef) -> B + Send,
    mut row: impl FnMut(Option<(&str, &mut T)>, &mut B) -> Result<(), aside::Error> + Send,
    mut finish: impl FnMut(B) -> R + Send,
) -> PyResult<Vec<R>> {
    guarded(|| {
        py.detach(|| {
            let columns = std::mem::take(&mut dialects.names);
            let names = columns.iter().map(rows).collect::<PyResult<Vec<_>>>()?;
            let only = iter::repeat_n(Some(""), if dialects.one.is_some() { usize::MAX } else { 0 });
            let mut names = names.into_iter().flatten().chain(only);
            let mut made = Vec::new();
            for chunk in chunks {
                let mut building = begin(chunk);
                for text in rows(chunk)? {
                    let text = match (text, names.next().flatten()) {
                        (Some(text), Some(name)) => Some((text, dialects.find(name)?)),
                        _ => None,
                    };
                    row(text, &mut building).map_err(errors::scanner)?;
                }
                made.push(finish(building));
            }
            Ok(made)
        })
    })
}

/// Returns the columns of the texts that `row` makes from each text.
fn mapped<T: Send, const N: usize>(
    py: Python<'_>,
    array: PyChunkedArray,
    dialects: Named<T>,
    mut row: impl FnMut(&str, &mut T) -> Result<[Vec<u8>; N], aside::Error> + Send,
) -> PyResult<[PyChunkedArray; N]> {
    let field = Arc::new(Field::new("", text_type(array.data_type()), true));
    let begin = |chunk: &ArrayRef| -> [Column; N] { std::array::from_fn(|_| Column::like(chunk)) };
    let add = |text: Option<(&str, &mut T)>, columns: &mut [Column; N]| {
        let texts = text.map(|(text, state)| row(text, state)).transpose()?;
        for (number, column) in columns.iter_mut().enumerate() {
            column.add(texts.as_ref().map(|texts| &texts[number][..]));
        }
        Ok(())
    };
    let chunks = read(py, array.chunks(), dialects, begin, add, |columns| columns.map(Column::finish))?;
    let mut columns: [Vec<ArrayRef>; N] = std::array::from_fn(|_| Vec::new());
    for chunk in chunks {
        for (column, made) in columns.iter_mut().zip(chunk) {
            column.push(made);
        }
    }
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
    dialect: Dialects<'_>,
    start: Option<&str>,
) -> PyResult<(PyChunkedArray, PyChunkedArray)> {
    let array = array.into_chunked_array()?;
    let options = aside::ScannerOptions::new().start(self::start(start)?);
    let scanners = Named::new(dialect, array.chunks(), move |dialect| aside::Scanner::with_options(dialect, &options))?;
    let [thinking, content] = mapped(py, array, scanners, |text, scanner| {
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
#[pyo3(signature = (array, dialect, *, start = None))]
pub fn arrow_spans(
    py: Python<'_>,
    array: AnyArray,
    dialect: Dialects<'_>,
    start: Option<&str>,
) -> PyResult<PyChunkedArray> {
    let array = array.into_chunked_array()?;
    let start = self::start(start)?;
    let dialects = Named::new(dialect, array.chunks(), |dialect| Ok(dialect.clone()))?;
    let number = |name| Field::new(name, DataType::Int64, false);
    let span = Fields::from(vec![Field::new("channel", DataType::Utf8, false), number("start"), number("end")]);
    let item = Arc::new(Field::new("item", DataType::Struct(span.clone()), false));
    let begin =
        |_: &ArrayRef| ListBuilder::new(StructBuilder::from_fields(span.clone(), 0)).with_field(Arc::clone(&item));
    let add = |text: Option<(&str, &mut aside::Dialect)>, column: &mut ListBuilder<StructBuilder>| {
        if let Some((text, dialect)) = &text {
            for (channel, start, end) in places(text.as_bytes(), Form::Str, dialect.spans(text, start)?) {
                let span = column.values();
                span.field_builder::<StringBuilder>(0).expect("the channel").append_value(channel);
                for (field, place) in [(1, start), (2, end)] {
                    span.field_builder::<Int64Builder>(field).expect("a place").append_value(place as i64);
                }
                span.append(true);
            }
        }
        column.append(text.is_some());
        Ok(())
    };
    let finish = |mut column: ListBuilder<StructBuilder>| -> ArrayRef { Arc::new(column.finish()) };
    let chunks = read(py, array.chunks(), dialects, begin, add, finish)?;
    PyChunkedArray::try_new(chunks, Arc::new(Field::new("", DataType::List(item), true)))
}

#[pyfunction]
pub fn arrow_strip(py: Python<'_>, array: AnyArray, dialect: Dialects<'_>) -> PyResult<PyChunkedArray> {
    let array = array.into_chunked_array()?;
    let dialects = Named::new(dialect, array.chunks(), |dialect| Ok(dialect.clone()))?;
    let [answers] = mapped(py, array, dialects, |text, dialect| Ok([dialect.strip(text)?]))?;
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
    let array = array.into_chunked_array()?;
    let input = compressor::input(input)?;
    let compressor = Arc::clone(&compressor.get().inner);
    let no_dialect = Named { make: Box::new(|_| Ok(())), one: Some(()), each: HashMap::new(), names: Vec::new() };
    let [results] = mapped(py, array, no_dialect, |text, ()| {
        let mut result = compressor.compress(&Invocation::new(tool_id, &input), &[Part::Text(text.as_bytes())]);
        Ok([match result.parts.pop() {
            Some(Outcome::Text(short)) => short,
            _ => text.as_bytes().to_vec(),
        }])
    })?;
    Ok(results)
}
