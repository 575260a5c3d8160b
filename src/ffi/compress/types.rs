//! The structs and numbers that several functions of tool results share.

use std::mem::offset_of;

use libc::size_t;

use crate::compress::Change;
use crate::ffi::bytes::aside_bytes;
use crate::ffi::constants::enumeration;
use crate::ffi::memory::{Versioned, layout};

enumeration! {
    /// The change of a stretch.
    aside_change: Change {
        /// The stretch is in the result, byte for byte.
        ASIDE_CHANGE_KEPT = 0 => Change::Kept,
        /// Other bytes replace the stretch.
        ASIDE_CHANGE_REPLACED = 1 => Change::Replaced,
        /// The stretch is not in the result; a marker line may replace it.
        ASIDE_CHANGE_LEFT_OUT = 2 => Change::LeftOut,
    }
}

/// No filter: the stretch was kept.
pub const ASIDE_NO_FILTER: i32 = -1;

/// One run of a tool, whose result is compressed. Set all of it to zero, then `size`; later versions may add fields at the end.
/// In a callback of the host, the struct comes from the library, and `size` is the number of bytes that may be read.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_invocation {
    /// `sizeof(aside_invocation)` of the caller's header; in a callback, that of the library.
    pub size: size_t,
    /// The id of the tool, UTF-8.
    pub tool_id: aside_bytes,
    /// The input of the tool: JSON, UTF-8. The input of a terminal tool has `command`, and may have `cwd` and `exit_code`. If
    /// empty: null. In a callback, its keys are sorted and it has no white space, so that equal inputs are equal bytes.
    pub input: aside_bytes,
    /// The time in seconds since 1970, for caches and filters of the host. The library does not read a clock.
    pub now: u64,
}

impl Versioned for aside_invocation {
    const FIRST: usize = offset_of!(aside_invocation, now) + size_of::<u64>();
}

/// A stretch of an original, from `aside_compressed_stretch()`. All stretches, joined in order, are the original. Set `size` before
/// the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_stretch {
    /// `sizeof(aside_stretch)` of the caller's header.
    pub size: size_t,
    /// The offset of the stretch in the original, in bytes.
    pub start: u64,
    /// The length of the stretch, in bytes.
    pub len: u64,
    /// XXH3 (64 bits, seed 0) of its bytes.
    pub hash: u64,
    /// The change of the stretch: an `ASIDE_CHANGE_` value.
    pub change: aside_change,
    /// The filter that changed the stretch: an index into `filters` of the report. `ASIDE_NO_FILTER` if the stretch was kept.
    pub filter: i32,
}

impl Versioned for aside_stretch {
    const FIRST: usize = offset_of!(aside_stretch, filter) + size_of::<i32>();
}

/// The report on a text part that filters changed, from `aside_compressed_part_report()`. Set `size` before the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_part_report {
    /// `sizeof(aside_part_report)` of the caller's header.
    pub size: size_t,
    /// The part's index in the original result.
    pub part: size_t,
    /// Bytes of the original.
    pub len: u64,
    /// XXH3 (64 bits, seed 0) of the original.
    pub hash: u64,
    /// The number of stretches of the original: `aside_compressed_stretch()`.
    pub stretch_count: size_t,
}

impl Versioned for aside_part_report {
    const FIRST: usize = offset_of!(aside_part_report, stretch_count) + size_of::<size_t>();
}

/// A filter or cache that failed and was skipped, from `aside_compressed_failed()`. Set `size` before the call. The texts are
/// memory of the `aside_compressed`, valid as long as the `aside_compressed`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_failed {
    /// `sizeof(aside_failed)` of the caller's header.
    pub size: size_t,
    /// The id of the filter or cache.
    pub id: aside_bytes,
    /// The reason of the failure.
    pub reason: aside_bytes,
}

impl Versioned for aside_failed {
    const FIRST: usize = offset_of!(aside_failed, reason) + size_of::<aside_bytes>();
}

/// A report on one call or stream. Set `size` before the call; later versions may add fields at the end. The pointers are to memory
/// of the `aside_compressed`, valid as long as the `aside_compressed`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_report {
    /// `sizeof(aside_report)` of the caller's header.
    pub size: size_t,
    /// Bytes of the text parts before.
    pub before: u64,
    /// Bytes of the text parts after, banners included.
    pub after: u64,
    /// UTF-16 code units of the text parts before, as in banners.
    pub before_units: u64,
    /// UTF-16 code units of the text parts after, banners included.
    pub after_units: u64,
    /// The ids of the filters that changed something, in the order of their first change.
    pub filters: *const aside_bytes,
    /// The number of these ids.
    pub filter_count: size_t,
    /// The number of filters and caches that failed: `aside_compressed_failed()` of aside_unstable.h names them.
    pub failed_count: size_t,
    /// The number of parts that filters changed: `aside_compressed_part_report()` of aside_unstable.h describes them. 0 for a
    /// stream that outgrew its memory.
    pub part_count: size_t,
    /// The cache that had the same output; empty if no cache had it.
    pub hit: aside_bytes,
    /// 1 if text in a machine format, or text that was compressed before, was cut, because it did not fit into the budget;
    /// otherwise 0.
    pub cut_protected: u32,
    /// 1 if the command failed, by the `exit_code` of its input, and the remaining text says only that it passed; otherwise 0.
    pub unexplained: u32,
}

impl Versioned for aside_report {
    const FIRST: usize = offset_of!(aside_report, unexplained) + size_of::<u32>();
}

// No layout ever changes; tests/c/layout.c checks them in C.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_invocation 48: size 0, tool_id 8, input 24, now 40);
    layout!(aside_stretch 40: size 0, start 8, len 16, hash 24, change 32, filter 36);
    layout!(aside_part_report 40: size 0, part 8, len 16, hash 24, stretch_count 32);
    layout!(aside_failed 40: size 0, id 8, reason 24);
    layout!(aside_report 96: size 0, before 8, after 16, before_units 24, after_units 32, filters 40, filter_count 48,
        failed_count 56, part_count 64, hit 72, cut_protected 88, unexplained 92);
    assert!(aside_invocation::FIRST == 48);
    assert!(aside_stretch::FIRST == 40);
    assert!(aside_part_report::FIRST == 40);
    assert!(aside_failed::FIRST == 40);
    assert!(aside_report::FIRST == 96);
};
