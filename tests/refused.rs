//! If memory runs out while a file is read, the process may end, as the documentation says, but the file must not be reported as
//! invalid. Each allocation is refused once, in a separate process, because the refusal may end it.
#![cfg(unix)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use aside::Dialect;
use aside::answer::Tools;
use aside::history::Server;

struct Refusing;

/// The number of the next allocation that is refused; 0 for none.
static LEFT: AtomicU64 = AtomicU64::new(0);

fn is_refused() -> bool {
    LEFT.load(Relaxed) > 0 && LEFT.fetch_sub(1, Relaxed) == 1
}

// SAFETY: this calls the system's allocator, and an allocator may refuse.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_refused() { std::ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if is_refused() { std::ptr::null_mut() } else { unsafe { System.realloc(at, layout, size) } }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

const TEMPLATE: &str = r#"{"start_anchor": "<|im_start|>assistant\n", "fields": {
    "thinking": {"open": "<think>", "close_pattern": "</think>\\s*"},
    "tool_calls": {"open": "<tool_call>", "close_pattern": "</tool_call>\\s*", "repeats": true, "content": "json",
        "transform": {"type": "function", "function": "{content}"}},
    "content": {"close_pattern": "<\\|im_end\\|>\\s*"}}}"#;

const TOOLS: &str = r##"[{"type": "function", "function": {"name": "f", "parameters": {
    "properties": {"a": {"$ref": "#/%24defs/b"}}, "$defs": {"b": {"type": "integer"}}}}}]"##;

/// Reads a file. Returns whether it is valid.
type Read = fn() -> bool;

const READERS: [(&str, Read); 4] = [
    ("template", || Dialect::from_response_template(TEMPLATE).is_ok()),
    ("dialect", || Dialect::load(include_str!("../dialects/qwen3.toml")).is_ok()),
    ("tools", || Tools::read(TOOLS).is_ok()),
    ("server", || Server::load(include_str!("../servers/vllm.toml")).is_ok()),
];

/// The environment variable that tells a child process which reader to use and which allocation to refuse.
const CHILD: &str = "ASIDE_REFUSED";
/// The exit codes of a child process: the file was valid, the file was invalid, and no allocation was refused.
const RIGHT: i32 = 40;
const WRONG: i32 = 41;
const DONE: i32 = 42;
const SIGABRT: i32 = 6;

#[test]
fn refused_memory_is_not_a_fault_of_a_file() {
    if let Ok(child) = std::env::var(CHILD) {
        let (name, at) = child.split_once(' ').unwrap();
        let (_, read) = READERS.iter().find(|(reader, _)| *reader == name).unwrap();
        LEFT.store(at.parse().unwrap(), Relaxed);
        let is_right = read();
        let is_done = LEFT.swap(0, Relaxed) > 0;
        std::process::exit(if !is_right {
            WRONG
        } else if is_done {
            DONE
        } else {
            RIGHT
        });
    }
    for (name, _) in READERS {
        // Tests all of the first allocations, and then fewer and fewer.
        let (mut at, mut refused) = (1_u64, 0);
        loop {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "refused_memory_is_not_a_fault_of_a_file", "--nocapture"]);
            let status = child.env(CHILD, format!("{name} {at}")).output().unwrap().status;
            match (status.code(), status.signal()) {
                (Some(DONE), _) => break,
                (Some(RIGHT), _) | (_, Some(SIGABRT)) => {}
                _ => panic!("{name}: allocation {at}, which is refused, is taken for a fault: {status}"),
            }
            refused += 1;
            at += 1 + at / 4;
        }
        assert!(refused > 5, "{name}: {refused} allocations");
    }
}
