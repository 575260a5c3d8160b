//! The positions of the fields of a Responses event, and of the items and parts in it. No other field may be read or changed.

use crate::json::{Member, Span, Value};

/// The kind of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    Created,
    ItemAdded,
    ItemDone,
    PartAdded,
    PartDone,
    TextDelta,
    TextDone,
    Annotation,
    /// Text of a reasoning item of the server.
    Reasoning,
    /// The response is over. The event repeats all items.
    Ended,
    #[default]
    Other,
}

impl Kind {
    fn of(name: &[u8]) -> Kind {
        match name {
            b"response.created" => Kind::Created,
            b"response.output_item.added" => Kind::ItemAdded,
            b"response.output_item.done" => Kind::ItemDone,
            b"response.content_part.added" => Kind::PartAdded,
            b"response.content_part.done" => Kind::PartDone,
            b"response.output_text.delta" => Kind::TextDelta,
            b"response.output_text.done" => Kind::TextDone,
            b"response.output_text.annotation.added" => Kind::Annotation,
            b"response.completed" | b"response.incomplete" | b"response.failed" => Kind::Ended,
            _ if name.starts_with(b"response.reasoning_") => Kind::Reasoning,
            _ => Kind::Other,
        }
    }
}

/// The members of an event.
#[derive(Clone, Default)]
pub struct Fields<At = Span> {
    pub kind: Kind,
    pub name: Option<At>,
    pub sequence: Option<Member<At>>,
    pub output_index: Option<Member<At>>,
    pub content_index: Option<Member<At>>,
    pub item_id: Option<At>,
    pub delta: Option<At>,
    pub text: Option<At>,
    pub logprobs: Option<Member<At>>,
    pub item: Option<At>,
    pub part: Option<At>,
    pub annotation: Option<At>,
    pub annotation_index: Option<Member<At>>,
    pub response: Option<At>,
}

/// Returns whether the values of members with this name must be equal in two events of one envelope. Of other members only the
/// position is noted here.
pub fn is_read(name: &[u8]) -> bool {
    let read: [&[u8]; 11] = [
        b"type",
        b"delta",
        b"item_id",
        b"content_index",
        b"text",
        b"item",
        b"part",
        b"annotation",
        b"annotation_index",
        b"response",
        b"content",
    ];
    read.contains(&name)
}

impl<At> Fields<At> {
    /// Returns the fields of an event that differs in its text: each position is replaced by what `place` returns for it.
    pub fn moved<To>(&self, place: impl Fn(&At) -> To) -> Fields<To> {
        let moved = |at: &Option<At>| at.as_ref().map(&place);
        let member = |member: &Option<Member<At>>| member.as_ref().map(|member| member.moved(&place));
        Fields {
            kind: self.kind,
            name: moved(&self.name),
            sequence: member(&self.sequence),
            output_index: member(&self.output_index),
            content_index: member(&self.content_index),
            item_id: moved(&self.item_id),
            delta: moved(&self.delta),
            text: moved(&self.text),
            logprobs: member(&self.logprobs),
            item: moved(&self.item),
            part: moved(&self.part),
            annotation: moved(&self.annotation),
            annotation_index: member(&self.annotation_index),
            response: moved(&self.response),
        }
    }
}

impl Fields {
    /// Returns the position of the text, if the event adds text to a part.
    pub fn added(&self) -> Option<Span> {
        self.delta.clone().filter(|_| self.kind == Kind::TextDelta)
    }

    /// Reads an event whose data is a JSON object.
    pub fn read(data: &[u8]) -> Fields {
        let mut fields = Fields::default();
        Value::of(data).walk(|name, key, value| {
            let (is_string, is_object, value) = (value.string().is_some(), value.is_object(), value.span);
            let member = Some(Member { key, value: value.clone() });
            match name {
                b"type" => {
                    fields.kind = if is_string { Kind::of(inside(data, &value)) } else { Kind::Other };
                    fields.name = is_string.then_some(value);
                }
                b"sequence_number" => fields.sequence = member,
                b"output_index" => fields.output_index = member,
                b"content_index" => fields.content_index = member,
                b"annotation_index" => fields.annotation_index = member,
                b"logprobs" => fields.logprobs = member,
                b"item_id" => fields.item_id = is_string.then_some(value),
                b"delta" => fields.delta = is_string.then_some(value),
                b"text" => fields.text = is_string.then_some(value),
                b"item" => fields.item = is_object.then_some(value),
                b"part" => fields.part = is_object.then_some(value),
                b"annotation" => fields.annotation = is_object.then_some(value),
                b"response" => fields.response = is_object.then_some(value),
                _ => {}
            }
        });
        fields
    }

    /// Returns whether the event is about a reasoning item or a part of a reasoning item. `item` is the event's item.
    pub fn is_thinking(&self, data: &[u8], item: Option<&Object>) -> bool {
        let is_part = |at: &Span| {
            let part = Object::read(data, at.clone());
            part.is(data, b"reasoning_text") || part.is(data, b"summary_text")
        };
        match self.kind {
            Kind::ItemAdded | Kind::ItemDone => item.is_some_and(|item| item.is(data, b"reasoning")),
            Kind::PartAdded | Kind::PartDone => self.part.as_ref().is_some_and(is_part),
            kind => kind == Kind::Reasoning,
        }
    }

    /// Returns a member as a number.
    pub fn number(member: &Option<Member>, data: &[u8]) -> Option<u64> {
        member.as_ref()?.number(data)
    }
}

/// The members of an item or a part.
#[derive(Clone, Default)]
pub struct Object {
    pub whole: Span,
    pub kind: Option<Span>,
    pub id: Option<Span>,
    pub status: Option<Span>,
    /// The parts of an item.
    pub content: Option<Span>,
    pub summary: Option<Span>,
    pub text: Option<Span>,
    pub annotations: Option<Span>,
    pub logprobs: Option<Span>,
    /// The items of a response.
    pub output: Option<Span>,
}

impl Object {
    /// Reads the object at this position.
    pub fn read(data: &[u8], at: Span) -> Object {
        let mut object = Object { whole: at.clone(), ..Object::default() };
        Value { text: data, span: at }.walk(|name, _, value| {
            let (is_string, is_list, value) = (value.string().is_some(), value.is_list(), value.span);
            match name {
                b"type" => object.kind = is_string.then_some(value),
                b"id" => object.id = is_string.then_some(value),
                b"status" => object.status = is_string.then_some(value),
                b"text" => object.text = is_string.then_some(value),
                b"content" => object.content = is_list.then_some(value),
                b"summary" => object.summary = is_list.then_some(value),
                b"annotations" => object.annotations = is_list.then_some(value),
                b"logprobs" => object.logprobs = is_list.then_some(value),
                b"output" => object.output = is_list.then_some(value),
                _ => {}
            }
        });
        object
    }

    pub fn is(&self, data: &[u8], kind: &[u8]) -> bool {
        self.kind.as_ref().is_some_and(|at| inside(data, at) == kind)
    }

    /// Returns the position of the text, if this is a text part.
    pub fn text_of(&self, data: &[u8]) -> Option<Span> {
        self.text.clone().filter(|_| self.is(data, b"output_text"))
    }

    /// Returns whether this is an empty item or part of this kind.
    pub fn begins(&self, data: &[u8], kind: &[u8]) -> bool {
        let has_some = |at: &Option<Span>| at.as_ref().is_some_and(|at| at.len() > 2);
        self.is(data, kind) && !has_some(&self.content) && !has_some(&self.text)
    }

    /// Returns whether this is a message whose text can be split.
    pub fn is_message(&self, data: &[u8]) -> bool {
        self.is(data, b"message") && self.id.is_some()
    }

    /// Returns whether this is a reasoning item that has text.
    pub fn has_reasoning(&self, data: &[u8]) -> bool {
        let has_text = |list: &Option<Span>| {
            let mut found = false;
            list.iter().cloned().for_each(|span| {
                let is_text = |text: Value<'_>| text.string().is_some_and(|text| !text.is_empty());
                Value { text: data, span }.items(|part| found |= part.at(&[b"text"]).is_some_and(is_text));
            });
            found
        };
        self.is(data, b"reasoning") && (has_text(&self.content) || has_text(&self.summary))
    }
}

/// Returns a string without its quotes.
pub fn inside<'a>(data: &'a [u8], string: &Span) -> &'a [u8] {
    &data[string.start + 1..string.end - 1]
}
