//! Which dialect a chat template is written for, by the markers in its text, and whether its generation prompt opens
//! the thinking. No template is run.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use memchr::memmem;
use toml::Spanned;

use super::{
    Channel, Start, error,
    model::{Literal, Place, Span, strings, text},
};

/// What a template says of a dialect.
pub struct Signs {
    thinking: Vec<Pair>,
    tools: Vec<String>,
    wrappers: Vec<String>,
    /// What begins, ends and closes a header, and its keys.
    header: Option<[Vec<String>; 4]>,
    turns: Vec<String>,
    start: Start,
}

/// The markers of a thinking span, with the framing around them.
struct Pair {
    open: Vec<String>,
    close: Vec<String>,
    after_open: String,
    before_close: String,
    after_close: String,
    /// It takes both to know them: alone they are words that any template may have.
    both: bool,
}

impl Signs {
    /// Reads a built-in dialect file.
    pub fn read(text: &str) -> Signs {
        let model = error::read(text).unwrap_or_else(|error| unreachable!("a built-in dialect: {error}"));
        let spans = |channel| model.spans.iter().map(Spanned::get_ref).filter(move |span| span.channel == channel);
        let openers = |channel| spans(channel).flat_map(opens).collect();
        Signs {
            thinking: spans(Channel::Thinking).map(Pair::of).collect(),
            tools: openers(Channel::Tool),
            wrappers: openers(Channel::Content),
            header: model.header.as_ref().map(|header| {
                let header = header.get_ref();
                let keys: Vec<Literal> = header.keys.values().cloned().collect();
                [&header.begin, &header.end, &header.close, &keys].map(|literals| strings(literals))
            }),
            turns: strings(&model.turns),
            start: model.start(),
        }
    }
}

impl Pair {
    fn of(span: &Span) -> Pair {
        let names = span.tag.iter().flat_map(|tag| &tag.names).map(|name| ["</", name.get_ref()].concat());
        Pair {
            open: opens(span).collect(),
            close: span.close.iter().map(|close| close.get_ref().clone()).chain(names).collect(),
            after_open: text(&span.framing.after_open).to_string(),
            before_close: text(&span.framing.before_close).to_string(),
            after_close: text(&span.framing.after_close).to_string(),
            both: span.place == Place::Start,
        }
    }
}

fn opens(span: &Span) -> impl Iterator<Item = String> {
    let literals = span.open.iter().flatten().map(|open| open.get_ref().clone());
    literals.chain(span.tag.iter().flat_map(|tag| &tag.names).map(|name| ["<", name.get_ref()].concat()))
}

/// A template's text.
pub struct Template {
    /// With the escapes of its string literals decoded.
    text: Vec<u8>,
    /// What each branch of its generation prompt writes.
    prompts: Vec<String>,
    /// What was looked for, and whether it is there.
    known: BTreeMap<String, bool>,
    /// Openers of tool calls, of any dialect, that it has.
    tools: Vec<String>,
}

impl Template {
    pub fn read(template: &str) -> Template {
        let prompts = generation_prompts(template);
        Template { text: unescape(template).into_bytes(), prompts, known: BTreeMap::new(), tools: Vec::new() }
    }

    /// Looks which of all tool markers are there.
    pub fn ask_for_tools<'a>(&mut self, signs: impl Iterator<Item = &'a Signs>) {
        for tool in signs.flat_map(|signs| &signs.tools) {
            if !self.tools.contains(tool) && self.has(tool) {
                self.tools.push(tool.clone());
            }
        }
    }

    fn has(&mut self, marker: &str) -> bool {
        let text = &self.text;
        match self.known.get(marker) {
            Some(known) => *known,
            None => {
                let found = memmem::find(text, marker.as_bytes()).is_some();
                self.known.insert(marker.to_string(), found);
                found
            }
        }
    }

    fn has_any(&mut self, markers: &[String]) -> bool {
        markers.iter().any(|marker| self.has(marker))
    }

    /// How well the dialect fits, and where its generation starts then. `None` where its thinking is not there at all.
    ///
    /// Markers that are there speak for it, more than framing and the start; tool markers that only others have, against
    /// it.
    pub fn fit(&mut self, signs: &Signs) -> Option<(i32, Start)> {
        let mut score = 0;
        let mut start = Start::Channel(Channel::Content);
        if let Some(header) = &signs.header {
            if !self.has_any(&header[0]) || !self.has_any(&header[1]) {
                return None;
            }
            for literal in header.iter().flatten() {
                score += if self.has(literal) { 2 } else { -1 };
            }
            start = Start::Header;
        } else {
            let pairs: Vec<&Pair> = signs.thinking.iter().filter(|pair| self.has_pair(pair)).collect();
            if pairs.is_empty() {
                return None;
            }
            score += pairs.iter().map(|pair| self.framing(pair)).sum::<i32>();
            score += if pairs.len() == signs.thinking.len() { 1 } else { 0 };
            if pairs.iter().any(|pair| self.prompt_opens(pair)) {
                start = Start::Channel(Channel::Thinking);
            }
        }
        let foreign = self.tools.iter().filter(|tool| !signs.tools.contains(tool)).count();
        score += 4 * (self.tools.len() - foreign) as i32 - 3 * foreign as i32;
        score += 2 * signs.wrappers.iter().filter(|wrapper| self.has(wrapper)).count() as i32;
        if !signs.turns.is_empty() {
            score += if self.has_any(&signs.turns) { 3 } else { -3 };
        }
        score += i32::from(start == signs.start);
        Some((score, start))
    }

    fn has_pair(&mut self, pair: &Pair) -> bool {
        let (open, close) = (self.has_any(&pair.open), self.has_any(&pair.close));
        if pair.both { open && close } else { open || close }
    }

    /// Does the text around the markers look like the dialect's framing?
    fn framing(&mut self, pair: &Pair) -> i32 {
        let Pair { open, close, after_open, before_close, after_close, .. } = pair;
        self.stands(open, |open, line| [open, line].concat(), after_open)
            + self.stands(close, |close, line| [line, close].concat(), before_close)
            + self.stands(close, |close, line| [close, line].concat(), after_close)
    }

    /// 1 where the framing stands beside one of the markers and no longer one does, -1 where it is another.
    fn stands(&mut self, markers: &[String], beside: impl Fn(&str, &str) -> String, framing: &str) -> i32 {
        let mut has = |framing: &str| markers.iter().any(|marker| self.has(&beside(marker, framing)));
        let longer = has(&[framing, "\n"].concat());
        match (has(framing), longer) {
            (true, false) => i32::from(!framing.is_empty()),
            _ => -1,
        }
    }

    /// Does a branch of the generation prompt open the thinking and leave it open?
    fn prompt_opens(&self, pair: &Pair) -> bool {
        let has = |prompt: &str, markers: &[String]| markers.iter().any(|marker| prompt.contains(marker.as_str()));
        self.prompts.iter().any(|prompt| has(prompt, &pair.open) && !has(prompt, &pair.close))
    }
}

/// The escapes of string literals, wherever they stand.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        plain.push(match char {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            },
            char => char,
        });
    }
    plain
}

/// What the branches of the last `add_generation_prompt` write, each for itself: string literals and plain text.
fn generation_prompts(template: &str) -> Vec<String> {
    const ASKS: &str = "add_generation_prompt";
    const ASKS_NOT: &str = "not add_generation_prompt";
    let mut prompts: Vec<String> = Vec::new();
    let mut depth = 0usize;
    // The depth of the branch that we are in.
    let mut inside: Option<usize> = None;
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        let (text, tag) = rest.split_at(at);
        if let Some(prompt) = prompts.last_mut().filter(|_| inside.is_some()) {
            prompt.push_str(text.trim_matches(char::is_whitespace));
        }
        let close = match tag.as_bytes().get(1) {
            Some(b'%') => "%}",
            Some(b'{') => "}}",
            Some(b'#') => "#}",
            _ => {
                rest = &tag[1..];
                continue;
            }
        };
        let Some(end) = tag.find(close) else { break };
        let body = tag[2..end.max(2)].trim_matches(['-', '+', ' ', '\t', '\r', '\n']);
        rest = &tag[end.max(2) + if end >= 2 { close.len() } else { 0 }..];
        match close {
            "}}" if inside.is_some() => write_literals(body, &mut prompts),
            "%}" => {
                let word = body.split(|char: char| !char.is_ascii_alphanumeric()).next().unwrap_or_default();
                let asks = body.contains(ASKS) && !body.contains(ASKS_NOT);
                depth += usize::from(word == "if");
                match word {
                    "if" | "elif" if asks && inside.is_none_or(|inside| word == "elif" && inside == depth) => {
                        inside = Some(depth);
                        prompts = [String::new()].into();
                    }
                    "elif" | "else" | "endif" if inside == Some(depth) => inside = None,
                    "if" | "elif" | "else" | "endif" if inside.is_some() => prompts.push(String::new()),
                    _ => {}
                }
                depth = depth.saturating_sub(usize::from(word == "endif"));
            }
            _ => {}
        }
    }
    prompts
}

/// Appends the string literals of an expression to the last prompt; those of a choice are prompts of their own.
fn write_literals(expression: &str, prompts: &mut Vec<String>) {
    let mut literals = Vec::new();
    let mut is_choice = false;
    let mut rest = expression;
    while let Some(at) = rest.find(['\'', '"']) {
        is_choice |= rest[..at].contains(" if ") || rest[..at].contains(" else ");
        let quote = rest.as_bytes()[at];
        let literal = &rest[at + 1..];
        let mut end = 0;
        while literal.as_bytes().get(end).is_some_and(|&byte| byte != quote) {
            end += if literal.as_bytes()[end] == b'\\' { 2 } else { 1 };
        }
        let Some((literal, behind)) = literal.split_at_checked(end).filter(|(_, behind)| !behind.is_empty()) else {
            break;
        };
        literals.push(unescape(literal));
        rest = &behind[1..];
    }
    if is_choice {
        prompts.extend(literals);
        prompts.push(String::new());
    } else if let Some(prompt) = prompts.last_mut() {
        literals.iter().for_each(|literal| prompt.push_str(literal));
    }
}
