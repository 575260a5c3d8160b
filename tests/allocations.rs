//! Counts allocations with an allocator in this file. A scanner must not allocate after `new`, because hosts call it for each
//! token. There are two exceptions: attributes, and collecting, which is off here. The allocator also refuses each allocation in
//! turn, because running out of memory must become an error.

use aside::answer::Tools;
use aside::sse::{self, Rewriter};
use aside::{Dialect, Error, JoinError, JoinOptions, Kind, Scanner, ScannerOptions, Token};
use samples::{Random, Texts};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::CStr;
use std::fmt::Write;
use support::{Pair, c};

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
    /// The bytes that this thread has allocated and not freed.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    /// The maximum of `LIVE`.
    static MOST: Cell<isize> = const { Cell::new(0) };
    /// The number of the next allocation that is refused: 1 for the next one, 0 for none.
    static REFUSE: Cell<usize> = const { Cell::new(0) };
}

/// Counts an allocation, and returns whether it is allowed.
fn count() -> bool {
    // These variables no longer exist when a thread ends.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
    let left = REFUSE.try_with(|refuse| refuse.replace(refuse.get().saturating_sub(1)));
    left != Ok(1)
}

fn take(size: isize) {
    let _ = LIVE.try_with(|live| live.set(live.get() + size));
    let _ = MOST.try_with(|most| most.set(most.get().max(LIVE.get())));
}

// Counts and refuses allocations, and calls the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !count() {
            return std::ptr::null_mut();
        }
        take(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        take(-(layout.size() as isize));
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !count() {
            return std::ptr::null_mut();
        }
        take(size as isize - layout.size() as isize);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the allocations of feeding and finishing two streams in a row. In a dialect with calls, a scanner allocates memory for
/// the first long head and keeps it, so another stream is fed before these two.
fn allocations(pair: &Pair, start: &str, chunks: &[&[u8]]) -> usize {
    let mut scanner = support::scanner(&pair.library, Some(start), None);
    if pair.has_calls() {
        chunks.iter().for_each(|chunk| scanner.feed(chunk, |_| {}).unwrap());
        scanner.finish(|_| {}).unwrap();
    }
    let before = COUNT.get();
    let mut bytes = 0;
    for _ in 0..2 {
        for chunk in chunks {
            scanner.feed(chunk, |event| bytes += event.bytes.len()).unwrap();
        }
        scanner.finish(|event| bytes += event.bytes.len()).unwrap();
    }
    let after = COUNT.get();
    assert_eq!(bytes, 2 * chunks.iter().map(|chunk| chunk.len()).sum::<usize>());
    after - before
}

fn none(pair: &Pair, start: &str, text: &[u8], random: &mut Random) {
    let mut ways = vec![vec![text], support::bytes(text)];
    for most in [2, 5, 40] {
        ways.push(support::random_cuts(random, text, most));
    }
    for chunks in ways {
        let count = allocations(pair, start, &chunks);
        let name = &pair.reference.name;
        assert_eq!(count, 0, "{name} from {start} allocated {count} times: {}", support::shown(&chunks));
    }
}

#[test]
fn the_count_counts() {
    let before = COUNT.get();
    let list = std::hint::black_box(vec![1, 2, 3]);
    assert_eq!(COUNT.get() - before, 1);
    drop(list);
}

/// Checks that a rewriter has freed the memory for a large event after the next small event or the end of the stream, however the
/// bytes arrive. Before that, it keeps the event's bytes, their analysis and the output.
#[test]
fn a_rewriter_gives_the_room_of_a_large_event_back() {
    const LARGE: usize = 1_000_000;
    const KEPT: isize = 64 << 10;
    const MOST_TIMES: isize = 24;
    let chunk = |choices: &str| format!("data: {{\"id\":\"c\",\"choices\":[{choices}]}}\n\n");
    let choice = |index: usize, text: &str| format!("{{\"index\":{index},\"delta\":{{\"content\":\"{text}\"}}}}");
    let turns = "<think>a \\n b</think>\\u00e9\\n";
    let many = (0..10).map(|index| choice(index, &turns.repeat(LARGE / 10 / turns.len()))).collect::<Vec<_>>();
    let many_lines = |line: &str| chunk("7").replace('7', &format!("\n{}", line.repeat(LARGE / line.len())));
    let small = chunk(&choice(0, "a"));
    let call = format!(
        "<tool_call>\\n{{\\\"name\\\": \\\"f\\\", \\\"arguments\\\": {{\\\"a\\\": \\\"{}\\\"}}}}\\n</tool_call>",
        "x".repeat(LARGE)
    );
    let events = [
        ("a text", chunk(&choice(0, &"word ".repeat(16 * LARGE / 5)))),
        ("a text of many parts", chunk(&choice(0, &turns.repeat(LARGE / turns.len())))),
        ("ten choices", chunk(&many.join(","))),
        ("a choice many times", chunk(&vec![choice(0, &turns.repeat(LARGE / 120 / turns.len())); 120].join(","))),
        ("lines of one value", many_lines("data: \n").replace("7", &choice(0, "b"))),
        (
            "lines of an event each",
            format!("{}\n", format!("data: {{\"choices\":[{}]}}\n", choice(0, turns)).repeat(LARGE / 100)),
        ),
        ("lines of no data", many_lines("data\n").replace("7", &choice(0, "b"))),
        ("lines of no field", format!("{}\n", "event: a\n".repeat(LARGE / 9))),
        ("a call", chunk(&choice(0, &call))),
        ("no JSON", format!("data: {}\n\n", "x".repeat(LARGE))),
        (
            "a body",
            small["data: ".len()..]
                .replace("delta", "message")
                .replace("\"a\"", &format!("\"{}\"", turns.repeat(LARGE / turns.len()))),
        ),
    ];
    let qwen3 = Dialect::find("qwen3").unwrap();
    for (name, event) in events {
        for options in [sse::Options::new(), sse::Options::new().repair(true).calls(true)] {
            let mut rewriter = Rewriter::new(&qwen3, &options).unwrap();
            let mut feed = |text: &str, size: usize, ends: bool| {
                let mut out = Vec::new();
                MOST.set(LIVE.get());
                text.as_bytes().chunks(size).for_each(|chunk| rewriter.feed(chunk, &mut out).unwrap());
                if ends {
                    rewriter.finish(&mut out).unwrap();
                }
                drop(out);
                LIVE.get()
            };
            let before = feed(&small.repeat(2), 3, true);
            for size in [usize::MAX, 60_000] {
                if !event.starts_with('{') {
                    let before_event = LIVE.get();
                    feed(&event, size, false);
                    let most = MOST.get() - before_event;
                    assert!(most <= MOST_TIMES * event.len() as isize, "{name}: {most} bytes");
                    let kept = feed(&small, usize::MAX, false) - before;
                    assert!(kept <= KEPT, "after {name}: {kept} bytes");
                }
                let kept = feed(&event, size, true) - before;
                assert!(kept <= KEPT, "after {name} and the end: {kept} bytes");
            }
        }
    }
}

/// Checks the memory of a new rewriter, and of a rewriter after three events with text, of which it holds nothing. In a server,
/// thousands of rewriters wait for their next event at the same time.
#[test]
fn rewriters_take_few_bytes() {
    let chat = |token: &str| {
        format!(
            "data: {{\"id\":\"chatcmpl-5b3f0c7e4a9d4d6f\",\"object\":\"chat.completion.chunk\",\"created\":1764000000,\
             \"model\":\"Qwen/Qwen3-8B\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{token}\"}},\"logprobs\":null,\
             \"finish_reason\":null,\"token_ids\":[4711]}}]}}\n\n"
        )
    };
    let named = |kind: &str, rest: &str| format!("event: {kind}\ndata: {{\"type\":\"{kind}\",{rest}}}\n\n");
    let blocks = |token: &str| {
        let delta = format!("\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{token}\"}}");
        named("content_block_delta", &delta)
    };
    let place = "\"item_id\":\"msg_68f0c7e4a9d4d6f\",\"output_index\":0,\"content_index\":0";
    let items = |token: &str| {
        named(
            "response.output_text.delta",
            &format!("\"sequence_number\":4,{place},\"delta\":\"{token}\",\"logprobs\":[]"),
        )
    };
    let message = "\"message\":{\"id\":\"msg_01\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}";
    let block = "\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}";
    let item = "\"sequence_number\":2,\"output_index\":0,\"item\":{\"id\":\"msg_68f0c7e4a9d4d6f\",\"type\":\"message\",\
                \"status\":\"in_progress\",\"content\":[],\"role\":\"assistant\"}";
    let part = format!("\"sequence_number\":3,{place},\"part\":{{\"type\":\"output_text\",\"text\":\"\"}}");
    let texts = ["So", " the", " list"];
    let streams = [
        ("chat", String::new(), texts.map(chat), [768, 1_904]),
        (
            "Messages",
            named("message_start", message) + &named("content_block_start", block),
            texts.map(blocks),
            [768, 2_224],
        ),
        (
            "Responses",
            named("response.output_item.added", item) + &named("response.content_part.added", &part),
            texts.map(items),
            [768, 3_328],
        ),
    ];
    let qwen3 = Dialect::find("qwen3").unwrap();
    for (name, start, events, limits) in streams {
        let mut out = Vec::with_capacity(1 << 12);
        let mut count = || {
            out.clear();
            let before = LIVE.get();
            let mut rewriter = Box::new(Rewriter::new(&qwen3, &sse::Options::new()).unwrap());
            let new = LIVE.get() - before;
            rewriter.feed(&start, &mut out).unwrap();
            events.iter().for_each(|event| rewriter.feed(event, &mut out).unwrap());
            assert_eq!((out.capacity(), rewriter.stats().held), (1 << 12, 0), "{name}");
            (new, LIVE.get() - before)
        };
        // The first rewriter of a thread also allocates the buffers that all of them share.
        count();
        let (new, fed) = count();
        assert!([new, fed].iter().zip(limits).all(|(bytes, limit)| *bytes <= limit), "{name}: {new} and {fed} bytes");
    }
}

#[test]
fn point_4_nothing_is_allocated_after_new() {
    let mut random = Random::announced("point_4_nothing_is_allocated_after_new");
    for pair in Pair::all() {
        let attributes =
            pair.reference.spans.iter().any(|span| span.tag.as_ref().is_some_and(|tag| tag.attributes.is_some()));
        if attributes || pair.reference.header.is_some() {
            continue;
        }
        let texts = Texts::new(&pair.reference);
        for start in pair.reference.starts() {
            for _ in 0..100 {
                let length = 1 + random.below(1000);
                let text = texts.next(&mut random, length);
                none(&pair, start, &text, &mut random);
            }
        }
    }
}

/// Returns the bytes that a scanner has allocated: when it is new, and after this text.
fn memory(dialect: &Dialect, calls: bool, text: &[u8]) -> (isize, isize) {
    let before = LIVE.get();
    let mut scanner = Scanner::with_options(dialect, &ScannerOptions::new().calls(calls)).unwrap();
    let new = LIVE.get() - before;
    for chunk in text.chunks(3) {
        scanner.feed(chunk, |_| {}).unwrap();
    }
    (new, LIVE.get() - before)
}

/// Checks the memory for the option `calls`: at most 512 bytes, and none in a dialect with tables of calls.
#[test]
fn calls_take_few_bytes() {
    for pair in Pair::all() {
        let (dialect, name) = (&pair.library, &pair.reference.name);
        let (plain, with_calls) = (memory(dialect, false, b""), memory(dialect, true, b""));
        assert!(with_calls.0 - plain.0 <= 512, "{name}: {plain:?} and {with_calls:?} bytes");
        assert!(!pair.has_calls() || with_calls == plain, "{name}: {plain:?} and {with_calls:?} bytes");
        // The held part of an opener stays within the reserved capacity.
        let opener = pair.reference.spans.iter().flat_map(|span| span.open.first()).next();
        let (new, fed) = memory(dialect, true, opener.map_or("", String::as_str).as_bytes());
        assert_eq!(new, fed, "{name}");
    }
}

/// Checks that a scanner that reports calls allocates memory for a long head once, and for nothing else.
#[test]
fn telling_calls_apart_allocates_nothing() {
    let mut random = Random::announced("telling_calls_apart_allocates_nothing");
    let mut calls = 0;
    for pair in Pair::all().iter().filter(|pair| pair.has_calls() && pair.reference.header.is_none()) {
        if pair.reference.spans.iter().any(|span| span.tag.as_ref().is_some_and(|tag| tag.attributes.is_some())) {
            continue;
        }
        let texts = Texts::new(&pair.reference);
        let mut scanner = Scanner::with_options(&pair.library, &ScannerOptions::new().calls(true)).unwrap();
        let length = |random: &mut Random| 1 + random.below(1000);
        let texts: Vec<Vec<u8>> = (0..200)
            .map(|_| {
                let length = length(&mut random);
                texts.next(&mut random, length)
            })
            .collect();
        let mut run = |scanner: &mut Scanner| {
            let before = COUNT.get();
            for chunk in texts.iter().flat_map(|text| text.chunks(7).chain([&b""[..]])) {
                if chunk.is_empty() {
                    scanner.finish(|_| {}).unwrap();
                }
                scanner.feed(chunk, |event| calls += usize::from(matches!(event.kind, Kind::Call { .. }))).unwrap();
            }
            COUNT.get() - before
        };
        let name = &pair.reference.name;
        // The buffer doubles until the longest head fits into it.
        let grown = run(&mut scanner);
        assert!(grown <= 4, "{name}: {grown} allocations");
        assert_eq!(run(&mut scanner), 0, "{name}");
    }
    // Texts of a dialect whose calls have no opener have few calls, because they must begin with one.
    assert!(calls > 1000, "{calls} calls");
}

#[test]
fn point_4_tags_without_attributes_allocate_nothing() {
    let mut random = Random::announced("point_4_tags_without_attributes_allocate_nothing");
    let pair = Pair::find("thought-stream");
    let texts = [
        "a < b <think <thinking> <thinkings> </thinking>c</thinking> <thinking\n/>d",
        "plain text, é 日本 🧠, and no tag at all",
        "<<<<<<<<<<<<<<<thinking <thinking  <thinking\t>x",
    ];
    for text in texts {
        none(&pair, "content", text.as_bytes(), &mut random);
        none(&pair, "thinking", text.as_bytes(), &mut random);
    }
}

#[test]
fn point_4_text_without_headers_allocates_nothing() {
    let mut random = Random::announced("point_4_text_without_headers_allocates_nothing");
    let pair = Pair::find("harmony");
    let texts = ["plain <|star <|end|> <| <|channel", "<|start|>\nx <|channel|><", "é 日本 🧠 to= <|call|><|return|>"];
    for text in texts {
        for start in ["content", "thinking", "tool", "header"] {
            none(&pair, start, text.as_bytes(), &mut random);
        }
    }
}

// Tests in which memory runs out. No function that can return an error may panic or abort then.

/// Runs `work` repeatedly and refuses its first allocation, then its second, and so on, until a run has no more. Each time it must
/// return the error `full` and free its memory. Returns the number of allocations.
fn refused<T, E: PartialEq + std::fmt::Debug>(full: E, work: impl FnMut() -> Result<T, E>) -> usize {
    refused_but(|now, before| now == before, full, work)
}

/// Does the same for event streams. The thread has the buffers for their events before each run, and may have fewer after it.
fn refused_of_streams<T, E: PartialEq + std::fmt::Debug>(full: E, work: impl FnMut() -> Result<T, E>) -> usize {
    refused_but(|now, before| now <= before, full, work)
}

fn refused_but<T, E: PartialEq + std::fmt::Debug>(
    is_freed: fn(isize, isize) -> bool,
    full: E,
    mut work: impl FnMut() -> Result<T, E>,
) -> usize {
    for number in 1.. {
        drop(work().unwrap());
        let live = LIVE.get();
        let is_over = is_over(number, &full, &mut work);
        assert!(is_freed(LIVE.get(), live), "allocation {number} was refused, and memory is lost");
        if is_over {
            return number - 1;
        }
    }
    unreachable!()
}

/// Runs `work` like `refused`, with a new thread for each run, which has no buffers yet. There are buffers for 256 threads.
fn refused_in_threads<T>(work: impl Fn() -> Result<T, Error> + Sync) -> usize {
    let runs = 1..;
    let is_over = |&number: &usize| {
        std::thread::scope(|scope| scope.spawn(|| is_over(number, &Error::OutOfMemory, &work)).join().unwrap())
    };
    runs.take_while(|number| !is_over(number)).count()
}

/// Runs `work` and refuses the allocation with this number. Returns true if there is no such allocation. Otherwise `work` must return
/// the error `full`.
fn is_over<T, E: PartialEq + std::fmt::Debug>(number: usize, full: &E, work: impl FnOnce() -> Result<T, E>) -> bool {
    REFUSE.set(number);
    let result = work();
    let is_over = REFUSE.replace(0) > 0;
    match result.as_ref().err() {
        Some(error) => assert!(!is_over && error == full, "allocation {number}: {error:?}"),
        None => assert!(is_over, "allocation {number} was refused, and nobody said so"),
    }
    is_over
}

const TAGS: &[u8] =
    b"a<thinking thought='&lt;b' thought_type=\"c\" confidence='0.5' x='y'>d</thinking>e<thinking f='g'/>h";
const HEADERS: &[u8] =
    b"<|channel|>analysis<|message|>a<|end|><|start|>assistant to=f.g<|channel|>commentary json<|message|>{}";

#[test]
fn refused_memory_is_an_error_of_the_stream() {
    let collect = ScannerOptions::new().collect(1 << 20);
    // Longer than a scanner's first buffer.
    let long = format!("a<thinking x='{}'>d</thinking>e", "y".repeat(600)).into_bytes();
    for (name, text) in [
        ("thought-stream", TAGS),
        ("thought-stream", &long),
        ("harmony", HEADERS),
        ("any", TAGS),
        ("thinking-tags", TAGS),
    ] {
        let dialect = Pair::find(name).library;
        for options in [ScannerOptions::default(), collect] {
            for chunks in [vec![text], support::bytes(text)] {
                let points = refused(Error::OutOfMemory, || {
                    let mut scanner = Scanner::with_options(&dialect, &options)?;
                    scanner.start_from_prompt(b"a <thin")?;
                    for chunk in &chunks {
                        scanner.feed_tokens(chunk, &[Token::text(chunk.len() as u32)], |_| ())?;
                    }
                    let mut other = scanner.try_clone()?;
                    scanner.finish(|_| ())?;
                    while scanner.take_thought().is_some() {}
                    other.flush(|_| ())?;
                    other.force_close(|_| ())?;
                    other.finish(|_| ())
                });
                assert!(points > 3, "{name}: {points} points");
            }
        }
    }
}

/// Checks that events before the failure stay valid, and that a reset restores everything.
#[test]
fn refused_memory_loses_no_byte_before_it_and_nothing_after_a_reset() {
    let dialect = Pair::find("thought-stream").library;
    let options = ScannerOptions::new().collect(1 << 20);
    let mut scanner = Scanner::with_options(&dialect, &options).unwrap();
    let mut failures = 0;
    for number in 1.. {
        let mut heard = Vec::with_capacity(TAGS.len());
        let mut listen = |event: aside::Event<'_>| {
            assert!(event.bytes.is_empty() || event.offset as usize == heard.len());
            heard.extend_from_slice(event.bytes);
        };
        REFUSE.set(number);
        let result = scanner.feed(TAGS, &mut listen).and_then(|()| scanner.finish(&mut listen));
        let is_over = REFUSE.replace(0) > 0;
        assert!(TAGS.starts_with(&heard));
        match result {
            Err(error) => assert_eq!(error, Error::OutOfMemory),
            Ok(()) => assert_eq!(heard, TAGS),
        }
        scanner.reset();
        let (mut text, mut thoughts) = (Vec::new(), 0);
        scanner.feed(TAGS, |event| text.extend_from_slice(event.bytes)).unwrap();
        scanner.finish(|event| text.extend_from_slice(event.bytes)).unwrap();
        while scanner.take_thought().is_some() {
            thoughts += 1;
        }
        assert_eq!((&text[..], thoughts), (TAGS, 1), "after allocation {number} was refused");
        if is_over {
            break;
        }
        failures += 1;
        // This scanner keeps its memory for the next stream. A new one must allocate again.
        scanner = Scanner::with_options(&dialect, &options).unwrap();
    }
    assert!(failures > 3, "{failures} failures");
}

#[test]
fn refused_memory_is_an_error_of_whole_texts() {
    let dialect = Pair::find("qwen3").library;
    let options = JoinOptions::new();
    assert!(refused(Error::OutOfMemory, || dialect.strip(b"<think>a</think> b")) > 0);
    assert!(refused(JoinError::OutOfMemory, || dialect.escape(b"a <think> b")) > 0);
    assert!(refused(JoinError::OutOfMemory, || dialect.join(b"a", b"b", &options)) > 0);
}

/// Makes a template so long that its result is not cached, so that it is read each time.
fn not_kept(template: &str) -> String {
    format!("{template}{{# {} #}}", "x".repeat(64 * 1024))
}

#[test]
fn a_template_that_there_is_no_memory_to_keep_is_found() {
    let name = |found: Result<(aside::Dialect, aside::Start), aside::UnknownTemplate>| {
        found.map(|(dialect, start)| (dialect.name().to_owned(), start))
    };
    // The first call loads the dialects. When the result is cached, finding it again must not need memory.
    let template = "<|im_start|></think><tool_call>";
    let first = name(aside::Dialect::find_for_template(template));
    REFUSE.set(1);
    let found = aside::Dialect::find_for_template(template);
    assert_eq!(REFUSE.replace(0), 1);
    assert_eq!(name(found), first);
    let mut refused = 0;
    for number in 1.. {
        // No such template was read before.
        let template = format!("{template}{{# {number} #}}");
        REFUSE.set(number);
        let found = aside::Dialect::find_for_template(&template);
        let is_over = REFUSE.replace(0) > 0;
        match found {
            Err(error) => assert!(!is_over && error.is_out_of_memory()),
            found => {
                refused += usize::from(!is_over);
                assert_eq!(name(found), name(aside::Dialect::find_for_template(&template)));
            }
        }
        if is_over {
            break;
        }
    }
    assert!(refused > 0);
}

/// Checks the lookup by a template, whose first call loads the dialects.
#[test]
fn refused_memory_is_an_error_of_a_template() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/field/templates");
    let mut points = 0;
    for file in ["ik_deepseek-ai-DeepSeek-V4.jinja", "ik_Qwen3.5-4B.jinja", "ovms_chat_template_gpt_oss.jinja"] {
        let template = not_kept(&std::fs::read_to_string(format!("{folder}/{file}")).unwrap());
        points +=
            refused(true, || aside::Dialect::find_for_template(&template).map_err(|error| error.is_out_of_memory()));
    }
    assert!(points > 100, "{points} points");
    // If no dialect is found, the reason must not be memory.
    let many = &not_kept("{{ '[unused16]◁think▷' }}");
    let few = |error: &aside::UnknownTemplate| error.candidates().len();
    assert_eq!(aside::Dialect::find_for_template(many).map_err(|error| few(&error)).unwrap_err(), 2);
    for number in 1.. {
        REFUSE.set(number);
        let error = aside::Dialect::find_for_template(many).unwrap_err();
        let is_over = REFUSE.replace(0) > 0;
        assert_eq!((error.is_out_of_memory(), few(&error)), if is_over { (false, 2) } else { (true, 0) });
        if is_over {
            break;
        }
        assert_eq!(error.to_string(), "out of memory");
    }
}

/// Events that are split into several, held back or cut, and a body.
const ANSWERS: [(&str, &str); 2] = [
    (
        "events",
        "event: x\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"<think>a\\u0062</think>c<thi\"}},\
         {\"index\":1,\"delta\":{\"content\":\"d\",\"reasoning_content\":\"\"}}]}\n\n\
         data: {\"choices\":[\ndata: {\"index\":0,\"delta\":{\"content\":\"n\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    ),
    ("body", "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"<think>a</think>\\n\\nb\"}}]}"),
];

#[test]
fn refused_memory_is_an_error_of_an_event_stream() {
    let dialect = Pair::find("qwen3").library;
    let mut is_first = true;
    for (name, answer) in ANSWERS {
        for chunks in [vec![answer.as_bytes()], support::bytes(answer.as_bytes())] {
            let work = || {
                let (mut rewriter, mut out) = (Rewriter::new(&dialect, &Default::default())?, Vec::new());
                for chunk in &chunks {
                    rewriter.feed(chunk, &mut out)?;
                }
                rewriter.finish(&mut out)
            };
            let points = refused_of_streams(Error::OutOfMemory, work);
            assert!(points > 3, "{name}: {points} points");
            if chunks.len() == 1 && std::mem::take(&mut is_first) {
                let first = refused_in_threads(work);
                assert!(first > points, "{name}: {points} points, and {first} in a new thread");
            }
        }
    }
}

/// Texts with calls of each kind of table.
const CALLS: [(&str, &str); 5] = [
    (
        include_str!("dialects/calls-tags.toml"),
        "<tool_call>{\"name\":\"no\"}{\"arguments\":\"{\\\"a\\\":1}\",\"name\":\"g\",\"id\":\"7\"}<function=f><parameter=\u{fffd}>1</parameter>\
         <parameter=x>2</parameter></function>",
    ),
    (include_str!("dialects/calls-heads.toml"), "<calls><call>functions.f:0<args>{}</call><call>g<args>{\"a\":1}"),
    (include_str!("dialects/calls-python.toml"), "<|start|>[f(a='it\\'s', b=[True, (2,)]), g(x="),
    (include_str!("dialects/calls-raw.toml"), "<|tool>call:f{a:<|q|>x<|q|>,b:{c:1}}<tool|>"),
    (include_str!("dialects/calls-nested.toml"), "<tools>|call f>|a>|b>1|/b>|/a>|c>1|/c>|/call></tools>"),
];

#[test]
fn refused_memory_is_an_error_of_an_event_stream_with_calls() {
    let tools = r#"[{"name":"f","parameters":{"properties":{"x":{"type":"integer"}}}},{"name":"g"}]"#;
    let tools = Tools::read(tools).unwrap();
    for (toml, text) in CALLS {
        let dialect = Dialect::load(toml).unwrap();
        let text = serde_json::Value::from(text);
        let choice =
            |part: &str| format!("{{\"id\":\"c\",\"choices\":[{{\"index\":0,\"{part}\":{{\"content\":{text}}}}}]}}");
        for answer in [format!("data: {}\n\n", choice("delta")), choice("message")] {
            let work = || {
                let options = sse::Options::new().calls(true).tools(tools.clone());
                let (mut rewriter, mut out) = (Rewriter::new(&dialect, &options)?, Vec::new());
                rewriter.feed(&answer, &mut out)?;
                rewriter.finish(&mut out)?;
                assert!(String::from_utf8(out).unwrap().contains("\"tool_calls\":["), "{answer}");
                Ok(())
            };
            let points = refused_of_streams(Error::OutOfMemory, work);
            assert!(points > 10, "{answer}: {points} points");
        }
    }
}

/// Checks that output before the failure stays valid, and that a reset restores everything.
#[test]
fn refused_memory_loses_nothing_of_an_event_stream_after_a_reset() {
    let dialect = Pair::find("qwen3").library;
    for (name, answer) in ANSWERS {
        let whole = |rewriter: &mut Rewriter, out: &mut Vec<u8>| {
            rewriter.feed(answer.as_bytes(), out).and_then(|()| rewriter.finish(out))
        };
        let mut wanted = Vec::new();
        whole(&mut Rewriter::new(&dialect, &Default::default()).unwrap(), &mut wanted).unwrap();
        assert_ne!(wanted, answer.as_bytes());
        for number in 1.. {
            // A new rewriter allocates the memory that is kept for the next stream.
            let mut rewriter = Rewriter::new(&dialect, &Default::default()).unwrap();
            let mut out = Vec::new();
            REFUSE.set(number);
            let result = whole(&mut rewriter, &mut out);
            let is_over = REFUSE.replace(0) > 0;
            assert!(wanted.starts_with(&out), "{name}: {}", out.escape_ascii());
            assert_eq!(result, if is_over { Ok(()) } else { Err(Error::OutOfMemory) }, "{name}: allocation {number}");
            rewriter.reset();
            out.clear();
            whole(&mut rewriter, &mut out).unwrap();
            assert_eq!(out, wanted, "{name}: after allocation {number} was refused");
            if is_over {
                break;
            }
        }
    }
}

// Tests of finding dialects, in Rust and in C: loaded dialects must be found, and unknown names reported, without any allocation.

/// Returns the number of allocations in `work`. The first one is refused.
fn counted<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = COUNT.get();
    REFUSE.set(1);
    let result = work();
    REFUSE.set(0);
    (result, COUNT.get() - before)
}

fn field_names() -> impl Iterator<Item = &'static str> {
    let odd = ["", "/", "qwen3.9", "qwne3-8b", "no such model", "\u{1b}[2J\0", "x/y/z"];
    let rows = include_str!("field/names.tsv").lines().filter(|row| !row.starts_with('#'));
    rows.filter_map(|row| row.split('\t').next()).chain(odd)
}

#[test]
fn lookups_of_loaded_dialects_allocate_nothing() {
    Dialect::preload(Dialect::names()).unwrap();
    let long = "qwen3.9-".repeat(1 << 12);
    let mut names: Vec<&str> = field_names().chain(Dialect::names()).collect();
    names.push(&long);
    for name in names {
        let (_, count) = counted(|| (Dialect::find(name).is_ok(), Dialect::find_for_model(name).is_ok()));
        assert_eq!(count, 0, "{name:?}");
        // Showing an error must not need memory either.
        struct Nowhere;
        impl std::fmt::Write for Nowhere {
            fn write_str(&mut self, _: &str) -> std::fmt::Result {
                Ok(())
            }
        }
        let (result, count) = counted(|| match (Dialect::find(name), Dialect::find_for_model(name)) {
            (Err(dialect), Err(model)) => write!(Nowhere, "{dialect}{dialect:?}{model}{model:?}"),
            _ => Ok(()),
        });
        assert!(result.is_ok() && count == 0, "{name:?}: {count}");
    }
}

/// Returns the message of a C call.
fn said() -> String {
    unsafe { CStr::from_ptr(c::aside_last_error().cast()) }.to_str().unwrap().to_owned()
}

#[test]
fn refused_memory_is_a_status_of_lookups_in_c() {
    // The tables are loaded here, and the handles are made below. No other test in this file may make these handles.
    Dialect::preload(["kimi-k2", "harmony"]).unwrap();
    type Find = unsafe extern "C" fn(*const u8, usize) -> c::Handle;
    let finds: [(Find, &str); 4] = [
        (c::aside_dialect_find, "kimi-k2"),
        (c::aside_dialect_find_for_model, "moonshotai/Kimi-K2.5"),
        (c::aside_dialect_find_for_model, "gpt-oss:20b"),
        (c::aside_dialect_find, "gpt-oss"),
    ];
    let mut points = 0;
    for (find, name) in finds {
        for number in 1.. {
            let live = LIVE.get();
            REFUSE.set(number);
            let found = unsafe { find(name.as_ptr(), name.len()) };
            let is_over = REFUSE.replace(0) > 0;
            assert_eq!(found.is_null(), !is_over, "{name}: allocation {number}");
            if is_over {
                assert_eq!(unsafe { find(name.as_ptr(), name.len()) }, found);
                break;
            }
            assert_eq!((unsafe { c::aside_last_status() }, said().as_str()), (c::MEMORY, "out of memory"));
            assert_eq!(LIVE.get(), live, "{name}: allocation {number} was refused, and memory is lost");
            points += 1;
        }
    }
    assert!(points > 10, "{points} points");
    Dialect::preload(["glm-4.5"]).unwrap();
    for number in 1.. {
        REFUSE.set(number);
        let status = unsafe { c::aside_dialect_preload(b"glm-4.5".as_ptr(), 7) };
        let is_over = REFUSE.replace(0) > 0;
        assert_eq!(status, if is_over { c::OK } else { c::MEMORY }, "allocation {number}");
        if is_over {
            assert!(number > 3, "{number} points");
            break;
        }
    }
    lookups_in_c_allocate_nothing_after_preload();
}

fn lookups_in_c_allocate_nothing_after_preload() {
    assert_eq!(unsafe { c::aside_dialect_preload(std::ptr::null(), 0) }, c::OK);
    for name in field_names().chain(Dialect::names()) {
        for find in [c::aside_dialect_find, c::aside_dialect_find_for_model] {
            let (found, count) = counted(|| unsafe { find(name.as_ptr(), name.len()) });
            assert_eq!(count, 0, "{name:?}");
            if found.is_null() {
                assert_eq!(unsafe { c::aside_last_status() }, c::UNKNOWN);
                assert!(said().contains("no dialect") || said().contains("no thinking"), "{}", said());
            } else {
                let ((start, again), count) =
                    counted(|| unsafe { (c::aside_dialect_start(found), c::aside_dialect_preload(name.as_ptr(), 0)) });
                assert!(start > 0 && again == c::OK && count == 0, "{name}");
            }
        }
    }
    // A name that is not UTF-8 and longer than any dialect's name, and a short invalid name.
    let odd = [b"qwen3\xff\xfe".repeat(500), b"\xff".to_vec()];
    for name in &odd {
        for find in [c::aside_dialect_find, c::aside_dialect_find_for_model] {
            let (found, count) = counted(|| unsafe { find(name.as_ptr(), name.len()) });
            assert!(found.is_null() && count == 0 && said().contains('\u{fffd}'), "{}", said());
        }
    }
}

/// Checks that the gate does not allocate, because a proxy calls it for every request and answer.
#[test]
fn the_gate_and_the_counts_allocate_nothing() {
    use sse::{Exchange, RequestModel};
    let body = r#"{"a":[{"b":"\u00e9"}],"mod\u0065l":"Qwen\/Qwen3"}"#;
    let exchange = Exchange::new().status(200).method("POST").path("/v1/messages?a");
    let exchange = exchange.content_type(" Text/Event-Stream;a").content_encoding(" ");
    let mut room = [0; 64];
    let (found, count) = counted(|| {
        let hint = sse::request_hint(&exchange);
        let more = sse::request_model(&body[..20], &mut [0; 64]) == RequestModel::More;
        (hint, more, sse::wants(&exchange), sse::request_model(body, &mut room))
    });
    assert_eq!(count, 0);
    assert_eq!(found, (Some(sse::Hint::Identity), true, Some(sse::Body::Events), RequestModel::Found("Qwen/Qwen3")));
    let mut rewriter = Rewriter::new(&Dialect::find("qwen3").unwrap(), &sse::Options::new()).unwrap();
    rewriter.feed("data: {\"choices\":[{\"delta\":{\"content\":\"a <\"}}]}\n\ndat", &mut Vec::new()).unwrap();
    let (stats, count) = counted(|| rewriter.stats());
    assert_eq!((stats.content_bytes, stats.held, count), (2, 4, 0));
}

/// Checks that each call fails, and that its message needs no allocation.
#[test]
fn messages_in_c_allocate_nothing() {
    let (null, none) = (std::ptr::null_mut::<std::ffi::c_void>(), std::ptr::null());
    let name = "qwen3";
    let (dialect, mut len, mut start) = (unsafe { c::aside_dialect_find(name.as_ptr(), name.len()) }, 0, 0);
    let scanner = unsafe { c::aside_scanner_new(dialect, std::ptr::null()) };
    let no_size = c::ScannerOptions { size: 0, ..c::ScannerOptions::default() };
    let no_start = c::ScannerOptions { start: 99, ..c::ScannerOptions::default() };
    let mut events = [c::Event::default(); 2];
    let mut array = c::EventArray { capacity: 0, ..c::EventArray::new(&mut events) };
    let mut attribute = c::Attribute::default();
    let mut counts = c::Counts::default();
    let mut failing: Vec<Box<dyn FnMut() -> bool + '_>> = unsafe {
        vec![
            Box::new(|| c::aside_dialect_find(none, 0).is_null()),
            Box::new(|| c::aside_dialect_find(none, 1).is_null()),
            Box::new(|| c::aside_dialect_find_for_model(name.as_ptr(), usize::MAX).is_null()),
            Box::new(|| c::aside_dialect_preload(b"qwen3 qwne3".as_ptr(), 11) < 0),
            Box::new(|| c::aside_dialect_opener(dialect, 77, 0, &mut 0).is_null()),
            Box::new(|| c::aside_dialect_start(null) == 0),
            Box::new(|| c::aside_scanner_new(null, std::ptr::null()).is_null()),
            Box::new(|| c::aside_scanner_new(dialect, &no_size).is_null()),
            Box::new(|| c::aside_scanner_new(dialect, &no_start).is_null()),
            Box::new(|| c::aside_scanner_clone(null).is_null()),
            Box::new(move || c::aside_scanner_feed(scanner, none, 1, None, null) < 0),
            Box::new(move || c::aside_scanner_feed_into(scanner, none, 0, &mut array) < 0),
            Box::new(move || c::aside_scanner_counts(scanner, 77, &mut counts) < 0),
            Box::new(move || c::aside_scanner_thought_attribute(scanner, 0, &mut attribute) < 0),
            Box::new(move || c::aside_scanner_skip(scanner, 5, 97) < 0),
            Box::new(move || c::aside_scanner_start_from_prompt(scanner, none, 1, &mut start) < 0),
            Box::new(move || c::aside_scanner_finish(null, None, null) < 0),
            Box::new(move || c::aside_strip(null, none, 0, &mut len).is_null()),
        ]
    };
    for (index, fails) in failing.iter_mut().enumerate() {
        let (failed, count) = counted(fails);
        assert!(failed && count == 0, "call {index}: failed {failed}, {count} allocations");
        assert!(!said().is_empty() && unsafe { c::aside_last_status() } < 0, "call {index}");
    }
    drop(failing);
    // This call allocates before it fails. It must return its own error, or the error about memory.
    for number in 1.. {
        REFUSE.set(number);
        let trap = "a</think>b";
        let thinking = c::Bytes::of(trap.as_bytes());
        let options = c::JoinOptions { thinking, ..c::JoinOptions::default() };
        let joined = unsafe { c::aside_join(dialect, &options, &mut len) };
        let is_over = REFUSE.replace(0) > 0;
        assert!(joined.is_null());
        match unsafe { c::aside_last_status() } {
            c::MEMORY => assert!(!is_over && said() == "out of memory"),
            status => assert!(is_over && status == c::JOIN && said().contains("byte 1"), "{status}: {}", said()),
        }
        if is_over {
            break;
        }
    }
    unsafe { c::aside_scanner_free(scanner) };
}

/// Returns the most memory that reading a list of tools takes, and whether it is refused.
fn reading(text: &str, max_tools: Option<usize>) -> (isize, bool) {
    let before = LIVE.get();
    MOST.set(before);
    let is_refused = Tools::read_up_to(text, max_tools).is_err();
    (MOST.get() - before, is_refused)
}

/// Checks that reading a malformed list stops at its first fault, and that a list that is too long is not read at all. So no client
/// can make a host keep a list that it refuses. Reading a list must need at most a fixed multiple of its size.
#[test]
fn a_list_of_tools_takes_bounded_memory() {
    let repeated = |head: &str, unit: &str, tail: &str, len: usize| {
        let mut text = head.to_owned();
        text += &unit.repeat((len - head.len() - tail.len()) / unit.len());
        text + tail
    };
    let all = usize::MAX;
    for len in [4 << 20, 100 << 20] {
        for (head, unit) in
            [("[", "1,"), ("[", "[],"), ("", "1,"), ("{\"a\":[", "1,"), ("\"", "x"), ("[null,{}", ",{}")]
        {
            let (most, is_refused) = reading(&repeated(head, unit, "", len), Some(all));
            assert!(is_refused && most < 4096, "{head}{unit}…: {most} bytes for {len}");
        }
        let whole = repeated("[{}", ",{}", "]", len);
        let (most, is_refused) = reading(&whole, None);
        assert!(if len > 4 << 20 { is_refused && most < 4096 } else { !is_refused }, "{most} bytes for {len}");
    }
    for (head, unit, tail) in [
        ("[{\"a\":[1", ",1", "]}]"),
        ("[{\"a\":[{}", ",{}", "]}]"),
        ("[{\"a\":[[]", ",[]", "]}]"),
        ("[{\"a\":[\"\"", ",\"\"", "]}]"),
        ("[{\"a\":[[1]", ",[1]", "]}]"),
        ("[{\"a\":[{\"\":1}", ",{\"\":1}", "]}]"),
        ("[{}", ",{}", "]"),
        ("[{\"name\":\"\"}", ",{\"name\":\"\"}", "]"),
    ] {
        let text = repeated(head, unit, tail, 4 << 20);
        let (most, is_refused) = reading(&text, None);
        let times = most as f64 / text.len() as f64;
        println!("{head}{unit}…: {times:.1} times its text");
        assert!(!is_refused && times <= 40.0, "{head}{unit}…: {times:.1} times its text");
    }
}

/// A handle that is freed when it is dropped.
struct Owned(c::Handle, unsafe extern "C" fn(c::Handle));

impl Owned {
    /// Returns the object that a function has made, or the last status if the handle is NULL.
    fn new(handle: c::Handle, free: unsafe extern "C" fn(c::Handle)) -> Result<Owned, i32> {
        if handle.is_null() { Err(unsafe { c::aside_last_status() }) } else { Ok(Owned(handle, free)) }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        unsafe { self.1(self.0) };
    }
}

fn done(status: i32) -> Result<(), i32> {
    if status < 0 { Err(status) } else { Ok(()) }
}

/// Frees a text that a C function returned.
fn text_of(call: impl FnOnce(*mut usize) -> *mut u8) -> Result<(), i32> {
    let mut len = 0;
    Owned::new(call(&mut len).cast(), c::aside_free).map(drop)
}

/// Feeds a text byte by byte to an answer, and finishes it.
unsafe fn read_answer(answer: c::Handle, text: &str) -> Result<(), i32> {
    let (mut parts, mut count) = (std::ptr::null(), 0);
    for byte in text.as_bytes() {
        done(unsafe { c::aside_answer_feed(answer, byte, 1, &mut parts, &mut count) })?;
    }
    done(unsafe { c::aside_answer_flush(answer, &mut parts, &mut count) })?;
    done(unsafe { c::aside_answer_force_close(answer, &mut parts, &mut count) })?;
    done(unsafe { c::aside_answer_finish(answer, c::END_REASON_ENDED, &mut parts, &mut count) })
}

/// Feeds into an array of one event until the whole text is fed.
fn drain(mut call: impl FnMut(usize, *mut c::EventArray) -> i32) -> Result<(), i32> {
    let (mut events, mut consumed) = ([c::Event::default()], 0);
    let mut array = c::EventArray::new(&mut events);
    loop {
        let status = call(consumed, &mut array);
        done(status)?;
        consumed += array.consumed;
        if status == c::OK {
            return Ok(());
        }
    }
}

const CALL: &str =
    "<think>a</think><tool_call>\n{\"id\": \"7\", \"arguments\": {\"a\": \"b\"}, \"name\": \"f\"}\n</tool_call>";

/// Checks all C functions that make an object or whose documentation says that memory may run out. The handles of dialects are made
/// before: they have a separate test, `refused_memory_is_a_status_of_lookups_in_c`. For allocations that end the process, see
/// `refused_memory_is_a_status_of_a_handle_in_c`.
#[test]
fn refused_memory_is_a_status_of_each_function_in_c() {
    type Work<'a> = Box<dyn FnMut() -> Result<(), i32> + 'a>;
    let none = std::ptr::null_mut::<std::ffi::c_void>();
    let find = |name: &str| unsafe { c::aside_dialect_find(name.as_ptr(), name.len()) };
    let (qwen3, tags) = (find("qwen3"), find("thinking-tags"));
    let options = c::ScannerOptions { collect: 1 << 20, calls: 1, ..c::ScannerOptions::default() };
    let id_prefix = c::Bytes::of(b"id_");
    let answer_options = c::AnswerOptions { id_prefix, promote_empty: 1, ..c::AnswerOptions::default() };
    let answer = c::AnswerOptions { promote_empty: 1, ..c::AnswerOptions::default() };
    let rewriter_options = c::RewriterOptions { answer: &answer, calls: 1, repair: 1, ..c::RewriterOptions::default() };
    let scanner = |dialect| unsafe { Owned::new(c::aside_scanner_new(dialect, &options), c::aside_scanner_free) };
    let without_id = CALL.replace('7', "");
    let all: Vec<(&str, Work<'_>)> = vec![
        (
            "a scanner and its clone",
            Box::new(|| unsafe {
                let scanner = scanner(tags)?;
                let prompt = b"a <think";
                done(c::aside_scanner_start_from_prompt(scanner.0, prompt.as_ptr(), 8, std::ptr::null_mut()))?;
                done(c::aside_scanner_feed(scanner.0, TAGS.as_ptr(), 30, Some(ignore), none))?;
                let clone = Owned::new(c::aside_scanner_clone(scanner.0), c::aside_scanner_free)?;
                for scanner in [&scanner, &clone] {
                    let (rest, len) = (TAGS[30..].as_ptr(), TAGS.len() - 30);
                    done(c::aside_scanner_feed(scanner.0, rest, len, Some(ignore), none))?;
                    done(c::aside_scanner_flush(scanner.0, Some(ignore), none))?;
                    done(c::aside_scanner_force_close(scanner.0, Some(ignore), none))?;
                    done(c::aside_scanner_finish(scanner.0, Some(ignore), none))?;
                    done(c::aside_scanner_take_thought(scanner.0, &mut c::Thought::default()))?;
                }
                Ok(())
            }),
        ),
        (
            "a scanner into an array",
            Box::new(|| unsafe {
                let scanner = scanner(tags)?;
                drain(|from, array| {
                    c::aside_scanner_feed_into(scanner.0, TAGS[from..].as_ptr(), TAGS.len() - from, array)
                })?;
                drain(|from, array| {
                    let tokens = c::Token { len: (TAGS.len() - from) as u32, special: 0 };
                    let (text, len) = (TAGS[from..].as_ptr(), TAGS.len() - from);
                    c::aside_scanner_feed_tokens_into(scanner.0, text, len, &tokens, 1, array)
                })?;
                drain(|_, array| c::aside_scanner_flush_into(scanner.0, array))?;
                drain(|_, array| c::aside_scanner_force_close_into(scanner.0, array))?;
                drain(|_, array| c::aside_scanner_finish_into(scanner.0, array))
            }),
        ),
        (
            "an answer without options",
            Box::new(|| unsafe {
                let answer = Owned::new(c::aside_answer_new(qwen3, std::ptr::null()), c::aside_answer_free)?;
                read_answer(answer.0, CALL)
            }),
        ),
        (
            "an answer",
            Box::new(|| unsafe {
                let answer = Owned::new(c::aside_answer_new(qwen3, &answer_options), c::aside_answer_free)?;
                let prompt = b"a <think>";
                done(c::aside_answer_start_from_prompt(answer.0, prompt.as_ptr(), 9, std::ptr::null_mut()))?;
                read_answer(answer.0, &without_id)?;
                read_answer(answer.0, "<think>a")
            }),
        ),
        (
            "a rewriter",
            Box::new(|| unsafe {
                let rewriter = c::aside_rewriter_new(qwen3, &rewriter_options);
                let rewriter = Owned::new(rewriter, c::aside_rewriter_free)?;
                let mut out = c::Bytes::default();
                done(c::aside_rewriter_use_dialect(rewriter.0, none, c::START_CONTENT))?;
                done(c::aside_rewriter_use_dialect(rewriter.0, tags, c::START_DEFAULT))?;
                done(c::aside_rewriter_use_tools(rewriter.0, std::ptr::null(), 0))?;
                done(c::aside_rewriter_start_from_prompt(rewriter.0, b"<think>".as_ptr(), 7, std::ptr::null_mut()))?;
                for (_, answer) in ANSWERS {
                    done(c::aside_rewriter_feed(rewriter.0, answer.as_ptr(), answer.len(), &mut out))?;
                    done(c::aside_rewriter_finish(rewriter.0, &mut out))?;
                }
                Ok(())
            }),
        ),
        (
            "a text without markers",
            Box::new(|| text_of(|len| unsafe { c::aside_strip(qwen3, CALL.as_ptr(), CALL.len(), len) })),
        ),
        (
            "a text with broken markers",
            Box::new(|| text_of(|len| unsafe { c::aside_escape(qwen3, CALL.as_ptr(), CALL.len(), len) })),
        ),
        (
            "a joined text",
            Box::new(|| {
                let (thinking, content) = (c::Bytes::of(&CALL.as_bytes()[..3]), c::Bytes::of(CALL.as_bytes()));
                let markers = c::MARKERS_ESCAPE;
                let options = c::JoinOptions { thinking, content, markers, ..c::JoinOptions::default() };
                text_of(|len| unsafe { c::aside_join(qwen3, &options, len) })
            }),
        ),
        (
            "a joined text with calls",
            Box::new(|| {
                let arguments = c::Bytes::of(b"{\"a\": [1, \"b\"]}");
                let call = c::JoinCall { name: c::Bytes::of(b"f"), arguments, ..c::JoinCall::default() };
                let text = c::Bytes::of(b"a");
                let call_size = size_of::<c::JoinCall>();
                let (calls, call_count) = (&raw const call, 1);
                let parts = c::JoinOptions { thinking: text, content: text, ..c::JoinOptions::default() };
                let options = c::JoinOptions { calls, call_count, call_size, ..parts };
                text_of(|len| unsafe { c::aside_join(qwen3, &options, len) })
            }),
        ),
    ];
    for (name, work) in all {
        let points = refused_of_streams(c::MEMORY, work);
        assert!(points > 0, "{name}");
    }
    let template =
        not_kept("{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}</think><tool_call>");
    let points = refused(c::MEMORY, || unsafe {
        let found = c::aside_dialect_find_for_template(template.as_ptr().cast(), template.len(), std::ptr::null_mut());
        if found.is_null() { Err(c::aside_last_status()) } else { Ok(()) }
    });
    assert!(points > 10, "{points} points");
}

/// Runs `call` repeatedly, and refuses one of its last `count` allocations each time. Refusing an earlier one would end the
/// process.
fn last_refused<S, T>(count: usize, mut set_up: impl FnMut() -> S, mut call: impl FnMut(&S) -> Result<T, i32>) {
    let mut all = 0;
    // The first run allocates memory that is kept.
    for _ in 0..2 {
        let state = set_up();
        let before = COUNT.get();
        let made = call(&state);
        all = COUNT.get() - before;
        drop(made.unwrap());
    }
    for number in all + 1 - count..=all {
        let state = set_up();
        let live = LIVE.get();
        REFUSE.set(number);
        let result = call(&state);
        assert_eq!((result.err(), REFUSE.replace(0)), (Some(c::MEMORY), 0), "allocation {number}");
        assert!(LIVE.get() <= live, "allocation {number} was refused, and memory is lost");
    }
}

/// Checks only the allocations for the handle: the header says that the process ends if memory runs out before them.
#[test]
fn refused_memory_is_a_status_of_a_handle_in_c() {
    let toml = "name = 'a'\n[[span]]\nchannel = 'thinking'\nopen = ['<t>']\nclose = ['</t>']\n";
    // The allocations: the name, the family and the opener, the two lists that contain them, and the handle.
    let load = |_: &()| unsafe { Owned::new(c::aside_dialect_load(toml.as_ptr(), toml.len()), c::aside_dialect_free) };
    last_refused(6, || (), load);
    #[cfg(feature = "compress")]
    handles_of_tool_results();
}

#[cfg(feature = "compress")]
fn handles_of_tool_results() {
    use c::*;
    let none = std::ptr::null();
    let registry = |built_in| unsafe { Owned::new(aside_registry_new(built_in), aside_registry_free) };
    for built_in in [0, 1] {
        last_refused(1, || (), |_| registry(built_in));
    }
    let registry = registry(0).unwrap();
    let new = || unsafe { Owned::new(aside_compressor_new(registry.0, none), aside_compressor_free) };
    last_refused(1, || (), |_| new());
    let compressor = new().unwrap();

    let call = Invocation { tool_id: Bytes::of(b"bash"), ..Invocation::default() };
    let text = "the same line\n".repeat(500);
    let part = Bytes::of(text.as_bytes());
    let stream = || unsafe { Owned::new(aside_tool_stream_new(compressor.0, &call, 4096), aside_tool_stream_free) };
    last_refused(1, || (), |_| stream());
    last_refused(
        1,
        || (),
        |_| unsafe { Owned::new(aside_compress(compressor.0, &call, &part, 1), aside_compressed_free) },
    );
    last_refused(
        1,
        || {
            let (stream, mut out) = (stream().unwrap(), Bytes::default());
            unsafe {
                assert_eq!(aside_tool_stream_feed(stream.0, part.at, part.len, &mut out), OK);
                assert_eq!(aside_tool_stream_finish(stream.0, &mut out), OK);
            }
            stream
        },
        |stream| unsafe { Owned::new(aside_tool_stream_report(stream.0), aside_compressed_free) },
    );
}

unsafe extern "C" fn ignore(_: c::Handle, _: *const c::Event, _: *const u8) -> i32 {
    0
}
