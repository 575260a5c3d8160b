//! Finds the standard streams that were closed when the program began (`aside split >&-`). Before `main`, Rust opens `/dev/null`
//! in their place, and output would then be lost without an error. So this code runs before Rust's own start.

/// Returns whether standard input was closed.
pub fn is_stdin_closed() -> bool {
    is_closed(0)
}

/// Returns whether standard output was closed.
pub fn is_stdout_closed() -> bool {
    is_closed(1)
}

#[cfg(not(unix))]
fn is_closed(_: usize) -> bool {
    false
}

#[cfg(unix)]
use early::is_closed;

#[cfg(unix)]
mod early {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    static CLOSED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

    pub fn is_closed(stream: usize) -> bool {
        CLOSED[stream].load(Relaxed)
    }

    // SAFETY: the section is a list of functions that are called one after the other before `main`, and `look` is such a
    // function.
    #[used]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        for (descriptor, is_closed) in (0..).zip(&CLOSED) {
            // SAFETY: the call reads the flags of a descriptor, and fails if there is none.
            let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFD) };
            is_closed.store(flags == -1, Relaxed);
        }
    }
}
