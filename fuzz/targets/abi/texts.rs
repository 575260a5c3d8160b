//! Works on whole texts and dialects through the C functions: strip, join, escape, families and openers.

use std::ffi::c_void;
use std::ptr;

use aside::{JoinError, JoinOptions, OnMarker, Start};
use support::c::*;

use super::super::Input;
use super::super::dictionary::words;
use super::{BUILT_IN, chunk};

/// What a call that gives memory gave; its status where it failed, and then nothing may have been written.
fn owned(call: impl FnOnce(*mut *mut c_void, *mut usize) -> i32) -> Result<Vec<u8>, i32> {
    let (mut out, mut len) = (ptr::null_mut(), 7);
    let status = call(&mut out, &mut len);
    if status != OK {
        assert!(out.is_null() && len == 7, "written on a failure");
        return Err(status);
    }
    unsafe {
        let text = std::slice::from_raw_parts(out.cast::<u8>(), len + 1);
        assert_eq!(text[len], 0);
        let text = text[..len].to_vec();
        free(out);
        Ok(text)
    }
}

fn join_options(input: &mut Input<'_>) -> (u32, u32) {
    let start =
        input.one_of(&[START_DEFAULT, START_CONTENT, START_THINKING, START_NARRATION, START_TOOL, START_HEADER]);
    (start, input.one_of(&[MARKERS_REFUSE, MARKERS_ESCAPE]))
}

fn mirror(start: u32, markers: u32) -> JoinOptions {
    let name = ["", "content", "thinking", "narration", "tool", "header"].get(start as usize);
    JoinOptions::new().start(name.and_then(|name| name.parse::<Start>().ok())).markers(if markers == MARKERS_ESCAPE {
        OnMarker::Escape
    } else {
        OnMarker::Refuse
    })
}

/// C has what Rust has, or the status of its error.
fn is_joined(wanted: Result<Vec<u8>, JoinError>, got: Result<Vec<u8>, i32>, start: u32, markers: u32) {
    match wanted {
        _ if start > START_HEADER || markers > MARKERS_ESCAPE => assert_eq!(got, Err(OPTION)),
        Ok(text) => assert_eq!(got, Ok(text)),
        Err(_) => assert!(matches!(got, Err(JOIN | OPTION)), "{got:?}"),
    }
}

pub fn run(input: &mut Input<'_>) {
    let (which, way) = (input.byte(), input.byte());
    let pair = BUILT_IN[usize::from(which) % BUILT_IN.len()];
    let (name, rust) = (&pair.reference.name, &pair.library);
    let (one, two) = (chunk(input, words(pair)), chunk(input, words(pair)));
    unsafe {
        let dialect = aside_dialect_find(name.as_ptr(), name.len());
        match way % 6 {
            0 => {
                let got = owned(|out, len| aside_strip(dialect, one.as_ptr(), one.len(), out, len));
                assert_eq!(got.unwrap(), rust.strip(&one).unwrap());
            }
            1 => {
                let got = owned(|out, len| aside_escape(dialect, one.as_ptr(), one.len(), out, len));
                assert_eq!(got, rust.escape(&one).map_err(|_| JOIN));
            }
            2 => {
                let (start, markers) = join_options(input);
                let got = owned(|out, len| {
                    let (thinking, content) = ((one.as_ptr(), one.len()), (two.as_ptr(), two.len()));
                    aside_join(dialect, thinking.0, thinking.1, content.0, content.1, start, markers, out, len)
                });
                is_joined(rust.join(&one, &two, &mirror(start, markers)), got, start, markers);
            }
            4 => {
                let (start, markers) = join_options(input);
                let texts = ["f", "g:1", "", "{}", "{\"k\": \"v\", \"a\": [1, null]}", "{\"k\": ", "7", "</tool_call>"];
                let all: Vec<[&str; 3]> =
                    (0..way / 64).map(|_| [0, 3, 5].map(|from| texts[(from + input.below(8)) % 8])).collect();
                let call = |[name, arguments, id]: &[&str; 3]| JoinCall {
                    name: name.as_ptr(),
                    name_len: name.len(),
                    arguments: arguments.as_ptr(),
                    arguments_len: arguments.len(),
                    id: if way & 8 == 0 { ptr::null() } else { id.as_ptr() },
                    id_len: if way & 8 == 0 { 0 } else { id.len() },
                };
                let given: Vec<JoinCall> = all.iter().map(call).collect();
                let got = owned(|out, len| {
                    let (thinking, content) = ((one.as_ptr(), one.len()), (two.as_ptr(), two.len()));
                    let calls = (given.as_ptr(), given.len());
                    aside_join_with_calls(
                        dialect, thinking.0, thinking.1, content.0, content.1, calls.0, calls.1, start, markers, out,
                        len,
                    )
                });
                let call = |[name, arguments, id]: &[&'static str; 3]| {
                    aside::JoinCall::new(name, arguments).id((way & 8 != 0).then_some(*id))
                };
                let calls: Vec<aside::JoinCall<'_>> = all.iter().map(call).collect();
                let wanted = rust.join_with_calls(&one, &two, &calls, &mirror(start, markers));
                is_joined(wanted, got, start, markers);
            }
            3 => {
                let (rule, tag) = (u32::from(one.first().copied().unwrap_or(255)) % 9, u32::from(way / 5) % 9);
                let mut len = 7;
                for text in [
                    aside_dialect_name(dialect, &mut len),
                    aside_dialect_family(dialect, rule, &mut len),
                    aside_dialect_opener(dialect, rule, tag, &mut len),
                ] {
                    assert!(!text.is_null() || aside_last_status() == RANGE);
                    assert!(text.is_null() || std::ffi::CStr::from_ptr(text.cast()).to_str().is_ok());
                }
                assert_eq!(aside_dialect_max_hold(dialect), rust.max_hold());
            }
            _ => {
                let none = ptr::null_mut();
                let (text, len) = (one.as_ptr(), one.len());
                assert_eq!(owned(|out, out_len| aside_strip(none, text, len, out, out_len)), Err(NULL));
                assert_eq!(owned(|_, out_len| aside_escape(dialect, text, len, ptr::null_mut(), out_len)), Err(NULL));
                assert_eq!(owned(|out, _| aside_strip(dialect, text, len, out, ptr::null_mut())), Err(NULL));
                assert_eq!(owned(|out, out_len| aside_escape(dialect, ptr::null(), 1, out, out_len)), Err(NULL));
                let far = usize::MAX;
                assert_eq!(owned(|out, out_len| aside_escape(dialect, text, far, out, out_len)), Err(LENGTH));
                assert_eq!(owned(|out, l| aside_join(dialect, text, far, text, len, 0, 0, out, l)), Err(LENGTH));
                assert_eq!(owned(|out, l| aside_join(dialect, text, len, ptr::null(), 2, 0, 0, out, l)), Err(NULL));
                assert!(aside_dialect_name(none, ptr::null_mut()).is_null() && aside_dialect_max_hold(none) == 0);
                assert!(aside_dialect_opener(none, 0, 0, ptr::null_mut()).is_null() && aside_last_status() == NULL);
            }
        }
    }
}
