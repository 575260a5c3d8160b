//! Cuts texts everywhere: the scanner must have the reference's result for the whole text. The texts are random texts of every
//! dialect from every start, and recorded texts. `ASIDE_SEED` sets the seed, which a failure prints.

use aside::Scanner;
use samples::{Random, Texts};
use std::path::{Path, PathBuf};
use support::Pair;

/// Runs every dialect from each of its starts, with texts of the dialect.
fn everywhere(test: &str, each: impl Fn(&Pair, &str, &Texts, &mut Random)) {
    let mut random = Random::announced(test);
    for pair in Pair::all() {
        let texts = Texts::new(&pair.reference);
        for start in pair.reference.starts() {
            each(&pair, start, &texts, &mut random);
        }
    }
}

#[test]
fn short_texts_cut_in_three() {
    everywhere("short_texts_cut_in_three", |pair, start, texts, random| {
        for length in [12, 20, 40, 60] {
            let text = texts.next(random, length);
            let wanted = reference::read(&pair.reference, &text, Some(start));
            pair.check_threes(Some(start), &text, &wanted);
        }
    });
}

#[test]
fn texts_cut_in_two() {
    everywhere("texts_cut_in_two", |pair, start, texts, random| {
        for _ in 0..30 {
            let length = 1 + random.below(200);
            let text = texts.next(random, length);
            let wanted = reference::read(&pair.reference, &text, Some(start));
            pair.check_twos(Some(start), &text, &wanted);
        }
    });
}

#[test]
fn long_texts_cut_everywhere() {
    everywhere("long_texts_cut_everywhere", |pair, start, texts, random| {
        let length = if random.one_in(3) { 4096 } else { 1500 };
        let text = texts.next(random, length);
        let wanted = reference::read(&pair.reference, &text, Some(start));
        support::cuts(&text).for_each(|chunks| pair.check(Some(start), &chunks, &wanted));
    });
}

#[test]
fn texts_byte_by_byte_and_cut_at_random() {
    everywhere("texts_byte_by_byte_and_cut_at_random", |pair, start, texts, random| {
        for round in 0..500 {
            let length = 1 + random.below(if round % 50 == 0 { 2000 } else { 120 });
            let text = texts.next(random, length);
            let wanted = reference::read(&pair.reference, &text, Some(start));
            pair.check(Some(start), &[&text], &wanted);
            pair.check(Some(start), &support::bytes(&text), &wanted);
            for most in [2, 5, 40] {
                pair.check(Some(start), &support::random_cuts(random, &text, most), &wanted);
            }
        }
    });
}

#[test]
fn any_bytes() {
    everywhere("any_bytes", |pair, start, _, random| {
        for _ in 0..40 {
            let length = random.below(300);
            let text: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
            let wanted = reference::read(&pair.reference, &text, Some(start));
            pair.check(Some(start), &support::bytes(&text), &wanted);
            pair.check(Some(start), &support::random_cuts(random, &text, 9), &wanted);
        }
    });
}

#[test]
fn stray_closers_as_the_host_says() {
    everywhere("stray_closers_as_the_host_says", |pair, start, texts, random| {
        for _ in 0..100 {
            let length = 1 + random.below(120);
            let text = texts.next(random, length);
            for (stray_close, stray) in support::STRAYS {
                let wanted = reference::read_with_stray(&pair.reference, &text, Some(start), stray);
                let mut scanner = support::scanner_with_stray(&pair.library, start, stray_close);
                for chunks in [vec![&text[..]], support::bytes(&text), support::random_cuts(random, &text, 5)] {
                    if let Some(difference) = support::difference(&wanted, &support::run(&mut scanner, &chunks)) {
                        let (name, chunks) = (&pair.reference.name, support::shown(&chunks));
                        panic!("{name} from {start}, {stray:?}, {chunks}: {difference}");
                    }
                }
            }
        }
    });
}

#[test]
fn starts_that_were_guessed() {
    everywhere("starts_that_were_guessed", |pair, start, texts, random| {
        if pair.reference.start.as_deref() != Some(start) {
            return;
        }
        for _ in 0..100 {
            let length = 1 + random.below(120);
            let text = texts.next(random, length);
            let wanted = reference::read_ended(&pair.reference, &text);
            let mut scanner = Scanner::new(&pair.library);
            for chunks in [vec![&text[..]], support::bytes(&text), support::random_cuts(random, &text, 5)] {
                if let Some(difference) = support::difference(&wanted, &support::run_ended(&mut scanner, &chunks)) {
                    let (name, chunks) = (&pair.reference.name, support::shown(&chunks));
                    panic!("{name} from {start}, ended, {chunks}: {difference}");
                }
            }
        }
    });
}

#[test]
fn calls_told_apart() {
    everywhere("calls_told_apart", |pair, start, texts, random| {
        if !pair.has_calls() {
            return;
        }
        for round in 0..500 {
            let length = 1 + random.below(if round % 50 == 0 { 1500 } else { 150 });
            let text = texts.next(random, length);
            let wanted = reference::read_with_calls(&pair.reference, &text, Some(start));
            pair.check_calls(Some(start), &[&text], &wanted);
            pair.check_calls(Some(start), &support::bytes(&text), &wanted);
            for most in [2, 5, 40] {
                pair.check_calls(Some(start), &support::random_cuts(random, &text, most), &wanted);
            }
            if round % 50 == 1 {
                for at in 0..=text.len() {
                    pair.check_calls(Some(start), &[&text[..at], &text[at..]], &wanted);
                }
            }
        }
    });
}

#[test]
fn calls_of_tokens() {
    everywhere("calls_of_tokens", |pair, start, texts, random| {
        if !pair.has_calls() {
            return;
        }
        for round in 0..200 {
            let length = 1 + random.below(if round % 50 == 0 { 1500 } else { 150 });
            let text = texts.next(random, length);
            let tokens = support::tokens(&text, random);
            let special = support::special(&tokens);
            let wanted = reference::read_tokens_with_calls(&pair.reference, &text, Some(start), &special);
            for stops in [false, true] {
                let options = aside::ScannerOptions::new().start(start.parse::<aside::Start>().unwrap()).calls(true);
                let mut scanner = aside::Scanner::with_options(&pair.library, &options).unwrap();
                let mut got = Vec::new();
                support::feed_some_tokens(&mut scanner, &text, &tokens, random, stops, &mut got);
                scanner.finish(|event| support::push(&mut got, event)).unwrap();
                let got = reference::joined_with_calls(&got);
                if let Some(difference) = support::difference(&wanted, &got) {
                    let name = &pair.reference.name;
                    panic!("{name} from {start}: {difference}\n  text {}", support::with_special(&text, &special));
                }
            }
        }
    });
}

/// Checks the dialect's own start without an option for it.
#[test]
fn the_start_that_the_dialect_names() {
    let mut random = Random::announced("the_start_that_the_dialect_names");
    for pair in Pair::all() {
        let texts = Texts::new(&pair.reference);
        for _ in 0..50 {
            let text = texts.next(&mut random, 100);
            let wanted = reference::read(&pair.reference, &text, None);
            pair.check(None, &support::random_cuts(&mut random, &text, 6), &wanted);
        }
    }
}

// Random texts do not reach the limits. These texts are just below and just above each limit.

fn at_the_limits(name: &str, starts: &[&str], texts: &[String]) {
    let pair = Pair::find(name);
    let mut random = Random::announced(name);
    for start in starts {
        for (number, text) in texts.iter().enumerate() {
            let text = text.as_bytes();
            let wanted = reference::read(&pair.reference, text, Some(start));
            pair.check(Some(start), &[text], &wanted);
            pair.check(Some(start), &support::bytes(text), &wanted);
            for most in [3, 30] {
                pair.check(Some(start), &support::random_cuts(&mut random, text, most), &wanted);
            }
            if number % 7 == 0 && text.len() < 1000 {
                pair.check_twos(Some(start), text, &wanted);
            }
        }
    }
}

#[test]
fn limits_of_white_space_in_tags() {
    let mut texts = Vec::new();
    for gap in [63, 64, 65, 130] {
        let gap = " ".repeat(gap);
        texts.push(format!("a<{gap}think>b</think>c"));
        texts.push(format!("a<think{gap}>b</think>c"));
        texts.push(format!("a<think>b<{gap}/think>c"));
        texts.push(format!("a<think>b</{gap}think>c"));
        texts.push(format!("a<think>b</think{gap}>c"));
        texts.push(format!("a<{gap}narrate{gap}>b<{gap}/{gap}narrate{gap}>c"));
        texts.push(format!("<{gap}<think>b<{gap}/{gap}</think>c"));
    }
    at_the_limits("thinking-tags", &["content", "thinking"], &texts);
    at_the_limits("thought-narrate", &["content", "thinking", "narration"], &texts);
}

#[test]
fn limits_of_fences() {
    let mut texts = Vec::new();
    for count in [63, 64, 65, 66, 200] {
        let (blanks, ticks, word) = (" ".repeat(count), "`".repeat(count), "w".repeat(count));
        for end in ["", "\n", "\r", "\r\n", "\r\r\n", "x"] {
            texts.push(format!("a\n```{blanks}{end}"));
            texts.push(format!("a\n   {ticks}{end}"));
            texts.push(format!("a\n```{word}{end}"));
            texts.push(format!("a\n   {ticks}{blanks}{end}"));
            texts.push(format!("a\n   {ticks}{word}{end}\nb\n{ticks}{blanks}{end}\n```z"));
            texts.push(format!("a```thinking{blanks}{end}b\n```z"));
            texts.push(format!("~{ticks}\n~~~{blanks}\nb\n~~~~{word}{end}\n```z"));
            texts.push(format!("~~~{word}\n{ticks}\n~~~{blanks}{end}\n```z"));
        }
    }
    at_the_limits("fenced-thinking", &["content", "thinking"], &texts);
}

#[test]
fn limits_of_headers() {
    let mut texts = Vec::new();
    for count in [240, 244, 245, 246, 247, 248, 255, 256, 257, 258, 600] {
        for fill in ["v", " ", "v "] {
            let fill = fill.repeat(count / fill.len());
            texts.push(format!("<|channel|>{fill}<|message|>b<|end|>c"));
            texts.push(format!("<|channel|>a {fill}<|message|>b<|end|>c"));
            texts.push(format!("<|start|>{fill}<|channel|>a<|message|>b<|end|>c"));
            texts.push(format!("<|start|> {fill}"));
            texts.push(format!("<|start|>a b {fill}\nb<|end|>c"));
            texts.push(format!(" to=x {fill}<|message|>b<|end|>c"));
            texts.push(format!("to={fill}<|channel|>a<|message|>b<|end|>c"));
            texts.push(format!("<|message|>{fill}<|channel|>a<|message|>b<|end|>c"));
        }
    }
    at_the_limits("harmony", &["content", "thinking", "tool", "header"], &texts);
}

#[test]
fn limits_of_a_tag_with_attributes() {
    let mut texts = Vec::new();
    for length in [65_535, 65_536, 65_537, 65_600] {
        let room = |text: &str| "x".repeat(length - text.len());
        let tag = "<thinking a=\"\"/>";
        texts.push(format!("q<thinking a=\"{}\"/>c", room(tag)));
        let tag = "<thinking >";
        texts.push(format!("q<thinking {}>c</thinking>d", " ".repeat(length - tag.len())));
        let tag = "<thinking a='<thinking>'>";
        texts.push(format!("q<thinking a='<thinking>{}'>c</thinking>d", room(tag)));
    }
    at_the_limits("thought-stream", &["content", "thinking"], &texts);
}

#[test]
fn limit_of_depth() {
    let mut texts = Vec::new();
    for depth in [6, 7, 8, 9, 12] {
        let (open, close) = ("<|begin_of_box|>".repeat(depth), "<|end_of_box|>".repeat(depth));
        texts.push(format!("{open}a<think>b</think>c{close}d"));
        texts.push(format!("{open}a\n<think>b<tool_call>c</tool_call>d{close}</think>e{close}f"));
        texts.push(format!("{open}a<tool_call>c</tool_call>\n</think>\n{close}</think>"));
    }
    at_the_limits("glm-4.5", &["content", "thinking", "tool"], &texts);

    // A header may be inside a wrapper of the content, but it ends a message's body.
    let mut texts = Vec::new();
    for depth in [2, 3, 4, 6] {
        let (header, wrapper) = ("<|channel|>final<|message|>", "<|START_RESPONSE|>");
        for open in [format!("{header}{wrapper}"), format!("{wrapper}{header}"), format!("{wrapper}{header}{header}")] {
            let open = open.repeat(depth);
            texts.push(format!("{open}a<think>b<|tool_call>c</think>d<|end|>e<|END_RESPONSE|>f"));
            texts.push(format!(
                "{open}a<|channel|>analysis<|message|>b[TOOL_CALLS]c<|end|>d<|END_RESPONSE|>e<|message|>f"
            ));
        }
    }
    at_the_limits("any", &["content", "thinking", "tool", "header"], &texts);
}

/// Checks that a span that ends the thinking does not need another level of nesting.
#[test]
fn limit_of_depth_where_content_ends_the_thinking() {
    let thinking = r#"{ channel = "thinking", open = ["<t>"], close = ["</t>"] }"#;
    let content = r#"{ channel = "content", open = ["<a>"], close = ["</a>"], ends = "thinking" }"#;
    let tool = r#"{ channel = "tool", open = ["<c>"], close = ["</c>"], pauses = "thinking" }"#;
    let pair = Pair::parse(&format!("name = 'deep'\nspan = [{thinking}, {content}, {tool}]"));
    for depth in 3..9 {
        for inside in ["x<a>y", "x<c>y</c><a>z", "<a><t>x<a>y<t>z<a>w<a>"] {
            let text = format!("{}<t>{inside}</a></t></a>{}v", "<a>".repeat(depth), "</a>".repeat(depth));
            for start in ["content", "thinking"] {
                let wanted = reference::read(&pair.reference, text.as_bytes(), Some(start));
                pair.check(Some(start), &[text.as_bytes()], &wanted);
                pair.check(Some(start), &support::bytes(text.as_bytes()), &wanted);
                pair.check_twos(Some(start), text.as_bytes(), &wanted);
            }
        }
    }
}

// Recorded outputs of models, if they are available. They are not part of the project.

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for path in support::files(folder) {
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

/// Tests each text with only two dialects, which change from text to text, because all dialects would take too long.
fn recorded(test: &str, texts: &[Vec<u8>]) {
    let mut random = Random::announced(test);
    let pairs = Pair::all();
    for (number, text) in texts.iter().enumerate() {
        for turn in 0..2 {
            let pair = &pairs[(number * 2 + turn) % pairs.len()];
            let starts = pair.reference.starts();
            let start = starts[number % starts.len()];
            let wanted = reference::read(&pair.reference, text, Some(start));
            pair.check(Some(start), &support::random_cuts(&mut random, text, 6), &wanted);
            pair.check(Some(start), &support::random_cuts(&mut random, text, 70), &wanted);
        }
    }
}

#[test]
fn recorded_transcripts() {
    let Some(folder) = support::shared("corpus/transcripts") else { return };
    let mut texts = Vec::new();
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "jsonl")) {
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let message: serde_json::Value = serde_json::from_str(line).unwrap();
            let mut text = message["text"].as_str().unwrap_or_default().as_bytes().to_vec();
            text.truncate(16 * 1024);
            texts.push(text);
        }
    }
    assert!(!texts.is_empty());
    let step = texts.len().div_ceil(200);
    let sample: Vec<Vec<u8>> = texts.into_iter().step_by(step).collect();
    recorded("recorded_transcripts", &sample);
}

#[test]
fn recorded_event_streams() {
    let Some(folder) = support::shared("corpus/sse") else { return };
    let mut texts = Vec::new();
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    for path in paths {
        let mut text = std::fs::read(path).unwrap();
        text.truncate(16 * 1024);
        texts.push(text);
    }
    assert!(!texts.is_empty());
    let step = texts.len().div_ceil(60);
    let sample: Vec<Vec<u8>> = texts.into_iter().step_by(step).collect();
    recorded("recorded_event_streams", &sample);
}
