//! Texts, and the originals that they come from. A filter describes edits; only `edited` carries them out, and it knows for every
//! byte of the result which stretch of the original the byte represents. Nothing here may depend on the meaning of a line, or on
//! which filter runs.

pub mod banner;
pub mod bytes;
pub mod controls;
pub mod edit;
pub mod edited;
pub mod length;
pub mod limit;
pub mod marker;
pub mod tokens;
pub mod utf16;
