//! Failures, with the data that a program may need to react to them. JavaScript makes errors of them (`../src/errors.js`).

use crate::output::Output;

/// The class of the error in JavaScript; its numbers are those of the list in `errors.js`.
#[derive(Clone, Copy)]
pub enum Class {
    Memory = 0,
    Value = 1,
    File = 2,
    #[cfg(feature = "streams")]
    Unknown = 3,
    #[cfg(feature = "streams")]
    Ambiguous = 4,
    #[cfg(feature = "streams")]
    Join = 5,
    #[cfg(feature = "streams")]
    Order = 6,
    #[cfg(feature = "streams")]
    Length = 7,
}

/// A failure is a single pointer, because every function has code that returns it.
pub struct Failure(Box<Details>);

struct Details {
    class: Class,
    message: String,
    /// The nearest names, or the candidates.
    names: Vec<String>,
    /// The line of the file; 0 if the failure is not about a line.
    line: usize,
    /// The key of a file, or the part of a text to join.
    place: String,
    /// The offset in that part.
    offset: Option<usize>,
}

impl Failure {
    fn new(class: Class, message: String) -> Failure {
        Failure(Box::new(Details { class, message, names: Vec::new(), line: 0, place: String::new(), offset: None }))
    }

    pub fn memory() -> Failure {
        Failure::new(Class::Memory, "out of memory".to_owned())
    }

    pub fn value(message: impl std::fmt::Display) -> Failure {
        Failure::new(Class::Value, message.to_string())
    }

    /// Returns the failure for an error of a dialect file or a filter file.
    pub fn file(error: &aside::FileError) -> Failure {
        let mut failure = Failure::new(Class::File, error.to_string());
        failure.0.line = error.line().unwrap_or(0);
        error.key().clone_into(&mut failure.0.place);
        failure
    }

    pub fn write(&self, output: &mut Output) {
        let Details { class, message, names, line, place, offset } = &*self.0;
        output.number(*class as u32);
        output.text(message);
        output.list(names);
        output.size(*line);
        output.text(place);
        output.flag(offset.is_some());
        output.size(offset.unwrap_or(0));
    }
}

#[cfg(feature = "streams")]
mod of_streams {
    use super::{Class, Failure};

    impl Failure {
        pub fn unknown(message: String, nearest: Vec<String>) -> Failure {
            Failure::with_names(Class::Unknown, message, nearest)
        }

        fn with_names(class: Class, message: String, names: Vec<String>) -> Failure {
            let mut failure = Failure::new(class, message);
            failure.0.names = names;
            failure
        }
    }

    impl From<aside::Error> for Failure {
        fn from(error: aside::Error) -> Failure {
            match error {
                aside::Error::OutOfMemory => Failure::memory(),
                aside::Error::FinishPending | aside::Error::StreamBegun => {
                    Failure::new(Class::Order, error.to_string())
                }
                aside::Error::TokenLengths => Failure::new(Class::Length, error.to_string()),
                other => Failure::value(other),
            }
        }
    }

    impl From<aside::UnknownDialect> for Failure {
        fn from(error: aside::UnknownDialect) -> Failure {
            Failure::unknown(error.to_string(), error.nearest().iter().map(ToString::to_string).collect())
        }
    }

    impl From<aside::UnknownModel> for Failure {
        fn from(error: aside::UnknownModel) -> Failure {
            Failure::unknown(error.to_string(), error.nearest().map(|known| known.model.to_owned()).collect())
        }
    }

    impl From<aside::UnknownTemplate> for Failure {
        fn from(error: aside::UnknownTemplate) -> Failure {
            if error.is_out_of_memory() {
                return Failure::memory();
            }
            let names: Vec<_> = error.candidates().iter().map(ToString::to_string).collect();
            let class = if names.is_empty() { Class::Unknown } else { Class::Ambiguous };
            Failure::with_names(class, error.to_string(), names)
        }
    }

    impl From<aside::JoinError> for Failure {
        fn from(error: aside::JoinError) -> Failure {
            let (place, offset) = match &error {
                aside::JoinError::OutOfMemory => return Failure::memory(),
                aside::JoinError::Marker { part, offset } => (part.as_str(), Some(*offset)),
                aside::JoinError::Call { .. } => ("call", None),
                _ => ("", None),
            };
            let mut failure = Failure::new(Class::Join, error.to_string());
            place.clone_into(&mut failure.0.place);
            failure.0.offset = offset;
            failure
        }
    }
}
