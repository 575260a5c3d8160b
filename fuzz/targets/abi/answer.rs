//! Reads answers through the C functions: the parts must be those of the Rust functions. Each call must have one beginning and one
//! end, and the arguments of a whole call must be a JSON object.

use std::ptr;
use std::sync::Arc;

use aside::answer::{Answer, ImpliedEnd, NotWhole, Options, Part, Thinking, Tools, UnknownTool};
use aside::{Budget, BudgetScope, BudgetUnit, CallsInThinking, Channel, EndReason, Error, LeadingTags, StrayClose};
use serde::de::IgnoredAny;
use support::Pair;
use support::c::{self, *};

use super::super::Input;
use super::super::dictionary::words;
use super::rewriter::{STARTS, start_of};
use super::version::{Version, filled, is_version, size};
use super::{BUILT_IN, chunk, tokens};

/// The tools of requests: no list, an empty list, tools with the names in `WORDS`, each form of a tool, and malformed lists.
pub const TOOLS: [Option<&str>; 8] = [
    None,
    None,
    Some("[]"),
    Some(
        r#"[{"type": "function", "function": {"name": "f", "parameters": {"properties": {"k": {"type": "string"}}}}}]"#,
    ),
    Some(
        r#"[{"name": "f", "input_schema": {"properties": {"k": {"type": ["integer", "null"]}, "a": {"type": "array"}}}}]"#,
    ),
    Some(
        r#"[{"name": "f", "parameters": {"properties": {"k": {"anyOf": [{"type": "object"}, {"type": "boolean"}]}}}}, {}]"#,
    ),
    Some("[1]"),
    Some("[{"),
];

/// Returns the list of a request's tools for C, or no text if there is no list.
pub fn tools_of(text: Option<&str>) -> Bytes {
    text.map_or(Bytes::default(), |text| Bytes::of(text.as_bytes()))
}

/// Reads such a list with this limit.
pub fn tools_read(text: Bytes, max_tools: u64) -> Result<Option<Arc<Tools>>, ()> {
    let Some(text) = text_of(text)? else { return Ok(None) };
    let limit = (max_tools > 0).then_some(max_tools as usize);
    Tools::read_up_to(text, limit).map(Some).map_err(|_| ())
}

/// Returns an option that is a text, or `None` if it is not set.
pub fn text_of(text: Bytes) -> Result<Option<&'static str>, ()> {
    match text.at.is_null() {
        true => Ok(None),
        false => std::str::from_utf8(unsafe { text.get() }).map(Some).map_err(|_| ()),
    }
}

pub fn run(input: &mut Input<'_>) {
    let pair = BUILT_IN[usize::from(input.byte()) % BUILT_IN.len()];
    let (way, most) = (input.byte(), input.byte());
    let options = options(input, way, most);
    let mut given = Version::given(input, options);
    let at = if way >= 248 { ptr::null_mut() } else { given.at() };
    let (rust, max_tools) = match at.is_null() {
        true => (Ok(Options::new()), 0),
        false => read(&mut given),
    };
    let rust = rust.and_then(|options| Answer::new(&pair.library, &options).map_err(|_| ()));
    let name = &pair.reference.name;
    unsafe {
        let handle = aside_answer_new(aside_dialect_find(name.as_ptr(), name.len()), at);
        assert_eq!(!handle.is_null(), rust.is_ok(), "{}", aside_last_status());
        match rust {
            Ok(rust) => {
                Reader { handle, rust, begun: 0, open: None }.calls(input, pair, max_tools);
                aside_answer_free(handle);
            }
            Err(()) => {
                let wanted = if is_version(options.size, size_of::<usize>()) { OPTION } else { SIZE };
                assert_eq!(aside_last_status(), wanted);
            }
        }
    }
}

/// Returns options of an answer.
pub fn options(input: &mut Input<'_>, way: u8, most: u8) -> AnswerOptions {
    AnswerOptions {
        size: size::<AnswerOptions>(input),
        start: input.one_of(&STARTS),
        stray_close: input.one_of(&[STRAY_CLOSE_DIALECT, STRAY_CLOSE_TEXT, STRAY_CLOSE_DROP]),
        calls_in_thinking: input.one_of(&[
            CALLS_IN_THINKING_DIALECT,
            CALLS_IN_THINKING_DIALECT,
            CALLS_IN_THINKING_NEVER,
            CALLS_IN_THINKING_ALWAYS,
        ]),
        leading_tags: input.one_of(&[LEADING_TAGS_DIALECT, LEADING_TAGS_TEXT]),
        thinking: input.one_of(&[THINKING_KEEP, THINKING_KEEP, THINKING_DROP, THINKING_INLINE]),
        not_whole: input.one_of(&[NOT_WHOLE_TELL, NOT_WHOLE_HOLD, NOT_WHOLE_TEXT]),
        unknown_tool: input.one_of(&[UNKNOWN_TOOL_TEXT, UNKNOWN_TOOL_DROP, UNKNOWN_TOOL_TELL]),
        implied_end: input.one_of(&[IMPLIED_END_ON, IMPLIED_END_OFF]),
        tools: tools_of(TOOLS[usize::from(way) % TOOLS.len()]),
        start_call: text(input, &[b"f", b"\xFF"]),
        id_prefix: text(input, &[b"id_", b"", b"\xFF"]),
        // The first two lists are shorter than 90 bytes.
        max_tools: [0, 1024, 90, 1][usize::from(most & 31).saturating_sub(28)],
        max_held: u64::from(most >> 5) * 16,
        max_calls: u64::from(input.one_of(&[0, 0, 1, 2])),
        budget: u64::from(input.one_of(&[0, 0, 1, 9])),
        budget_unit: input.one_of(&[BUDGET_UNIT_BYTES, BUDGET_UNIT_CHARACTERS]),
        budget_scope: input.one_of(&[BUDGET_SCOPE_SPAN, BUDGET_SCOPE_STREAM]),
        repair_arguments: input.one_of(&[0, 1]),
        promote_empty: input.one_of(&[0, 1]),
        keep_guessed: input.one_of(&[0, 1]),
        may_take_back: input.one_of(&[0, 0, 0, 1, 1, 1, 2]),
        inline_calls: input.one_of(&[0, 0, 0, 0, 0, 0, 1]),
        reserved: input.one_of(&[0, 0, 0, 0, 0, 0, 0, 1]),
    }
}

/// Returns the options for Rust, or an error if they are refused; and the limit of tools.
pub fn read(given: &mut Version<AnswerOptions>) -> (Result<Options, ()>, u64) {
    let is_refused = given.has_more() || !is_version(given.get().size, size_of::<usize>());
    let options = given.get();
    (if is_refused { Err(()) } else { mirror(&options) }, options.max_tools)
}

/// Returns one of these texts, or none, which is as likely as all of them.
fn text(input: &mut Input<'_>, texts: &[&'static [u8]]) -> Bytes {
    texts.get(input.below(2 * texts.len()).wrapping_sub(texts.len())).map_or(Bytes::default(), |text| Bytes::of(text))
}

/// Returns the options for Rust.
fn mirror(options: &AnswerOptions) -> Result<Options, ()> {
    fn one<T: Copy>(all: &[T], number: u32) -> Result<T, ()> {
        all.get(number as usize).copied().ok_or(())
    }
    let is = |number: u32| one(&[false, true], number);
    let unit = one(&[BudgetUnit::Bytes, BudgetUnit::Characters], options.budget_unit)?;
    let scope = one(&[BudgetScope::Span, BudgetScope::Stream], options.budget_scope)?;
    let in_thinking = [CallsInThinking::Dialect, CallsInThinking::Never, CallsInThinking::Always];
    let scanner = aside::ScannerOptions::new()
        .start(start_of(options.start))
        .stray_close(one(&[StrayClose::Dialect, StrayClose::Text, StrayClose::Drop], options.stray_close)?)
        .calls_in_thinking(one(&in_thinking, options.calls_in_thinking)?)
        .leading_tags(one(&[LeadingTags::Dialect, LeadingTags::Text], options.leading_tags)?)
        .budget((options.budget > 0).then_some(Budget::new(options.budget, unit, scope)));
    one(&[()], options.reserved)?;
    one(&[(); START_CALLS as usize + 1], options.start)?;
    let made = Options::new()
        .scanner(scanner)
        .thinking(one(&[Thinking::Keep, Thinking::Drop, Thinking::Inline], options.thinking)?)
        .not_whole(one(&[NotWhole::Tell, NotWhole::Hold, NotWhole::Text], options.not_whole)?)
        .unknown_tool(one(&[UnknownTool::Text, UnknownTool::Drop, UnknownTool::Tell], options.unknown_tool)?)
        .implied_end(one(&[ImpliedEnd::On, ImpliedEnd::Off], options.implied_end)?)
        .tools(tools_read(options.tools, options.max_tools)?)
        .start_call(text_of(options.start_call)?)
        .max_held((options.max_held > 0).then_some(options.max_held as usize))
        .max_calls((options.max_calls > 0).then_some(options.max_calls))
        .repair_arguments(is(options.repair_arguments)?)
        .promote_empty(is(options.promote_empty)?)
        .keep_guessed(is(options.keep_guessed)?)
        .may_take_back(is(options.may_take_back)?)
        .inline_calls(is(options.inline_calls)?);
    Ok(match text_of(options.id_prefix)? {
        Some(id_prefix) => made.id_prefix(id_prefix),
        None => made,
    })
}

/// A part with copies of its texts.
#[derive(Debug, Default, PartialEq)]
struct Reported {
    kind: u32,
    cause: u32,
    moved: [u32; 2],
    is_made: u32,
    is_whole: u32,
    is_repaired: u32,
    index: u64,
    text: Vec<u8>,
    id: Vec<u8>,
}

fn of_c(part: &c::Part) -> Reported {
    let c::Part { kind, cause, from, to, is_made, is_whole, is_repaired, reserved, index, text, id } = *part;
    assert_eq!(reserved, 0);
    let [text, id] = [text, id].map(|text| unsafe { text.get() }.to_vec());
    Reported { kind, cause, moved: [from, to], is_made, is_whole, is_repaired, index, text, id }
}

fn of_rust(part: Part<'_>) -> Reported {
    match part {
        Part::Thinking(text) => Reported { kind: PART_KIND_THINKING, text: text.to_vec(), ..Reported::default() },
        Part::Content(text) => Reported { kind: PART_KIND_CONTENT, text: text.to_vec(), ..Reported::default() },
        Part::Call { index, id, is_made, name } => {
            let (text, id) = (name.as_bytes().to_vec(), id.as_bytes().to_vec());
            Reported { kind: PART_KIND_CALL, is_made: is_made.into(), index, text, id, ..Reported::default() }
        }
        Part::Arguments { index, json } => {
            Reported { kind: PART_KIND_ARGUMENTS, index, text: json.as_bytes().to_vec(), ..Reported::default() }
        }
        Part::CallEnd { index, is_whole, is_repaired, cause, late_id } => {
            let (is_whole, is_repaired) = (is_whole.into(), is_repaired.into());
            let id = late_id.unwrap_or_default().as_bytes().to_vec();
            Reported {
                kind: PART_KIND_CALL_END,
                cause: cause as u32,
                is_whole,
                is_repaired,
                index,
                id,
                ..Reported::default()
            }
        }
        Part::Moved { from, to } => {
            Reported { kind: PART_KIND_MOVED, moved: [from as u32, to as u32], ..Reported::default() }
        }
        Part::Budget => Reported { kind: PART_KIND_BUDGET, ..Reported::default() },
        other => panic!("a part that C does not have: {other:?}"),
    }
}

fn status_of<T>(result: &Result<T, Error>) -> i32 {
    match result {
        Ok(_) => OK,
        Err(Error::StreamBegun) => ORDER,
        Err(Error::TokenLengths) => LENGTH,
        Err(error) => panic!("{error}"),
    }
}

/// An answer of C and of Rust.
struct Reader {
    handle: Handle,
    rust: Answer,
    /// How many calls have begun.
    begun: u64,
    /// The arguments so far of the call that has no end yet.
    open: Option<Vec<u8>>,
}

impl Reader {
    /// Makes the same call in both languages.
    fn same(
        &mut self,
        of_c_call: impl FnOnce(Handle, *mut *const c::Part, *mut usize) -> i32,
        of_rust_call: impl FnOnce(&mut Answer, &mut dyn FnMut(Part<'_>)) -> Result<(), Error>,
    ) {
        let (mut parts, mut count, mut wanted) = (ptr::null(), usize::MAX, Vec::new());
        let result = of_rust_call(&mut self.rust, &mut |part| wanted.push(of_rust(part)));
        assert_eq!(of_c_call(self.handle, &mut parts, &mut count), status_of(&result));
        if result.is_err() {
            return assert!(parts.is_null() && count == usize::MAX, "written on a failure");
        }
        let reported: Vec<Reported> = unsafe { std::slice::from_raw_parts(parts, count) }.iter().map(of_c).collect();
        assert_eq!(reported, wanted);
        for part in reported {
            self.hear(part);
        }
    }

    /// Checks that a part may be at this place.
    fn hear(&mut self, part: Reported) {
        let is_of_call = [PART_KIND_CALL, PART_KIND_ARGUMENTS, PART_KIND_CALL_END].contains(&part.kind);
        if !is_of_call {
            return;
        }
        if part.kind == PART_KIND_CALL {
            assert!(self.open.is_none() && !part.text.is_empty() && !part.id.is_empty());
            (self.open, self.begun) = (Some(Vec::new()), self.begun + 1);
        }
        assert_eq!(part.index + 1, self.begun, "not the number of the call that is open");
        let all = self.open.as_mut().expect("a part of no call");
        match part.kind {
            PART_KIND_ARGUMENTS => all.extend_from_slice(&part.text),
            PART_KIND_CALL_END => {
                let read = serde_json::from_slice::<IgnoredAny>(all);
                assert!(part.is_whole == 0 || read.is_ok() && all.starts_with(b"{"), "{}", all.escape_ascii());
                self.open = None;
            }
            _ => {}
        }
    }

    fn calls(&mut self, input: &mut Input<'_>, pair: &Pair, max_tools: u64) {
        for _ in 0..64 {
            let way = input.byte();
            match way {
                0..8 => return,
                8..40 => self.begin(input, pair, max_tools),
                40..140 => {
                    let text = chunk(input, words(pair));
                    self.same(
                        |answer, parts, count| unsafe {
                            aside_answer_feed(answer, text.as_ptr(), text.len(), parts, count)
                        },
                        |answer, on_part| answer.feed(&text, on_part),
                    );
                }
                140..180 => {
                    let text = chunk(input, words(pair));
                    // Their lengths are sometimes not those of the text.
                    let tokens = tokens(input, text.len().saturating_sub(usize::from(way == 140)));
                    let of_rust = |token: &c::Token| match token.special {
                        0 => aside::Token::text(token.len),
                        _ => aside::Token::special(token.len),
                    };
                    let same: Vec<_> = tokens.iter().map(of_rust).collect();
                    let (given, number) = (tokens.as_ptr(), tokens.len());
                    self.same(
                        |answer, parts, count| unsafe {
                            aside_answer_feed_tokens(answer, text.as_ptr(), text.len(), given, number, parts, count)
                        },
                        |answer, on_part| answer.feed_tokens(&text, &same, on_part),
                    );
                }
                180..190 => self.same(
                    |answer, parts, count| unsafe { aside_answer_flush(answer, parts, count) },
                    |answer, on_part| answer.flush(on_part),
                ),
                190..200 => self.same(
                    |answer, parts, count| unsafe { aside_answer_force_close(answer, parts, count) },
                    |answer, on_part| answer.force_close(on_part),
                ),
                200..224 => {
                    let reason = usize::from(way) % 3;
                    let of_rust = [EndReason::Unknown, EndReason::Ended, EndReason::CutOff][reason];
                    let of_c = [END_REASON_UNKNOWN, END_REASON_ENDED, END_REASON_CUT_OFF][reason];
                    self.same(
                        |answer, parts, count| unsafe { aside_answer_finish(answer, of_c, parts, count) },
                        |answer, on_part| answer.finish(of_rust, on_part),
                    );
                    assert!(self.open.is_none(), "a call has no end");
                    self.begun = 0;
                }
                224..232 => {
                    self.rust.reset();
                    assert_eq!(unsafe { aside_answer_reset(self.handle) }, OK);
                    (self.begun, self.open) = (0, None);
                }
                _ => self.misuse(),
            }
            self.is_counted();
        }
    }

    /// Sets the start or the tools of the next text.
    fn begin(&mut self, input: &mut Input<'_>, pair: &Pair, max_tools: u64) {
        let mut start = 77;
        if input.below(2) == 0 {
            let text = tools_of(TOOLS[input.below(TOOLS.len())]);
            let got = unsafe { aside_answer_use_tools(self.handle, text.at, text.len) };
            let used = tools_read(text, max_tools).map(|tools| status_of(&self.rust.use_tools(tools)));
            assert_eq!(got, used.unwrap_or(OPTION));
            return;
        }
        let tail = chunk(input, words(pair));
        let got = unsafe { aside_answer_start_from_prompt(self.handle, tail.as_ptr(), tail.len(), &mut start) };
        let wanted = self.rust.start_from_prompt(&tail);
        assert_eq!((got, start != 77), (status_of(&wanted), wanted.is_ok()));
        assert!(wanted.is_err() || start_of(start) == wanted.ok());
    }

    fn is_counted(&self) {
        assert_eq!(unsafe { aside_answer_held(self.handle) }, self.rust.held());
        for (number, channel) in
            [Channel::Content, Channel::Thinking, Channel::Narration, Channel::Tool].into_iter().enumerate()
        {
            let got: Counts = filled(|at| unsafe { aside_answer_counts(self.handle, number as u32, at) }).unwrap();
            let wanted = self.rust.counts(channel);
            assert_eq!(
                [got.bytes, got.characters, got.spans, got.tokens],
                [wanted.bytes, wanted.characters, wanted.spans, wanted.tokens]
            );
        }
    }

    /// Makes wrong calls, which must fail without an effect.
    fn misuse(&self) {
        let (answer, none) = (self.handle, ptr::null_mut());
        let (mut parts, mut count) = (ptr::null(), 77);
        let token = c::Token { len: 1, special: 0 };
        unsafe {
            assert_eq!(aside_answer_feed(none, ptr::null(), 0, &mut parts, &mut count), NULL);
            assert_eq!(aside_answer_feed(answer, ptr::null(), 1, &mut parts, &mut count), NULL);
            assert_eq!(aside_answer_feed(answer, b"x".as_ptr(), usize::MAX, &mut parts, &mut count), LENGTH);
            assert_eq!(aside_answer_feed(answer, b"x".as_ptr(), 1, ptr::null_mut(), &mut count), NULL);
            assert_eq!(aside_answer_feed(answer, b"x".as_ptr(), 1, &mut parts, ptr::null_mut()), NULL);
            let (text, far) = (b"x".as_ptr(), usize::MAX);
            assert_eq!(aside_answer_feed_tokens(answer, text, 1, ptr::null(), 1, &mut parts, &mut count), NULL);
            assert_eq!(aside_answer_feed_tokens(answer, text, 1, &token, far, &mut parts, &mut count), LENGTH);
            assert_eq!(aside_answer_flush(none, &mut parts, &mut count), NULL);
            assert_eq!(aside_answer_force_close(answer, ptr::null_mut(), &mut count), NULL);
            assert_eq!(aside_answer_finish(none, END_REASON_ENDED, &mut parts, &mut count), NULL);
            assert_eq!(aside_answer_finish(answer, 3, &mut parts, &mut count), OPTION);
            assert!(parts.is_null() && count == 77, "written on a failure");
            assert_eq!(aside_answer_use_tools(answer, ptr::null(), 1), NULL);
            assert_eq!(aside_answer_use_tools(answer, b"x".as_ptr(), usize::MAX), LENGTH);
            assert_eq!(aside_answer_start_from_prompt(answer, ptr::null(), 1, ptr::null_mut()), NULL);
            assert_eq!(aside_answer_counts(answer, 4, &mut Counts::default()), RANGE);
            assert_eq!(aside_answer_counts(none, CHANNEL_TOOL, &mut Counts::default()), NULL);
            assert_eq!(aside_answer_held(none), 0);
            assert_eq!(aside_answer_reset(none), NULL);
            assert!(aside_answer_new(none, ptr::null()).is_null() && aside_last_status() == NULL);
            aside_answer_free(none);
        }
    }
}
