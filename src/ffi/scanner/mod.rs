//! Scanners for C. Most calls feed a few bytes, so the path from a feed to its sink (`feed.rs`) is short, and must stay short.

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

pub(super) use event::{aside_event, call_event};
