//! Writes the calls of one stream: decides which calls are emitted, and handles ids and names.

use super::{
    delta::{Piece, Sink},
    document::NodeId,
    held::HeldText,
    json::JsonArguments,
    keyed::KeyedArguments,
    keys::Keys,
    options::{ImpliedEnd, NotWhole, Options, UnknownTool},
    output::{CallHeader, Holding, Output, Put},
    quoted::Quoted,
    schema::Schema,
    string,
    text::Decoder,
};
use crate::{
    Cause, Dialect, Error,
    calls::table::{BodyRule, CallTable},
    json::Unescape,
    memory::lossy,
};

/// The state of the call that has begun last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallState {
    /// No call is open.
    #[default]
    Idle,
    /// It is not known yet whether the call is emitted.
    Undecided,
    /// The call's first delta has been sent.
    Emitted,
    /// The call has no further deltas.
    Dropped,
}

/// Writes the calls of a stream as deltas for a client.
///
/// The writer is fed with the parts of each call in their order. Its output does not depend on how values are cut. It never
/// completes a call: sent deltas are final, and the arguments of a call that is cut may not be JSON. After a failure it must be
/// reset.
#[derive(Debug)]
pub struct CallWriter {
    /// The dialect of the scanner.
    pub(super) dialect: Dialect,
    options: Options,
    /// The number of calls that have been emitted, without the open one.
    emitted: u64,
    is_open: bool,
    is_dropped: bool,
    /// Whether the call's text is to be removed, because the request does not list the call's tool.
    is_removed: bool,
    /// The rules for holding calls until they are whole, if they are held.
    holding: Option<Holding>,
    /// The rules of the open call's table.
    rules: CallRules,
    pub(super) header: CallHeader,
    has_name: bool,
    /// The schema of the call's parameters.
    parameters: Option<NodeId>,
    json: JsonArguments,
    keyed: KeyedArguments,
    keys: Keys,
    quoted: Quoted,
    held: HeldText,
    decoder: Decoder,
}

#[derive(Debug, Default)]
struct CallRules {
    /// Whether the call is an object, whose name and id are JSON strings.
    is_object: bool,
    /// Whether the call has no markers around it.
    is_bare: bool,
    is_keyed: bool,
    /// Whether a value may quote the text of a key.
    may_quote: bool,
    /// Whether the head is the id.
    is_id: bool,
    namespace: bool,
}

impl CallWriter {
    /// Returns a writer for one stream.
    #[must_use]
    #[doc(alias = "aside_call_writer_new")]
    pub fn new(dialect: &Dialect, options: Options) -> CallWriter {
        CallWriter {
            dialect: dialect.clone(),
            // Offsets in the held bytes have 32 bits.
            held: HeldText::new(options.max_held.min(u32::MAX as usize)),
            holding: (options.not_whole != NotWhole::Tell).then_some(Holding {
                most: options.max_held,
                is_strict: options.not_whole == NotWhole::Hold,
                takes_repaired: false,
            }),
            options,
            emitted: 0,
            is_open: false,
            is_dropped: false,
            is_removed: false,
            rules: CallRules::default(),
            header: CallHeader::default(),
            has_name: false,
            parameters: None,
            json: JsonArguments::default(),
            keyed: KeyedArguments::default(),
            keys: Keys::default(),
            quoted: Quoted::default(),
            decoder: Decoder::default(),
        }
    }

    /// Forgets the stream. The next call is the first one of another stream.
    #[doc(alias = "aside_call_writer_reset")]
    pub fn reset(&mut self) {
        (self.emitted, self.is_open) = (0, false);
        self.held.clear();
    }

    /// Returns the state of the call that has begun last.
    #[must_use]
    pub fn state(&self) -> CallState {
        match self.is_open {
            false => CallState::Idle,
            true if self.is_dropped => CallState::Dropped,
            true if self.header.is_emitted => CallState::Emitted,
            true => CallState::Undecided,
        }
    }

    /// Returns the number of calls that have been emitted.
    #[must_use]
    pub fn emitted(&self) -> u64 {
        self.emitted + u64::from(self.state() == CallState::Emitted)
    }

    /// Drops the open call if nothing of it has been sent.
    pub(crate) fn drop_call(&mut self) {
        if self.state() == CallState::Undecided {
            self.is_dropped = true;
            self.held.clear();
        }
    }

    /// Removes the limit for held calls, for a caller that limits them itself. With `all`, every call is held until it is
    /// whole, whatever the options say, for a client that accepts only whole calls.
    pub(crate) fn hold_without_limit(&mut self, all: bool) {
        if all {
            let takes_repaired = self.holding.is_none_or(|holding| holding.takes_repaired);
            self.holding = Some(Holding { most: usize::MAX, is_strict: true, takes_repaired });
        } else if let Some(holding) = &mut self.holding {
            holding.most = usize::MAX;
        }
    }

    /// Sends the held arguments of the open call, although it is not whole.
    pub(crate) fn stop_holding(&mut self, sink: &mut Sink<'_>) -> Result<(), Error> {
        self.output(sink).stop_holding()
    }

    /// Returns whether the text of the open call is to be removed.
    pub(crate) fn is_removed(&self) -> bool {
        self.is_open && self.is_removed
    }

    /// Returns the dialect in which the calls are written.
    pub(crate) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// Returns the number of bytes of the open call that are held.
    pub(crate) fn held(&self) -> usize {
        self.held.as_str().len()
    }

    /// Sets the limit of held bytes to `most`, if that is lower than the option, for a host with many streams.
    pub(crate) fn limit(&mut self, most: usize) {
        self.held.limit(most.min(self.options.max_held).min(u32::MAX as usize));
    }

    /// Begins a call of this table. `call` is its number in the stream.
    pub(crate) fn begin(&mut self, table: &CallTable, call: u64) -> Result<(), Error> {
        self.rules = CallRules {
            is_object: matches!(table.body, BodyRule::Object(_)),
            is_bare: table.is_bare,
            is_keyed: matches!(table.body, BodyRule::Tags(_) | BodyRule::Literal(_)),
            may_quote: self.quoted.begin(table)?,
            is_id: table.head.is_id,
            namespace: table.namespace,
        };
        (self.is_open, self.is_removed, self.has_name) = (true, false, false);
        let max_calls = self.options.max_calls;
        self.is_dropped = max_calls > 0 && self.emitted >= max_calls;
        self.header.begin(call, self.emitted);
        // A text without markers, in a form that the family does not write by itself, is a call only as a whole.
        let is_guess = table.is_bare && table.is_lenient;
        let guess = Holding { most: self.options.max_held, is_strict: true, takes_repaired: true };
        self.header.holding = self.holding.or(is_guess.then_some(guess));
        self.parameters = None;
        self.json.begin(self.options.repair_arguments);
        self.keyed.mends = self.options.repair_arguments;
        self.held.clear();
        self.decoder = Decoder::default();
        self.keys.clear();
        self.keyed.begin(table)
    }

    /// Reads the next part of the call that has begun last, and calls `sink` with the deltas that can be sent.
    pub(crate) fn feed(&mut self, piece: Piece<'_>, sink: &mut Sink<'_>) -> Result<(), Error> {
        if !self.is_open {
            return Ok(());
        }
        let is_plain = matches!(piece, Piece::Value(_)) && self.quoted.is_in_text();
        if self.rules.may_quote && !self.is_dropped && !is_plain {
            let mut quoted = std::mem::take(&mut self.quoted);
            let counts = matches!(piece, Piece::Key(key) if quoted.asks_for_key() && self.may_be_new(key)?);
            let taken = quoted.take(piece, counts, |piece| self.feed_decided(piece, sink));
            self.quoted = quoted;
            taken?;
        } else {
            self.feed_decided(piece, sink)?;
        }
        if let Piece::End(_) = piece {
            self.emitted = self.emitted();
            self.is_open = false;
        }
        Ok(())
    }

    /// Returns whether text that looks like a key, after a value without a closer, may be a key: the call does not have that key yet,
    /// and the schema, if known, has it.
    fn may_be_new(&self, key: &[u8]) -> Result<bool, Error> {
        let schema = parameters(&self.options, self.parameters).filter(|schema| schema.has_properties());
        let is_known = match schema {
            Some(schema) => schema.property(&lossy(key)?).place().is_some(),
            None => true,
        };
        Ok(is_known && !self.keys.may_have(key))
    }

    /// Notes that the scanner has repaired the call. If values may quote keys, the writer itself decides whether the call was
    /// repaired.
    pub(super) fn note_repair(&mut self, is_repaired: bool) {
        self.header.is_repaired |= is_repaired && !self.rules.may_quote;
    }

    /// Reads the next corrected part.
    fn feed_decided(&mut self, piece: Piece<'_>, sink: &mut Sink<'_>) -> Result<(), Error> {
        if self.is_dropped {
            return Ok(());
        }
        match piece {
            Piece::Value(bytes) => self.bytes(bytes, true, sink)?,
            Piece::Framing(bytes) if self.keyed.takes_framing() => self.bytes(bytes, false, sink)?,
            Piece::Framing(_) => {}
            _ => {
                self.end_text(sink)?;
                self.whole(piece, sink)?;
            }
        }
        self.output(sink).flush()?;
        if self.header.is_too_long {
            self.drop_call();
        }
        Ok(())
    }

    /// Reads a part that is whole.
    fn whole(&mut self, piece: Piece<'_>, sink: &mut Sink<'_>) -> Result<(), Error> {
        match piece {
            _ if self.is_dropped => Ok(()),
            Piece::Name(name) => self.name(&lossy(name)?, sink),
            Piece::Id(id) => self.id(&lossy(id)?),
            Piece::Type(word) => {
                self.keyed.type_word(&lossy(word)?);
                Ok(())
            }
            Piece::End(cause) => self.end(cause, sink),
            // A call without a name before its first key is not emitted.
            Piece::Key(_) if !self.has_name => {
                self.is_dropped = true;
                Ok(())
            }
            Piece::Key(_) | Piece::ValueEnd(_) if self.rules.is_keyed => {
                let parameters = parameters(&self.options, self.parameters);
                let mut out = Output { header: &mut self.header, id_prefix: &self.options.id_prefix, sink };
                match piece {
                    Piece::Key(key) => {
                        if !self.keyed.has_elements() {
                            self.keys.write(key);
                            self.keys.end()?;
                        }
                        self.keyed.key(&lossy(key)?, parameters, &mut self.held, &mut out)
                    }
                    Piece::ValueEnd(closer) => {
                        out.header.is_repaired |= self.rules.may_quote && closer.is_empty();
                        let closer = lossy(closer)?;
                        self.keyed.value_end(&closer, parameters, &mut self.held, &mut out)
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn name(&mut self, written: &str, sink: &mut Sink<'_>) -> Result<(), Error> {
        if std::mem::replace(&mut self.has_name, true) {
            return Ok(());
        }
        if self.rules.is_id {
            self.header.id.put(written)?;
        }
        put_word(written, self.rules.is_object, &mut self.header.name)?;
        if let Some(tools) = &self.options.tools {
            let name = &mut self.header.name;
            if let Some(flat) = tools.flat_name(name) {
                name.clear();
                name.put(flat)?;
            } else if !tools.has(name)
                && self.rules.namespace
                && let Some((_, rest)) = name.split_once('.')
                && tools.has(rest)
            {
                let dot = name.len() - rest.len();
                name.replace_range(..dot, "");
            }
            let is_unknown = !tools.has(name);
            self.is_dropped = is_unknown && self.options.unknown_tool != UnknownTool::Tell;
            self.is_removed = is_unknown && self.options.unknown_tool == UnknownTool::Drop;
            self.parameters = tools.parameters(name).and_then(Schema::place);
        }
        self.is_dropped |= self.header.name.is_empty();
        if !self.is_dropped {
            let mut out = Output { header: &mut self.header, id_prefix: &self.options.id_prefix, sink };
            out.put(self.held.as_str())?;
        }
        self.held.clear();
        Ok(())
    }

    fn id(&mut self, written: &str) -> Result<(), Error> {
        let id = if self.header.is_emitted { &mut self.header.late_id } else { &mut self.header.id };
        put_word(written, self.rules.is_object, id)
    }

    /// Reads bytes that may be cut anywhere.
    fn bytes(&mut self, mut bytes: &[u8], is_value: bool, sink: &mut Sink<'_>) -> Result<(), Error> {
        let mut decoder = std::mem::take(&mut self.decoder);
        while let Some(stretch) = decoder.next(&mut bytes)
            && !self.is_dropped
        {
            self.text(stretch.as_str(&mut [0; 4]), is_value, sink)?;
        }
        self.decoder = decoder;
        Ok(())
    }

    /// Ends the bytes that arrived in pieces.
    fn end_text(&mut self, sink: &mut Sink<'_>) -> Result<(), Error> {
        match self.decoder.end() {
            Some(character) => self.text(character.encode_utf8(&mut [0; 4]), true, sink),
            None => Ok(()),
        }
    }

    fn text(&mut self, text: &str, is_value: bool, sink: &mut Sink<'_>) -> Result<(), Error> {
        let mut out = Output { header: &mut self.header, id_prefix: &self.options.id_prefix, sink };
        if self.rules.is_keyed {
            if is_value {
                return self.keyed.value(text, &mut self.held, &mut out);
            }
            return self.keyed.framing(text, &mut self.held, &mut out);
        }
        if self.has_name {
            let schema = parameters(&self.options, self.parameters);
            return self.json.feed(text, schema, self.options.max_held, &mut out);
        }
        let mut early = EarlyArguments { held: &mut self.held, is_full: false };
        self.json.feed(text, None, 0, &mut early)?;
        if early.is_full {
            self.is_dropped = true;
            self.held.clear();
        }
        Ok(())
    }

    fn end(&mut self, mut cause: Cause, sink: &mut Sink<'_>) -> Result<(), Error> {
        if cause == Cause::Ended {
            // If the whole call is an object, more than the end of its arguments is missing.
            let is_complete = match self.rules.is_keyed {
                true => self.keyed.is_between_values(),
                false => !self.rules.is_object && self.json.are_object(),
            };
            let is_implied = self.options.implied_end == ImpliedEnd::On && is_complete;
            cause = if is_implied { Cause::Implied } else { Cause::EndOfStream };
        }
        let has_ended = matches!(cause, Cause::Marker | Cause::Implied);
        let (is_json, has_held) = match self.rules.is_keyed {
            true => (self.keyed.is_whole(), self.keyed.has_held()),
            false => (self.json.is_whole(), false),
        };
        let is_whole = has_ended && is_json;
        self.header.is_repaired |= if self.rules.is_keyed { self.keyed.is_mended } else { self.json.is_mended() };
        self.header.is_repaired |= self.keys.has_twice() || self.json.has_key_twice();
        let is_sure = |holding: Holding| is_whole && (holding.takes_repaired || !self.header.is_repaired);
        let is_held_back = self.header.holding.is_some_and(|holding| !is_sure(holding));
        // A bare object with only a name is an answer, unless the request has a tool of that name.
        let is_answer =
            self.rules.is_object && self.rules.is_bare && self.options.tools.is_none() && self.json.are_absent();
        if !self.has_name || is_answer || is_held_back || !is_whole && !has_held && !self.header.has_arguments() {
            self.is_dropped = true;
            return Ok(());
        }
        let mut out = Output { header: &mut self.header, id_prefix: &self.options.id_prefix, sink };
        match self.rules.is_keyed {
            true => self.keyed.end(is_whole, &mut self.held, &mut out)?,
            false => self.json.end(is_whole, &mut out)?,
        }
        out.end(if has_ended && !is_whole { Cause::Malformed } else { cause }, is_whole)
    }

    /// Returns the memory that the calls use, without the tools.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.header.memory()
            + self.keyed.memory()
            + self.keys.memory()
            + self.json.memory()
            + self.quoted.memory()
            + self.held.capacity()
    }

    fn output<'a, 's>(&'a mut self, sink: &'a mut Sink<'s>) -> Output<'a, 's> {
        Output { header: &mut self.header, id_prefix: &self.options.id_prefix, sink }
    }
}

fn parameters(options: &Options, root: Option<NodeId>) -> Option<Schema<'_>> {
    Some(options.tools.as_ref()?.schema(root?))
}

/// Writes a name or an id.
fn put_word(written: &str, is_json: bool, out: &mut String) -> Result<(), Error> {
    if !is_json {
        return out.put(written);
    }
    let mut inside = Unescape::default();
    string::unescape(&mut inside, written, out)?;
    string::end(&mut inside, out)
}

/// Holds arguments that arrive before the name.
struct EarlyArguments<'a> {
    held: &'a mut HeldText,
    is_full: bool,
}

impl Put for EarlyArguments<'_> {
    fn put(&mut self, text: &str) -> Result<(), Error> {
        self.is_full = self.is_full || !self.held.add(text, 0)?;
        Ok(())
    }
}
