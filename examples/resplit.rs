//! Splits the answer of a chat completion, an event stream or one JSON body, from standard input to standard output:
//!
//!     cargo run --example resplit -- qwen3 < tests/sse/qwen3.sse
//!     curl --no-buffer … | cargo run --example resplit -- qwen3
//!
//! Its arguments are the dialect and, if it is not `reasoning_content`, the name of the field for the thinking.

use std::error::Error;
use std::io::{self, ErrorKind, Read, Write};
use std::process::ExitCode;

use aside::Dialect;
use aside::sse::{Field, Options, Rewriter};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("resplit: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let dialect = Dialect::find(&arguments.next().ok_or("usage: resplit DIALECT [FIELD] < STREAM")?)?;
    let field = match arguments.next().as_deref() {
        None | Some("reasoning_content") => Field::ReasoningContent,
        Some("reasoning") => Field::Reasoning,
        Some("thinking") => Field::Thinking,
        Some(other) => return Err(format!("{other}: the field is reasoning_content, reasoning or thinking").into()),
    };
    let mut rewriter = Rewriter::new(&dialect, &Options { field, ..Options::default() })?;

    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut buffer = [0; 64 * 1024];
    let mut out = Vec::new();
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => rewriter.feed(&buffer[..len], &mut out)?,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        }
        // At once: the reader sees each event when it is there.
        output.write_all(&out)?;
        output.flush()?;
        out.clear();
    }
    rewriter.finish(&mut out)?;
    output.write_all(&out)?;
    Ok(output.flush()?)
}
