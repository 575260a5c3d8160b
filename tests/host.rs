//! Tests a host's actions other than feeding: budgets and forced closes, tokens, counts, clones. At every cut, the result of each
//! is compared with a simple calculation from the reference's events.

use aside::{
    Budget, BudgetScope, BudgetUnit, CallsInThinking, Cause, Channel, Counts, Dialect, Error, Kind, Scanner,
    ScannerOptions, Start, StrayClose, Thought, Token,
};
use reference::{Call, Event, What};
use samples::{Random, Texts, made};
use support::Pair;

fn scanner(pair: &Pair, start: &str, budget: Option<Budget>) -> Scanner {
    let options = ScannerOptions::new().start(start.parse::<Start>().unwrap()).budget(budget);
    Scanner::with_options(&pair.library, &options).unwrap()
}

// --------------------------------------------------------------------------------------------------------- budgets

/// Returns the length of the first character of `text`, or 1 if the first byte is invalid.
fn character(text: &[u8]) -> usize {
    (1..=text.len().min(4)).find(|&end| std::str::from_utf8(&text[..end]).is_ok()).unwrap_or(1)
}

/// Returns the events of a whole text, including the events of the budget.
fn budgeted(events: &[Event], budget: Budget) -> Vec<Event> {
    let mut out = Vec::new();
    let (mut used, mut is_exceeded) = (0, false);
    // Text that becomes thinking by a closer without an opener counts in the budget of a stream.
    let mut content = 0;
    let count = |text: &[u8]| match budget.unit {
        BudgetUnit::Bytes => text.len() as u64,
        BudgetUnit::Characters => text.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u64,
        other => unreachable!("{other:?}"),
    };
    for event in events {
        match event.what {
            What::Text if event.channel == "content" => content += count(&event.bytes),
            What::Reclassify if event.channel == "content" => used = 0,
            What::Reclassify => used += std::mem::take(&mut content),
            _ => {}
        }
        if event.channel != "thinking" || event.what != What::Text {
            let begins = matches!(event.what, What::Open { .. }) && event.channel == "thinking";
            if begins && budget.scope == BudgetScope::Span {
                (used, is_exceeded) = (0, false);
            }
            out.push(event.clone());
            continue;
        }
        let mut from = 0;
        let mut at = 0;
        while at < event.bytes.len() {
            let length = character(&event.bytes[at..]);
            used += count(&event.bytes[at..at + length]);
            if used > budget.limit && !is_exceeded {
                is_exceeded = true;
                let offset = event.offset + at;
                if at > from {
                    let bytes = event.bytes[from..at].to_vec();
                    out.push(Event { offset: event.offset + from, bytes, ..event.clone() });
                }
                from = at;
                out.push(Event { what: What::Budget, offset, bytes: Vec::new(), ..event.clone() });
            }
            at += length;
        }
        out.push(Event { offset: event.offset + from, bytes: event.bytes[from..].to_vec(), ..event.clone() });
    }
    reference::joined(&out)
}

#[test]
fn a_budget_is_exceeded_at_the_same_character_however_the_text_is_cut() {
    support::samples("a_budget_is_exceeded_at_the_same_character", 30, |pair, start, text, random| {
        let limit = if random.one_in(8) { u64::MAX } else { random.below(12) as u64 };
        let unit = *random.pick(&[BudgetUnit::Bytes, BudgetUnit::Characters]);
        let scope = *random.pick(&[BudgetScope::Span, BudgetScope::Stream]);
        let budget = Budget::new(limit, unit, scope);
        check_budget(pair, start, text, budget, random);
    });
}

fn check_budget(pair: &Pair, start: &str, text: &[u8], budget: Budget, random: &mut Random) {
    let wanted = budgeted(&reference::read(&pair.reference, text, Some(start)), budget);
    for chunks in [vec![text], support::bytes(text), support::random_cuts(random, text, 5)] {
        let got = support::run(&mut scanner(pair, start, Some(budget)), &chunks);
        pair.same(Some(start), &chunks, &wanted, &got);
        let got = support::run_stopping(&mut scanner(pair, start, Some(budget)), &chunks);
        pair.same(Some(start), &chunks, &wanted, &got);
    }
}

#[test]
fn a_budget_counts_markers_and_quotes_that_are_thinking() {
    let mut random = Random::announced("a_budget_counts_markers_and_quotes");
    let kept = r#"{ channel = "thinking", open = ["<té>"], close = ["</té>"], keep = true }"#;
    let quoted = r#"{ channel = "thinking", open = ["<q>"], close = ["</q>"], quote = '"""' }"#;
    let pair = Pair::parse(&format!("name = 'kept'\nspan = [{kept}, {quoted}]"));
    for text in ["a<té>b</té>c", "<té>é</té><té>ab", "<q>a\"\"\"b</q>c\"\"\"d</q>e", "<q>\"\"\"", "<té></té>"] {
        for limit in 0..text.len() as u64 {
            for unit in [BudgetUnit::Bytes, BudgetUnit::Characters] {
                for scope in [BudgetScope::Span, BudgetScope::Stream] {
                    check_budget(&pair, "content", text.as_bytes(), Budget::new(limit, unit, scope), &mut random);
                }
            }
        }
    }
}

#[test]
fn a_budget_is_that_of_each_stream() {
    let pair = Pair::find("inline-think");
    let budget = Budget::new(2, BudgetUnit::Bytes, BudgetScope::Stream);
    let mut scanner = scanner(&pair, "content", Some(budget));
    for _ in 0..2 {
        let events = support::run(&mut scanner, &[b"<think>a", b"bc</think>d"]);
        assert_eq!(events.iter().filter(|event| event.what == What::Budget).count(), 1);
    }
}

// ---------------------------------------------------------------------------------------------------- closing by force

/// Feeds `before`, closes by force, feeds `after`, and finishes.
fn forced(scanner: &mut Scanner, before: &[&[u8]], after: &[&[u8]]) -> Vec<Event> {
    let mut events = Vec::new();
    for chunk in before {
        scanner.feed(chunk, |event| support::push(&mut events, event)).unwrap();
    }
    scanner.force_close(|event| support::push(&mut events, event)).unwrap();
    events.extend(support::run(scanner, after));
    reference::joined(&events)
}

#[test]
fn closing_by_force_is_the_same_however_the_text_is_cut() {
    support::samples("closing_by_force_is_the_same", 20, |pair, start, text, random| {
        let at = random.below(text.len() + 1);
        let (before, after) = text.split_at(at);
        let wanted = forced(&mut scanner(pair, start, None), &[before], &[after]);
        let bytes: Vec<u8> = wanted.iter().flat_map(|event| event.bytes.clone()).collect();
        assert_eq!(bytes, text, "{}: lossless", pair.reference.name);
        let cuts = support::random_cuts(random, before, 4);
        let got = forced(&mut scanner(pair, start, None), &cuts, &support::bytes(after));
        pair.same(Some(start), &[before, after], &wanted, &got);
    });
}

#[test]
fn a_closer_behind_a_forced_close_is_its_marker() {
    let qwen3 = "[[span]]\nchannel = \"thinking\"\nopen = [\"<think>\"]\nclose = [\"</think>\"]\n\
                 framing = { after_open = \"\\n\", before_close = \"\\n\", after_close = \"\\n\\n\" }\n";
    let text = Dialect::load(&format!("name = \"mine\"\n{qwen3}")).unwrap();
    let drop = Dialect::load(&format!("name = \"mine\"\nextra_close = \"drop\"\n{qwen3}")).unwrap();
    let cases: [[&[u8]; 4]; 8] = [
        // The text before the forced close, the text after it, the thinking, the content.
        [b"<think>\nab", b"</think>\n\nc", b"ab", b"c"],
        [b"<think>\nab", b" \n</think>\n\nc", b"ab", b" c"],
        [b"<think>\nab\n</th", b"</think>c", b"ab\n</th", b"c"],
        [b"<think>", b"\n</think>\n\nc", b"", b"c"],
        [b"<think>ab", b"c</think>d", b"ab", b"c</think>d"],
        [b"<think>ab", b"<think>c</think>d", b"abc", b"d"],
        [b"no thinking <thi", b"nk>a</think>b", b"a", b"no thinking b"],
        [b"<think>ab", b"", b"ab", b""],
    ];
    for dialect in [&text, &drop] {
        for [before, after, thinking, content] in cases {
            let mut scanner = Scanner::new(dialect);
            let events = forced(&mut scanner, &support::bytes(before), &support::bytes(after));
            let message = format!("{} | {}: {events:?}", before.escape_ascii(), after.escape_ascii());
            assert_eq!(reference::channel(&events, "thinking"), thinking, "{message}");
            assert_eq!(reference::channel(&events, "content"), content, "{message}");
        }
    }
    // The first closer belongs to the span that was closed by force. The dialect's rule is for the next one.
    let events = forced(&mut Scanner::new(&text), &[b"<think>a"], &[b"</think></think>b"]);
    assert_eq!(reference::channel(&events, "content"), b"</think>b");
}

#[test]
fn a_message_is_closed_by_force() {
    let harmony = Dialect::find("harmony").unwrap();
    let before = b"<|channel|>analysis<|message|>long thought";
    let events = forced(&mut Scanner::new(&harmony), &[before], &[b"<|end|><|start|>assistant<|message|>Yes."]);
    assert_eq!(reference::channel(&events, "thinking"), b"long thought");
    assert_eq!(reference::channel(&events, "content"), b"Yes.");
    assert_eq!(reference::causes(&events), [reference::FORCED, reference::END]);
}

#[test]
fn a_budget_and_a_forced_close_together() {
    let budget = Some(Budget::new(6, BudgetUnit::Characters, BudgetScope::Span));
    let options = ScannerOptions::new().budget(budget).collect(100);
    let mut scanner = Scanner::with_options(&Dialect::find("inline-think").unwrap(), &options).unwrap();
    let text = "<think>日本語 日本語 日本語</think>Yes.".as_bytes();
    let (mut thinking, mut content) = (Vec::new(), Vec::new());
    let mut rest = text;
    while !rest.is_empty() {
        let mut events = scanner.events(rest);
        let mut is_exceeded = false;
        while let Some(event) = events.next().unwrap() {
            match (&event.kind, event.channel) {
                (Kind::Text, Channel::Thinking) => thinking.extend_from_slice(event.bytes),
                (Kind::Text, _) => content.extend_from_slice(event.bytes),
                (Kind::Budget, _) => {
                    is_exceeded = true;
                    break;
                }
                _ => {}
            }
        }
        rest = &rest[events.consumed()..];
        drop(events);
        if is_exceeded {
            // The scanner already has the character that exceeds the budget.
            scanner
                .force_close(|event| match event.kind {
                    Kind::Text => thinking.extend_from_slice(event.bytes),
                    kind => assert_eq!(kind, Kind::Close(Cause::Forced)),
                })
                .unwrap();
            rest = b"</think>Too long.";
        }
    }
    assert_eq!((thinking, content), ("日本語 日本語".into(), b"Too long.".to_vec()));
    let thought = scanner.take_thought().unwrap();
    assert_eq!((thought.cause, thought.truncated), (Cause::Forced, false));
}

// ------------------------------------------------------------------------------------------------------------ counts

/// Returns the counts of all channels, computed in a simple way.
fn counted(events: &[Event]) -> [Counts; 4] {
    Channel::ALL.map(|channel| {
        let text = reference::channel(events, channel.as_str());
        let mut counts = Counts::default();
        counts.bytes = text.len() as u64;
        counts.characters = text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64;
        counts.spans = support::spans(events, channel);
        counts
    })
}

#[test]
fn counts_are_what_was_reported() {
    support::samples("counts_are_what_was_reported", 30, |pair, start, text, random| {
        let mut scanner = scanner(pair, start, None);
        let counts = |scanner: &Scanner| Channel::ALL.map(|channel| scanner.counts(channel));
        for _ in 0..2 {
            let mut events = Vec::new();
            for chunk in support::random_cuts(random, text, 6) {
                scanner.feed(chunk, |event| support::push(&mut events, event)).unwrap();
                if !chunk.is_empty() {
                    assert_eq!(counts(&scanner), counted(&events), "{}", pair.reference.name);
                }
            }
            scanner.finish(|event| support::push(&mut events, event)).unwrap();
            assert_eq!(counts(&scanner), counted(&events), "after the end");
        }
        scanner.reset();
        assert_eq!(counts(&scanner), [Counts::default(); 4]);
    });
}

#[test]
fn a_long_text_is_counted() {
    let text = "日本語 and English, ".repeat(3000);
    let mut scanner = Scanner::new(&Dialect::find("inline-think").unwrap());
    for chunk in [b"<think>".as_slice(), text.as_bytes(), text.as_bytes(), b"</think>x"] {
        scanner.feed(chunk, |_| ()).unwrap();
    }
    let thinking = scanner.counts(Channel::Thinking);
    assert_eq!((thinking.bytes, thinking.characters), (2 * text.len() as u64, 2 * text.chars().count() as u64));
    let spans = Channel::ALL.map(|channel| scanner.counts(channel).spans);
    assert_eq!(spans.iter().sum::<u64>(), 1);
    assert_eq!(thinking.spans, 1);
}

// ------------------------------------------------------------------------------------------------------------- clones

#[test]
fn a_clone_goes_on_as_the_first_would() {
    support::samples("a_clone_goes_on_as_the_first_would", 20, |pair, start, text, random| {
        let wanted = reference::read(&pair.reference, text, Some(start));
        let mut first = scanner(pair, start, None);
        let mut events = Vec::new();
        let (before, after) = text.split_at(random.below(text.len() + 1));
        for chunk in support::random_cuts(random, before, 5) {
            first.feed(chunk, |event| support::push(&mut events, event)).unwrap();
        }
        let mut second = first.clone();
        // The bytes that are fed to the first scanner now must not affect the second.
        first.feed(b"<think></think>```\n", |_| ()).unwrap();
        assert_eq!(second.offset() as usize, before.len());
        for chunk in support::bytes(after) {
            second.feed(chunk, |event| support::push(&mut events, event)).unwrap();
        }
        second.finish(|event| support::push(&mut events, event)).unwrap();
        pair.same(Some(start), &[before, after], &wanted, &reference::joined(&events));
    });
}

#[test]
fn a_clone_has_the_thoughts_too() {
    let options = ScannerOptions::new().collect(1000);
    let mut first = Scanner::with_options(&Dialect::find("thinking-tags").unwrap(), &options).unwrap();
    first.feed(b"<thought>one</thought> <thought>tw", |_| ()).unwrap();
    let mut second = first.clone();
    for scanner in [&mut first, &mut second] {
        scanner.feed(b"o</thought>", |_| ()).unwrap();
        let texts: Vec<_> = std::iter::from_fn(|| scanner.take_thought()).map(|thought| thought.text).collect();
        assert_eq!(texts, [b"one", b"two"]);
    }
}

// ------------------------------------------------------------------------------------------------------------- tokens

/// For each channel, the number of tokens whose first byte is text of it.
fn tokens_of(events: &[Event], tokens: &[Token]) -> [u64; 4] {
    let count = |event: &Event| {
        let here = event.offset..event.offset + event.bytes.len();
        support::begins(tokens).filter(|(at, _)| here.contains(at)).count() as u64
    };
    Channel::ALL.map(|channel| {
        let texts = reference::texts(events).filter(|(name, _)| *name == channel.as_str());
        texts.map(|(_, event)| count(event)).sum()
    })
}

#[test]
fn only_special_tokens_begin_special_markers() {
    support::samples("only_special_tokens_begin_special_markers", 40, |pair, start, text, random| {
        let tokens = support::tokens(text, random);
        let wanted = reference::read_tokens(&pair.reference, text, Some(start), &support::special(&tokens));
        for stops in [false, true] {
            let mut scanner = scanner(pair, start, None);
            let got = support::feed_tokens(&mut scanner, text, &tokens, random, stops);
            pair.same(Some(start), &[text], &wanted, &got);
            let counts = Channel::ALL.map(|channel| scanner.counts(channel).tokens);
            assert_eq!(counts, tokens_of(&wanted, &tokens), "{}\n{tokens:?}", text.escape_ascii());
        }
    });
}

#[test]
fn a_marker_that_is_typed_is_not_held_back() {
    let mut scanner = Scanner::new(&Dialect::find("qwen3").unwrap());
    let mut text = Vec::new();
    let tokens = [Token::text(2), Token::text(3)];
    scanner.feed_tokens(b"a <th", &tokens, |event| text.extend_from_slice(event.bytes)).unwrap();
    assert_eq!((text.as_slice(), scanner.held()), (&b"a <th"[..], &b""[..]));
    // Bytes that are fed without tokens may be a marker.
    scanner.feed(b"<think>", |event| assert!(matches!(event.kind, Kind::Open { .. }), "{event:?}")).unwrap();
}

#[test]
fn tokens_that_do_not_add_up_are_refused() {
    let mut scanner = Scanner::new(&Dialect::find("qwen3").unwrap());
    for tokens in [&[][..], &[Token::text(2)], &[Token::text(u32::MAX), Token::text(u32::MAX)]] {
        let refused = scanner.feed_tokens(b"abc", tokens, |event| panic!("{event:?}"));
        assert_eq!(refused, Err(Error::TokenLengths));
    }
    let tokens = [Token::text(0), Token::special(3), Token::text(0)];
    scanner.feed_tokens(b"abc", &tokens, |event| assert_eq!(event.bytes, b"abc")).unwrap();
    assert_eq!(scanner.counts(Channel::Content).tokens, 1);
}

#[test]
fn a_token_that_was_stopped_in_counts_once() {
    let mut scanner = Scanner::new(&Dialect::find("thinking-tags").unwrap());
    scanner.feed(b"So <think>", |_| ()).unwrap();
    let token = [Token::text(11)];
    let mut events = scanner.token_events(b"</think>Yes", &token).unwrap();
    assert!(matches!(events.next().unwrap().unwrap().kind, Kind::Close(_)));
    assert_eq!(events.consumed(), 8);
    drop(events);
    scanner.feed(b"", |_| ()).unwrap();
    scanner.feed_tokens(b"Yes", &[Token::text(3)], |_| ()).unwrap();
    // The token's first byte belonged to the marker.
    assert_eq!(scanner.counts(Channel::Content).tokens, 0);
}

// --------------------------------------------------------------------------------------------------- all of it together

#[derive(Clone, Debug)]
enum Act {
    Flush,
    Force,
    Finish,
    Reset,
    Clone,
    TakeThoughts,
    Prompt(Vec<u8>),
    /// A clone is fed this text until it has reported this number of events. Then the host drops the rest, performs the action, and
    /// ends the stream.
    Abandon(Vec<u8>, usize, Box<Act>),
}

/// Some bytes, with their tokens if these are known, and the host's action after them.
struct Step {
    text: Vec<u8>,
    tokens: Option<Vec<Token>>,
    act: Act,
}

impl std::fmt::Debug for Step {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "\n  \"{}\" {:?} {:?}", self.text.escape_ascii(), self.tokens, self.act)
    }
}

/// How bytes are fed: in pieces of at most `most` bytes, or all bytes of a step at once. With `stops`, each call is stopped after
/// every event.
#[derive(Clone, Copy, Debug)]
struct Way {
    most: Option<usize>,
    stops: bool,
}

/// Everything that a host sees of a step.
#[derive(Debug, PartialEq)]
struct Seen {
    events: Vec<Event>,
    thoughts: Vec<Thought>,
    start: Option<Result<Start, Error>>,
    counts: [Counts; 4],
    held: Vec<u8>,
    offset: u64,
}

fn all_counts(scanner: &Scanner) -> [Counts; 4] {
    Channel::ALL.map(|channel| scanner.counts(channel))
}

/// Feeds one piece. If calls are stopped, the loop over the events ends after every event and begins again.
fn feed_piece(scanner: &mut Scanner, chunk: &[u8], stops: bool, events: &mut Vec<Event>) {
    if !stops {
        return scanner.feed(chunk, |event| support::push(events, event)).unwrap();
    }
    let mut rest = chunk;
    loop {
        let mut pulled = scanner.events(rest);
        let is_done = pulled.next().unwrap().map(|event| support::push(events, event)).is_none();
        rest = &rest[pulled.consumed()..];
        drop(pulled);
        if is_done {
            return;
        }
        *scanner = scanner.clone();
    }
}

/// Performs an action that has events. If calls are stopped, the action is repeated after every event until no event is left.
fn do_act(scanner: &mut Scanner, act: &Act, stops: bool, events: &mut Vec<Event>) {
    loop {
        let mut pulled = match act {
            Act::Flush => scanner.flush_events(),
            Act::Force => scanner.force_close_events(),
            Act::Finish => scanner.finish_events(),
            _ => return,
        };
        let mut count = 0;
        while (count == 0 || !stops)
            && let Some(event) = pulled.next().unwrap()
        {
            support::push(events, event);
            count += 1;
        }
        if count == 0 || !stops {
            return;
        }
    }
}

/// Joins neighbouring pieces of text, and if the host wants calls, of framing and values too.
fn joined(events: &[Event], calls: bool) -> Vec<Event> {
    if calls { reference::joined_with_calls(events) } else { reference::joined(events) }
}

/// Stops in the middle of a chunk, drops the rest, and ends the stream. The events must have the consumed bytes, all open spans
/// must be closed, and the next stream must be like that of a new scanner.
fn abandon(scanner: &Scanner, new: &Scanner, text: &[u8], most: usize, act: &Act, calls: bool) {
    let (mut scanner, mut events) = (scanner.clone(), Vec::new());
    let mut wanted = scanner.held().to_vec();
    let mut pulled = scanner.events(text);
    while events.len() < most
        && let Some(event) = pulled.next().unwrap()
    {
        events.push(support::owned(&event));
    }
    wanted.extend(&text[..pulled.consumed()]);
    drop(pulled);
    let told = |events: &[Event]| events.iter().map(|event| event.bytes.len()).sum::<usize>();
    assert_eq!(scanner.held().len(), wanted.len() - told(&events), "{events:#?}");
    do_act(&mut scanner, act, true, &mut events);
    if matches!(act, Act::Reset) {
        scanner.reset();
    } else {
        scanner.finish(|event| events.push(support::owned(&event))).unwrap();
        let bytes: Vec<u8> = events.iter().flat_map(|event| event.bytes.clone()).collect();
        assert_eq!(bytes.escape_ascii().to_string(), wanted.escape_ascii().to_string(), "{events:#?}");
    }
    let wanted = joined(&support::run(&mut new.clone(), &[text]), calls);
    assert_eq!(support::difference(&wanted, &joined(&support::run(&mut scanner, &[text]), calls)), None);
}

fn see(scanner: &mut Scanner, new: &Scanner, step: &Step, way: Way, calls: bool, random: &mut Random) -> Seen {
    let mut events = Vec::new();
    match (&step.tokens, way.most) {
        (Some(tokens), None) if !way.stops => {
            scanner.feed_tokens(&step.text, tokens, |event| support::push(&mut events, event)).unwrap();
        }
        (Some(tokens), _) => {
            support::feed_some_tokens(scanner, &step.text, tokens, random, way.stops, &mut events);
        }
        (None, None) => feed_piece(scanner, &step.text, way.stops, &mut events),
        (None, Some(most)) => {
            for chunk in support::random_cuts(random, &step.text, most) {
                feed_piece(scanner, chunk, way.stops, &mut events);
            }
        }
    }
    // The next call reports the pending events. Of the actions, only these report events, so before the others, an empty feed does
    // it.
    let gives = matches!(step.act, Act::Flush | Act::Force | Act::Finish);
    if !gives || random.one_in(2) {
        scanner.feed(b"", |event| support::push(&mut events, event)).unwrap();
    }
    do_act(scanner, &step.act, way.stops, &mut events);
    let (mut thoughts, mut start) = (Vec::new(), None);
    match &step.act {
        Act::Reset => scanner.reset(),
        Act::Clone => {
            let clone = scanner.clone();
            scanner.feed(b"<think>x</think>\xE6", |_| ()).unwrap();
            *scanner = clone;
        }
        Act::TakeThoughts => thoughts.extend(std::iter::from_fn(|| scanner.take_thought())),
        Act::Prompt(prompt) => start = Some(scanner.start_from_prompt(prompt)),
        Act::Abandon(text, most, act) => abandon(scanner, new, text, *most, act, calls),
        Act::Flush | Act::Force | Act::Finish => {}
    }
    let (held, offset) = (scanner.held().to_vec(), scanner.offset());
    Seen { events: joined(&events, calls), thoughts, start, counts: all_counts(scanner), held, offset }
}

/// Returns the steps of one or several streams, until the end of the last one. In some runs, a prompt precedes them. In half of the
/// runs, the prompt and the steps are pieces of one text, so that a call that begins in the prompt continues.
fn steps(pair: &Pair, texts: &Texts, random: &mut Random) -> Vec<Step> {
    let mut steps = Vec::new();
    let examples = &pair.reference.examples;
    let whole = |random: &mut Random, length: usize| {
        // Random texts hardly ever have complete calls, so examples are used too.
        let is_example = !examples.is_empty() && random.one_in(3);
        if is_example { random.pick(examples).input.clone().into_bytes() } else { texts.next(random, length) }
    };
    let mut one = random.one_in(2).then(|| whole(random, 200));
    let mut text = |random: &mut Random| match &mut one {
        Some(left) => {
            let most = if random.one_in(2) { 4 } else { left.len() + 1 };
            let rest = left.split_off(random.below(most).min(left.len()));
            std::mem::replace(left, rest)
        }
        None => {
            let length = random.below(40);
            let mut text = whole(random, length);
            text.truncate(random.below(2 * text.len() + 1));
            text.split_off(if random.one_in(2) { 0 } else { random.below(text.len() + 1) })
        }
    };
    if random.one_in(3) {
        steps.push(Step { text: Vec::new(), tokens: None, act: Act::Prompt(text(random)) });
    }
    for _ in 0..random.below(6) {
        let act = match random.below(16) {
            0..=2 => Act::Flush,
            3..=5 => Act::Force,
            6 => Act::Finish,
            7 => Act::Reset,
            8 => Act::Clone,
            9 | 10 => Act::TakeThoughts,
            11..=14 => {
                let act = random.pick(&[Act::Flush, Act::Force, Act::Finish, Act::Reset]).clone();
                Act::Abandon(text(random), 1 + random.below(6), Box::new(act))
            }
            _ => Act::Prompt(text(random)),
        };
        let text = text(random);
        let tokens = random.one_in(3).then(|| support::tokens(&text, random));
        steps.push(Step { text, tokens, act });
    }
    steps.push(Step { text: text(random), tokens: None, act: Act::Finish });
    steps.push(Step { text: Vec::new(), tokens: None, act: Act::TakeThoughts });
    steps
}

/// Checks that the events of each finished stream have all of its bytes.
fn check_lossless(steps: &[Step], seen: &[Seen], name: &str) {
    let (mut text, mut told) = (Vec::new(), Vec::new());
    for (step, seen) in steps.iter().zip(seen) {
        text.extend_from_slice(&step.text);
        told.extend(seen.events.iter().flat_map(|event| event.bytes.clone()));
        if matches!(step.act, Act::Finish) {
            assert_eq!(told, text, "{name}: lossless: {steps:?}");
        }
        if matches!(step.act, Act::Finish | Act::Reset) {
            text.clear();
            told.clear();
        }
    }
}

fn check_cuts(pair: &Pair, start: &str, texts: &Texts, random: &mut Random, toml: &str) {
    let name = &pair.reference.name;
    let budget = (!random.one_in(3)).then(|| {
        let limit = random.below(20) as u64;
        let unit = *random.pick(&[BudgetUnit::Bytes, BudgetUnit::Characters]);
        let scope = *random.pick(&[BudgetScope::Span, BudgetScope::Stream]);
        Budget::new(limit, unit, scope)
    });
    let collect = (!random.one_in(3)).then(|| random.below(60));
    let calls = random.one_in(2);
    let stray_close = *random.pick(&[StrayClose::Dialect, StrayClose::Dialect, StrayClose::Text, StrayClose::Drop]);
    let options = ScannerOptions::new().start(start.parse::<Start>().unwrap()).collect(collect).budget(budget);
    let options = options.calls(calls).stray_close(stray_close);
    let first = Scanner::with_options(&pair.library, &options).unwrap();
    let steps = steps(pair, texts, random);
    let mut see_all = |way: Way| {
        let mut scanner = first.clone();
        steps.iter().map(|step| see(&mut scanner, &first, step, way, calls, random)).collect::<Vec<Seen>>()
    };
    let wanted = see_all(Way { most: None, stops: false });
    check_lossless(&steps, &wanted, name);
    for most in [Some(1), Some(5), Some(20), None] {
        for stops in [false, true] {
            let way = Way { most, stops };
            let got = see_all(way);
            let Some(at) = (0..steps.len()).find(|&at| wanted[at] != got[at]) else { continue };
            let difference = support::difference(&wanted[at].events, &got[at].events).unwrap_or_default();
            let (wanted, got) = (&wanted[at], &got[at]);
            panic!("{name} {options:?} {way:?}, step {at}: {difference}\n{wanted:?}\n{got:?}\n{steps:?}\n{toml}");
        }
    }
}

/// Runs `ASIDE_HOST` rounds from each start of each dialect, and twenty times as many random dialects.
#[test]
fn the_cuts_do_not_show() {
    let mut random = Random::announced("the_cuts_do_not_show");
    let rounds = std::env::var("ASIDE_HOST").map_or(100, |rounds| rounds.parse().unwrap());
    for pair in Pair::all() {
        let texts = Texts::new(&pair.reference);
        for start in pair.reference.starts() {
            for _ in 0..rounds {
                check_cuts(&pair, start, &texts, &mut random, "");
            }
        }
    }
    for _ in 0..20 * rounds {
        let toml = made(&mut random);
        if Dialect::load(&toml).is_ok() {
            let pair = Pair::parse(&toml);
            let texts = Texts::new(&pair.reference);
            for start in pair.reference.starts() {
                for _ in 0..4 {
                    check_cuts(&pair, start, &texts, &mut random, &toml);
                }
            }
        }
    }
}

/// Checks that a flush and a forced close report the held bytes, at every place of an example, twice in a row, and after a prompt.
/// No byte may be lost, reported twice or still held.
#[test]
fn held_bytes_are_there_at_once() {
    let mut random = Random::announced("held_bytes_are_there_at_once");
    for pair in Pair::all() {
        for example in &pair.reference.examples {
            let text = example.input.as_bytes();
            for at in 0..=text.len() {
                for next in [at + 1, random.below(text.len() + 1)] {
                    let next = next.clamp(at, text.len());
                    for is_prompt in [false, true] {
                        check_at_once(&pair, text, at, next, is_prompt, &mut random);
                    }
                }
            }
        }
    }
}

/// Feeds a text in three chunks, of which the first may be the prompt. After each of the other chunks, the host flushes or closes
/// by force.
fn check_at_once(pair: &Pair, text: &[u8], at: usize, next: usize, is_prompt: bool, random: &mut Random) {
    let acts = [0; 3].map(|_| random.pick(&[Act::Flush, Act::Force]).clone());
    let thinking = *random.pick(&[CallsInThinking::Dialect, CallsInThinking::Never]);
    let options = ScannerOptions::new().calls(random.one_in(2)).calls_in_thinking(thinking);
    let mut scanner = Scanner::with_options(&pair.library, &options).unwrap();
    let mut told = Vec::new();
    if is_prompt {
        scanner.start_from_prompt(&text[..at]).unwrap();
    }
    let first = if is_prompt { at } else { 0 };
    for (chunk, act) in [&text[first..at], &text[at..next], &text[next..]].into_iter().zip(&acts) {
        let mut events = Vec::new();
        scanner.feed(chunk, |event| events.push(support::owned(&event))).unwrap();
        do_act(&mut scanner, act, false, &mut events);
        told.extend(events.iter().flat_map(|event| event.bytes.clone()));
        let has_bytes = |event: &Event| matches!(event.what, What::Text | What::Call(Call::Value));
        let is_empty = |event: &Event| has_bytes(event) && event.bytes.is_empty();
        let shown = || format!("{} {options:?} {act:?} {}", pair.reference.name, support::shown(&[&text[..at], chunk]));
        assert!(!events.iter().any(is_empty), "without bytes: {} {events:?}", shown());
        if matches!(act, Act::Flush) {
            assert_eq!((scanner.held(), told.len()), (&b""[..], scanner.offset() as usize), "{}", shown());
            scanner.flush(|event| panic!("twice: {} {event:?}", shown())).unwrap();
        }
    }
    scanner.finish(|event| told.extend_from_slice(event.bytes)).unwrap();
    assert!(told == text[first..], "{}: {} of {}", pair.reference.name, told.escape_ascii(), text.escape_ascii());
}

#[test]
fn tokens_of_one_stream_say_nothing_of_the_next() {
    let dialect = Dialect::find("deepseek-r1").unwrap();
    let chunks: [&[u8]; 4] = [
        "Hmm, so be it.".as_bytes(),
        b"and more, ",
        "a\n<".as_bytes(),
        "｜tool▁calls▁begin｜>x<｜tool▁calls▁end｜>".as_bytes(),
    ];
    let wanted = support::run(&mut Scanner::new(&dialect), &chunks);
    for whole in [true, false] {
        let mut scanner = Scanner::new(&dialect);
        scanner.feed_tokens(b"hm</thi", &[Token::text(2), Token::special(5)], |_| ()).unwrap();
        if whole {
            scanner.finish(|_| ()).unwrap()
        } else {
            scanner.reset()
        }
        let got = support::run(&mut scanner, &chunks);
        assert_eq!(support::difference(&wanted, &got), None);
    }
}
