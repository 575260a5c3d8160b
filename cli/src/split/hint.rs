//! Looks for calls that the dialect does not read: openers of other dialects' calls, in what is text for it.

use aside::{Channel, Dialect, Event, Kind};

pub struct Hint {
    /// The openers, each with its dialects.
    openers: Vec<(String, Vec<&'static str>)>,
    /// The last bytes of the text, which may be the beginning of an opener.
    tail: Vec<u8>,
    found: Option<usize>,
}

impl Hint {
    pub fn new(dialect: &Dialect) -> Hint {
        let mut openers: Vec<(String, Vec<_>)> = Vec::new();
        // A dialect of one model knows its calls.
        let names = Dialect::names().filter(|_| dialect.name() == "any");
        for (name, other) in names.filter_map(|name| Some((name, Dialect::find(name).ok()?))) {
            let triggers = other.tool_triggers().unwrap_or_default().into_iter().map(|one| one.trigger);
            for trigger in triggers.filter(|trigger| !is_prose(trigger)) {
                match openers.iter_mut().find(|(opener, _)| *opener == trigger) {
                    Some((_, names)) if names.last() == Some(&name) => {}
                    Some((_, names)) => names.push(name),
                    None => openers.push((trigger, vec![name])),
                }
            }
        }
        Hint { openers, tail: Vec::new(), found: None }
    }

    pub fn add(&mut self, event: &Event<'_>) {
        if event.kind != Kind::Text || event.channel == Channel::Tool {
            self.tail.clear();
            return;
        }
        if self.found.is_some() {
            return;
        }
        self.tail.extend_from_slice(event.bytes);
        let longest = self.openers.iter().map(|(opener, _)| opener.len()).max().unwrap_or(0);
        self.found = (0..self.tail.len())
            .find_map(|at| self.openers.iter().position(|(opener, _)| self.tail[at..].starts_with(opener.as_bytes())));
        self.tail.drain(..self.tail.len().saturating_sub(longest.saturating_sub(1)));
    }

    /// Returns the message at the end.
    pub fn text(&self) -> Option<String> {
        let (opener, names) = &self.openers[self.found?];
        Some(format!("`{}` is written by {}: choose one with --dialect", opener.trim_end(), names.join(", ")))
    }
}

/// Returns whether an answer may have an opener that begins no call, such as ```` ```json ````.
fn is_prose(opener: &str) -> bool {
    let is_marker = opener.starts_with(['<', '[', ']']);
    !is_marker || !["tool", "function", "|", "｜"].iter().any(|part| opener.contains(part))
}
