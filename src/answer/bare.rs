//! Reads calls without markers: a grammar of the server has made the model write only a list of calls, or the arguments of one
//! call. The text without its thinking is read by call tables that are defined here.

use std::sync::{Arc, OnceLock};

use crate::memory::TryBox;
use crate::{Channel, Dialect, Error, Event, Kind, Scanner, ScannerOptions, Start};

/// Two tables: one for objects with name and arguments, and one for arguments alone, for which this code feeds the name before
/// the text. The span's markers are placeholders, since each text starts inside the span.
const TABLES: &str = r#"
name = "bare-calls"

[[span]]
channel = "tool"
open = ["\u0001"]
close = ["\u0002"]
[[span.call]]
body = "object"
[[span.call]]
body = "json"
begin = "\u0003"
name_end = ["\u0004"]
"#;

/// A text of bare calls.
pub struct Bare {
    scanner: Scanner,
    /// The name of the call, until its first arguments arrive.
    name: Option<Arc<str>>,
}

/// Returns the dialect with these tables, for the call writer.
pub fn dialect() -> Result<&'static Dialect, Error> {
    static DIALECT: OnceLock<Dialect> = OnceLock::new();
    if let Some(dialect) = DIALECT.get() {
        return Ok(dialect);
    }
    // Reading these tables fails only if memory runs out.
    let dialect = Dialect::load(TABLES).map_err(|_| Error::OutOfMemory)?;
    Ok(DIALECT.get_or_init(|| dialect))
}

impl Bare {
    /// Returns the state of a text that is a list of calls, or the arguments of the call `name`.
    pub fn new(name: Option<Arc<str>>) -> Result<TryBox<Bare>, Error> {
        let options = ScannerOptions::new().start(Start::Channel(Channel::Tool)).calls(true);
        Ok(TryBox::new(Bare { scanner: Scanner::with_options(dialect()?, &options)?, name })?)
    }

    /// Returns the number of bytes that are held back.
    pub fn held(&self) -> usize {
        self.scanner.held().len()
    }

    /// Reads the next bytes of the text without its thinking.
    pub fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(&Event<'_>)) -> Result<(), Error> {
        if !bytes.is_empty()
            && let Some(name) = self.name.take()
        {
            for part in ["\u{3}", &name, "\u{4}"] {
                self.scanner.feed(part, |event| take(&own(&event, &name)))?;
            }
        }
        self.scanner.feed(bytes, |event| take(&event))
    }

    pub fn flush(&mut self, mut take: impl FnMut(&Event<'_>)) -> Result<(), Error> {
        self.scanner.flush(|event| take(&event))
    }

    pub fn finish(&mut self, mut take: impl FnMut(&Event<'_>)) -> Result<(), Error> {
        self.scanner.finish(|event| take(&event))
    }
}

/// Returns the event without bytes, because its bytes are not in the text; a name becomes `name`.
fn own<'a>(event: &Event<'a>, name: &'a str) -> Event<'a> {
    let kind = match event.kind {
        Kind::CallName(_) => Kind::CallName(Some(name.as_bytes())),
        ref kind => kind.clone(),
    };
    Event { kind, bytes: b"", ..event.clone() }
}
