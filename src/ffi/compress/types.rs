//! The structs and numbers that several functions of tool results share.

use std::mem::offset_of;

use libc::size_t;
use safer_ffi::prelude::*;

use crate::compress::{Change, MIN_BUDGET, MIN_COMPRESSIBLE_LENGTH};
use crate::ffi::bytes::aside_bytes;
use crate::ffi::constants::enumeration;
use crate::ffi::memory::{Versioned, layout};

/// Texts shorter than this, in UTF-16 code units, are never changed.
pub const ASIDE_MIN_COMPRESSIBLE_LENGTH: u32 = 1024;

/// The smallest budget of a compressor, in bytes.
pub const ASIDE_MIN_BUDGET: u32 = 1024;

enumeration! {
    /// What became of a stretch.
    aside_change: Change {
        /// It is in the result, byte for byte.
        ASIDE_CHANGE_KEPT = 0 => Change::Kept,
        /// Other bytes stand for it.
        ASIDE_CHANGE_REPLACED = 1 => Change::Replaced,
        /// It is not in the result; a marker line may stand for it.
        ASIDE_CHANGE_LEFT_OUT = 2 => Change::LeftOut,
    }
}

/// No filter: the stretch was kept.
pub const ASIDE_NO_FILTER: i32 = -1;

const _: () = {
    assert!(MIN_COMPRESSIBLE_LENGTH == ASIDE_MIN_COMPRESSIBLE_LENGTH as usize);
    assert!(MIN_BUDGET == ASIDE_MIN_BUDGET as usize);
};

/// Options of a compressor. Set all of it to zero, then `size`; later versions may add fields at the end.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_compressor_options {
    /// `sizeof(aside_compressor_options)` of the caller's header.
    pub size: size_t,
    /// The largest number of bytes that the text parts of a result may have together, banners and markers included; at
    /// least `ASIDE_MIN_BUDGET`. 0: no budget. Text that is never changed stays whole in any case, and each other text
    /// part has at least `ASIDE_MIN_BUDGET` for itself: 100 of them may have 100 KiB, however small the budget is. The
    /// built-in filter `budget` keeps to it: without that filter, only a stream that outgrows its memory does.
    pub budget: u64,
    /// The banner's last sentence, UTF-8: how a user of this host switches compression off. If empty: a general one.
    pub switch_off: aside_bytes,
    /// The longest text, in bytes, that one call works on as a whole. A longer one goes window by window, as in a stream with that
    /// much memory: it loses its repeats, or under a budget all but its head, its tail and its error regions; filters for a tool do
    /// not see it, and the report has no stretches of it. At least 4,096 bytes count, and at least four times the budget. 0: a text
    /// of any length is worked on as a whole, which takes some times as much memory as it has bytes.
    pub memory: u64,
}

impl Versioned for aside_compressor_options {
    const FIRST: usize = offset_of!(aside_compressor_options, memory) + size_of::<u64>();
}

/// One tool call whose result is compressed. Set all of it to zero, then `size`.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_invocation {
    /// `sizeof(aside_invocation)` of the caller's header.
    pub size: size_t,
    /// The tool's id, UTF-8.
    pub tool_id: aside_bytes,
    /// What the tool was called with: JSON. That of a terminal tool has `command`, and may have `cwd` and `exit_code`.
    /// If empty: null.
    pub input: aside_bytes,
    /// The time in seconds since 1970, for caches. The library has no clock of its own.
    pub now: u64,
}

impl Versioned for aside_invocation {
    const FIRST: usize = offset_of!(aside_invocation, now) + size_of::<u64>();
}

/// A stretch of an original. All of them, joined in order, are the original.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_stretch {
    /// Its offset in the original.
    pub start: u64,
    /// Its length.
    pub len: u64,
    /// XXH3 (64 bits, seed 0) of its bytes.
    pub hash: u64,
    /// What became of it: an `aside_change` value.
    pub change: aside_change,
    /// The filter that changed it: an index into `report.filters`. `ASIDE_NO_FILTER` if it was kept.
    pub filter: i32,
}

/// What became of a text part that filters changed.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_part_report {
    /// The part's index in the result that came in.
    pub part: size_t,
    /// Bytes of the original.
    pub len: u64,
    /// XXH3 (64 bits, seed 0) of the original.
    pub hash: u64,
    /// The stretches of the original.
    pub stretches: *const aside_stretch,
    /// How many there are.
    pub stretch_count: size_t,
}

/// A filter or cache that failed in a call and was skipped.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_failed {
    /// Its id.
    pub id: aside_bytes,
    /// What went wrong.
    pub reason: aside_bytes,
}

/// What one call did. Set `size` before. The pointers lead to memory of the `aside_compressed`, valid as long as that
/// is; later versions may add fields at the end.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_report {
    /// `sizeof(aside_report)` of the caller's header.
    pub size: size_t,
    /// The text parts' length before, in UTF-16 code units.
    pub before: u64,
    /// And after, banners included.
    pub after: u64,
    /// The filters that changed something, in the order of their first change.
    pub filters: *const aside_bytes,
    /// How many there are.
    pub filter_count: size_t,
    /// Filters and caches that failed.
    pub failed: *const aside_failed,
    /// How many there are.
    pub failed_count: size_t,
    /// The parts that filters changed. None for a stream that outgrew its memory.
    pub parts: *const aside_part_report,
    /// How many there are.
    pub part_count: size_t,
    /// The cache that had the same output; empty if none had.
    pub hit: aside_bytes,
    /// 1 if text of a machine format, or text that was compressed before, was cut, because it did not fit into the budget;
    /// otherwise 0.
    pub cut_protected: u32,
    /// 1 if the command failed, by the `exit_code` of its input, and what is left says only that it passed; otherwise 0.
    pub unexplained: u32,
}

impl Versioned for aside_report {
    const FIRST: usize = offset_of!(aside_report, unexplained) + size_of::<u32>();
}

// No layout ever changes; C checks the same in tests/c/layout.c.
const _: () = {
    layout!(aside_stretch 32: start 0, len 8, hash 16, change 24, filter 28);
};
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_compressor_options 40: size 0, budget 8, switch_off 16, memory 32);
    layout!(aside_invocation 48: size 0, tool_id 8, input 24, now 40);
    layout!(aside_part_report 40: part 0, len 8, hash 16, stretches 24, stretch_count 32);
    layout!(aside_failed 32: id 0, reason 16);
    layout!(aside_report 96: size 0, before 8, after 16, filters 24, filter_count 32, failed 40, failed_count 48,
        parts 56, part_count 64, hit 72, cut_protected 88, unexplained 92);
    assert!(aside_compressor_options::FIRST == 40);
    assert!(aside_invocation::FIRST == 48);
    assert!(aside_report::FIRST == 96);
};
