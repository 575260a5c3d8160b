//! The input of `aside squeeze` as a sequence of events: bytes of a file or a command, the exit of the command, and signals. A
//! thread waits for each source of events, so that a signal is noticed even while no bytes arrive.

use std::io::PipeReader;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::signals;
use crate::files::{Input, READ};
use crate::stop::Stop;

/// The time for which a run continues after a signal if the command has ended, because another process may hold the pipe open,
/// and after a second signal, because the command may still end.
const DRAIN: Duration = Duration::from_secs(1);

enum Event {
    Bytes(Vec<u8>),
    End(Result<(), Stop>),
    Exited,
    Signal(signals::Received),
}

/// The source of the output that is shortened.
pub enum Source {
    Input(Box<dyn FnOnce() -> Result<Input, Stop> + Send>),
    Command(PipeReader, Child, String),
}

/// The result of a run.
pub struct Ended {
    /// The exit status of the command, if it has ended.
    pub status: Option<ExitStatus>,
    /// The signal that ended the run.
    pub signal: Option<i32>,
}

/// Calls `feed` with all bytes that are read, until it returns false because the reader of the result has closed it. Signal
/// handlers are installed before `open` starts a command.
pub fn read(open: impl FnOnce() -> Result<Source, Stop>, mut feed: impl FnMut(&[u8]) -> bool) -> Result<Ended, Stop> {
    let (sender, events) = sync_channel(4);
    let is_over = Arc::new(AtomicBool::new(false));
    signals::listen({
        let sender = sender.clone();
        move |received| sender.send(Event::Signal(received)).is_ok()
    });
    let mut child = match open()? {
        Source::Input(open) => {
            read_all(open, sender, is_over.clone());
            None
        }
        Source::Command(reader, child, name) => {
            read_all(move || Ok(Input::new(reader, &name)), sender.clone(), is_over.clone());
            let id = child.id();
            thread::spawn(move || {
                signals::wait(id);
                sender.send(Event::Exited)
            });
            Some(child)
        }
    };
    let ended = run(&events, child.as_ref(), &is_over, &mut feed)?;
    // After a second signal, the command may still run.
    let reap = |child: &mut Child| match ended.may_wait {
        true => child.wait().map(Some),
        false => child.try_wait(),
    };
    let status = child.as_mut().map(reap).transpose().map_err(|error| Stop::io("waiting", &error))?.flatten();
    Ok(Ended { status, signal: ended.signal })
}

struct Run {
    signal: Option<i32>,
    may_wait: bool,
}

fn run(
    events: &Receiver<Event>,
    child: Option<&Child>,
    is_over: &AtomicBool,
    feed: &mut impl FnMut(&[u8]) -> bool,
) -> Result<Run, Stop> {
    let (mut has_ended, mut has_exited) = (false, child.is_none());
    let (mut last, mut count): (Option<signals::Received>, _) = (None, 0);
    // The time until which more events are awaited.
    let mut deadline = None;
    while !(has_ended && has_exited) {
        let event = match deadline {
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(deadline) => events.recv_timeout(Instant::saturating_duration_since(&deadline, Instant::now())),
        };
        match event {
            Ok(Event::Bytes(bytes)) => {
                if !feed(&bytes) {
                    is_over.store(true, Relaxed);
                }
            }
            Ok(Event::End(result)) => {
                result?;
                has_ended = true;
            }
            Ok(Event::Exited) => has_exited = true,
            Ok(Event::Signal(received)) => {
                if last.as_ref().is_some_and(|last| received.repeats(last)) {
                    continue;
                }
                if let Some(child) = child.filter(|_| !has_exited) {
                    received.pass_on(child.id());
                }
                count += 1;
                last = Some(received);
                // A further signal ends the run at once.
                if deadline.is_some() {
                    break;
                }
            }
            Err(_) => break,
        }
        if deadline.is_none() && (count > 1 || count > 0 && has_exited) {
            deadline = Some(Instant::now() + DRAIN);
        }
    }
    Ok(Run { signal: last.map(|received| received.signal), may_wait: has_exited })
}

/// Reads the input to its end, in a new thread.
fn read_all(
    open: impl FnOnce() -> Result<Input, Stop> + Send + 'static,
    sender: SyncSender<Event>,
    is_over: Arc<AtomicBool>,
) {
    thread::spawn(move || {
        let result = open().and_then(|mut input| {
            let mut chunk = vec![0; READ];
            // If the result is not read any more, this loop ends and the pipe is closed, so that a command without an end notices
            // it.
            while !is_over.load(Relaxed) {
                match input.read(&mut chunk)? {
                    0 => break,
                    len if sender.send(Event::Bytes(chunk[..len].to_vec())).is_err() => break,
                    _ => {}
                }
            }
            Ok(())
        });
        let _ = sender.send(Event::End(result));
    });
}
