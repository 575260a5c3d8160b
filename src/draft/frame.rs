//! The text around a turn of the model: the end of the user's turn, the role line, the end of the model's turn. Everything else
//! is searched for between the role line and the end of the model's turn.

use minijinja::Value;

use super::probes::{ANSWER, After, Call, Content, END_OF_TEXT, NO_SWITCHES, SHAPES, SWITCHES, Shape, Turn};
use super::renderings::{Renderings, Settings};
use super::texts::{OF_THINKING, before_marker, leading_marker, markers, shared_start};

/// Values for the switches, and the prompt that the template renders with them.
pub struct Variant {
    pub settings: Settings,
    /// The generation prompt: all text after the user's turn if an answer is asked for.
    pub prompt: String,
    /// Whether `prompt` is the whole text after the question, because the template adds no text for an answer.
    is_whole: bool,
}

pub struct Frame {
    /// The end of the user's turn.
    pub user_end: String,
    /// The model's role line.
    pub role: String,
    /// In the first variant no switch is set; in the second, all switches turn the thinking on.
    pub variants: Vec<Variant>,
    /// The text of a turn with only an answer, after the role line; and the text of the same turn if another question follows.
    pub answer: String,
    pub answered: String,
    /// Markers that end a turn.
    pub ends: Vec<String>,
}

/// The maximum number of variables that are tried as switches.
const MOST_SWITCHES: usize = 16;

impl Frame {
    /// Renders prompts and answers. Returns `None` if no rendered turn shows the answer.
    pub fn find(renderings: &Renderings<'_>, variables: &[String]) -> Option<Frame> {
        let variants = variants(renderings, variables);
        let plain = &variants.first()?.settings;
        let answer = renderings.turn(&Turn::ANSWER, plain).filter(|text| text.contains(ANSWER));
        let answered = renderings.turn(&Turn { after: After::Question, ..Turn::ANSWER }, plain);
        let answered = answered.filter(|text| text.contains(ANSWER));
        let answer = answer.or_else(|| answered.clone())?;
        let answered = answered.unwrap_or_else(|| answer.clone());
        let user_end = user_end(renderings, &variants[0], &answer);
        let mut variants = variants;
        for variant in &mut variants {
            // A template may write the role line even if no answer is asked for, or a different role line after the last
            // question.
            if variant.is_whole {
                let rest = variant.prompt.strip_prefix(&answer[..user_end]).unwrap_or_default();
                variant.prompt = rest.to_owned();
            }
        }
        let mut frame = Frame {
            user_end: answer[..user_end].to_owned(),
            role: String::new(),
            variants,
            answer,
            answered,
            ends: Vec::new(),
        };
        frame.role = frame.find_role(renderings);
        frame.find_ends();
        Some(frame)
    }

    pub fn plain(&self) -> &Settings {
        &self.variants[0].settings
    }

    /// Returns the part of a rendered text that is the turn.
    pub fn turn_of<'t>(&self, text: &'t str) -> &'t str {
        let text = text.strip_prefix(self.user_end.as_str()).unwrap_or(text);
        self.after_role(text)
    }

    fn after_role<'t>(&self, text: &'t str) -> &'t str {
        text.strip_prefix(self.role.as_str()).unwrap_or_else(|| &text[shared_start(text, &self.role)..])
    }

    /// Returns the text of a prompt after the role line.
    pub fn begun(&self, variant: &Variant) -> String {
        self.after_role(&variant.prompt).to_owned()
    }

    /// Makes the role line shorter: the text after its first `len` bytes belongs to the turn.
    pub fn cut_role(&mut self, len: usize) {
        self.role.truncate(len);
    }

    /// Returns the common beginning of all turns.
    fn find_role(&self, renderings: &Renderings<'_>) -> String {
        let mut role: Option<String> = None;
        let mut share = |text: &str| {
            role = Some(match &role {
                None => text.to_owned(),
                Some(role) => {
                    let len = shared_start(role, text);
                    role[..before_marker(role, len).min(before_marker(text, len))].to_owned()
                }
            });
        };
        let until_answer = |text: &str| text.find(ANSWER).map_or(text.len(), |at| at);
        let after_user = |text: &str| text.strip_prefix(self.user_end.as_str()).map(str::to_owned);
        for text in [&self.answer, &self.answered] {
            after_user(&text[..until_answer(text)]).iter().for_each(|text| share(text));
        }
        self.variants.iter().for_each(|variant| share(&variant.prompt));
        // Only members of messages are tried: a part of an unknown type would be written as a value, and not as a turn.
        let members = SHAPES.iter().filter(|shape| matches!(shape, Shape::Member(_)));
        let shown = members.map(Some).chain([None]);
        for (thought, settings) in
            shown.flat_map(|shape| self.variants.iter().take(2).map(move |it| (shape, &it.settings)))
        {
            let calls: &[Call] = if thought.is_none() { &[super::probes::ONE] } else { &[] };
            let turn = Turn {
                thought,
                calls,
                content: if calls.is_empty() { Content::Answer } else { Content::Empty },
                ..Turn::ANSWER
            };
            if let Some(text) = renderings.turn(&turn, settings).and_then(|text| after_user(&text)) {
                share(&text);
            }
        }
        role.unwrap_or_default()
    }

    /// Finds the markers that end a turn.
    fn find_ends(&mut self) {
        let after = |text: &str| text.find(ANSWER).map_or(String::new(), |at| text[at + ANSWER.len()..].to_owned());
        let (last, between) = (after(&self.answer), after(&self.answered));
        for text in [&last, &between] {
            if self.ends.is_empty() {
                self.ends.extend(leading_marker(text).map(str::to_owned));
            }
            if self.ends.len() == 1 && text.contains(END_OF_TEXT) && self.ends[0] != END_OF_TEXT {
                self.ends.push(END_OF_TEXT.to_owned());
            }
        }
    }

    /// Returns the beginning of the next turn, up to the question.
    fn next(&self, wrapper: Option<&str>) -> &str {
        let mut next = self.answered.find(ANSWER).map_or("", |at| &self.answered[at + ANSWER.len()..]);
        for end in wrapper.into_iter().chain(self.ends.iter().map(String::as_str)) {
            let trimmed = next.trim_start();
            next = trimmed.strip_prefix(end).unwrap_or(trimmed);
        }
        next.trim_start()
    }

    /// Returns the end of a turn in a text: before its end token, or before the next role line.
    pub fn end_in(&self, text: &str) -> Option<usize> {
        let role = leading_marker(&self.role);
        self.ends.iter().map(String::as_str).chain(role).filter_map(|end| text.find(end)).min()
    }

    /// Returns the texts of a prompt where turns begin.
    pub fn turns(&self, wrapper: Option<&str>) -> Vec<String> {
        let next = self.next(wrapper);
        let role = if self.role.trim().is_empty() { self.user_end.trim_start() } else { self.role.trim_start() };
        let mut turns = vec![role.to_owned()];
        let shared = before_marker(next, shared_start(role, next));
        let other = match markers(&next[..shared]).last() {
            Some(marker) => next[..marker.end].to_owned(),
            None => leading_marker(next).unwrap_or_default().to_owned(),
        };
        turns.push(other);
        turns.retain(|turn| !turn.trim().is_empty());
        turns.dedup();
        turns
    }
}

/// Returns the number of bytes at the beginning of a turn that end the user's turn. If the turn contains the generation prompt,
/// these are the bytes before it.
fn user_end(renderings: &Renderings<'_>, plain: &Variant, answer: &str) -> usize {
    let before = &answer[..answer.find(ANSWER).unwrap_or(answer.len())];
    // Some turns lack the text that a prompt has after the role line, so shorter beginnings of the prompt are searched for too.
    let mut role = plain.prompt.as_str();
    loop {
        if !role.trim().is_empty()
            && let Some(at) = before.find(role)
        {
            return at;
        }
        match markers(role).last() {
            Some(last) if last.start > 0 => role = &role[..last.start],
            _ => break,
        }
    }
    let asked = renderings.prompt(&plain.settings, false).unwrap_or_default();
    let shared = before_marker(answer, shared_start(&asked, answer));
    if shared == 0 && plain.is_whole { before.trim_end().len() } else { shared }
}

/// Returns the settings with different prompts: first the setting without switches, then the one with all switches on.
fn variants(renderings: &Renderings<'_>, variables: &[String]) -> Vec<Variant> {
    let mut found: Vec<Variant> = Vec::new();
    let add = |settings: Settings, always: bool, found: &mut Vec<Variant>| {
        let Some(prompt) = renderings.prompt(&settings, true) else { return false };
        let asked = renderings.prompt(&settings, false).unwrap_or_default();
        let added = prompt.strip_prefix(asked.as_str()).filter(|added| !added.is_empty()).map(str::to_owned);
        let (is_whole, prompt) = (added.is_none(), added.unwrap_or(prompt));
        if always || found.iter().all(|variant| variant.prompt != prompt) {
            found.push(Variant { settings, prompt, is_whole });
        }
        true
    };
    if !add(Settings::new(), true, &mut found) {
        return found;
    }
    let value = |json: &str| serde_json::from_str::<Value>(json).unwrap_or_default();
    let known = SWITCHES.iter().filter(|(name, ..)| variables.iter().any(|variable| variable == name));
    let others = variables
        .iter()
        .map(String::as_str)
        .filter(|name| !NO_SWITCHES.contains(name) && SWITCHES.iter().all(|(known, ..)| known != name));
    let switches: Vec<(&str, &[&str], &[&str])> =
        known.copied().chain(others.map(|name| (name, &["true"][..], &["false"][..]))).take(MOST_SWITCHES).collect();
    let mut all_on = Settings::new();
    for (name, on, _) in &switches {
        // Other variables are not set: they may be texts, or may not concern the thinking.
        let is_of_thinking = |name: &str| OF_THINKING.iter().any(|word| name.contains(word));
        let known = SWITCHES.iter().any(|(known, ..)| known == name) || is_of_thinking(name);
        for json in on.iter().filter(|_| known) {
            let mut more = all_on.clone();
            more.insert((*name).to_owned(), value(json));
            if renderings.prompt(&more, true).is_some() {
                all_on = more;
                break;
            }
        }
    }
    if !add(all_on.clone(), true, &mut found) {
        add(Settings::new(), true, &mut found);
    }
    for (name, on, off) in &switches {
        for json in on.iter().chain(*off) {
            add(Settings::from([((*name).to_owned(), value(json))]), false, &mut found);
        }
    }
    found
}
