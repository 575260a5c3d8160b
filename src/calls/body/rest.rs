//! The position in the rest of a call that broke its grammar: the open brackets and the open string.

use crate::calls::table::BodyRule;

/// The position in the rest of a call.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rest {
    /// The number of open brackets of the kind around the call. For a call in tags it is 1 until the call ends.
    pub(super) depth: u16,
    /// The quote of the open string: 1 for a raw quote, 0 outside strings.
    pub(super) quote: u8,
    is_escaped: bool,
}

pub(super) const NONE: u8 = 0;
const RAW: u8 = 1;

impl Rest {
    /// Returns the position where a call breaks, outside of strings.
    pub(super) fn new(depth: u8) -> Rest {
        Rest { depth: depth.into(), quote: NONE, is_escaped: false }
    }

    /// Reads one byte or a raw quote. Returns its length.
    pub(super) fn step(&mut self, body: &BodyRule, text: &[u8]) -> usize {
        let braces = (b'{', b'}');
        let (raw, quotes, (open, close)): (&[u8], &[u8], (u8, u8)) = match body {
            BodyRule::Tags(_) => return 1,
            BodyRule::Object(_) | BodyRule::Json => (b"", b"\"", braces),
            BodyRule::Literal(rule) if rule.raw_quote.is_empty() => (b"", b"\"'", (rule.open, rule.close)),
            BodyRule::Literal(rule) => (&rule.raw_quote, b"\"", (rule.open, rule.close)),
        };
        let byte = text[0];
        let is_raw = !raw.is_empty() && matches!(self.quote, NONE | RAW) && text.starts_with(raw);
        if is_raw {
            self.quote ^= RAW;
            return raw.len();
        }
        match byte {
            b'\n' => (self.quote, self.is_escaped) = (NONE, false),
            _ if std::mem::take(&mut self.is_escaped) => {}
            b'\\' if self.quote > RAW => self.is_escaped = true,
            _ if self.quote == NONE && quotes.contains(&byte) => self.quote = byte,
            _ if self.quote == byte => self.quote = NONE,
            _ if self.quote != NONE => {}
            _ if byte == open => self.depth = self.depth.saturating_add(1),
            _ if byte == close => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        1
    }

    /// Returns the position after these bytes.
    pub(super) fn after(mut self, body: &BodyRule, text: &[u8]) -> Rest {
        let mut at = 0;
        while at < text.len() {
            at += self.step(body, &text[at..]);
        }
        self
    }
}
