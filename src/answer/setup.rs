//! The settings that the texts of a host's stream share: their dialect, their start, and the tools that may be called. A host may set
//! them for one stream; afterwards the rewriter's own settings apply again.

use std::mem;
use std::sync::Arc;

use super::bare::{self, Bare};
use super::calls::{Calls, Form, Settings};
use super::options::{Options, Thinking};
use super::parts::{Counts, Parts};
use super::stats::Stats;
use super::stream::{Input, TextStream};
use crate::call_writer::Tools;
use crate::memory::TryBox;
use crate::{Channel, Dialect, Error, Scanner, Start};

/// The dialect and options that a rewriter returns to after a stream.
struct Defaults {
    dialect: Dialect,
    options: crate::ScannerOptions,
}

/// The settings for reading the texts of the current stream.
pub struct Setup {
    dialect: Dialect,
    options: crate::ScannerOptions,
    /// The rewriter's own dialect and start, while this stream has a different dialect or start.
    defaults: TryBox<Defaults>,
    /// The scanner that is copied for each text, if a prompt decides the start of this stream.
    prompted: TryBox<Scanner>,
    /// The host's options for calls, if it wants calls.
    calls: TryBox<Settings>,
    /// Whether the thinking stays in the content.
    is_inline: bool,
    /// The number of bytes of calls that wait in all texts.
    waiting: usize,
    /// Whether content is scanned for thinking even if the server splits the thinking itself.
    pub reads_behind: bool,
    pub stats: Stats,
}

impl Setup {
    /// Returns the settings for texts of this dialect. `has_calls` means that the host wants calls, and `reads_behind` that content
    /// is scanned even if the server splits the thinking.
    pub fn new(dialect: &Dialect, options: &Options, has_calls: bool, reads_behind: bool) -> Result<Setup, Error> {
        Ok(Setup {
            dialect: dialect.clone(),
            options: options.scanner.calls(has_calls),
            defaults: TryBox::NONE,
            prompted: TryBox::NONE,
            calls: TryBox::of(has_calls.then(|| Settings::new(options)))?,
            is_inline: options.thinking == Thinking::Inline,
            waiting: 0,
            reads_behind,
            stats: Stats::default(),
        })
    }

    /// Returns whether the host wants calls.
    pub fn has_calls(&self) -> bool {
        self.calls.get().is_some()
    }

    /// Returns a scanner for a text, at the start that the stream's settings determine.
    pub fn scanner(&self) -> Result<Scanner, Error> {
        match self.prompted.get() {
            Some(prompted) => prompted.try_clone(),
            None => scanner(&self.dialect, &self.options),
        }
    }

    /// Resets a scanner of this stream to the start of a text.
    pub fn rewind(&self, scanner: &mut Scanner) -> Result<(), Error> {
        match self.prompted.get() {
            Some(prompted) => *scanner = prompted.try_clone()?,
            None => scanner.reset(),
        }
        Ok(())
    }

    /// Returns a scanner for the content of a server that splits the thinking itself.
    pub fn split_scanner(&self) -> Result<Scanner, Error> {
        Scanner::with_options(&self.dialect, &self.options.start(Start::Channel(Channel::Content)))
    }

    /// Returns a scanner for the thinking of a server that splits the thinking itself.
    pub fn thinking_scanner(&self) -> Result<Scanner, Error> {
        Scanner::with_options(&self.dialect, &self.options.start(Start::Channel(Channel::Thinking)))
    }

    /// Makes a new scanner read the rest of a text as content. `is_by_server` means that the server splits the thinking itself.
    pub fn split(&self, text: &mut TextStream, is_by_server: bool) -> Result<(), Error> {
        text.split = TryBox::new(self.split_scanner()?)?;
        text.moves_thinking = self.reads_behind || !is_by_server;
        text.is_behind_thinking = is_by_server;
        Ok(())
    }

    /// Returns whether content must be scanned although the server splits the thinking itself.
    pub fn reads_split(&self) -> bool {
        self.reads_behind || self.has_calls()
    }

    /// Begins to look for calls in a text, if calls are wanted. `id_prefix` returns the prefix of ids that the model does not
    /// write; `is_whole` means an answer that is not a stream.
    pub fn look_for_calls(
        &self,
        text: &mut TextStream,
        id_prefix: impl FnOnce() -> Result<String, Error>,
        is_whole: bool,
    ) -> Result<(), Error> {
        self.look_for(text, id_prefix, if is_whole { Form::Whole } else { Form::Deltas })
    }

    /// Begins to look for calls whose arguments are objects, if calls are wanted.
    pub fn look_for_objects(
        &self,
        text: &mut TextStream,
        id_prefix: impl FnOnce() -> Result<String, Error>,
        is_whole: bool,
    ) -> Result<(), Error> {
        self.look_for(text, id_prefix, Form::Objects { is_body: is_whole })
    }

    fn look_for(
        &self,
        text: &mut TextStream,
        id_prefix: impl FnOnce() -> Result<String, Error>,
        form: Form,
    ) -> Result<(), Error> {
        if let Some(settings) = self.calls.get()
            && text.needs_calls()
        {
            let id_len = self.dialect.compiled.call_ids;
            let mut dialect = &self.dialect;
            if self.options.start == Some(Start::Calls) || settings.start_call.is_some() {
                dialect = bare::dialect()?;
                text.bare = Bare::new(settings.start_call.clone())?;
            }
            text.calls = TryBox::new(Calls::new(settings, dialect, &id_prefix()?, id_len, form)?)?;
        }
        Ok(())
    }

    /// Reads the next input of a text.
    pub fn scan(&mut self, text: &mut TextStream, input: Input<'_>, parts: &mut Parts) -> Result<(), Error> {
        let before = parts.counts();
        text.scan(input, self.is_inline, &mut self.waiting, parts)?;
        self.count(before, parts);
        Ok(())
    }

    /// Turns the thinking of a whole text into content, because it was the answer.
    pub fn answer(&mut self, parts: &mut Parts) {
        let moved = parts.answer();
        self.stats.thinking_bytes -= moved;
        self.stats.content_bytes += moved;
    }

    /// Stops looking for calls in a text, because the server itself has made one.
    pub fn give_up_calls(&mut self, text: &mut TextStream, parts: &mut Parts) -> Result<(), Error> {
        let before = parts.counts();
        text.give_up_calls(&mut self.waiting, parts)?;
        self.count(before, parts);
        Ok(())
    }

    /// Adds to the statistics the text and calls that `parts` got since its counts were `before`.
    fn count(&mut self, before: Counts, parts: &Parts) {
        let now = parts.counts();
        // The count may also be lower than before: content of this event may have become thinking.
        self.stats.thinking_bytes += now.thinking.wrapping_sub(before.thinking);
        self.stats.content_bytes = self.stats.content_bytes.wrapping_add(now.content.wrapping_sub(before.content));
        self.stats.calls += now.calls - before.calls;
    }

    /// Removes the state of calls from a finished text, for a later text of the same answer, so that no id is used twice.
    pub fn take_calls(&mut self, text: &mut TextStream) -> TryBox<Calls> {
        let calls = mem::replace(&mut text.calls, TryBox::NONE);
        self.waiting -= calls.get().map_or(0, Calls::waiting);
        calls
    }

    /// Moves the calls of an earlier text to one that continues them.
    pub fn give_calls(&mut self, text: &mut TextStream, calls: TryBox<Calls>) {
        self.waiting += calls.get().map_or(0, Calls::waiting);
        text.calls = calls;
    }

    /// Resets the count of waiting bytes after `[DONE]` or an error, since all texts are over.
    pub fn restart(&mut self) {
        self.waiting = 0;
    }

    /// Restores the rewriter's own dialect, start and tools for the next stream. Returns whether the last stream had another
    /// dialect or start.
    pub fn begin_stream(&mut self) -> bool {
        self.waiting = 0;
        self.prompted = TryBox::NONE;
        if let Some(calls) = self.calls.get_mut() {
            calls.writing.tools.clone_from(&calls.default_tools);
        }
        let Some(Defaults { dialect, options }) = self.defaults.take() else { return false };
        (self.dialect, self.options) = (dialect, options);
        true
    }

    /// Sets the dialect and the start of the next stream. With `None`, the rewriter's own dialect, or the dialect's own start, is
    /// used.
    pub fn use_dialect(&mut self, dialect: Option<&Dialect>, start: Option<Start>) -> Result<(), Error> {
        let options = self.options.start(start);
        let default = self.defaults.get().map_or(&self.dialect, |defaults| &defaults.dialect);
        let dialect = dialect.unwrap_or(default).clone();
        // This returns the error of a dialect that does not have this start.
        scanner(&dialect, &options)?;
        self.keep_defaults()?;
        (self.dialect, self.options, self.prompted) = (dialect, options, TryBox::NONE);
        Ok(())
    }

    /// Starts the next stream after this prompt.
    pub fn start_from_prompt(&mut self, tail: &[u8]) -> Result<Start, Error> {
        let mut prompted = scanner(&self.dialect, &self.options)?;
        let start = prompted.start_from_prompt(tail)?;
        let prompted = TryBox::new(prompted)?;
        self.keep_defaults()?;
        self.prompted = prompted;
        Ok(start)
    }

    /// Keeps the settings that the rewriter returns to.
    fn keep_defaults(&mut self) -> Result<(), Error> {
        let Setup { dialect, options, .. } = self;
        self.defaults.made_by(|| Defaults { dialect: dialect.clone(), options: *options })?;
        Ok(())
    }

    /// Returns the tools of the stream's request, if calls are wanted and the tools are known.
    pub fn tools(&self) -> Option<&Tools> {
        self.calls.get()?.writing.tools.as_deref()
    }

    /// Sets the tools of the next stream's request, if calls are wanted.
    pub fn use_tools(&mut self, tools: Option<Arc<Tools>>) {
        if let Some(calls) = self.calls.get_mut() {
            calls.writing.tools = tools;
        }
    }
}

/// Returns the scanner of a text. If the text has calls without markers, the scanner starts in the content.
fn scanner(dialect: &Dialect, options: &crate::ScannerOptions) -> Result<Scanner, Error> {
    match options.start {
        Some(Start::Calls) => {
            Scanner::with_options(dialect, &options.start(Start::Channel(Channel::Content)).calls(false))
        }
        _ => Scanner::with_options(dialect, options),
    }
}
