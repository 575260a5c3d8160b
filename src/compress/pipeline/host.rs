//! The host's additions to a compressor: its own filters and caches. Their code is not trusted: a panic in it is an error, and a
//! filter's result is used only if it is shorter.

use crate::compress::invocation::Invocation;

/// A filter of the host. The only promise of such a filter is that a text that it returns as compressed is shorter, which is
/// checked in each compression.
///
/// A panic in the filter counts as an error. After an error, the filter is not used again in the same compression, and the report
/// contains the error.
///
/// ```
/// use aside::compress::{Compressor, Filter, Filtered, Input, Invocation, Outcome, Part, Registry};
///
/// struct Squeeze;
/// impl Filter for Squeeze {
///     fn id(&self) -> &str {
///         "squeeze"
///     }
///     fn apply(&self, text: &[u8], _: &Invocation<'_>) -> Result<Filtered, String> {
///         let text: Vec<u8> = text.split(|&byte| byte == b'\n').next().unwrap_or_default().to_vec();
///         Ok(Filtered::shorter(text))
///     }
/// }
///
/// let mut registry = Registry::empty();
/// registry.add_filter(Box::new(Squeeze));
/// let compressor = Compressor::new(&registry);
/// let text = "first\n".repeat(300);
/// let result = compressor.compress(&Invocation::new("bash", &Input::of_command("seq 300")), &[Part::Text(text.as_bytes())]);
/// let Outcome::Text(short) = &result.parts[0] else { panic!() };
/// assert!(short.ends_with(b"]\nfirst") && result.report.filters == ["squeeze"]);
/// ```
pub trait Filter: Send + Sync {
    /// Returns the filter's name in banners and reports.
    fn id(&self) -> &str;

    /// Returns the tools whose results the filter is for. If the list is empty, the filter is for all tools.
    fn tool_ids(&self) -> &[String] {
        &[]
    }

    /// Returns whether the filter is for the result of this invocation.
    ///
    /// # Errors
    ///
    /// A message, which is added to the report. The filter is then not used in this compression.
    fn matches(&self, invocation: &Invocation<'_>) -> Result<bool, String> {
        let _ = invocation;
        Ok(true)
    }

    /// Makes a text shorter, or reports that it stays unchanged.
    ///
    /// # Errors
    ///
    /// A message, which is added to the report. The text then stays unchanged.
    fn apply(&self, text: &[u8], invocation: &Invocation<'_>) -> Result<Filtered, String>;
}

/// The result of a host's filter.
///
/// ```
/// use aside::compress::Filtered;
///
/// assert!(Filtered::shorter("3 tests passed").compressed);
/// assert!(!Filtered::unchanged().compressed);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filtered {
    /// The text. It is read only if `compressed` is true.
    pub text: Vec<u8>,
    /// Whether the filter made the text shorter.
    pub compressed: bool,
}

impl Filtered {
    /// Returns the result of a filter that made the text shorter.
    pub fn shorter(text: impl Into<Vec<u8>>) -> Filtered {
        Filtered { text: text.into(), compressed: true }
    }

    /// Returns the result of a filter that did nothing.
    #[must_use]
    pub fn unchanged() -> Filtered {
        Filtered::default()
    }
}

/// Remembers results of earlier calls. A compressor asks the cache before it runs filters, and uses a recorded result only if its
/// text equals the fresh text.
///
/// A panic in the cache counts as an error, and an error is added to the report.
///
/// ```
/// use aside::compress::{Cache, Compressor, Hit, Input, Invocation, Outcome, Part, Registry};
///
/// struct Always(Vec<u8>);
/// impl Cache for Always {
///     fn id(&self) -> &str {
///         "always"
///     }
///     fn lookup(&self, _: &Invocation<'_>) -> Result<Option<Hit>, String> {
///         Ok(Some(Hit::new(self.0.clone(), 0)))
///     }
///     fn record(&self, _: &Invocation<'_>, _: &[u8]) -> Result<(), String> {
///         Ok(())
///     }
/// }
///
/// let text = "one line of many\n".repeat(100);
/// let mut registry = Registry::empty();
/// registry.add_cache(Box::new(Always(text.clone().into_bytes())));
/// let compressor = Compressor::new(&registry);
/// let result = compressor.compress(&Invocation::new("bash", &Input::of_command("ls")), &[Part::Text(text.as_bytes())]);
/// let Outcome::Text(line) = &result.parts[0] else { panic!() };
/// assert!(line.starts_with(b"Same output as last run (1970-01-01T00:00:00Z)"));
/// ```
pub trait Cache: Send + Sync {
    /// Returns the cache's name in reports.
    fn id(&self) -> &str;

    /// Returns the tools whose results the cache is for. If the list is empty, the cache is for all tools.
    fn tool_ids(&self) -> &[String] {
        &[]
    }

    /// Called with every invocation of the cache's tools, before results are looked up in any cache.
    ///
    /// # Errors
    ///
    /// A message, which is added to the report.
    fn observe(&self, invocation: &Invocation<'_>) -> Result<(), String> {
        let _ = invocation;
        Ok(())
    }

    /// Returns the recorded result of this invocation, if there is one.
    ///
    /// # Errors
    ///
    /// A message, which is added to the report.
    fn lookup(&self, invocation: &Invocation<'_>) -> Result<Option<Hit>, String>;

    /// Records the result of this invocation: its raw text parts, joined with line feeds.
    ///
    /// # Errors
    ///
    /// A message, which is added to the report.
    fn record(&self, invocation: &Invocation<'_>, text: &[u8]) -> Result<(), String>;
}

/// A recorded result.
///
/// ```
/// use aside::compress::Hit;
///
/// let hit = Hit::new("On branch main\n", 1_700_000_000);
/// assert_eq!((hit.text.len(), hit.timestamp), (15, 1_700_000_000));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hit {
    /// The raw text.
    pub text: Vec<u8>,
    /// The time of the record, in seconds since 1970.
    pub timestamp: u64,
}

impl Hit {
    /// Returns a result that was recorded at this time, in seconds since 1970.
    pub fn new(text: impl Into<Vec<u8>>, timestamp: u64) -> Hit {
        Hit { text: text.into(), timestamp }
    }
}
