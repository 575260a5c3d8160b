//! Checks that the examples of each file in `dialects/` show the same kinds of text, which are those of real streams.
//! `tests/examples.rs` checks that the examples are right.

use reference::{Dialect, Event, Example, IMPLIED, What};

/// An example, and the reference's result for it.
struct Read<'a> {
    dialect: &'a Dialect,
    example: &'a Example,
    events: Vec<Event>,
}

/// The markers around a channel's text. A tag is only the text up to its name.
struct Markers {
    open: Vec<String>,
    close: Vec<String>,
}

fn markers(dialect: &Dialect, channels: &[&str]) -> Markers {
    let mut markers = Markers { open: Vec::new(), close: Vec::new() };
    for span in dialect.spans.iter().filter(|span| channels.contains(&span.channel.as_str())) {
        markers.open.extend(span.open.iter().cloned());
        markers.close.extend(span.close.iter().cloned());
        for name in span.tag.iter().flat_map(|tag| &tag.names) {
            markers.open.push(format!("<{name}"));
            markers.close.push(format!("</{name}"));
        }
        if let Some(word) = &span.fence {
            markers.open.push(format!("```{word}"));
            markers.close.push("\n```".into());
        }
    }
    if let Some(header) = &dialect.header {
        markers.open.extend(header.begin.iter().chain(&header.end).cloned());
        markers.close.extend(header.close.iter().cloned());
    }
    markers
}

impl Read<'_> {
    fn opens<'a>(&'a self, channel: &'a str) -> impl Iterator<Item = (usize, &'a Event)> {
        let events = self.events.iter().enumerate();
        events.filter(move |(_, event)| event.channel == channel && matches!(event.what, What::Open { .. }))
    }

    fn closes_by(&self, channel: &str, cause: &str) -> bool {
        self.events.iter().any(|event| event.channel == channel && matches!(event.what, What::Close(by) if by == cause))
    }

    fn texts<'a>(&'a self, channel: &'a str) -> impl Iterator<Item = (usize, String)> {
        let texts = self.events.iter().enumerate();
        let texts = texts.filter(move |(_, event)| event.what == What::Text && event.channel == channel);
        texts.map(|(at, event)| (at, String::from_utf8_lossy(&event.bytes).into_owned()))
    }

    fn is_ordinary(&self) -> bool {
        !self.example.thinking.is_empty() && !self.example.content.is_empty()
    }

    /// Returns whether a thinking span opens and closes without text between.
    fn has_empty_thinking(&self) -> bool {
        self.opens("thinking").any(|(at, _)| {
            let inside = self.events[at + 1..].iter().take_while(|event| !matches!(event.what, What::Close(_)));
            inside.clone().all(|event| event.what != What::Text)
        })
    }

    /// Returns whether a closer has no opener in the text, or in a dialect with messages, whether the text begins inside or without
    /// a message.
    fn has_no_opener(&self) -> bool {
        let Some(first) = self.events.first() else { return false };
        let is_started = first.bytes.is_empty() && matches!(first.what, What::Open { .. });
        if self.dialect.header.is_some() {
            return is_started || first.what == What::Text;
        }
        let closers = markers(self.dialect, &["thinking"]).close;
        let has_closer =
            closers.iter().any(|closer| self.example.input.to_lowercase().contains(&closer.to_lowercase()));
        has_closer && self.opens("thinking").all(|(_, open)| open.bytes.is_empty())
    }

    fn has_no_closer(&self) -> bool {
        self.closes_by("thinking", reference::END)
    }

    fn ends_inside_a_marker(&self) -> bool {
        let all = markers(self.dialect, &["thinking", "content", "tool", "narration"]);
        let input = self.example.input.to_lowercase();
        all.open.iter().chain(&all.close).any(|marker| {
            let starts = marker.char_indices().map(|(at, _)| at).filter(|&at| at >= 2);
            starts.clone().any(|at| input.ends_with(&marker[..at].to_lowercase()))
        })
    }

    /// Returns whether the text ends with incomplete framing, or with framing whose marker is missing.
    fn ends_inside_framing(&self) -> bool {
        let input = &self.example.input;
        self.dialect.spans.iter().any(|span| {
            let framing = &span.framing;
            let behind = |markers: &[String], after: &str| {
                let starts = || after.char_indices().map(|(at, _)| &after[..at]);
                markers.iter().any(|marker| starts().any(|start| input.ends_with(&format!("{marker}{start}"))))
            };
            let before = |text: &str| !text.is_empty() && input.ends_with(text);
            behind(&span.open, &framing.after_open)
                || behind(&span.close, &framing.after_close)
                || before(&framing.before_open)
                || before(&framing.before_close)
        })
    }

    /// Returns whether a tool call begins while thinking is open, and so ends or interrupts it.
    fn has_tool_in_thinking(&self) -> bool {
        self.opens("tool").any(|(at, _)| {
            let before = &self.events[..at];
            let opened = before.iter().filter(|it| it.channel == "thinking" && matches!(it.what, What::Open { .. }));
            let closed = before.iter().filter(|it| it.channel == "thinking" && matches!(it.what, What::Close(_)));
            let is_ended = before
                .iter()
                .rfind(|it| it.what != What::Framing)
                .is_some_and(|event| event.channel == "thinking" && event.what == What::Close(IMPLIED));
            is_ended || opened.count() > closed.count()
        })
    }

    /// Returns whether the text has a second block, or its opener as text if only one block is allowed.
    fn has_two_blocks(&self) -> bool {
        let opens: Vec<usize> = self.opens("thinking").map(|(at, _)| at).collect();
        let Some(first) = opens.first() else { return false };
        let openers = markers(self.dialect, &["thinking"]).open;
        let has_opener = |text: &str| openers.iter().any(|opener| text.contains(opener.as_str()));
        opens.len() > 1 || self.texts("content").any(|(at, text)| at > *first && has_opener(&text))
    }

    /// Returns whether text precedes a block, or precedes an opener that is therefore text.
    fn has_text_first(&self) -> bool {
        let openers = markers(self.dialect, &["thinking"]).open;
        self.texts("content").any(|(at, text)| {
            self.opens("thinking").any(|(open, event)| open > at && !event.bytes.is_empty())
                || openers.iter().any(|opener| text.find(opener.as_str()).is_some_and(|at| at > 0))
        })
    }

    /// Returns whether a closer without a span is removed.
    fn has_dropped_closer(&self) -> bool {
        let closers = markers(self.dialect, &["thinking"]).close;
        self.events.iter().any(|event| {
            let text = String::from_utf8_lossy(&event.bytes);
            event.what == What::Framing && closers.iter().any(|closer| text.trim().starts_with(closer.trim()))
        })
    }

    /// Returns whether a code fence is open at the closer.
    fn has_open_fence(&self) -> bool {
        self.example.thinking.matches("```").count() % 2 == 1 && self.closes_by("thinking", reference::MARKER)
    }
}

fn has<'a>(examples: &[Read<'a>], test: fn(&Read<'a>) -> bool) -> bool {
    examples.iter().any(test)
}

/// Returns the kinds that no example of a file shows.
fn missing(dialect: &Dialect) -> Vec<&'static str> {
    let read = |example| Read {
        dialect,
        example,
        events: reference::read(dialect, example.input.as_bytes(), example.start.as_deref()),
    };
    let examples: Vec<Read> = dialect.examples.iter().map(read).collect();
    let framings = dialect.spans.iter().map(|span| &span.framing);
    let is_framed = framings
        .flat_map(|framing| [&framing.before_open, &framing.after_open, &framing.before_close, &framing.after_close])
        .any(|text| !text.is_empty());
    let routes = || dialect.header.iter().flat_map(|header| &header.routes).map(|route| &route.channel);
    let tools =
        dialect.spans.iter().any(|span| span.channel == "tool" && (span.ends.is_some() || span.pauses.is_some()))
            || routes().any(|channel| channel == "tool");
    let thinks = dialect.spans.iter().map(|span| &span.channel).chain(routes()).any(|channel| channel == "thinking");
    let has_markers = dialect.header.is_some() || dialect.spans.iter().any(|span| !span.bare);
    let kinds = [
        ("the ordinary answer", thinks, has(&examples, Read::is_ordinary)),
        ("empty thinking", thinks, has(&examples, Read::has_empty_thinking)),
        ("no opener", thinks, has(&examples, Read::has_no_opener)),
        ("no closer", thinks, has(&examples, Read::has_no_closer)),
        ("cut inside a marker", has_markers, has(&examples, Read::ends_inside_a_marker)),
        ("cut inside framing", is_framed, has(&examples, Read::ends_inside_framing)),
        ("a tool call inside the thinking", tools, has(&examples, Read::has_tool_in_thinking)),
        ("two blocks", thinks, has(&examples, Read::has_two_blocks)),
        ("text before the opener", thinks, has(&examples, Read::has_text_first)),
        ("a second closer", dialect.extra_close.is_some(), has(&examples, Read::has_dropped_closer)),
        ("a code fence open at the closer", thinks && !dialect.guard.is_empty(), has(&examples, Read::has_open_fence)),
    ];
    kinds.into_iter().filter(|(_, wanted, shown)| *wanted && !shown).map(|(kind, _, _)| kind).collect()
}

#[test]
fn every_file_shows_every_kind() {
    let mut report = String::new();
    for dialect in reference::all() {
        let missing = missing(&dialect);
        if !missing.is_empty() {
            report += &format!("{}: {}\n", dialect.name, missing.join(", "));
        }
    }
    assert!(report.is_empty(), "no example of a dialect shows:\n{report}");
}

#[test]
fn a_missing_kind_is_seen() {
    let parse = |examples: &str| {
        let markers = "open = [\"<t>\"]\nclose = [\"</t>\"]\nframing = { after_open = \"\\n\" }\n";
        Dialect::parse(&format!("name = \"x\"\n[[span]]\nchannel = \"thinking\"\n{markers}{examples}")).unwrap()
    };
    let all = ["<t>a</t>b", "<t></t>", "a</t>b", "<t>a", "<t>a</", "<t>", "<t>a</t><t>b</t>", "a<t>b"];
    let example = |input: &str| {
        let thinking = if input == "<t>a</t>b" { "thinking = \"a\"\ncontent = \"b\"\n" } else { "" };
        format!("[[example]]\ninput = \"{input}\"\n{thinking}")
    };
    assert_eq!(missing(&parse(&all.map(example).concat())), [""; 0]);
    assert_eq!(missing(&parse(&example("b"))).len(), 8);
    let without =
        |text: &str| missing(&parse(&all.iter().filter(|it| **it != text).map(|it| example(it)).collect::<String>()));
    assert_eq!(without("<t>a</t>b"), ["the ordinary answer"]);
    assert_eq!(without("a</t>b"), ["no opener"]);
    assert_eq!(without("<t>a</"), ["cut inside a marker"]);
    assert_eq!(without("<t>"), ["cut inside framing"]);
    assert_eq!(without("<t>a</t><t>b</t>"), ["two blocks"]);
    assert_eq!(without("a<t>b"), ["text before the opener"]);
}

/// Checks that texts of real streams are in the examples of their family's file.
#[test]
fn what_was_seen_in_real_streams() {
    let seen = [
        ("qwen3", "<think>\n\n</think>"),
        ("qwen3-thinking", "hm\n</think>\n\nYes."),
        ("kimi-k2", " <think> It is 20°C."),
        ("kimi-vl", "◁think▷◁/think▷◁/think▷◁/think▁"),
        ("gemma-4", "<|channel>thought\n<channel|>"),
        ("thought-stream", "<thinking by=\"openai\">"),
        ("harmony", "assistant to=functions.f<|channel|>commentary"),
        ("harmony", " to=functions.f<|channel|>commentary"),
        ("harmony", "<|channel|>commentary to=functions.f json<|message|>"),
        ("harmony", "Sure. <|channel|>analysis<|message|>"),
    ];
    for (name, text) in seen {
        let dialect = reference::find(name).unwrap();
        assert!(dialect.examples.iter().any(|example| example.input.contains(text)), "{name}: {text:?}");
    }
    let fences = |example: &Example| example.thinking.matches("```").count() % 2 == 1 && !example.content.is_empty();
    assert!(reference::find("qwen3").unwrap().examples.iter().any(fences), "qwen3: a code fence open at the closer");
}
