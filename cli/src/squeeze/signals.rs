//! Signals while a command runs. Each signal must reach the command exactly once. A terminal and `timeout` send their signals to
//! the whole process group, which includes the command, so these are not forwarded. All other signals reach only this process,
//! even if the sender leads the group.

#[cfg(unix)]
pub use unix::{Received, catch_too_large, listen, wait};

#[cfg(not(unix))]
pub use other::{Received, catch_too_large, listen, wait};

#[cfg(unix)]
mod unix {
    use std::sync::Arc;
    use std::{fs, thread};

    use rustix::io::Errno;
    use rustix::process::{self, Pid, Signal, WaitId, WaitIdOptions};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::SignalsInfo;
    use signal_hook::iterator::exfiltrator::origin::WithOrigin;
    use signal_hook::low_level::siginfo::{Cause, Origin};

    /// A signal that was received.
    pub struct Received {
        pub signal: i32,
        sender: Sender,
    }

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Sender {
        /// The terminal, which sends to the whole group.
        Kernel,
        /// `timeout`, which sends to this process and then to the whole group.
        Timeout,
        /// Another process, which sends only to this process.
        Process,
    }

    impl Received {
        fn new(origin: &Origin) -> Received {
            let sender = match (&origin.cause, &origin.process) {
                (Cause::Sent(_), Some(process)) if Pid::from_raw(process.pid).is_some_and(is_timeout) => {
                    Sender::Timeout
                }
                (Cause::Sent(_), _) => Sender::Process,
                _ => Sender::Kernel,
            };
            Received { signal: origin.signal, sender }
        }

        /// Returns whether this is the same signal as `first`: `timeout` sends it to this process and then to the whole group.
        pub fn repeats(&self, first: &Received) -> bool {
            self.sender == Sender::Timeout && first.sender == Sender::Timeout && self.signal == first.signal
        }

        /// Sends the signal to the command, unless the sender did. The command must not have been waited for.
        pub fn pass_on(&self, id: u32) {
            let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) else { return };
            let is_of_group = || process::getpgid(Some(id)).is_ok_and(|group| group == process::getpgrp());
            if self.sender != Sender::Process && is_of_group() {
                return;
            }
            if let Some(signal) = Signal::from_named_raw(self.signal) {
                let _ = process::kill_process(id, signal);
            }
        }
    }

    /// Returns whether a process is a `timeout` that leads this process group and sends each signal to the whole group. With
    /// `--foreground`, a `timeout` may lead the group too, but sends signals only to its child. Without `/proc`, the result is
    /// false.
    fn is_timeout(id: Pid) -> bool {
        let of = |file: &str| fs::read(format!("/proc/{}/{file}", id.as_raw_pid())).unwrap_or_default();
        id == process::getpgrp() && of("comm") == b"timeout\n" && !is_foreground(&of("cmdline"))
    }

    /// Returns whether a command line of `timeout`, whose words end with NULs, has the option `--foreground`.
    fn is_foreground(line: &[u8]) -> bool {
        let mut words = line.split(|&byte| byte == 0).skip(1);
        while let Some(word) = words.next().filter(|word| word.starts_with(b"-")) {
            match word {
                b"-f" | b"--foreground" => return true,
                // The next word is the option's value.
                b"-k" | b"--kill-after" | b"-s" | b"--signal" => _ = words.next(),
                _ => {}
            }
        }
        false
    }

    /// Calls `on_signal` for each signal until it returns false. A signal that was ignored when the program started, as under
    /// `nohup`, stays ignored.
    pub fn listen(on_signal: impl Fn(Received) -> bool + Send + 'static) {
        let wanted = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().filter(|&signal| !is_ignored(signal));
        // If the handlers cannot be installed, a signal ends the program as usual.
        let Ok(mut signals) = SignalsInfo::<WithOrigin>::new(wanted) else { return };
        thread::spawn(move || {
            for origin in &mut signals {
                if !on_signal(Received::new(&origin)) {
                    break;
                }
            }
        });
    }

    /// Makes it an error to write more to a file than the system allows. The signal is handled and not ignored, because a command
    /// would inherit an ignored signal.
    pub fn catch_too_large() {
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    }

    fn is_ignored(signal: i32) -> bool {
        let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: the call only reads the action of the signal, into memory of that type.
        let got = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
        // SAFETY: all bytes are initialised: by the call, or with zeros.
        got == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
    }

    /// Waits until the command has ended, but does not reap it, so that its process number stays taken.
    pub fn wait(id: u32) {
        let id = i32::try_from(id).ok().and_then(Pid::from_raw);
        if let Some(id) = id {
            let look = || process::waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            while look().is_err_and(|error| error == Errno::INTR) {}
        }
    }
}

#[cfg(not(unix))]
mod other {
    /// A signal, on systems without signals, where none is ever received.
    pub struct Received {
        pub signal: i32,
    }

    impl Received {
        pub fn repeats(&self, _: &Received) -> bool {
            false
        }

        pub fn pass_on(&self, _: u32) {}
    }

    pub fn listen(_: impl Fn(Received) -> bool) {}

    pub fn catch_too_large() {}

    pub fn wait(_: u32) {}
}
