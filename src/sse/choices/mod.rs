//! Answers that are made of choices: chat and legacy completions, and Ollama. A scanner reads the text of each choice, and its
//! results are written into the fields of the choice. The differences between these formats are in their layouts.
//!
//! A choice's stream:
//!
//! | state | text arrives | the server splits it | the server makes a call | the choice finishes |
//! |---|---|---|---|---|
//! | scanned | it is split | *server's*, or *over* if no calls are wanted | held text is sent as content | *over* |
//! | server's | only calls are looked for | | *over* | *over* |
//! | over | after a finish reason, it is split as a new text of content; otherwise it is sent unchanged | | | |
//!
//! The last stretch of an event's text stays in the event, and earlier stretches are sent in extra chunks before the event. Text that
//! a scanner holds is sent with the next event of its choice, or in an extra chunk before the end.
//!
//! Laws: a chunk or body without changes is copied, and a changed one keeps all its other members. Each part of a text is written
//! once, in its chunk or in an extra chunk. A choice of a body is read like the delta of a stream that has its whole text. Without
//! the thinking, the content and the calls are the same.

mod body;
mod chunk;
mod extra;
mod fields;
mod head;
mod hide;
mod layout;
mod say;
mod tokens;
mod wrapper;

use std::mem;

use super::event::EventPart;
use super::options::{Field, Options};
use super::protocol::{Context, Protocol, Scratch};
use crate::answer::{Input, Parts, Promotes, Promotion, Purpose, Setup, Target, TextStream};
use crate::json::{Edits, Span, decode};
use crate::memory::{self, TryBox, append, push};
use crate::{EndReason, Error, Scanner};
use chunk::{Break, CHOICES};
pub use chunk::{Choice, REASONING, has_only_text, is_read, says};
use extra::ExtraChunk;
pub use extra::write_empty;
use fields::{EditRef, Fields, lines};
pub use head::Head;
pub use hide::choices as hide_choices;
use layout::CallForm;
pub use layout::Layout;
use say::{look_for_calls, say_again};
use wrapper::Wrapper;

/// The finish reason of a choice that has emitted a call.
const TOLD_STOP: &[u8] = b"\"tool_calls\"";

/// The stream of one choice.
struct ChoiceStream {
    index: u64,
    text: TextStream,
    promotion: Promotion,
    /// The beginning of an extra chunk for held text; empty until text is held.
    head: TryBox<Head>,
    /// Removes the markers from thinking that the server has split, if the host wants that.
    wrapper: TryBox<Wrapper>,
    /// Whether a finish reason has ended the text.
    has_finished: bool,
    /// Whether text has arrived after the finish reason. The text's second scanner, `split`, reads it.
    goes_on: bool,
    /// Whether the finish reason that was sent is `tool_calls`.
    has_told_stop: bool,
}

impl ChoiceStream {
    fn new(index: u64, scanner: Scanner, promotes: Promotes) -> ChoiceStream {
        ChoiceStream {
            index,
            text: TextStream::new(scanner, false),
            promotion: promotes.of_stream(),
            head: TryBox::NONE,
            wrapper: TryBox::NONE,
            has_finished: false,
            goes_on: false,
            has_told_stop: false,
        }
    }

    /// Resets everything except the scanner to the start of a stream.
    fn begin(&mut self, promotes: Promotes) {
        self.text.begin();
        self.promotion = promotes.of_stream();
        self.wrapper = TryBox::NONE;
        (self.has_finished, self.goes_on, self.has_told_stop) = (false, false, false);
    }

    /// Returns whether the server splits the text itself.
    fn is_split(&self) -> bool {
        self.text.split.get().is_some() && !self.goes_on
    }

    /// Returns whether the server has sent a finish reason, but no text of the choice yet.
    fn finishes_early(&self, choice: &Choice) -> bool {
        let is_fresh = self.text.scanner.offset() == 0 && !self.text.over && self.text.split.get().is_none();
        let says = choice.answers || choice.is_split || choice.breaks.is_some();
        choice.finishes && is_fresh && !self.text.has_own_calls && !says
    }

    /// Begins to read text that arrives after the finish reason, as a new answer in the content.
    fn go_on(&mut self, setup: &Setup, choice: &Choice) -> Result<(), Error> {
        if !self.has_finished || !choice.answers || choice.content.is_none() || choice.is_split || self.text.is_bare() {
            return Ok(());
        }
        let was_split = self.is_split();
        self.text.go_on();
        setup.split(&mut self.text, was_split)?;
        (self.has_finished, self.goes_on) = (false, !was_split);
        Ok(())
    }

    /// Returns the number of bytes that are held back.
    fn held(&self) -> usize {
        self.text.held() + self.wrapper.get().map_or(0, Wrapper::held)
    }

    /// Removes the markers from the thinking that the server has sent in an event. If content follows, or the choice finishes,
    /// adds the held bytes of the thinking to `parts`.
    fn unwrap(&mut self, setup: &Setup, choice: &Choice, data: &[u8], scratch: &mut Scratch) -> Result<(), Error> {
        let Scratch { parts, edits, .. } = scratch;
        if let Some(at) = choice.reasoning.as_ref().filter(|_| setup.reads_behind) {
            if self.wrapper.get().is_none() {
                self.wrapper = TryBox::new(Wrapper::new(setup)?)?;
            }
            if let Some(wrapper) = self.wrapper.get_mut() {
                let mut left = Vec::new();
                if wrapper.unwrap(setup, data, at, false, &mut left)? {
                    wrapper::put(&left, at.clone(), edits)?;
                }
            }
        }
        let is_more = choice.reasoning.is_none() && (choice.answers || choice.breaks.is_some());
        if is_more || choice.finishes { self.end_thinking(setup, parts) } else { Ok(()) }
    }

    /// Adds the held bytes of the server's thinking.
    fn end_thinking(&mut self, setup: &Setup, parts: &mut Parts) -> Result<(), Error> {
        let Some(wrapper) = self.wrapper.get_mut() else { return Ok(()) };
        let mut left = Vec::new();
        wrapper.end(setup, &mut left)?;
        Ok(parts.push_thinking(&left)?)
    }

    /// Returns the position of a finish reason `stop` that must become `tool_calls`, because a call was emitted.
    fn told_stop(&self, choice: &Choice, layout: &Layout) -> Option<Span> {
        choice.stop.clone().filter(|_| layout.calls == CallForm::Deltas && self.text.has_emitted_call())
    }

    /// Notes that the finish reason becomes `tool_calls`, in both places if a server sends it twice.
    fn tell_stop(&mut self, choice: &Choice, layout: &Layout, edits: &mut Edits) -> memory::Result<()> {
        let Some(stop) = self.told_stop(choice, layout) else { return Ok(()) };
        if self.has_finished && !self.has_told_stop {
            return Ok(());
        }
        self.has_told_stop = true;
        edits.replace(stop, |out| append(out, TOLD_STOP))
    }
}

/// An edit of an event that has the same choice twice. If the second one needs an extra chunk, which precedes the event,
/// the text of this edit must be sent in an extra chunk as well.
struct DeferredEdit {
    index: u64,
    target: Target,
    edit_ref: EditRef,
}

/// A chunk: its choices, and buffers for writing it.
#[derive(Default)]
pub struct Chunk {
    choices: Vec<Choice>,
    deferred: Vec<DeferredEdit>,
    /// The text with which each extra chunk before this chunk begins; empty until an extra chunk is needed.
    head: Vec<u8>,
}

impl Chunk {
    /// Forgets the chunk.
    pub fn clear(&mut self) {
        memory::clear(&mut self.choices);
        memory::clear(&mut self.deferred);
        self.head.clear();
    }

    /// Returns the only choice of the chunk, if it continues a text that is to be split.
    pub fn only(&self) -> Option<&Choice> {
        match &self.choices[..] {
            [choice] if !choice.finishes && !choice.is_split && choice.breaks.is_none() && choice.beside.is_none() => {
                Some(choice)
            }
            _ => None,
        }
    }

    /// Returns whether the chunk has no choice.
    pub fn is_empty(&self) -> bool {
        self.choices.is_empty()
    }

    /// Returns whether the first choice of the chunk has both text and a finish reason.
    pub fn is_whole(&self) -> bool {
        let says = |choice: &Choice| choice.answers || choice.is_split || choice.breaks.is_some();
        self.choices.first().is_some_and(|choice| choice.finishes && says(choice))
    }
}

/// The streams of all choices.
pub struct Choices {
    /// The field for the thinking; `None` if the thinking is left out.
    field: Option<Field>,
    /// Whether the result of each chunk must be one chunk.
    merges: bool,
    promotes: Promotes,
    /// The layout of the event or body that was read last.
    layout: &'static Layout,
    all: Vec<ChoiceStream>,
    /// Whether an event of the stream was sent unread, so that content may have been sent.
    has_unread: bool,
}

impl Choices {
    /// Returns the streams of an answer that has no choice yet.
    pub fn new(options: &Options) -> Choices {
        Choices {
            field: (!options.drops_thinking()).then_some(options.field),
            merges: options.merge,
            promotes: Promotes::new(&options.answer, options.max_event_bytes()),
            layout: Layout::CHAT,
            all: Vec::new(),
            has_unread: false,
        }
    }

    /// Notes the only choice of a chunk that has the envelope of the chunk before, as `read` does for other chunks.
    pub fn take(&mut self, layout: &'static Layout, mut choice: Choice, chunk: &mut Chunk) -> memory::Result<()> {
        self.layout = layout;
        // This chunk's text differs from the earlier chunk's, so `answers` is computed again.
        choice.answers = choice.content.as_ref().is_some_and(|content| content.value.len() > 2);
        push(&mut chunk.choices, choice)
    }

    /// Returns whether calls are looked for in the first choice.
    pub fn looks_for_calls(&self) -> bool {
        self.all.first().is_some_and(|stream| stream.text.looks_for_calls())
    }

    /// Begins a new stream, whose first choice starts like the first choice of the last stream.
    pub fn begin_stream(&mut self) {
        self.all.truncate(1);
        self.has_unread = false;
        if let Some(stream) = self.all.first_mut() {
            stream.text.scanner.reset();
            stream.begin(self.promotes);
        }
    }

    /// Drops the stream of the first choice, because the next stream has another dialect or start.
    pub fn forget_start(&mut self) {
        self.all.clear();
    }

    /// Returns the stream of the first choice, which nearly every answer has.
    fn first(&mut self, setup: &Setup) -> Result<&mut ChoiceStream, Error> {
        if self.all.is_empty() {
            self.begin_choice(setup, 0)?;
        }
        Ok(&mut self.all[0])
    }

    /// Returns the index of a choice's stream, or `None` if there are too many.
    fn find(&mut self, setup: &Setup, index: u64) -> Result<Option<usize>, Error> {
        // The held text of several choices is sent in this order.
        self.first(setup)?;
        if let Some(known) = self.all.iter().position(|stream| stream.index == index) {
            return Ok(Some(known));
        }
        if self.all.len() == CHOICES {
            return Ok(None);
        }
        self.begin_choice(setup, index)?;
        Ok(Some(self.all.len() - 1))
    }

    fn begin_choice(&mut self, setup: &Setup, index: u64) -> Result<(), Error> {
        let mut stream = ChoiceStream::new(index, setup.scanner()?, self.promotes);
        if self.has_unread {
            stream.promotion.close();
        }
        Ok(push(&mut self.all, stream)?)
    }

    /// Writes the held text of the choices for whose index `due` returns true.
    fn release_some(
        &mut self,
        context: &mut Context<'_>,
        input: Input<'_>,
        due: impl Fn(u64) -> bool,
    ) -> Result<(), Error> {
        let Context { setup, scratch: Scratch { parts, alone, .. }, out } = context;
        let merges = self.merges;
        for stream in self.all.iter_mut().filter(|stream| due(stream.index)) {
            parts.clear();
            stream.end_thinking(setup, parts)?;
            setup.scan(&mut stream.text, input, parts)?;
            if matches!(input, Input::Flush) {
                // The next event is sent unread, and may have content.
                stream.promotion.close();
            }
            if parts.runs().is_empty() {
                continue;
            }
            let index = stream.index;
            let kept = stream.head.made_by(|| Head::new(self.layout))?;
            let (layout, line_end) = (kept.layout, kept.line_end);
            let head = &mut Vec::new();
            kept.write(head)?;
            let extra = ExtraChunk { layout, head, index, field: field(layout, self.field), line_end };
            setup.stats.added += extra.write(parts, parts.runs(), None, merges, alone, out)?;
        }
        Ok(())
    }

    /// Returns the field for the thinking, or `None` if the thinking is left out.
    fn field(&self) -> Option<Field> {
        field(self.layout, self.field)
    }

    /// Finds the choices of a chunk. Returns whether it reports an error, or `None` if it cannot be rewritten.
    pub fn read(&mut self, layout: &'static Layout, data: &[u8], chunk: &mut Chunk) -> Result<Option<bool>, Error> {
        self.layout = layout;
        chunk::read(data, layout, false, self.field(), &mut chunk.choices)
    }

    /// Writes the chunks of one choice that precede an event, and notes the changes of the choice in the event. `again` means that the
    /// same choice follows again in the event. Returns true if calls are looked for in the choice and nothing of its text is left.
    fn delta(
        &mut self,
        context: &mut Context<'_>,
        choice: &Choice,
        over: bool,
        again: bool,
        event: &EventPart<'_>,
        Chunk { deferred, head, .. }: &mut Chunk,
    ) -> Result<bool, Error> {
        let Context { setup, scratch, out } = context;
        let field = self.field();
        let Some(index) = choice.index else { return Ok(false) };
        let Some(stream) = self.find(setup, index)? else { return Ok(false) };
        let stream = &mut self.all[stream];
        if stream.finishes_early(choice) {
            return Ok(false);
        }
        stream.go_on(setup, choice)?;
        let was_over = stream.text.over;
        if was_over && stream.promotion.is_closed() {
            stream.tell_stop(choice, self.layout, &mut scratch.edits)?;
            return Ok(false);
        }
        // A line of Ollama that is a whole answer is a body.
        let is_body = !self.layout.has_list && choice.finishes && stream.text.scanner.offset() == 0 && !stream.goes_on;
        scratch.parts.begin(if is_body { Purpose::Body } else { Purpose::Stream });
        stream.unwrap(setup, choice, event.data(), scratch)?;
        let Scratch { parts, edits, decoded, alone, .. } = &mut **scratch;
        let was_split = stream.is_split();
        let text = &mut stream.text;
        let (data, line_end, layout, merges) = (event.data(), event.event.line_end, self.layout, self.merges);
        let is_read = !choice.is_split && !was_over;
        let content = choice.content.as_ref().filter(|content| is_read && content.value.len() > 2);
        let mut said = &b""[..];
        if !was_over {
            if choice.breaks == Some(Break::Call) {
                setup.give_up_calls(text, parts)?;
            }
            if let Some(content) = content {
                look_for_calls(setup, text, layout, data, index, false)?;
                said = decode(&data[content.value.clone()], decoded)?;
                setup.scan(text, Input::Feed(said), parts)?;
            }
            setup.stats.split_by_server += u64::from(choice.is_split && !was_split);
            let has_calls = layout.calls != CallForm::Text && setup.has_calls();
            let is_left_alone = !setup.reads_behind && (!has_calls || text.has_own_calls);
            text.over = choice.finishes || over || is_left_alone && was_split && text.is_behind_server();
            let end = match choice.breaks {
                _ if text.over || choice.is_split && !was_split => Some(Input::Finish),
                Some(Break::Call) => Some(Input::ServerCall),
                Some(Break::Other) => Some(Input::Flush),
                None => choice.is_split.then_some(Input::Flush),
            };
            if choice.finishes && choice.stop.is_some() {
                text.end_reason = EndReason::Ended;
            }
            if let Some(end) = end {
                setup.scan(text, end, parts)?;
            }
            if choice.is_split && !was_split && !text.over {
                setup.split(text, true)?;
                stream.goes_on = false;
            }
        }
        if !stream.promotion.is_closed() {
            promote(setup, &mut stream.promotion, choice, choice.is_split || was_over, data, parts)?;
        }

        // The last stretch stays in the event, which also has `finish_reason`, `usage` and unknown fields.
        let runs = parts.runs();
        let inside = match content {
            None => 0,
            // If the same choice follows again in the event, an extra chunk before the event may be needed, and then all text must be
            // in extra chunks.
            Some(_) if merges => {
                if again {
                    0
                } else {
                    runs.len()
                }
            }
            Some(_) => runs.len().min(1),
        };
        let (before, inside) = runs.split_at(runs.len() - inside);
        if text.holds() || stream.wrapper.get().is_some_and(|wrapper| wrapper.held() > 0) {
            stream.head.made_by(|| Head::new(layout))?.keep(event, layout, Some(choice))?;
        }
        if !before.is_empty() && head.is_empty() {
            head::write(event, layout, choice, head)?;
        }
        if !before.is_empty() {
            let role = choice.role.as_ref().filter(|_| !layout.repeats_role);
            let extra = ExtraChunk { layout, head, index, field, line_end };
            // If the event has had this choice already, the earlier text must not be sent after the text of these extra chunks.
            for deferred in deferred.extract_if(.., |deferred| deferred.index == index) {
                let empty = if deferred.target == Target::Calls { &b"null"[..] } else { b"\"\"" };
                let mut value = edits.take(deferred.edit_ref.edit, empty)?;
                value.start += deferred.edit_ref.skip;
                setup.stats.added += 1;
                let is_it = |target| target == deferred.target;
                extra.write_one(None, is_it, out, |_, out| append(out, &edits.text[value.clone()]))?;
            }
            setup.stats.added +=
                extra.write(parts, before, role.map(|role| &data[role.value.clone()]), merges, alone, out)?;
            for part in role.into_iter().flat_map(|role| lines(data, without(data, role.span()))) {
                edits.replace(part, |_| Ok(()))?;
            }
        }
        stream.tell_stop(choice, layout, edits)?;
        stream.has_finished |= choice.finishes && !was_over;
        let Some(content) = content else { return Ok(false) };
        let whole = content.value.clone();
        let [first, others @ ..] = inside else {
            edits.replace(whole, |out| append(out, b"\"\""))?;
            return Ok(before.is_empty() && stream.text.looks_for_calls());
        };
        let target = first.target();
        let edit_ref = if others.is_empty() && target == Target::Content && parts.text_of(first) == said {
            let edit = edits.list.len();
            if again {
                edits.replace(whole.clone(), |out| append(out, &data[whole]))?;
            }
            EditRef { edit, skip: 0 }
        } else {
            Fields { layout, field, data, choice, content, parts, runs: inside, is_body: false }.note(edits)?
        };
        if again {
            push(deferred, DeferredEdit { index, target, edit_ref })?;
        }
        Ok(false)
    }

    /// Writes a parsed chunk with its changes, or nothing if calls are looked for and nothing of the chunk is left. With `is_last`, no
    /// text follows the chunk. Returns whether there are changes.
    pub fn event(
        &mut self,
        context: &mut Context<'_>,
        is_last: bool,
        event: &EventPart<'_>,
        chunk: &mut Chunk,
    ) -> Result<bool, Error> {
        let start = context.out.len();
        let read = mem::take(&mut chunk.choices);
        if is_last {
            let here = |index| read.iter().any(|choice| choice.index == Some(index));
            self.release_some(context, Input::Finish, |index| !here(index))?;
        }
        let mut is_emptied = false;
        for (at, choice) in read.iter().enumerate() {
            let again = read[at + 1..].iter().any(|later| later.index == choice.index);
            is_emptied = self.delta(context, choice, is_last && !again, again, event, chunk)?;
            if let Some(beside) = &choice.beside {
                self.message_beside(context, choice, beside, event.data())?;
            }
        }
        chunk.choices = read;
        let has_only_text =
            |choice: &Choice| choice.has_only_text.unwrap_or_else(|| has_only_text(event.data(), self.layout));
        if is_emptied && context.out.len() == start && event.is_data_alone() && chunk.only().is_some_and(has_only_text)
        {
            context.scratch.leave_out(event);
            return Ok(true);
        }
        let changes = context.out.len() > start || !context.scratch.edits.list.is_empty();
        let written = context.out.len();
        event.write(&mut context.scratch.edits, context.out)?;
        // Thinking that the server has split itself is still in the event.
        let may_think = self.field.is_none() && chunk.choices.iter().any(|it| it.is_split || it.beside.is_some());
        Ok(may_think && hide::chunk(self.layout, written, context)? || changes)
    }

    /// Writes a body with its changes. Returns whether anything changed.
    pub fn body(
        &mut self,
        context: &mut Context<'_>,
        layout: &'static Layout,
        raw: &[u8],
        chunk: &mut Chunk,
    ) -> Result<bool, Error> {
        self.layout = layout;
        chunk::read(raw, layout, true, self.field(), &mut chunk.choices)?;
        tokens::find(raw, &mut chunk.choices);
        context.scratch.edits.clear();
        chunk.choices.iter().try_for_each(|choice| self.message(context, choice, raw))?;
        let edits = &mut context.scratch.edits;
        edits.apply(raw, 0..raw.len(), Span::clone, context.out)?;
        Ok(!edits.list.is_empty())
    }
}

impl Protocol for Choices {
    fn held(&self) -> usize {
        self.all.iter().map(ChoiceStream::held).sum()
    }

    fn release(&mut self, context: &mut Context<'_>, input: Input<'_>) -> Result<(), Error> {
        self.has_unread |= matches!(input, Input::Flush);
        self.release_some(context, input, |_| true)
    }

    fn make_way(&mut self, context: &mut Context<'_>, is_last: bool, _: &EventPart<'_>) -> Result<(), Error> {
        if is_last { self.release(context, Input::Finish) } else { Ok(()) }
    }

    fn restart(&mut self, setup: &Setup) -> Result<(), Error> {
        self.all.truncate(1);
        self.has_unread = false;
        if let Some(stream) = self.all.first_mut() {
            setup.rewind(&mut stream.text.scanner)?;
            stream.begin(self.promotes);
        }
        Ok(())
    }
}

/// Returns the field for the thinking in this format.
fn field(layout: &Layout, field: Option<Field>) -> Option<Field> {
    field.map(|field| layout.field.unwrap_or(field))
}

/// Keeps the thinking of a choice for promotion, and promotes it if the choice finishes. `parts` is the choice's text; with
/// `is_split`, the server splits the choice itself.
fn promote(
    setup: &mut Setup,
    promotion: &mut Promotion,
    choice: &Choice,
    is_split: bool,
    data: &[u8],
    parts: &mut Parts,
) -> Result<(), Error> {
    promotion.take(parts)?;
    if let Some(reasoning) = &choice.reasoning {
        promotion.take_of_server(decode(&data[reasoning.clone()], &mut Vec::new())?)?;
    }
    if choice.breaks.is_some() || is_split && choice.answers || choice.finishes && choice.stop.is_none() {
        promotion.close();
    }
    if choice.finishes {
        say_again(setup, promotion, parts)?;
        promotion.close();
    }
    Ok(())
}

/// Returns the span of a member and of the comma that must be removed with it.
fn without(text: &[u8], member: Span) -> Span {
    let after = text[member.end..].trim_ascii_start();
    if after.first() == Some(&b',') {
        return member.start..text.len() - after.len() + 1;
    }
    let before = text[..member.start].trim_ascii_end().len();
    if text[before - 1] == b',' { before - 1..member.end } else { member }
}
