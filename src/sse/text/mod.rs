//! One text of a host's stream: what a choice says, or a part of a message. Its bytes go through a scanner, and what the scanner
//! reports becomes parts: stretches for the fields, in their order. Which JSON they came from and go to is not known here.

mod around;
mod bare;
mod calls;
mod parts;
mod setup;
mod stream;

pub use calls::Calls;
pub use parts::{CallPart, Parts, Run, Target};
pub use setup::Setup;
pub use stream::{Input, TextStream};
