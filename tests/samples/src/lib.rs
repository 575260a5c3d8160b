//! Inputs for tests, made at random and always the same for a seed: numbers, dialect files, texts of a dialect. The library's own
//! unit tests use them too, so this crate must not depend on the library.

mod made;
mod pieces;
mod random;
mod shell;
mod texts;

pub use made::made;
pub use pieces::{CallPieces, Pieces};
pub use random::Random;
pub use shell::SHELL_PIECES;
pub use texts::Texts;
