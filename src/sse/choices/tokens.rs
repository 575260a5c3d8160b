//! The log probabilities of a body's tokens. Tokens of thinking, calls and markers are removed from the list, because it must
//! have the tokens of the message's content. Tokens are found by their bytes. If their bytes differ from the text, the list stays
//! unchanged.

use memchr::memmem;

use super::Choice;
use crate::answer::{Parts, Run, Target};
use crate::json::{Edits, Span, Value, decode, whole_number};
use crate::memory::{self, append, push};

/// Finds the lists of tokens in the choices of a body.
pub fn find(raw: &[u8], choices: &mut [Choice]) {
    if memmem::find(raw, b"\"logprobs\"").is_none() {
        return;
    }
    let Some(list) = Value::of(raw).at(&[b"choices"]) else { return };
    let mut choices = choices.iter_mut();
    list.items(|object| {
        if let (Some(choice), Some(tokens)) = (choices.next(), object.at(&[b"logprobs", b"content"])) {
            choice.tokens = tokens.is_list().then_some(tokens.span);
        }
    });
}

/// Notes that tokens outside the content of a text are removed from a list.
pub fn note(
    raw: &[u8],
    list: &Span,
    said: &[u8],
    parts: &Parts,
    runs: &[Run],
    edits: &mut Edits,
) -> memory::Result<()> {
    let Some(content) = places(said, parts, runs)? else { return Ok(()) };
    let (mut spans, mut stays, mut at, mut memory) = (Vec::new(), Vec::new(), 0, Ok(()));
    let mut is_text = true;
    Value { text: raw, span: list.clone() }.items(|token| {
        let mut bytes = Vec::new();
        if memory.is_ok() {
            memory = read(&token, &mut bytes);
        }
        let rest = &said[at..];
        // A token for the end of the turn may follow those of the text.
        let is_after = rest.is_empty();
        is_text &= is_after || rest.starts_with(&bytes);
        let end = if is_text { (at + bytes.len()).min(said.len()) } else { at };
        if memory.is_ok() {
            memory = push(&mut spans, token.span);
        }
        if memory.is_ok() {
            memory = push(&mut stays, !is_after && content.iter().any(|place| at < place.end && place.start < end));
        }
        at = end;
    });
    memory?;
    if is_text && at == said.len() { edits.remove(&spans, |token| !stays[token]) } else { Ok(()) }
}

/// Adds the bytes of a token: its list `bytes`, or its text.
fn read(token: &Value<'_>, bytes: &mut Vec<u8>) -> memory::Result<()> {
    let [text, list] = token.find([b"token", b"bytes"]);
    let Some(list) = list.filter(Value::is_list) else {
        let mut room = Vec::new();
        let text = text.filter(|text| text.string().is_some());
        return text.map_or(Ok(()), |text| append(bytes, decode(text.json(), &mut room)?));
    };
    let mut memory = Ok(());
    list.items(|byte| {
        let byte = whole_number(byte.json()).and_then(|byte| u8::try_from(byte).ok());
        if let (Ok(()), Some(byte)) = (&memory, byte) {
            memory = push(bytes, byte);
        }
    });
    memory
}

/// Returns the positions of the stretches of content in a text, or `None` if one of them is not found.
fn places(said: &[u8], parts: &Parts, runs: &[Run]) -> memory::Result<Option<Vec<Span>>> {
    let (mut places, mut at) = (Vec::new(), 0);
    for run in runs.iter().filter(|run| run.target() != Target::Calls) {
        let text = parts.text_of(run);
        let Some(start) = memmem::find(&said[at..], text) else { return Ok(None) };
        let place = at + start..at + start + text.len();
        at = place.end;
        if run.target() == Target::Content {
            push(&mut places, place)?;
        }
    }
    Ok(Some(places))
}
