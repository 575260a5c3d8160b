//! What was called. The command line says which program printed a text, and so which filters may know its output. It is
//! parsed and never executed, and what is not understood selects no filter.

pub mod command;
pub mod files;
pub mod input;
pub mod shell;
