//! The text of each channel, for `split`.

use aside::{Channel, Kind};

use crate::output::Output;

/// Collects the text of each channel from a text that may be fed in pieces.
pub struct Texts {
    parts: [Vec<u8>; 4],
    /// Whether memory for a text has run out.
    is_lost: bool,
}

impl Texts {
    pub const fn new() -> Texts {
        Texts { parts: [const { Vec::new() }; 4], is_lost: false }
    }

    pub fn take(&mut self, event: &aside::Event<'_>) {
        let is_text = match event.kind {
            Kind::Text => true,
            Kind::Open { .. } | Kind::Close(_) | Kind::Framing => false,
            // The parts of a call are its text.
            _ => event.channel == Channel::Tool,
        };
        if is_text {
            self.add(event.channel, event.bytes);
        }
        if event.kind == Kind::Reclassify {
            let other = if event.channel == Channel::Thinking { Channel::Content } else { Channel::Thinking };
            let moved = std::mem::take(&mut self.parts[other as usize]);
            self.add(event.channel, &moved);
        }
    }

    pub fn add(&mut self, channel: Channel, bytes: &[u8]) {
        let part = &mut self.parts[channel as usize];
        match part.try_reserve(bytes.len()) {
            Ok(()) => part.extend_from_slice(bytes),
            Err(_) => self.is_lost = true,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(Vec::is_empty)
    }

    /// Writes the texts and forgets them.
    pub fn write(&mut self, output: &mut Output) {
        for part in &mut self.parts {
            output.text(&part);
            part.clear();
        }
        output.is_lost |= std::mem::take(&mut self.is_lost);
    }
}
