//! Reads streams that follow a rendered prompt: their start must be found, and the result must be the same whichever part of the
//! turn is in the prompt.

use aside::{Channel, Counts, Dialect, Error, Kind, Scanner, ScannerOptions, Start};
use reference::{Event, What};
use samples::{Random, Texts};
use support::Pair;

fn run(pair: &Pair, prompt: &[u8], chunks: &[&[u8]]) -> Vec<Event> {
    let mut scanner = Scanner::new(&pair.library);
    scanner.start_from_prompt(prompt).unwrap();
    support::run(&mut scanner, chunks)
}

/// Checks a text whole, byte by byte, and stopped at each event.
fn check(pair: &Pair, prompt: &[u8], text: &[u8]) {
    let wanted = reference::read_behind(&pair.reference, prompt, text);
    let got = run(pair, prompt, &[text]);
    let name = &pair.reference.name;
    // These prompts are left out: they have closed the thinking and begin another closer. The documentation does not say whether
    // that is an extra closer.
    let closers = pair.reference.spans.iter().filter(|span| span.channel == "thinking").flat_map(|span| {
        let names = span.tag.iter().flat_map(|tag| &tag.names).map(|name| format!("</{name}"));
        span.close.iter().cloned().chain(names).chain(span.tag.iter().map(|_| "</".to_string()))
    });
    let ends =
        |begin: &[u8]| prompt.len() >= begin.len() && prompt[prompt.len() - begin.len()..].eq_ignore_ascii_case(begin);
    let is_begun = |close: String| (1..close.len()).any(|end| ends(&close.as_bytes()[..end]));
    if closers.into_iter().any(is_begun) && has_closed(pair, prompt) {
        return;
    }
    let about = || format!("{name}: \"{}\" | \"{}\"", prompt.escape_ascii(), text.escape_ascii());
    // In these dialects, text in the stream may decide about markers in the prompt: a header may break off, the text after a fence
    // may become another word, a quote in a tag may not be closed and a tag inside it counts, and an opener may precede no call. So
    // only the texts of the channels are compared.
    let looks_ahead = pair.has_calls()
        || pair.reference.header.is_some()
        || pair
            .reference
            .spans
            .iter()
            .any(|span| span.fence.is_some() || span.tag.as_ref().is_some_and(|tag| tag.attributes.is_some()));
    if !looks_ahead && let Some(difference) = support::difference(&wanted, &got) {
        panic!("{}: {difference}", about());
    }
    for channel in Channel::ALL {
        let of = |events: &[Event]| reference::channel(events, channel.as_str());
        assert_eq!(of(&wanted), of(&got), "{} {channel}", about());
    }
    let joined: Vec<u8> = got.iter().flat_map(|event| event.bytes.clone()).collect();
    assert_eq!(joined, text, "{} loses bytes", about());
    assert_eq!(run(pair, prompt, &support::bytes(text)), got, "{} in bytes", about());
    let mut scanner = Scanner::new(&pair.library);
    scanner.start_from_prompt(prompt).unwrap();
    assert_eq!(support::run_stopping(&mut scanner, &[text]), got, "{} stopped at each event", about());
}

/// Returns whether a prompt has closed a thinking.
fn has_closed(pair: &Pair, prompt: &[u8]) -> bool {
    let turn = reference::own_turn(&pair.reference, prompt);
    let start = if pair.reference.start.as_deref() == Some("header") { "header" } else { "content" };
    let events = reference::events(&pair.reference, turn, Some(start));
    let closes = |event: &Event| {
        event.channel == "thinking" && matches!(event.what, What::Close(reference::MARKER) | What::Reclassify)
            || event.channel == "content" && event.what == What::Framing
    };
    events.iter().any(closes)
}

/// Returns whole turns to cut: the examples of a dialect. If an example starts inside a span, an opener of the span precedes it.
fn turns(pair: &Pair) -> Vec<Vec<u8>> {
    let file = &pair.reference;
    let mut turns = Vec::new();
    for example in &file.examples {
        turns.push(example.input.clone().into_bytes());
        for span in file.spans.iter().filter(|span| Some(span.channel.as_str()) == file.start.as_deref()) {
            turns.extend(
                span.open
                    .iter()
                    .map(|open| [open.as_str(), &span.framing.after_open, &example.input].concat().into_bytes()),
            );
        }
    }
    turns
}

#[test]
fn it_does_not_matter_where_the_prompt_ends() {
    for pair in Pair::all() {
        let turn = pair.reference.turns.first().cloned().unwrap_or_default();
        for text in turns(&pair) {
            // A text with a turn marker would be cut there, which is tested below.
            if pair.reference.turns.iter().any(|turn| text.windows(turn.len()).any(|part| part == turn.as_bytes())) {
                continue;
            }
            // In a dialect without turn markers, an empty prompt has no information.
            for at in usize::from(turn.is_empty())..text.len() {
                check(&pair, &[turn.as_bytes(), &text[..at]].concat(), &text[at..]);
            }
        }
    }
}

/// Checks the same with texts that no model writes: with cut, doubled and nested markers.
#[test]
fn it_does_not_matter_for_random_texts() {
    let mut random = Random::announced("prompts");
    for pair in Pair::all() {
        let texts = Texts::new(&pair.reference);
        for _ in 0..60 {
            let text = texts.next(&mut random, 80);
            let Some(at) = text.len().checked_sub(1).map(|most| 1 + random.below(most.max(1))) else { continue };
            check(&pair, &text[..at.min(text.len())], &text[at.min(text.len())..]);
        }
    }
}

/// Checks each family: an ordinary generation prompt, an opener in it, an empty block in it, and markers in earlier turns.
#[test]
fn every_family_reads_its_prompts() {
    for pair in Pair::all().into_iter().filter(|pair| !pair.reference.turns.is_empty()) {
        let file = &pair.reference;
        let turn = file.turns[0].as_str();
        let first =
            if file.start.as_deref() == Some("header") { Start::Header } else { Start::Channel(Channel::Content) };
        let start = |prompt: &str| {
            let mut scanner = Scanner::new(&pair.library);
            scanner.start_from_prompt(prompt.as_bytes()).unwrap()
        };
        let other = file.turns.last().unwrap();
        assert_eq!(start(turn), first, "{}", file.name);
        assert_eq!(start(&format!("{other}Hello{turn}")), first, "{}", file.name);
        for span in file.spans.iter().filter(|span| span.channel == "thinking") {
            for open in &span.open {
                let open = format!("{}{open}", if span.place.is_none() { "\n" } else { "" });
                let framed = format!("{open}{}", span.framing.after_open);
                let thinking = Start::Channel(Channel::Thinking);
                for opened in [&open, &framed, &format!("{framed}\n"), &format!("{framed}Well, ")] {
                    assert_eq!(start(&format!("{turn}{opened}")), thinking, "{}: {opened:?}", file.name);
                    assert_eq!(start(&format!("{turn}{opened}{turn}")), first, "{}: {opened:?}", file.name);
                }
                for close in span.close.iter().filter(|close| !file.turns.iter().any(|turn| close.contains(turn))) {
                    let closed = format!("{framed}{}{close}", span.framing.before_close);
                    for blank in ["", "\n", "\n\n", &span.framing.after_close] {
                        let prompt = format!("{turn}{closed}{blank}");
                        assert_eq!(start(&prompt), Start::Channel(Channel::Content), "{}: {prompt:?}", file.name);
                        check(&pair, prompt.as_bytes(), b"\n\nYes.");
                    }
                }
                for text in ["\nhm", "hm", "\n\nhm\n"] {
                    for opened in [&open, &framed] {
                        let close = span.close.first().filter(|close| !close.contains(turn));
                        let text = format!("{text}{}\n\nYes.", close.unwrap_or(&String::new()));
                        check(&pair, format!("{turn}{opened}").as_bytes(), text.as_bytes());
                    }
                }
            }
        }
    }
}

/// Checks the real ends of each family's prompts, from the models' own papers and templates.
#[test]
fn known_prompts() {
    let content = Start::Channel(Channel::Content);
    let thinking = Start::Channel(Channel::Thinking);
    let tool = Start::Channel(Channel::Tool);
    let cases = [
        ("apertus", "<|user_start|>Hi<|user_end|><|assistant_start|>", content),
        ("apertus", "<|assistant_start|><|inner_prefix|>", thinking),
        ("apriel", "<|user|>\nHi\n<|end|>\n<|assistant|>\n", content),
        ("apriel", "<|begin_assistant|>\nHere are my reasoning steps:\n", thinking),
        ("cohere-command-a", "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_THINKING|>", thinking),
        ("cohere-command-a", "<|CHATBOT_TOKEN|><|START_THINKING|><|END_THINKING|>", content),
        ("cohere-command-a", "<|CHATBOT_TOKEN|><|START_ACTION|>", content),
        ("deepseek-r1", "<｜User｜>Hi<｜Assistant｜><think>\n", thinking),
        ("deepseek-r1", "<｜Assistant｜><think>a</think>b<｜end▁of▁sentence｜><｜User｜>Hi<｜Assistant｜>", content),
        ("deepseek-v3", "<｜User｜>Hi<｜Assistant｜></think>", content),
        ("deepseek-v3", "<｜User｜>Hi<｜Assistant｜><think>", thinking),
        ("deepseek-v4", "<｜User｜>Hi<｜Assistant｜><think>", thinking),
        ("glm-4.1v", "<|user|>\nHi<|assistant|>\n", content),
        ("ernie-4.5", "<|im_start|>user\nHi<|im_end|>\n\n<|im_start|>assistant\n<think>\n", thinking),
        ("exaone-deep", "[|user|]Hi\n[|assistant|]<thought>\n", thinking),
        ("gemma-4", "<|turn>user\nHi<turn|>\n<|turn>model\n", content),
        ("gemma-4", "<|turn>model\n<|channel>thought\n<channel|>", content),
        ("gemma-4", "<|turn>model\n<|channel>", thinking),
        ("gigachat-3.5", "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>", thinking),
        ("glm-4.5", "<|user|>\nHi/nothink<|assistant|>\n<think></think>", content),
        ("glm-4.5", "<|user|>\nHi<|assistant|>", content),
        ("glm-4.7", "<|user|>Hi<|assistant|><think>", thinking),
        ("glm-4.7", "<|user|>Hi<|assistant|></think>", content),
        ("granite-3.2", "<|start_of_role|>assistant<|end_of_role|>", content),
        ("granite-4", "<|start_of_role|>assistant<|end_of_role|><think>", thinking),
        ("harmony", "<|start|>user<|message|>Hi<|end|><|start|>assistant", Start::Header),
        ("harmony", "<|start|>assistant<|channel|>analysis<|message|>", thinking),
        ("harmony", "<|start|>assistant<|channel|>analysis", Start::Header),
        ("harmony", "<|start|>assistant<|channel|>final<|message|>Sure", content),
        ("harmony", "<|start|>assistant to=functions.f<|channel|>commentary<|message|>", tool),
        ("hunyuan-a13b", "<|startoftext|>Hi<|extra_0|><think>\n\n</think>\n", content),
        ("hy3", "<｜hy_User｜>Hi<｜hy_Assistant｜><think>", thinking),
        ("hyperclova-x", "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant", content),
        ("hyperclova-x", "<|im_start|>assistant/think\n", thinking),
        ("inkling", "<|message_user|>Hi<|end_message|><|message_model|>", Start::Header),
        ("inkling", "<|message_model|><|content_thinking|>", thinking),
        ("k2-horizon", "<|im_start|>assistant\n<ifm|think_fast>", thinking),
        ("kimi-k2", "<|im_user|>user<|im_middle|>Hi<|im_end|><|im_assistant|>assistant<|im_middle|>", content),
        ("kimi-k2", "<|im_assistant|>assistant<|im_middle|><think></think>", content),
        ("kimi-k2", "<|im_assistant|>assistant<|im_middle|><think>", thinking),
        ("kimi-k3", "<|close|>message<|sep|><|open|>message<|sep|><|open|>think<|sep|>", thinking),
        ("kimi-k3", "<|open|>think<|sep|>a<|close|>think<|sep|><|open|>response<|sep|>", content),
        ("kimi-vl", "<|im_assistant|>assistant<|im_middle|>", content),
        ("lfm2.5", "<|im_start|>assistant\n<think>", thinking),
        ("longcat", "[Round 0] USER:Hi ASSISTANT:<longcat_think>\n", thinking),
        ("magistral-2506", "[INST]Hi[/INST]<think>\n", thinking),
        ("medgemma", "<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n", content),
        ("minicpm5", "<|im_start|>assistant\n<think>\n\n</think>\n\n", content),
        ("minimax-m1", "<beginning_of_sentence>ai name=MiniMax AI\n<think>\n", thinking),
        ("minimax-m2", "]~b]user\nHi[e~[\n]~b]ai\n<think>\n", thinking),
        ("minimax-m3", "]~b]ai\n<mm:think>", thinking),
        ("mistral", "[SYSTEM_PROMPT]s[/SYSTEM_PROMPT][INST]Hi[/INST]", content),
        ("mistral", "[THINK]a[/THINK]b</s>[INST]Hi[/INST][THINK]", thinking),
        ("muse", "<|start|>user<|message|>Hi<|eot|><|start|>assistant", Start::Header),
        ("muse", "<|start|>assistant to=self<|message|>", thinking),
        ("nemotron", "<SPECIAL_11>User\nHi\n<SPECIAL_11>Assistant\n<think>\n", thinking),
        ("nemotron", "<SPECIAL_11>Assistant\n<think></think>", content),
        ("nemotron", "<|start_header_id|>assistant<|end_header_id|>\n\n", content),
        ("nova", "Think first. <thinking>", thinking),
        ("olmo-3", "<|im_start|>assistant\n<think>", thinking),
        ("openpangu", "[unused9]用户：Hi[unused10][unused9]助手：", content),
        ("openthinker", "<|im_start|>assistant\n<|begin_of_thought|>\n\n", thinking),
        ("plamo-3", "<|plamo:begin_think:plamo|>", thinking),
        ("qwen3", "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", content),
        ("qwen3", "<|im_start|>assistant\n<think>\n\n</think>\n\n", content),
        ("qwen3", "<|im_start|>user\nWhat is <think>?<|im_end|>\n<|im_start|>assistant\n", content),
        ("qwen3-thinking", "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n", thinking),
        ("s1", "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<|im_start|>think\n", thinking),
        ("seed-oss", "<seed:bos>user\nHi<seed:eos><seed:bos>assistant\n", content),
        ("seed-oss", "<seed:bos>assistant\n<seed:think>", thinking),
        ("smollm3", "<|im_start|>assistant\n<think>\n\n</think>\n", content),
        ("solar", "<|begin|>user<|content|>Hi<|end|><|begin|>assistant", Start::Header),
        ("solar", "<|begin|>assistant<|think|>", thinking),
        ("step-3", "<|BOT|>user\nHi<|EOT|><|BOT|>assistant\n<think>\n", thinking),
        ("step-3.5", "<|im_start|>assistant\n<think>\n", thinking),
        ("dots3", "<|userprompt|>Hi<|endofuserprompt|><|response|>", content),
        ("laguna", "<user>\nHi\n</user>\n<assistant>\n<think>", thinking),
        ("laguna", "<user>\nHi\n</user>\n<assistant>\n</think>", content),
        ("reka-flash-3", "human: Hi <sep> assistant:", content),
        ("reka-flash-3", "human: Hi <sep> assistant: <reasoning>", thinking),
        (
            "solar-open2",
            "<|im:start|>user<|im:content|>Hi<|im:end|><|im:start|>assistant<|im:content|><|think:start|>",
            thinking,
        ),
        ("solar-open2", "<|im:start|>assistant<|im:content|><|think:start|><|think:end|>", content),
        ("think", "<|im_start|>assistant\n<think></think>", content),
        ("think", "[|user|]\nHi[|endofturn|]\n[|assistant|]\n<think>\n", thinking),
    ];
    for (name, prompt, wanted) in cases {
        let pair = Pair::find(name);
        let mut scanner = Scanner::new(&pair.library);
        assert_eq!(scanner.start_from_prompt(prompt.as_bytes()), Ok(wanted), "{name}: {prompt:?}");
        check(&pair, prompt.as_bytes(), b"\n\nSo \xC3\xA9.");
    }
    for pair in Pair::all().iter().filter(|pair| !pair.reference.models.is_empty()) {
        let name = pair.reference.name.as_str();
        assert!(cases.iter().any(|case| case.0 == name), "no prompt of {name}");
    }
}

fn texts(scanner: &mut Scanner, text: &str) -> Vec<(Channel, u64, String)> {
    let mut texts = Vec::new();
    let mut take = |event: aside::Event<'_>| {
        if event.kind == Kind::Text {
            texts.push((event.channel, event.offset, String::from_utf8(event.bytes.to_vec()).unwrap()));
        }
    };
    scanner.feed(text.as_bytes(), &mut take).unwrap();
    scanner.finish(&mut take).unwrap();
    texts
}

#[test]
fn framing_goes_on_where_the_prompt_left_it() {
    let mut scanner = Scanner::new(&Dialect::find("qwen3").unwrap());
    let turn = "<|im_start|>assistant\n";
    for (prompt, text, channel, offset, wanted) in [
        ("<think>", "\nhm", Channel::Thinking, 1, "hm"),
        ("<think>\n", "\nhm", Channel::Thinking, 0, "\nhm"),
        ("<think>\n\n</think>\n", "\nYes.", Channel::Content, 1, "Yes."),
        ("<think>\n\n</think>\n", "Yes.", Channel::Content, 0, "Yes."),
        ("<think>\n\n</think>\n\n", "\nYes.", Channel::Content, 0, "\nYes."),
        ("<think>\n\n</think>  ", "Yes.", Channel::Content, 0, "Yes."),
    ] {
        scanner.start_from_prompt(format!("{turn}{prompt}").as_bytes()).unwrap();
        assert_eq!(texts(&mut scanner, text), [(channel, offset, wanted.to_owned())], "{prompt:?}");
    }
}

#[test]
fn it_is_said_before_the_first_byte_and_for_one_stream() {
    let options = ScannerOptions::new().start(Start::Channel(Channel::Thinking));
    let mut scanner = Scanner::with_options(&Dialect::find("qwen3").unwrap(), &options).unwrap();
    let own = [(Channel::Thinking, 0, "a".to_owned())];
    let prompted = [(Channel::Content, 0, "a".to_owned())];
    scanner.start_from_prompt(b"<|im_start|>assistant\n").unwrap();
    assert_eq!(texts(&mut scanner, "a"), prompted);
    assert_eq!(texts(&mut scanner, "a"), own);
    scanner.start_from_prompt(b"<|im_start|>assistant\n").unwrap();
    scanner.reset();
    assert_eq!(texts(&mut scanner, "a"), own);
    scanner.start_from_prompt(b"<|im_start|>assistant\n").unwrap();
    assert_eq!(scanner.start_from_prompt(b""), Ok(Start::Channel(Channel::Thinking)));
    assert_eq!(texts(&mut scanner, "a"), own);
    scanner.feed(b"", |_| panic!("an event of nothing")).unwrap();
    scanner.start_from_prompt(b"").unwrap();
    scanner.feed(b"<", |_| ()).unwrap();
    assert_eq!(scanner.start_from_prompt(b"x"), Err(Error::StreamBegun));
    let mut end = scanner.finish_events();
    end.next().unwrap();
    drop(end);
    assert_eq!(scanner.start_from_prompt(b"x"), Err(Error::FinishPending));
}

/// Checks that an empty stream has no events after a prompt that ends inside a span, a marker or a character.
#[test]
fn a_stream_without_a_byte_has_no_events() {
    for pair in Pair::all() {
        for prompt in ["<think>", "<think>\n", "<thi", "<|start|>assistant<|channel|>analysis", "é"] {
            for cut in 1..=prompt.len() {
                let mut scanner = Scanner::new(&pair.library);
                scanner.start_from_prompt(&prompt.as_bytes()[..cut]).unwrap();
                assert_eq!((scanner.offset(), scanner.held()), (0, &b""[..]));
                scanner.feed(b"", |event| panic!("{event:?}")).unwrap();
                scanner.flush(|event| panic!("{event:?}")).unwrap();
                scanner.force_close(|event| panic!("{event:?}")).unwrap();
                scanner.finish(|event| panic!("{event:?}")).unwrap();
            }
        }
    }
}

#[test]
fn a_thought_goes_on_from_the_prompt() {
    let options = ScannerOptions::new().collect(1000);
    let mut scanner = Scanner::with_options(&Dialect::find("thought-stream").unwrap(), &options).unwrap();
    scanner.start_from_prompt(br#"<thinking thought_type="plan" confidence="0.9">"#).unwrap();
    scanner.feed(b"first this</thinking>then", |_| ()).unwrap();
    let thought = scanner.take_thought().unwrap();
    assert_eq!(thought.text, b"first this");
    assert_eq!(thought.thought_type.as_deref(), Some(&b"plan"[..]));
    assert_eq!((thought.confidence, thought.offset), (Some(0.9), 0));
}

/// Checks a prompt that ends with an opener: the span is open, unless the opener counts only before a call.
#[test]
fn an_opener_at_the_end_of_the_prompt_is_open_where_it_counts_by_itself() {
    let span = r#"channel = "tool", open = ["<call>"], close = ["</call>"]"#;
    let dialect = |call: &str| Dialect::load(&format!("name = 'late'\nspan = [{{ {span}{call} }}]")).unwrap();
    let object = r#", call = [{ body = "object" }]"#;
    let cases = [
        (dialect(object), Channel::Content),
        (dialect(&format!("{object}, sure = false")), Channel::Tool),
        (dialect(""), Channel::Tool),
    ];
    for (dialect, start) in cases {
        for (text, channel) in [("{\"name\": \"f\"}", Channel::Tool), ("Well", start)] {
            let mut scanner = Scanner::new(&dialect);
            assert_eq!(scanner.start_from_prompt("Hi <call>"), Ok(Start::Channel(start)));
            let mut opened = Vec::new();
            scanner
                .feed(text, |event| match event.kind {
                    Kind::Open { .. } => opened.push((event.channel, event.offset, event.bytes.len())),
                    kind => assert_eq!((kind, event.channel, event.bytes), (Kind::Text, channel, text.as_bytes())),
                })
                .unwrap();
            let is_tool = channel == Channel::Tool;
            assert_eq!(opened, if is_tool { vec![(channel, 0, 0)] } else { vec![] }, "{text}");
        }
    }
}

/// Checks that a marker that counts only at the first byte does not count after a marker in the prompt.
#[test]
fn a_prompt_that_is_one_marker_is_not_the_start() {
    check(&Pair::find("gemma-4"), b"<channel|>", b"thought\nx");
}

#[test]
fn a_tag_that_closes_itself_has_closed_the_thinking_of_a_prompt() {
    check(&Pair::find("thought-stream"), b"<thinking/>", b"Yes.</thinking>No.");
}

#[test]
fn the_prompt_is_not_counted() {
    let mut scanner = Scanner::new(&Dialect::find("qwen3").unwrap());
    scanner.start_from_prompt(b"<|im_start|>assistant\n<think>\nSo, \n</think>\n\nWell").unwrap();
    assert_eq!(Channel::ALL.map(|channel| scanner.counts(channel)), [Counts::default(); 4]);
    scanner.feed(b" then", |_| ()).unwrap();
    assert_eq!(scanner.counts(Channel::Content).bytes, 5);
}

/// Checks that a closer in the prompt does not affect the stream, even if only the stream's first byte decides that it is a closer.
#[test]
fn what_the_prompt_reclassifies_is_none_of_the_stream() {
    let tag = r#"{ channel = "thinking", tag = { names = ["think"], attributes = 100 } }"#;
    let dialect = Dialect::load(&format!("name = 'late'\nstray_close = 'reclassify'\nspan = [{tag}]")).unwrap();
    for prompt in ["plan </think>", "plan <think a='</think>"] {
        let options = ScannerOptions::new().collect(1000);
        let mut scanner = Scanner::with_options(&dialect, &options).unwrap();
        scanner.start_from_prompt(prompt.as_bytes()).unwrap();
        assert_eq!(texts(&mut scanner, "Answer"), [(Channel::Content, 0, "Answer".to_owned())], "{prompt}");
        assert_eq!(scanner.counts(Channel::Thinking), Counts::default(), "{prompt}");
        assert!(scanner.take_thought().is_none(), "{prompt}");
    }
}

/// Checks that a flush before the first byte releases nothing, wherever in a call the prompt ends, because the held bytes belong to
/// the prompt.
#[test]
fn a_flush_before_the_first_byte_has_no_events() {
    let dialect = Dialect::find("qwen3").unwrap();
    let call = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"b\"}}\n</tool_call>";
    for end in 0..=call.len() {
        let mut scanner = Scanner::with_options(&dialect, &ScannerOptions::new().calls(true)).unwrap();
        let mut plain = scanner.clone();
        for scanner in [&mut scanner, &mut plain] {
            scanner.start_from_prompt(format!("<|im_start|>assistant\n{}", &call[..end]).as_bytes()).unwrap();
        }
        scanner.flush(|event| panic!("{event:?} after {:?}", &call[..end])).unwrap();
        assert_eq!(texts(&mut scanner, &call[end..]), texts(&mut plain, &call[end..]), "{end}");
    }
}

/// Checks that only the stream's calls are numbered: a call that begins in the prompt and ends in the stream is the first, and
/// calls that end in the prompt have no number.
#[test]
fn calls_that_end_in_the_prompt_have_no_number() {
    let dialect = Dialect::find("qwen3").unwrap();
    let call = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"b\"}}\n</tool_call>";
    for before in ["", call, &call.repeat(2)] {
        for end in 0..=call.len() {
            let mut scanner = Scanner::with_options(&dialect, &ScannerOptions::new().calls(true)).unwrap();
            scanner.start_from_prompt(format!("<|im_start|>assistant\n{before}{}", &call[..end])).unwrap();
            let (mut begun, mut ended) = (Vec::new(), Vec::new());
            let mut see = |event: aside::Event<'_>| match event.kind {
                Kind::Call { index, .. } => begun.push(index),
                Kind::CallEnd { index, .. } => ended.push(index),
                _ => {}
            };
            scanner.feed(format!("{}{call}", &call[end..]), &mut see).unwrap();
            scanner.finish(&mut see).unwrap();
            let wanted: &[u64] = if end <= call.rfind('}').unwrap() { &[0, 1] } else { &[0] };
            assert_eq!(ended, wanted, "{before:?} {:?}", &call[..end]);
            assert!(wanted.ends_with(&begun), "{begun:?} begin: {before:?} {:?}", &call[..end]);
        }
    }
}
