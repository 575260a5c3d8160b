//! The library's own cache, which has the last result of each invocation. However many invocations there are and however long
//! their results, the cache must not exceed its limit in bytes.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
};

use super::host::{Cache, Hit};
use crate::compress::invocation::Invocation;

/// The size of an entry in addition to its key and text: the memory for it in both maps, whose nodes may be half empty.
const ENTRY: usize = 256;

/// Remembers the last result of each invocation, up to a number of bytes. The oldest records are removed first.
///
/// The cache need not know whether an invocation changes something, because a hit counts only if the fresh text equals the recorded
/// one.
///
/// ```
/// use aside::compress::{Cache, Input, Invocation, LastRun};
///
/// let cache = LastRun::new(1 << 20);
/// let (status, diff) = (Input::of_command("git status"), Input::of_command("git diff"));
/// let invocation = Invocation::new("bash", &status).now(1_700_000_000);
/// cache.record(&invocation, b"clean")?;
/// assert_eq!(cache.lookup(&invocation)?.unwrap().text, b"clean");
/// assert_eq!(cache.lookup(&Invocation::new("bash", &diff))?, None);
/// # Ok::<(), String>(())
/// ```
pub struct LastRun {
    bytes: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: BTreeMap<Arc<str>, Entry>,
    /// The keys, in the order in which their results were recorded.
    order: BTreeMap<u64, Arc<str>>,
    records: u64,
    used: usize,
}

struct Entry {
    /// The entry's key in `order`.
    record: u64,
    hit: Hit,
}

impl fmt::Debug for LastRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastRun").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl LastRun {
    /// Returns a cache for all tools that takes at most this many bytes. Each entry counts its key, its text, and 256
    /// bytes for its place.
    #[doc(alias = "aside_registry_add_last_run")]
    #[must_use]
    pub fn new(bytes: usize) -> LastRun {
        LastRun { bytes, state: Mutex::default() }
    }
}

fn key(invocation: &Invocation<'_>) -> String {
    format!("{}\0{}", invocation.tool_id, invocation.input.json())
}

fn size(key: &str, text: &[u8]) -> usize {
    ENTRY + key.len() + text.len()
}

impl State {
    fn forget(&mut self, key: &str) {
        if let Some(Entry { record, hit }) = self.entries.remove(key) {
            self.used -= size(key, &hit.text);
            self.order.remove(&record);
        }
    }
}

impl Cache for LastRun {
    fn id(&self) -> &str {
        "last-run"
    }

    fn lookup(&self, invocation: &Invocation<'_>) -> Result<Option<Hit>, String> {
        Ok(self.state.lock().unwrap().entries.get(&*key(invocation)).map(|entry| entry.hit.clone()))
    }

    fn record(&self, invocation: &Invocation<'_>, text: &[u8]) -> Result<(), String> {
        let key: Arc<str> = key(invocation).into();
        let mut state = self.state.lock().unwrap();
        state.forget(&key);
        let size = size(&key, text);
        if size > self.bytes {
            return Ok(());
        }
        while state.used + size > self.bytes {
            let Some((_, oldest)) = state.order.pop_first() else { break };
            state.forget(&oldest);
        }
        state.used += size;
        state.records += 1;
        let record = state.records;
        state.order.insert(record, key.clone());
        state.entries.insert(key, Entry { record, hit: Hit { text: text.to_vec(), timestamp: invocation.now } });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::invocation::input::Input;

    fn record(cache: &LastRun, number: usize, text: &[u8]) {
        let input = Input::of_command(&number.to_string());
        cache.record(&Invocation::new("bash", &input), text).unwrap();
    }

    fn is_there(cache: &LastRun, number: usize) -> bool {
        let input = Input::of_command(&number.to_string());
        cache.lookup(&Invocation::new("bash", &input)).unwrap().is_some()
    }

    /// Checks many entries. The test would take minutes if the removal of an entry examined all other entries.
    #[test]
    fn a_large_record_takes_the_place_of_many_small_ones() {
        const ENTRIES: usize = 200_000;
        let cache = LastRun::new(ENTRIES * (ENTRY + 64));
        (0..ENTRIES).for_each(|number| record(&cache, number, b"x"));
        assert!(is_there(&cache, 0));
        record(&cache, ENTRIES, &vec![b'x'; ENTRIES * ENTRY]);
        assert!(!is_there(&cache, 0) && is_there(&cache, ENTRIES - 1) && is_there(&cache, ENTRIES));
    }

    #[test]
    fn the_oldest_record_goes_first_and_a_new_one_of_its_key_makes_it_the_latest() {
        let cache = LastRun::new(2 * (ENTRY + 100));
        (1..3).for_each(|number| record(&cache, number, &[b'x'; 50]));
        record(&cache, 1, b"again");
        record(&cache, 3, &[b'x'; 50]);
        assert_eq!([1, 2, 3].map(|number| is_there(&cache, number)), [true, false, true]);
        // A result that is too large for the cache is not kept, and the earlier result of the same invocation is removed.
        record(&cache, 3, &[b'x'; 1000]);
        assert_eq!([1, 2, 3].map(|number| is_there(&cache, number)), [true, false, false]);
        let state = cache.state.lock().unwrap();
        assert_eq!(
            (state.entries.len(), state.order.len(), state.used),
            (1, 1, ENTRY + "bash\0{'command':'1'}again".len())
        );
    }
}
