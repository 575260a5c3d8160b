//! Reads tool calls: decides whether an opener of a span with tables counts, where its body ends, and the role of each byte of
//! the body. It reads the whole text from the opener on, piece by piece, and may look ahead without limit.

use std::ops::Range;

use crate::events::{Call, END, IMPLIED, MALFORMED, MARKER, Part, What, blank, trimmed};
use crate::file::{Call as Table, CallId, Tag};
use crate::markers::{Opening, Reading, Region, fixed};

/// The maximum number of bytes of a key, a type, an id, and of the text before a `head_end`.
const WORD: usize = 256;
const NAME: usize = 128;
/// The maximum number of blanks in a gap before or in a head.
const GAP: usize = 16;
/// Members of an object that may be there besides those of its table.
const BESIDES: [&str; 4] = ["name", "id", "type", "index"];
const DEPTH: usize = 64;
/// The maximum number of blanks after a value's end and before the text that confirms it; the most bytes of a key in that text; the
/// most letters before the `>` of a misspelt closer.
const BLANKS: usize = 64;
const KEY: usize = 128;
const LETTERS: usize = 24;

/// A piece of a body. The beginning of a call has the number of its table.
#[derive(Clone, PartialEq)]
enum Piece {
    Text,
    Framing,
    Begin(usize),
    Call(Call),
    /// The end of a call: its cause, and whether the call was repaired.
    End(&'static str, bool),
}

/// The reason why a call stops before its end.
enum Stop {
    /// The next byte does not fit.
    Bad,
    /// The text ends.
    Cut,
}

type Step<T = ()> = Result<T, Stop>;

/// The body of a span: the text, its range, and the events so far.
struct Body<'a> {
    text: &'a [u8],
    at: usize,
    tables: &'a [Table],
    closes: &'a dyn Fn(usize) -> bool,
    /// The closers of the span as the file writes them, and the texts with which text outside it begins.
    closers: Vec<String>,
    outside: Vec<String>,
    /// The texts that end an answer: markers that are dropped, and closers of its message.
    dropped: Vec<String>,
    /// Whether a value of the call has ended without its closer.
    is_repaired: bool,
    /// The index of the call's arguments, which are its object or the text after its head.
    arguments: usize,
    /// For a call in brackets: the number of brackets of the call's kind that are open in the value that was read last.
    nested: usize,
    /// The index of a closer that is a special token, at which every piece ends. The text is cut after that closer.
    limit: Option<usize>,
    /// For a piece that would continue after the limit: the index at which it begins or is cut.
    crossed: Option<usize>,
    out: Vec<(Piece, Range<usize>)>,
}

impl Reading<'_> {
    /// Returns the tables by which the body of a region is read.
    pub(crate) fn tables(&self, region: &Region) -> &[Table] {
        let spans = &self.dialect.spans;
        if region.channel != "tool" {
            return &[];
        }
        if region.from_start && !self.is_started_body(region) {
            let first = spans.iter().find(|span| span.channel == "tool" && !span.calls.is_empty());
            return first.map_or(&[], |span| &span.calls);
        }
        match (spans.get(region.rule), &self.dialect.header) {
            (Some(span), _) => &span.calls,
            (None, Some(header)) => &header.calls,
            (None, None) => &[],
        }
    }

    /// Returns whether a region in which the stream started is the body of a message, because no span has its channel.
    fn is_started_body(&self, region: &Region) -> bool {
        region.from_start && self.of_channel(region.channel).is_empty()
    }

    /// Returns whether a closer of a region is at `at`. `from` is the beginning of the body.
    fn closes(&self, region: &Region, at: usize, from: usize) -> bool {
        // Fences do not count inside a body, only in lines of a text.
        let own = |rule: usize| {
            if self.dialect.spans[rule].fence.is_some() {
                return false;
            }
            let is_labelled = at == from && region.untouched && self.labelled_closer(at, rule).is_some();
            is_labelled || self.closer(at, rule, region.name).is_some()
        };
        if self.closers(region).into_iter().any(own) || region.body && self.body_closer(at).is_some() {
            return true;
        }
        let of_thinking =
            |rule: usize| self.dialect.spans[rule].fence.is_none() && self.closer(at, rule, None).is_some();
        if region.ended_thinking
            && (self.of_channel("thinking").into_iter().any(of_thinking) || self.body_closer(at).is_some())
        {
            return true;
        }
        let Some(header) = self.dialect.header.as_ref().filter(|_| region.body) else { return false };
        let is_here = |literal: &String| self.marker_literal(at, literal, header.special);
        let is_end = header.keys.is_empty() && header.end.iter().any(is_here);
        header.begin.iter().any(is_here) || is_end && self.header(at).is_some()
    }

    /// Returns the length of a closer at `at` that counts even inside a string or a value: one that is a special token.
    fn special_closer(&self, region: &Region, at: usize, from: usize) -> Option<usize> {
        self.special.filter(|special| special.contains(&at))?;
        let spans = &self.dialect.spans;
        let of_thinking = if region.ended_thinking { self.of_channel("thinking") } else { Vec::new() };
        let own = self.closers(region);
        let spans = own.iter().chain(&of_thinking).map(|&rule| &spans[rule]).filter(|span| span.special);
        let mut closes: Vec<&String> = spans.flat_map(|span| &span.close).collect();
        if let Some(header) = self.dialect.header.as_ref().filter(|header| header.special) {
            closes.extend(&header.close);
        }
        let here = closes.into_iter().find(|close| self.literal(at, close))?;
        self.closes(region, at, from).then_some(here.len())
    }

    /// Returns whether an opener counts. Some openers count only if a body begins after them.
    pub(crate) fn counts_as_opener(&self, found: &(usize, usize, Opening)) -> bool {
        let span = &self.dialect.spans[found.2.rule];
        let asks = span.sure.unwrap_or(true) || self.channel() == "thinking";
        span.calls.is_empty() || !asks || self.begins_call(found)
    }

    /// Returns whether a call begins after an opener.
    pub(crate) fn begins_call(&self, (_, end, opening): &(usize, usize, Opening)) -> bool {
        let span = &self.dialect.spans[opening.rule];
        let name = span.tag.as_ref().map(|_| opening.tag);
        let region = Region { name, ..Region::new(opening.rule, fixed(&span.channel)) };
        let closes = |at: usize| self.closes(&region, at, *end);
        let body = Body::new(self.text, *end, &span.calls, &closes);
        let literal = self.opener_literal(&region, opening.tag);
        (0..span.calls.len()).any(|table| body.begins_after(table, literal))
    }

    /// Returns the span that a body of calls opens at `at` without an opener, in the content outside every span.
    pub(crate) fn bare(&self, at: usize) -> Option<usize> {
        let counts = |place: &str| if place == "start" { at == 0 } else { self.lead };
        let begins = |&rule: &usize| {
            let span = &self.dialect.spans[rule];
            let counts = span.bare && self.open.is_empty() && span.place.as_deref().is_some_and(counts);
            let closes = |_: usize| false;
            let body = Body::new(self.text, at, &span.calls, &closes);
            counts && (0..span.calls.len()).any(|table| body.begins_bare(table))
        };
        (0..self.dialect.spans.len()).find(begins)
    }

    /// Returns the text of an opener in the file; for a tag, its name.
    fn opener_literal(&self, region: &Region, tag: usize) -> &str {
        let Some(span) = self.dialect.spans.get(region.rule) else { return "" };
        let names = span.tag.as_ref().map(|tag| &tag.names);
        span.open.iter().chain(names.into_iter().flatten()).nth(tag).map_or("", String::as_str)
    }

    /// Reads the body that begins at `at`, if the innermost region has tables. Returns its end, which is before a closer or at
    /// the end of the text.
    pub(crate) fn read_body(&mut self, at: usize) -> usize {
        let Some(region) = self.open.last() else { return at };
        let tables = self.tables(region);
        if tables.is_empty() {
            return at;
        }
        let named = match region.body && (!region.from_start || self.is_started_body(region)) {
            true => match self.name_of_header(tables) {
                Ok(named) => named,
                Err(()) => return at,
            },
            false => None,
        };
        let tag = self.events.iter().rev().find_map(|event| match event.what {
            What::Open { tag, .. } => Some(tag),
            _ => None,
        });
        let opener = match region.from_start {
            true => "",
            false => self.opener_literal(region, tag.unwrap()),
        };
        let closes = |place: usize| self.closes(region, place, at);
        let special = (at..self.text.len()).find_map(|place| Some((place, self.special_closer(region, place, at)?)));
        let limit = special.map(|(place, _)| place);
        let text = special.map_or(self.text, |(place, len)| &self.text[..place + len]);
        let (closers, outside) = self.around_calls(region);
        let dropped = self.dropped_markers();
        let mut body = Body { limit, closers, outside, dropped, ..Body::new(text, at, tables, &closes) };
        body.read(opener, named);
        let (end, out) = (body.at, body.out);
        for (piece, range) in out {
            if !self.wants_calls {
                if !range.is_empty() {
                    self.push_text(range);
                }
                continue;
            }
            let what = match piece {
                Piece::Text => What::Text,
                Piece::Framing => What::Framing,
                Piece::Begin(table) => {
                    self.calls += 1;
                    What::Call(Call::Begin { table, index: self.calls - 1 })
                }
                Piece::Call(call) => What::Call(call),
                Piece::End(cause, is_repaired) => What::Call(Call::End { index: self.calls - 1, cause, is_repaired }),
            };
            if !range.is_empty() {
                self.note_text(range.clone());
            }
            self.push(what, "tool", range, Part::None);
        }
        end
    }

    /// Returns the closers of a region with tables, as texts, and the texts with which text outside it begins: openers of tool
    /// spans, and beginnings of headers.
    fn around_calls(&self, region: &Region) -> (Vec<String>, Vec<String>) {
        let spans = &self.dialect.spans;
        let of_tag = |tag: &Tag, front: &str| -> Vec<String> {
            tag.names.iter().map(|name| format!("{front}{name}>")).collect()
        };
        let tools = || spans.iter().filter(|span| span.channel == "tool");
        let own = match region.from_start && !self.is_started_body(region) {
            true => tools().find(|span| !span.calls.is_empty()),
            false => spans.get(region.rule),
        };
        let (mut closers, mut outside) = (Vec::new(), Vec::new());
        match (own, &self.dialect.header) {
            (Some(span), _) => {
                closers.extend(span.close.iter().cloned());
                closers.extend(span.tag.iter().flat_map(|tag| of_tag(tag, "</")));
            }
            (None, Some(header)) => {
                closers.extend(header.close.iter().cloned());
                outside.extend(header.begin.iter().cloned());
            }
            (None, None) => {}
        }
        for span in tools() {
            outside.extend(span.open.iter().cloned());
            outside.extend(span.tag.iter().flat_map(|tag| of_tag(tag, "<")));
        }
        (closers, outside)
    }

    fn dropped_markers(&self) -> Vec<String> {
        let dropped = [&self.dialect.drop, &self.dialect.drop_ends, &self.dialect.drop_last];
        let of_message = self.dialect.header.iter().flat_map(|header| &header.close);
        dropped.into_iter().flatten().map(|dropped| dropped.marker().to_string()).chain(of_message.cloned()).collect()
    }

    /// Returns the table whose calls are named by the last header, and the name. Returns an error if the header does not name a
    /// call.
    #[allow(clippy::result_unit_err)]
    fn name_of_header(&self, tables: &[Table]) -> Result<Option<(usize, Vec<u8>)>, ()> {
        let Some(number) = tables.iter().position(|table| table.name_from.is_some()) else { return Ok(None) };
        let table = &tables[number];
        let open = self.events.iter().rposition(|event| matches!(event.what, What::Open { .. })).unwrap();
        let wanted = table.name_from.as_deref().unwrap_or_default();
        let field = self.events[open..].iter().find_map(|event| match &event.what {
            What::Attribute { name, value, .. } if name == wanted.as_bytes() => Some(value.clone()),
            _ => None,
        });
        let is_end = |what: &What| matches!(what, What::Attribute { name, .. } if name == b"end");
        // A header that broke off does not name a call.
        let is_whole = self.events[open..].iter().any(|event| is_end(&event.what));
        let value = field.filter(|value| is_whole && !value.is_empty()).ok_or(())?;
        let prefix = table.prefix.iter().find(|prefix| value.starts_with(prefix.as_bytes()));
        if table.need_prefix && prefix.is_none() {
            return Err(());
        }
        Ok(Some((number, value[prefix.map_or(0, String::len)..].to_vec())))
    }
}

/// The forms of a number's beginning: nothing; after its sign, a zero, other digits, the point, a fraction, an `e`, its sign,
/// and the digits after these.
const NUMBER_START: char = ' ';

fn after_digit(form: char, byte: u8) -> Option<char> {
    Some(match (form, byte) {
        (' ', b'-') => '-',
        (' ' | '-', b'0') => '0',
        (' ' | '-' | 'd', b'1'..=b'9') | ('d', b'0') => 'd',
        ('0' | 'd', b'.') => '.',
        ('.' | 'f', b'0'..=b'9') => 'f',
        ('0' | 'd' | 'f', b'e' | b'E') => 'e',
        ('e', b'+' | b'-') => 's',
        ('e' | 's' | 'p', b'0'..=b'9') => 'p',
        _ => return None,
    })
}

/// Returns whether this byte is usual in keys.
fn is_of_plain_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)
}

/// A place in the rest of a broken call: the number of its open brackets, and the quote of the open string.
struct Rest<'a> {
    table: &'a Table,
    depth: usize,
    quote: Option<&'a str>,
    is_escaped: bool,
}

impl<'a> Rest<'a> {
    /// Returns the place before the arguments of a call.
    fn new(table: &'a Table) -> Rest<'a> {
        Rest { table, depth: 0, quote: None, is_escaped: false }
    }

    fn may_begin(&self) -> bool {
        self.table.body != "tags" && self.depth == 0 && self.quote.is_none()
    }

    /// Reads a byte or a raw quote, and returns the number of bytes. With `by_line`, a string ends at the end of its line.
    fn step(&mut self, text: &[u8], by_line: bool) -> usize {
        let raw = self.table.raw_quote.as_str();
        let quotes: Vec<&str> = match self.table.body.as_str() {
            "tags" => return 1,
            "literal" if raw.is_empty() => vec!["\"", "'"],
            "literal" => vec![raw, "\""],
            _ => vec!["\""],
        };
        let (open, close) = match self.table.body.as_str() {
            "literal" => (self.table.open.as_bytes()[0], self.table.close.as_bytes()[0]),
            _ => (b'{', b'}'),
        };
        let here = quotes.into_iter().find(|quote| text.starts_with(quote.as_bytes()));
        let is_escaped = std::mem::take(&mut self.is_escaped);
        match (self.quote, text[0]) {
            (_, b'\n') if by_line => self.quote = None,
            (Some(_), _) if is_escaped => {}
            (Some(quote), b'\\') if quote != raw => self.is_escaped = true,
            (Some(quote), _) if here == Some(quote) => {
                self.quote = None;
                return quote.len();
            }
            (Some(_), _) => {}
            (None, _) if here.is_some() => {
                self.quote = here;
                return here.unwrap().len();
            }
            (None, byte) if byte == open => self.depth += 1,
            (None, byte) if byte == close => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        1
    }
}

impl<'a> Body<'a> {
    fn new(text: &'a [u8], at: usize, tables: &'a [Table], closes: &'a dyn Fn(usize) -> bool) -> Body<'a> {
        let (closers, outside, dropped, out) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let is_repaired = false;
        Body {
            text,
            at,
            tables,
            closes,
            closers,
            outside,
            dropped,
            is_repaired,
            arguments: at,
            nested: 0,
            limit: None,
            crossed: None,
            out,
        }
    }

    // ---- looking

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    fn is(&self, at: usize, literal: &str) -> bool {
        !literal.is_empty() && self.text.get(at..).is_some_and(|rest| rest.starts_with(literal.as_bytes()))
    }

    /// Returns the number of blanks at `at`, at most `most`.
    fn blanks_at(&self, at: usize, most: usize) -> usize {
        self.text[at.min(self.text.len())..].iter().take(most).take_while(|&&byte| blank(byte)).count()
    }

    /// Returns the index of a literal from `at` on, after at most `most` bytes.
    fn find(&self, at: usize, literal: &str, most: usize) -> Option<usize> {
        (at..self.text.len().min(at + most + 1)).find(|&place| self.is(place, literal))
    }

    fn begins_at(&self, at: usize) -> bool {
        self.tables.iter().any(|table| self.is(at, &table.begin))
    }

    /// Returns the tables in the order in which they are tried: a longer `begin` has precedence, then a table that needs an object.
    fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.tables.len()).collect();
        order.sort_by_key(|&number| {
            let table = &self.tables[number];
            std::cmp::Reverse((table.begin.len(), self.needs_object(table)))
        });
        order
    }

    /// Returns the first of these tables of which a call begins here.
    fn fitting(&self) -> Option<usize> {
        self.in_order().into_iter().find(|&number| self.fits(&self.tables[number], self.at))
    }

    /// Returns whether a call of this table needs an object, because calls of another table begin in the same way.
    fn needs_object(&self, table: &Table) -> bool {
        let is_other = |other: &Table| other.body == "tags" || other.body == "literal";
        table.body == "json" && self.tables.iter().any(|other| is_other(other) && other.begin == table.begin)
    }

    fn fits(&self, table: &Table, at: usize) -> bool {
        if table.body == "object" && self.byte(at) == Some(b'{') {
            return true;
        }
        let begins = if table.begin.is_empty() { table.body != "object" } else { self.is(at, &table.begin) };
        if !begins {
            return false;
        }
        self.fits_after_begin(table, at + table.begin.len(), !table.begin.is_empty())
    }

    fn fits_after_begin(&self, table: &Table, at: usize, is_begun: bool) -> bool {
        if table.body != "object" {
            return table.name_from.is_none() && self.head(table, at).is_some();
        }
        let next = self.byte(at + self.blanks_at(at, GAP));
        next == Some(b'{') || is_begun && next == Some(b'[')
    }

    /// Returns whether a body of this table begins here, directly after an opener.
    fn begins_after(&self, number: usize, opener: &str) -> bool {
        let table = &self.tables[number];
        if !table.begin.is_empty() && opener.ends_with(&table.begin) {
            return self.fits_after_begin(table, self.at, true);
        }
        let mut at = self.at + self.blanks_at(self.at, GAP);
        let bracket = self.byte(at) == Some(b'[');
        let inside = at + 1 + self.blanks_at(at + 1, GAP);
        match table.body.as_str() {
            "object" if table.begin.is_empty() => {
                if bracket {
                    at = inside;
                }
                let quote = at + 1 + self.blanks_at(at + 1, GAP);
                self.byte(at) == Some(b'{') && self.byte(quote) == Some(b'"')
            }
            _ if table.list && table.body == "literal" => bracket && self.fits(table, inside),
            _ => self.fits(table, at),
        }
    }

    /// Returns whether a body of this table begins here without an opener. An object must have its name first.
    fn begins_bare(&self, number: usize) -> bool {
        let table = &self.tables[number];
        let begins = self.begins_after(number, "");
        if !begins || table.body != "object" || !table.begin.is_empty() {
            return begins;
        }
        let quote = (self.at..self.text.len()).find(|&at| self.text[at] == b'"').unwrap();
        let quote = self.after_type(quote);
        let is_name = |name: &&String| {
            self.is(quote, "\"") && self.is(quote + 1, name) && self.byte(quote + 1 + name.len()) == Some(b'"')
        };
        let Some(name) = table.name.iter().find(is_name) else { return false };
        let end = quote + name.len() + 2;
        self.byte(end + self.blanks_at(end, GAP)) == Some(b':')
    }

    /// Returns the index after `"type": "function",` and blanks, or the index itself if this is not there.
    fn after_type(&self, at: usize) -> usize {
        let mut end = at;
        for literal in ["\"type\"", ":", "\"function\"", ","] {
            if !self.is(end, literal) {
                return at;
            }
            end += literal.len();
            end += self.blanks_at(end, GAP);
        }
        end
    }

    /// Returns the pieces of a head at `from`, each with its end, if a whole head of this table is there.
    fn head(&self, table: &Table, from: usize) -> Option<Vec<(Piece, usize)>> {
        let id = || Piece::Call(Call::Id);
        let mut out = Vec::new();
        let mut at = from;
        if !table.id_end.is_empty() {
            let end = self.find(at, &table.id_end, WORD).filter(|&end| end > at)?;
            at = end + table.id_end.len();
            out.push((id(), end));
        }
        if !table.begin.is_empty() {
            at += self.blanks_at(at, GAP);
        }
        out.push((Piece::Framing, at));
        let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/@#$+-".contains(&byte) || byte >= 0x80;
        let name = &self.text[at.min(self.text.len())..];
        let name = &name[..name.iter().take_while(|&&byte| is_name(byte)).count()];
        if name.len() > NAME || !name.first().is_some_and(|&byte| is_first(byte)) {
            return None;
        }
        let end = at + name.len();

        // The texts that end the name.
        let mut ends: Vec<&str> = table.name_end.iter().map(String::as_str).collect();
        if table.body == "literal" {
            ends.push(&table.open);
        }
        let has_ends = !ends.is_empty();
        if has_ends {
            ends.push(&table.id_begin);
        }
        ends.sort_by_key(|end| std::cmp::Reverse(end.len()));
        let here = |at: usize| ends.iter().copied().find(|end| self.is(at, end));
        let mut blanks = 0;
        while here(end + blanks).is_none() && blanks < GAP && self.byte(end + blanks).is_some_and(blank) {
            blanks += 1;
        }
        let after = end + blanks;
        let found = here(after);
        let is_object = table.body == "json" && self.byte(after) == Some(b'{');
        let is_implied =
            is_object || self.is(after, &table.key[0]) || self.is(after, &table.end) || (self.closes)(after);
        if found.is_none() && (has_ends || !is_implied) {
            return None;
        }

        let prefix =
            table.prefix.iter().find(|prefix| name.starts_with(prefix.as_bytes()) && name.len() > prefix.len());
        if table.need_prefix && prefix.is_none() {
            return None;
        }
        let prefix = prefix.map_or(0, String::len);
        let is_id = matches!(table.id, Some(CallId::Head(_)));
        let digits = name[prefix + 1..].iter().rev().take_while(|&&byte| byte.is_ascii_digit()).count();
        let has_number = is_id && digits > 0 && name[prefix + 1..].iter().rev().nth(digits) == Some(&b':');
        let number = if has_number { digits + 1 } else { table.suffix.len() };
        if !name[prefix + 1..].ends_with(table.suffix.as_bytes()) {
            return None;
        }
        let around = || if is_id { id() } else { Piece::Framing };
        out.push((around(), at + prefix));
        out.push((Piece::Call(Call::Name(None)), end - number));
        out.push((around(), end));
        out.push((Piece::Framing, after));
        at = after;
        if let Some(literal) = found {
            at += literal.len();
            out.push((Piece::Framing, at));
            let is_end = table.name_end.iter().chain([&table.open]).any(|end| end == literal);
            if !is_end {
                let close = table.name_end.first()?;
                let end = self.find(at, close, WORD).filter(|&end| end > at)?;
                at = end + close.len();
                out.extend([(id(), end), (Piece::Framing, at)]);
            }
        }
        if !table.head_end.is_empty() {
            let end = self.find(at, &table.head_end, WORD)?;
            at = end + table.head_end.len();
            out.push((Piece::Framing, at));
        }
        if self.needs_object(table) && self.byte(at + self.blanks_at(at, GAP)) != Some(b'{') {
            return None;
        }
        Some(out)
    }

    // ---- reporting

    /// Reports the bytes up to `end` as a piece.
    fn tell(&mut self, piece: Piece, end: usize) {
        let is_kept = matches!(piece, Piece::Begin(_) | Piece::End(..) | Piece::Call(Call::ValueEnd { .. }))
            || matches!(piece, Piece::Call(Call::Name(Some(_))));
        let at = std::mem::replace(&mut self.at, end);
        if self.crossed.is_some() {
            return;
        }
        if let Some(limit) = self.limit.filter(|&limit| end > limit) {
            let may_be_cut = matches!(piece, Piece::Text | Piece::Framing | Piece::Call(Call::Value));
            if may_be_cut && limit > at {
                self.out.push((piece, at..limit));
            }
            self.crossed = Some(if may_be_cut { limit } else { at });
        } else if end > at || is_kept {
            self.is_repaired |= piece == Piece::Call(Call::ValueEnd { is_repaired: true });
            self.out.push((piece, at..end));
        }
    }

    fn framing(&mut self, len: usize) {
        self.tell(Piece::Framing, self.at + len);
    }

    fn value(&mut self, end: usize) {
        self.tell(Piece::Call(Call::Value), end);
    }

    fn over(&mut self, cause: &'static str, len: usize) {
        self.tell(Piece::End(cause, self.is_repaired), self.at + len);
    }

    /// Skips blanks. Returns the byte after them.
    fn next(&mut self) -> Step<u8> {
        let len = self.blanks_at(self.at, usize::MAX);
        self.framing(len);
        self.byte(self.at).ok_or(Stop::Cut)
    }

    /// Reads this byte after blanks.
    fn must_be(&mut self, wanted: u8) -> Step {
        if self.next()? != wanted {
            return Err(Stop::Bad);
        }
        self.framing(1);
        Ok(())
    }

    /// Reads a required literal.
    fn must(&mut self, literal: &str) -> Step {
        if self.is(self.at, literal) {
            self.framing(literal.len());
            return Ok(());
        }
        let is_cut = literal.as_bytes().starts_with(&self.text[self.at..]);
        Err(if is_cut { Stop::Cut } else { Stop::Bad })
    }

    /// Reports a word that ends before a literal, and the literal. Returns the range of the word.
    fn word(&mut self, literal: &str, call: Call) -> Step<Range<usize>> {
        let rest = self.text.len() - self.at;
        let Some(end) = self.find(self.at, literal, WORD) else {
            return Err(if rest <= WORD { Stop::Cut } else { Stop::Bad });
        };
        let before = self.blanks_at(self.at, usize::MAX);
        if self.at + before >= end {
            return Err(Stop::Bad);
        }
        self.framing(before);
        let after = self.text[..end].iter().rev().take_while(|&&byte| blank(byte)).count();
        let word = self.at..end - after;
        self.tell(Piece::Call(call), word.end);
        self.framing(after + literal.len());
        Ok(word)
    }

    // ---- between calls

    fn read(&mut self, opener: &str, named: Option<(usize, Vec<u8>)>) {
        // The opener or the header may already have begun the first call.
        let mut first = named.map(|(number, name)| (number, Some(name)));
        if first.is_none() {
            let begins = |&number: &usize| {
                let table = &self.tables[number];
                let is_begun = !table.begin.is_empty() && opener.ends_with(&table.begin);
                is_begun && table.body != "object" && self.fits_after_begin(table, self.at, true)
            };
            first = self.in_order().into_iter().find(begins).map(|number| (number, None));
        }
        if let Some((number, name)) = first {
            self.call(number, 0, name);
        }
        while self.at < self.text.len() && !(self.closes)(self.at) {
            if let Some(number) = self.fitting() {
                let begin = &self.tables[number].begin;
                let len = if self.is(self.at, begin) { begin.len() } else { 0 };
                match self.tables[number].body.as_str() {
                    "object" if len > 0 => self.framing(len),
                    "object" => self.call(number, 1, None),
                    _ => self.call(number, len, None),
                }
            } else if let Some(len) = self.skipped() {
                self.framing(len);
            } else {
                self.opaque();
            }
            // Framing between calls may be cut by the limit.
            self.at = self.crossed.take().unwrap_or(self.at);
        }
    }

    /// Returns the length of the framing between calls.
    fn skipped(&self) -> Option<usize> {
        let skips = self.tables.iter().flat_map(|table| &table.skip);
        let longest = skips.filter(|skip| self.is(self.at, skip)).map(String::len).max();
        let byte = self.text[self.at];
        let is_between = |table: &Table| {
            let own = if table.body == "object" || table.list { "[]," } else { "," };
            table.between.as_deref().unwrap_or(own).as_bytes().contains(&byte)
        };
        longest.or((blank(byte) || self.tables.iter().any(is_between)).then_some(1))
    }

    /// Reports text outside calls: a byte, and the text up to the next closer or `begin`.
    fn opaque(&mut self) {
        let mut at = self.at + 1;
        while at < self.text.len() && !(self.closes)(at) && !self.begins_at(at) {
            at += 1;
        }
        self.tell(Piece::Text, at);
    }

    /// Reports the rest of a broken call: up to and including its closing bracket or its `end`, or up to a closer. A new call
    /// begins there only where no bracket of the broken call is open.
    fn broken(&mut self, table: &Table) {
        self.over(MALFORMED, 0);
        let mut rest = Rest::new(table);
        if table.body == "literal" {
            rest.depth = 1 + self.nested;
        } else {
            let mut at = self.arguments;
            while at < self.at {
                at += rest.step(&self.text[at..], false);
            }
            (rest.quote, rest.is_escaped) = (None, false);
        }
        let mut at = self.at;
        while at < self.text.len() {
            let is_string = rest.quote.is_some();
            let is_closed = if is_string { self.closes_broken(at) } else { (self.closes)(at) };
            if is_closed || rest.may_begin() && self.begins_at(at) {
                break;
            }
            if !is_string && self.is(at, &table.end) {
                at += table.end.len();
                break;
            }
            let was_open = rest.depth > 0;
            at += rest.step(&self.text[at..], true);
            if was_open && rest.depth == 0 && table.end.is_empty() {
                while at < self.text.len() && !(self.closes)(at) && !self.begins_at(at) {
                    at += 1;
                }
                break;
            }
        }
        self.tell(Piece::Text, at);
    }

    fn call(&mut self, number: usize, begin: usize, name: Option<Vec<u8>>) {
        let tables = self.tables;
        let table = &tables[number];
        (self.is_repaired, self.nested) = (false, 0);
        self.arguments = self.at;
        self.tell(Piece::Begin(number), self.at + begin);
        let parts = self.parts(table, name);
        if let Some(at) = self.crossed.take() {
            self.at = at;
            return self.broken(table);
        }
        match parts {
            Ok(()) => {}
            Err(Stop::Cut) if self.limit.is_none() => {
                self.over(END, 0);
                self.tell(Piece::Text, self.text.len());
            }
            Err(_) => self.broken(table),
        }
    }

    fn parts(&mut self, table: &Table, name: Option<Vec<u8>>) -> Step {
        if table.body == "object" {
            return self.members(table);
        }
        if name.is_some() {
            self.tell(Piece::Call(Call::Name(name)), self.at);
        } else {
            for (piece, end) in self.head(table, self.at).unwrap() {
                self.tell(piece, end);
            }
        }
        self.arguments = self.at;
        match table.body.as_str() {
            "json" => self.json(table),
            "tags" if table.nested => self.elements(table),
            "tags" => self.tags(table),
            _ => self.literal(table),
        }
    }

    /// Ends a call after its arguments.
    fn ended(&mut self, table: &Table) -> Step {
        self.next()?;
        if self.is(self.at, &table.end) {
            self.over(MARKER, table.end.len());
        } else if (self.closes)(self.at) || self.begins_at(self.at) {
            self.over(IMPLIED, 0);
        } else {
            return Err(Stop::Bad);
        }
        Ok(())
    }

    // ---- JSON

    /// Reports one JSON value.
    fn json_value(&mut self, piece: &Piece, stops: &dyn Fn(&Self, usize) -> bool) -> Step {
        let (end, step) = match self.json_end(self.at, 0, stops) {
            Ok(end) => (end, Ok(())),
            Err((end, stop)) => (end, Err(stop)),
        };
        self.tell(piece.clone(), end);
        step
    }

    /// Returns the end of the JSON value at `at`, which is nested `depth` deep, or the place where it breaks off.
    fn json_end(&self, at: usize, depth: usize, stops: &dyn Fn(&Self, usize) -> bool) -> Result<usize, (usize, Stop)> {
        let bad = |at: usize| Err((at, Stop::Bad));
        let cut = || Err((self.text.len(), Stop::Cut));
        let string = |at: usize| match self.string_end(at + 1, b'"') {
            Some(end) => Ok(end + 1),
            None => cut(),
        };
        // Returns the index of the byte after JSON's blanks. The end of the value must not begin at one of these blanks.
        let next = |mut at: usize| loop {
            match self.byte(at) {
                None => return cut(),
                Some(b' ' | b'\t' | b'\n' | b'\r') if stops(self, at) => return bad(at),
                Some(b' ' | b'\t' | b'\n' | b'\r') => at += 1,
                Some(_) => return Ok(at),
            }
        };
        // Reads one byte, which must be one of these.
        let one_of = |at: usize, bytes: &[u8]| match bytes.contains(&self.text[at]) && !stops(self, at) {
            true => Ok(at + 1),
            false => bad(at),
        };
        let Some(first) = self.byte(at) else { return cut() };
        match first {
            b'"' => string(at),
            b'{' | b'[' => {
                if depth == DEPTH {
                    return bad(at);
                }
                let (is_object, end) = (first == b'{', if first == b'{' { b'}' } else { b']' });
                let mut at = next(one_of(at, b"{[")?)?;
                if self.text[at] == end {
                    return one_of(at, &[end]);
                }
                loop {
                    if is_object {
                        if self.text[at] != b'"' {
                            return bad(at);
                        }
                        at = next(string(at)?)?;
                        at = next(one_of(at, b":")?)?;
                    }
                    at = next(self.json_end(at, depth + 1, stops)?)?;
                    if self.text[at] == end {
                        return one_of(at, &[end]);
                    }
                    at = next(one_of(at, b",")?)?;
                }
            }
            b't' | b'f' | b'n' => {
                let word = ["true", "false", "null"].into_iter().find(|word| word.as_bytes()[0] == first).unwrap();
                for (index, &letter) in word.as_bytes().iter().enumerate() {
                    if at + index == self.text.len() {
                        return cut();
                    }
                    one_of(at + index, &[letter])?;
                }
                Ok(at + word.len())
            }
            _ => {
                // The longest beginning of a number.
                let (mut end, mut form) = (at, Some(NUMBER_START));
                while let Some(byte) = self.byte(end)
                    && let Some(after) = form.and_then(|form| after_digit(form, byte))
                {
                    one_of(end, &[byte])?;
                    (end, form) = (end + 1, Some(after));
                }
                let is_number = form.is_some_and(|form| "0dfp".contains(form));
                match self.byte(end) {
                    None => cut(),
                    Some(byte) if is_number && (depth > 0 || blank(byte) || b",}]".contains(&byte)) => Ok(end),
                    Some(_) => bad(end),
                }
            }
        }
    }

    /// Returns the index of the quote that ends a string, whose first byte is at `at`.
    fn string_end(&self, mut at: usize, quote: u8) -> Option<usize> {
        loop {
            match self.byte(at)? {
                byte if byte == quote => return Some(at),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
    }

    fn json(&mut self, table: &Table) -> Step {
        let byte = self.next()?;
        let ends = if table.end.is_empty() { (self.closes)(self.at) } else { self.is(self.at, &table.end) };
        if !ends {
            if byte != b'{' {
                return Err(Stop::Bad);
            }
            let stops = |body: &Self, at: usize| (body.closes)(at) || body.begins_at(at) || body.is(at, &table.end);
            self.json_value(&Piece::Call(Call::Value), &stops)?;
        }
        if !table.end.is_empty() {
            return self.ended(table);
        }
        self.over(IMPLIED, 0);
        Ok(())
    }

    fn members(&mut self, table: &Table) -> Step {
        let own_id = ["id".to_string()];
        let ids = match &table.id {
            Some(CallId::Members(ids)) => &ids[..],
            _ => &own_id,
        };
        let stops = |body: &Self, at: usize| (body.closes)(at);
        let value = Piece::Call(Call::Value);
        let (mut has_name, mut has_arguments, mut has_id, mut is_first) = (false, false, false, true);
        let mut has_other = false;
        loop {
            let byte = self.next()?;
            if byte == b'}' {
                // A further member may be the arguments under a different name.
                let is_call = has_name && (has_arguments || !has_other);
                self.over(if is_call { MARKER } else { MALFORMED }, 1);
                return Ok(());
            }
            if !is_first {
                self.must_be(b',')?;
            }
            is_first = false;
            if self.next()? != b'"' {
                return Err(Stop::Bad);
            }
            if table.key_is_name {
                if has_name {
                    return Err(Stop::Bad);
                }
                self.name_string()?;
                has_name = true;
                self.must_be(b':')?;
                self.next()?;
                has_arguments = true;
                self.json_value(&value, &stops)?;
                continue;
            }
            let names = [&table.name, &table.arguments, ids].into_iter().flatten().map(String::len);
            let longest = names.chain([BESIDES[3].len()]).max().unwrap_or(0);
            let end = self.string_end(self.at + 1, b'"');
            if table.is_bare && end.unwrap_or(self.text.len()) > self.at + 1 + longest {
                return Err(Stop::Bad);
            }
            let Some(end) = end else {
                self.tell(Piece::Framing, self.text.len());
                return Err(Stop::Cut);
            };
            let key = &self.text[self.at + 1..end];
            let is_one_of = |names: &[String]| names.iter().any(|name| name.as_bytes() == key);
            let is_name = is_one_of(&table.name) && !has_name;
            let is_arguments = is_one_of(&table.arguments) && !has_arguments && !is_name;
            let is_id = is_one_of(ids) && !has_id && !is_name && !is_arguments;
            let is_known = [&table.name, &table.arguments, ids].into_iter().any(is_one_of);
            let is_other = !is_known && !BESIDES.iter().any(|name| name.as_bytes() == key);
            if table.is_bare && is_other {
                return Err(Stop::Bad);
            }
            has_other |= is_other;
            self.tell(Piece::Framing, end + 1);
            self.must_be(b':')?;
            let byte = self.next()?;
            if is_name {
                if byte != b'"' {
                    return Err(Stop::Bad);
                }
                self.name_string()?;
                has_name = true;
            } else if is_arguments {
                has_arguments = true;
                self.json_value(&value, &stops)?;
            } else if is_id && byte == b'"' {
                match self.string_end(self.at + 1, b'"') {
                    Some(end) if end - self.at - 1 <= WORD => {
                        has_id = true;
                        self.framing(1);
                        self.tell(Piece::Call(Call::Id), end);
                        self.framing(1);
                    }
                    None if self.text.len() - self.at - 1 <= WORD => return Err(Stop::Cut),
                    _ => self.json_value(&Piece::Framing, &stops)?,
                }
            } else {
                self.json_value(&Piece::Framing, &stops)?;
            }
        }
    }

    /// Reports a string that is a name.
    fn name_string(&mut self) -> Step {
        match self.string_end(self.at + 1, b'"') {
            Some(end) if (1..=WORD).contains(&(end - self.at - 1)) => {
                self.framing(1);
                self.tell(Piece::Call(Call::Name(None)), end);
                self.framing(1);
                Ok(())
            }
            None if self.text.len() - self.at - 1 <= WORD => Err(Stop::Cut),
            _ => Err(Stop::Bad),
        }
    }

    // ---- keys and values in tags

    fn tags(&mut self, table: &Table) -> Step {
        let [open, close] = &table.value;
        let has_gaps = table.key[1].ends_with('>');
        loop {
            self.next()?;
            if !self.is(self.at, &table.key[0]) {
                return self.ended(table);
            }
            self.framing(table.key[0].len());
            // The opener may be repeated, also after blanks if the key has an end.
            loop {
                let blanks = match self.find(self.at, &table.key[1], WORD) {
                    Some(_) => self.blanks_at(self.at, usize::MAX),
                    None => 0,
                };
                if !self.is(self.at + blanks, &table.key[0]) {
                    break;
                }
                self.framing(blanks + table.key[0].len());
            }
            let key = self.word(&table.key[1], Call::Key)?;
            if let Some([begin, end]) = &table.kind {
                if has_gaps {
                    self.framing(self.blanks_at(self.at, usize::MAX));
                }
                if self.is(self.at, begin) {
                    self.framing(begin.len());
                    self.word(end, Call::Type)?;
                }
            }
            if !open.is_empty() {
                if has_gaps {
                    self.framing(self.blanks_at(self.at, usize::MAX));
                    // The closer of the key may be repeated.
                    while self.is(self.at, &table.key[1]) {
                        self.framing(table.key[1].len());
                        self.framing(self.blanks_at(self.at, usize::MAX));
                    }
                }
                self.must(open)?;
            }
            self.tag_value(table, close, &self.text[key])?;
            // The closer may be repeated.
            loop {
                self.next()?;
                if !self.is(self.at, close) {
                    break;
                }
                self.framing(close.len());
            }
        }
    }

    /// Reports a value and its end: a closer that counts, text that may follow a value, or a misspelt closer. After a closer
    /// that does not count, only a closer that counts or the end of the call ends the value.
    fn tag_value(&mut self, table: &Table, close: &str, key: &[u8]) -> Step {
        let cdata = "<![CDATA[";
        if table.cdata && self.is(self.at, cdata) {
            self.framing(cdata.len());
            let closer = format!("]]>{close}");
            let end = self.find(self.at, &closer, self.text.len());
            self.value(end.unwrap_or(self.text.len()));
            end.ok_or(Stop::Cut)?;
            self.tell(Piece::Call(Call::ValueEnd { is_repaired: false }), self.at + closer.len());
            return Ok(());
        }
        let start = self.at;
        if self.is(self.at, &table.framing.after_open) {
            self.framing(table.framing.after_open.len());
        }
        let is_framed = !table.framing.after_open.is_empty() || !table.framing.before_close.is_empty();
        let (begin, before) = (self.at, &table.framing.before_close);
        let mut has_closer = false;
        for at in begin..self.text.len() {
            let is_closer = self.is(at, close);
            if is_closer && self.goes_on_after(table, at + close.len()) {
                self.value_end(begin, before, at, at + close.len(), false);
                return Ok(());
            }
            has_closer |= is_closer;
            let is_line = self.text[start..at].ends_with(b"\n");
            let is_recovered = !has_closer && is_framed && is_line && self.is_plain_key(table, at);
            let (before, end) = match is_recovered || self.is_over(table, at) {
                true => ("\n", Some(at)),
                false if has_closer => (before.as_str(), None),
                false => (before.as_str(), self.misspelt_closer(table, close, key, at)),
            };
            match end {
                Some(_) if has_closer => {
                    self.value(at);
                    return Err(Stop::Bad);
                }
                Some(end) => {
                    self.value_end(begin, before, at, end, true);
                    return Ok(());
                }
                None => {}
            }
        }
        self.value(self.text.len());
        Err(Stop::Cut)
    }

    /// Reports a value that ends at `at`, or before the framing there, and its closer, which ends at `end`.
    fn value_end(&mut self, begin: usize, before: &str, at: usize, end: usize, is_repaired: bool) {
        let is_framed = at - begin >= before.len() && self.is(at - before.len(), before);
        self.value(if is_framed { at - before.len() } else { at });
        self.tell(Piece::Framing, at);
        self.tell(Piece::Call(Call::ValueEnd { is_repaired }), end);
    }

    /// Returns whether `is_here` holds at `at`, or after blanks there.
    fn comes(&self, at: usize, is_here: impl Fn(usize) -> bool) -> bool {
        (at..=at + self.blanks_at(at, BLANKS)).any(is_here)
    }

    /// Returns whether a literal is at `at`, whole or cut by the end of the text.
    fn is_or_begins(&self, at: usize, literal: &str) -> bool {
        let rest = self.text.get(at..).unwrap_or_default();
        self.is(at, literal) || literal.as_bytes().starts_with(rest)
    }

    /// Returns whether one of these literals is at `at`, whole or cut by the end of the text.
    fn begins_one_of<'b>(&self, at: usize, literals: impl IntoIterator<Item = &'b String>) -> bool {
        literals.into_iter().any(|literal| !literal.is_empty() && self.is_or_begins(at, literal))
    }

    /// Returns whether the text at `at` may follow a call. After a call with all of its markers, any text may follow the span's
    /// closer.
    fn follows_call(&self, at: usize, is_whole: bool) -> bool {
        self.is_or_follows_skip(at, &|at| {
            let is_closed = match is_whole {
                true => (self.closes)(at) || self.begins_one_of(at, &self.closers),
                false => self.is_last_closer(at, &|at| self.is_outside(at)),
            };
            let begins = self.tables.iter().map(|table| &table.begin);
            is_closed || self.begins_one_of(at, begins) || self.is_outside(at)
        })
    }

    /// Returns whether `is_here` holds at `at`, or after framing between calls, or the text ends inside that.
    fn is_or_follows_skip(&self, at: usize, is_here: &dyn Fn(usize) -> bool) -> bool {
        let is_skipped = |skip: &String| match self.is(at, skip) {
            true => self.comes(at + skip.len(), is_here),
            false => at < self.text.len() && self.is_or_begins(at, skip),
        };
        is_here(at) || self.tables.iter().flat_map(|table| &table.skip).any(is_skipped)
    }

    /// Returns whether text outside the span is at `at`, or the answer ends.
    fn is_outside(&self, at: usize) -> bool {
        self.begins_one_of(at, &self.outside) || self.ends_answer(at)
    }

    /// Returns whether the text ends at `at`, or in or after a marker there that is dropped.
    fn ends_answer(&self, at: usize) -> bool {
        let ends = |marker: &String| match self.is(at, marker) {
            true => self.comes(at + marker.len(), |at| at == self.text.len()),
            false => self.is_or_begins(at, marker),
        };
        at == self.text.len() || self.dropped.iter().any(ends)
    }

    /// Returns whether a closer is at `at`, followed by text for which `ends` holds; or a closer of another span.
    fn is_last_closer(&self, at: usize, ends: &dyn Fn(usize) -> bool) -> bool {
        let is_own = self.comes(at, |at| self.closers.iter().any(|closer| self.is_closer(at, closer)));
        let is_header = self.outside.iter().any(|literal| self.is(at, literal));
        (self.closes)(at) && !is_own && !is_header || self.is_last_own_closer(at, ends)
    }

    /// Returns whether a closer is at `at`, in any case of its letters and perhaps with a suffix after a colon, if it is a tag.
    fn is_closer(&self, at: usize, closer: &str) -> bool {
        let stem = closer.strip_suffix('>').unwrap_or(closer);
        let Some(here) = self.text.get(at..at + stem.len()) else { return false };
        let next = self.text.get(at + stem.len()).copied();
        !closer.is_empty()
            && here.eq_ignore_ascii_case(stem.as_bytes())
            && (stem == closer || matches!(next, Some(b'>' | b':')))
    }

    /// Returns whether one of the span's own closers is at `at`, followed by text for which `ends` holds.
    fn is_last_own_closer(&self, at: usize, ends: &dyn Fn(usize) -> bool) -> bool {
        let is_cut = at < self.text.len()
            && self.closers.iter().any(|closer| !self.is(at, closer) && self.is_or_begins(at, closer));
        let is_last = |closer: &String| self.is(at, closer) && self.comes(at + closer.len(), ends);
        is_cut || (self.closes)(at) && self.closers.iter().any(is_last)
    }

    /// Returns whether a closer at `at` counts in a string of a broken call.
    fn closes_broken(&self, at: usize) -> bool {
        let follows =
            |at: usize| at == self.text.len() || self.begins_one_of(at, self.outside.iter().chain(&self.dropped));
        self.is_last_own_closer(at, &follows)
    }

    /// Returns whether the text at `at`, where a call continues or ends, may follow a value's closer.
    fn goes_on_at(&self, table: &Table, at: usize) -> bool {
        let is_whole = table.end.is_empty();
        self.begins_one_of(at, [&table.end]) || self.follows_call(at, is_whole) || self.is_written_key(table, at)
    }

    /// Returns whether such text is at `at`, after blanks, or after a repeated closer of the value.
    fn goes_on_after(&self, table: &Table, at: usize) -> bool {
        let close = &table.value[1];
        let again = |at: usize| {
            self.is(at, close) && self.comes(at + close.len(), |at| self.goes_on_at(table, at))
                || at < self.text.len() && !self.is(at, close) && self.is_or_begins(at, close)
        };
        self.comes(at, |at| self.goes_on_at(table, at) || again(at))
    }

    /// Returns whether a key with all text before its value is at `at`, whole or cut by the end of the text.
    fn is_written_key(&self, table: &Table, at: usize) -> bool {
        let first = table.key[0].as_bytes()[0];
        match self.key_at(table, at, WORD, &|byte| byte != b'\n' && byte != first) {
            Ok(is_key) => is_key,
            Err(Stop::Cut) => true,
            Err(Stop::Bad) => false,
        }
    }

    /// Returns whether a key of usual bytes is at `at`, with all text before its value.
    fn is_plain_key(&self, table: &Table, at: usize) -> bool {
        matches!(self.key_at(table, at, KEY, &is_of_plain_key), Ok(true))
    }

    /// Returns whether a key of at most `most` allowed bytes is at `at`, with all text before its value. `Stop::Cut` if the
    /// text ends inside it.
    fn key_at(&self, table: &Table, at: usize, most: usize, may_have: &dyn Fn(u8) -> bool) -> Step<bool> {
        let whole = |at: usize, literal: &str| match self.is(at, literal) {
            true => Ok(at + literal.len()),
            false if self.is_or_begins(at, literal) => Err(Stop::Cut),
            false => Err(Stop::Bad),
        };
        let from = whole(at, &table.key[0])?;
        let mut at = from;
        let mut end = whole(at, &table.key[1]);
        while let Err(Stop::Bad) = end {
            if at - from == most || !may_have(self.byte(at).ok_or(Stop::Cut)?) {
                return Ok(false);
            }
            at += 1;
            end = whole(at, &table.key[1]);
        }
        let is_blank = self.text[from..at].iter().all(|&byte| blank(byte));
        at = end?;
        if is_blank || table.value[0].is_empty() {
            return Ok(!is_blank);
        }
        let gap = |at: usize| match self.blanks_at(at, BLANKS) {
            _ if !table.key[1].ends_with('>') => Ok(at),
            blanks if blanks < BLANKS && at + blanks == self.text.len() => Err(Stop::Cut),
            blanks => Ok(at + blanks),
        };
        if let Some([open, close]) = &table.kind {
            at = gap(at)?;
            match whole(at, open) {
                Ok(word) => match self.find(word, close, WORD) {
                    Some(end) => at = end + close.len(),
                    None if self.text.len() < word + WORD + close.len() => return Err(Stop::Cut),
                    None => return Ok(false),
                },
                Err(Stop::Cut) => return Err(Stop::Cut),
                Err(Stop::Bad) => {}
            }
        }
        whole(gap(at)?, &table.value[0]).map(|_| true)
    }

    /// Returns whether the call ends at `at` although the closer of the last value is missing, which is so only if the answer
    /// ends too.
    fn is_over(&self, table: &Table, at: usize) -> bool {
        let ends = |at: usize| self.ends_answer(at);
        if !table.end.is_empty() {
            let is_last = |at: usize| ends(at) || self.is_last_closer(at, &ends);
            let is_end = |at: usize| self.is_or_follows_skip(at, &is_last);
            return self.is(at, &table.end) && self.comes(at + table.end.len(), is_end);
        }
        let closes = |closer: &String| self.is(at, closer) && self.comes(at + closer.len(), ends);
        (self.closes)(at) && self.closers.iter().any(closes)
    }

    /// Returns the end of a misspelt closer at `at` after which a value must have ended.
    fn misspelt_closer(&self, table: &Table, close: &str, key: &[u8], at: usize) -> Option<usize> {
        let mut ends = Vec::new();
        if let Some(stem) = close.strip_suffix('>').filter(|stem| self.is(at, stem)) {
            let end = at + stem.len();
            ends.push(end);
            let letters =
                self.text[end..].iter().take_while(|&&byte| byte.is_ascii_alphabetic() || byte == b'_').count();
            if (1..=LETTERS).contains(&letters) && self.is(end + letters, ">") {
                ends.push(end + letters + 1);
            }
        }
        let own = [b"</", key, b">"].concat();
        let is_plain = key.len() <= KEY && key.iter().all(|&byte| is_of_plain_key(byte));
        if is_plain && self.text[at..].starts_with(&own) {
            ends.push(at + own.len());
        }
        let has_ended = |at: usize| {
            let is_line = self.text[..at].ends_with(b"\n");
            self.is_last_closer(at, &|at| self.ends_answer(at))
                || self.is_over(table, at)
                || is_line && self.is_plain_key(table, at)
        };
        let counts = |end: &usize| self.comes(*end, has_ended);
        ends.into_iter().find(counts)
    }

    // ---- elements inside each other

    fn elements(&mut self, table: &Table) -> Step {
        let (open, close) = (&table.key[0], &table.value[1]);
        // The names of the elements that are open.
        let mut names: Vec<Vec<u8>> = Vec::new();
        // Whether the innermost element may be a value, and whether it has had text.
        let (mut is_leaf, mut has_text) = (false, false);
        loop {
            let mark = self.find(self.at, &table.mark, self.text.len());
            let end = mark.unwrap_or(self.text.len());
            if is_leaf {
                has_text |= !self.text[self.at..end].iter().all(|&byte| blank(byte));
                self.value(end);
            } else {
                self.framing(self.blanks_at(self.at, end - self.at));
                if self.at < end {
                    return Err(Stop::Bad);
                }
            }
            if mark.is_none() {
                return Err(Stop::Cut);
            }
            let here = [&table.end, close, open].into_iter().filter(|literal| self.is(self.at, literal));
            let Some(longest) = here.max_by_key(|literal| literal.len()) else { return Err(Stop::Bad) };
            if longest == &table.end {
                for _ in names {
                    self.tell(Piece::Call(Call::ValueEnd { is_repaired: true }), self.at);
                }
                return self.ended(table);
            }
            if longest == close {
                let Some(name) = names.last() else { return self.ended(table) };
                let from = self.at + close.len();
                let Some(end) = self.find(from, ">", WORD) else {
                    return Err(if self.text.len() - from <= WORD { Stop::Cut } else { Stop::Bad });
                };
                let is_own = trimmed(&self.text[from..end]) == name;
                self.tell(Piece::Call(Call::ValueEnd { is_repaired: false }), end + 1);
                if !is_own {
                    return Err(Stop::Bad);
                }
                names.pop();
                is_leaf = false;
                continue;
            }
            if has_text && is_leaf || names.len() == DEPTH {
                return Err(Stop::Bad);
            }
            self.framing(open.len());
            let name = self.word(&table.key[1], Call::Key)?;
            names.push(self.text[name].to_vec());
            (is_leaf, has_text) = (true, false);
        }
    }

    // ---- keys and values in brackets

    fn literal(&mut self, table: &Table) -> Step {
        let (close, assign) = (table.close.as_bytes()[0], table.assign.as_bytes()[0]);
        let mut is_first = true;
        loop {
            if self.next()? == close {
                self.over(MARKER, 1);
                return Ok(());
            }
            if !is_first {
                self.must_be(b',')?;
                if self.next()? == close {
                    self.over(MARKER, 1);
                    return Ok(());
                }
            }
            is_first = false;
            let quote = if self.is(self.at, &table.raw_quote) { &table.raw_quote } else { "\"" };
            if !table.raw_quote.is_empty() && self.is(self.at, quote) {
                self.framing(quote.len());
                self.word(quote, Call::Key)?;
            } else {
                let is_key = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte) || byte >= 0x80;
                let len = self.text[self.at..].iter().take_while(|&&byte| is_key(byte)).count();
                match len {
                    0 => return Err(Stop::Bad),
                    len if len > NAME => return Err(Stop::Bad),
                    len => self.tell(Piece::Call(Call::Key), self.at + len),
                }
            }
            self.must_be(assign)?;
            self.next()?;
            self.literal_value(table)?;
            self.tell(Piece::Call(Call::ValueEnd { is_repaired: false }), self.at);
        }
    }

    /// Reports a value. It ends with its outermost string or bracket. A value that is a word ends before a blank, a comma, a
    /// closing bracket or a possible end of the call.
    fn literal_value(&mut self, table: &Table) -> Step {
        let raw = &table.raw_quote;
        let mut open: Vec<u8> = Vec::new();
        let (begin, mut at) = (self.at, self.at);
        self.nested = 0;
        while let Some(byte) = self.byte(at) {
            let is_raw = self.is(at, raw);
            if is_raw || byte == b'"' || byte == b'\'' && raw.is_empty() {
                let end = match is_raw {
                    true => self.find(at + raw.len(), raw, self.text.len()).map(|end| end + raw.len()),
                    false => self.string_end(at + 1, byte).map(|end| end + 1),
                };
                let Some(end) = end else { break };
                at = end;
                if open.is_empty() {
                    self.value(at);
                    return Ok(());
                }
                continue;
            }
            let is_stop = (self.closes)(at) || byte != table.assign.as_bytes()[0] && self.begins_at(at);
            let is_over = is_stop || blank(byte) || b",)]}".contains(&byte);
            if open.is_empty() && is_over {
                self.value(at);
                return if at == begin { Err(Stop::Bad) } else { Ok(()) };
            }
            let closer = b")]}".get(b"([{".iter().position(|&open| open == byte).unwrap_or(9)).copied();
            let is_bad = is_stop
                || closer.is_some() && open.len() == DEPTH
                || byte == b'(' && open.is_empty() && at > begin
                || b")]}".contains(&byte) && open.pop() != Some(byte);
            if is_bad {
                self.value(at);
                return Err(Stop::Bad);
            }
            open.extend(closer);
            self.nested = open.iter().filter(|&&close| close == table.close.as_bytes()[0]).count();
            at += 1;
            if open.is_empty() && b")]}".contains(&byte) {
                self.value(at);
                return Ok(());
            }
        }
        self.value(self.text.len());
        Err(Stop::Cut)
    }
}
