//! The role of a line: a failure, a verdict, a part of an error region or of a diff. This folder decides the role from data, once
//! for each version of a text, so that every filter spares the same lines. This code must not leave out lines.

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
