//! Writes the calls of a scanner's stream through the C functions: each call that is emitted has one first and one last delta,
//! and the arguments of a whole one that has keys are JSON. Others are the model's text.

use std::mem::offset_of;
use std::ptr;

use aside::call_writer::Tools;
use serde::de::IgnoredAny;
use support::c::*;

use super::super::Input;
use super::version::{Version, is_version, size};

/// The tools of requests: no list, no tool, the names that words call, each form of a tool, and malformed lists.
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

/// Returns the list of a request's tools as C has it; none where there is no list.
pub fn tools_of(text: Option<&str>) -> Bytes {
    text.map_or(Bytes::default(), |text| Bytes::of(text.as_bytes()))
}

/// Reads such a list, with its limit.
pub fn tools_read(text: Bytes, max_tools: u64) -> Result<Option<Tools>, ()> {
    if text.at.is_null() {
        return Ok(None);
    }
    let text = std::str::from_utf8(unsafe { text.get() }).map_err(|_| ())?;
    let limit = (max_tools > 0).then_some(max_tools as usize);
    Tools::read_up_to(text, limit).map(Some).map_err(|_| ())
}

/// The smallest event that has the number of its call.
const WITH_CALL: usize = (offset_of!(Event, call) + size_of::<u32>()).next_multiple_of(align_of::<usize>());

pub struct Writer {
    handle: Handle,
    /// The size of a delta in its host's header.
    delta_size: usize,
    /// Whether it may emit calls of any name.
    tells_all: bool,
    told: u64,
    /// The number of the last call of the scanner.
    number: u32,
    /// The arguments so far of the call whose last delta has not come.
    open: Option<Vec<u8>>,
    /// Whether the scanner has reported a key of the call.
    has_keys: bool,
}

impl Writer {
    /// Makes a writer with options of the input's. None if they are refused.
    pub fn made(input: &mut Input<'_>, dialect: Handle) -> Option<Writer> {
        let (way, max_held) = (input.byte(), input.byte());
        let id_prefix =
            [None, Some(&b"id_"[..]), Some(b""), Some(b"\xFF")][usize::from(way >> 3 & 15).saturating_sub(12)];
        let options = CallWriterOptions {
            size: size::<CallWriterOptions>(input),
            tools: tools_of(TOOLS[usize::from(way) % TOOLS.len()]),
            id_prefix: id_prefix.map_or(Bytes::default(), Bytes::of),
            max_held: u64::from(max_held >> 5) * 8,
            max_tools: [0, 1024, 90, 1][usize::from(max_held & 31).saturating_sub(28)],
            not_whole: input.one_of(&[NOT_WHOLE_TELL, NOT_WHOLE_HOLD, NOT_WHOLE_TEXT]),
            unknown_tool: input.one_of(&[UNKNOWN_TOOL_TEXT, UNKNOWN_TOOL_DROP, UNKNOWN_TOOL_TELL]),
            implied_end: input.one_of(&[IMPLIED_END_ON, IMPLIED_END_OFF]),
            repair_arguments: input.one_of(&[0, 1]),
            max_calls: u64::from(input.one_of(&[0, 0, 1, 2])),
        };
        let mut options = Version::given(input, options);
        let at = if way == 255 { ptr::null_mut() } else { options.at() };
        let read = if at.is_null() { CallWriterOptions::default() } else { options.get() };
        let tools = tools_read(read.tools, read.max_tools);
        let is_utf8 = read.id_prefix.at.is_null() || std::str::from_utf8(unsafe { read.id_prefix.get() }).is_ok();
        let are_known = read.not_whole.max(read.unknown_tool) < 3 && read.implied_end.max(read.repair_arguments) < 2;
        let wanted = match &tools {
            _ if dialect.is_null() => NULL,
            _ if !is_version(read.size, size_of::<usize>()) => SIZE,
            Ok(_) if is_utf8 && !options.has_more() && are_known => OK,
            _ if at.is_null() => OK,
            _ => OPTION,
        };
        let handle = unsafe { aside_call_writer_new(dialect, at) };
        assert_eq!(if handle.is_null() { unsafe { aside_last_status() } } else { OK }, wanted);
        let tells_all = read.unknown_tool == UNKNOWN_TOOL_TELL || tools.is_ok_and(|tools| tools.is_none());
        let delta_size = size_of::<CallDelta>() + 8 * usize::from(max_held & 1);
        let writer = Writer { handle, delta_size, tells_all, told: 0, number: 0, open: None, has_keys: false };
        (wanted == OK).then_some(writer)
    }

    /// Returns whether a call was emitted and has no last delta.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub fn reset(&mut self) {
        assert_eq!(unsafe { aside_call_writer_reset(self.handle) }, OK);
        (self.told, self.open) = (0, None);
    }

    /// Hears an event of a host in whose header it has this size.
    pub fn hear(&mut self, event: &Event, size: usize, bytes: &[u8]) {
        match event.kind {
            KIND_CALL => (self.has_keys, self.number) = (false, event.call),
            KIND_CALL_KEY => self.has_keys = true,
            _ => {}
        }
        // Memory of just that size, so that a byte too far is noticed.
        let mut given = vec![0xAA_u8; size].into_boxed_slice();
        let mut delta = Version::new(CallDelta { size: self.delta_size, ..CallDelta::default() });
        delta.later().fill(7);
        let before = delta.bytes().to_vec();
        let status = unsafe {
            let known = size.min(size_of::<Event>());
            ptr::copy_nonoverlapping(ptr::from_ref(event).cast(), given.as_mut_ptr(), known);
            aside_call_writer_feed(self.handle, given.as_ptr().cast(), size, bytes.as_ptr(), delta.at())
        };
        if status != OK {
            assert_eq!(status, if size < WITH_CALL { SIZE } else { NONE });
            return assert_eq!(delta.bytes(), before, "written, and there is nothing to send");
        }
        assert!(size >= WITH_CALL && !delta.has_more());
        let delta = delta.get();
        let text = |text: Bytes| unsafe { std::str::from_utf8(text.get()).unwrap() };
        let (id, name) = (text(delta.id), text(delta.name));
        let (arguments, late_id) = (text(delta.arguments), text(delta.late_id));
        assert_eq!(delta.is_first == 1, self.open.is_none(), "the first delta of a call");
        assert_eq!(delta.is_first == 1, !name.is_empty() && !id.is_empty());
        assert!(delta.is_first == 1 || id.is_empty() && name.is_empty());
        assert!(delta.is_first == 0 || self.tells_all || name == "f", "{name} is not among the tools");
        assert_eq!((delta.call, delta.index), (self.number.into(), self.told));
        assert!(delta.call >= delta.index && delta.cause < 5);
        assert!(delta.is_last == 1 || late_id.is_empty() && delta.cause == 0 && delta.is_whole == 0);
        let all = self.open.get_or_insert_default();
        all.extend_from_slice(arguments.as_bytes());
        if delta.is_last == 0 {
            return;
        }
        if delta.is_whole == 1 && self.has_keys {
            let read = serde_json::from_slice::<IgnoredAny>(all);
            assert!(read.is_ok(), "{read:?}: {}", all.escape_ascii());
        }
        (self.told, self.open) = (self.told + 1, None);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        unsafe { aside_call_writer_free(self.handle) };
    }
}

/// Makes wrong calls, which must fail and change nothing.
pub fn misuse(writer: Option<&Writer>) {
    let (none, whole) = (ptr::null_mut(), size_of::<Event>());
    let mut delta = CallDelta::default();
    let mut event = Event { kind: KIND_CALL_END, channel: CHANNEL_TOOL, ..Event::default() };
    unsafe {
        assert_eq!(aside_call_writer_feed(none, &event, whole, b"".as_ptr(), &mut delta), NULL);
        assert_eq!(aside_call_writer_reset(none), NULL);
        aside_call_writer_free(none);
        assert!(aside_call_writer_new(none, ptr::null()).is_null() && aside_last_status() == NULL);
        let Some(writer) = writer else { return };
        let feed = |event: &Event, size, delta: &mut CallDelta| {
            aside_call_writer_feed(writer.handle, event, size, b"".as_ptr(), delta)
        };
        assert_eq!(aside_call_writer_feed(writer.handle, ptr::null(), whole, b"".as_ptr(), &mut delta), NULL);
        assert_eq!(aside_call_writer_feed(writer.handle, &event, whole, b"".as_ptr(), ptr::null_mut()), NULL);
        for size in [0, 1, 32, WITH_CALL - 1, 4097, usize::MAX] {
            assert_eq!(feed(&event, size, &mut delta), SIZE);
        }
        event.cause = 99;
        assert_eq!(feed(&event, whole, &mut delta), OPTION);
        event = Event { kind: 99, ..Event::default() };
        for size in [WITH_CALL, whole] {
            assert_eq!(feed(&event, size, &mut delta), NONE);
        }
        // Text that a value cannot have.
        event = Event { kind: KIND_CALL_VALUE, channel: CHANNEL_TOOL, len: 1, ..Event::default() };
        assert_eq!(aside_call_writer_feed(writer.handle, &event, whole, ptr::null(), &mut delta), NULL);
        event.len = u64::MAX;
        assert_eq!(feed(&event, whole, &mut delta), LENGTH);
        for size in [0, 7, 8, offset_of!(CallDelta, is_repaired) - 1, 4097] {
            delta.size = size;
            assert_eq!(feed(&event, whole, &mut delta), SIZE);
        }
    }
}
