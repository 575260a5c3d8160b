//! Extracts the content of a whole text, for a host that has the complete answer and wants to show it.

use super::{Error, Event, Kind, Scanner, ScannerOptions};
use crate::{channel::Channel, dialect::Dialect, matcher::bytes};

impl Dialect {
    /// Returns the content of a whole text, without ASCII white space at both ends.
    ///
    /// ```
    /// let dialect = aside::Dialect::find("thinking-tags")?;
    /// assert_eq!(dialect.strip("<thought>hm</thought>\nYes.")?, b"Yes.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    #[doc(alias = "aside_strip")]
    #[inline]
    pub fn strip(&self, text: impl AsRef<[u8]>) -> Result<Vec<u8>, Error> {
        strip(self, text.as_ref())
    }
}

fn strip(dialect: &Dialect, text: &[u8]) -> Result<Vec<u8>, Error> {
    let (mut content, mut thinking) = (Vec::new(), Vec::new());
    content.try_reserve_exact(text.len())?;
    thinking.try_reserve_exact(text.len())?;
    let mut keep = |event: Event<'_>| match (event.kind, event.channel) {
        (Kind::Text, Channel::Content) => content.extend_from_slice(event.bytes),
        (Kind::Text, Channel::Thinking) => thinking.extend_from_slice(event.bytes),
        (Kind::Reclassify, Channel::Content) => content.append(&mut thinking),
        (Kind::Reclassify, _) => content.clear(),
        _ => {}
    };
    let mut scanner = Scanner::with_options(dialect, &ScannerOptions::new())?;
    scanner.feed(text, &mut keep)?;
    scanner.finish(&mut keep)?;
    content.truncate(bytes::trim_end(&content).len());
    content.drain(..content.len() - bytes::trim_start(&content).len());
    Ok(content)
}
