//! The role of a line: a failure, a verdict, a part of an error region or of a diff. This folder determines the role from data, once
//! for each version of a text, so that every filter keeps the same lines. The folder itself must not leave out lines.

pub mod class;
pub mod failures;
pub mod headings;
pub mod hunks;
pub mod labels;
pub mod layout;
pub mod patterns;
pub mod protect;
pub mod regions;
pub mod verdict;
pub mod weak;
