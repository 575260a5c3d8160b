//! The interface for hosts: reads the events of a scanner, so that hosts need not know the call's table.

use super::{
    delta::{CallDelta, Piece, Sink},
    writer::CallWriter,
};
use crate::{Channel, Dialect, Error, Event, Kind, calls::table::CallTable};

impl CallWriter {
    /// Reads the next event of a scanner that reports calls ([`Options::calls`](crate::ScannerOptions::calls)), and calls
    /// `on_delta` with each delta that can be sent. Events that do not belong to a call have no effect.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory). The writer must then be reset.
    #[doc(alias = "aside_call_writer_feed")]
    pub fn event(&mut self, event: &Event<'_>, mut on_delta: impl FnMut(CallDelta<'_>)) -> Result<(), Error> {
        self.take(event, &mut |delta| {
            on_delta(delta);
            Ok(())
        })
    }

    /// Reads the next event, and calls a sink that may fail with each delta that can be sent.
    pub(crate) fn take(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) -> Result<(), Error> {
        let piece = match event.kind {
            Kind::Call { rule, table, index } => {
                let dialect = self.dialect.clone();
                if let Some(table) = table_of(&dialect, rule, table) {
                    self.begin(table, index)?;
                }
                return Ok(());
            }
            Kind::CallName(name) => Piece::Name(name.unwrap_or(event.bytes)),
            Kind::CallId => Piece::Id(event.bytes),
            Kind::CallKey => Piece::Key(event.bytes),
            Kind::CallType => Piece::Type(event.bytes),
            Kind::CallValue => Piece::Value(event.bytes),
            Kind::CallValueEnd { .. } => Piece::ValueEnd(event.bytes),
            Kind::Framing if event.channel == Channel::Tool => Piece::Framing(event.bytes),
            Kind::CallEnd { cause, is_repaired, .. } => {
                self.note_repair(is_repaired);
                Piece::End(cause)
            }
            _ => return Ok(()),
        };
        self.feed(piece, sink)
    }
}

/// Returns whether the dialect describes the calls of this span, or of messages with headers.
pub fn has_tables(dialect: &Dialect, rule: u32) -> bool {
    table_of(dialect, rule, 0).is_some()
}

/// Returns the table with this number of a span, or of messages with headers.
fn table_of(dialect: &Dialect, rule: u32, table: u32) -> Option<&CallTable> {
    let compiled = &dialect.compiled;
    let rule = u8::try_from(rule).ok()?;
    let region = match usize::from(rule) < compiled.spans.len() {
        true => compiled.inside(rule),
        false => compiled.body(Channel::Tool),
    };
    // A stream that started inside the tool channel is in the first tool span that has tables.
    let started = || compiled.started(Channel::Tool).and_then(|(region, _)| compiled.calls(region));
    compiled.calls(region).or_else(started)?.tables.get(table as usize)
}
