//! Shows events and parts of answers for `aside split`: as text in parts, as JSON, or one channel alone.

use aside::answer;
use aside::{Channel, Dialect, Event, Kind};

use crate::output::Shown;

/// The form in which events are shown.
pub enum Show {
    /// As text with the styles of a terminal.
    Styled,
    /// As text with a label before each part.
    Labelled,
    /// As JSON.
    Events,
    /// Only the text of one channel.
    Only(Channel),
}

/// Turns events into the program's output. `out` is written and cleared after each read.
pub struct View<'a> {
    pub how: Show,
    /// Whether `out` is written to a terminal. The text must not be able to control the terminal.
    is_terminal: bool,
    dialect: &'a Dialect,
    pub out: Vec<u8>,
    /// The channel of the part that is being shown.
    part: Option<Channel>,
    /// The attributes of the next part's markers, such as a tool's name.
    attributes: String,
    line_start: bool,
    /// The thinking so far, if only content is shown and the thinking can still turn out to be content.
    thinking: Option<Vec<u8>>,
}

impl View<'_> {
    pub fn new(how: Show, is_terminal: bool, dialect: &Dialect) -> View<'_> {
        View {
            how,
            is_terminal,
            dialect,
            out: Vec::new(),
            part: None,
            attributes: String::new(),
            line_start: true,
            thinking: Some(Vec::new()),
        }
    }

    /// Keeps the first stretch of thinking until its end, and writes it if it turns out to be content.
    fn keep_thinking(&mut self, event: &Event<'_>) {
        let Some(thinking) = &mut self.thinking else { return };
        match (&event.kind, event.channel) {
            (Kind::Text, Channel::Thinking) => thinking.extend_from_slice(event.bytes),
            (Kind::Reclassify, Channel::Content) => self.out.append(thinking),
            (Kind::Close(_), _) => self.thinking = None,
            _ => {}
        }
    }

    pub fn show(&mut self, event: &Event<'_>) {
        match self.how {
            Show::Styled | Show::Labelled => self.show_part(event),
            Show::Events => self.show_json(event),
            Show::Only(channel) => {
                let is_text = matches!(event.kind, Kind::Text);
                if event.channel == channel && is_text {
                    self.out.extend_from_slice(event.bytes);
                }
                if channel == Channel::Content {
                    self.keep_thinking(event);
                }
            }
        }
    }

    /// Shows a part of an answer. Each call is one part, with the name in its label.
    pub fn add(&mut self, part: answer::Part<'_>) {
        use answer::Part;
        match part {
            Part::Thinking(text) => self.more(Channel::Thinking, text),
            Part::Content(text) => self.more(Channel::Content, text),
            Part::Call { id, name, .. } => {
                self.attributes = format!(" call={name:?} id={:?}", id);
                self.begin(Channel::Tool);
            }
            Part::Arguments { json, .. } => self.text(Channel::Tool, json.as_bytes()),
            Part::CallEnd { is_whole, is_repaired, cause, .. } => {
                if !is_whole {
                    self.text(Channel::Tool, format!(" [{}]", cause.as_str()).as_bytes());
                }
                if is_repaired {
                    self.text(Channel::Tool, b" [repaired]");
                }
                self.part = None;
            }
            Part::Moved { to, .. } => self.show_move(to),
            _ => {}
        }
    }

    fn more(&mut self, channel: Channel, text: &[u8]) {
        if self.part != Some(channel) {
            self.begin(channel);
        }
        self.text(channel, text);
    }

    /// Writes a note that all text of one channel belongs to the other channel, `to`.
    fn show_move(&mut self, to: Channel) {
        let (above, note) = match to {
            Channel::Content => (Channel::Thinking, &b"[all thinking above was content]\n"[..]),
            _ => (Channel::Content, &b"[all content above was thinking]\n"[..]),
        };
        self.begin(above);
        self.text(above, note);
        self.part = None;
    }

    fn show_part(&mut self, event: &Event<'_>) {
        match &event.kind {
            // A wrapper around content, such as a box, does not begin a new part.
            Kind::Open { .. } if event.channel == Channel::Content => {}
            Kind::Open { .. } => self.part = None,
            Kind::Attribute(attribute) => {
                self.part = None;
                let (name, value) = (String::from_utf8_lossy(attribute.name), String::from_utf8_lossy(attribute.value));
                self.attributes += &format!(" {name}={value:?}");
            }
            Kind::Text => self.more(event.channel, event.bytes),
            // A span without text is shown if its marker has attributes.
            Kind::Close(_) if !self.attributes.is_empty() => self.begin(event.channel),
            Kind::Reclassify => self.show_move(event.channel),
            _ => {}
        }
    }

    /// Starts a part on a new line, below its label.
    fn begin(&mut self, channel: Channel) {
        self.end();
        if matches!(self.how, Show::Labelled) || !self.attributes.is_empty() {
            let label = format!("[{}{}]\n", channel.as_str(), self.attributes);
            self.text(channel, label.as_bytes());
        }
        self.attributes.clear();
        self.part = Some(channel);
    }

    fn text(&mut self, channel: Channel, bytes: &[u8]) {
        let style = match channel {
            _ if !matches!(self.how, Show::Styled) => "",
            Channel::Content => "",
            Channel::Thinking => "\x1b[2m",
            Channel::Narration => "\x1b[3m",
            Channel::Tool => "\x1b[36m",
        };
        // The style is switched off after each piece, so that the terminal has no style if the program is interrupted.
        let plain = if style.is_empty() { "" } else { "\x1b[0m" };
        self.out.extend_from_slice(style.as_bytes());
        if self.is_terminal {
            // A text event never cuts a character.
            let mut shown = Shown::default();
            shown.add(bytes, &mut self.out);
            shown.end(&mut self.out);
        } else {
            self.out.extend_from_slice(bytes);
        }
        self.out.extend_from_slice(plain.as_bytes());
        self.line_start = bytes.ends_with(b"\n");
    }

    /// Ends the unfinished line of a part.
    pub fn end(&mut self) {
        if !self.line_start {
            self.out.push(b'\n');
            self.line_start = true;
        }
    }

    fn show_json(&mut self, event: &Event<'_>) {
        let more = match &event.kind {
            Kind::Open { rule, tag } => {
                let family = self.dialect.family(*rule).unwrap_or_default();
                let opener = self.dialect.opener(*rule, *tag).unwrap_or_default();
                let words = json("family", family.as_bytes()) + &json("opener", opener.as_bytes());
                format!(r#","rule":{rule},"tag":{tag}{words}"#)
            }
            Kind::Attribute(a) => json("name", a.name) + &json("value", a.value),
            Kind::Close(cause) => format!(r#","cause":"{}""#, cause.as_str()),
            Kind::Call { rule, table, index } => format!(r#","index":{index},"rule":{rule},"table":{table}"#),
            Kind::CallName(Some(name)) => json("name", name),
            Kind::CallValueEnd { is_repaired: true } => r#","repaired":true"#.to_owned(),
            Kind::CallEnd { index, cause, is_repaired } => {
                let repaired = if *is_repaired { r#","repaired":true"# } else { "" };
                format!(r#","index":{index},"cause":"{}"{repaired}"#, cause.as_str())
            }
            _ => String::new(),
        };
        let kind = event.kind.as_str();
        let (offset, channel, length) = (event.offset, event.channel.as_str(), event.bytes.len());
        let text = if kind == "attribute" { String::new() } else { json("text", event.bytes) };
        let line =
            format!(r#"{{"offset":{offset},"length":{length},"event":"{kind}","channel":"{channel}"{more}{text}}}"#);
        self.out.extend_from_slice(line.as_bytes());
        self.out.push(b'\n');
    }
}

/// Returns a field of a JSON object; bytes that JSON cannot represent are written in hexadecimal.
fn json(key: &str, bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => format!(r#","{key}":{}"#, serde_json::Value::from(text)),
        Err(_) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!(r#","{key}_hex":"{hex}""#)
        }
    }
}
