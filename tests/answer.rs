//! Reads answers through `aside::answer`: every byte of a text is in exactly one part, in a call that is reported, or is a marker or
//! framing around these, and the parts do not depend on where the text was cut.

use std::sync::Arc;

use aside::answer::{Answer, NotWhole, Options, Part, Thinking, Tools, UnknownTool};
use aside::{
    Budget, BudgetScope, BudgetUnit, Channel, Dialect, EndReason, Error, Event, Kind, Scanner, ScannerOptions,
};
use samples::Random;
use support::told::told;
use support::{Pair, bytes, cut, random_cuts, samples};

/// The text and calls that a host collects from an answer.
#[derive(Clone, Debug, Default, PartialEq)]
struct Message {
    thinking: Vec<u8>,
    content: Vec<u8>,
    calls: Vec<Call>,
}

#[derive(Clone, Debug, PartialEq)]
struct Call {
    id: String,
    name: String,
    arguments: String,
    /// Whether the call is whole, once it has ended.
    is_whole: Option<bool>,
}

impl Message {
    fn add(&mut self, part: Part<'_>) {
        match part {
            Part::Thinking(text) => self.thinking.extend_from_slice(text),
            Part::Content(text) => self.content.extend_from_slice(text),
            Part::Call { index, id, name, .. } => {
                assert_eq!(index, self.calls.len() as u64, "calls are numbered in their order");
                let (id, name) = (id.to_owned(), name.to_owned());
                self.calls.push(Call { id, name, arguments: String::new(), is_whole: None });
            }
            Part::Arguments { index, json } => self.open(index).arguments.push_str(json),
            Part::CallEnd { index, is_whole, .. } => self.open(index).is_whole = Some(is_whole),
            Part::Moved { from: Channel::Content, .. } => self.thinking.append(&mut self.content),
            Part::Moved { .. } => self.content.append(&mut self.thinking),
            _ => {}
        }
    }

    /// Returns a call that has not ended.
    fn open(&mut self, index: u64) -> &mut Call {
        let call = &mut self.calls[index as usize];
        assert_eq!(call.is_whole, None, "a call has ended");
        call
    }

    fn shown(&self) -> [String; 2] {
        [&self.thinking, &self.content].map(|text| String::from_utf8_lossy(text).into_owned())
    }
}

fn read(dialect: &Dialect, options: &Options, chunks: &[&[u8]]) -> Message {
    read_until(EndReason::Ended, dialect, options, chunks)
}

fn read_until(reason: EndReason, dialect: &Dialect, options: &Options, chunks: &[&[u8]]) -> Message {
    let mut answer = Answer::new(dialect, options).unwrap();
    let mut message = Message::default();
    for chunk in chunks {
        answer.feed(chunk, |part| message.add(part)).unwrap();
    }
    answer.finish(reason, |part| message.add(part)).unwrap();
    assert!(message.calls.iter().all(|call| call.is_whole.is_some()), "a call has no end: {message:?}");
    assert_eq!(answer.held(), 0);
    message
}

/// Returns the result for a text, checked to be the same at every cut.
fn whole(dialect: &Dialect, options: &Options, text: &str) -> Message {
    let text = text.as_bytes();
    let whole = read(dialect, options, &[text]);
    for at in 0..text.len() {
        assert_eq!(read(dialect, options, &[&text[..at], &text[at..]]), whole, "cut at {at}");
    }
    assert_eq!(read(dialect, options, &bytes(text)), whole, "byte by byte");
    whole
}

fn qwen3(options: &Options, text: &str) -> ([String; 2], Vec<[String; 2]>) {
    let message = whole(&Dialect::find("qwen3").unwrap(), options, text);
    let calls = message.calls.iter().map(|call| [call.name.clone(), call.arguments.clone()]);
    (message.shown(), calls.collect())
}

fn texts(thinking: &str, content: &str) -> [String; 2] {
    [thinking.to_owned(), content.to_owned()]
}

fn tools(json: &str) -> Arc<Tools> {
    Tools::read(json).unwrap()
}

// ------------------------------------------------------------------------------------------------ text that is not a call

#[test]
fn a_span_that_has_no_call_is_content() {
    let text = "<tool_call>\n{\"name\": 5, \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>";
    assert_eq!(qwen3(&Options::new(), text), (texts("", text), vec![]));
}

#[test]
fn a_call_that_breaks_off_before_it_is_reported_is_content() {
    let text = "Yes.\n<tool_call>\n{\"name\": \"f\", \"argum";
    assert_eq!(qwen3(&Options::new(), text), (texts("", text), vec![]));
}

#[test]
fn a_broken_call_behind_a_good_one_is_content() {
    let good = "<tool_call>\n{\"name\":\"f\",\"arguments\":{\"a\":1}}\n</tool_call>";
    let broken = "<tool_call>\n{\"nme\":\"f\"}\n</tool_call>";
    let call = ["f".to_owned(), "{\"a\":1}".to_owned()];
    assert_eq!(qwen3(&Options::new(), &format!("{good}\n{broken}")), (texts("", broken), vec![call]));
}

#[test]
fn a_call_of_an_unknown_tool_is_what_the_host_wants() {
    let text = "Yes. <tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>";
    let options = Options::new().tools(tools(r#"[{"name": "f"}]"#));
    assert_eq!(qwen3(&options, text), (texts("", text), vec![]));
    let call = ["g".to_owned(), "{}".to_owned()];
    assert_eq!(qwen3(&options.clone().unknown_tool(UnknownTool::Tell), text), (texts("", "Yes."), vec![call]));
    assert_eq!(qwen3(&options.unknown_tool(UnknownTool::Drop), text), (texts("", "Yes. "), vec![]));
}

#[test]
fn a_call_that_is_not_whole_is_what_the_host_wants() {
    let text = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1";
    let message = whole(&Dialect::find("qwen3").unwrap(), &Options::new(), text);
    assert_eq!((&*message.calls[0].arguments, message.calls[0].is_whole), ("{\"a\": 1", Some(false)));
    assert_eq!(qwen3(&Options::new().not_whole(NotWhole::Hold), text), (texts("", text), vec![]));
}

#[test]
fn a_closer_of_the_thinking_inside_a_call_ends_both() {
    let text = "<think>a<tool_call>{\"name\": \"f\"}</think>Yes.";
    let call = ["f".to_owned(), "{}".to_owned()];
    assert_eq!(qwen3(&Options::new(), text), (texts("a", "Yes."), vec![call]));
}

#[test]
fn the_end_of_a_message_inside_a_call_ends_both() {
    let call = "<atem:function_calls><atem:invoke name=\"f\">no call";
    let text = format!("<|start|>to<hm>\n{call}<|eom|>Yes.");
    let [thinking, content] =
        whole(&Dialect::find("muse").unwrap(), &Options::new().tools(tools(r#"[{"name": "f"}]"#)), &text).shown();
    assert_eq!((thinking.trim_end(), content), ("<hm>", format!("{call}<|eom|>Yes.")));
}

// ---------------------------------------------------------------------------------------------------------------- options

#[test]
fn the_thinking_is_kept_dropped_or_left_in_the_content() {
    let text = "<think>\nhm\n</think>\n\nYes.<tool_call>{\"name\": \"f\"}</tool_call>";
    let options = |thinking| Options::new().thinking(thinking);
    let call = vec![["f".to_owned(), "{}".to_owned()]];
    assert_eq!(qwen3(&options(Thinking::Keep), text), (texts("hm", "Yes."), call.clone()));
    assert_eq!(qwen3(&options(Thinking::Drop), text), (texts("", "Yes."), call.clone()));
    assert_eq!(qwen3(&options(Thinking::Inline), text), (texts("", "<think>\nhm\n</think>\n\nYes."), call));
}

#[test]
fn the_end_of_a_message_of_content_is_not_left_in_it() {
    let options = Options::new().thinking(Thinking::Inline);
    for (name, thinking, answer) in [
        ("inkling", "<|content_thinking|>hm<|end_message|>", "<|message_model|><|content_text|>Yes.<|end_message|>"),
        ("muse", "to=self<|message|>hm<|eom|>", "<|start|>assistant to=user<|message|>Yes.<|eom|>"),
        (
            "harmony",
            "<|channel|>analysis<|message|>hm<|end|>",
            "<|start|>assistant<|channel|>final<|message|>Yes.<|end|>",
        ),
    ] {
        let dialect = Dialect::find(name).unwrap();
        assert_eq!(whole(&dialect, &options, answer).shown(), texts("", "Yes."), "{name}");
        let [reasoning, content] = whole(&dialect, &options, &format!("{thinking}{answer}")).shown();
        assert_eq!((&*reasoning, content.strip_suffix("Yes.")), ("", Some(thinking)), "{name}");
    }
}

#[test]
fn calls_may_stay_in_the_content() {
    let calls = "<tool_call>\n{\"name\": \"f\"}\n</tool_call> \n<tool_call>\n{\"name\": ";
    let text = format!("<think>hm</think>Yes. {calls}");
    let options = Options::new().inline_calls(true).tools(tools("[]"));
    assert_eq!(qwen3(&options, &text), (texts("hm", &format!("Yes. {calls}")), vec![]));
    assert_eq!(qwen3(&options.thinking(Thinking::Inline), &text), (texts("", &text), vec![]));
    let named = Options::new().inline_calls(true).start_call("f");
    assert_eq!(qwen3(&named, "{}"), (texts("", "{}"), vec![]));
}

#[test]
fn thinking_that_was_the_answer_is_content() {
    let guess = Dialect::find("deepseek-r1").unwrap();
    let message = |options: &Options| whole(&guess, options, "The answer is 42.").shown();
    let text = "The answer is 42.";
    assert_eq!(message(&Options::new()), texts(text, text), "it was reported already");
    assert_eq!(message(&Options::new().may_take_back(true)), texts("", text));
    assert_eq!(message(&Options::new().keep_guessed(true)), texts(text, ""));
    let empty = "<think>The answer is 42.";
    let qwen3 = |options: &Options| whole(&Dialect::find("qwen3").unwrap(), options, empty).shown();
    assert_eq!(qwen3(&Options::new()), texts(text, ""));
    assert_eq!(qwen3(&Options::new().promote_empty(true)), texts(text, text));
    assert_eq!(qwen3(&Options::new().promote_empty(true).may_take_back(true)), texts("", text));
}

#[test]
fn content_that_was_thinking_is_moved_if_it_may_be() {
    let text = "hm</think>Yes.";
    assert_eq!(qwen3(&Options::new().may_take_back(true), text), (texts("hm", "Yes."), vec![]));
    assert_eq!(qwen3(&Options::new(), text).0[1], "hmYes.");
}

#[test]
fn a_budget_is_reported_where_it_ends() {
    let budget = Budget::new(2, BudgetUnit::Bytes, BudgetScope::Span);
    for thinking in [Thinking::Keep, Thinking::Drop, Thinking::Inline] {
        let options = Options::new().scanner(ScannerOptions::new().budget(budget)).thinking(thinking);
        let mut answer = Answer::new(&Dialect::find("qwen3").unwrap(), &options).unwrap();
        let (mut before, mut found) = (Vec::new(), None);
        let mut take = |part: Part<'_>| match part {
            Part::Thinking(text) | Part::Content(text) => before.extend_from_slice(text),
            Part::Budget => found = Some(before.len()),
            _ => {}
        };
        answer.feed("<think>abcd", &mut take).unwrap();
        answer.force_close(&mut take).unwrap();
        answer.feed("</think>Yes.", &mut take).unwrap();
        answer.finish(EndReason::Ended, &mut take).unwrap();
        let (wanted, at) = match thinking {
            Thinking::Keep => ("abcdYes.", 2),
            Thinking::Drop => ("Yes.", 0),
            _ => ("<think>abcd</think>Yes.", 9),
        };
        assert_eq!((&*before, found), (wanted.as_bytes(), Some(at)), "{thinking:?}");
    }
}

#[test]
fn thinking_that_was_not_reported_is_not_moved() {
    let guess = Dialect::find("deepseek-r1").unwrap();
    for thinking in [Thinking::Drop, Thinking::Inline] {
        let options = Options::new().thinking(thinking).may_take_back(true);
        let mut answer = Answer::new(&guess, &options).unwrap();
        let mut content = String::new();
        let mut take = |part: Part<'_>| match part {
            Part::Content(text) => content.push_str(str::from_utf8(text).unwrap()),
            part => panic!("{part:?}"),
        };
        answer.feed("42", &mut take).unwrap();
        answer.finish(EndReason::Ended, &mut take).unwrap();
        assert_eq!(content, "42", "{thinking:?}");
    }
}

#[test]
fn thinking_that_an_answers_closer_ends_is_content_at_every_cut() {
    let dialect = Dialect::find("openthinker").unwrap();
    let message = whole(&dialect, &Options::new(), "<|begin_of_thought|>e<|end_of_solution|>");
    assert_eq!(message.shown(), texts("e", "e"));
    let dialect = Dialect::find("granite-3.2").unwrap();
    let message = whole(&dialect, &Options::new(), "Here is my response:Here's my thought process: Yes.");
    assert_eq!(message.shown(), texts(" Yes.", " Yes."));
}

#[test]
fn a_budget_does_not_decide_that_a_call_is_meant() {
    let text = "<|inner_prefix|>a<|tools_prefix|>[{\"f\": {}}]<|tools_suffix|>b<|inner_suffix|>c";
    let budget = Budget::new(1, BudgetUnit::Bytes, BudgetScope::Span);
    let options = Options::new().scanner(ScannerOptions::new().budget(budget));
    let message = whole(&Dialect::find("apertus").unwrap(), &options, text);
    assert_eq!((message.calls, &*message.content), (vec![], &b"c"[..]));
}

#[test]
fn a_closer_without_an_opener_stays_with_the_thinking() {
    let options = Options::new().thinking(Thinking::Inline);
    for text in ["hm</think>Yes.", "</think>Yes."] {
        assert_eq!(qwen3(&options, text), (texts("", text), vec![]), "{text}");
    }
}

#[test]
fn no_two_calls_have_the_same_id() {
    let late = "<tool_call>{\"name\":\"f\",\"arguments\":{},\"id\":\"x\"}</tool_call>";
    let short = "[TOOL_CALLS]f[CALL_ID]COAmd84Y4[ARGS]{\"x\": 1}[TOOL_CALLS]g[ARGS]{\"x\": 1}";
    for (name, text) in [("qwen3", late.repeat(2)), ("mistral", short.to_owned())] {
        let mut ids = Vec::new();
        let mut answer = Answer::new(&Dialect::find(name).unwrap(), &Options::new()).unwrap();
        let mut take = |part: Part<'_>| match part {
            Part::Call { id, .. } | Part::CallEnd { late_id: Some(id), .. } => ids.push(id.to_owned()),
            _ => {}
        };
        answer.feed(&text, &mut take).unwrap();
        answer.finish(EndReason::Ended, &mut take).unwrap();
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert!(count >= 2 && ids.len() == count, "{name}: {ids:?}");
    }
}

#[test]
fn tools_may_be_set_after_a_feed_of_nothing() {
    let mut answer = Answer::new(&Dialect::find("qwen3").unwrap(), &Options::new()).unwrap();
    let mut message = Message::default();
    answer.feed("", |_| ()).unwrap();
    answer.flush(|_| ()).unwrap();
    answer.use_tools(tools("[]")).unwrap();
    let call = "<tool_call>{\"name\":\"f\"}</tool_call>";
    answer.feed(call, |part| message.add(part)).unwrap();
    answer.finish(EndReason::Ended, |part| message.add(part)).unwrap();
    assert_eq!(message.shown(), texts("", call));
}

#[test]
fn thinking_is_reported_beside_a_text_of_calls_alone() {
    let options = Options::new().thinking(Thinking::Inline).start_call("f").not_whole(NotWhole::Hold);
    let message = whole(&Dialect::find("qwen3").unwrap(), &options, "{\"a\": <think>x</think>1");
    assert_eq!(message.shown(), texts("x", "{\"a\": 1"));
}

#[test]
fn a_reason_decides_what_the_end_means() {
    let dialect = Dialect::find("deepseek-r1").unwrap();
    for (reason, content) in [(EndReason::Ended, "42"), (EndReason::Unknown, "")] {
        let (mut answer, mut message) = (Answer::new(&dialect, &Options::new()).unwrap(), Message::default());
        answer.feed("42", |part| message.add(part)).unwrap();
        answer.finish(reason, |part| message.add(part)).unwrap();
        assert_eq!(message.shown(), texts("42", content), "{reason:?}");
    }
}

#[test]
fn an_answer_begins_again_after_its_end() {
    let dialect = Dialect::find("qwen3").unwrap();
    let options = Options::new().tools(tools(r#"[{"name": "f"}]"#)).id_prefix("call_7_");
    let mut answer = Answer::new(&dialect, &options).unwrap();
    let mut prompted = |tail: &str, tools: Option<Arc<Tools>>, text: &str| {
        let mut message = Message::default();
        answer.start_from_prompt(tail).unwrap();
        if let Some(tools) = tools {
            answer.use_tools(tools).unwrap();
        }
        answer.feed(text, |part| message.add(part)).unwrap();
        assert!(matches!(answer.start_from_prompt(tail), Err(Error::StreamBegun)));
        assert!(matches!(answer.use_tools(None), Err(Error::StreamBegun)));
        answer.finish(EndReason::Ended, |part| message.add(part)).unwrap();
        (message.shown(), message.calls.len(), answer.counts(Channel::Thinking).bytes)
    };
    let call = "<tool_call>{\"name\": \"f\"}</tool_call>";
    let (shown, calls, thinking) = prompted("<|im_start|>assistant\n<think>\n", None, &format!("hm</think>Yes.{call}"));
    assert_eq!((shown, calls, thinking), (texts("hm", "Yes."), 1, 2));
    // The prompt and the tools were those of one text.
    let (shown, calls, _) = prompted("", Some(tools("[]")), &format!("<think>hm</think>{call}"));
    assert_eq!((shown, calls), (texts("hm", call), 0));
    let (shown, calls, _) = prompted("", None, call);
    assert_eq!((shown, calls), (texts("", ""), 1));
}

// ---------------------------------------------------------------------------------------------------------------- the law

fn options(start: &str) -> Options {
    Options::new().scanner(ScannerOptions::new().start(Some(start.parse().unwrap())))
}

fn chunked<'a>(random: &mut Random, text: &'a [u8]) -> Vec<Vec<&'a [u8]>> {
    let at = random.below(text.len() + 1);
    vec![bytes(text), cut(text, &[at]), random_cuts(random, text, 8)]
}

/// With the thinking in the content and no calls, only markers of other channels are left out of the text.
#[test]
fn a_text_is_its_own_content_if_the_thinking_stays_in_it() {
    samples("a_text_is_its_own_content", 10, |pair, start, text, random| {
        // The reference does not know the calls of other families' files, which `any` reads.
        if pair.reference.name == "any" {
            return;
        }
        let scanner = ScannerOptions::new().start(Some(start.parse().unwrap()));
        let mut wanted = Vec::new();
        let has_tables = pair.reference.header.as_ref().is_some_and(|header| !header.calls.is_empty());
        let is_message = |rule: u32| has_tables && rule as usize == pair.reference.spans.len();
        let (mut in_message, mut has_stray) = (false, false);
        let mut take = |event: Event<'_>| {
            // Another test has closers of the thinking without an opener.
            let is_framing = event.kind == Kind::Framing && event.channel == Channel::Content;
            has_stray |= is_framing && !event.bytes.trim_ascii().is_empty();
            let is_marker = match event.kind {
                Kind::Open { rule, .. } if event.channel == Channel::Tool => {
                    in_message = is_message(rule);
                    in_message
                }
                Kind::Close(_) if event.channel == Channel::Tool => in_message,
                Kind::Text => false,
                Kind::Framing if event.channel != Channel::Tool => !event.bytes.trim_ascii().is_empty(),
                _ => event.channel != Channel::Tool,
            };
            if event.channel == Channel::Thinking || !is_marker {
                wanted.extend_from_slice(event.bytes);
            }
        };
        let mut whole = Scanner::with_options(&pair.library, &scanner).unwrap();
        whole.feed(text, &mut take).unwrap();
        whole.finish(&mut take).unwrap();
        if has_stray {
            return;
        }
        let options = options(start).thinking(Thinking::Inline).tools(tools("[]"));
        for chunks in chunked(random, text) {
            let message = read(&pair.library, &options, &chunks);
            let name = &pair.reference.name;
            assert_eq!(message.shown(), texts("", &String::from_utf8_lossy(&wanted)), "{name} from {start}");
        }
    });
    let qwen3 = Dialect::find("qwen3").unwrap();
    let text = "<think>\nhm\n</think>\n\nYes. <tool_call>{\"name\": \"f\"}</tool_call>";
    let options = Options::new().thinking(Thinking::Inline).tools(tools("[]"));
    assert_eq!(whole(&qwen3, &options, text).shown(), texts("", text));
}

#[test]
fn parts_do_not_depend_on_cuts() {
    samples("parts_do_not_depend_on_cuts", 10, |pair, start, text, random| {
        for options in [
            options(start),
            options(start).may_take_back(true).not_whole(NotWhole::Hold).promote_empty(true),
            options(start).inline_calls(true),
        ] {
            let whole = read(&pair.library, &options, &[text]);
            for chunks in chunked(random, text) {
                let name = &pair.reference.name;
                assert_eq!(read(&pair.library, &options, &chunks), whole, "{name} from {start}");
            }
        }
    });
}

/// The slow account of a client's result, which knows the whole text, agrees with the parts.
#[test]
fn parts_are_what_a_client_should_get() {
    samples("parts_are_what_a_client_should_get", 10, |pair: &Pair, start, text, _| {
        // The account does not know the calls of other families' files, which `any` reads.
        let (Ok(utf8), false) = (str::from_utf8(text), pair.reference.name == "any") else { return };
        let scanner = ScannerOptions::new().start(Some(start.parse().unwrap()));
        let wanted = told(pair, &scanner, None, utf8.as_bytes(), false);
        let message = read_until(EndReason::Unknown, &pair.library, &options(start), &[text]);
        let calls: Vec<[&str; 2]> = message.calls.iter().map(|call| [&*call.name, &*call.arguments]).collect();
        let name = &pair.reference.name;
        assert_eq!(message.shown(), [wanted.thinking, wanted.content], "{name} from {start}: {utf8:?}");
        assert_eq!(calls, wanted.calls, "{name} from {start}: {utf8:?}");
    });
}

#[test]
fn dropping_the_thinking_changes_nothing_else() {
    samples("dropping_the_thinking_changes_nothing_else", 10, |pair, start, text, _| {
        let kept = read(&pair.library, &options(start), &[text]);
        let dropped = read(&pair.library, &options(start).thinking(Thinking::Drop), &[text]);
        assert_eq!(dropped, Message { thinking: Vec::new(), ..kept });
    });
}
