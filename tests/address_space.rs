//! Finds dialects in a process that has no memory left. If a host loads its dialects at its start, it must always find them later,
//! in Rust and in C. This test limits and uses up the address space of a child process, so that no other process runs out of
//! memory.
#![cfg(target_os = "linux")]

use std::ffi::{CStr, c_void};
use std::process::Command;
use std::ptr;

use aside::{Channel, Dialect, Start};
use support::c;

const CHILD: &str = "ASIDE_ADDRESS_SPACE_CHILD";

#[test]
fn lookups_go_on_where_memory_is_gone() {
    if std::env::var_os(CHILD).is_some() {
        return child();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "lookups_go_on_where_memory_is_gone", "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("looked up without memory"), "{}\n{said}", output.status);
}

/// Allocates all available memory. Each piece contains the address of the piece before it.
fn take_all() -> *mut c_void {
    let mut all = ptr::null_mut();
    let mut size = 64 << 20;
    while size >= size_of::<*mut c_void>() {
        unsafe {
            let piece = libc::malloc(size);
            if piece.is_null() {
                size /= 2;
                continue;
            }
            piece.cast::<*mut c_void>().write(all);
            all = piece;
        }
    }
    all
}

fn give_back(mut all: *mut c_void) {
    while !all.is_null() {
        unsafe {
            let next = all.cast::<*mut c_void>().read();
            libc::free(all);
            all = next;
        }
    }
}

fn child() {
    const MODELS: [&str; 6] = ["Qwen/Qwen3-32B", "Kimi-K2.6", "gpt-oss:20b", "gpt-4o", "qwen3.9", "qwne3"];
    unsafe {
        assert_eq!(c::aside_dialect_preload(ptr::null(), 0), c::OK);
        let limit = libc::rlimit { rlim_cur: 512 << 20, rlim_max: 512 << 20 };
        assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &limit), 0);
    }
    let mut messages = [[0u8; 256]; MODELS.len()];
    let mut handles = [ptr::null_mut(); MODELS.len()];
    let mut found = [None; MODELS.len()];

    let all = take_all();
    // Without `black_box`, the compiler removes the unused allocation.
    let is_full = std::hint::black_box(unsafe { libc::malloc(64) }).is_null();
    for (index, model) in MODELS.iter().enumerate() {
        found[index] = Dialect::find_for_model(model).ok().map(|dialect| dialect.start());
        unsafe {
            handles[index] = c::aside_dialect_find_for_model(model.as_ptr(), model.len());
            if handles[index].is_null() {
                let message = CStr::from_ptr(c::aside_last_error().cast()).to_bytes();
                let len = message.len().min(255);
                messages[index][..len].copy_from_slice(&message[..len]);
            }
        }
    }
    let (known, unknown) = (Dialect::find("harmony").is_ok(), Dialect::find("harmnoy").is_ok());
    give_back(all);

    assert!(is_full && known && !unknown);
    let (content, thinking) = (Start::Channel(Channel::Content), Start::Channel(Channel::Thinking));
    assert_eq!(found, [Some(content), Some(thinking), Some(Start::Header), None, None, None]);
    assert_eq!(handles.map(|handle| handle.is_null()), [false, false, false, true, true, true]);
    let said = messages.map(|message| String::from_utf8_lossy(&message).into_owned());
    assert!(
        said[3].contains("no thinking") && said[4].contains("its elder") && said[5].contains("`qwne3`"),
        "{said:?}"
    );
    println!("looked up without memory");
}
