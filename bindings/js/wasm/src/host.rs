//! The state that is kept between two calls: the window that JavaScript writes texts into, the texts that are arguments of the next
//! function, its results, and the objects that JavaScript holds.

use std::cell::RefCell;

use crate::arguments::Arguments;
use crate::failure::Failure;
#[cfg(feature = "streams")]
use crate::options::WithTools;
use crate::output::Output;
use crate::slab::Slab;
#[cfg(feature = "streams")]
use crate::texts::Texts;

/// The number of bytes in the window. Longer texts are passed in pieces.
pub const WINDOW: usize = 1 << 16;

/// The result of a function that has failed; the output describes the failure.
const FAILED: i32 = -1;

pub struct Host {
    pub window: [u8; WINDOW],
    /// The place of the output: the words and their number, the bytes and their number, and whether all bytes are ASCII; then
    /// two words for results without output.
    pub results: [u32; 7],
    pub arguments: Vec<Vec<u8>>,
    pub output: Output,
    pub objects: Objects,
}

#[cfg(feature = "streams")]
pub struct Objects {
    pub dialects: Slab<aside::Dialect>,
    pub scanners: Slab<aside::Scanner>,
    pub rewriters: Slab<WithTools<aside::sse::Rewriter>>,
    pub answers: Slab<WithTools<aside::answer::Answer>>,
    /// The channels of the pieces of a text that `split` has read so far.
    pub texts: Texts,
}

#[cfg(feature = "streams")]
impl Objects {
    const fn new() -> Objects {
        Objects {
            dialects: Slab::new(),
            scanners: Slab::new(),
            rewriters: Slab::new(),
            answers: Slab::new(),
            texts: Texts::new(),
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
        let result = body(host);
        host.end(result)
    })
}

/// Runs a function with the host's state; the function has no result.
pub fn with<T>(body: impl FnOnce(&mut Host) -> T) -> T {
    HOST.with_borrow_mut(body)
}

impl Host {
    /// Ends a function of the interface. It is compiled once for all of them, because the file must be small.
    #[inline(never)]
    fn end(&mut self, result: Result<i32, Failure>) -> i32 {
        let is_lost = self.output.is_lost;
        let result = result.and_then(|result| if is_lost { Err(Failure::memory()) } else { Ok(result) });
        let result = result.unwrap_or_else(|failure| {
            self.output.clear();
            failure.write(&mut self.output);
            FAILED
        });
        self.arguments.clear();
        self.publish();
        result
    }

    /// Writes the place of the output.
    fn publish(&mut self) {
        let Output { words, bytes, .. } = &self.output;
        let of_output = [words.as_ptr() as u32, words.len() as u32, bytes.as_ptr() as u32, bytes.len() as u32];
        self.results[..4].copy_from_slice(&of_output);
        self.results[4] = u32::from(bytes.is_ascii());
    }

    /// Returns the arguments of the function, in their order.
    pub fn arguments(&mut self) -> Arguments {
        Arguments::new(std::mem::take(&mut self.arguments))
    }
}
