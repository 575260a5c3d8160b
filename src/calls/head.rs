//! Finds the beginning of a call: whether a table fits at a place, and the pieces of the call's head. The results must not depend
//! on how the text is cut: as long as more bytes could change a result, it is `More`.

use super::{
    table::{BodyRule, CallTable, CallTables, MOST_BLANKS, MOST_OF_NAME, MOST_OF_WORD},
    view::{Decision, View},
};
use crate::matcher::bytes::is_blank;

/// The lengths of a head's pieces, in this order. Most are 0.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, Default)]
pub struct Head {
    pub lens: [u16; Head::PIECES],
}

impl Head {
    pub const PIECES: usize = 10;
    /// The pieces for an id at the beginning, and for the text that ends it with the blanks before the name.
    const FIRST_ID: usize = 0;
    const FIRST_ID_END: usize = 1;
    /// The prefix before the name, the name, the rest of the name's word, and the blanks and the literal after that word.
    const PREFIX: usize = 2;
    pub const NAME: usize = 3;
    const SUFFIX: usize = 4;
    const BLANKS: usize = 5;
    const NAME_END: usize = 6;
    /// An id after the name, its end, and the rest of the head.
    const ID: usize = 7;
    const ID_END: usize = 8;
    const REST: usize = 9;

    /// Returns whether a piece is an id. `is_id` means that the whole head is an id.
    pub fn is_id(piece: usize, is_id: bool) -> bool {
        match piece {
            Head::FIRST_ID | Head::ID => true,
            Head::PREFIX | Head::SUFFIX => is_id,
            _ => false,
        }
    }

    fn set(&mut self, piece: usize, len: usize) {
        self.lens[piece] = len as u16;
    }
}

/// Reads a head at an index. Returns an error if the head does not fit, or if more bytes are needed.
pub fn read_head(table: &CallTable, view: &View, from: usize) -> Result<Head, Decision> {
    let rule = &table.head;
    let mut head = Head::default();
    let mut at = from;
    if !rule.id_end.is_empty() {
        let len = view.up_to(at, &rule.id_end, MOST_OF_WORD)?;
        head.set(Head::FIRST_ID, len);
        head.set(Head::FIRST_ID_END, rule.id_end.len());
        at += len + rule.id_end.len();
    }
    // Without a `begin`, the blanks are framing between calls.
    if !table.begin.is_empty() {
        let name = view.skip_blanks(at, MOST_BLANKS)?;
        head.set(Head::FIRST_ID_END, rule.id_end.len() + name - at);
        at = name;
    }
    let word = name_len(view, at)?;
    let name = &view.text[at..at + word];
    let after = at + word;
    let prefix = rule.prefixes.iter().find(|prefix| name.len() > prefix.len() && name.starts_with(prefix));
    if rule.needs_prefix && prefix.is_none() {
        return Err(Decision::No);
    }
    let prefix = prefix.map_or(0, |prefix| prefix.len());
    // At least one byte must remain as the name.
    let suffix = match name[prefix + 1..].ends_with(&rule.suffix) {
        true if rule.is_id => number_len(&name[prefix + 1..]),
        true => rule.suffix.len(),
        false => return Err(Decision::No),
    };
    let (blanks, end) = name_end(table, view, after)?;
    head.set(Head::PREFIX, prefix);
    head.set(Head::NAME, word.saturating_sub(prefix + suffix));
    head.set(Head::SUFFIX, suffix);
    head.set(Head::BLANKS, blanks);
    at = after + blanks;
    match end {
        NameEnd::Implied => {}
        NameEnd::Literal(len) => {
            head.set(Head::NAME_END, len);
            at += len;
        }
        NameEnd::Id => {
            head.set(Head::NAME_END, rule.id_begin.len());
            at += rule.id_begin.len();
            let end = &rule.id_close;
            let len = view.up_to(at, end, MOST_OF_WORD)?;
            head.set(Head::ID, len);
            head.set(Head::ID_END, end.len());
            at += len + end.len();
        }
    }
    if !rule.end.is_empty() {
        let len = view.find(at, &rule.end, MOST_OF_WORD)?;
        head.set(Head::REST, len + rule.end.len());
        at += len + rule.end.len();
    }
    if rule.needs_object {
        view.skip_blanks(at, MOST_BLANKS).and_then(|at| view.one_of(at, b"{"))?;
    }
    Ok(head)
}

/// The end of a name: no literal, a literal, or the literal that precedes an id.
enum NameEnd {
    Implied,
    Literal(usize),
    Id,
}

/// Returns the number of blanks after a name, and the name's end.
fn name_end(table: &CallTable, view: &View, after: usize) -> Result<(usize, NameEnd), Decision> {
    let rule = &table.head;
    let open = match &table.body {
        BodyRule::Literal(literal) => Some(literal.open),
        _ => None,
    };
    let has_ends = !rule.name_ends.is_empty() || open.is_some();
    let mut blanks = 0;
    loop {
        let at = after + blanks;
        let byte = view.byte(at)?;
        if has_ends {
            let own = match view.longest(at, &rule.name_ends) {
                Err(Decision::No) if byte.is_some() && byte == open => Some(1),
                Err(Decision::No) => None,
                Err(seen) => return Err(seen),
                Ok(len) => Some(len),
            };
            // If both literals fit, the longer one counts.
            if own.is_none_or(|len| len < rule.id_begin.len()) {
                match view.marker(at, &rule.id_begin) {
                    Decision::Yes => return Ok((blanks, NameEnd::Id)),
                    Decision::More => return Err(Decision::More),
                    Decision::No => {}
                }
            }
            if let Some(len) = own {
                return Ok((blanks, NameEnd::Literal(len)));
            }
        }
        match byte {
            Some(byte) if is_blank(byte) && blanks < MOST_BLANKS => blanks += 1,
            _ if has_ends => return Err(Decision::No),
            _ => break,
        }
    }
    // The head has no end marker: the key's opener, the object, the call's end, or a closer follows.
    let at = after + blanks;
    let key = match &table.body {
        BodyRule::Tags(tags) => &tags.key[0][..],
        BodyRule::Json => b"{",
        _ => &[],
    };
    let mut seen = view.closer(at);
    for literal in [key, &table.end] {
        seen = seen.or(view.marker(at, literal));
    }
    match seen {
        Decision::Yes => Ok((blanks, NameEnd::Implied)),
        seen => Err(seen),
    }
}

/// Returns the length of the longest name at an index.
fn name_len(view: &View, from: usize) -> Result<usize, Decision> {
    let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/@#$+-".contains(&byte) || byte >= 0x80;
    if !view.byte(from)?.is_some_and(is_first) {
        return Err(Decision::No);
    }
    let mut len = 1;
    while view.byte(from + len)?.is_some_and(is_name) {
        len += 1;
        if len > MOST_OF_NAME {
            return Err(Decision::No);
        }
    }
    Ok(len)
}

/// Returns the length of a colon and digits at a name's end.
fn number_len(name: &[u8]) -> usize {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    match name.len().checked_sub(digits + 1) {
        Some(at) if digits > 0 && name[at] == b':' => digits + 1,
        _ => 0,
    }
}

/// Returns whether a call of a table begins at an index.
fn fits(table: &CallTable, view: &View, at: usize) -> Decision {
    if let BodyRule::Object(_) = table.body {
        match view.byte(at) {
            Ok(Some(b'{')) => return Decision::Yes,
            Err(seen) => return seen,
            _ if table.begin.is_empty() => return Decision::No,
            _ => {}
        }
    }
    match view.literal(at, &table.begin) {
        Decision::Yes => fits_after_begin(table, view, at + table.begin.len(), !table.begin.is_empty()),
        seen => seen,
    }
}

/// Returns whether a call of a table continues at an index, after its `begin`. `is_begun` means that the table has a `begin`.
fn fits_after_begin(table: &CallTable, view: &View, at: usize, is_begun: bool) -> Decision {
    if let BodyRule::Object(_) = table.body {
        let brackets: &[u8] = if is_begun { b"{[" } else { b"{" };
        return Decision::of(view.skip_blanks(at, MOST_BLANKS).and_then(|at| view.one_of(at, brackets)));
    }
    if table.head.name_from.is_some() {
        return Decision::No;
    }
    Decision::of(read_head(table, view, at))
}

/// Returns the number of the first table that has a call at an index.
pub fn pick(tables: &CallTables, view: &View, at: usize) -> Result<u8, Decision> {
    for &number in &tables.order {
        match fits(tables.table(number), view, at) {
            Decision::Yes => return Ok(number),
            Decision::More => return Err(Decision::More),
            Decision::No => {}
        }
    }
    Err(Decision::No)
}

/// Returns the number of the table whose `begin` was the end of the opener, if its head follows directly.
pub fn pick_begun(tables: &CallTables, opener: u8, view: &View) -> Result<u8, Decision> {
    for &number in tables.begun_by(opener) {
        let table = tables.table(number);
        if matches!(table.body, BodyRule::Object(_)) {
            continue;
        }
        match fits_after_begin(table, view, 0, true) {
            Decision::Yes => return Ok(number),
            Decision::More => return Err(Decision::More),
            Decision::No => {}
        }
    }
    Err(Decision::No)
}

/// Returns whether the text begins with a body without opener. In such a body, an object is a call only if its first key is the
/// name.
pub fn begins_bare(tables: &CallTables, view: &View) -> Decision {
    tables.tables.iter().fold(Decision::No, |seen, table| seen.or(Decision::of(begins_bare_call(table, view))))
}

fn begins_bare_call(table: &CallTable, view: &View) -> Result<(), Decision> {
    let rule = match &table.body {
        BodyRule::Object(rule) if table.begin.is_empty() => rule,
        _ => return begins_after_blanks(table, view),
    };
    let at = after_type(view, first_key(view)?)? + 1;
    let mut seen = Decision::No;
    for name in &rule.names {
        let end = at + name.len();
        match view.literal(at, name).ok().and_then(|()| view.one_of(end, b"\"")) {
            Ok(()) => return view.skip_blanks(end + 1, MOST_BLANKS).and_then(|at| view.one_of(at, b":")),
            Err(other) => seen = seen.or(other),
        }
    }
    Err(seen)
}

/// Returns the index of the quote with which the first key of an object begins; the object may be in brackets.
fn first_key(view: &View) -> Result<usize, Decision> {
    let mut at = view.skip_blanks(0, MOST_BLANKS)?;
    if view.one_of(at, b"[").is_ok() {
        at = view.skip_blanks(at + 1, MOST_BLANKS)?;
    }
    view.one_of(at, b"{")?;
    at = view.skip_blanks(at + 1, MOST_BLANKS)?;
    view.one_of(at, b"\"").map(|()| at)
}

/// Returns the index of the quote after `"type": "function",`, or the index itself if it is not followed by this text.
fn after_type(view: &View, from: usize) -> Result<usize, Decision> {
    let mut at = from;
    for literal in [&b"\"type\""[..], b":", b"\"function\"", b","] {
        match view.literal(at, literal) {
            Decision::Yes => at = view.skip_blanks(at + literal.len(), MOST_BLANKS)?,
            Decision::More => return Err(Decision::More),
            Decision::No => return Ok(from),
        }
    }
    view.one_of(at, b"\"").map(|()| at)
}

/// Returns whether a body of calls begins here, so that the opener before it counts.
pub fn begins_body(tables: &CallTables, opener: u8, view: &View) -> Decision {
    let mut all = Decision::No;
    for (number, table) in tables.tables.iter().enumerate() {
        let seen = if tables.begun_by(opener).contains(&(number as u8)) {
            fits_after_begin(table, view, 0, true)
        } else {
            Decision::of(begins_after_blanks(table, view))
        };
        all = all.or(seen);
        if all == Decision::Yes {
            break;
        }
    }
    all
}

fn begins_after_blanks(table: &CallTable, view: &View) -> Result<(), Decision> {
    let at = view.skip_blanks(0, MOST_BLANKS)?;
    match &table.body {
        BodyRule::Object(_) if table.begin.is_empty() => first_key(view).map(|_| ()),
        BodyRule::Literal(rule) if rule.is_list => {
            view.one_of(at, b"[")?;
            let at = view.skip_blanks(at + 1, MOST_BLANKS)?;
            fits(table, view, at).ok()
        }
        _ => fits(table, view, at).ok(),
    }
}
