//! Scanners for C. Most calls feed only a few bytes, so the path from a feed to its sink (`feed.rs`) must stay short.

mod array;
mod borrowed;
mod callback;
mod event;
mod feed;
mod handle;
mod options;
mod progress;
mod sink;
mod text;
mod thoughts;
mod token;

pub(super) use progress::{aside_counts, fill_counts};
pub(super) use token::{aside_token, tokens};
