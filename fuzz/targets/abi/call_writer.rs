//! Writes the calls of a scanner's stream through the C functions: each call that is told has one first and one last delta,
//! and the arguments of a whole one that has keys are JSON. Others are what the model wrote.

use std::ptr;

use serde::de::IgnoredAny;
use support::c::*;

use super::super::Input;

/// What requests offer: nothing said, no tool, the names that words call, each form of a tool, and what is none.
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

pub struct Writer {
    handle: Handle,
    /// Whether it may tell calls of any name.
    tells_all: bool,
    told: u64,
    /// The arguments so far of the call whose last delta has not come.
    open: Option<Vec<u8>>,
    /// Whether the scanner has told a key of the call.
    has_keys: bool,
}

impl Writer {
    /// Makes a writer with options of the input's. None if they are refused.
    pub fn made(input: &mut Input<'_>, dialect: Handle) -> Option<Writer> {
        let (way, max_held) = (input.byte(), input.byte());
        let tools = TOOLS[usize::from(way) % TOOLS.len()];
        let id_prefix =
            [None, Some(&b"id_"[..]), Some(b""), Some(b"\xFF")][usize::from(way >> 3 & 15).saturating_sub(12)];
        let options = CallWriterOptions {
            size: [size_of::<CallWriterOptions>(), 40, 24, 8, 7][usize::from(max_held & 31).saturating_sub(27)],
            tools: tools.map_or(ptr::null(), str::as_ptr),
            tools_len: tools.map_or(0, str::len),
            id_prefix: id_prefix.map_or(ptr::null(), <[u8]>::as_ptr),
            id_prefix_len: id_prefix.map_or(0, <[u8]>::len),
            max_held: u64::from(max_held >> 5) * 8,
            max_tools: if max_held & 31 == 7 { 40 } else { 0 },
        };
        let given = if way == 255 { ptr::null() } else { &raw const options };
        let has_tools = options.size > 8 && tools.is_some() && !given.is_null();
        let handle = unsafe { aside_call_writer_new(dialect, given) };
        if handle.is_null() {
            assert!([NULL, SIZE, OPTION].contains(&unsafe { aside_last_status() }));
            return None;
        }
        Some(Writer { handle, tells_all: !has_tools, told: 0, open: None, has_keys: false })
    }

    /// Whether a call was told and has no last delta.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub fn reset(&mut self) {
        assert_eq!(unsafe { aside_call_writer_reset(self.handle) }, OK);
        (self.told, self.open) = (0, None);
    }

    pub fn hear(&mut self, event: &Event, bytes: &[u8]) {
        match event.kind {
            CALL => self.has_keys = false,
            CALL_KEY => self.has_keys = true,
            _ => {}
        }
        let mut delta = CallDelta::new();
        let status = unsafe { aside_call_writer_feed(self.handle, event, bytes.as_ptr(), &mut delta) };
        if status == NONE {
            return;
        }
        assert_eq!(status, OK);
        let text = |at, len| unsafe { std::str::from_utf8(std::slice::from_raw_parts(at, len)).unwrap() };
        let (id, name) = (text(delta.id, delta.id_len), text(delta.name, delta.name_len));
        let (arguments, late_id) = (text(delta.arguments, delta.arguments_len), text(delta.late_id, delta.late_id_len));
        assert_eq!(delta.is_first == 1, self.open.is_none(), "the first delta of a call");
        assert_eq!(delta.is_first == 1, !name.is_empty() && !id.is_empty());
        assert!(delta.is_first == 1 || id.is_empty() && name.is_empty());
        assert!(delta.is_first == 0 || self.tells_all || name == "f", "{name} is not among the tools");
        assert_eq!(delta.index, self.told);
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

/// Calls that are wrong and must say so, and change nothing.
pub fn misuse(writer: Option<&Writer>) {
    let none = ptr::null_mut();
    let (mut delta, mut event) =
        (CallDelta::new(), Event { kind: CALL_END, channel: CHANNEL_TOOL, ..Event::default() });
    unsafe {
        assert_eq!(aside_call_writer_feed(none, &event, b"".as_ptr(), &mut delta), NULL);
        assert_eq!(aside_call_writer_reset(none), NULL);
        aside_call_writer_free(none);
        assert!(aside_call_writer_new(none, ptr::null()).is_null() && aside_last_status() == NULL);
        let Some(writer) = writer else { return };
        assert_eq!(aside_call_writer_feed(writer.handle, ptr::null(), b"".as_ptr(), &mut delta), NULL);
        assert_eq!(aside_call_writer_feed(writer.handle, &event, b"".as_ptr(), ptr::null_mut()), NULL);
        event.cause = 99;
        assert_eq!(aside_call_writer_feed(writer.handle, &event, b"".as_ptr(), &mut delta), OPTION);
        event = Event { kind: 99, ..Event::default() };
        assert_eq!(aside_call_writer_feed(writer.handle, &event, b"".as_ptr(), &mut delta), NONE);
        delta.size = 7;
        assert_eq!(aside_call_writer_feed(writer.handle, &event, b"".as_ptr(), &mut delta), SIZE);
    }
}
