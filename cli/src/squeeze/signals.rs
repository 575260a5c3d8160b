//! Signals while a command runs. Each of them must reach the command once: signals of a terminal or `timeout` go to all
//! processes of the group, and are not sent again. All others, those of a parent that leads the group too, come to us alone.

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

    /// A signal that has come.
    pub struct Received {
        pub signal: i32,
        sender: Sender,
    }

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Sender {
        /// The terminal, to all of the group.
        Kernel,
        /// `timeout`, to us, and then to all of the group.
        Timeout,
        /// Another process, to us alone.
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

        /// Returns whether this repeats the last signal: `timeout` sends to us, and then to all of the group.
        pub fn repeats(&self, first: &Received) -> bool {
            self.sender == Sender::Timeout && first.sender == Sender::Timeout && self.signal == first.signal
        }

        /// Sends the signal to the command, unless that has got it too. The command must not have been waited for.
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

    /// Returns whether a process is a `timeout` that sends each signal to our whole group, which it leads. With `--foreground` it does
    /// not, but leads a group where a shell with job control has started it. Where `/proc` does not say, no process is one.
    fn is_timeout(id: Pid) -> bool {
        let of = |file: &str| fs::read(format!("/proc/{}/{file}", id.as_raw_pid())).unwrap_or_default();
        id == process::getpgrp() && of("comm") == b"timeout\n" && !is_foreground(&of("cmdline"))
    }

    /// Returns whether a command line of `timeout`, whose words end with zeros, has its option `--foreground`.
    fn is_foreground(line: &[u8]) -> bool {
        let mut words = line.split(|&byte| byte == 0).skip(1);
        while let Some(word) = words.next().filter(|word| word.starts_with(b"-")) {
            match word {
                b"-f" | b"--foreground" => return true,
                // The next word is its value.
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
        // Without them the program ends at a signal as it would by itself.
        let Ok(mut signals) = SignalsInfo::<WithOrigin>::new(wanted) else { return };
        thread::spawn(move || {
            for origin in &mut signals {
                if !on_signal(Received::new(&origin)) {
                    break;
                }
            }
        });
    }

    /// Makes writing a file that is larger than the process may write an error. The command gets the signal as before, since it was not
    /// ignored, but handled.
    pub fn catch_too_large() {
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    }

    fn is_ignored(signal: i32) -> bool {
        let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: it only reads the action of the signal, into memory of that type.
        let got = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
        // SAFETY: all bytes are initialised: by the call, or with zeros.
        got == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
    }

    /// Waits until the command has ended, and leaves it to be waited for, so that no other process gets its number.
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
    /// There are no signals.
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
