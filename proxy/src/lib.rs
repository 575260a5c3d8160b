//! The proxy of `aside proxy`, for a server that sends a model's thinking and tool calls as content: clients get both in separate
//! fields. The proxy forwards everything else unchanged.
//!
//! A user writes [`Settings`] in flags, a file and the environment. [`Config`] is made from them after all checks. [`Proxy`]
//! listens and serves until its owner ends it; [`run`] serves until a signal ends the process, and makes a new [`Config`] at
//! SIGHUP.
//!
//! ```no_run
//! use aside_proxy::{Config, Settings, run};
//!
//! let settings = Settings { upstream: Some("http://127.0.0.1:8080".into()), ..Settings::default() };
//! run(|| Config::new(&settings))?;
//! # Ok::<(), aside_proxy::Error>(())
//! ```

// `serve` accepts connections and hands each request to `exchange`, which forwards the request to the server and the answer to
// the client. `server` decides whether and how an answer is split, and `choice` finds the dialect. `answer` is the body of an
// answer, `request` that of a request. These files share the others.

mod admin;
mod answer;
mod choice;
mod config;
mod decode;
mod error;
mod exchange;
mod fault;
mod guard;
mod headers;
mod log;
mod metrics;
mod questions;
mod report;
mod request;
mod serve;
mod server;
mod settings;
mod socket;
mod tls;
mod upstream;

pub use config::Config;
pub use error::Error;
pub use serve::{Proxy, run};
pub use settings::{Settings, StartAt, Thinking, Upstreams, Word};

#[doc(hidden)]
pub mod fuzz {
    //! The processing of an answer's body, only for the fuzz target.
    pub use crate::answer::fuzz::through;
}
