//! The positions of the fields that are rewritten in an event of a Messages stream. No other field may be read or changed.

use crate::json::{Reader, Span, Value, whole_number};

/// The type of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Kind {
    MessageStart,
    BlockStart,
    BlockDelta,
    BlockStop,
    MessageDelta,
    MessageStop,
    Ping,
    #[default]
    Other,
}

impl Kind {
    fn of(value: &[u8]) -> Kind {
        match value {
            b"\"message_start\"" => Kind::MessageStart,
            b"\"content_block_start\"" => Kind::BlockStart,
            b"\"content_block_delta\"" => Kind::BlockDelta,
            b"\"content_block_stop\"" => Kind::BlockStop,
            b"\"message_delta\"" => Kind::MessageDelta,
            b"\"message_stop\"" => Kind::MessageStop,
            b"\"ping\"" => Kind::Ping,
            _ => Kind::Other,
        }
    }
}

/// The fields of an event. If two members have one name, the last counts.
#[derive(Clone, Debug, Default)]
pub struct Fields<At = Span> {
    pub kind: Kind,
    /// The `index`, if it is a whole number, and its position.
    pub index: Option<(u64, At)>,
    /// The `content_block` or `delta`, if it is an object.
    pub block: BlockFields<At>,
    /// The `id` of the `message`, with its quotes.
    pub id: Option<At>,
}

/// The members of a block or delta.
#[derive(Clone, Debug, Default)]
pub struct BlockFields<At = Span> {
    /// The value of `type`.
    pub kind: Option<At>,
    /// The key and the value of `text`, if that is a string.
    pub text: Option<(At, At)>,
    /// The value of `thinking`, if that is a string.
    pub thinking: Option<At>,
    /// Whether there is a `signature` that is not empty.
    pub is_signed: bool,
    /// The value of `stop_reason`.
    pub stop_reason: Option<At>,
    /// Whether no key may be renamed, because the new name exists already or a member exists twice.
    pub is_crowded: bool,
}

impl BlockFields {
    /// Returns whether the type is `kind`, which includes the quotes.
    pub fn is(&self, data: &[u8], kind: &[u8]) -> bool {
        self.kind.as_ref().is_some_and(|value| data[value.clone()] == *kind)
    }

    /// Returns whether there is text, thinking or a signature that is not empty.
    pub fn says(&self) -> bool {
        let values = self.text.iter().map(|(_, value)| value).chain(&self.thinking);
        self.is_signed || values.into_iter().any(|value| value.len() > 2)
    }

    /// Reads a block or a delta.
    pub fn read(data: &[u8], reader: &mut Reader<'_>) -> Option<BlockFields> {
        let mut part = BlockFields::default();
        let (mut kinds, mut texts) = (0, 0);
        reader.members(|reader, name, key| {
            let value = reader.value()?;
            let text = (data[value.start] == b'"').then(|| value.clone());
            match name {
                b"type" => {
                    part.kind = Some(value);
                    kinds += 1;
                }
                b"text" => {
                    part.text = text.map(|value| (key, value));
                    texts += 1;
                }
                b"thinking" => {
                    part.thinking = text;
                    part.is_crowded = true;
                }
                b"signature" => part.is_signed = text.is_some_and(|text| text.len() > 2),
                b"partial_json" => part.is_crowded = true,
                b"stop_reason" => part.stop_reason = Some(value),
                _ => {}
            }
            Some(())
        })?;
        part.is_crowded |= kinds > 1 || texts > 1;
        Some(part)
    }
}

/// Returns whether members with this name are read, in any object.
pub fn is_read(name: &[u8]) -> bool {
    let read: [&[u8]; 11] = [
        b"type",
        b"index",
        b"content_block",
        b"delta",
        b"message",
        b"id",
        b"text",
        b"thinking",
        b"signature",
        b"partial_json",
        b"stop_reason",
    ];
    read.contains(&name)
}

impl<At> Fields<At> {
    /// Returns the fields of an event that differs in its text: each position is replaced by what `place` returns for it.
    pub fn moved<To>(&self, place: impl Fn(&At) -> To) -> Fields<To> {
        let moved = |at: &Option<At>| at.as_ref().map(&place);
        let BlockFields { kind, text, thinking, is_signed, stop_reason, is_crowded } = &self.block;
        Fields {
            kind: self.kind,
            index: self.index.as_ref().map(|(index, at)| (*index, place(at))),
            block: BlockFields {
                kind: moved(kind),
                text: text.as_ref().map(|(key, value)| (place(key), place(value))),
                thinking: moved(thinking),
                is_signed: *is_signed,
                stop_reason: moved(stop_reason),
                is_crowded: *is_crowded,
            },
            id: moved(&self.id),
        }
    }
}

impl Fields {
    /// Returns the position of the text, if the event adds text to a block.
    pub fn added(&self) -> Option<Span> {
        let text = self.block.text.as_ref().filter(|_| self.kind == Kind::BlockDelta);
        text.map(|(_, text)| text.clone())
    }

    /// Returns the fields of an event that is known to be a JSON object.
    pub fn read(data: &[u8]) -> Fields {
        let mut fields = Fields::default();
        let (mut block, mut delta) = (BlockFields::default(), BlockFields::default());
        let _ = Reader::new(data).members(|reader, name, _| {
            match name {
                b"content_block" if reader.peek() == Some(b'{') => block = BlockFields::read(data, reader)?,
                b"delta" if reader.peek() == Some(b'{') => delta = BlockFields::read(data, reader)?,
                b"message" => {
                    let id = Value { text: data, span: reader.value()? }.at(&[b"id"]);
                    fields.id = id.filter(|id| id.string().is_some()).map(|id| id.span);
                }
                b"type" => fields.kind = Kind::of(&data[reader.value()?]),
                b"index" => {
                    let value = reader.value()?;
                    fields.index = whole_number(&data[value.clone()]).map(|index| (index, value));
                }
                _ => {
                    reader.value()?;
                }
            }
            Some(())
        });
        fields.block = if fields.kind == Kind::BlockStart { block } else { delta };
        fields
    }
}
