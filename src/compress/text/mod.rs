//! Text and where it came from. A filter describes edits; only `edited` carries them out, and it knows for every byte
//! of the result which stretch of the original it represents. Nothing here may know the meaning of a line, or which filter
//! runs.

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
