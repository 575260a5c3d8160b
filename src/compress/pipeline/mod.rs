//! The parts of a compression: its filters and caches, their order, the promises that each result has to keep, and the report. Code
//! that only one filter needs does not belong here.

pub mod counter;
pub mod file_tests;
pub mod filter_run;
pub mod filters;
pub mod host;
pub mod last_run;
pub mod parts;
pub mod promises;
pub mod registry;
pub mod report;
pub mod sections;
