//! The texts by which a dialect is recognised in a chat template: the markers of its file, each with the framing around
//! it. The texts of all dialects are in one table, so that a template is searched only once for each.

use std::{collections::BTreeMap, sync::OnceLock};

use toml::Spanned;

use crate::channel::{Channel, Start};
use crate::dialect::{
    catalogue::{self, Family},
    schema::{Literal, Model, Place, Span, strings, text},
};
use crate::file_error;

/// A text of the table, by its index.
pub type NeedleId = usize;

/// All dialects of models, in the order of their names, and the table of their texts.
pub struct Catalogue {
    pub families: Vec<Signature>,
    pub table: Vec<Needle>,
    /// The openers of tool calls: first those of dialects of models that think, then those of all dialects.
    pub tools: [Vec<NeedleId>; 2],
}

/// A text of the table.
pub struct Needle {
    pub text: String,
    /// The text is the beginning of a tag, such as `<think`. It must not be followed by a letter, digit, `-` or `_`.
    pub is_tag: bool,
}

/// The texts by which one dialect is recognised.
pub struct Signature {
    pub name: &'static str,
    /// Whether models that call tools and do not think write this dialect.
    pub calls_alone: bool,
    pub thinking: Vec<MarkerPair>,
    pub tools: Vec<NeedleId>,
    pub wrappers: Vec<NeedleId>,
    /// Whether a wrapper of the answer ends the thinking, so that the family's templates have one.
    pub needs_wrapper: bool,
    /// The markers that begin, end and close a header, and its keys.
    pub header: Option<[Vec<NeedleId>; 4]>,
    pub turns: Vec<NeedleId>,
    /// Texts that only templates of this family have.
    pub own: Vec<String>,
    pub start: Start,
}

/// The markers of a thinking span, with the framing around them.
pub struct MarkerPair {
    pub open: Vec<NeedleId>,
    pub close: Vec<NeedleId>,
    pub after_open: Framing,
    pub before_close: Framing,
    pub after_close: Framing,
    /// Each opener with the framing before it. Empty if the dialect has no such framing.
    pub before_open: Vec<NeedleId>,
    /// Whether both markers are needed to recognise the dialect, because each alone is a word, or the beginning of a
    /// turn, that any template may have.
    pub both: bool,
}

/// The framing on one side of the markers.
pub struct Framing {
    pub text: String,
    /// Each marker with the framing, and with the framing and one more line break.
    pub with: Vec<[NeedleId; 2]>,
}

/// Returns the catalogue, which the first call makes.
pub fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(|| {
        let mut table = Table::default();
        let (mut families, mut tools) = (Vec::new(), [Vec::new(), Vec::new()]);
        for family in catalogue::families() {
            let signature = table.signature(&family);
            if family.thinks {
                tools[0].extend_from_slice(&signature.tools);
            }
            // Any template may write a code fence.
            let is_marker = |tool: &&NeedleId| !table.list[**tool].text.starts_with('`');
            tools[1].extend(signature.tools.iter().filter(is_marker));
            families.push(signature);
        }
        for tools in &mut tools {
            tools.sort_unstable();
            tools.dedup();
        }
        Catalogue { families, table: table.list, tools }
    })
}

#[derive(Default)]
struct Table {
    list: Vec<Needle>,
    known: BTreeMap<(String, bool), NeedleId>,
}

impl Table {
    fn add(&mut self, text: &str, is_tag: bool) -> NeedleId {
        let list = &mut self.list;
        *self.known.entry((text.to_string(), is_tag)).or_insert_with(|| {
            list.push(Needle { text: text.to_string(), is_tag });
            list.len() - 1
        })
    }

    fn all(&mut self, literals: &[Literal]) -> Vec<NeedleId> {
        strings(literals).iter().map(|literal| self.add(literal, false)).collect()
    }

    fn signature(&mut self, family: &Family) -> Signature {
        let model =
            file_error::read::<Model>(family.file).unwrap_or_else(|error| unreachable!("a built-in dialect: {error}"));
        let spans = |channel| model.spans.iter().map(Spanned::get_ref).filter(move |span| span.channel == channel);
        let header = model.header.as_ref().map(|header| {
            let header = header.get_ref();
            let keys: Vec<Literal> = header.keys.values().cloned().collect();
            [&header.begin, &header.end, &header.close, &keys].map(|literals| self.all(literals))
        });
        Signature {
            name: family.name,
            calls_alone: family.calls_alone,
            thinking: spans(Channel::Thinking).map(|span| self.pair(span, &model.turns)).collect(),
            tools: spans(Channel::Tool).flat_map(|span| self.openers(span)).collect(),
            wrappers: spans(Channel::Content).flat_map(|span| self.openers(span)).collect(),
            needs_wrapper: spans(Channel::Content).any(|span| span.ends.is_some()),
            header,
            turns: self.all(&model.turns),
            own: strings(&model.templates),
            start: model.start(),
        }
    }

    fn openers(&mut self, span: &Span) -> Vec<NeedleId> {
        opens(span).iter().map(|(open, is_tag)| self.add(open, *is_tag)).collect()
    }

    fn pair(&mut self, span: &Span, turns: &[Literal]) -> MarkerPair {
        let (opens, closes) = (opens(span), closes(span));
        let is_own = |(close, _): &(String, bool)| {
            close.starts_with(['<', '[']) && !turns.iter().any(|turn| close.contains(turn.get_ref()))
        };
        let before_open = text(&span.framing.before_open);
        let with_before = |(open, is_tag): &(String, bool)| self.add(&[before_open, open].concat(), *is_tag);
        let before_open = if before_open.is_empty() { vec![] } else { opens.iter().map(with_before).collect() };
        MarkerPair {
            open: opens.iter().map(|(open, is_tag)| self.add(open, *is_tag)).collect(),
            close: closes.iter().map(|(close, is_tag)| self.add(close, *is_tag)).collect(),
            after_open: self.framing(&opens, text(&span.framing.after_open), |open, line| [open, line].concat()),
            before_close: self.framing(&closes, text(&span.framing.before_close), |close, line| [line, close].concat()),
            after_close: self.framing(&closes, text(&span.framing.after_close), |close, line| [close, line].concat()),
            before_open,
            both: span.place == Place::Start && !closes.iter().all(is_own),
        }
    }

    fn framing(&mut self, markers: &[(String, bool)], text: &str, join: impl Fn(&str, &str) -> String) -> Framing {
        let longer = [text, "\n"].concat();
        let with = markers.iter().map(|(marker, is_tag)| {
            // The text of a tag lacks its end, so framing after the tag cannot be searched for: only without framing is the text
            // a tag.
            let alone = *is_tag && text.is_empty();
            [(text, alone), (&longer, false)].map(|(framing, is_tag)| self.add(&join(marker, framing), is_tag))
        });
        Framing { text: text.to_string(), with: with.collect() }
    }
}

/// Returns a span's openers, each with whether it is the beginning of a tag.
fn opens(span: &Span) -> Vec<(String, bool)> {
    let literals = span.open.iter().flatten().map(|open| (open.get_ref().clone(), false));
    let tags = span.tag.iter().flat_map(|tag| &tag.names).map(|name| (["<", name.get_ref()].concat(), true));
    literals.chain(tags).collect()
}

fn closes(span: &Span) -> Vec<(String, bool)> {
    let literals = span.close.iter().map(|close| (close.get_ref().clone(), false));
    let tags = span.tag.iter().flat_map(|tag| &tag.names).map(|name| (["</", name.get_ref()].concat(), true));
    literals.chain(tags).collect()
}
