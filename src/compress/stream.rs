//! Compresses a tool's output while it arrives, in bounded memory. A program may print for hours, and the exit code of the
//! program is known only at the end.

use std::{fmt, sync::Arc};

use super::{
    compressor::Compressor,
    invocation::{Invocation, input::Input},
    pipeline::report::Report,
    windows::{BoundedText, Run, least_memory},
};

/// Compresses a text that arrives in chunks, in bounded memory.
///
/// If the text fits into the memory, `finish` returns the result of one call, without the banner. A longer text without a budget is
/// written as it arrives, without its repeats. With a budget, `finish` writes its head, its tail and its error regions, with exact
/// markers between them. It does not matter how the text was cut into chunks.
///
/// ```
/// use std::sync::Arc;
/// use aside::compress::{Compressor, Input, Registry, ToolStream};
///
/// let compressor = Arc::new(Compressor::new(&Registry::new()).budget(2000)?);
/// let mut stream = ToolStream::new(compressor, "bash", Input::of_command("make"), 16_000)?;
/// let mut result = Vec::new();
/// for line in 0..10_000 {
///     stream.feed(format!("compiling file {line}\n").as_bytes(), |bytes| result.extend_from_slice(bytes));
/// }
/// let report = stream.finish(|bytes| result.extend_from_slice(bytes));
/// assert!(result.len() <= 2000 && result.ends_with(b"compiling file 9999\n"));
/// assert_eq!(report.before, 198_890);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a stream holds text until `finish` is called"]
pub struct ToolStream {
    compressor: Arc<Compressor>,
    tool_id: String,
    input: Input,
    now: u64,
    text: BoundedText,
    report: Report,
}

/// The error for a stream whose memory would be too small.
///
/// ```
/// use std::sync::Arc;
/// use aside::compress::{Compressor, Input, Registry, ToolStream};
///
/// let compressor = Arc::new(Compressor::new(&Registry::new()));
/// let error = ToolStream::new(compressor, "bash", Input::of_command("make"), 100).unwrap_err();
/// assert!(error.to_string().starts_with("a stream needs at least 4096 bytes of memory"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryError {
    least: usize,
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a stream needs at least {} bytes of memory, and four times its budget if it has one", self.least)
    }
}

impl std::error::Error for MemoryError {}

impl fmt::Debug for ToolStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stream = f.debug_struct("ToolStream");
        stream.field("tool_id", &self.tool_id).field("input", &self.input);
        stream.field("held", &self.text.held()).field("report", &self.report).finish_non_exhaustive()
    }
}

impl ToolStream {
    /// Returns a stream for one tool's output, which holds at most `memory` bytes of text. With a budget, `memory` must
    /// be at least four times as large.
    ///
    /// # Errors
    ///
    /// [`MemoryError`] if `memory` is too small; the error contains the least memory.
    #[doc(alias = "aside_tool_stream_new")]
    pub fn new(
        compressor: Arc<Compressor>,
        tool_id: &str,
        input: Input,
        memory: usize,
    ) -> Result<ToolStream, MemoryError> {
        let budget = compressor.pipeline().budget;
        let least = least_memory(budget);
        if memory < least {
            return Err(MemoryError { least });
        }
        let report = Report { tool_id: tool_id.to_owned(), ..Report::default() };
        let text = BoundedText::new(memory, budget);
        Ok(ToolStream { compressor, tool_id: tool_id.to_owned(), input, now: 0, text, report })
    }

    /// Sets the time of the invocation, in seconds since 1970, for filters of the host. Caches are not used in a stream.
    pub fn now(self, now: u64) -> ToolStream {
        ToolStream { now, ..self }
    }

    /// Sets the command's exit code, which is known when the command has ended. Call this after the last byte and before `finish`.
    /// Until then, a command without an exit code counts as failed.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use aside::compress::{Compressor, Input, Registry, ToolStream};
    ///
    /// let compressor = Arc::new(Compressor::new(&Registry::new()));
    /// let mut stream = ToolStream::new(compressor, "bash", Input::of_command("make"), 16_000)?;
    /// stream.feed(b"==== 3 passed in 0.1s ====\n", |_| {});
    /// stream.set_exit_code(2);
    /// assert!(stream.finish(|_| {}).unexplained);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "aside_tool_stream_set_exit_code")]
    pub fn set_exit_code(&mut self, code: i64) {
        self.input.set_exit_code(code);
    }

    /// Reads the next bytes. Calls `out` with the bytes of the result that are final.
    #[doc(alias = "aside_tool_stream_feed")]
    pub fn feed(&mut self, chunk: &[u8], out: impl FnMut(&[u8])) {
        let ToolStream { compressor, tool_id, input, now, text, report } = self;
        let invocation = Invocation::new(tool_id, input).now(*now);
        let pipeline = compressor.pipeline();
        text.feed(&mut Run { pipeline, counter: None, invocation: &invocation, report }, chunk, out);
    }

    /// Ends the text: calls `out` with the rest, and returns the report.
    #[doc(alias = "aside_tool_stream_finish")]
    pub fn finish(self, out: impl FnMut(&[u8])) -> Report {
        let ToolStream { compressor, tool_id, input, now, text, mut report } = self;
        let invocation = Invocation::new(&tool_id, &input).now(now);
        let (pipeline, counter) = (compressor.pipeline(), compressor.counter());
        let said = text.finish(&mut Run { pipeline, counter, invocation: &invocation, report: &mut report }, out);
        report.unexplained = said.is_unexplained(&input);
        report
    }
}
