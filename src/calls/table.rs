//! The compiled form of a `[[span.call]]` of a dialect file: data that describes how calls are written in a span. This file does
//! not read streams.

use crate::matcher::{
    bytes::{ByteSet, insert},
    grammar::PatternSet,
};

/// The maximum number of bytes of an id, a key or a type, and of a name.
pub const MOST_OF_WORD: usize = 256;
pub const MOST_OF_NAME: usize = 128;
/// The maximum number of blanks where blanks are allowed in or before a head.
pub const MOST_BLANKS: usize = 16;

/// The maximum number of blanks after the end of a value and before the text that confirms it; of bytes of a key in that text; of
/// letters before the `>` of a misspelt closer.
pub const MOST_BLANKS_AFTER: usize = 64;
pub const MOST_OF_PLAIN_KEY: usize = 128;
pub const MOST_LETTERS: usize = 24;

/// The opener of a value whose content is not parsed.
pub const CDATA: &[u8] = b"<![CDATA[";
pub const CDATA_END: &[u8] = b"]]>";

/// A literal of a table. An empty literal means that the table has none.
pub type Literal = Box<[u8]>;

/// The tables of a span, in the order of the file.
pub struct CallTables {
    pub tables: Vec<CallTable>,
    /// The numbers of the tables in the order in which they are tried: longer `begin` first; if equal, tables that need an
    /// object first.
    pub order: Vec<u8>,
    /// For each opener of the span, the tables whose `begin` is its end, so that the opener also begins the first call.
    pub begun: Vec<Vec<u8>>,
    /// Every `begin`, and every literal that is framing between calls; longer ones first.
    pub begins: Vec<Literal>,
    pub skips: Vec<Literal>,
    /// The closers of the region, as the file writes them, and the literals that begin text outside it: openers of tool spans,
    /// and beginnings of headers.
    pub closes: Vec<Literal>,
    pub outside: Vec<Literal>,
    /// The literals that end an answer: markers that are dropped, and closers of its message.
    pub dropped: Vec<Literal>,
    /// Bytes that are framing between calls.
    pub between: ByteSet,
    /// Whether an opener in the content counts only if a call begins after it. In the thinking, every opener needs a call after it.
    pub is_sure: bool,
    /// The patterns that end the region; those that end it only at the beginning of the body; and beginnings of headers that
    /// end it.
    pub closers: PatternSet,
    pub first_closers: PatternSet,
    pub header_begins: Vec<Literal>,
    /// Whether the beginnings of headers count only as special tokens, if the host distinguishes these.
    pub has_special_header: bool,
}

impl CallTables {
    /// Returns the tables of a span with these openers.
    pub fn new<'a>(
        mut tables: Vec<CallTable>,
        around: Around,
        openers: impl IntoIterator<Item = &'a [u8]>,
        skips: impl IntoIterator<Item = Literal>,
        between: &[u8],
        is_sure: bool,
    ) -> CallTables {
        let is_other = |table: &&CallTable| matches!(table.body, BodyRule::Tags(_) | BodyRule::Literal(_));
        let others: Vec<Literal> = tables.iter().filter(is_other).map(|table| table.begin.clone()).collect();
        for table in &mut tables {
            match &mut table.body {
                BodyRule::Tags(rule) => {
                    rule.find_ends(if table.end.is_empty() {
                        &around.closes
                    } else {
                        std::slice::from_ref(&table.end)
                    });
                }
                BodyRule::Json => table.head.needs_object = others.contains(&table.begin),
                _ => {}
            }
        }
        let mut order: Vec<u8> = (0..tables.len() as u8).collect();
        order.sort_by_key(|&at| {
            let table = &tables[usize::from(at)];
            std::cmp::Reverse((table.begin.len(), table.head.needs_object))
        });
        let begun = |opener: &[u8]| {
            let of_table = |table: &CallTable| !table.begin.is_empty() && opener.ends_with(&table.begin);
            order.iter().copied().filter(|&at| of_table(&tables[usize::from(at)])).collect()
        };
        let begun = openers.into_iter().map(begun).collect();
        let begins = longest_first(tables.iter().map(|table| table.begin.clone()));
        let mut set = [0; 4];
        between.iter().for_each(|&byte| insert(&mut set, byte));
        CallTables {
            order,
            begun,
            skips: longest_first(skips),
            outside: longest_first(around.outside),
            dropped: longest_first(around.dropped),
            closes: around.closes,
            begins,
            between: set,
            is_sure,
            closers: 0,
            first_closers: 0,
            header_begins: Vec::new(),
            has_special_header: false,
            tables,
        }
    }

    /// Returns the maximum number of bytes that may be held until their role is decided: those of an opener of this length with
    /// the head of a call, or of a word with the literal that ends it.
    pub fn max_hold(&self, opener: usize) -> usize {
        let of_table = |table: &CallTable| {
            let head = table.head.max_len(&table.body);
            let begin = opener + MOST_BLANKS + table.begin.len().max(3 + 2 * MOST_BLANKS) + head;
            let word = match &table.body {
                BodyRule::Object(_) | BodyRule::Json => MOST_OF_WORD + 2,
                BodyRule::Tags(rule) => {
                    (rule.longest_end() + MOST_OF_WORD).max(self.hold_of_value(table, rule, opener))
                }
                BodyRule::Literal(rule) => rule.raw_quote.len().max(1) + MOST_OF_WORD,
            };
            begin.max(word).max(table.end.len())
        };
        let skip = self.skips.first().map_or(0, |skip| skip.len());
        self.tables.iter().map(of_table).max().unwrap_or(0).max(skip).max(self.hold_of_closer(opener))
    }

    /// Returns the maximum number of bytes that may be held until it is decided whether a closer is the last. `closer` is the
    /// length of the longest closer.
    fn hold_of_closer(&self, closer: usize) -> usize {
        let after = longest(&self.outside).max(longest(&self.dropped) + MOST_BLANKS_AFTER);
        closer.max(longest(&self.closes)) + MOST_BLANKS_AFTER + after
    }

    /// Returns the maximum number of bytes that may be held until it is decided whether a value ends. `closer` is the length of
    /// the longest closer.
    fn hold_of_value(&self, table: &CallTable, rule: &TagsRule, closer: usize) -> usize {
        let pair = |[open, close]: &[Literal; 2]| open.len() + MOST_OF_WORD + close.len() + MOST_BLANKS_AFTER;
        let call = (longest(&self.skips) + MOST_BLANKS_AFTER + self.hold_of_closer(closer)).max(longest(&self.begins));
        let end = table.end.len() + MOST_BLANKS_AFTER + call;
        let key = pair(&rule.key) + rule.kind.as_ref().map_or(0, pair) + rule.value[0].len();
        let over = end.max(call).max(key);
        let again = rule.value[1].len() + MOST_BLANKS_AFTER;
        let misspelt = (rule.value[1].len() + MOST_LETTERS).max(MOST_OF_PLAIN_KEY + 3) + MOST_BLANKS_AFTER;
        rule.before_close.len().max(1) + (2 * again).max(misspelt) + over
    }

    pub fn table(&self, number: u8) -> &CallTable {
        &self.tables[usize::from(number)]
    }

    /// Returns whether values may be nested elements.
    pub fn has_elements(&self) -> bool {
        self.tables.iter().any(|table| matches!(&table.body, BodyRule::Tags(rule) if rule.nested.is_some()))
    }

    /// Returns the table, with its number, whose calls have their name in a field of the header.
    pub fn named_by_header(&self) -> Option<(u8, &CallTable)> {
        let is_named = |(_, table): &(u8, &CallTable)| table.head.name_from.is_some();
        (0..).zip(&self.tables).find(is_named)
    }

    /// Returns the tables whose `begin` is the end of the opener with this number.
    pub fn begun_by(&self, opener: u8) -> &[u8] {
        self.begun.get(usize::from(opener)).map_or(&[], Vec::as_slice)
    }
}

fn longest(literals: &[Literal]) -> usize {
    literals.iter().map(|literal| literal.len()).max().unwrap_or(0)
}

fn longest_first(literals: impl IntoIterator<Item = Literal>) -> Vec<Literal> {
    let mut literals: Vec<Literal> = literals.into_iter().filter(|literal| !literal.is_empty()).collect();
    literals.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    literals.dedup();
    literals
}

/// The literals around the calls of a span, with the same meaning as the fields of [`CallTables`].
#[derive(Default)]
pub struct Around {
    pub closes: Vec<Literal>,
    pub outside: Vec<Literal>,
    pub dropped: Vec<Literal>,
}

/// One way in which calls are written.
pub struct CallTable {
    pub body: BodyRule,
    /// The literal that begins a call; empty without such a literal.
    pub begin: Literal,
    /// The literal that ends a call; empty without such a literal.
    pub end: Literal,
    pub head: HeadRule,
    /// Whether a call's name may have a namespace before the tool's name, separated by a dot.
    pub namespace: bool,
    /// Whether the calls have no markers around them, so that only their form shows that they are calls.
    pub is_bare: bool,
    /// Whether calls of this form are only read, and neither written nor offered to a model.
    pub is_lenient: bool,
    /// Whether the calls are written in a list in brackets.
    pub is_list: bool,
    /// The text that is written between two calls of a region; `None` if only tables of other kinds need one.
    pub separator: Option<Literal>,
}

/// The text between `begin` and the arguments. Calls that are JSON objects have no head.
#[derive(Default)]
pub struct HeadRule {
    /// The literals that end the name and belong to the head, longer ones first.
    pub name_ends: Vec<Literal>,
    /// The literal that ends the head. The text before it is framing.
    pub end: Literal,
    /// Prefixes of names. The first one that fits is removed.
    pub prefixes: Vec<Literal>,
    /// Whether a head whose name has no prefix is not a call.
    pub needs_prefix: bool,
    /// The text at the end of the name's word that is not part of the name. A word without this text is not a call.
    pub suffix: Literal,
    /// Whether a call begins only if an object follows the head, because calls of another table begin in the same way.
    pub needs_object: bool,
    /// Whether the whole head is the id. A colon with digits at its end is then not part of the name.
    pub is_id: bool,
    /// If not empty, the head begins with the id, up to this literal.
    pub id_end: Literal,
    /// If not empty, an id may be between this literal and `id_close`, the first of the file's `name_end`.
    pub id_begin: Literal,
    pub id_close: Literal,
    /// The field of the header that has the name.
    pub name_from: Option<Box<str>>,
}

impl HeadRule {
    /// Returns the length of the prefix to remove from this value of a header's field, or `None` if the value does not name a
    /// call.
    pub fn prefix_len(&self, value: &[u8]) -> Option<usize> {
        let prefix = self.prefixes.iter().find(|prefix| value.starts_with(prefix));
        let is_call = !value.is_empty() && (prefix.is_some() || !self.needs_prefix);
        is_call.then(|| prefix.map_or(0, |prefix| prefix.len()))
    }

    /// Returns the length of the longest head.
    fn max_len(&self, body: &BodyRule) -> usize {
        if matches!(body, BodyRule::Object(_)) {
            return 0;
        }
        let word = |literal: &Literal| if literal.is_empty() { 0 } else { MOST_OF_WORD + literal.len() };
        let name_end = self.name_ends.first().map_or(1, |end| end.len());
        let id = if self.id_begin.is_empty() { 0 } else { self.id_begin.len() + MOST_OF_WORD };
        let object = if self.needs_object { MOST_BLANKS + 1 } else { 0 };
        word(&self.id_end) + MOST_BLANKS + MOST_OF_NAME + MOST_BLANKS + id + name_end + word(&self.end) + object
    }
}

/// The form in which a call is written.
pub enum BodyRule {
    /// A JSON object whose members are name and arguments.
    Object(ObjectRule),
    /// A head, then one JSON object.
    Json,
    /// A head, then keys and values between markers.
    Tags(TagsRule),
    /// A name, then keys and values in brackets.
    Literal(LiteralRule),
}

pub struct ObjectRule {
    pub names: Vec<Literal>,
    pub arguments: Vec<Literal>,
    pub ids: Vec<Literal>,
    /// Whether models write an id.
    pub writes_id: bool,
    /// Whether the object has one member, whose key is the name and whose value is the arguments.
    pub key_is_name: bool,
}

pub struct TagsRule {
    pub key: [Literal; 2],
    /// The opener and closer of a value. With an empty opener, the value begins at once.
    pub value: [Literal; 2],
    /// The texts around the word for a value's type, which may be between key and value.
    pub kind: Option<[Literal; 2]>,
    /// The meaning of such words: JSON's names of types, or `json` for an unknown type.
    pub kind_words: Vec<(Box<str>, Box<str>)>,
    /// Fixed text at the beginning and end of a value, which is framing.
    pub after_open: Literal,
    pub before_close: Literal,
    /// Whether a value that begins with `<![CDATA[` ends at `]]>` and its closer.
    pub has_cdata: bool,
    /// Whether a line that begins with a key ends a value without its closer.
    pub recovers: bool,
    /// If set, values are nested elements, all of whose markers begin with this literal.
    pub nested: Option<Literal>,
    /// Whether values whose type is unknown are strings.
    pub unknown_is_string: bool,
    /// The beginnings of all texts that may end a value: its closer, the end of the call, a closer with the name of the key,
    /// and the next key if `recovers`.
    pub ends: Vec<Literal>,
    /// The first bytes of these beginnings.
    pub first_of_ends: Vec<u8>,
}

impl TagsRule {
    /// Finds the beginnings of all texts that may end a value. `over` are the literals that end the call.
    fn find_ends(&mut self, over: &[Literal]) {
        let closer = self.value[1].strip_suffix(b">").filter(|stem| !stem.is_empty()).unwrap_or(&self.value[1]);
        let ends = [closer, b"</"].into_iter().chain(over.iter().map(|end| &end[..]));
        self.ends = ends.chain(self.recovers.then_some(&self.key[0][..])).map(Literal::from).collect();
        self.first_of_ends = self.ends.iter().filter_map(|end| end.first().copied()).collect();
        self.first_of_ends.sort_unstable();
        self.first_of_ends.dedup();
    }

    /// Returns the index of the first byte that may begin the end of a value.
    pub fn next_end(&self, text: &[u8]) -> Option<usize> {
        match self.first_of_ends[..] {
            [one] => memchr::memchr(one, text),
            [one, two] => memchr::memchr2(one, two, text),
            [one, two, three] => memchr::memchr3(one, two, three, text),
            _ => text.iter().position(|byte| self.first_of_ends.contains(byte)),
        }
    }

    /// Returns the number of bytes at the end of a value that are framing if the value ends there, or if the rest of the framing
    /// follows.
    pub fn framing_before(&self, text: &[u8]) -> usize {
        let before = &self.before_close;
        let framing = (1..=before.len().min(text.len())).rev().find(|&len| text.ends_with(&before[..len]));
        framing.unwrap_or_else(|| usize::from(text.ends_with(b"\n")))
    }

    /// Returns the length of the longest literal, or sequence of literals, with which a part of a call ends.
    fn longest_end(&self) -> usize {
        let kind = self.kind.as_ref().map_or(0, |kind| kind[0].len().max(kind[1].len()));
        let value = CDATA_END.len().max(self.before_close.len()) + self.value[1].len();
        let begin = self.value[0].len().max(CDATA.len()).max(self.after_open.len());
        self.key[0].len().max(self.key[1].len()).max(kind).max(value).max(begin)
    }
}

pub struct LiteralRule {
    pub open: u8,
    pub close: u8,
    pub assign: u8,
    /// Whether the calls are in a list in brackets.
    pub is_list: bool,
    /// Whether models write keys in the order of their names.
    pub is_sorted: bool,
    /// The quote before and after a string, which is verbatim between both. If empty, strings are quoted and escaped as usual.
    pub raw_quote: Literal,
}
