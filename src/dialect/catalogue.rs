//! The built-in dialects, each of which is compiled when it is first used.
//!
//! Only compiling allocates memory. Look-ups and errors do not, so a host that has compiled its dialects at its start can look
//! them up even when memory has run out.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use super::{
    Channel, Start, compile,
    compiled::Compiled,
    model_names::{self, FamilyDistance, Model, Pattern},
    model_search::{self, Fitting, MOST_NAMED},
    model_table::{Edge, Known, Leaf, State, Stop, Table},
};
use crate::distance::{distance, near};

/// A built-in dialect file: its name, its aliases, its start, the models that write it, and its text up to the first example
/// (`build.rs` writes the table).
struct Entry {
    name: &'static str,
    #[cfg(feature = "c-api")]
    c_name: &'static std::ffi::CStr,
    aliases: &'static [&'static str],
    start: Start,
    models: &'static [Pattern],
    text: &'static str,
    compiled: OnceLock<Arc<Compiled>>,
}

include!(concat!(env!("OUT_DIR"), "/dialects.rs"));

/// The number of 64-bit words for one bit of each model pattern.
const WORDS: usize = PATTERNS.div_ceil(64);

/// The number of dialects.
#[cfg(feature = "c-api")]
pub const COUNT: usize = ENTRIES.len();

pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name)
}

/// Returns the name of each dialect, its start and its aliases.
pub fn listed() -> impl Iterator<Item = (&'static str, Start, &'static [&'static str])> {
    ENTRIES.iter().map(|entry| (entry.name, entry.start, entry.aliases))
}

/// Returns the model names of all dialects, except patterns with a `*`.
pub fn models() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().flat_map(|entry| entry.models).map(|pattern| pattern.text).filter(|text| !text.contains('*'))
}

/// Returns the name of a dialect, by its index in `names`.
#[cfg(feature = "c-api")]
pub fn c_name(index: usize) -> Option<&'static std::ffi::CStr> {
    ENTRIES.get(index).map(|entry| entry.c_name)
}

/// Returns the start of a dialect according to its file.
#[cfg(feature = "c-api")]
pub fn start(index: usize) -> Start {
    ENTRIES[index].start
}

/// Returns the starts that this dialect may have when it is found by a model's name.
#[cfg(feature = "c-api")]
pub fn starts(index: usize) -> impl Iterator<Item = Start> {
    let all = |entry: &'static Entry| entry.models.iter().map(|pattern| pattern.start.unwrap_or(entry.start));
    let starts = ENTRIES.get(index).into_iter().flat_map(all);
    // A part of the model's name may say that the model does not think.
    let thinks = starts.clone().any(|start| start == Start::Channel(Channel::Thinking));
    starts.chain(thinks.then_some(Start::Channel(Channel::Content)))
}

/// Returns the index in `names` of a dialect, by its name or an alias.
pub fn find(name: &[u8]) -> Result<usize, UnknownDialect> {
    let is_named =
        |entry: &Entry| entry.name.as_bytes() == name || entry.aliases.iter().any(|alias| alias.as_bytes() == name);
    ENTRIES.iter().position(is_named).ok_or_else(|| UnknownDialect::new(name))
}

/// Returns the dialect with this index in `names`.
pub fn compiled(place: usize) -> &'static Arc<Compiled> {
    let entry = &ENTRIES[place];
    entry.compiled.get_or_init(|| {
        let compiled = compile::from_toml(entry.text, true);
        Arc::new(compiled.unwrap_or_else(|error| unreachable!("built-in {}: {error}", entry.name)))
    })
}

/// Returns the index in `names` of the dialect that a model writes, and the start for this model according to the dialect's
/// file.
pub fn find_for_model(model: &[u8]) -> Result<(usize, Option<Start>), UnknownModel> {
    match choose(&ENTRIES, &MODELS, model) {
        Ok((place, start)) => Ok((place, start_of_name(place, start, model))),
        Err(error) if error.count == 0 => dialect_of_calls(model).map(|place| (place, None)).ok_or(error),
        Err(error) => Err(error),
    }
}

/// Returns the start of a model's stream: `start`, or the content if the name shows that the model does not think.
fn start_of_name(place: usize, start: Option<Start>, name: &[u8]) -> Option<Start> {
    match start.unwrap_or(ENTRIES[place].start) {
        Start::Channel(Channel::Thinking) if matches!(fitting(&NAMES_WITHOUT, name), Fitting::One(_)) => {
            Some(Start::Channel(Channel::Content))
        }
        _ => start,
    }
}

/// Returns the index of the dialect of a model that writes calls and no thinking.
#[cold]
fn dialect_of_calls(name: &[u8]) -> Option<usize> {
    match fitting(&CALLS_ALONE, name) {
        Fitting::One(Known { text, dialect, .. }) => {
            model_names::begins(text, &Model::new(name)?).then_some(dialect.into())
        }
        _ => None,
    }
}

/// Returns the patterns of a table that fit a name best. A name that is too long never fits.
fn fitting<'a>(table: &Table<'a>, name: &[u8]) -> Fitting<'a> {
    Model::new(name).map_or(Fitting::None, |model| model_search::find::<WORDS>(table, &model))
}

/// Returns the index of the entry with the pattern that fits best, and the start of that pattern.
#[inline(always)]
fn choose(entries: &[Entry], models: &Table<'_>, name: &[u8]) -> Result<(usize, Option<Start>), UnknownModel> {
    let candidates = match fitting(models, name) {
        Fitting::One(Known { dialect, number, .. }) => {
            let dialect = usize::from(dialect);
            return Ok((dialect, entries[dialect].models[usize::from(number)].start));
        }
        Fitting::Several(dialects) => dialects,
        Fitting::None => [None; MOST_NAMED],
    };
    let mut error = UnknownModel::new(name);
    for dialect in candidates.into_iter().flatten() {
        error.candidates[usize::from(error.count)] = entries[usize::from(dialect)].name;
        error.count += 1;
    }
    Err(error)
}

/// A built-in dialect that some models write.
pub struct Family {
    pub name: &'static str,
    /// The dialect's file up to the first example.
    pub file: &'static str,
    /// Whether models that think write this dialect.
    pub thinks: bool,
    /// Whether models that call tools and do not think write this dialect.
    pub calls_alone: bool,
}

/// Returns the built-in dialects that some models write.
pub fn families() -> impl Iterator<Item = Family> {
    let families = ENTRIES.iter().enumerate().map(|(place, entry)| Family {
        name: entry.name,
        file: entry.text,
        thinks: !entry.models.is_empty(),
        calls_alone: CALLS_ALONE.patterns.iter().any(|known| usize::from(known.dialect) == place),
    });
    families.filter(|family| family.thinks || family.calls_alone)
}

/// The error for a model for which no built-in dialect is known, or more than one.
///
/// ```
/// let error = aside::Dialect::find_for_model("qwen3.9-32b").unwrap_err();
/// assert!(error.candidates().is_empty() && !error.writes_no_thinking());
/// assert_eq!(error.nearest().next().unwrap().model, "qwen3.8");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownModel {
    requested: RequestedName,
    candidates: [&'static str; MOST_NAMED],
    count: u8,
}

/// Known models whose names are near an unknown name, as [`UnknownModel::nearest`] returns them.
///
/// ```
/// let error = aside::Dialect::find_for_model("qwen3.9-32b").unwrap_err();
/// for known in error.nearest() {
///     println!("{} writes {}", known.model, known.dialect);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownModel {
    /// The pattern of the models' names, from `models` in the dialect's file.
    pub model: &'static str,
    /// The dialect of these models.
    pub dialect: &'static str,
    /// Whether these models are an earlier release than the requested one, whose name has a higher number.
    pub is_elder: bool,
}

impl UnknownModel {
    fn new(name: &[u8]) -> UnknownModel {
        UnknownModel { requested: RequestedName::new(last_part(name)), candidates: [""; MOST_NAMED], count: 0 }
    }

    /// Returns the dialects that fit equally well, in alphabetical order and at most three. The list is empty if the model is not
    /// known.
    #[must_use]
    pub fn candidates(&self) -> &[&'static str] {
        &self.candidates[..usize::from(self.count)]
    }

    /// Returns the known models with the nearest names, the nearest first: at most two, of different dialects. They belong to the
    /// unknown model's family, or its name may be a misspelling of theirs. The unknown model may write different markers.
    ///
    /// ```
    /// let error = aside::Dialect::find_for_model("qwen3.9-max").unwrap_err();
    /// let known = error.nearest().next().unwrap();
    /// assert_eq!((known.model, known.dialect, known.is_elder), ("qwen3.8", "qwen3-thinking", true));
    /// ```
    pub fn nearest(&self) -> impl Iterator<Item = KnownModel> + use<> {
        let model = Model::new(self.requested.bytes());
        model.map_or([None; 2], |model| nearest(&ENTRIES, &model)).into_iter().flatten()
    }

    /// Returns whether the model is known to write no thinking into its text. In that case, do not split its text, or use the
    /// dialect `any`.
    ///
    /// ```
    /// assert!(aside::Dialect::find_for_model("openai/gpt-4o").unwrap_err().writes_no_thinking());
    /// ```
    #[must_use]
    pub fn writes_no_thinking(&self) -> bool {
        let model = Model::new(self.requested.bytes());
        model.is_some_and(|model| WITHOUT_THINKING.iter().any(|pattern| model_names::begins(pattern, &model)))
    }
}

impl fmt::Display for UnknownModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requested = &self.requested;
        if self.count > 0 {
            return write!(f, "the model {requested} fits several dialects: {}", CommaList(self.candidates()));
        }
        if self.writes_no_thinking() {
            return write!(
                f,
                "{requested} is known to write no thinking in its text, and no dialect of its tool calls is known: pass it on \
                 unsplit, or use the dialect `any`"
            );
        }
        write!(f, "no dialect is known for {requested}; ")?;
        for KnownModel { model, dialect, is_elder } in self.nearest() {
            match is_elder {
                true => write!(f, "its elder {model} writes {dialect}; ")?,
                false => write!(f, "a similar name, {model}, belongs to the dialect {dialect}; ")?,
            }
        }
        f.write_str("use its chat template, the dialect `any`, or a dialect file")
    }
}

impl fmt::Debug for UnknownModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnknownModel")
            .field("model", &self.requested.as_str())
            .field("candidates", &self.candidates())
            .finish()
    }
}

impl std::error::Error for UnknownModel {}

/// The distance of a name from a pattern: within the same family, or otherwise in edits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    Kin(FamilyDistance),
    Edits(usize),
}

/// Returns the two nearest patterns, of different dialects.
fn nearest(entries: &[Entry], model: &Model) -> [Option<KnownModel>; 2] {
    let mut nearest: [Option<(Distance, KnownModel)>; 2] = [None; 2];
    for entry in entries {
        for pattern in entry.models {
            let kin = model_names::distance(pattern.text, model).map(Distance::Kin);
            let Some(near) = kin.or_else(|| misspelt(pattern.text, model.last.bytes())) else { continue };
            let is_elder = matches!(near, Distance::Kin(distance) if distance.is_elder());
            let found = (near, KnownModel { model: pattern.text, dialect: entry.name, is_elder });
            // Only the nearest pattern of each dialect is kept.
            let of_same = nearest.iter().position(|known| known.is_some_and(|(_, known)| known.dialect == entry.name));
            match of_same {
                Some(at) if nearest[at].is_some_and(|(other, _)| near < other) => nearest[at] = Some(found),
                Some(_) => {}
                None if nearest[1].is_none_or(|(other, _)| near < other) => nearest[1] = Some(found),
                None => {}
            }
            if nearest[0].is_none_or(|(first, _)| nearest[1].is_some_and(|(second, _)| second < first)) {
                nearest.swap(0, 1);
            }
        }
    }
    // If a pattern of the same family is known, misspellings of other names are not reported.
    let is_kin = matches!(nearest[0], Some((Distance::Kin(_), _)));
    nearest.map(|known| known.filter(|(near, _)| !is_kin || matches!(near, Distance::Kin(_))).map(|(_, known)| known))
}

/// Returns the number of edits between the pattern and whole words at the beginning of a name, if it is at most one in four
/// bytes.
fn misspelt(pattern: &str, name: &[u8]) -> Option<Distance> {
    if pattern.contains('*') {
        return None;
    }
    let rest = name.get(pattern.len()..).unwrap_or_default();
    let rest_of_word = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let begin = &name[..name.len() - rest.len() + rest_of_word];
    if begin.first().map(u8::to_ascii_lowercase) != pattern.bytes().next() {
        return None;
    }
    let edits = distance(begin, pattern.as_bytes());
    (edits <= pattern.len() / 4).then_some(Distance::Edits(edits))
}

/// The error for a name that no built-in dialect has.
///
/// ```
/// let error = aside::Dialect::find("qwen-3").unwrap_err();
/// assert!(error.nearest().contains(&"qwen3"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownDialect {
    requested: RequestedName,
    // The nearest names; empty texts if fewer are near.
    nearest: [&'static str; MOST_NAMED],
}

impl UnknownDialect {
    fn new(name: &[u8]) -> UnknownDialect {
        let mut nearest = [(usize::MAX, ""); MOST_NAMED];
        for known in ENTRIES.iter().flat_map(|entry| std::iter::once(&entry.name).chain(entry.aliases)) {
            let Some(rank) = near(name, known.as_bytes()) else { continue };
            let found = (rank, *known);
            let at = nearest.partition_point(|other| *other < found);
            if at < MOST_NAMED {
                nearest[at..].rotate_right(1);
                nearest[at] = found;
            }
        }
        UnknownDialect { requested: RequestedName::new(name), nearest: nearest.map(|(_, known)| known) }
    }

    /// Returns the nearest names, the nearest first: at most three, and none if no name is near.
    #[must_use]
    pub fn nearest(&self) -> &[&'static str] {
        let count = self.nearest.iter().take_while(|known| !known.is_empty()).count();
        &self.nearest[..count]
    }
}

impl fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no dialect {}", self.requested)?;
        match self.nearest() {
            [] => f.write_str(", and none with a name like it"),
            [one] => write!(f, "; the nearest is {one}"),
            several => write!(f, "; the nearest are {}", CommaList(several)),
        }
    }
}

impl fmt::Debug for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnknownDialect")
            .field("name", &self.requested.as_str())
            .field("nearest", &self.nearest())
            .finish()
    }
}

impl std::error::Error for UnknownDialect {}

/// A requested name in an error. Its first bytes are stored in place, so that an error needs no allocation. Printed between
/// backticks.
#[derive(Clone, PartialEq, Eq)]
struct RequestedName {
    bytes: [u8; RequestedName::MOST],
    len: u8,
    is_cut: bool,
}

impl RequestedName {
    const MOST: usize = 62;

    fn new(name: &[u8]) -> RequestedName {
        let mut requested = RequestedName { bytes: [0; RequestedName::MOST], len: 0, is_cut: false };
        for chunk in name.utf8_chunks() {
            requested.push(chunk.valid());
            if !chunk.invalid().is_empty() {
                requested.push("\u{fffd}");
            }
            if requested.is_cut {
                break;
            }
        }
        requested
    }

    /// Appends the characters of a text up to the first that does not fit; from then on, nothing is appended.
    fn push(&mut self, text: &str) {
        let len = usize::from(self.len);
        let room = if self.is_cut { 0 } else { RequestedName::MOST - len };
        let fits = (0..=text.len().min(room)).rfind(|&at| text.is_char_boundary(at)).unwrap_or(0);
        self.bytes[len..len + fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.len += fits as u8;
        self.is_cut |= fits < text.len();
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    fn as_str(&self) -> &str {
        // Only whole characters were appended.
        std::str::from_utf8(self.bytes()).unwrap_or_default()
    }
}

impl fmt::Display for RequestedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}{}`", self.as_str().escape_debug(), if self.is_cut { "…" } else { "" })
    }
}

/// Returns the last part of a name that is too long for an error, or the whole name if it is short.
fn last_part(name: &[u8]) -> &[u8] {
    let trimmed = name.trim_ascii_end();
    let slash = trimmed.iter().rposition(|byte| matches!(byte, b'/' | b'\\'));
    match slash {
        Some(slash) if name.len() > RequestedName::MOST && slash + 1 < name.len() => &name[slash + 1..],
        _ => name,
    }
}

/// Writes names with commas between them.
struct CommaList<'a>(&'a [&'a str]);

impl fmt::Display for CommaList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{model_names::PatternMatch, model_table::Builder};
    use crate::distance::LONGEST;

    macro_rules! entry {
        ($name:literal: $($pattern:expr),+) => {
            Entry {
                name: $name,
                #[cfg(feature = "c-api")]
                c_name: c"",
                aliases: &[],
                start: Start::Channel(Channel::Content),
                models: const { &[$(pattern($pattern)),+] },
                text: "",
                compiled: OnceLock::new(),
            }
        };
    }

    fn builder(entries: &[Entry]) -> Builder<'static> {
        Builder::new(entries.iter().map(|entry| entry.models.iter().map(|pattern| pattern.text)))
    }

    const fn pattern(text: &'static str) -> Pattern {
        Pattern { text, start: None }
    }

    #[test]
    fn models_that_fit_two_dialects_as_well_are_refused_by_name() {
        let entries = [entry!("a": "one-*x-two", "one"), entry!("b": "one-x-*two"), entry!("c": "two")];
        let builder = builder(&entries);
        let chosen =
            |model: &str| choose(&entries, &builder.table(), model.as_bytes()).map(|(place, _)| entries[place].name);
        assert_eq!(chosen("one"), Ok("a"));
        assert_eq!(chosen("two-one"), Ok("c"));
        assert_eq!(chosen("one-two"), Ok("a"));
        let error = chosen("one-x-two-y").unwrap_err();
        assert_eq!(error.candidates(), ["a", "b"]);
        assert_eq!(error.to_string(), "the model `one-x-two-y` fits several dialects: a, b");
    }

    /// Compares each pattern with the name, one after the other.
    fn slowly(name: &str) -> Result<(usize, Option<Start>), Vec<&'static str>> {
        let model = Model::new(name.as_bytes()).unwrap();
        let all =
            || ENTRIES.iter().enumerate().flat_map(|(place, entry)| entry.models.iter().map(move |it| (place, it)));
        let matches: Vec<_> = all().map(|(place, it)| (model_names::fit(it.text, &model), place, it.start)).collect();
        let rank = |found: &PatternMatch| match found {
            PatternMatch::Fits(rank) => Some(*rank),
            _ => None,
        };
        let later = matches.iter().filter_map(|(found, ..)| match found {
            PatternMatch::Later(place) => Some(*place),
            _ => None,
        });
        let Some(best) = matches.iter().filter_map(|(found, ..)| rank(found)).max() else { return Err(Vec::new()) };
        if later.min().is_some_and(|later| best.0.0 > later) {
            return Err(Vec::new());
        }
        let mut fitting = matches.iter().filter(|(found, ..)| rank(found) == Some(best));
        let mut names: Vec<_> = fitting.clone().map(|(_, place, _)| ENTRIES[*place].name).collect();
        names.dedup();
        match (fitting.next(), names.len()) {
            (Some((_, place, start)), 1) => Ok((*place, *start)),
            _ => Err(names),
        }
    }

    #[test]
    fn the_table_finds_what_the_patterns_say_one_by_one() {
        let check = |name: &str| {
            let found = choose(&ENTRIES, &MODELS, name.as_bytes()).map_err(|error| error.candidates().to_vec());
            let wanted = slowly(name).map_err(|names| names[..names.len().min(MOST_NAMED)].to_vec());
            assert_eq!(found, wanted, "{name}");
        };
        let names = include_str!("../../tests/field/names.tsv").lines().filter_map(|row| row.split('\t').next());
        names.for_each(check);
        // Names that consist of parts of patterns with separators between them.
        let pieces: Vec<&str> =
            ENTRIES.iter().flat_map(|entry| entry.models).flat_map(|it| it.text.split('*')).collect();
        let between = ["-", "", "/", ".5", "-5", "3", "p1", "_", ":", "-8b", "x", "-0.6b", "\\", "-2507", "-v3.2"];
        let mut random = samples::Random::new(9);
        for _ in 0..100_000 {
            let mut name = String::new();
            for _ in 0..1 + random.below(4) {
                let piece = pieces[random.below(pieces.len())];
                let cut = if random.below(4) == 0 { random.below(piece.len() + 1) } else { piece.len() };
                name += &piece[..cut];
                name += between[random.below(between.len())];
            }
            if random.one_in(3) {
                name.make_ascii_uppercase();
            }
            check(&name);
        }
    }

    #[test]
    fn the_best_pattern_says_the_start() {
        let thinking = Some(Start::Channel(Channel::Thinking));
        let mut entries = [entry!("a": "one-2", "one-2.5", "one-2")];
        entries[0].models =
            const { &[pattern("one-2"), Pattern { text: "one-2.5", start: Some(Start::Channel(Channel::Thinking)) }] };
        let builder = builder(&entries);
        let start = |model: &str| choose(&entries, &builder.table(), model.as_bytes()).map(|(_, start)| start);
        assert_eq!((start("one2"), start("x/one-2-5-fp8")), (Ok(None), Ok(thinking)));
        // An unknown release stays unknown, even if it was trained on a known release.
        assert!(start("one-2.9-distill-one-2.5").is_err());
    }

    #[test]
    fn the_nearest_are_of_the_family_by_number_or_else_misspelt() {
        let entries =
            [entry!("a": "one-2", "one-2.5", "one-2.7"), entry!("b": "one-3", "second-x"), entry!("c": "three*x")];
        let near = |name: &str| {
            let model = Model::new(name.as_bytes()).unwrap();
            nearest(&entries, &model).map(|known| known.map(|it| (it.model, it.dialect, it.is_elder)))
        };
        assert_eq!(near("one-2.9"), [Some(("one-2.7", "a", true)), Some(("one-3", "b", false))]);
        assert_eq!(near("one2-6-8b"), [Some(("one-2.5", "a", true)), Some(("one-3", "b", false))]);
        assert_eq!(near("one-4"), [Some(("one-3", "b", true)), Some(("one-2", "a", true))]);
        assert_eq!(near("oen-3"), [Some(("one-3", "b", false)), None]);
        assert_eq!(near("none"), [None, None]);
        assert_eq!(near("threex"), [None, None]);
        assert_eq!(near("secnod-x-8b"), [Some(("second-x", "b", false)), None]);
    }

    /// Checks that a message fits into the buffer for it in C.
    #[test]
    fn the_messages_are_short() {
        let long = "\u{feff}".repeat(400);
        let pattern = "m".repeat(LONGEST);
        let mut longest = 0;
        for name in [&long, "qq", &pattern, "a\u{0}\u{1}b"] {
            longest = longest.max(UnknownDialect::new(name.as_bytes()).to_string().len());
            longest = longest.max(UnknownModel::new(name.as_bytes()).to_string().len());
        }
        let known = ENTRIES.iter().flat_map(|entry| entry.models.iter().map(|pattern| pattern.text.len()));
        let names = ENTRIES.iter().flat_map(|entry| std::iter::once(&entry.name).chain(entry.aliases));
        let widest = 2 * known.max().unwrap() + 3 * names.map(|name| name.len()).max().unwrap();
        assert!(longest + widest < 900, "{longest} and {widest}");
    }

    #[test]
    fn a_long_name_is_cut_at_a_character() {
        for (name, shown) in [("ab", "`ab`".to_string()), (&"é".repeat(40), format!("`{}…`", "é".repeat(31)))] {
            assert_eq!(RequestedName::new(name.as_bytes()).to_string(), shown);
        }
        assert_eq!(RequestedName::new(b"a\xffb\0").to_string(), "`a\u{fffd}b\\0`");
        let path = [b"/".as_slice(), &[b'x'; 80], b"/model-1.gguf"].concat();
        assert_eq!(UnknownModel::new(&path).requested.as_str(), "model-1.gguf");
    }

    #[test]
    fn patterns_are_as_the_matcher_reads_them() {
        let all = ENTRIES.iter().flat_map(|entry| entry.models).map(|pattern| pattern.text);
        let others =
            [&CALLS_ALONE, &NAMES_WITHOUT].into_iter().flat_map(|table| table.patterns).map(|known| known.text);
        for pattern in all.chain(others).chain(WITHOUT_THINKING.iter().copied()) {
            let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.:/*".contains(&byte);
            assert!(pattern.bytes().all(is_plain) && pattern.len() <= LONGEST, "{pattern}");
            assert!(pattern.as_bytes()[0].is_ascii_lowercase() && !pattern.contains("**"), "{pattern}");
        }
        assert!(names().all(|name| name.len() <= LONGEST));
    }

    #[test]
    fn no_two_dialects_have_a_pattern_in_common() {
        for (index, entry) in ENTRIES.iter().enumerate() {
            for other in &ENTRIES[..index] {
                let is_there = |pattern: &&Pattern| other.models.iter().any(|known| known.text == pattern.text);
                let common = entry.models.iter().find(is_there).map(|pattern| pattern.text);
                assert_eq!(common, None, "{} and {}", entry.name, other.name);
            }
        }
    }
}
