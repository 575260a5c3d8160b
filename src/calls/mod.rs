//! How a model writes its tool calls: the tables to which `[[span.call]]` of a dialect file is compiled, the beginning of a
//! call, and the body, which separates a call's name, keys and values while it streams. This room knows neither dialect files
//! nor events: the scanner asks for the next piece, and reports it. See `docs/tool-calls.md`.

pub mod body;
pub mod head;
pub mod table;
pub mod view;
