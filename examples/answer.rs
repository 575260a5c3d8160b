//! Prints the answer, without the thinking, from a text in the dialect qwen3. The manual shows this code.

use aside::answer::{Answer, Options, Part};
use aside::{Dialect, EndReason};
use std::io::{Read, Write, stdin, stdout};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut answer = Answer::new(&Dialect::find("qwen3")?, &Options::new())?;
    let show = |part: Part| match part {
        Part::Content(text) => stdout().write_all(text).unwrap(),
        Part::Call { name, .. } => eprintln!("the model calls {name}"),
        _ => {}
    };
    let mut chunk = [0; 4096];
    while let len @ 1.. = stdin().read(&mut chunk)? {
        answer.feed(&chunk[..len], show)?;
    }
    Ok(answer.finish(EndReason::Ended, show)?)
}
