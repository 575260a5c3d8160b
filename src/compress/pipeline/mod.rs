//! What a compression is made of: which filters and caches there are, the order of their turns, the promises that each
//! result has to keep, and the report of what was done. No filter's own knowledge belongs here.

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
