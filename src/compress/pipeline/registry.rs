//! What a compressor is made of: its filters in the order of their turns, and its caches.

use super::host::{Cache, Filter};
use crate::compress::passes::{
    built_in,
    file_filter::FileFilter,
    pass::{Pass, Stage},
};
use crate::file_error::FileError;

/// The filters and caches of a compressor, in the order of their registration.
pub struct Registry {
    pub(in crate::compress) entries: Vec<Entry>,
    pub(in crate::compress) caches: Vec<Box<dyn Cache>>,
}

pub enum Entry {
    Pass(Box<dyn Pass>),
    Host(Box<dyn Filter>),
}

impl Entry {
    pub fn id(&self) -> &str {
        match self {
            Entry::Pass(pass) => pass.id(),
            Entry::Host(filter) => filter.id(),
        }
    }

    pub fn stage(&self) -> Stage {
        match self {
            Entry::Pass(pass) => pass.stage(),
            Entry::Host(_) => Stage::Tool,
        }
    }
}

impl Default for Registry {
    fn default() -> Registry {
        Registry::new()
    }
}

impl Registry {
    /// Every built-in filter, and no cache.
    pub fn new() -> Registry {
        let mut registry = Registry::empty();
        for pass in built_in::all() {
            registry.add(Entry::Pass(pass));
        }
        registry
    }

    /// Nothing at all.
    pub fn empty() -> Registry {
        Registry { entries: Vec::new(), caches: Vec::new() }
    }

    /// Adds a host's filter. It replaces one of the same id.
    pub fn add_filter(&mut self, filter: Box<dyn Filter>) {
        self.add(Entry::Host(filter));
    }

    /// Adds a filter from a filter file. It replaces one of the same id. `[[test]]`s are read, not run.
    pub fn add_toml(&mut self, text: &str) -> Result<(), FileError> {
        self.add(Entry::Pass(Box::new(FileFilter::from_toml(text)?)));
        Ok(())
    }

    /// Adds the filter that minifies JSON, the only one for text that is protected.
    pub fn minify_json(&mut self) {
        self.add(Entry::Pass(built_in::minify_json()));
    }

    /// Adds a cache. It replaces one of the same id.
    pub fn add_cache(&mut self, cache: Box<dyn Cache>) {
        self.caches.retain(|other| other.id() != cache.id());
        self.caches.push(cache);
    }

    /// Takes out the filter or cache of this id. Says whether there was one.
    pub fn remove(&mut self, id: &str) -> bool {
        let before = self.entries.len() + self.caches.len();
        self.entries.retain(|entry| entry.id() != id);
        self.caches.retain(|cache| cache.id() != id);
        self.entries.len() + self.caches.len() < before
    }

    /// The filters' ids, in the order in which they have their turns.
    pub fn filter_ids(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(Entry::id)
    }

    fn add(&mut self, entry: Entry) {
        self.entries.retain(|other| other.id() != entry.id());
        // The sort is stable: within a stage the order of registration stays.
        self.entries.push(entry);
        self.entries.sort_by_key(Entry::stage);
    }
}
