//! Rewrites one event, or one whole body: its text goes through the scanner of its choice, and what the scanner reports goes
//! into the fields. All other bytes must stay as they came.

use std::{mem, slice};

use std::sync::Arc;

use super::calls::{Calls, MOST_WAITING, Settings};
use super::chunk::{self, CHOICES, Choice, Member, Part};
use super::event::Event;
use super::options::{Field, Options};
use super::parts::{Parts, Run, Target};
use crate::call_writer::Tools;
use crate::json::{self, Span};
use crate::memory::{self, TryBox, append, append_all, append_text, push};
use crate::{Channel, Dialect, Error, Scanner, Start};

/// At most this many stretches of an event have a chunk of their own. The rest of each choice is joined, one chunk for each
/// field. Otherwise a few bytes of text could become many times as many bytes of chunks.
const ALONE: usize = 32;

/// The most bytes that extra chunks add to an event that has the data of many.
const MOST_ADDED: usize = 1 << 20;

/// The reason that a choice finishes for if it has told a call.
const TOLD_STOP: &[u8] = b"\"tool_calls\"";

/// How much of a chunk's id the ids of its calls have.
const ID_LEN: usize = 24;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

#[derive(Clone, Copy)]
enum Call<'a> {
    Feed(&'a [u8]),
    Flush,
    Tool,
    Finish,
}

/// The stream of one choice.
struct ChoiceStream {
    index: u64,
    scanner: Scanner,
    /// It has finished, or the server splits it itself and no calls are wanted, so its text passes from here on.
    over: bool,
    /// The server splits it itself: by this scanner only its calls are looked for.
    split: TryBox<Scanner>,
    /// The server has made a call of its own.
    has_own_calls: bool,
    /// Its calls, if they are wanted and some text has come.
    calls: TryBox<Calls>,
    /// How an extra chunk for held text begins, and how its lines end.
    head: Vec<u8>,
    line_end: &'static [u8],
}

impl ChoiceStream {
    fn new(index: u64, scanner: Scanner) -> ChoiceStream {
        ChoiceStream {
            index,
            scanner,
            over: false,
            split: TryBox::NONE,
            has_own_calls: false,
            calls: TryBox::NONE,
            head: Vec::new(),
            line_end: b"\n",
        }
    }

    /// Goes back to the start of a stream, its scanner apart.
    fn begin(&mut self) {
        (self.over, self.has_own_calls) = (false, false);
        (self.split, self.calls) = (TryBox::NONE, TryBox::NONE);
    }

    /// Leaves calls to the server, which has made one of its own.
    fn give_up_calls(&mut self, waiting: &mut usize, parts: &mut Parts) -> Result<(), Error> {
        if let Some(calls) = self.calls.get_mut() {
            *waiting -= calls.waiting();
            calls.release(parts)?;
        }
        (self.has_own_calls, self.calls) = (true, TryBox::NONE);
        Ok(())
    }

    /// Returns where the reason to finish stands, if a call that was told is one.
    fn told_stop(&self, choice: &Choice) -> Option<Span> {
        choice.stop.clone().filter(|_| self.calls.get().is_some_and(Calls::has_ended))
    }

    /// Returns whether the end of the stream may report something.
    fn holds(&self) -> bool {
        let scanner = self.split.get().unwrap_or(&self.scanner);
        !scanner.held().is_empty() || self.calls.get().is_some_and(Calls::is_inside)
    }

    /// Reads on. `waiting` counts the bytes of calls that wait in all choices.
    fn scan(&mut self, call: Call<'_>, dialect: &Dialect, waiting: &mut usize, parts: &mut Parts) -> Result<(), Error> {
        let ChoiceStream { scanner, split, calls, .. } = self;
        let (mut calls, split) = (calls.get_mut(), split.get_mut());
        let is_split = split.is_some();
        let scanner = split.unwrap_or(scanner);
        *waiting -= calls.as_ref().map_or(0, |calls| calls.waiting());
        let room = MOST_WAITING.saturating_sub(*waiting);
        let mut taken = Ok(());
        let take = |event: crate::Event<'_>| {
            if taken.is_ok() {
                taken = match &mut calls {
                    _ if is_split && event.channel != Channel::Tool => {
                        parts.push_content(event.bytes).map_err(Into::into)
                    }
                    Some(calls) => calls.take(dialect, &event, room, parts),
                    None => parts.take(&event).map_err(Into::into),
                };
            }
        };
        match call {
            Call::Feed(text) => scanner.feed(text, take),
            Call::Flush => scanner.flush(take),
            Call::Tool => scanner.pass_call(take),
            Call::Finish => scanner.finish(take),
        }?;
        taken?;
        if let Some(calls) = calls {
            if !matches!(call, Call::Feed(_)) {
                calls.release(parts)?;
            }
            *waiting += calls.waiting();
        }
        Ok(())
    }
}

/// The changes of an event or body: a range of it, and the stretch of `text` that is put there.
struct Edits {
    list: Vec<(Span, Span)>,
    text: Vec<u8>,
}

impl Edits {
    fn clear(&mut self) {
        self.list.clear();
        self.text.clear();
    }

    fn replace(&mut self, at: Span, write: impl FnOnce(&mut Vec<u8>) -> memory::Result<()>) -> memory::Result<()> {
        let start = self.text.len();
        write(&mut self.text)?;
        push(&mut self.list, (at, start..self.text.len()))?;
        Ok(())
    }

    /// Returns where the value is that an edit has written, and leaves an empty one in its place.
    fn take(&mut self, edit: usize, empty: &[u8]) -> memory::Result<Span> {
        let start = self.text.len();
        append(&mut self.text, empty)?;
        Ok(mem::replace(&mut self.list[edit].1, start..self.text.len()))
    }

    /// Writes a part of `raw` with its edits. `place` returns where in `raw` a stretch of the data stands.
    fn apply(
        &mut self,
        raw: &[u8],
        part: Span,
        place: impl Fn(&Span) -> Span,
        out: &mut Vec<u8>,
    ) -> memory::Result<()> {
        self.list.sort_unstable_by_key(|(at, _)| at.start);
        let mut from = part.start;
        for (at, text) in &self.list {
            let at = place(at);
            append(out, &raw[from..at.start])?;
            append(out, &self.text[text.clone()])?;
            from = at.end;
        }
        append(out, &raw[from..part.end])
    }
}

/// An edit of an event in which the same choice comes again. If that choice then needs an extra chunk, which goes before
/// the event, the edit's text must go into an extra chunk as well.
struct DeferredEdit {
    index: u64,
    target: Target,
    edit: usize,
}

/// The scanner and options that a rewriter goes back to after a stream.
struct Own {
    scanner: Scanner,
    options: crate::Options,
}

/// The streams of all choices.
struct ChoiceStreams {
    dialect: Dialect,
    options: crate::Options,
    /// The rewriter's own scanner of choice 0, while this stream has another dialect or start.
    own: Option<Own>,
    /// The scanner of which each choice's is a copy, if a prompt has said where this stream starts.
    prompted: Option<Scanner>,
    field: Field,
    /// What the host says of calls, if it wants them.
    calls: Option<Settings>,
    all: Vec<ChoiceStream>,
    /// How many bytes of calls wait in all choices.
    waiting: usize,
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

impl ChoiceStreams {
    /// Begins each choice again, after `[DONE]` or an error.
    fn restart(&mut self) -> Result<(), Error> {
        self.all.truncate(1);
        self.waiting = 0;
        for stream in &mut self.all {
            match &self.prompted {
                Some(prompted) => stream.scanner = prompted.try_clone()?,
                None => stream.scanner.reset(),
            }
            stream.begin();
        }
        Ok(())
    }

    /// Goes back to the rewriter's own dialect and start.
    fn begin_stream(&mut self) {
        self.all.truncate(1);
        self.waiting = 0;
        self.prompted = None;
        if let Some(calls) = &mut self.calls {
            calls.tools.clone_from(&calls.own_tools);
        }
        let first = &mut self.all[0];
        if let Some(Own { scanner, options }) = self.own.take() {
            self.dialect = scanner.dialect().clone();
            self.options = options;
            first.scanner = scanner;
        }
        first.scanner.reset();
        first.begin();
    }

    /// Sets how all choices of the next stream begin; `scanner` is that of the first one.
    fn set_start(&mut self, options: crate::Options, scanner: Scanner, prompted: Option<Scanner>) {
        self.dialect = scanner.dialect().clone();
        let scanner = mem::replace(&mut self.all[0].scanner, scanner);
        let options = mem::replace(&mut self.options, options);
        self.own.get_or_insert(Own { scanner, options });
        self.prompted = prompted;
    }

    fn scanner(&self) -> Result<Scanner, Error> {
        match &self.prompted {
            Some(prompted) => prompted.try_clone(),
            None => Scanner::with_options(&self.dialect, &self.options),
        }
    }

    /// Returns the index of a choice's stream, or `None` if there are too many.
    fn find(&mut self, index: u64) -> Result<Option<usize>, Error> {
        if let Some(known) = self.all.iter().position(|stream| stream.index == index) {
            return Ok(Some(known));
        }
        if self.all.len() == CHOICES {
            return Ok(None);
        }
        let scanner = self.scanner()?;
        push(&mut self.all, ChoiceStream::new(index, scanner))?;
        Ok(Some(self.all.len() - 1))
    }

    fn begin_event(&mut self) {
        self.begin_data();
        self.alone = ALONE;
    }

    fn begin_data(&mut self) {
        self.edits.clear();
        self.deferred.clear();
        self.head.clear();
    }

    /// Writes what is held back for the choices that `due` names.
    fn release(&mut self, call: Call<'_>, due: impl Fn(u64) -> bool, out: &mut Vec<u8>) -> Result<(), Error> {
        for stream in self.all.iter_mut().filter(|stream| due(stream.index)) {
            self.parts.clear();
            stream.scan(call, &self.dialect, &mut self.waiting, &mut self.parts)?;
            let extra =
                ExtraChunk { head: &stream.head, index: stream.index, field: self.field, line_end: stream.line_end };
            extra.write(&self.parts, self.parts.runs(), None, &mut self.alone, out)?;
        }
        Ok(())
    }

    /// Writes the chunks of one choice that go before an event, and notes its changes in the event. `again` says that the
    /// choice comes in it once more.
    fn delta(
        &mut self,
        choice: &Choice,
        over: bool,
        again: bool,
        raw: &[u8],
        event: &Event,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let Some(index) = choice.index else { return Ok(()) };
        let Some(stream) = self.find(index)? else { return Ok(()) };
        let stream = &mut self.all[stream];
        if stream.over {
            return Ok(());
        }
        let data = event.data(raw);
        let content = choice.content.as_ref().filter(|content| !choice.is_split && content.value.len() > 2);
        let mut text = &b""[..];
        self.parts.clear();
        if choice.part == Some(Part::Call) {
            stream.give_up_calls(&mut self.waiting, &mut self.parts)?;
        }
        if let Some(content) = content {
            if let Some(settings) =
                self.calls.as_ref().filter(|_| !stream.has_own_calls && stream.calls.get().is_none())
            {
                let id_len = self.dialect.compiled.call_ids;
                stream.calls = TryBox::new(Calls::new(settings, id_len, &id_prefix(data, index)?, false)?)?;
            }
            text = decode(&data[content.value.clone()], &mut self.decoded)?;
            stream.scan(Call::Feed(text), &self.dialect, &mut self.waiting, &mut self.parts)?;
        }
        let was_split = stream.split.get().is_some();
        let is_left_alone = self.calls.is_none() || stream.has_own_calls;
        stream.over = choice.finishes || over || is_left_alone && (choice.is_split || was_split);
        let end = match choice.part {
            _ if stream.over || choice.is_split && !was_split => Some(Call::Finish),
            Some(Part::Call) => Some(Call::Tool),
            Some(Part::Other) => Some(Call::Flush),
            None => choice.is_split.then_some(Call::Flush),
        };
        if let Some(end) = end {
            stream.scan(end, &self.dialect, &mut self.waiting, &mut self.parts)?;
        }
        if choice.is_split && !was_split && !stream.over {
            stream.split = TryBox::new(split_scanner(&self.dialect, &self.options)?)?;
        }

        // The last stretch stays in the event, which has all else: `finish_reason`, `usage`, and fields that are not known.
        let runs = self.parts.runs();
        let (inside, before) = match (content, runs.split_last()) {
            (Some(_), Some((inside, before))) => (Some(inside), before),
            _ => (None, runs),
        };
        let holds = stream.holds();
        if (holds || !before.is_empty()) && self.head.is_empty() {
            let name = &raw[event.name.clone()];
            if !matches!(name.len(), 0 | 1024..) && name != b"error" {
                append_all(&mut self.head, &[b"event: ", name, event.line_end])?;
            }
            chunk::write_head(data, &mut self.head)?;
        }
        if holds {
            stream.head.clear();
            append(&mut stream.head, &self.head)?;
            stream.line_end = event.line_end;
        }
        let (parts, edits, field) = (&self.parts, &mut self.edits, self.field);
        if !before.is_empty() {
            let role = choice.role.as_ref();
            let extra = ExtraChunk { head: &self.head, index, field, line_end: event.line_end };
            // If the choice came in this event before, that text must not come after this.
            for deferred in self.deferred.extract_if(.., |deferred| deferred.index == index) {
                let empty = if deferred.target == Target::Calls { &b"null"[..] } else { b"\"\"" };
                let value = edits.take(deferred.edit, empty)?;
                extra.write_one(None, deferred.target, out, |out| append(out, &edits.text[value]))?;
            }
            extra.write(parts, before, role.map(|role| &data[role.value.clone()]), &mut self.alone, out)?;
            for part in role.into_iter().flat_map(|role| lines(data, without(data, role.span()))) {
                edits.replace(part, |_| Ok(()))?;
            }
        }
        if let Some(stop) = stream.told_stop(choice) {
            edits.replace(stop, |out| append(out, TOLD_STOP))?;
        }
        let Some(content) = content else { return Ok(()) };
        let whole = content.value.clone();
        let Some(run) = inside else { return Ok(edits.replace(whole, |out| append(out, b"\"\""))?) };
        let target = run.target();
        let edit = edits.list.len();
        let write = |out: &mut Vec<u8>| parts.write(slice::from_ref(run), target, false, out);
        match (target, choice.empty(target)) {
            (Target::Content, _) if parts.text_of(run) == text => {
                if again {
                    edits.replace(whole.clone(), |out| append(out, &data[whole]))
                } else {
                    Ok(())
                }
            }
            (Target::Content, _) => edits.replace(whole, write),
            (_, Some(empty)) => {
                edits.replace(whole, |out| append(out, b"null"))?;
                let mut parts = lines(data, empty.clone());
                parts.next().map_or(Ok(()), |first| edits.replace(first, write))?;
                parts.try_for_each(|rest| edits.replace(rest, |_| Ok(())))
            }
            (_, None) => {
                edits.replace(content.key.clone(), |out| {
                    // Otherwise the first one would count.
                    append(out, if choice.is_doubled { b"\"content\":null," } else { b"" })?;
                    append_all(out, &[b"\"", target.name(field).as_bytes(), b"\""])
                })?;
                edits.replace(whole, write)
            }
        }?;
        if again {
            // With another field than the content, another edit comes first, of the content.
            let edit = edit + usize::from(target != Target::Content);
            push(&mut self.deferred, DeferredEdit { index, target, edit })?;
        }
        Ok(())
    }

    /// Notes the changes of one choice in a body.
    fn message(&mut self, choice: &Choice, raw: &[u8]) -> Result<(), Error> {
        let calls = self.calls.as_ref().filter(|_| choice.part != Some(Part::Call));
        let is_read = !choice.is_split || calls.is_some();
        let Some(content) = choice.content.as_ref().filter(|_| is_read) else { return Ok(()) };
        let text = decode(&raw[content.value.clone()], &mut self.decoded)?;
        let stream = &mut self.all[0];
        stream.begin();
        if choice.is_split {
            stream.split = TryBox::new(split_scanner(&self.dialect, &self.options)?)?;
        }
        if let Some(prompted) = &self.prompted {
            stream.scanner = prompted.try_clone()?;
        }
        if let Some(settings) = calls {
            let id_prefix = id_prefix(raw, choice.index.unwrap_or(0))?;
            stream.calls = TryBox::new(Calls::new(settings, self.dialect.compiled.call_ids, &id_prefix, true)?)?;
        }
        self.parts.clear();
        let mut waiting = 0;
        stream.scan(Call::Feed(text), &self.dialect, &mut waiting, &mut self.parts)?;
        stream.scan(Call::Finish, &self.dialect, &mut waiting, &mut self.parts)?;

        let (parts, edits, field) = (&self.parts, &mut self.edits, self.field);
        if let Some(stop) = stream.told_stop(choice) {
            edits.replace(stop, |out| append(out, TOLD_STOP))?;
        }
        if !parts.has(Target::Reasoning) && !parts.has(Target::Calls) && parts.text() == text {
            return Ok(());
        }
        let write = |target: Target, out: &mut Vec<u8>| match target {
            // A message of calls alone has no content.
            Target::Content if parts.has(Target::Calls) && !parts.has(target) => append(out, b"null"),
            _ => parts.write(parts.runs(), target, true, out),
        };
        // What has no field yet stands around the content.
        edits.replace(content.value.clone(), |out| write(Target::Content, out))?;
        for target in [Target::Reasoning, Target::Calls].into_iter().filter(|&target| parts.has(target)) {
            let Member { key, value } = content;
            let name = target.name(field).as_bytes();
            match (choice.empty(target), target) {
                (Some(empty), _) => edits.replace(empty.clone(), |out| write(target, out)),
                (None, Target::Reasoning) => edits.replace(key.start..value.start, |out| {
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

/// Rewrites whole events and bodies.
pub struct Rewrite {
    streams: ChoiceStreams,
    /// No event has been seen.
    fresh: bool,
    event: Event,
    choices: Vec<Choice>,
}

impl Rewrite {
    pub fn new(dialect: &Dialect, options: &Options) -> Result<Rewrite, Error> {
        let scanner = crate::Options::new()
            .start(options.start)
            .stray_close(options.stray_close)
            .calls(options.calls)
            .calls_in_thinking(options.calls_in_thinking);
        let mut streams = ChoiceStreams {
            dialect: dialect.clone(),
            options: scanner,
            own: None,
            prompted: None,
            field: options.field,
            calls: options.calls.then(|| Settings::new(options)),
            all: Vec::new(),
            waiting: 0,
            parts: Parts::default(),
            edits: Edits { list: Vec::new(), text: Vec::new() },
            deferred: Vec::new(),
            head: Vec::new(),
            alone: ALONE,
            decoded: Vec::new(),
        };
        // Nearly every stream has this choice, and it is known now whether the options fit the dialect.
        streams.find(0)?;
        Ok(Rewrite { streams, fresh: true, event: Event::new(), choices: Vec::new() })
    }

    /// Sets the dialect of the next stream, if there is one, and its start, which is the dialect's own if there is none.
    pub fn start_at(&mut self, dialect: Option<&Dialect>, start: Option<Start>) -> Result<(), Error> {
        let options = self.streams.options.start(start);
        let scanner = Scanner::with_options(dialect.unwrap_or(&self.streams.dialect), &options)?;
        self.streams.set_start(options, scanner, None);
        Ok(())
    }

    /// Starts the next stream after this prompt.
    pub fn start_from_prompt(&mut self, tail: &[u8]) -> Result<Start, Error> {
        let options = self.streams.options;
        let mut prompted = Scanner::with_options(&self.streams.dialect, &options)?;
        let start = prompted.start_from_prompt(tail)?;
        let scanner = prompted.try_clone()?;
        self.streams.set_start(options, scanner, Some(prompted));
        Ok(start)
    }

    /// Sets the tools of the next stream's request, if calls are wanted.
    pub fn use_tools(&mut self, tools: Option<Arc<Tools>>) {
        if let Some(calls) = &mut self.streams.calls {
            calls.tools = tools;
        }
    }

    pub fn begin_stream(&mut self) {
        self.streams.begin_stream();
        self.fresh = true;
        self.event = Event::new();
    }

    /// Writes what is held back as text. The streams go on.
    pub fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.streams.begin_event();
        self.streams.release(Call::Flush, |_| true, out)
    }

    /// Writes what is held back, because the streams are over.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.streams.begin_event();
        self.streams.release(Call::Finish, |_| true, out)
    }

    /// Writes a whole event with its changes. With `last`, the streams are over after it.
    pub fn event(&mut self, mut raw: &[u8], last: bool, out: &mut Vec<u8>) -> Result<(), Error> {
        if mem::take(&mut self.fresh) && raw.starts_with(BYTE_ORDER_MARK) {
            append(out, BYTE_ORDER_MARK)?;
            raw = &raw[BYTE_ORDER_MARK.len()..];
        }
        let Rewrite { streams, event, choices, .. } = self;
        event.read(raw)?;
        streams.begin_event();
        let error = chunk::read(event.data(raw), b"delta", streams.field, choices)?;
        if error.is_none() {
            let values = event.values(raw)?;
            if values.len() > 1 && values.iter().all(|(_, value)| is_data(&raw[value.clone()])) {
                return self.each_line(&values, raw, last, out);
            }
        }
        self.data(error == Some(true), raw, 0..raw.len(), last, out)?;
        Ok(())
    }

    /// Writes an event that has the data of several, one on each line. If something changes, each becomes an event.
    fn each_line(&mut self, values: &[(usize, Span)], raw: &[u8], last: bool, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        let most = start + MOST_ADDED + 2 * raw.len();
        let mut changes = false;
        for (number, (line, value)) in values.iter().enumerate() {
            let line = if number == 0 { 0 } else { *line };
            let end = values.get(number + 1).map_or(raw.len(), |&(line, _)| line);
            if number > 0 {
                append(out, self.event.line_end)?;
            }
            if out.len() > most {
                changes = true;
                self.streams.release(if last { Call::Finish } else { Call::Flush }, |_| true, out)?;
                append(out, &raw[line..])?;
                break;
            }
            self.event.select(value.clone());
            let Rewrite { streams, event, choices, .. } = self;
            streams.begin_data();
            let error = chunk::read(event.data(raw), b"delta", streams.field, choices)?;
            changes |= self.data(error == Some(true), raw, line..end, last && end == raw.len(), out)?;
        }
        if !changes {
            out.truncate(start);
            append(out, raw)?;
        }
        Ok(())
    }

    /// Writes data that was read, in a part of an event, with its changes. Returns whether there are any.
    fn data(&mut self, error: bool, raw: &[u8], part: Span, last: bool, out: &mut Vec<u8>) -> Result<bool, Error> {
        let Rewrite { streams, event, choices, .. } = self;
        let start = out.len();
        let ended = error || raw[event.name.clone()] == *b"error" || is_done(event.data(raw));
        let over = last || ended;
        if over {
            let here = |index| choices.iter().any(|choice| choice.index == Some(index));
            streams.release(Call::Finish, |index| !here(index), out)?;
        }
        for (at, choice) in choices.iter().enumerate() {
            let again = choices[at + 1..].iter().any(|later| later.index == choice.index);
            streams.delta(choice, over && !again, again, raw, event, out)?;
        }
        let changes = out.len() > start || !streams.edits.list.is_empty();
        let name = &event.name;
        if !name.is_empty() && !(part.start..part.end).contains(&name.start) {
            append_all(out, &[b"event: ", &raw[name.clone()], event.line_end])?;
        }
        streams.edits.apply(raw, part, |span| event.place(span), out)?;
        if ended {
            streams.restart()?;
        }
        Ok(changes)
    }

    /// Writes a whole body, of an answer that is not a stream, with its changes.
    pub fn body(&mut self, raw: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        chunk::read(raw, b"message", self.streams.field, &mut self.choices)?;
        self.streams.edits.clear();
        for choice in &self.choices {
            self.streams.message(choice, raw)?;
        }
        Ok(self.streams.edits.apply(raw, 0..raw.len(), Span::clone, out)?)
    }
}

fn is_done(data: &[u8]) -> bool {
    data.trim_ascii() == b"[DONE]"
}

/// Returns whether this is the data of a whole event.
fn is_data(data: &[u8]) -> bool {
    json::is_json(data) || is_done(data)
}

/// Returns a scanner for the content of a server that splits the thinking itself.
fn split_scanner(dialect: &Dialect, options: &crate::Options) -> Result<Scanner, Error> {
    Scanner::with_options(dialect, &options.start(Start::Channel(Channel::Content)))
}

/// Returns how ids begin that the model does not write.
fn id_prefix(data: &[u8], index: u64) -> memory::Result<String> {
    let mut prefix = String::new();
    append_text(&mut prefix, "call_")?;
    chunk::write_id(data, ID_LEN, &mut prefix)?;
    append_text(&mut prefix, "_")?;
    append_text(&mut prefix, json::decimal(index, &mut [0; 20]))?;
    append_text(&mut prefix, "_")?;
    Ok(prefix)
}

/// Returns the text of a string that has its quotes.
fn decode<'a>(raw: &'a [u8], decoded: &'a mut Vec<u8>) -> Result<&'a [u8], Error> {
    let raw = &raw[1..raw.len() - 1];
    if memchr::memchr(b'\\', raw).is_none() {
        return Ok(raw);
    }
    decoded.clear();
    // No text is longer than its JSON.
    decoded.try_reserve(raw.len())?;
    json::unescape(raw, |part| decoded.extend_from_slice(part));
    Ok(decoded)
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

/// Writes extra chunks of the stream, for text of one choice that its own event has no place for.
struct ExtraChunk<'a> {
    head: &'a [u8],
    index: u64,
    field: Field,
    line_end: &'static [u8],
}

impl ExtraChunk<'_> {
    /// Writes one chunk for each run, the first with the role. `alone` counts how many more may be; after these, there is one
    /// chunk for each field.
    fn write(
        &self,
        parts: &Parts,
        runs: &[Run],
        mut role: Option<&[u8]>,
        alone: &mut usize,
        out: &mut Vec<u8>,
    ) -> memory::Result<()> {
        let (single, joined) = runs.split_at(runs.len().min(*alone));
        *alone -= single.len();
        let has = |&target: &Target| joined.iter().any(|run| run.target() == target);
        let single = single.iter().map(|run| (slice::from_ref(run), run.target()));
        let joined = Target::ALL.into_iter().filter(has).map(|target| (joined, target));
        for (runs, target) in single.chain(joined) {
            self.write_one(role.take(), target, out, |out| parts.write(runs, target, false, out))?;
        }
        Ok(())
    }

    fn write_one(
        &self,
        role: Option<&[u8]>,
        target: Target,
        out: &mut Vec<u8>,
        value: impl FnOnce(&mut Vec<u8>) -> memory::Result<()>,
    ) -> memory::Result<()> {
        append(out, self.head)?;
        append(out, json::decimal(self.index, &mut [0; 20]).as_bytes())?;
        append(out, b",\"delta\":{")?;
        if let Some(role) = role {
            append_all(out, &[b"\"role\":", role, b","])?;
        }
        append_all(out, &[b"\"", target.name(self.field).as_bytes(), b"\":"])?;
        value(out)?;
        append_all(out, &[b"},\"finish_reason\":null}]}", self.line_end, self.line_end])
    }
}
