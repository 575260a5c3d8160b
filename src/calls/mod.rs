//! Reads the tool calls of a model: the tables to which `[[span.call]]` of a dialect file is compiled, the beginning of a call, and
//! the body, which separates a call's name, keys and values while it streams. This module uses neither dialect files nor events:
//! the scanner requests the next piece, and reports it. See `docs/tool-calls.md`.

pub mod body;
pub mod head;
pub mod table;
pub mod view;
