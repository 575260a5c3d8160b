//! Signals while a command runs. Each of them must reach the command once: signals of a terminal or `timeout` go to all
//! processes of the group, and are not sent again.

#[cfg(unix)]
pub use unix::{Received, listen, wait};

#[cfg(not(unix))]
pub use other::{Received, listen, wait};

#[cfg(unix)]
mod unix {
    use std::thread;

    use rustix::io::Errno;
    use rustix::process::{self, Pid, Signal, WaitId, WaitIdOptions};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
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
        /// The leader of the group, which is `timeout` if that runs us: to us, and then to all of the group.
        Leader,
        /// Another process, to us alone.
        Process,
    }

    impl Received {
        fn new(origin: &Origin) -> Received {
            let leader = process::getpgrp();
            let sender = match (&origin.cause, &origin.process) {
                (Cause::Sent(_), Some(process)) if Pid::from_raw(process.pid) == Some(leader) => Sender::Leader,
                (Cause::Sent(_), _) => Sender::Process,
                _ => Sender::Kernel,
            };
            Received { signal: origin.signal, sender }
        }

        /// Returns whether this repeats the last signal: `timeout` sends to us, and then to all of the group.
        pub fn repeats(&self, first: &Received) -> bool {
            self.sender == Sender::Leader && first.sender == Sender::Leader && self.signal == first.signal
        }

        /// Sends the signal to the command, unless that has got it too. The command must not have been waited for.
        pub fn pass_on(&self, id: u32) {
            let id = i32::try_from(id).ok().and_then(Pid::from_raw);
            if let (Sender::Process, Some(id), Some(signal)) = (self.sender, id, Signal::from_named_raw(self.signal)) {
                let _ = process::kill_process(id, signal);
            }
        }
    }

    /// Calls `on_signal` for each signal until it returns false. A signal that was ignored when the program started, as under
    /// `nohup`, stays ignored.
    pub fn listen(on_signal: impl Fn(Received) -> bool + Send + 'static) {
        let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal));
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

    pub fn wait(_: u32) {}
}
