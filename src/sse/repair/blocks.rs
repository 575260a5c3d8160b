//! Mends the blocks of Messages. Clients want one open block at a time, indexes that count from 0, a start before the first delta
//! of a block, and its stop before the next start. Servers use an index twice, leave a start or a stop out, or open two blocks at
//! once.

use crate::Error;
use crate::json::{Edits, Span, decimal};
use crate::memory::{self, append_all, push};
use crate::sse::messages::{Fields, Kind, Part};

/// The most blocks whose indexes are remembered.
const BLOCKS: usize = 128;

const STOP: &str = "content_block_stop";

/// The kinds of text, of which a block has only one.
#[derive(Clone, Copy, PartialEq)]
enum Text {
    Content,
    Thinking,
}

impl Text {
    /// Returns the kind of text of a block, or of a delta.
    fn of(part: &Part, text: &[u8]) -> Option<Text> {
        match &text[part.kind.clone()?] {
            b"\"text\"" | b"\"text_delta\"" => Some(Text::Content),
            b"\"thinking\"" | b"\"redacted_thinking\"" | b"\"thinking_delta\"" | b"\"signature_delta\"" => {
                Some(Text::Thinking)
            }
            _ => None,
        }
    }

    /// Returns the JSON of a block that has none yet.
    fn block(self) -> &'static [u8] {
        match self {
            Text::Content => b"{\"type\":\"text\",\"text\":\"\"}",
            Text::Thinking => b"{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}",
        }
    }
}

/// A block that is open.
#[derive(Clone, Copy)]
struct Open {
    /// Its index in the server's events, and its own.
    server: u64,
    own: u64,
    text: Option<Text>,
}

/// Mends the blocks of a stream.
#[derive(Default)]
pub struct Blocks {
    open: Option<Open>,
    next: u64,
    /// The indexes of blocks that were open before.
    closed: Vec<(u64, u64)>,
    edits: Edits,
    event: Vec<u8>,
}

impl Blocks {
    /// Passes on the repaired form of an event: the event with its new index, and missing events before it, each with its type if
    /// that is not the event's own. A stop of a block that is not open is left out, and so is an empty delta of another kind than
    /// the open block.
    pub fn mend(
        &mut self,
        text: &[u8],
        mut pass: impl FnMut(Option<&str>, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let fields = Fields::read(text);
        let Some((server, at)) = fields.index.clone() else {
            match fields.kind {
                Kind::MessageStart => *self = Blocks::default(),
                Kind::MessageDelta | Kind::MessageStop => self.stop(&mut pass)?,
                _ => {}
            }
            return pass(None, text);
        };
        let open = self.open.filter(|open| open.server == server);
        let said = Text::of(&fields.part, text);
        let fits = |open: &Open| said.is_none() || open.text.is_none() || open.text == said;
        let own = match (fields.kind, open) {
            (Kind::BlockStart, _) => {
                self.stop(&mut pass)?;
                self.begin(server, said)
            }
            (Kind::BlockDelta, Some(open)) if fits(&open) => open.own,
            (Kind::BlockDelta, Some(_)) if !fields.part.says() => return Ok(()),
            (Kind::BlockStop, Some(open)) => open.own,
            (Kind::BlockDelta, _) => {
                let Some(said) = said else {
                    // Other deltas, such as arguments: their call cannot be begun without its name.
                    let own = self.closed.iter().rfind(|(closed, _)| *closed == server);
                    return self.renumber(text, &at, own.map_or(server, |(_, own)| *own), &mut pass);
                };
                self.stop(&mut pass)?;
                let own = self.begin(server, Some(said));
                let (mut digits, event) = ([0; 20], &mut self.event);
                let index = decimal(own, &mut digits);
                memory::clear(event);
                let start: [&[u8]; 5] = [
                    b"{\"type\":\"content_block_start\",\"index\":",
                    index.as_bytes(),
                    b",\"content_block\":",
                    said.block(),
                    b"}",
                ];
                append_all(event, &start)?;
                pass(Some("content_block_start"), event)?;
                own
            }
            (Kind::BlockStop, None) => return Ok(()),
            _ => return pass(None, text),
        };
        if fields.kind == Kind::BlockStop {
            self.close()?;
        }
        self.renumber(text, &at, own, &mut pass)
    }

    /// Returns the index of a block that begins.
    fn begin(&mut self, server: u64, text: Option<Text>) -> u64 {
        let own = self.next;
        self.next += 1;
        self.open = Some(Open { server, own, text });
        own
    }

    fn close(&mut self) -> memory::Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        if self.closed.len() == BLOCKS {
            self.closed.remove(0);
        }
        push(&mut self.closed, (open.server, open.own))
    }

    /// Ends the block that is open.
    fn stop(&mut self, pass: &mut impl FnMut(Option<&str>, &[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let Some(Open { own, .. }) = self.open else { return Ok(()) };
        self.close()?;
        memory::clear(&mut self.event);
        let index = &mut [0; 20];
        let stop: [&[u8]; 3] = [b"{\"type\":\"content_block_stop\",\"index\":", decimal(own, index).as_bytes(), b"}"];
        append_all(&mut self.event, &stop)?;
        pass(Some(STOP), &self.event)
    }

    fn renumber(
        &mut self,
        text: &[u8],
        at: &Span,
        own: u64,
        pass: &mut impl FnMut(Option<&str>, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let index = &mut [0; 20];
        let index = decimal(own, index).as_bytes();
        if text[at.clone()] == *index {
            return pass(None, text);
        }
        self.edits.clear();
        self.edits.replace(at.clone(), |out| memory::append(out, index))?;
        memory::clear(&mut self.event);
        self.edits.apply(text, 0..text.len(), Span::clone, &mut self.event)?;
        pass(None, &self.event)
    }
}
