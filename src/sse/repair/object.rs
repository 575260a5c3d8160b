//! Reads the JSON object of an event or a body once, for all repairs.

use super::chunk::Chunk;
use crate::json::{Reader, Span};
use crate::memory;

/// The facts about a JSON object that decide how its event is mended.
#[derive(Default)]
pub struct Object {
    pub is_empty: bool,
    pub is_chunk: bool,
    pub has_choices: bool,
    /// Whether the object has the type of a Messages event.
    pub is_of_message: bool,
    /// Whether the object is an event of Responses.
    pub is_of_responses: bool,
    /// Whether the object's `choices` are null.
    pub null_choices: Option<Span>,
    /// The value of `id`, if it is not null or empty.
    pub id: Option<Span>,
}

impl Object {
    /// Reads a JSON object and fills `chunk` from it; `part` names the member with a choice's text. Returns `None` if the text
    /// is not an object.
    pub fn read(text: &[u8], part: &[u8], chunk: &mut Chunk) -> memory::Result<Option<Object>> {
        chunk.clear();
        let mut object = Object { is_empty: true, ..Object::default() };
        let mut memory = Ok(());
        let mut reader = Reader::new(text);
        let read = reader.members(|reader, name, _| {
            object.is_empty = false;
            match name {
                b"choices" => {
                    object.has_choices = true;
                    if reader.peek() == Some(b'[') {
                        return chunk.read_choices(text, part, reader, &mut memory);
                    }
                    let value = reader.value()?;
                    object.null_choices = (text[value.clone()] == *b"null").then_some(value);
                }
                b"usage" => return chunk.note_usage(reader.value()?, &mut memory),
                b"object" => object.is_chunk = text[reader.value()?] == *b"\"chat.completion.chunk\"",
                b"type" => {
                    let value = &text[reader.value()?];
                    object.is_of_responses = value.starts_with(b"\"response.");
                    object.is_of_message = value.starts_with(b"\"content_block_") || value.starts_with(b"\"message_");
                }
                b"id" => {
                    let value = reader.value()?;
                    let says = !matches!(&text[value.clone()], b"null" | b"false" | b"\"\"" | b"0" | b"{}" | b"[]");
                    object.id = says.then_some(value);
                }
                _ => {
                    reader.value()?;
                }
            }
            Some(())
        });
        memory?;
        Ok(read.and_then(|()| reader.end()).map(|()| object))
    }
}
