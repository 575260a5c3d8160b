//! How a model writes its tool calls: the tables that `[[span.call]]` of a dialect file is compiled to, what begins a call,
//! and the body that tells a call's name, keys and values apart while it streams. It knows no dialect file and no event: the
//! scanner asks it what comes next, and reports it. See `docs/tool-calls.md`.

pub mod body;
pub mod head;
pub mod table;
pub mod view;
