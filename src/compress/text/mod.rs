//! Texts, and the originals from which they were made. Filters describe edits. Only `edited` carries them out, and for every byte
//! of the result it records which stretch of the original the byte represents. This code must depend neither on the meaning of
//! lines nor on the filter.

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
