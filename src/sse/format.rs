//! Finds the format of an event or a body by the names of its members. The address of the request is not known here, and a
//! stream has no other reliable sign of its format.

use super::options::Formats;
use crate::json::{Reader, Value};

/// The format of one JSON object of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Chat,
    Completions,
    Responses,
    Messages,
    /// A line of `/api/chat`.
    OllamaChat,
    /// A line of `/api/generate`.
    OllamaGenerate,
    /// The object reports an error, after which no text follows.
    Error,
    /// The format is unknown, and the object is sent unchanged.
    Unknown,
}

/// The types of the events of Anthropic Messages, except `error`: Responses has it too, so it is read like any other error.
const MESSAGES: [&[u8]; 7] = [
    b"\"message_start\"",
    b"\"content_block_start\"",
    b"\"content_block_delta\"",
    b"\"content_block_stop\"",
    b"\"message_delta\"",
    b"\"message_stop\"",
    b"\"ping\"",
];

/// The members that distinguish formats.
const CHOICES: &[u8] = b"choices";
const TYPE: &[u8] = b"type";
const OBJECT: &[u8] = b"object";
const DONE: &[u8] = b"done";
const MESSAGE: &[u8] = b"message";
const RESPONSE: &[u8] = b"response";
const CONTENT: &[u8] = b"content";
const ERROR: &[u8] = b"error";
/// The members of those errors that have no member `error`.
const DETAIL: &[u8] = b"detail";
const CODE: &[u8] = b"code";
const MSG: &[u8] = b"msg";
/// The members of a choice that distinguish formats.
const TEXT: &[u8] = b"text";
const DELTA: &[u8] = b"delta";

/// Returns whether members with this name distinguish formats.
pub fn is_read(name: &[u8]) -> bool {
    [CHOICES, TYPE, OBJECT, DONE, MESSAGE, RESPONSE, CONTENT, ERROR, DETAIL, CODE, MSG, TEXT, DELTA].contains(&name)
}

impl Format {
    /// Returns the format of an object, if it is one of `formats`, or `None` if this is not a JSON object.
    pub fn of(data: &[u8], formats: Formats) -> Option<Format> {
        let mut reader = Reader::new(data);
        let read = [CHOICES, TYPE, OBJECT, DONE, MESSAGE, RESPONSE, CONTENT, ERROR, DETAIL, CODE, MSG];
        let found = reader.find(read)?.map(|value| value.map(|value| &data[value]));
        reader.end()?;
        let [choices, kind, object, done, message, response, content, error, detail, code, msg] = found;
        let members = Members { choices, kind, object, done, message, response, content, error, detail, code, msg };
        Some(match members.format() {
            Some((format, bit)) if formats.contains(bit) => format,
            None if members.is_error() => Format::Error,
            _ => Format::Unknown,
        })
    }
}

/// The values of members that distinguish formats.
struct Members<'a> {
    choices: Option<&'a [u8]>,
    kind: Option<&'a [u8]>,
    object: Option<&'a [u8]>,
    done: Option<&'a [u8]>,
    message: Option<&'a [u8]>,
    response: Option<&'a [u8]>,
    content: Option<&'a [u8]>,
    error: Option<&'a [u8]>,
    detail: Option<&'a [u8]>,
    code: Option<&'a [u8]>,
    msg: Option<&'a [u8]>,
}

impl Members<'_> {
    fn is_error(&self) -> bool {
        let says = |value: Option<&[u8]>| {
            value.is_some_and(|value| !matches!(value, b"null" | b"false" | b"\"\"" | b"{}" | b"[]" | b"0" | b"200"))
        };
        // An object with a type belongs to another API.
        let is_bare = self.kind.is_none() && self.object.is_none();
        let is_message = says(self.detail) || says(self.code) && (says(self.msg) || says(self.message));
        says(self.error) || [self.kind, self.object].contains(&Some(b"\"error\"")) || is_bare && is_message
    }

    fn format(&self) -> Option<(Format, Formats)> {
        let begins = |value: Option<&[u8]>, with: &[u8]| value.is_some_and(|value| value.starts_with(with));
        if let Some(choices) = self.choices {
            return Some(match is_completion(choices) || self.object == Some(b"\"text_completion\"") {
                true => (Format::Completions, Formats::COMPLETIONS),
                false => (Format::Chat, Formats::CHAT),
            });
        }
        if begins(self.kind, b"\"response.") || self.object == Some(b"\"response\"") {
            return Some((Format::Responses, Formats::RESPONSES));
        }
        let is_message = self.kind == Some(b"\"message\"") && begins(self.content, b"[");
        if is_message || self.kind.is_some_and(|kind| MESSAGES.contains(&kind)) {
            return Some((Format::Messages, Formats::MESSAGES));
        }
        let format = match begins(self.message, b"{") {
            true => Format::OllamaChat,
            false if begins(self.response, b"\"") => Format::OllamaGenerate,
            false => return None,
        };
        self.done.is_some().then_some((format, Formats::OLLAMA))
    }
}

/// Returns whether an object is an event of a stream or an error, rather than a body or a line of Ollama.
pub fn is_event(data: &[u8]) -> bool {
    let format = Format::of(data, Formats::ALL);
    let has_no_events = matches!(format, None | Some(Format::Unknown | Format::OllamaChat | Format::OllamaGenerate));
    let is_body = || {
        let [object, kind] = Value::of(data).find([b"object", b"type"]);
        object.is_some_and(|object| object.is("chat.completion") || object.is("response"))
            || kind.is_some_and(|kind| kind.is("message"))
    };
    !has_no_events && !is_body()
}

/// Returns whether the first of these choices has its text directly, without a `delta` or `message` around it.
fn is_completion(choices: &[u8]) -> bool {
    let (mut text, mut around) = (false, false);
    let mut reader = Reader::new(choices);
    // The loop stops after the first choice.
    let _ = reader.array(|reader| {
        reader.object(|reader, key| {
            match &choices[key.start + 1..key.end - 1] {
                TEXT => text = true,
                DELTA | MESSAGE => around = true,
                _ => {}
            }
            reader.value().map(|_| ())
        })?;
        None
    });
    text && !around
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_is_known_by_its_members() {
        for (data, wanted) in [
            (r#"{"id":"c","choices":[{"delta":{"content":"a"}}]}"#, Some(Format::Chat)),
            (r#"{"choices":[]}"#, Some(Format::Chat)),
            (r#"{"object":"text_completion","choices":[]}"#, Some(Format::Completions)),
            (r#"{"choices":[{"index":0,"text":"a"}]}"#, Some(Format::Completions)),
            (r#"{"type":"response.created","response":{}}"#, Some(Format::Responses)),
            (r#"{"object":"response","output":[]}"#, Some(Format::Responses)),
            (r#"{"type":"ping"}"#, Some(Format::Messages)),
            (r#"{"type":"message","role":"assistant","content":[]}"#, Some(Format::Messages)),
            (r#"{"model":"m","message":{"content":"a"},"done":false}"#, Some(Format::OllamaChat)),
            (r#"{"model":"m","response":"a","done":true}"#, Some(Format::OllamaGenerate)),
            (r#"{"type":"error","error":{}}"#, Some(Format::Error)),
            (r#"{"error":{"message":"no"}}"#, Some(Format::Error)),
            (r#"{"object":"error","message":"no","code":400}"#, Some(Format::Error)),
            (r#"{"detail":"no"}"#, Some(Format::Error)),
            (r#"{"code":500,"msg":"no"}"#, Some(Format::Error)),
            (r#"{"code":"E7","message":"no"}"#, Some(Format::Error)),
            (r#"{"code":0,"msg":"ok"}"#, Some(Format::Unknown)),
            (r#"{"code":200,"msg":"ok"}"#, Some(Format::Unknown)),
            (r#"{"type":"note","detail":"no"}"#, Some(Format::Unknown)),
            (r#"{"detail":null}"#, Some(Format::Unknown)),
            (r#"{"candidates":[],"error":null}"#, Some(Format::Unknown)),
            (r#"{"choices":[]"#, None),
            (r#"[{"choices":[]}]"#, None),
            ("[DONE]", None),
        ] {
            assert_eq!(Format::of(data.as_bytes(), Formats::ALL), wanted, "{data}");
        }
        assert_eq!(Format::of(b"{\"type\":\"ping\"}", Formats::CHAT), Some(Format::Unknown));
    }
}
