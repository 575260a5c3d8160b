//! Rewrites one event, or one whole body: its text goes through the scanner of its choice, and what the scanner reports goes
//! into the fields. All other bytes must stay as they came.

use std::{mem, slice};

use super::chunk::{self, CHOICES, Choice, Part};
use super::event::Event;
use super::options::Field;
use crate::json::{self, Span, escape};
use crate::memory::{self, append, append_all, push};
use crate::{Channel, Dialect, Error, Kind, Scanner, Start};

/// At most this many stretches of an event have a chunk of their own. The rest of each choice is joined, one chunk for each
/// field. Otherwise a few bytes of text could become many times as many bytes of chunks.
const ALONE: usize = 32;

/// The most bytes that extra chunks add to an event that has the data of many.
const MOST_ADDED: usize = 1 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A stretch of text for one field.
struct Run {
    reasoning: bool,
    text: Span,
}

/// What a scanner has reported: stretches of text, of which neighbours are for different fields.
struct Parts {
    text: Vec<u8>,
    runs: Vec<Run>,
    memory: Result<(), Error>,
}

impl Parts {
    fn clear(&mut self) {
        self.text.clear();
        self.runs.clear();
    }

    fn take(&mut self, event: &crate::Event<'_>) {
        if event.kind == Kind::Reclassify {
            self.runs.iter_mut().for_each(|run| run.reasoning = true);
        }
        // A tool call is kept as the model wrote it, for the host's own parser.
        let shown = event.kind == Kind::Text || event.channel == Channel::Tool;
        if shown && !event.bytes.is_empty() && self.memory.is_ok() {
            self.memory = self.push(event.channel == Channel::Thinking, event.bytes);
        }
    }

    fn push(&mut self, reasoning: bool, bytes: &[u8]) -> Result<(), Error> {
        let start = self.text.len();
        append(&mut self.text, bytes)?;
        match self.runs.last_mut() {
            Some(run) if run.reasoning == reasoning => run.text.end = self.text.len(),
            _ => {
                push(&mut self.runs, Run { reasoning, text: start..self.text.len() })?;
            }
        }
        Ok(())
    }

    fn scan(&mut self, scanner: &mut Scanner, call: Call<'_>) -> Result<(), Error> {
        let take = |event: crate::Event<'_>| self.take(&event);
        match call {
            Call::Feed(text) => scanner.feed(text, take),
            Call::Flush => scanner.flush(take),
            Call::Tool => scanner.pass_call(take),
            Call::Finish => scanner.finish(take),
        }?;
        mem::replace(&mut self.memory, Ok(()))
    }

    /// Writes `"name":"text"`, of all runs for that field.
    fn write_field(&self, runs: &[Run], reasoning: bool, field: Field, out: &mut Vec<u8>) -> memory::Result<()> {
        write_name(reasoning, field, out)?;
        self.write_string(runs, reasoning, out)
    }

    fn write_string(&self, runs: &[Run], reasoning: bool, out: &mut Vec<u8>) -> memory::Result<()> {
        append(out, b"\"")?;
        for run in runs.iter().filter(|run| run.reasoning == reasoning) {
            escape(&self.text[run.text.clone()], out)?;
        }
        append(out, b"\"")
    }
}

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
    /// It has finished, or the server splits it itself, so its text passes from here on.
    over: bool,
    /// How an extra chunk for held text begins, and how its lines end.
    head: Vec<u8>,
    line_end: &'static [u8],
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

    /// Returns where the string is that an edit has written, and leaves an empty one in its place.
    fn take(&mut self, edit: usize) -> memory::Result<Span> {
        let start = self.text.len();
        append(&mut self.text, b"\"\"")?;
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
    reasoning: bool,
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

impl ChoiceStreams {
    /// Begins each choice again, after `[DONE]` or an error.
    fn restart(&mut self) -> Result<(), Error> {
        self.all.truncate(1);
        for stream in &mut self.all {
            match &self.prompted {
                Some(prompted) => stream.scanner = prompted.try_clone()?,
                None => stream.scanner.reset(),
            }
            stream.over = false;
        }
        Ok(())
    }

    /// Goes back to the rewriter's own dialect and start.
    fn begin_stream(&mut self) {
        self.all.truncate(1);
        self.prompted = None;
        let first = &mut self.all[0];
        if let Some(Own { scanner, options }) = self.own.take() {
            self.dialect = scanner.dialect().clone();
            self.options = options;
            first.scanner = scanner;
        }
        first.scanner.reset();
        first.over = false;
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
        push(&mut self.all, ChoiceStream { index, scanner, over: false, head: Vec::new(), line_end: b"\n" })?;
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
            self.parts.scan(&mut stream.scanner, call)?;
            let extra =
                ExtraChunk { head: &stream.head, index: stream.index, field: self.field, line_end: stream.line_end };
            extra.write(&self.parts, &self.parts.runs, None, &mut self.alone, out)?;
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
        if let Some(content) = content {
            text = decode(&data[content.value.clone()], &mut self.decoded)?;
            self.parts.scan(&mut stream.scanner, Call::Feed(text))?;
        }
        stream.over = choice.finishes || choice.is_split || over;
        let end = match choice.part {
            _ if stream.over => Some(Call::Finish),
            Some(Part::Call) => Some(Call::Tool),
            Some(Part::Other) => Some(Call::Flush),
            None => None,
        };
        if let Some(end) = end {
            self.parts.scan(&mut stream.scanner, end)?;
        }

        // The last stretch stays in the event, which has all else: `finish_reason`, `usage`, and fields that are not known.
        let runs = &self.parts.runs[..];
        let (inside, before) = match (content, runs.split_last()) {
            (Some(_), Some((inside, before))) => (Some(inside), before),
            _ => (None, runs),
        };
        let holds = !stream.scanner.held().is_empty();
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
                let text = edits.take(deferred.edit)?;
                extra.write_one(None, deferred.reasoning, out, |out| append(out, &edits.text[text]))?;
            }
            extra.write(parts, before, role.map(|role| &data[role.value.clone()]), &mut self.alone, out)?;
            for part in role.into_iter().flat_map(|role| lines(data, without(data, role.span()))) {
                edits.replace(part, |_| Ok(()))?;
            }
        }
        let Some(content) = content else { return Ok(()) };
        let whole = content.value.clone();
        let edit = edits.list.len();
        match (inside.map(slice::from_ref), &choice.field) {
            (None, _) => edits.replace(whole, |out| append(out, b"\"\"")),
            (Some([run]), _) if !run.reasoning && parts.text[run.text.clone()] == *text => {
                if again {
                    edits.replace(whole.clone(), |out| append(out, &data[whole]))
                } else {
                    Ok(())
                }
            }
            (Some(run @ [Run { reasoning: false, .. }]), _) => {
                edits.replace(whole, |out| parts.write_string(run, false, out))
            }
            (Some(run), Some(empty)) => {
                edits.replace(whole, |out| append(out, b"null"))?;
                let mut run = Some(run);
                lines(data, empty.value.clone()).try_for_each(|part| {
                    edits.replace(part, |out| run.take().map_or(Ok(()), |run| parts.write_string(run, true, out)))
                })
            }
            (Some(run), None) => {
                edits.replace(content.key.clone(), |out| {
                    // Otherwise the first one would count.
                    append(out, if choice.is_doubled { b"\"content\":null," } else { b"" })?;
                    append_all(out, &[b"\"", field.name().as_bytes(), b"\""])
                })?;
                edits.replace(whole, |out| parts.write_string(run, true, out))
            }
        }?;
        if let (true, Some(Run { reasoning, .. })) = (again, inside) {
            // With thinking, another edit comes first, of the content.
            push(
                &mut self.deferred,
                DeferredEdit { index, reasoning: *reasoning, edit: edit + usize::from(*reasoning) },
            )?;
        }
        Ok(())
    }

    /// Notes the changes of one choice in a body.
    fn message(&mut self, choice: &Choice, raw: &[u8]) -> Result<(), Error> {
        let Some(content) = choice.content.as_ref().filter(|_| !choice.is_split) else { return Ok(()) };
        let text = decode(&raw[content.value.clone()], &mut self.decoded)?;
        if let Some(prompted) = &self.prompted {
            self.all[0].scanner = prompted.try_clone()?;
        }
        let scanner = &mut self.all[0].scanner;
        self.parts.clear();
        self.parts.scan(scanner, Call::Feed(text))?;
        self.parts.scan(scanner, Call::Finish)?;

        let (parts, edits, field) = (&self.parts, &mut self.edits, self.field);
        let runs = &parts.runs[..];
        let reasons = runs.iter().any(|run| run.reasoning);
        match &choice.field {
            _ if !reasons && parts.text == text => Ok(()),
            Some(empty) if reasons => {
                edits.replace(empty.value.clone(), |out| parts.write_string(runs, true, out))?;
                edits.replace(content.value.clone(), |out| parts.write_string(runs, false, out))
            }
            None if reasons => edits.replace(content.span(), |out| {
                parts.write_field(runs, true, field, out)?;
                append(out, b",")?;
                parts.write_field(runs, false, field, out)
            }),
            _ => edits.replace(content.value.clone(), |out| parts.write_string(runs, false, out)),
        }?;
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
    pub fn new(dialect: &Dialect, options: crate::Options, field: Field) -> Result<Rewrite, Error> {
        let mut streams = ChoiceStreams {
            dialect: dialect.clone(),
            options,
            own: None,
            prompted: None,
            field,
            all: Vec::new(),
            parts: Parts { text: Vec::new(), runs: Vec::new(), memory: Ok(()) },
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

    pub fn begin_stream(&mut self) {
        self.streams.begin_stream();
        self.streams.parts.memory = Ok(());
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

/// Writes `"name":`.
fn write_name(reasoning: bool, field: Field, out: &mut Vec<u8>) -> memory::Result<()> {
    let name = if reasoning { field.name() } else { "content" };
    append_all(out, &[b"\"", name.as_bytes(), b"\":"])
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
        let has = |&field: &bool| joined.iter().any(|run| run.reasoning == field);
        let single = single.iter().map(|run| (slice::from_ref(run), run.reasoning));
        let joined = [true, false].into_iter().filter(has).map(|reasoning| (joined, reasoning));
        for (runs, reasoning) in single.chain(joined) {
            self.write_one(role.take(), reasoning, out, |out| parts.write_string(runs, reasoning, out))?;
        }
        Ok(())
    }

    fn write_one(
        &self,
        role: Option<&[u8]>,
        reasoning: bool,
        out: &mut Vec<u8>,
        string: impl FnOnce(&mut Vec<u8>) -> memory::Result<()>,
    ) -> memory::Result<()> {
        append(out, self.head)?;
        put_number(out, self.index)?;
        append(out, b",\"delta\":{")?;
        if let Some(role) = role {
            append_all(out, &[b"\"role\":", role, b","])?;
        }
        write_name(reasoning, self.field, out)?;
        string(out)?;
        append_all(out, &[b"},\"finish_reason\":null}]}", self.line_end, self.line_end])
    }
}

fn put_number(out: &mut Vec<u8>, mut number: u64) -> memory::Result<()> {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return append(out, &digits[at..]);
        }
    }
}
