//! Everything that lives between two calls: the window that JavaScript writes texts into, the texts that are arguments of the
//! next function, its results, and the objects that JavaScript holds.

use std::cell::RefCell;

use crate::failure::Failure;
use crate::output::Output;
use crate::slab::Slab;

/// The bytes of the window. Longer texts come in pieces.
pub const WINDOW: usize = 1 << 16;

/// The result of a function that has failed; the output is the failure.
const FAILED: i32 = -1;

pub struct Host {
    pub window: [u8; WINDOW],
    /// The place of the output: words, their count, bytes, their count, and whether these are ASCII; then two words for
    /// results without output.
    pub results: [u32; 7],
    pub arguments: Vec<Vec<u8>>,
    pub output: Output,
    pub objects: Objects,
}

#[cfg(feature = "streams")]
pub struct Objects {
    pub dialects: Slab<aside::Dialect>,
    pub scanners: Slab<crate::scanners::Scanner>,
    pub rewriters: Slab<crate::rewriters::Rewriter>,
    pub writers: Slab<crate::calls::Writer>,
    /// The part of a text in pieces that `split` has read.
    pub texts: crate::scanners::Texts,
}

#[cfg(feature = "streams")]
impl Objects {
    const fn new() -> Objects {
        Objects {
            dialects: Slab::new(),
            scanners: Slab::new(),
            rewriters: Slab::new(),
            writers: Slab::new(),
            texts: crate::scanners::Texts::new(),
        }
    }
}

#[cfg(not(feature = "streams"))]
pub struct Objects {
    pub compressors: Slab<std::sync::Arc<aside::compress::Compressor>>,
    pub streams: Slab<aside::compress::ToolStream>,
}

#[cfg(not(feature = "streams"))]
impl Objects {
    const fn new() -> Objects {
        Objects { compressors: Slab::new(), streams: Slab::new() }
    }
}

std::thread_local! {
    static HOST: RefCell<Host> = const {
        RefCell::new(Host {
            window: [0; WINDOW],
            results: [0; 7],
            arguments: Vec::new(),
            output: Output::new(),
            objects: Objects::new(),
        })
    };
}

/// Runs a function of the interface.
pub fn run(body: impl FnOnce(&mut Host) -> Result<i32, Failure>) -> i32 {
    HOST.with_borrow_mut(|host| {
        host.output.clear();
        let result =
            body(host).and_then(|result| if host.output.is_lost { Err(Failure::memory()) } else { Ok(result) });
        let result = result.unwrap_or_else(|failure| {
            host.output.clear();
            failure.write(&mut host.output);
            FAILED
        });
        host.arguments.clear();
        host.publish();
        result
    })
}

/// Uses the host without a result.
pub fn with<T>(body: impl FnOnce(&mut Host) -> T) -> T {
    HOST.with_borrow_mut(body)
}

impl Host {
    /// Says where the output is.
    fn publish(&mut self) {
        let Output { words, bytes, .. } = &self.output;
        let of_output = [words.as_ptr() as u32, words.len() as u32, bytes.as_ptr() as u32, bytes.len() as u32];
        self.results[..4].copy_from_slice(&of_output);
        self.results[4] = u32::from(bytes.is_ascii());
    }

    /// Returns the arguments of the function, in their order.
    pub fn arguments(&mut self) -> Arguments {
        Arguments(std::mem::take(&mut self.arguments).into_iter())
    }
}

/// Texts that JavaScript has put into the window before it called.
pub struct Arguments(std::vec::IntoIter<Vec<u8>>);

impl Arguments {
    pub fn bytes(&mut self) -> Vec<u8> {
        self.0.next().unwrap_or_default()
    }

    /// Returns the next text, if there is one. JavaScript's encoder writes only UTF-8.
    pub fn next_text(&mut self) -> Option<String> {
        self.0.next().map(|bytes| {
            String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
        })
    }

    pub fn text(&mut self) -> String {
        self.next_text().unwrap_or_default()
    }
}
