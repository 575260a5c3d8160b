//! Tests the options `merge` and `promote_empty` in the formats with choices: chat, completions and Ollama. A client must get the
//! same text, with one chunk for each chunk, and an answer with only thinking must be sent as content once.

use aside::Dialect;
use aside::sse::{Body, Formats, Options, Rewriter};
use samples::Random;
use serde_json::Value;
use support::Pair;
use support::client::events;
use support::rewriting::{at_every_cut, at_random_cuts, pieces, texts};

const ANYWHERE: &str =
    "name = \"anywhere\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<think>\"]\nclose = [\"</think>\"]";

const TAGS: &str = include_str!("dialects/calls-tags.toml");

fn anywhere() -> Dialect {
    Dialect::load(ANYWHERE).unwrap()
}

fn options() -> Options {
    Options::new().formats(Formats::ALL)
}

fn promoting() -> Options {
    options().promote_empty(true)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Chat,
    Completions,
    OllamaChat,
    OllamaGenerate,
}

use Kind::{Chat, Completions, OllamaChat, OllamaGenerate};

impl Kind {
    const ALL: [Kind; 4] = [Chat, Completions, OllamaChat, OllamaGenerate];

    fn is_ollama(self) -> bool {
        matches!(self, OllamaChat | OllamaGenerate)
    }

    /// Returns the field for the thinking.
    fn field(self) -> &'static str {
        if self.is_ollama() { "thinking" } else { "reasoning_content" }
    }

    fn text(self) -> &'static str {
        match self {
            Chat | OllamaChat => "content",
            Completions => "text",
            OllamaGenerate => "response",
        }
    }

    /// Returns the other members of a choice.
    fn members(self, members: &str, finish: Option<&str>) -> String {
        let reason = finish.map_or("null".to_owned(), |reason| format!("\"{reason}\""));
        let done = finish.map_or("\"done\":false".to_owned(), |_| format!("\"done\":true,\"done_reason\":{reason}"));
        match self {
            Chat => format!("\"index\":0,\"delta\":{{{members}}},\"finish_reason\":{reason}"),
            Completions => format!("\"index\":0,{members},\"logprobs\":null,\"finish_reason\":{reason}"),
            OllamaChat => format!("\"message\":{{\"role\":\"assistant\",{members}}},{done}"),
            OllamaGenerate => format!("{members},{done}"),
        }
    }

    fn chunk(self, members: &str, finish: Option<&str>) -> String {
        let members = self.members(members, finish);
        match self {
            Chat | Completions => format!("data: {{\"id\":\"c\",\"choices\":[{{{members}}}]}}\n\n"),
            OllamaChat | OllamaGenerate => format!("{{\"model\":\"m\",\"created_at\":\"t\",{members}}}\n"),
        }
    }

    /// Returns the members for thinking and content in their order.
    fn both(self, thinking: &str, content: &str) -> String {
        let (field, text) = (self.field(), self.text());
        match self {
            Chat => format!("\"{field}\":\"{thinking}\",\"{text}\":\"{content}\""),
            _ => format!("\"{text}\":\"{content}\",\"{field}\":\"{thinking}\""),
        }
    }

    fn content(self, text: &str) -> String {
        self.chunk(&format!("\"{}\":\"{text}\"", self.text()), None)
    }

    fn thinking(self, text: &str) -> String {
        match self {
            Chat => self.chunk(&format!("\"reasoning_content\":\"{text}\""), None),
            _ => self.chunk(&self.both(text, ""), None),
        }
    }

    fn last(self, text: &str, reason: &str) -> String {
        self.chunk(&format!("\"{}\":\"{text}\"", self.text()), Some(reason))
    }

    fn body(self, members: &str, finish: &str) -> String {
        let chunk = self.chunk(members, Some(finish)).replace("\"delta\"", "\"message\"");
        chunk.trim_start_matches("data: ").trim_end().to_owned()
    }
}

/// Returns what a client gets, and the number of chunks.
fn client(kind: Kind, stream: &str) -> (String, String, usize) {
    let (mut thinking, mut content, mut count) = (String::new(), String::new(), 0);
    let datas: Vec<String> = match kind.is_ollama() {
        true => stream.lines().map(str::to_owned).collect(),
        false => events(stream).into_iter().map(|event| event.data).collect(),
    };
    for value in datas.iter().map(|data| serde_json::from_str::<Value>(data).unwrap()) {
        let choice = if kind.is_ollama() { &value } else { &value["choices"][0] };
        let part = match kind {
            Chat => &choice["delta"],
            OllamaChat => &choice["message"],
            Completions | OllamaGenerate => choice,
        };
        thinking += part[kind.field()].as_str().unwrap_or_default();
        content += part[kind.text()].as_str().unwrap_or_default();
        count += 1;
    }
    (thinking, content, count)
}

// ----------------------------------------------------------------------------------------------------------------- merge

#[test]
fn one_chunk_stays_one() {
    let options = options().merge(true);
    for kind in Kind::ALL {
        let input = kind.content("-") + &kind.content("a<think>b</think>c") + &kind.last("d<think>e", "stop");
        let wanted = kind.content("-")
            + &kind.chunk(&kind.both("b", "ac"), None)
            + &kind.chunk(&kind.both("e", "d"), Some("stop"));
        assert_eq!(at_every_cut(&anywhere(), &options, &input), wanted, "{kind:?}");
        // A delta with only thinking or only content is the same without the option.
        let input = kind.content("a") + &kind.content("<think>b") + &kind.last("", "stop");
        let wanted = kind.content("a") + &kind.thinking("b") + &kind.last("", "stop");
        assert_eq!(at_every_cut(&anywhere(), &options, &input), wanted, "{kind:?}");
        // If a chunk has no place for text, the text is still sent in a chunk before it.
        let input = kind.content("a<thi") + &kind.last("", "stop");
        let wanted = kind.content("a") + &kind.content("<thi") + &kind.last("", "stop");
        assert_eq!(at_every_cut(&anywhere(), &options, &input), wanted, "{kind:?}");
    }
}

#[test]
fn merged_text_fills_the_fields_that_are_there() {
    let options = options().merge(true);
    for kind in Kind::ALL {
        let (text, field) = (kind.text(), kind.field());
        let input =
            kind.content("-") + &kind.chunk(&format!("\"{text}\":\"a<think>b</think>c\",\"{field}\":\"\""), None);
        let wanted = kind.content("-") + &kind.chunk(&format!("\"{text}\":\"ac\",\"{field}\":\"b\""), None);
        assert_eq!(at_every_cut(&anywhere(), &options, &input), wanted, "{kind:?}");
    }
    // Other members and blanks stay.
    let input = "data: { \"x\":1, \"choices\":[ {\"delta\": {\"role\":\"assistant\", \"content\" : \"a<think>b</think>c\" , \"b\":1e99} } ] }\n\n";
    let wanted =
        input.replace("\"content\" : \"a<think>b</think>c\"", "\"reasoning_content\":\"b\",\"content\" : \"ac\"");
    assert_eq!(at_every_cut(&anywhere(), &options, input), wanted);
}

#[test]
fn a_choice_that_comes_twice_is_merged_before_its_event() {
    let twice = |first: &str, second: &str| {
        format!(
            "data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{{first}}}}},{{\"index\":0,\"delta\":{{{second}}}}}]}}\n\n"
        )
    };
    let input = twice("\"content\":\"a<think>b</think>c<thi\"", "\"tool_calls\":[{}]");
    let wanted = Chat.chunk("\"reasoning_content\":\"b\",\"content\":\"ac\"", None)
        + &Chat.content("<thi")
        + &twice("\"content\":\"\"", "\"tool_calls\":[{}]");
    assert_eq!(at_every_cut(&anywhere(), &options().merge(true), &input), wanted);
}

#[test]
fn calls_are_merged_too() {
    let dialect = Dialect::load(TAGS).unwrap();
    let options = options().merge(true).calls(true);
    let call = "<tool_call>{\\\"name\\\": \\\"f\\\", \\\"arguments\\\": {\\\"x\\\": 1}}</tool_call>";
    let told = |kind| match kind {
        Chat => {
            "\"tool_calls\":[{\"index\":0,\"id\":\"call_c_0_0\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\": 1}\"}}]"
        }
        _ => {
            "\"tool_calls\":[{\"id\":\"call_t_0_0\",\"function\":{\"index\":0,\"name\":\"f\",\"arguments\":{\"x\": 1}}}]"
        }
    };
    for kind in [Chat, OllamaChat] {
        let input = kind.content("-") + &kind.content(&format!("<think>a</think>b {call}c"));
        let wanted = kind.content("-") + &kind.chunk(&format!("{},{}", kind.both("a", "b c"), told(kind)), None);
        assert_eq!(at_every_cut(&dialect, &options, &input), wanted, "{kind:?}");
    }
    // Without content, the thinking replaces it if the format allows that.
    let input = Chat.content(&format!("<think>a</think>{call}"));
    let wanted = Chat.chunk(&format!("\"reasoning_content\":\"a\",{}", told(Chat)), None);
    assert_eq!(at_every_cut(&dialect, &options, &input), wanted);
    let input = OllamaChat.content("-") + &OllamaChat.content(&format!("<think>a</think>{call}"));
    let wanted = OllamaChat.content("-")
        + &OllamaChat.chunk(&format!("{},{}", OllamaChat.both("a", ""), told(OllamaChat)), None);
    assert_eq!(at_every_cut(&dialect, &options, &input), wanted);
}

#[test]
fn merging_changes_no_text() {
    let mut random = Random::announced("merging_changes_no_text");
    for pair in Pair::all() {
        for text in texts(&mut random, &pair, 8) {
            let kind = *random.pick(&Kind::ALL);
            let most = *random.pick(&[2, 12, 200]);
            let mut input = kind.content("");
            for piece in pieces(&mut random, &text, most) {
                let piece = serde_json::to_string(&piece).unwrap();
                input += &kind.content(&piece[1..piece.len() - 1]);
            }
            input += &kind.last("", "stop");
            let (thinking, content, chunks) =
                client(kind, &at_random_cuts(&pair.library, &options(), &input, &mut random));
            let merged = client(kind, &at_random_cuts(&pair.library, &options().merge(true), &input, &mut random));
            assert_eq!((&merged.0, &merged.1), (&thinking, &content), "{input}");
            let sent = client(kind, &input).2;
            assert!(merged.2 <= chunks && merged.2 <= sent + 1, "{chunks} of {sent} became {}", merged.2);
        }
    }
}

// --------------------------------------------------------------------------------------------------------- promote_empty

#[test]
fn thinking_alone_is_sent_as_content_before_the_end() {
    for kind in Kind::ALL {
        let thinking = kind.content("<think>a") + &kind.content("\\u003cb</thi");
        let told = kind.thinking("a") + &kind.thinking("<b");
        let input = thinking.clone() + &kind.last("", "stop");
        let wanted = told.clone() + &kind.thinking("</thi") + &kind.content("a<b</thi") + &kind.last("", "stop");
        assert_eq!(at_every_cut(&anywhere(), &promoting(), &input), wanted, "{kind:?}");
        // If the last chunk has text, the promoted text is added to it.
        let input = thinking.clone() + &kind.last("c", "stop");
        let wanted = told.clone() + &kind.thinking("</thic") + &kind.last("a<b</thic", "stop");
        assert_eq!(at_every_cut(&anywhere(), &promoting(), &input), wanted, "{kind:?}");
        let wanted = told + &kind.chunk(&kind.both("</thic", "a<b</thic"), Some("stop"));
        assert_eq!(at_every_cut(&anywhere(), &promoting().merge(true), &input), wanted, "{kind:?}");
        // Closed thinking is promoted too.
        let input = kind.content("<think>a</think>") + &kind.last("", "stop");
        let wanted = kind.thinking("a") + &kind.content("a") + &kind.last("", "stop");
        assert_eq!(at_every_cut(&anywhere(), &promoting(), &input), wanted, "{kind:?}");
    }
}

/// Checks that the option does not change the result for a stream.
fn is_not_promoted(dialect: &Dialect, options: &Options, input: &str) {
    let wanted = at_every_cut(dialect, &options.clone().promote_empty(false), input);
    assert_eq!(at_every_cut(dialect, &options.clone().promote_empty(true), input), wanted);
}

#[test]
fn other_answers_are_not_promoted() {
    let tags = Dialect::load(TAGS).unwrap();
    let call = "<tool_call>{\\\"name\\\": \\\"f\\\", \\\"arguments\\\": {}}</tool_call>";
    for kind in Kind::ALL {
        let thinking = kind.content("<think>a");
        let error = if kind.is_ollama() { "{\"error\":\"no\"}\n" } else { "data: {\"error\":{\"code\":1}}\n\n" };
        for end in [
            kind.last("", "length"),
            error.to_owned(),
            String::new(),
            kind.content("</think>b") + &kind.last("", "stop"),
            kind.last("</think>b", "stop"),
            kind.last("</think>", "length") + &kind.last("", "stop"),
        ] {
            is_not_promoted(&anywhere(), &options(), &(thinking.clone() + &end));
        }
        is_not_promoted(&anywhere(), &options(), &(kind.content("b<think>a") + &kind.last("", "stop")));
        is_not_promoted(&anywhere(), &options(), &(kind.content("") + &kind.last("", "stop")));
        let input = thinking + &kind.content(&format!("</think>{call}")) + &kind.last("", "stop");
        is_not_promoted(&tags, &options().calls(true), &input);
        is_not_promoted(&tags, &options(), &input);
    }
    for kind in [Chat, OllamaChat] {
        let part = |members: &str| kind.chunk(&format!("{members},\"content\":\"\""), None);
        for part in [part("\"tool_calls\":[{\"function\":{\"name\":\"f\"}}]"), part("\"images\":[\"a\"]")] {
            is_not_promoted(&anywhere(), &options(), &(kind.content("<think>a") + &part + &kind.last("", "stop")));
        }
    }
    // An event that is not read may contain the answer's text.
    let input = Chat.content("<think>a") + &Chat.content(&"b".repeat(300)) + &Chat.last("", "stop");
    is_not_promoted(&anywhere(), &options().max_event(200), &input);
}

#[test]
fn only_so_much_thinking_is_kept() {
    let options = promoting().max_event(300);
    for kind in Kind::ALL {
        let many =
            |count| kind.content("<think>") + &kind.content(&"a".repeat(100)).repeat(count) + &kind.last("", "stop");
        let run = |input: &str| {
            let output = at_every_cut(&anywhere(), &options, input);
            let mut rewriter = Rewriter::new(&anywhere(), &options).unwrap();
            rewriter.feed(input, &mut Vec::new()).unwrap();
            (client(kind, &output).1.len(), rewriter.stats().unpromoted, rewriter.stats().content_bytes)
        };
        assert_eq!(run(&many(3)), (300, 0, 300), "{kind:?}");
        assert_eq!(run(&many(4)), (0, 1, 0), "{kind:?}");
        // Only answers without content are counted.
        assert_eq!(run(&many(4).replace("\"stop\"", "\"length\"")), (0, 0, 0), "{kind:?}");
        let input = many(4).replacen(&kind.last("", "stop"), &kind.last("</think>b", "stop"), 1);
        assert_eq!(run(&input), (1, 0, 1), "{kind:?}");
    }
}

#[test]
fn thinking_that_the_server_splits_is_promoted_too() {
    for kind in Kind::ALL {
        let split = kind.thinking("a\\\"") + &kind.thinking("b");
        let wanted = split.clone() + &kind.content("a\\\"b") + &kind.last("", "stop");
        let input = split.clone() + &kind.last("", "stop");
        for calls in [false, true] {
            let options = promoting().calls(calls);
            assert_eq!(at_every_cut(&anywhere(), &options, &input), wanted, "{kind:?}");
            for other in [
                split.clone() + &kind.content("c") + &kind.last("", "stop"),
                split.clone() + &kind.last("c", "stop"),
                split.clone() + &kind.chunk(&kind.both("c", "d"), None) + &kind.last("", "stop"),
                kind.content("c") + &split + &kind.last("", "stop"),
                split.clone() + &kind.last("", "length"),
                split.clone(),
            ] {
                assert_eq!(at_every_cut(&anywhere(), &options, &other), other, "{kind:?}");
            }
        }
    }
    let list = Chat.thinking("a")
        + &Chat.chunk("\"content\":[{\"type\":\"text\",\"text\":\"b\"}]", None)
        + &Chat.last("", "stop");
    assert_eq!(at_every_cut(&anywhere(), &promoting(), &list), list);
}

#[test]
fn each_choice_and_each_stream_is_promoted_by_itself() {
    let of = |index: usize, chunk: String| chunk.replace("\"index\":0", &format!("\"index\":{index}"));
    let stream = |promoted: [&str; 3]| {
        let [zero, one, again] = promoted;
        of(0, Chat.content("<think>a"))
            + &of(1, Chat.content("<think>b"))
            + &of(1, Chat.content("</think>c"))
            + one
            + &of(1, Chat.last("", "stop"))
            + zero
            + &of(0, Chat.last("", "stop"))
            + "data: [DONE]\n\n"
            + &Chat.content("<think>d")
            + again
            + &Chat.last("", "stop")
    };
    let output = at_every_cut(&anywhere(), &promoting(), &stream([""; 3]));
    let as_told = stream([&Chat.content("a"), "", &Chat.content("d")])
        .replace("\"content\":\"<think>", "\"reasoning_content\":\"")
        .replace("</think>", "");
    assert_eq!(output, as_told);
    // The same rewriter serves another stream.
    let mut rewriter = Rewriter::new(&anywhere(), &promoting()).unwrap();
    for _ in 0..2 {
        for kind in Kind::ALL {
            let mut out = Vec::new();
            rewriter.feed(kind.content("<think>a") + &kind.last("", "stop"), &mut out).unwrap();
            rewriter.finish(&mut out).unwrap();
            let wanted = kind.thinking("a") + &kind.content("a") + &kind.last("", "stop");
            assert_eq!(String::from_utf8(out).unwrap(), wanted);
        }
    }
}

#[test]
fn bodies_are_promoted() {
    for kind in Kind::ALL {
        let (text, field) = (kind.text(), kind.field());
        let body = |members: &str| kind.body(members, "stop");
        let out = |input: &str| {
            let output = at_every_cut(&anywhere(), &promoting().merge(true), input);
            assert_eq!(at_every_cut(&anywhere(), &promoting().body(Body::Json), input), output, "{kind:?}");
            output
        };
        let unclosed = format!("\"{text}\":\"<think>a\\\"b\"");
        assert_eq!(out(&body(&unclosed)), body(&kind.both("a\\\"b", "a\\\"b")), "{kind:?}");
        let mut rewriter = Rewriter::new(&anywhere(), &promoting()).unwrap();
        let mut bytes = Vec::new();
        rewriter.feed(body(&unclosed), &mut bytes).unwrap();
        rewriter.finish(&mut bytes).unwrap();
        assert_eq!((rewriter.stats().thinking_bytes, rewriter.stats().content_bytes), (3, 3));
        // The finish reason is different, or there is content.
        let cut = kind.body(&unclosed, "length");
        assert_eq!(out(&cut), kind.body(&kind.both("a\\\"b", ""), "length"), "{kind:?}");
        assert_eq!(out(&body(&format!("\"{text}\":\"<think>a</think>b\""))), body(&kind.both("a", "b")), "{kind:?}");
        // The server has split the answer.
        let split = body(&format!("\"{text}\":\"\",\"{field}\":\"a\\u003c\""));
        assert_eq!(
            out(&split),
            split.replace(&format!("\"{text}\":\"\""), &format!("\"{text}\":\"a\\u003c\"")),
            "{kind:?}"
        );
        let answered = body(&kind.both("a", "b"));
        assert_eq!(out(&answered), answered, "{kind:?}");
        let cut = kind.body(&kind.both("a", ""), "length");
        assert_eq!(out(&cut), cut, "{kind:?}");
    }
    for (content, wanted) in [(",\"content\":null", ",\"content\":\"a\""), ("", ",\"content\":\"a\"")] {
        let input = Chat.body(&format!("\"reasoning_content\":\"a\"{content}"), "stop");
        let wanted = Chat.body(&format!("\"reasoning_content\":\"a\"{wanted}"), "stop");
        assert_eq!(at_every_cut(&anywhere(), &promoting(), &input), wanted);
    }
    let call = Chat.body("\"reasoning_content\":\"a\",\"content\":null,\"tool_calls\":[{\"id\":\"x\"}]", "stop");
    assert_eq!(at_every_cut(&anywhere(), &promoting(), &call), call);
}

// --------------------------------------------------------------------------------------------------------- hostile bytes

/// Damages streams by lost, doubled and random bytes: cuts must make no difference with any options.
#[test]
fn hostile_streams_are_cut_anywhere() {
    let mut random = Random::announced("hostile_streams_are_cut_anywhere");
    let tags = Dialect::load(TAGS).unwrap();
    let call = "<tool_call>{\\\"name\\\": \\\"f\\\", \\\"arguments\\\": {\\\"x\\\": 1}}</tool_call>";
    for _ in 0..10_000 {
        let kind = *random.pick(&Kind::ALL);
        let mut stream = Vec::new();
        for _ in 0..1 + random.below(6) {
            let kind = if random.one_in(8) { *random.pick(&Kind::ALL) } else { kind };
            let text = *random.pick(&["a<think>b</think>c", "<thi", "nk>", "</think>", "", call, "x\\n"]);
            let chunk = match random.below(5) {
                0 => kind.last(text, if random.one_in(2) { "stop" } else { "length" }),
                1 => kind.thinking(text),
                2 => kind.chunk(&kind.both("a", text), None),
                _ => kind.content(text),
            };
            stream.extend_from_slice(chunk.as_bytes());
        }
        for _ in 0..random.below(4) {
            let at = random.below(stream.len());
            match random.below(4) {
                0 => stream[at] = *random.pick(b"\n\r\"{}[]:,\\x\0\xFF"),
                1 => drop(stream.drain(at..(at + 1 + random.below(9)).min(stream.len()))),
                2 => stream.insert(at, *random.pick(b"\n\r\"{}[]:,\\ ")),
                _ => {
                    let part = stream[at..(at + random.below(40)).min(stream.len())].to_vec();
                    drop(stream.splice(at..at, part));
                }
            }
            if stream.is_empty() {
                break;
            }
        }
        let options = options()
            .merge(random.one_in(2))
            .promote_empty(random.one_in(2))
            .calls(random.one_in(2))
            .body(*random.pick(&[Body::Unknown, Body::Events, Body::Lines, Body::Json]))
            .max_event(*random.pick(&[Options::MAX_EVENT, 250, 100]));
        let run = |chunks: &[&[u8]]| {
            let mut rewriter = Rewriter::new(&tags, &options).unwrap();
            let mut out = Vec::new();
            chunks.iter().for_each(|chunk| rewriter.feed(chunk, &mut out).unwrap());
            rewriter.finish(&mut out).unwrap();
            (out, rewriter.stats())
        };
        let whole = run(&[&stream]);
        let about = stream.escape_ascii().to_string();
        assert!(run(&support::bytes(&stream)) == whole, "byte by byte: {about}");
        for _ in 0..4 {
            let cuts = support::random_cuts(&mut random, &stream, 60);
            assert!(run(&cuts) == whole, "{options:?} {about}");
        }
    }
}
