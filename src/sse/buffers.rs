//! The buffers for one event. They are not needed between events, so the streams of a thread share them: a server has far more
//! streams than threads.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, TryLockError};

use super::choices::Chunk;
use super::event::Event;
use super::known::Ends;
use super::protocol::Scratch;
use super::{messages, responses};
use crate::Error;
use crate::memory::TryBox;

/// The parts of an event that were read, unless they are in a `Chunk`.
#[derive(Default)]
#[allow(clippy::large_enum_variant)] // Each thread has only one.
pub enum AnyFields {
    #[default]
    None,
    Messages(messages::Fields),
    Responses(responses::Fields),
}

/// The buffers for one event or body. They are empty at its beginning, except `ends`, which are cleared before each use, and the line
/// end of the event, which the stream sets.
#[derive(Default)]
pub struct Buffers {
    pub event: Event,
    pub chunk: Chunk,
    pub fields: AnyFields,
    pub ends: Ends,
    pub scratch: Scratch,
}

impl Buffers {
    /// Empties the buffers for the next data of the same event, and frees those that a large event has made large.
    pub fn begin_data(&mut self) {
        self.chunk.clear();
        self.fields = AnyFields::None;
        self.scratch.begin_data();
    }

    /// Empties the buffers for the next event.
    fn clear(&mut self) {
        self.event.clear();
        self.begin_data();
        self.scratch.begin_event();
    }
}

/// The number of sets of buffers that are kept. A set is used only while an event is written, so threads need more sets only if more
/// of them than this write at once.
const SETS: usize = 256;

/// A set of buffers, which shares no line of the processor's cache with another set.
#[repr(align(128))]
struct Set(Mutex<TryBox<Buffers>>);

static KEPT: [Set; SETS] = [const { Set(Mutex::new(TryBox::NONE)) }; SETS];
static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The number of the thread's set. The set itself is not here: a thread's variable with a destructor must be registered, which
    /// ends the process if there is no memory.
    static NUMBER: usize = NEXT.fetch_add(1, Relaxed) % SETS;
}

/// Calls a function with the thread's buffers, or with new ones if another thread with the same set uses it now.
pub fn with<T>(work: impl FnOnce(&mut Buffers) -> Result<T, Error>) -> Result<T, Error> {
    let Set(kept) = &KEPT[NUMBER.with(|number| *number)];
    let mut new = TryBox::NONE;
    let mut lent = match kept.try_lock() {
        Ok(lent) => Some(lent),
        Err(TryLockError::WouldBlock) => None,
        Err(TryLockError::Poisoned(error)) => {
            // After a panic, the buffers are not used any more.
            let mut lent = error.into_inner();
            *lent = TryBox::NONE;
            kept.clear_poison();
            Some(lent)
        }
    };
    let buffers = lent.as_deref_mut().unwrap_or(&mut new).made()?;
    let result = work(buffers);
    buffers.clear();
    result
}
