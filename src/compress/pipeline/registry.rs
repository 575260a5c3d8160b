//! The parts of a compressor: its filters in their order, and its caches. Each id belongs to only one of them, so that a host can
//! replace or remove any filter.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use super::{
    host::{Cache, Filter},
    sections::Signatures,
};
use crate::compress::passes::{
    built_in,
    file_filter::FileFilter,
    pass::{Pass, Stage},
};
use crate::file_error::FileError;

/// The filters and caches of a compressor.
///
/// Filters run in stages (`docs/compress.md`), and within a stage in the order of their registration. A filter or cache that is
/// added replaces the one with the same id, if there is one.
///
/// A clone shares the filters and caches, and has no copies of them: if one compressor records an entry in a cache, another
/// compressor finds it.
///
/// ```
/// use aside::compress::{LastRun, Registry};
///
/// let mut registry = Registry::new();
/// registry.add_cache(Box::new(LastRun::new(1 << 20)));
/// assert!(registry.remove("repeats-above"));
/// assert!(registry.filter_ids().any(|id| id == "repeats"));
/// ```
#[derive(Clone)]
pub struct Registry {
    pub(crate) entries: Vec<Entry>,
    pub(crate) caches: Vec<Arc<dyn Cache>>,
    /// The signatures, which are compiled when a text is first searched for tools.
    signatures: OnceLock<Arc<Signatures>>,
}

/// A filter that returns edits, or a filter of the host.
#[derive(Clone)]
pub enum Entry {
    Pass(Arc<dyn Pass>),
    Host(Arc<dyn Filter>),
}

impl Entry {
    pub fn id(&self) -> &str {
        match self {
            Entry::Pass(pass) => pass.id(),
            Entry::Host(filter) => filter.id(),
        }
    }

    /// Returns a filter that returns edits.
    pub fn pass(&self) -> Option<&Arc<dyn Pass>> {
        match self {
            Entry::Pass(pass) => Some(pass),
            Entry::Host(_) => None,
        }
    }

    pub fn stage(&self) -> Stage {
        match self {
            Entry::Pass(pass) => pass.stage(),
            Entry::Host(_) => Stage::Tool,
        }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let caches: Vec<&str> = self.caches.iter().map(|cache| cache.id()).collect();
        let filters: Vec<&str> = self.filter_ids().collect();
        f.debug_struct("Registry").field("filters", &filters).field("caches", &caches).finish()
    }
}

impl Default for Registry {
    fn default() -> Registry {
        Registry::new()
    }
}

impl Registry {
    /// Returns a registry with every built-in filter, and no cache.
    #[doc(alias = "aside_registry_new")]
    #[must_use]
    pub fn new() -> Registry {
        let mut registry = Registry::empty();
        for pass in built_in::all() {
            registry.add(Entry::Pass(pass.into()));
        }
        registry
    }

    /// Returns a registry without filters and caches.
    #[must_use]
    pub fn empty() -> Registry {
        Registry { entries: Vec::new(), caches: Vec::new(), signatures: OnceLock::new() }
    }

    /// Adds a filter of the host.
    #[doc(alias = "aside_registry_add_filter")]
    pub fn add_filter(&mut self, filter: Box<dyn Filter>) {
        self.add(Entry::Host(filter.into()));
    }

    /// Adds a filter from the text of a filter file. Its `[[test]]`s are read, but not run.
    ///
    /// # Errors
    ///
    /// [`FileError`], which describes the fault and its place.
    #[doc(alias = "aside_registry_add_toml")]
    pub fn add_toml(&mut self, text: &str) -> Result<(), FileError> {
        self.add(Entry::Pass(Arc::new(FileFilter::from_toml(text)?)));
        Ok(())
    }

    /// Adds the filter that minifies JSON, the only filter for protected text.
    #[doc(alias = "aside_registry_minify_json")]
    pub fn minify_json(&mut self) {
        self.add(Entry::Pass(built_in::minify_json().into()));
    }

    /// Adds a cache.
    #[doc(alias = "aside_registry_add_cache")]
    pub fn add_cache(&mut self, cache: Box<dyn Cache>) {
        self.caches.retain(|other| other.id() != cache.id());
        self.caches.push(cache.into());
    }

    /// Removes the filter or cache with this id. Returns whether there was one.
    pub fn remove(&mut self, id: &str) -> bool {
        let before = self.entries.len() + self.caches.len();
        self.signatures.take();
        self.entries.retain(|entry| entry.id() != id);
        self.caches.retain(|cache| cache.id() != id);
        self.entries.len() + self.caches.len() < before
    }

    /// Returns the filters' ids, in the order in which they run.
    pub fn filter_ids(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(Entry::id)
    }

    /// Returns the signatures of the filters.
    pub(crate) fn signatures(&self) -> &Signatures {
        self.signatures.get_or_init(|| Signatures::new(self.entries.iter().filter_map(Entry::pass)).into())
    }

    fn add(&mut self, entry: Entry) {
        self.signatures.take();
        self.entries.retain(|other| other.id() != entry.id());
        // The sort is stable, so within a stage the order of registration is kept.
        self.entries.push(entry);
        self.entries.sort_by_key(Entry::stage);
    }
}
