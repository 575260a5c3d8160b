//! Answers that are made of choices: each choice's text goes through its scanner, and what the scanner reports goes into the
//! fields of the choice. Text that a chunk of the stream has no place for gets chunks of its own before it. What one format
//! has in another place than the next is said by its layout.

mod chunk;
mod extra;
mod layout;

use std::{mem, slice};

use super::edits::{Edits, decode};
use super::event::EventPart;
use super::options::Field;
use super::text::{Call, Parts, Setup, Target, TextStream};
use crate::json::{self, Span};
use crate::memory::{self, TryBox, append, append_all, append_text, push};
use crate::{Error, Scanner};
use chunk::{CHOICES, Choice, Member, Part};
use extra::ExtraChunk;
use layout::CallForm;
pub use layout::Layout;

/// At most this many stretches of an event have a chunk of their own. The rest of each choice is joined, one chunk for each
/// field. Otherwise a few bytes of text could become many times as many bytes of chunks.
const ALONE: usize = 32;

/// The reason that a choice finishes for if it has told a call.
const TOLD_STOP: &[u8] = b"\"tool_calls\"";

/// How much of a chunk's id the ids of its calls have.
const ID_LEN: usize = 24;

/// The stream of one choice.
struct ChoiceStream {
    index: u64,
    text: TextStream,
    /// How an extra chunk for held text is written and begins, and how its lines end.
    layout: &'static Layout,
    head: Vec<u8>,
    line_end: &'static [u8],
}

impl ChoiceStream {
    fn new(index: u64, layout: &'static Layout, scanner: Scanner) -> ChoiceStream {
        ChoiceStream { index, text: TextStream::new(scanner), layout, head: Vec::new(), line_end: b"\n" }
    }

    /// Returns where the reason to finish stands, if a call that was told is one.
    fn told_stop(&self, choice: &Choice, layout: &Layout) -> Option<Span> {
        choice.stop.clone().filter(|_| layout.calls == CallForm::Deltas && self.text.has_told_call())
    }
}

/// An edit of an event in which the same choice comes again. If that choice then needs an extra chunk, which goes before
/// the event, the edit's text must go into an extra chunk as well.
struct DeferredEdit {
    index: u64,
    target: Target,
    edit: usize,
    /// How much stands before the text in the edit.
    skip: usize,
}

/// The streams of all choices.
pub struct Choices {
    field: Field,
    /// That of the event or body that was read last.
    layout: &'static Layout,
    /// Those of the event or body that was read last.
    read: Vec<Choice>,
    all: Vec<ChoiceStream>,
    /// What the scanner has reported last.
    parts: Parts,
    /// The changes of the event or body.
    edits: Edits,
    deferred: Vec<DeferredEdit>,
    /// How an extra chunk of the event begins, once one was needed.
    head: Vec<u8>,
    /// How many stretches may still have a chunk of their own.
    alone: usize,
    decoded: Vec<u8>,
}

impl Choices {
    /// Makes the streams of no choice yet but the first, which nearly every answer has.
    pub fn new(field: Field, first: Scanner) -> Result<Choices, Error> {
        let mut all = Vec::new();
        push(&mut all, ChoiceStream::new(0, Layout::CHAT, first))?;
        Ok(Choices {
            field,
            layout: Layout::CHAT,
            read: Vec::new(),
            all,
            parts: Parts::default(),
            edits: Edits::default(),
            deferred: Vec::new(),
            head: Vec::new(),
            alone: ALONE,
            decoded: Vec::new(),
        })
    }

    /// Returns the scanner of the first choice.
    pub fn first(&mut self) -> &mut Scanner {
        &mut self.all[0].text.scanner
    }

    /// Returns whether what was read last has no choice.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty()
    }

    /// Returns whether what was read last ends its first choice.
    pub fn is_finished(&self) -> bool {
        self.read.first().is_some_and(|choice| choice.finishes)
    }

    /// Returns how many bytes of text are held back.
    pub fn held(&self) -> usize {
        self.all.iter().map(|stream| stream.text.held()).sum()
    }

    /// Begins each choice again, after `[DONE]` or an error.
    pub fn restart(&mut self, setup: &Setup) -> Result<(), Error> {
        self.all.truncate(1);
        let text = &mut self.all[0].text;
        setup.rewind(&mut text.scanner)?;
        text.begin();
        Ok(())
    }

    /// Begins a new stream. `own` is the scanner of the first choice, if that is another one now.
    pub fn begin_stream(&mut self, own: Option<Scanner>) {
        self.all.truncate(1);
        let text = &mut self.all[0].text;
        if let Some(own) = own {
            text.scanner = own;
        }
        text.scanner.reset();
        text.begin();
        // A body, or the last event, may have been large.
        self.begin_data();
    }

    /// Returns the index of a choice's stream, or `None` if there are too many.
    fn find(&mut self, setup: &Setup, index: u64) -> Result<Option<usize>, Error> {
        if let Some(known) = self.all.iter().position(|stream| stream.index == index) {
            return Ok(Some(known));
        }
        if self.all.len() == CHOICES {
            return Ok(None);
        }
        let scanner = setup.scanner()?;
        push(&mut self.all, ChoiceStream::new(index, self.layout, scanner))?;
        Ok(Some(self.all.len() - 1))
    }

    pub fn begin_event(&mut self) {
        self.begin_data();
        self.alone = ALONE;
    }

    pub fn begin_data(&mut self) {
        memory::clear(&mut self.read);
        self.edits.clear();
        self.parts.clear();
        memory::clear(&mut self.deferred);
        self.head.clear();
        memory::clear(&mut self.decoded);
    }

    /// Writes what is held back for the choices that `due` names.
    fn release_some(
        &mut self,
        setup: &mut Setup,
        call: Call<'_>,
        due: impl Fn(u64) -> bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        for stream in self.all.iter_mut().filter(|stream| due(stream.index)) {
            self.parts.clear();
            setup.scan(&mut stream.text, call, &mut self.parts)?;
            let ChoiceStream { index, layout, ref head, line_end, .. } = *stream;
            let field = layout.field.unwrap_or(self.field);
            let extra = ExtraChunk { layout, head, index, field, line_end };
            setup.stats.added += extra.write(&self.parts, self.parts.runs(), None, &mut self.alone, out)?;
        }
        Ok(())
    }

    /// Writes what is held back of all choices.
    pub fn release(&mut self, setup: &mut Setup, call: Call<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.release_some(setup, call, |_| true, out)
    }

    /// Returns the field for the thinking.
    fn field(&self) -> Field {
        self.layout.field.unwrap_or(self.field)
    }

    /// Finds the choices of a chunk. Returns whether it reports an error, or `None` if it cannot be rewritten.
    pub fn read(&mut self, layout: &'static Layout, data: &[u8]) -> Result<Option<bool>, Error> {
        self.layout = layout;
        chunk::read(data, layout, false, self.field(), &mut self.read)
    }

    /// Writes a chunk that was read with its changes. With `over`, no choice goes on after it. Returns
    /// whether there are changes.
    pub fn chunk(
        &mut self,
        setup: &mut Setup,
        over: bool,
        event: &EventPart<'_>,
        out: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        let start = out.len();
        let read = mem::take(&mut self.read);
        if over {
            let here = |index| read.iter().any(|choice| choice.index == Some(index));
            self.release_some(setup, Call::Finish, |index| !here(index), out)?;
        }
        for (at, choice) in read.iter().enumerate() {
            let again = read[at + 1..].iter().any(|later| later.index == choice.index);
            self.delta(setup, choice, over && !again, again, event, out)?;
        }
        self.read = read;
        let changes = out.len() > start || !self.edits.list.is_empty();
        event.write(&mut self.edits, out)?;
        Ok(changes)
    }

    /// Writes a whole body, of an answer that is not a stream, with its changes. Returns whether there are any.
    pub fn body(
        &mut self,
        setup: &mut Setup,
        layout: &'static Layout,
        raw: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        self.layout = layout;
        chunk::read(raw, layout, true, self.field(), &mut self.read)?;
        self.edits.clear();
        let read = mem::take(&mut self.read);
        read.iter().try_for_each(|choice| self.message(setup, choice, raw))?;
        self.read = read;
        self.edits.apply(raw, 0..raw.len(), Span::clone, out)?;
        Ok(!self.edits.list.is_empty())
    }

    /// Writes the chunks of one choice that go before an event, and notes its changes in the event. `again` says that the
    /// choice comes in it once more.
    fn delta(
        &mut self,
        setup: &mut Setup,
        choice: &Choice,
        over: bool,
        again: bool,
        event: &EventPart<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let field = self.field();
        let Some(index) = choice.index else { return Ok(()) };
        let Some(stream) = self.find(setup, index)? else { return Ok(()) };
        let stream = &mut self.all[stream];
        let text = &mut stream.text;
        if text.over {
            return Ok(());
        }
        let (data, line_end, layout) = (event.data(), event.event.line_end, self.layout);
        let has_calls = layout.calls != CallForm::Text && setup.has_calls();
        let content = choice.content.as_ref().filter(|content| !choice.is_split && content.value.len() > 2);
        let mut said = &b""[..];
        self.parts.clear();
        if choice.part == Some(Part::Call) {
            setup.give_up_calls(text, &mut self.parts)?;
        }
        if let Some(content) = content {
            look_for_calls(setup, text, layout, data, index, false)?;
            said = decode(&data[content.value.clone()], &mut self.decoded)?;
            setup.scan(text, Call::Feed(said), &mut self.parts)?;
        }
        let was_split = text.split.get().is_some();
        setup.stats.split_by_server += u64::from(choice.is_split && !was_split);
        let is_left_alone = !has_calls || text.has_own_calls;
        text.over = choice.finishes || over || is_left_alone && (choice.is_split || was_split);
        let end = match choice.part {
            _ if text.over || choice.is_split && !was_split => Some(Call::Finish),
            Some(Part::Call) => Some(Call::Tool),
            Some(Part::Other) => Some(Call::Flush),
            None => choice.is_split.then_some(Call::Flush),
        };
        if let Some(end) = end {
            setup.scan(text, end, &mut self.parts)?;
        }
        if choice.is_split && !was_split && !text.over {
            text.split = TryBox::new(setup.split_scanner()?)?;
        }

        // The last stretch stays in the event, which has all else: `finish_reason`, `usage`, and fields that are not known.
        let runs = self.parts.runs();
        let (inside, before) = match (content, runs.split_last()) {
            (Some(_), Some((inside, before))) => (Some(inside), before),
            _ => (None, runs),
        };
        let holds = text.holds();
        if (holds || !before.is_empty()) && self.head.is_empty() {
            let name = event.name();
            if !matches!(name.len(), 0 | 1024..) && name != b"error" {
                append_all(&mut self.head, &[b"event: ", name, line_end])?;
            }
            let role = choice.role.as_ref().filter(|_| layout.repeats_role).map(|role| &data[role.value.clone()]);
            chunk::write_head(data, layout, role, &mut self.head)?;
        }
        if holds {
            stream.head.clear();
            append(&mut stream.head, &self.head)?;
            (stream.layout, stream.line_end) = (layout, line_end);
        }
        let (parts, edits) = (&self.parts, &mut self.edits);
        if !before.is_empty() {
            let role = choice.role.as_ref().filter(|_| !layout.repeats_role);
            let extra = ExtraChunk { layout, head: &self.head, index, field, line_end };
            // If the choice came in this event before, that text must not come after this.
            for deferred in self.deferred.extract_if(.., |deferred| deferred.index == index) {
                let empty = if deferred.target == Target::Calls { &b"null"[..] } else { b"\"\"" };
                let mut value = edits.take(deferred.edit, empty)?;
                value.start += deferred.skip;
                setup.stats.added += 1;
                extra.write_one(None, deferred.target, out, |out| append(out, &edits.text[value]))?;
            }
            setup.stats.added +=
                extra.write(parts, before, role.map(|role| &data[role.value.clone()]), &mut self.alone, out)?;
            for part in role.into_iter().flat_map(|role| lines(data, without(data, role.span()))) {
                edits.replace(part, |_| Ok(()))?;
            }
        }
        if let Some(stop) = stream.told_stop(choice, layout) {
            edits.replace(stop, |out| append(out, TOLD_STOP))?;
        }
        let Some(content) = content else { return Ok(()) };
        let whole = content.value.clone();
        let Some(run) = inside else { return Ok(edits.replace(whole, |out| append(out, b"\"\""))?) };
        let target = run.target();
        let edit = edits.list.len();
        let write = |out: &mut Vec<u8>| extra::write_value(layout, parts, slice::from_ref(run), target, false, out);
        let name = extra::name(target, layout, field);
        let mut skip = 0;
        match (target, choice.empty(target)) {
            (Target::Content, _) if parts.text_of(run) == said => {
                if again {
                    edits.replace(whole.clone(), |out| append(out, &data[whole]))
                } else {
                    Ok(())
                }
            }
            (Target::Content, _) => edits.replace(whole, write),
            (_, Some(empty)) => {
                edits.replace(whole, |out| append(out, layout.no_text()))?;
                let mut parts = lines(data, empty.clone());
                parts.next().map_or(Ok(()), |first| edits.replace(first, write))?;
                parts.try_for_each(|rest| edits.replace(rest, |_| Ok(())))
            }
            (_, None) if layout.keeps_text => edits.replace(whole, |out| {
                let start = out.len();
                append_all(out, &[b"\"\",\"", name.as_bytes(), b"\":"])?;
                skip = out.len() - start;
                write(out)
            }),
            (_, None) => {
                edits.replace(content.key.clone(), |out| {
                    // Otherwise the first one would count.
                    append(out, if choice.is_doubled { b"\"content\":null," } else { b"" })?;
                    append_all(out, &[b"\"", name.as_bytes(), b"\""])
                })?;
                edits.replace(whole, write)
            }
        }?;
        if again {
            // With another field than the content, another edit comes first, of the content, unless that is the same.
            let edit = edit + usize::from(target != Target::Content && skip == 0);
            push(&mut self.deferred, DeferredEdit { index, target, edit, skip })?;
        }
        Ok(())
    }

    /// Notes the changes of one choice in a body.
    fn message(&mut self, setup: &mut Setup, choice: &Choice, raw: &[u8]) -> Result<(), Error> {
        let (layout, field) = (self.layout, self.field());
        setup.stats.split_by_server += u64::from(choice.is_split);
        let has_calls = layout.calls != CallForm::Text && setup.has_calls() && choice.part != Some(Part::Call);
        let is_read = !choice.is_split || has_calls;
        let Some(content) = choice.content.as_ref().filter(|_| is_read) else { return Ok(()) };
        let said = decode(&raw[content.value.clone()], &mut self.decoded)?;
        let stream = &mut self.all[0];
        let text = &mut stream.text;
        text.begin();
        if choice.is_split {
            text.split = TryBox::new(setup.split_scanner()?)?;
        }
        setup.rewind(&mut text.scanner)?;
        if has_calls {
            look_for_calls(setup, text, layout, raw, choice.index.unwrap_or(0), true)?;
        }
        self.parts.clear();
        setup.scan(text, Call::Feed(said), &mut self.parts)?;
        setup.scan(text, Call::Finish, &mut self.parts)?;
        text.over = true;

        let (parts, edits) = (&self.parts, &mut self.edits);
        if let Some(stop) = stream.told_stop(choice, layout) {
            edits.replace(stop, |out| append(out, TOLD_STOP))?;
        }
        if !parts.has(Target::Reasoning) && !parts.has(Target::Calls) && parts.text() == said {
            return Ok(());
        }
        let write = |target: Target, out: &mut Vec<u8>| match target {
            // A message of calls alone has no content.
            Target::Content if parts.has(Target::Calls) && !parts.has(target) => append(out, layout.no_text()),
            _ => extra::write_value(layout, parts, parts.runs(), target, true, out),
        };
        // What has no field yet stands around the content.
        edits.replace(content.value.clone(), |out| write(Target::Content, out))?;
        for target in [Target::Reasoning, Target::Calls].into_iter().filter(|&target| parts.has(target)) {
            let Member { key, value } = content;
            let name = extra::name(target, layout, field).as_bytes();
            match (choice.empty(target), target) {
                (Some(empty), _) => edits.replace(empty.clone(), |out| write(target, out)),
                (None, Target::Reasoning) if !layout.keeps_text => edits.replace(key.start..value.start, |out| {
                    append_all(out, &[b"\"", name, b"\":"])?;
                    write(target, out)?;
                    append(out, b",\"content\":")
                }),
                (None, _) => edits.replace(value.end..value.end, |out| {
                    append_all(out, &[b",\"", name, b"\":"])?;
                    write(target, out)
                }),
            }?;
        }
        Ok(())
    }
}

/// Begins to look for calls in a text of this format, if they are wanted.
fn look_for_calls(
    setup: &Setup,
    text: &mut TextStream,
    layout: &Layout,
    data: &[u8],
    index: u64,
    is_body: bool,
) -> Result<(), Error> {
    let id_prefix = || id_prefix(data, layout, index);
    match layout.calls {
        CallForm::Text => Ok(()),
        CallForm::Deltas => setup.look_for_calls(text, id_prefix, is_body),
        CallForm::Objects => setup.look_for_objects(text, id_prefix, is_body),
    }
}

/// Returns how ids begin that the model does not write.
fn id_prefix(data: &[u8], layout: &Layout, index: u64) -> Result<String, Error> {
    let mut prefix = String::new();
    append_text(&mut prefix, "call_")?;
    chunk::write_id(data, layout, ID_LEN, &mut prefix)?;
    append_text(&mut prefix, "_")?;
    append_text(&mut prefix, json::decimal(index, &mut [0; 20]))?;
    append_text(&mut prefix, "_")?;
    Ok(prefix)
}

/// Returns the part of a stretch of the data on each of its lines: in the event, other lines may stand between them.
fn lines(data: &[u8], span: Span) -> impl Iterator<Item = Span> {
    let mut at = span.start;
    data[span].split(|&byte| byte == b'\n').filter_map(move |line| {
        let start = at;
        at += line.len() + 1;
        (!line.is_empty()).then_some(start..start + line.len())
    })
}

/// Returns a member of an object with the comma that goes with it.
fn without(text: &[u8], member: Span) -> Span {
    let blank = |byte: &&u8| byte.is_ascii_whitespace();
    let after = member.end + text[member.end..].iter().take_while(blank).count();
    if text[after] == b',' {
        return member.start..after + 1;
    }
    let before = member.start - text[..member.start].iter().rev().take_while(blank).count();
    if text[before - 1] == b',' { before - 1..member.end } else { member }
}
