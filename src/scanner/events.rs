//! The events of one method call, pulled one at a time. Only the `Pull` changes the stream; this file adds the bytes to the `Pull`'s
//! events.

use std::fmt;

use super::{
    chunk::Chunk,
    engine::Engine,
    error::Error,
    event::{Cause, Event, Kind},
    options::EndReason,
    window::{EventRef, KindRef, Pull},
};
use crate::{
    calls::body::{CallEnd, Piece},
    dialect::compiled::Compiled,
};

/// The scanner's method whose events are pulled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    Feed,
    Flush,
    ForceClose,
    Finish,
}

/// The events of one method call of a scanner, pulled one at a time.
///
/// Dropping this value early stops the call. The host must then feed the bytes of the chunk after
/// [`consumed`](Events::consumed) in the next call, which first returns the events that are still due. A host that ends the
/// stream need not feed them: every method then treats the consumed bytes as if the chunk had ended there. Events that were
/// returned are final, even if they were decided by later bytes of the chunk.
///
/// ```
/// use aside::{Dialect, Kind, Scanner};
///
/// let mut scanner = Scanner::new(&Dialect::find("qwen3")?);
/// let chunk = b"<think>hm</think>Yes.";
/// let mut events = scanner.events(chunk);
/// while let Some(event) = events.next()? {
///     if matches!(event.kind, Kind::Close(_)) {
///         break;
///     }
/// }
/// let rest = &chunk[events.consumed()..];
/// drop(events);
/// assert_eq!(rest, b"Yes.");
/// scanner.feed(rest, |event| assert_eq!(event.bytes, b"Yes."))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is fed until the events are pulled"]
pub struct Events<'a> {
    pull: Pull<'a>,
    method: Method,
}

impl<'a> Events<'a> {
    pub(super) fn new(compiled: &'a Compiled, engine: &'a mut Engine, chunk: Chunk<'a>, method: Method) -> Events<'a> {
        Events { pull: Pull::new(compiled, engine, chunk), method }
    }

    /// Returns the next event, or `None` when all that is decided has been reported.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], and [`Error::FinishPending`] if the events of a finish were not all pulled.
    #[allow(clippy::should_implement_trait)] // An event is valid until the next one is pulled, which `Iterator` cannot express.
    pub fn next(&mut self) -> Result<Option<Event<'_>>, Error> {
        let event = match self.method {
            Method::Finish => self.pull.next_of_finish(),
            _ if self.pull.engine.is_finishing => Err(Error::FinishPending),
            Method::Flush => self.pull.next_of_flush(),
            Method::ForceClose => self.pull.next_of_force_close(),
            Method::Feed => self.pull.next_of_feed(false),
        };
        let event = event.inspect_err(|_| self.pull.has_failed = true)?;
        Ok(event.map(|event| with_bytes(event, &self.pull)))
    }

    /// Returns the number of bytes of the chunk that must not be fed again: they are reported, held back, or belong to a marker
    /// or a word of a tool call with events that are still due.
    #[doc(alias = "aside_scanner_consumed")]
    pub fn consumed(&mut self) -> usize {
        self.pull.consumed()
    }

    pub(super) fn for_each(mut self, mut on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        while let Some(event) = self.next()? {
            on_event(event);
        }
        Ok(())
    }

    /// Pulls events until `on_event` returns false. Returns the number of bytes of the chunk that are consumed.
    pub(crate) fn until(&mut self, mut on_event: impl FnMut(Event<'_>) -> bool) -> (usize, Result<(), Error>) {
        let result = loop {
            match self.next() {
                Ok(Some(event)) => {
                    if !on_event(event) {
                        break Ok(());
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        (self.consumed(), result)
    }
}

impl fmt::Debug for Events<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("method", &self.method).finish_non_exhaustive()
    }
}

impl Drop for Events<'_> {
    fn drop(&mut self) {
        if self.pull.consumed() > 0 && self.method == Method::Feed {
            self.pull.engine.end_tokens(self.pull.is_inside_token());
        }
    }
}

/// Returns the kind of event for a piece of a call. `index` is the number of the last call.
pub fn call_kind<'a>(engine: &'a Engine, compiled: &Compiled, piece: Piece, index: u64) -> Kind<'a> {
    match piece {
        Piece::Text => Kind::Text,
        Piece::Framing => Kind::Framing,
        Piece::Call { table } => {
            let rule = engine.spans.innermost().map_or(0, |span| span.rule);
            Kind::Call { rule: rule.into(), table: table.into(), index }
        }
        Piece::Name => Kind::CallName(None),
        Piece::NameOfHeader => {
            let tables = compiled.calls(engine.spans.region());
            let name = tables.and_then(|tables| engine.name_of_header(tables)).and_then(|(index, prefix)| {
                engine.attributes.get(index).and_then(|attribute| attribute.value.get(prefix..))
            });
            Kind::CallName(Some(name.unwrap_or_default()))
        }
        Piece::Id => Kind::CallId,
        Piece::Key => Kind::CallKey,
        Piece::Type => Kind::CallType,
        Piece::Value => Kind::CallValue,
        Piece::ValueEnd { is_repaired } => Kind::CallValueEnd { is_repaired },
        Piece::End { end, is_repaired } => {
            let cause = match end {
                CallEnd::Marker => Cause::Marker,
                CallEnd::Implied => Cause::Implied,
                CallEnd::EndOfText if engine.end_reason == EndReason::Ended => Cause::Ended,
                CallEnd::EndOfText => Cause::EndOfStream,
                CallEnd::Forced => Cause::Forced,
                CallEnd::Malformed => Cause::Malformed,
            };
            Kind::CallEnd { index, cause, is_repaired }
        }
    }
}

/// Returns the event with its bytes.
fn with_bytes<'a>(event: EventRef, pull: &'a Pull<'_>) -> Event<'a> {
    let EventRef { kind, channel, offset, len, place, tokens } = event;
    let bytes = place.bytes(&pull.engine.hold, pull.chunk.bytes, len);
    let kind = match kind {
        KindRef::Open { rule, tag } => Kind::Open { rule: rule.into(), tag: tag.into() },
        KindRef::Attribute(index) => match pull.engine.attribute(index) {
            Some(attribute) => Kind::Attribute(attribute),
            None => unreachable!("an attribute is reported before it is forgotten"),
        },
        KindRef::Text => Kind::Text,
        KindRef::Framing => Kind::Framing,
        KindRef::Close(cause) => Kind::Close(cause),
        KindRef::Reclassify => Kind::Reclassify,
        KindRef::Budget => Kind::Budget,
        KindRef::Call { piece, index } => call_kind(pull.engine, pull.compiled, piece, index),
    };
    let first_token = pull.engine.ledger.tokens() - u64::from(tokens);
    Event { kind, channel, offset, bytes, first_token, tokens }
}
