//! Sends an answer through the code by which the proxy handles bodies, which also undoes a server's compression. The client must
//! get the rewriter's result for the whole answer, however the server cuts it. An answer may break off only if the server fails.
//!
//! It needs the proxy's crate, so it is that crate's ordinary tests that run it (`proxy/tests/fuzz.rs`).
//!
//! Input: the encoding, the end of the answer, the number of pieces, the length of each, and then the answer as the server sends
//! it.

use aside::Dialect;
use aside::sse::{Options, Rewriter};
use aside_proxy::fuzz::through;
use std::sync::LazyLock;

static DIALECT: LazyLock<Dialect> = LazyLock::new(|| Dialect::find("qwen3").unwrap());

/// The names of encodings. The proxy does not decode the last one.
const ENCODINGS: [Option<&str>; 5] = [None, Some("gzip"), Some("br"), Some("zstd"), Some("deflate")];

fn rewriter() -> Rewriter {
    Rewriter::new(&DIALECT, &Options::new().calls(true).max_event(4096)).unwrap()
}

fn direct(bytes: &[u8]) -> Vec<u8> {
    let (mut rewriter, mut out) = (rewriter(), Vec::new());
    rewriter.feed(bytes, &mut out).unwrap();
    rewriter.finish(&mut out).unwrap();
    out
}

pub fn run(data: &[u8]) {
    let [encoding, end, count, rest @ ..] = data else { return };
    let (lengths, body) = rest.split_at(usize::from(count % 8).min(rest.len()));
    let encoding = ENCODINGS[usize::from(*encoding) % ENCODINGS.len()];
    let dies = end % 2 == 1;
    let (mut pieces, mut left) = (Vec::new(), body);
    for at in 0.. {
        if left.is_empty() {
            break;
        }
        let len = lengths.get(at % lengths.len().max(1)).map_or(left.len(), |&len| usize::from(len));
        let (piece, after) = left.split_at(len.max(1).min(left.len()));
        pieces.push(Ok(piece.to_vec()));
        left = after;
    }
    let whole: Vec<_> = [Ok(body.to_vec())].into_iter().chain(dies.then_some(Err(()))).collect();
    pieces.extend(dies.then_some(Err(())));
    let (out, died) = through(pieces, encoding, rewriter());
    match encoding {
        None | Some("deflate") => {
            assert_eq!(out, direct(body), "other bytes than the rewriter's");
            assert_eq!(died, dies, "it ends otherwise than the server did");
        }
        Some(encoding) => {
            // Bytes that are not valid in this encoding are an error at every cut. How much is read before the error may differ.
            let (other, other_died) = through(whole, Some(encoding), rewriter());
            assert_eq!(died, other_died, "{encoding}: a cut decides how it ends");
            assert!(died || out == other, "{encoding}: a cut shows");
            assert!(died || !dies, "{encoding}: a clean end of a server that died");
        }
    }
}
