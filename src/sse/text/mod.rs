//! Splits one text of a host's stream: the text of a choice, or of a part of a message. A scanner reads the bytes, and its
//! events become parts: stretches for the fields, in their order. This code does not depend on the JSON around the text.

mod around;
mod bare;
mod calls;
mod parts;
mod rehearsal;
mod setup;
mod stream;

pub use calls::Calls;
pub use parts::{CallPart, Parts, Run, Target};
pub use setup::Setup;
pub use stream::{Input, TextStream};
