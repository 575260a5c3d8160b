//! Tests tags that are not the dialect's own, and markers that a text only mentions: through the library as a host uses it, whole
//! and byte by byte.

use aside::{Channel, Dialect, Kind, LeadingTags, Scanner, ScannerOptions, Start, Token};

/// The thinking and the content of a text.
type Split = (String, String);

struct Columns([Vec<u8>; 2]);

impl Columns {
    fn new() -> Columns {
        Columns([Vec::new(), Vec::new()])
    }

    fn hear(&mut self, event: &aside::Event<'_>) {
        let [thinking, content] = &mut self.0;
        match (&event.kind, event.channel) {
            (Kind::Text, Channel::Thinking) => thinking.extend_from_slice(event.bytes),
            (Kind::Text, Channel::Content) => content.extend_from_slice(event.bytes),
            (Kind::Reclassify, _) => thinking.append(content),
            _ => {}
        }
    }

    fn split(self) -> Split {
        let [thinking, content] = self.0.map(|column| String::from_utf8(column).unwrap());
        (thinking, content)
    }
}

fn split_by(scanner: &mut Scanner, text: &str, size: usize) -> Split {
    let mut columns = Columns::new();
    for chunk in text.as_bytes().chunks(size) {
        scanner.feed(chunk, |event| columns.hear(&event)).unwrap();
    }
    scanner.finish(|event| columns.hear(&event)).unwrap();
    columns.split()
}

fn split_with(dialect: &Dialect, options: &ScannerOptions, text: &str) -> Split {
    let scanner = || Scanner::with_options(dialect, options).unwrap();
    let whole = split_by(&mut scanner(), text, usize::MAX);
    assert_eq!(split_by(&mut scanner(), text, 1), whole, "{text:?} byte by byte");
    whole
}

fn split(name: &str, text: &str) -> Split {
    split_with(&Dialect::find(name).unwrap(), &ScannerOptions::new(), text)
}

fn pair(thinking: &str, content: &str) -> Split {
    (thinking.into(), content.into())
}

#[test]
fn a_leading_tag_opens_the_thinking_in_all_dialects_of_models() {
    let mut count = 0;
    for file in reference::all().iter().filter(|file| !file.leading_tags().is_empty()) {
        let dialect = Dialect::find(&file.name).unwrap();
        for start in file.starts().into_iter().filter(|start| ["content", "thinking", "header"].contains(start)) {
            for name in file.leading_tags() {
                let text = format!("\n<{name}>\nhm\n</{name}>\n\nYes. <{name}>No.");
                let options = ScannerOptions::new().start(start.parse::<Start>().unwrap());
                let (thinking, content) = split_with(&dialect, &options, &text);
                let about = format!("{} from {start}: {text:?}", file.name);
                assert_eq!(thinking.trim_start_matches('\n'), "hm", "{about}");
                assert_eq!(content.trim_start_matches('\n'), format!("Yes. <{name}>No."), "{about}");
                let text = options.leading_tags(LeadingTags::Text);
                let (thinking, content) = split_with(&dialect, &text, &format!("<{name}>hm"));
                assert_eq!(format!("{thinking}{content}"), format!("<{name}>hm"), "{about}, as text");
                count += 1;
            }
        }
    }
    assert!(count > 200, "{count}");
}

#[test]
fn a_leading_tag_is_ended_by_the_closer_of_the_family() {
    assert_eq!(split("kimi-k3", "<think>hm<|close|>think<|sep|>Yes."), pair("hm", "Yes."));
    assert_eq!(split("qwen3", "<thinking>\nhm\n</think>\n\nYes."), pair("hm", "Yes."));
    assert_eq!(split("harmony", "<think>hm<|end|>Yes."), pair("hm", "Yes."));
    assert_eq!(split("harmony", "<think>hm<|channel|>final<|message|>Yes."), pair("hm", "Yes."));
    assert_eq!(split("qwen3", "a<thinking>b</thinking>"), pair("", "a<thinking>b</thinking>"));
}

#[test]
fn a_leading_tag_counts_after_a_prompt() {
    let kimi = Dialect::find("kimi-k3").unwrap();
    let qwen = Dialect::find("qwen3").unwrap();
    let cases = [
        (&kimi, "<|open|>think<|sep|>", "<think>hm</think>Yes.", pair("hm", "Yes.")),
        (&qwen, "<|im_start|>assistant\n<think>\n\n</think>\n\n", "<thought>hm</thought>Yes.", pair("hm", "Yes.")),
        // The prompt has begun the answer.
        (&qwen, "<|im_start|>assistant\nSure, ", "<thought>hm</thought>", pair("", "<thought>hm</thought>")),
    ];
    for (dialect, prompt, text, wanted) in cases {
        for size in [1, usize::MAX] {
            let mut scanner = Scanner::new(dialect);
            scanner.start_from_prompt(prompt).unwrap();
            assert_eq!(split_by(&mut scanner, text, size), wanted, "{prompt:?} {text:?}");
        }
    }
}

#[test]
fn a_tag_that_the_answer_mentions_is_text() {
    let after = |text: &str| format!("So. {text}");
    for text in [
        "The tag <think> opens it and </think> closes it.",
        "The switch (/think not producing <think> tags) is off.",
        "It writes <think>, then <think>.",
        "See (<think>) and \"<think>\" and “<think>”.",
        "In '<think>x' it is quoted.",
    ] {
        for dialect in ["qwen3", "any", "glm-4.5"] {
            assert_eq!(split(dialect, &after(text)), pair("", &after(text)), "{dialect}");
        }
    }
    // Without a blank on both sides, at a line's beginning, and before a line's end, it is meant.
    for (text, wanted) in [
        ("a<think>b</think>c", pair("b", "ac")),
        ("a <think>b</think>c", pair("b", "a c")),
        ("a\n<think> b</think>c", pair(" b", "a\nc")),
        ("a <think>\nb\n</think>\n\nc", pair("b", "a c")),
        ("a (<think>\nb\n</think>\n\nc", pair("b", "a (c")),
        ("a <think>", pair("", "a ")),
        ("<tool_call>x</tool_call> a", pair("", "<tool_call>x</tool_call> a")),
    ] {
        assert_eq!(split("qwen3", text), wanted, "{text:?}");
    }
    // Only the next closer on that line.
    assert_eq!(split("any", "a <think> b</think>c</think>d"), pair("a <think> b</think>c", "d"));
    assert_eq!(split("any", "a <think> b\n</think>d"), pair("a <think> b", "d"));
}

#[test]
fn a_token_that_the_answer_mentions_is_text() {
    for (text, wanted) in [
        ("The token <|im_end|> ends a turn.", "The token <|im_end|> ends a turn."),
        ("So: <|im_end|> 是", "So: <|im_end|> 是"),
        ("Yes.<|im_end|>", "Yes."),
        ("Yes.<|im_end|> ", "Yes. "),
        ("Yes.<|im_end|>\nand", "Yes.\nand"),
        ("Yes.<|im_end|>and", "Yes.and"),
        ("Yes.<|im_end|> 1", "Yes. 1"),
        ("<|im_end|> Yes.", " Yes."),
        ("a <think> <|im_end|> b </think> c", "a <think> <|im_end|> b </think> c"),
    ] {
        assert_eq!(split("qwen3", text), pair("", wanted), "{text:?}");
    }
    let mut scanner = Scanner::new(&Dialect::find("qwen3").unwrap());
    let mut columns = Columns::new();
    let tokens = [Token::text(5), Token::special(10), Token::text(2)];
    scanner.feed_tokens("So is<|im_end|> a", &tokens, |event| columns.hear(&event)).unwrap();
    scanner.finish(|event| columns.hear(&event)).unwrap();
    assert_eq!(columns.split(), pair("", "So is a"));
}

#[test]
fn a_closer_that_the_thinking_quotes_is_text() {
    for quote in ['`', '\'', '"'] {
        let text = format!(
            "<think>I write {quote}</think>{quote} and\n{quote}</think>{quote} ({quote}</think>{quote}.</think>Yes."
        );
        let thinking = &text["<think>".len()..text.len() - "</think>Yes.".len()];
        assert_eq!(split("deepseek-r1", &text), pair(thinking, "Yes."));
    }
    assert_eq!(split("deepseek-r1", "<think>hm \"x\"</think>\"Hello\""), pair("hm \"x\"", "\"Hello\""));
    assert_eq!(split("deepseek-r1", "<think>hm `</think>"), pair("hm `", ""));
    assert_eq!(split("deepseek-r1", "<think>hm `</think>'"), pair("hm `", "'"));
}

#[test]
fn a_flush_takes_such_a_marker_for_one() {
    let dialect = Dialect::find("deepseek-r1").unwrap();
    let mut scanner = Scanner::new(&dialect);
    let mut columns = Columns::new();
    scanner.feed("<think>hm `</think>", |event| columns.hear(&event)).unwrap();
    assert_eq!(scanner.held(), b"</think>");
    scanner.flush(|event| columns.hear(&event)).unwrap();
    scanner.feed("` and", |event| columns.hear(&event)).unwrap();
    scanner.finish(|event| columns.hear(&event)).unwrap();
    assert_eq!(columns.split(), pair("hm `", "` and"));
}

#[test]
fn a_special_token_always_counts() {
    let dialect = Dialect::find("deepseek-r1").unwrap();
    let mut scanner = Scanner::new(&dialect);
    let mut columns = Columns::new();
    let tokens =
        [Token::special(7), Token::text(4), Token::special(8), Token::text(6), Token::special(7), Token::text(2)];
    scanner.feed_tokens("<think>hm '</think>' Yes <think> a", &tokens, |event| columns.hear(&event)).unwrap();
    scanner.finish(|event| columns.hear(&event)).unwrap();
    assert_eq!(columns.split(), pair("hm ' a", "' Yes "));
}

#[test]
fn after_a_prompt_that_closed_the_thinking_a_closer_goes_alone() {
    for (name, prompt) in [
        ("qwen3", "<|im_start|>assistant\n<think>\n\n</think>\n\n"),
        ("nemotron", "<|im_start|>assistant\n<think></think>"),
        ("deepseek-v3", "<｜Assistant｜></think>"),
    ] {
        let mut scanner = Scanner::new(&Dialect::find(name).unwrap());
        scanner.start_from_prompt(prompt).unwrap();
        let wanted = pair("", "First.Final.");
        assert_eq!(split_by(&mut scanner, "\n\n</think>First.</think>Final.", usize::MAX), wanted, "{name}");
    }
    // A start that an option says keeps the dialect's rule.
    let content = ScannerOptions::new().start(Start::Channel(Channel::Content));
    assert_eq!(
        split_with(&Dialect::find("qwen3").unwrap(), &content, "First.</think>Final."),
        pair("First.", "Final.")
    );
}

#[test]
fn line_breaks_before_a_closer_that_comes_first_go_with_it() {
    assert_eq!(split("qwen3", "\n\n</think>\n\nHello!"), pair("", "Hello!"));
    assert_eq!(split("any", "\n\n</think>\n\nHello!"), pair("", "Hello!"));
    assert_eq!(split("kimi-k2", "<think>hm</think>\n\n</think>Yes."), pair("hm", "Yes."));
}

#[test]
fn an_end_of_the_turn_goes_where_nothing_comes_after_it() {
    for end in ["<|im_end|>", "<|eos|>", "<|eom|>", "</s>", "<|eot_id|>"] {
        assert_eq!(split("any", &format!("Yes.{end}")), pair("", "Yes."));
        assert_eq!(split("any", &format!("Yes{end}.")), pair("", &format!("Yes{end}.")));
        assert_eq!(split("any", &format!("`{end}")), pair("", &format!("`{end}")));
    }
}
