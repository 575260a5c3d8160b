//! Empty, because the crate consists of its test `header.rs`.
