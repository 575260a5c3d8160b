//! What a host can add to a compressor: filters and caches of its own. Their code is trusted with nothing: a panic is an error,
//! and a result counts only if it is shorter.

use crate::compress::called::input::Input;

/// A host's own filter. It promises only that what it calls compressed is shorter; that is checked.
///
/// ```
/// use aside::compress::{Call, Compressor, Filter, Filtered, Input, Outcome, Part, Registry};
///
/// struct Squeeze;
/// impl Filter for Squeeze {
///     fn id(&self) -> &str {
///         "squeeze"
///     }
///     fn apply(&self, text: &[u8], _: &Input) -> Result<Filtered, String> {
///         let text: Vec<u8> = text.split(|&byte| byte == b'\n').next().unwrap_or_default().to_vec();
///         Ok(Filtered { text, compressed: true })
///     }
/// }
///
/// let mut registry = Registry::empty();
/// registry.add_filter(Box::new(Squeeze));
/// let compressor = Compressor::new(registry);
/// let text = "first\n".repeat(300);
/// let result = compressor.compress(&Call::new("bash", &Input::of_command("seq 300")), &[Part::Text(text.as_bytes())]);
/// let Outcome::Text(short) = &result.parts[0] else { panic!() };
/// assert!(short.ends_with(b"]\nfirst") && result.report.filters == ["squeeze"]);
/// ```
pub trait Filter: Send + Sync {
    /// Its name in banners and reports.
    fn id(&self) -> &str;

    /// The tools whose results it is for. None named: all.
    fn tool_ids(&self) -> &[String] {
        &[]
    }

    /// Whether it is for this call. An error drops the filter for this call, as of `apply`.
    fn matches(&self, tool_id: &str, input: &Input) -> Result<bool, String> {
        let _ = (tool_id, input);
        Ok(true)
    }

    /// Makes a text shorter, or says that it did not. An error drops the filter for this call; the report has it.
    fn apply(&self, text: &[u8], input: &Input) -> Result<Filtered, String>;
}

/// What a filter gave back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filtered {
    /// The text. Read only if `compressed`.
    pub text: Vec<u8>,
    /// Whether the filter did anything.
    pub compressed: bool,
}

/// Remembers results. A compressor asks it before it filters, and trusts it only where the fresh text is the
/// recorded one.
pub trait Cache: Send + Sync {
    /// Its name in reports.
    fn id(&self) -> &str;

    /// The tools whose results it is for. None named: all.
    fn tool_ids(&self) -> &[String] {
        &[]
    }

    /// Sees every call, before any cache looks up. An error goes to the report.
    fn observe(&self, tool_id: &str, input: &Input) -> Result<(), String> {
        let _ = (tool_id, input);
        Ok(())
    }

    /// The recorded result of this call, if there is one. An error goes to the report.
    fn lookup(&self, tool_id: &str, input: &Input) -> Result<Option<Hit>, String>;

    /// Records a result: its raw text parts, joined with line feeds. `now` is in seconds since 1970. An error goes to the
    /// report.
    fn record(&self, tool_id: &str, input: &Input, text: &[u8], now: u64) -> Result<(), String>;
}

/// A recorded result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The raw text.
    pub text: Vec<u8>,
    /// When it was recorded, in seconds since 1970.
    pub timestamp: u64,
}
