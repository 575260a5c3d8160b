//! Mends the blocks of Messages. Clients expect one open block at a time, indexes that count from 0, a start before the first
//! delta of a block, and a stop before the start of the next block. Some servers use an index twice, leave out a start or a
//! stop, or open two blocks at once.
//!
//! While the arguments of a call are not a whole object, its block stays open and the events of other blocks wait, since more
//! arguments may follow. If too many bytes would wait, the blocks are sent as they arrive, several open at once.
//!
//! A block of blank text waits too. It is left out if another block follows, because the API refuses such a block in a later
//! request. If anything else follows, the block is sent unchanged.

use std::mem;

use crate::Error;
use crate::json::{Edits, Seen, Span, Syntax, Value, decimal, decode, unescape};
use crate::memory::{self, append_all, copy, push};
use crate::sse::messages::{BlockFields, Fields, Kind};

/// The maximum number of blocks whose indexes are remembered, and of blocks that wait.
const BLOCKS: usize = 128;

/// The maximum number of bytes of events that wait.
const MOST_WAITING: usize = 1 << 20;

/// The longest event of a blank block, in bytes, that may wait.
const MOST_BLANK: usize = 4096;

const START: &str = "content_block_start";
const STOP: &str = "content_block_stop";

/// The lines before the data of an event.
#[derive(Clone, Copy)]
pub enum Before<'a> {
    /// The lines of the current event.
    Own,
    /// These lines, of an event that has waited.
    Lines(&'a [u8]),
    /// A line with this name, for an event that the server has left out; no line if events have no names.
    Name(Option<&'a str>),
}

/// The arguments of a call that is open.
#[derive(Clone, Copy)]
enum Arguments {
    Begun(Syntax),
    /// The arguments cannot become JSON.
    Faulty,
}

/// The kinds of text. A block has text of only one kind.
#[derive(Clone, Copy, PartialEq)]
enum Text {
    Content,
    Thinking,
}

impl Text {
    /// Returns the kind of text of a block, or of a delta.
    fn of(part: &BlockFields, text: &[u8]) -> Option<Text> {
        match &text[part.kind.clone()?] {
            b"\"text\"" | b"\"text_delta\"" => Some(Text::Content),
            b"\"thinking\"" | b"\"redacted_thinking\"" | b"\"thinking_delta\"" | b"\"signature_delta\"" => {
                Some(Text::Thinking)
            }
            _ => None,
        }
    }

    /// Returns the JSON of an empty block of this kind.
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
    /// The index of the block in the server's events, and the index that is sent.
    server: u64,
    own: u64,
    text: Option<Text>,
    /// The arguments of a call so far; `None` if they are whole or the block is not a call.
    arguments: Option<Arguments>,
}

/// The waiting events of a block: for each, the lines before its data, and the data.
struct Waiting {
    server: u64,
    events: Vec<(Vec<u8>, Vec<u8>)>,
}

/// A waiting block whose text has only blanks so far.
struct Blank {
    server: u64,
    /// The events of the block: for each, the lines before its data, and the data.
    events: Vec<(Vec<u8>, Vec<u8>)>,
    is_stopped: bool,
}

/// Mends the blocks of a stream.
#[derive(Default)]
pub struct Blocks {
    /// The id of the message that is open, as it was written.
    message: Vec<u8>,
    blank: Option<Blank>,
    left_out: bool,
    /// The lines before the data of the current event.
    lines: Vec<u8>,
    open: Option<Open>,
    next: u64,
    /// The server's indexes and new indexes of earlier blocks, or of blocks that are open at once.
    closed: Vec<(u64, u64)>,
    /// The blocks that wait, in the order of their first events.
    waiting: Vec<Waiting>,
    waiting_len: usize,
    /// Whether the events have names.
    is_named: bool,
    /// Whether several blocks may be open at once, because too many bytes would have had to wait.
    overlaps: bool,
    edits: Edits,
    event: Vec<u8>,
}

impl Blocks {
    /// Calls `pass` with the repaired form of an event: missing events, then the event with its new index. A stop of a block
    /// that is not open is left out, and so is an empty delta whose kind is not that of the open block. `names` are the lines
    /// before the event's data.
    pub fn mend(
        &mut self,
        (raw, names): (&[u8], &[Span]),
        text: &[u8],
        mut pass: impl FnMut(Before<'_>, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let fields = Fields::read(text);
        self.is_named = !names.is_empty();
        self.lines.clear();
        names.iter().try_for_each(|name| append_all(&mut self.lines, &[&raw[name.clone()], b"\n"]))?;
        let Some((server, _)) = fields.index else {
            match fields.kind {
                Kind::MessageStart => {
                    let id = message_id(text).map_or(&b""[..], |id| &text[id]);
                    if !id.is_empty() && id == self.message {
                        return Ok(());
                    }
                    self.release(&mut pass)?;
                    *self = Blocks { message: copy(id)?, ..Blocks::default() };
                }
                Kind::MessageDelta | Kind::MessageStop => {
                    self.release(&mut pass)?;
                    self.stop(&mut pass)?;
                    if fields.kind == Kind::MessageStop {
                        self.message.clear();
                    }
                }
                _ => self.release_blank(&mut pass)?,
            }
            return pass(Before::Own, text);
        };
        let is_other = self.open.is_some_and(|open| open.arguments.is_some() && open.server != server);
        if is_other && matches!(fields.kind, Kind::BlockStart | Kind::BlockDelta | Kind::BlockStop) {
            if self.wait(server, text)? {
                return Ok(());
            }
            self.overlap(&mut pass)?;
        }
        self.block(&fields, text, Before::Own, &mut pass)?;
        // Waiting blocks are sent now, up to a call with incomplete arguments.
        while self.open.is_none_or(|open| open.arguments.is_none()) && !self.waiting.is_empty() {
            self.release_first(&mut pass)?;
        }
        Ok(())
    }

    /// Returns the position of the text of a delta for the open block, if the event needs no change whatever its text is.
    pub fn text(&self, text: &[u8]) -> Option<Span> {
        let Fields { kind, index, block, .. } = Fields::read(text);
        let (server, _) = index?;
        let is_steady = !self.overlaps && self.waiting.is_empty() && self.blank.is_none();
        let open = self.open.filter(|open| is_steady && kind == Kind::BlockDelta && open.server == server)?;
        let said = Text::of(&block, text).filter(|said| open.text == Some(*said) && open.arguments.is_none())?;
        if said == Text::Content { block.text.map(|(_, text)| text) } else { block.thinking }
    }

    /// Makes an event of a blank block wait, or sends or leaves out the blank block that waits. Returns whether the event needs
    /// no further treatment.
    fn holds(
        &mut self,
        fields: &Fields,
        server: u64,
        text: &[u8],
        before: Before<'_>,
        pass: &mut impl FnMut(Before<'_>, &[u8]) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let said = Text::of(&fields.block, text);
        let is_blank =
            said == Some(Text::Content) && has_blanks(text, fields.block.text.as_ref().map(|(_, text)| text));
        let waits = match (&self.blank, self.open) {
            (Some(blank), _) => {
                let is_open = blank.server == server && !blank.is_stopped;
                let has_room = blank.events.len() < BLOCKS && text.len() <= MOST_BLANK;
                match fields.kind {
                    Kind::BlockStop if !is_open => return Ok(true),
                    Kind::BlockStop => has_room,
                    Kind::BlockDelta if is_open && said == Some(Text::Content) => is_blank && has_room,
                    Kind::BlockDelta if is_open && said.is_some() && !fields.block.says() => return Ok(true),
                    Kind::BlockDelta if !is_open && said.is_none() && is_empty(text) => return Ok(true),
                    Kind::BlockStart | Kind::BlockDelta if fields.kind == Kind::BlockStart || said.is_some() => {
                        // Another block follows, so the blank block is left out.
                        (self.blank, self.left_out) = (None, true);
                        is_blank && text.len() <= MOST_BLANK
                    }
                    _ => false,
                }
            }
            (None, open) => {
                let open = open.filter(|open| open.server == server && fields.kind == Kind::BlockDelta);
                let begins = open.is_none_or(|open| open.text == Some(Text::Thinking) && fields.block.says());
                let is_of_block = matches!(fields.kind, Kind::BlockStart | Kind::BlockDelta);
                is_blank && begins && is_of_block && text.len() <= MOST_BLANK
            }
        };
        if !waits {
            self.release_blank(pass)?;
            return Ok(false);
        }
        self.stop(pass)?;
        let lines = match before {
            Before::Own => copy(&self.lines)?,
            Before::Lines(lines) => copy(lines)?,
            Before::Name(_) => Vec::new(),
        };
        let blank = self.blank.get_or_insert(Blank { server, events: Vec::new(), is_stopped: false });
        blank.is_stopped |= fields.kind == Kind::BlockStop;
        push(&mut blank.events, (lines, copy(text)?))?;
        Ok(true)
    }

    /// Returns how many events of a blank block wait.
    pub fn blanks(&self) -> usize {
        self.blank.as_ref().map_or(0, |blank| blank.events.len())
    }

    /// Returns whether a blank block was left out since the last call of this function.
    pub fn has_left_out(&mut self) -> bool {
        mem::take(&mut self.left_out)
    }

    /// Sends the blank block that waits.
    pub fn release_blank(
        &mut self,
        pass: &mut impl FnMut(Before<'_>, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for (lines, text) in self.blank.take().map_or_else(Vec::new, |blank| blank.events) {
            self.whole_block(&Fields::read(&text), &text, Before::Lines(&lines), pass)?;
        }
        Ok(())
    }

    /// Makes an event of a block that is not open wait. Returns whether there is room for the event.
    fn wait(&mut self, server: u64, text: &[u8]) -> memory::Result<bool> {
        let lines = copy(&self.lines)?;
        let len = lines.len() + text.len();
        let place = self.waiting.iter().position(|waiting| waiting.server == server);
        if len > MOST_WAITING - self.waiting_len || place.is_none() && self.waiting.len() == BLOCKS {
            return Ok(false);
        }
        self.waiting_len += len;
        let event = (lines, copy(text)?);
        match place {
            Some(place) => push(&mut self.waiting[place].events, event)?,
            None => {
                let mut events = Vec::new();
                push(&mut events, event)?;
                push(&mut self.waiting, Waiting { server, events })?;
            }
        }
        Ok(true)
    }

    /// Sends the events of the block that has waited longest.
    fn release_first(&mut self, pass: &mut impl FnMut(Before<'_>, &[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let Waiting { events, .. } = self.waiting.remove(0);
        for (lines, text) in events {
            self.waiting_len -= lines.len() + text.len();
            self.block(&Fields::read(&text), &text, Before::Lines(&lines), pass)?;
        }
        Ok(())
    }

    /// Returns whether events wait.
    pub fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Sends all events that wait, because no more events of their blocks follow.
    pub fn release(&mut self, pass: &mut impl FnMut(Before<'_>, &[u8]) -> Result<(), Error>) -> Result<(), Error> {
        self.release_blank(pass)?;
        while !self.waiting.is_empty() {
            if self.open.is_some_and(|open| open.arguments.is_some()) {
                self.stop(pass)?;
            }
            self.release_first(pass)?;
        }
        // One of the waiting blocks may be blank.
        self.release_blank(pass)
    }

    /// Sends all events that wait. From now on, blocks are sent as they arrive.
    fn overlap(&mut self, pass: &mut impl FnMut(Before<'_>, &[u8]) -> Result<(), Error>) -> Result<(), Error> {
        self.overlaps = true;
        self.close()?;
        self.release(pass)
    }

    /// Sends the repaired form of a block's event, unless the block has only blanks so far.
    fn block(
        &mut self,
        fields: &Fields,
        text: &[u8],
        before: Before<'_>,
        pass: &mut impl FnMut(Before<'_>, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match fields.index {
            Some((server, _)) if !self.overlaps && self.holds(fields, server, text, before, pass)? => Ok(()),
            _ => self.whole_block(fields, text, before, pass),
        }
    }

    /// Sends the repaired form of a block's event.
    fn whole_block(
        &mut self,
        fields: &Fields,
        text: &[u8],
        before: Before<'_>,
        pass: &mut impl FnMut(Before<'_>, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some((server, at)) = fields.index.clone() else { return pass(before, text) };
        if self.overlaps {
            if fields.kind == Kind::BlockStart {
                self.begin(server, None, None);
                self.close()?;
            }
            return self.renumber(text, &at, self.known(server), before, pass);
        }
        let open = self.open.filter(|open| open.server == server);
        let said = Text::of(&fields.block, text);
        let fits = |open: &Open| said.is_none() || open.text.is_none() || open.text == said;
        let own = match (fields.kind, open) {
            (Kind::BlockStart, _) => {
                self.stop(pass)?;
                self.begin(server, said, arguments(&fields.block, text))
            }
            (Kind::BlockDelta, Some(open)) if fits(&open) => open.own,
            (Kind::BlockDelta, Some(_)) if !fields.block.says() => return Ok(()),
            (Kind::BlockStop, Some(open)) => open.own,
            (Kind::BlockDelta, _) => {
                let Some(said) = said else {
                    // This is a delta of another kind, such as arguments, for a block without a start: a call cannot be started
                    // without its name.
                    if is_empty(text) {
                        return Ok(());
                    }
                    return self.renumber(text, &at, self.known(server), before, pass);
                };
                self.stop(pass)?;
                let own = self.begin(server, Some(said), None);
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
                pass(Before::Name(self.is_named.then_some(START)), event)?;
                own
            }
            (Kind::BlockStop, None) => return Ok(()),
            _ => return pass(before, text),
        };
        match fields.kind {
            Kind::BlockStop => self.close()?,
            Kind::BlockDelta => self.see_arguments(text)?,
            _ => {}
        }
        self.renumber(text, &at, own, before, pass)
    }

    /// Notes a delta of the open block, which may complete the arguments of the block's call.
    fn see_arguments(&mut self, text: &[u8]) -> memory::Result<()> {
        let Some(Open { arguments: open @ Some(_), .. }) = &mut self.open else { return Ok(()) };
        let (Some(piece), Some(Arguments::Begun(syntax))) = (piece(text), open.as_mut()) else { return Ok(()) };
        let mut room = Vec::new();
        let mut bytes = decode(&text[piece], &mut room)?.iter();
        match bytes.find_map(|&byte| Some(syntax.step(byte)).filter(|seen| *seen != Seen::Inside)) {
            None => {}
            Some(Seen::Fault) => *open = Some(Arguments::Faulty),
            Some(_) => *open = None,
        }
        Ok(())
    }

    /// Returns the new index of a block that was open before.
    fn known(&self, server: u64) -> u64 {
        self.closed.iter().rfind(|(closed, _)| *closed == server).map_or(server, |(_, own)| *own)
    }

    /// Begins a block. Returns its new index.
    fn begin(&mut self, server: u64, text: Option<Text>, arguments: Option<Arguments>) -> u64 {
        let own = self.next;
        self.next += 1;
        self.open = Some(Open { server, own, text, arguments });
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
    fn stop(&mut self, pass: &mut impl FnMut(Before<'_>, &[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let Some(Open { own, .. }) = self.open else { return Ok(()) };
        self.close()?;
        memory::clear(&mut self.event);
        let index = &mut [0; 20];
        let stop: [&[u8]; 3] = [b"{\"type\":\"content_block_stop\",\"index\":", decimal(own, index).as_bytes(), b"}"];
        append_all(&mut self.event, &stop)?;
        pass(Before::Name(self.is_named.then_some(STOP)), &self.event)
    }

    fn renumber(
        &mut self,
        text: &[u8],
        at: &Span,
        own: u64,
        before: Before<'_>,
        pass: &mut impl FnMut(Before<'_>, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let index = &mut [0; 20];
        let index = decimal(own, index).as_bytes();
        if text[at.clone()] == *index {
            return pass(before, text);
        }
        self.edits.clear();
        self.edits.replace(at.clone(), |out| memory::append(out, index))?;
        memory::clear(&mut self.event);
        self.edits.apply(text, 0..text.len(), Span::clone, &mut self.event)?;
        pass(before, &self.event)
    }
}

/// Returns whether a string has only blanks.
fn has_blanks(text: &[u8], string: Option<&Span>) -> bool {
    let mut is_blank = string.is_some();
    if let Some(string) = string {
        unescape(&text[string.start + 1..string.end - 1], |part| is_blank &= part.trim_ascii().is_empty());
    }
    is_blank
}

/// Returns the position of a message's id.
fn message_id(text: &[u8]) -> Option<Span> {
    string_in(text, &[b"message", b"id"])
}

/// Returns the empty arguments of a call that begins; `None` if its start has the arguments or the block is not a call.
fn arguments(block: &BlockFields, text: &[u8]) -> Option<Arguments> {
    let is_call = block.kind.clone().is_some_and(|kind| text[kind].ends_with(b"tool_use\""));
    let input = Value::of(text).at(&[b"content_block", b"input"]);
    let has_input = input.is_some_and(|input| input.is_object() && input.span.len() > 2);
    (is_call && !has_input).then_some(Arguments::Begun(Syntax::START))
}

/// Returns whether a delta is an empty piece of a call's arguments.
fn is_empty(text: &[u8]) -> bool {
    piece(text).is_some_and(|piece| text[piece].len() == 2)
}

/// Returns the string in a delta that is a piece of a call's arguments.
fn piece(text: &[u8]) -> Option<Span> {
    string_in(text, &[b"delta", b"partial_json"])
}

/// Returns the string at the end of a path of members.
fn string_in(text: &[u8], path: &[&[u8]]) -> Option<Span> {
    Value::of(text).at(path).filter(|value| value.string().is_some()).map(|string| string.span)
}
