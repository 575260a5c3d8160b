//! The writer of one stream's calls: which are emitted, and what of a call is known before its arguments.

use std::{borrow::Cow, sync::Arc};

use super::{
    delta::{Piece, Sink},
    document::ValueId,
    held::HeldText,
    json::JsonArguments,
    keyed::KeyedArguments,
    output::{CallHeader, Output, Put},
    schema::Schema,
    string,
    text::Decoder,
    tools::Tools,
};
use crate::{
    Cause, Dialect, Error,
    calls::table::{BodyRule, CallTable},
    json::Unescape,
    memory::lossy,
};

/// Options of a call writer.
///
/// ```
/// use std::sync::Arc;
///
/// use aside::{Dialect, call_writer::{CallWriter, Options, Tools}};
///
/// let tools = Tools::read(r#"[{"name": "get_weather"}]"#)?;
/// let options = Options::new().tools(Arc::new(tools)).id_prefix("call_7_").max_held(64 << 10);
/// let writer = CallWriter::new(&Dialect::find("qwen3")?, options);
/// assert_eq!(writer.emitted(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "options change nothing until a call writer is made with them"]
pub struct Options {
    pub(crate) tools: Option<Arc<Tools>>,
    pub(crate) id_prefix: Cow<'static, str>,
    pub(crate) max_held: usize,
}

impl Options {
    /// The default of [`max_held`](Options::max_held): 1 MiB. Memory is used for what is held, not for what may be.
    pub const MAX_HELD: usize = 1 << 20;

    /// Returns the default options.
    pub fn new() -> Options {
        Options::default()
    }

    /// Sets the tools of the request. With `None`, calls are reported whatever they call, and nothing is known of their
    /// parameters.
    pub fn tools(self, tools: impl Into<Option<Arc<Tools>>>) -> Options {
        Options { tools: tools.into(), ..self }
    }

    /// Sets what begins the ids of calls that the model gave none: `call_` by default. The number of the call among those
    /// that are reported follows it.
    pub fn id_prefix(self, id_prefix: impl Into<Cow<'static, str>>) -> Options {
        Options { id_prefix: id_prefix.into(), ..self }
    }

    /// Sets the most bytes of a call that are held because they cannot leave yet: a value until its type is known, arguments
    /// until the name has come. With `None`, [`Options::MAX_HELD`].
    pub fn max_held(self, bytes: impl Into<Option<usize>>) -> Options {
        Options { max_held: bytes.into().unwrap_or(Options::MAX_HELD), ..self }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options { tools: None, id_prefix: Cow::Borrowed("call_"), max_held: Options::MAX_HELD }
    }
}

/// The state of the call that has begun last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallState {
    /// No call is open.
    #[default]
    Idle,
    /// It is not known yet whether the call is emitted.
    Undecided,
    /// The call's first delta has left.
    Emitted,
    /// No delta of the call will come.
    Dropped,
}

/// Writes the calls of a stream as deltas for a client.
///
/// It is fed with the parts of each call in their order. What it writes does not depend on how values are cut. It completes
/// nothing: what has left stays, and the arguments of a call that is cut may be no JSON. After a failure it must be reset.
#[derive(Debug)]
pub struct CallWriter {
    /// The dialect of the scanner.
    pub(super) dialect: Dialect,
    options: Options,
    /// Calls that have been emitted, the open one apart.
    emitted: u64,
    is_open: bool,
    is_dropped: bool,
    /// Of the open call's table.
    rules: CallRules,
    pub(super) header: CallHeader,
    has_name: bool,
    /// The schema of the call's parameters.
    parameters: Option<ValueId>,
    json: JsonArguments,
    keyed: KeyedArguments,
    held: HeldText,
    decoder: Decoder,
}

#[derive(Debug, Default)]
struct CallRules {
    /// Names and ids stand in JSON strings.
    is_object: bool,
    is_keyed: bool,
    /// The head is the id.
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
            // Places in what is held are of 32 bits.
            held: HeldText::new(options.max_held.min(u32::MAX as usize)),
            options,
            emitted: 0,
            is_open: false,
            is_dropped: false,
            rules: CallRules::default(),
            header: CallHeader::default(),
            has_name: false,
            parameters: None,
            json: JsonArguments::default(),
            keyed: KeyedArguments::default(),
            decoder: Decoder::default(),
        }
    }

    /// Forgets the stream. The next call is the first one of another.
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

    /// Returns how many calls have been emitted.
    #[must_use]
    pub fn emitted(&self) -> u64 {
        self.emitted + u64::from(self.state() == CallState::Emitted)
    }

    /// Drops the open call if nothing of it has left.
    pub(crate) fn drop_call(&mut self) {
        if self.state() == CallState::Undecided {
            self.is_dropped = true;
            self.held.clear();
        }
    }

    /// Returns the dialect whose calls it writes.
    pub(crate) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// Returns how many bytes of the open call are held.
    pub(crate) fn held(&self) -> usize {
        self.held.as_str().len()
    }

    /// Lowers what may be held to `most` bytes until it is called again, for a host with many streams.
    pub(crate) fn limit(&mut self, most: usize) {
        self.held.limit(most.min(self.options.max_held).min(u32::MAX as usize));
    }

    /// Begins a call that is written by `table`. `call` is its number in the stream.
    pub(crate) fn begin(&mut self, table: &CallTable, call: u64) -> Result<(), Error> {
        self.rules = CallRules {
            is_object: matches!(table.body, BodyRule::Object(_)),
            is_keyed: matches!(table.body, BodyRule::Tags(_) | BodyRule::Literal(_)),
            is_id: table.head.is_id,
            namespace: table.namespace,
        };
        (self.is_open, self.is_dropped, self.has_name) = (true, false, false);
        self.header.begin(call, self.emitted);
        self.parameters = None;
        self.json = JsonArguments::default();
        self.held.clear();
        self.decoder = Decoder::default();
        self.keyed.begin(table)
    }

    /// Takes the next part of the call that has begun last, and hands what can leave to `sink`.
    pub(crate) fn feed(&mut self, piece: Piece<'_>, sink: &mut Sink<'_>) -> Result<(), Error> {
        if !self.is_open {
            return Ok(());
        }
        if !self.is_dropped {
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
        }
        if let Piece::End(_) = piece {
            self.emitted = self.emitted();
            self.is_open = false;
        }
        Ok(())
    }

    /// Takes a part that comes whole.
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
            // A head comes before the first key.
            Piece::Key(_) if !self.has_name => {
                self.is_dropped = true;
                Ok(())
            }
            Piece::Key(_) | Piece::ValueEnd(_) if self.rules.is_keyed => {
                let parameters = parameters(&self.options, self.parameters);
                let mut out = Output { header: &mut self.header, id_prefix: &self.options.id_prefix, sink };
                match piece {
                    Piece::Key(key) => self.keyed.key(&lossy(key)?, parameters, &mut self.held, &mut out),
                    Piece::ValueEnd(closer) => {
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
            if !tools.has(name)
                && self.rules.namespace
                && let Some((_, rest)) = name.split_once('.')
                && tools.has(rest)
            {
                let dot = name.len() - rest.len();
                name.replace_range(..dot, "");
            }
            self.is_dropped = !tools.has(name);
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

    /// Takes bytes that may be cut anywhere.
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

    /// Ends the bytes that came in pieces.
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
            return self.json.feed(text, &mut out);
        }
        let mut early = EarlyArguments { held: &mut self.held, is_full: false };
        self.json.feed(text, &mut early)?;
        if early.is_full {
            self.is_dropped = true;
            self.held.clear();
        }
        Ok(())
    }

    fn end(&mut self, cause: Cause, sink: &mut Sink<'_>) -> Result<(), Error> {
        let has_ended = matches!(cause, Cause::Marker | Cause::Implied);
        let (is_json, has_held) = match self.rules.is_keyed {
            true => (self.keyed.is_whole(), self.keyed.has_held()),
            false => (self.json.is_whole(), false),
        };
        let is_whole = has_ended && is_json;
        if !self.has_name || !is_whole && !has_held && !self.header.has_arguments() {
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

    /// Returns how much memory the calls take, the tools apart.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.header.memory() + self.keyed.memory() + self.held.capacity()
    }

    fn output<'a, 's>(&'a mut self, sink: &'a mut Sink<'s>) -> Output<'a, 's> {
        Output { header: &mut self.header, id_prefix: &self.options.id_prefix, sink }
    }
}

fn parameters(options: &Options, root: Option<ValueId>) -> Option<Schema<'_>> {
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

/// Holds arguments that come before the name.
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
