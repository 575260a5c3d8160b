//! Looks for text that the dialect does not read: openers of other dialects in its text.

use aside::{Channel, Dialect, Event, Kind};

/// The longest opener that is searched for.
const LONGEST: usize = 64;

/// An opener, with the dialects that have it.
type Opener = (String, Vec<&'static str>);

pub struct Hint {
    /// Whether to look for openers of other dialects. This is not needed if the user has chosen a dialect.
    is_wanted: bool,
    /// The openers. They are loaded when the text first has something like an opener, because loading all dialects takes half a
    /// second.
    openers: Option<Vec<Opener>>,
    /// The last bytes of the text, which may be the beginning of an opener.
    tail: Vec<u8>,
    found: Option<usize>,
}

impl Hint {
    pub fn new(dialect: &Dialect) -> Hint {
        Hint { is_wanted: dialect.name() == "any", openers: None, tail: Vec::new(), found: None }
    }

    pub fn add(&mut self, event: &Event<'_>) {
        if event.kind != Kind::Text || event.channel == Channel::Tool {
            self.tail.clear();
            return;
        }
        if !self.is_wanted || self.found.is_some() {
            return;
        }
        self.tail.extend_from_slice(event.bytes);
        if self.openers.is_some() || may_have_opener(&self.tail) {
            let openers = self.openers.get_or_insert_with(openers);
            let begins = |tail: &[u8]| openers.iter().position(|(opener, _)| tail.starts_with(opener.as_bytes()));
            self.found = (0..self.tail.len()).find_map(|at| begins(&self.tail[at..]));
        }
        self.tail.drain(..self.tail.len().saturating_sub(LONGEST - 1));
    }

    /// Returns the message to print at the end.
    pub fn text(&self) -> Option<String> {
        let (opener, names) = &self.openers.as_ref()?[self.found?];
        Some(format!("`{}` is written by {}: choose one with --dialect", opener.trim_end(), names.join(", ")))
    }
}

/// Returns the openers of all dialects that may be those of calls.
fn openers() -> Vec<Opener> {
    let mut openers: Vec<Opener> = Vec::new();
    let names = Dialect::names().filter(|name| *name != "any");
    for (name, dialect) in names.filter_map(|name| Some((name, Dialect::find(name).ok()?))) {
        for rule in (0..).take_while(|&rule| dialect.family(rule).is_some()) {
            let texts = (0..).map_while(|tag| dialect.opener(rule, tag));
            for text in texts.filter(|text| text.len() <= LONGEST && is_sign(text.as_bytes())) {
                match openers.iter_mut().find(|(opener, _)| opener == text) {
                    Some((_, names)) if names.last() == Some(&name) => {}
                    Some((_, names)) => names.push(name),
                    None => openers.push((text.to_owned(), vec![name])),
                }
            }
        }
    }
    openers
}

/// Returns whether a text begins like an opener that does not occur in an answer by chance. ```` ```json ```` may occur by
/// chance.
fn is_sign(text: &[u8]) -> bool {
    let parts = ["tool", "function", "|", "｜"].map(str::as_bytes);
    matches!(text, [b'<' | b'[' | b']', ..]) && parts.iter().any(|part| text.windows(part.len()).any(|it| it == *part))
}

fn may_have_opener(text: &[u8]) -> bool {
    (0..text.len()).any(|at| is_sign(&text[at..text.len().min(at + LONGEST)]))
}
