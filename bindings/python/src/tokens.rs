//! Token ids: the bytes of a tokenizer's tokens, and the roles of a stream's ids.

use std::sync::Arc;

use aside::{Channel, TokenBytes};
use pyo3::Borrowed;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyTuple};

use crate::dialect::{DialectLike, start};
use crate::errors::{self, Exclusive, guarded};
use crate::words;

/// The bytes of each token of a tokenizer, by its id. A single token is bytes and not text, because a character may begin in one
/// token and end in the next.
///
///     >>> from libaside import Vocabulary
///     >>> Vocabulary([b"<think>", b"hm"], special=[0]).decode([0, 1])
///     b'<think>hm'
///
/// `special` are the ids of the added tokens: only these may be markers, and any other token is text, whatever it looks like.
/// Without `special`, a marker counts wherever its text occurs.
///
/// `Vocabulary.byte_level` takes the tokens of a tokenizer that writes each byte as a printable character (GPT-2, Llama 3, Qwen),
/// `Vocabulary.byte_fallback` those of a tokenizer that writes blanks as `▁` and has tokens like `<0x0A>` (SentencePiece). For
/// both, `added` are the ids of tokens that are written literally.
#[pyclass(frozen, module = "libaside")]
pub struct Vocabulary {
    pub inner: Arc<aside::Vocabulary>,
}

impl Vocabulary {
    fn made(inner: aside::Vocabulary, has_special: bool) -> Vocabulary {
        let inner = if has_special { inner } else { inner.without_special() };
        Vocabulary { inner: Arc::new(inner) }
    }
}

/// A function that returns the bytes of a token.
struct Function(Py<PyAny>);

impl TokenBytes for Function {
    fn read(&self, id: u32, bytes: &mut Vec<u8>) -> Option<bool> {
        Python::attach(|py| match self.0.call1(py, (id,)).and_then(|found| found.extract::<Vec<u8>>(py)) {
            Ok(found) => bytes.extend_from_slice(&found),
            Err(error) => error.write_unraisable(py, Some(self.0.bind(py))),
        });
        None
    }
}

/// An argument that may be a vocabulary or a function.
pub struct VocabularyLike(Arc<dyn TokenBytes>);

impl FromPyObject<'_, '_> for VocabularyLike {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<VocabularyLike> {
        if let Ok(vocabulary) = value.cast::<Vocabulary>() {
            return Ok(VocabularyLike(vocabulary.get().inner.clone()));
        }
        if !value.is_callable() {
            return Err(errors::wrong_type("a vocabulary is a Vocabulary or a function from an id to bytes", &value));
        }
        Ok(VocabularyLike(Arc::new(Function(value.to_owned().unbind()))))
    }
}

/// Token ids. Any other number, such as -1 in the place of a token that was not proposed, counts as a token without bytes.
pub struct Ids(Vec<u32>);

impl FromPyObject<'_, '_> for Ids {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Ids> {
        if let Ok(ids) = value.extract() {
            return Ok(Ids(ids));
        }
        let ids = value.try_iter()?.map(|id| Ok(id?.extract().unwrap_or(u32::MAX)));
        Ok(Ids(ids.collect::<PyResult<_>>()?))
    }
}

/// Returns for each id below `len` whether it is in `ids`.
fn marks(len: usize, ids: Option<&[u32]>) -> Vec<bool> {
    let mut marks = vec![false; len];
    for &id in ids.unwrap_or_default() {
        if let Some(mark) = marks.get_mut(id as usize) {
            *mark = true;
        }
    }
    marks
}

#[pymethods]
impl Vocabulary {
    #[new]
    #[pyo3(signature = (tokens, *, special = None))]
    fn new(tokens: Vec<Vec<u8>>, special: Option<Vec<u32>>) -> Vocabulary {
        let marks = marks(tokens.len(), special.as_deref());
        Vocabulary::made(aside::Vocabulary::new(tokens.iter().zip(marks)), special.is_some())
    }

    #[staticmethod]
    #[pyo3(signature = (tokens, added, *, special = true))]
    fn byte_level(tokens: Vec<String>, added: Vec<u32>, special: bool) -> Vocabulary {
        let marks = marks(tokens.len(), Some(&added));
        Vocabulary::made(aside::Vocabulary::byte_level(tokens.iter().zip(marks)), special)
    }

    #[staticmethod]
    #[pyo3(signature = (tokens, added, *, special = true))]
    fn byte_fallback(tokens: Vec<String>, added: Vec<u32>, special: bool) -> Vocabulary {
        let marks = marks(tokens.len(), Some(&added));
        Vocabulary::made(aside::Vocabulary::byte_fallback(tokens.iter().zip(marks)), special)
    }

    /// Return the bytes of these tokens, joined.
    fn decode<'py>(&self, py: Python<'py>, ids: Ids) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.decode(&ids.0))
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }
}

/// The state of one stream's token ids: which channel each token belongs to, whether the thinking has ended and where. All results
/// are those of a Scanner that is fed the tokens' text. A token belongs to the channel of its first byte.
///
///     >>> from libaside import TokenState, Vocabulary
///     >>> vocabulary = Vocabulary([b"<think>", b"</think>", b"hm", b"Yes"], special=[0, 1])
///     >>> state = TokenState("qwen3", vocabulary)
///     >>> state.push([0, 2, 1, 3])
///     [('thinking', 'marker'), ('thinking', 'text'), ('thinking', 'marker'), ('content', 'text')]
///     >>> state.has_ended_thinking(), state.content_ids(), state.count("thinking")
///     (True, [3], 1)
///
/// In place of a Vocabulary, `vocabulary` may be a function from an id to the bytes of its token. Any other number, such as -1,
/// counts as a token without bytes. `prompt` are the ids of the prompt, of which only the text after the last turn marker is read.
/// `start` is the span that is open at the first token if the prompt contains no text of the model's turn.
#[pyclass(frozen, module = "libaside")]
pub struct TokenState {
    state: Exclusive<aside::TokenState>,
}

/// Returns channels and roles as a list of Python's tuples.
fn pairs<'py>(
    py: Python<'py>,
    read: impl FnOnce(&mut dyn FnMut(Channel, aside::Role)) -> Result<(), aside::Error>,
) -> PyResult<Bound<'py, PyList>> {
    let mut seen = Vec::new();
    read(&mut |channel, role| seen.push((channel.as_str(), role.as_str()))).map_err(errors::scanner)?;
    PyList::new(py, seen)
}

#[pymethods]
impl TokenState {
    #[new]
    #[pyo3(signature = (dialect, vocabulary, prompt = None, *, start = None))]
    fn new(
        dialect: DialectLike<'_>,
        vocabulary: VocabularyLike,
        prompt: Option<Ids>,
        start: Option<&str>,
    ) -> PyResult<TokenState> {
        let (dialect, start) = (dialect.find()?, self::start(start)?);
        let made = || {
            aside::TokenState::new(&dialect, vocabulary.0, &prompt.map_or_else(Vec::new, |ids| ids.0), start)
                .map_err(errors::scanner)
        };
        Ok(TokenState { state: Exclusive::new(guarded(made)?) })
    }

    /// Read the next ids, and return the channel and role of each token that is now decided, in the order of the stream.
    fn push<'py>(&self, py: Python<'py>, ids: Ids) -> PyResult<Bound<'py, PyList>> {
        self.state.enter(|state| pairs(py, |on_token| state.push(&ids.0, on_token)))
    }

    /// End the stream, and return the channel and role of the tokens that were undecided.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.state.enter(|state| pairs(py, |on_token| state.finish(on_token)))
    }

    /// Return whether the thinking has ended, in the prompt or in the pushed tokens, with or without a closer, and no other
    /// thinking is open.
    fn has_ended_thinking(&self) -> PyResult<bool> {
        self.state.enter(|state| Ok(state.has_ended_thinking()))
    }

    /// Return the index of the id that ends the thinking, in a list of ids that may come next, or None.
    fn find_end(&self, ids: Ids) -> PyResult<Option<usize>> {
        self.state.enter(|state| state.find_end(&ids.0).map_err(errors::scanner))
    }

    /// Return the ids that were pushed since the thinking has ended.
    fn content_ids(&self) -> PyResult<Vec<u32>> {
        self.state.enter(|state| Ok(state.content_ids().collect()))
    }

    /// Return the number of decided tokens that are text of a channel.
    fn count(&self, channel: &str) -> PyResult<u64> {
        let channel = words::find("channel", channel)?;
        self.state.enter(|state| Ok(state.count(channel)))
    }

    /// Return a mask of each channel for these ids, read as if they were the rest of the stream; the state does not change. A mask
    /// has a byte for each id, 1 or 0. Each id is in the mask of one channel, markers included; those that are text of their
    /// channel are also in the mask `text`. `numpy.frombuffer(mask, bool)` and `torch.frombuffer` take a mask without a copy.
    ///
    ///     >>> from libaside import TokenState, Vocabulary
    ///     >>> vocabulary = Vocabulary([b"<think>", b"</think>", b"hm", b"Yes"], special=[0, 1])
    ///     >>> masks = TokenState("qwen3", vocabulary).channels([0, 2, 1, 3])
    ///     >>> list(masks["thinking"]), list(masks["content"]), list(masks["text"])
    ///     ([1, 1, 1, 0], [0, 0, 0, 1], [0, 1, 0, 1])
    fn channels<'py>(&self, py: Python<'py>, ids: Ids) -> PyResult<Bound<'py, PyDict>> {
        self.state.enter(|state| {
            let found = state.channels(&ids.0).map_err(errors::scanner)?;
            let mask = |is_set: &dyn Fn(Channel, aside::Role) -> bool| {
                PyByteArray::new_with(py, found.len(), |mask| {
                    for (mask, &(channel, role)) in mask.iter_mut().zip(&found) {
                        *mask = is_set(channel, role).into();
                    }
                    Ok(())
                })
            };
            let masks = PyDict::new(py);
            for channel in Channel::ALL {
                masks.set_item(channel.as_str(), mask(&|of, _| of == channel)?)?;
            }
            masks.set_item("text", mask(&|_, role| role == aside::Role::Text)?)?;
            Ok(masks)
        })
    }

    /// Return a copy, for streams that begin with the same tokens.
    fn copy(&self) -> PyResult<TokenState> {
        self.state.enter(|state| Ok(TokenState { state: Exclusive::new(state.try_clone().map_err(errors::scanner)?) }))
    }

    fn __reduce__(&self) -> PyResult<Py<PyTuple>> {
        Err(pyo3::exceptions::PyTypeError::new_err("a token state cannot be pickled: it is in the middle of a stream"))
    }
}
