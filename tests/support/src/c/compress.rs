//! Tool results as C sees them.

use std::ffi::c_void;

use super::Handle;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bytes {
    pub at: *const u8,
    pub len: usize,
}

impl Bytes {
    pub fn new(bytes: &[u8]) -> Bytes {
        Bytes { at: bytes.as_ptr(), len: bytes.len() }
    }
}

#[repr(C)]
pub struct Reply {
    _opaque: [u8; 0],
}

pub type Release = unsafe extern "C" fn(*mut c_void);

#[repr(C)]
pub struct Filter {
    pub size: usize,
    pub id: Bytes,
    pub tool_ids: *const Bytes,
    pub tool_id_count: usize,
    pub matches: Option<unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize, *mut Reply) -> i32>,
    pub apply: Option<unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize, *mut Reply) -> i32>,
    pub release: Option<Release>,
    pub user: *mut c_void,
}

#[repr(C)]
pub struct Cache {
    pub size: usize,
    pub id: Bytes,
    pub tool_ids: *const Bytes,
    pub tool_id_count: usize,
    pub observe: Option<unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize, *mut Reply) -> i32>,
    pub lookup:
        Option<unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize, *mut Reply, *mut u64) -> i32>,
    pub record: Option<
        unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize, *const u8, usize, u64, *mut Reply) -> i32,
    >,
    pub release: Option<Release>,
    pub user: *mut c_void,
}

#[repr(C)]
pub struct CompressorOptions {
    pub size: usize,
    pub budget: u64,
    pub switch_off: Bytes,
    pub memory: u64,
}

#[repr(C)]
pub struct Invocation {
    pub size: usize,
    pub tool_id: Bytes,
    pub input: Bytes,
    pub now: u64,
}

#[repr(C)]
pub struct Stretch {
    pub start: u64,
    pub len: u64,
    pub hash: u64,
    pub change: u32,
    pub filter: i32,
}

#[repr(C)]
pub struct PartReport {
    pub part: usize,
    pub len: u64,
    pub hash: u64,
    pub stretches: *const Stretch,
    pub stretch_count: usize,
}

#[repr(C)]
pub struct Report {
    pub size: usize,
    pub before: u64,
    pub after: u64,
    pub filters: *const Bytes,
    pub filter_count: usize,
    pub failed: *const [Bytes; 2],
    pub failed_count: usize,
    pub parts: *const PartReport,
    pub part_count: usize,
    pub hit: Bytes,
    pub cut_protected: u32,
    pub unexplained: u32,
}

#[repr(C)]
pub struct Command {
    pub name: Bytes,
    pub subcommand: Bytes,
    pub words: *const Bytes,
    pub word_count: usize,
    pub prints: u32,
    pub piped: u32,
}

unsafe extern "C" {
    pub fn aside_command_line_commands(line: Handle, count: *mut usize) -> *const Command;
    pub fn aside_command_line_free(line: Handle);
    pub fn aside_command_line_parse(line: *const u8, len: usize) -> Handle;
    pub fn aside_registry_new(built_in: u32) -> Handle;
    pub fn aside_registry_free(registry: Handle);
    pub fn aside_registry_add_toml(registry: Handle, toml: *const u8, len: usize) -> i32;
    pub fn aside_registry_add_filter(registry: Handle, filter: *const Filter) -> i32;
    pub fn aside_registry_add_cache(registry: Handle, cache: *const Cache) -> i32;
    pub fn aside_registry_add_last_run(registry: Handle, size: usize) -> i32;
    pub fn aside_registry_minify_json(registry: Handle) -> i32;
    pub fn aside_registry_remove(registry: Handle, id: *const u8, len: usize) -> i32;
    pub fn aside_filter_check(toml: *const u8, len: usize) -> i32;
    pub fn aside_reply_write(reply: *mut Reply, buf: *const u8, len: usize) -> i32;
    pub fn aside_compressor_new(registry: Handle, options: *const CompressorOptions) -> Handle;
    pub fn aside_compressor_free(compressor: Handle);
    pub fn aside_compress(
        c: Handle,
        call: *const Invocation,
        parts: *const Bytes,
        count: usize,
        out: *mut Handle,
    ) -> i32;
    pub fn aside_compressed_part(compressed: Handle, index: usize, text: *mut *const u8, len: *mut usize) -> i32;
    pub fn aside_compressed_report(compressed: Handle, report: *mut Report) -> i32;
    pub fn aside_compressed_slice(
        compressed: Handle,
        part: usize,
        original: *const u8,
        original_len: usize,
        start: u64,
        len: u64,
        out: *mut *const u8,
    ) -> i32;
    pub fn aside_compressed_free(compressed: Handle);
    pub fn aside_is_protected(text: *const u8, len: usize) -> i32;
    pub fn aside_format_banner(
        ids: *const Bytes,
        count: usize,
        before: u64,
        after: u64,
        out: *mut *mut c_void,
        out_len: *mut usize,
    ) -> i32;
    pub fn aside_tool_stream_new(compressor: Handle, call: *const Invocation, memory: usize) -> Handle;
    pub fn aside_tool_stream_free(stream: Handle);
    pub fn aside_tool_stream_feed(
        stream: Handle,
        buf: *const u8,
        len: usize,
        out: *mut *const u8,
        n: *mut usize,
    ) -> i32;
    pub fn aside_tool_stream_set_exit_code(stream: Handle, code: i64) -> i32;
    pub fn aside_tool_stream_finish(stream: Handle, out: *mut *const u8, n: *mut usize, report: *mut Handle) -> i32;
}

pub const NO_FILTER: i32 = -1;
pub const MIN_COMPRESSIBLE_LENGTH: usize = 1024;
pub const MIN_BUDGET: u64 = 1024;
