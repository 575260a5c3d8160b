//! Rewrites the thinking in the history of a request, so that it is under the name that the server reads.
//!
//! A model that thinks between its tool calls needs that thinking again in the next request. Clients send it back under the name
//! under which they received it. A server may read the thinking only under a different name, ignore it, or refuse the request.
//! [`rewrite`] returns the body of a request with the thinking of earlier turns where the server reads it. Everything else stays
//! unchanged, byte for byte.
//!
//! ```
//! use aside::history::{Format, Name, Options, rewrite};
//!
//! let options = Options::new(Format::Chat).name(Name::Reasoning);
//! let body = r#"{"messages":[{"role":"assistant","content":"42","reasoning_content":"Twice 21."}]}"#;
//! let (body, report) = rewrite(body, &options)?;
//! assert_eq!(body, br#"{"messages":[{"role":"assistant","content":"42","reasoning":"Twice 21."}]}"#);
//! assert_eq!(report.changed, 1);
//! # Ok::<(), aside::history::RewriteError>(())
//! ```
//!
//! Files describe the input of each server: see [`Server`].

// `json` reads objects and lists as ranges. `chat`, `messages` and `responses` each decide the changes to a request of one
// format. They share `thinking`, and do not depend on one another. `namespaces` writes
// flat names for tools in namespaces. `server` reads the files of `servers/`.

mod chat;
mod json;
mod made;
mod messages;
mod namespaces;
mod options;
mod report;
mod responses;
mod server;
mod thinking;

use std::fmt;

pub use options::{Format, Made, Missing, Name, Namespaces, Options, Turns};
pub use report::{Outcome, Report};
pub use server::{Server, UnknownServer};

use crate::json::{Edits, Span};
use crate::memory::{OutOfMemory, copy};
use json::{Fault, Object};

/// The reason why a request could not be rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RewriteError {
    /// There was no memory for the new body.
    OutOfMemory,
}

impl fmt::Display for RewriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of memory")
    }
}

impl std::error::Error for RewriteError {}

impl From<OutOfMemory> for RewriteError {
    fn from(_: OutOfMemory) -> RewriteError {
        RewriteError::OutOfMemory
    }
}

/// Rewrites the body of a request, and returns a report. A body that is not read is returned unchanged; [`Report::outcome`] states
/// the reason.
///
/// Rewriting a rewritten body changes nothing. With [`Turns::All`], a message is rewritten in the same way in every later
/// request, so that the server finds the prompt in its cache.
///
/// The new body may have a different length: the host must set `Content-Length` again, and any digest or signature of the body.
///
/// # Errors
///
/// [`RewriteError::OutOfMemory`].
#[doc(alias = "aside_history_rewrite")]
pub fn rewrite(body: impl AsRef<[u8]>, options: &Options) -> Result<(Vec<u8>, Report), RewriteError> {
    let body = body.as_ref();
    let (mut edits, mut report) = (Edits::default(), Report::default());
    report.outcome = match read(body, options, &mut edits, &mut report) {
        Ok(()) => {
            let mut out = Vec::new();
            out.try_reserve(body.len() + edits.text.len()).map_err(OutOfMemory::from)?;
            edits.apply(body, 0..body.len(), Span::clone, &mut out)?;
            return Ok((out, report));
        }
        Err(Fault::Outcome(outcome)) => outcome,
        Err(Fault::OutOfMemory) => return Err(RewriteError::OutOfMemory),
    };
    Ok((copy(body)?, Report { outcome: report.outcome, ..Report::default() }))
}

/// Notes the changes of a body.
fn read(body: &[u8], options: &Options, edits: &mut Edits, report: &mut Report) -> Result<(), Fault> {
    if body.len() > options.max_body.unwrap_or(Options::MAX_BODY) {
        return Err(Fault::Outcome(Outcome::TooLong));
    }
    if str::from_utf8(body).is_err() {
        return Err(Fault::Outcome(Outcome::NotUtf8));
    }
    let object = Object::whole(body)?;
    match options.format {
        Format::Chat => chat::read(&object, options, edits, report),
        Format::Messages => messages::read(&object, options, edits, report),
        Format::Responses => responses::read(&object, options, edits, report),
    }
}
