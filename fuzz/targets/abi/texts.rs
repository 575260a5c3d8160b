//! Works on whole texts and dialects through the C functions: strip, join, escape, families and openers.

use std::ptr;

use aside::{JoinOptions, OnMarker, Start};

use super::super::Input;
use super::{
    BUILT_IN, Bytes, Handle, JOIN, JoinOptions as COptions, LENGTH, NULL, OPTION, RANGE, aside_dialect_find,
    aside_free, aside_join, aside_last_status, aside_strip, chunk,
};

unsafe extern "C" {
    fn aside_dialect_name(dialect: Handle, len: *mut usize) -> *const u8;
    fn aside_dialect_family(dialect: Handle, rule: u32, len: *mut usize) -> *const u8;
    fn aside_dialect_opener(dialect: Handle, rule: u32, tag: u32, len: *mut usize) -> *const u8;
    fn aside_dialect_max_hold(dialect: Handle) -> usize;
    fn aside_escape(dialect: Handle, text: *const u8, len: usize, out_len: *mut usize) -> Handle;
}

/// What a call that gives memory gave; its status where it failed, and then nothing may have been written.
fn owned(call: impl FnOnce(*mut usize) -> Handle) -> Result<Vec<u8>, i32> {
    let mut len = 7;
    let out = call(&mut len);
    if out.is_null() {
        assert_eq!(len, 7, "written on a failure");
        return Err(unsafe { aside_last_status() });
    }
    unsafe {
        let text = std::slice::from_raw_parts(out.cast::<u8>(), len + 1);
        assert_eq!(text[len], 0);
        let text = text[..len].to_vec();
        aside_free(out);
        Ok(text)
    }
}

fn joined(thinking: Bytes, content: Bytes) -> COptions {
    COptions { size: size_of::<COptions>(), thinking, content, ..unsafe { std::mem::zeroed() } }
}

pub fn run(input: &mut Input<'_>) {
    let (which, way) = (input.byte(), input.byte());
    let pair = BUILT_IN[usize::from(which) % BUILT_IN.len()];
    let (name, rust) = (&pair.reference.name, &pair.library);
    let (one, two) = (chunk(input), chunk(input));
    unsafe {
        let dialect = aside_dialect_find(name.as_ptr(), name.len());
        match way % 5 {
            0 => {
                let got = owned(|len| aside_strip(dialect, one.as_ptr(), one.len(), len));
                assert_eq!(got.unwrap(), rust.strip(&one).unwrap());
            }
            1 => {
                let got = owned(|len| aside_escape(dialect, one.as_ptr(), one.len(), len));
                assert_eq!(got, rust.escape(&one).map_err(|_| JOIN));
            }
            2 => {
                let (start, markers) = (u32::from(way / 5 % 8), u32::from(way / 40 % 3));
                let given = COptions { start, markers, ..joined(Bytes::of(&one), Bytes::of(&two)) };
                let got = owned(|len| aside_join(dialect, &given, len));
                let name = ["", "content", "thinking", "narration", "tool", "header"].get(start as usize);
                let options = JoinOptions::new()
                    .start(name.and_then(|name| name.parse::<Start>().ok()))
                    .markers(if markers == 1 { OnMarker::Escape } else { OnMarker::Refuse });
                match rust.join(&one, &two, &options) {
                    _ if start > 5 || markers > 1 => assert_eq!(got, Err(OPTION)),
                    Ok(text) => assert_eq!(got, Ok(text)),
                    Err(_) => assert!(matches!(got, Err(JOIN | OPTION)), "{got:?}"),
                }
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
                assert_eq!(owned(|out_len| aside_strip(none, text, len, out_len)), Err(NULL));
                assert_eq!(owned(|_| aside_strip(dialect, text, len, ptr::null_mut())), Err(NULL));
                assert_eq!(owned(|out_len| aside_escape(dialect, ptr::null(), 1, out_len)), Err(NULL));
                let far = usize::MAX;
                assert_eq!(owned(|out_len| aside_escape(dialect, text, far, out_len)), Err(LENGTH));
                let (far, missing) = (Bytes { len: far, ..Bytes::of(&one) }, Bytes { len: 2, ..Bytes::NONE });
                assert_eq!(owned(|l| aside_join(dialect, &joined(far, Bytes::of(&one)), l)), Err(LENGTH));
                assert_eq!(owned(|l| aside_join(dialect, &joined(Bytes::of(&one), missing), l)), Err(NULL));
                assert!(aside_dialect_name(none, ptr::null_mut()).is_null() && aside_dialect_max_hold(none) == 0);
                assert!(aside_dialect_opener(none, 0, 0, ptr::null_mut()).is_null() && aside_last_status() == NULL);
            }
        }
    }
}
