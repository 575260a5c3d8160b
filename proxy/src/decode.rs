//! Decompresses answers that are compressed although the request did not allow that, and compressed requests that must be read.

use std::io::{self, Cursor};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use http_body::{Body, Frame};
use http_body_util::BodyDataStream;
use serde_json::json;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncReadExt};
use tokio_util::io::{StreamReader, poll_read_buf};

use crate::log;

/// The maximum number of bytes of a decompressed piece. A few compressed bytes can decompress to very many, so bytes are decompressed
/// only as fast as the client reads.
const PIECE: usize = 16 << 10;

/// Returns the encoding in a body's headers.
pub fn encoding(headers: &HeaderMap) -> String {
    let all = headers.get_all(CONTENT_ENCODING).iter().map(|encoding| String::from_utf8_lossy(encoding.as_bytes()));
    all.collect::<Vec<_>>().join(", ").trim().to_ascii_lowercase()
}

/// Returns whether an encoding means no compression.
pub fn is_plain(encoding: &str) -> bool {
    encoding.split(',').all(|encoding| matches!(encoding.trim(), "" | "identity"))
}

/// Returns whether bodies of this encoding can be decompressed.
fn is_known(encoding: &str) -> bool {
    ["gzip", "x-gzip", "br", "zstd"].contains(&encoding)
}

fn decoder(encoding: &str, reader: impl AsyncBufRead + Send + 'static) -> Pin<Box<dyn AsyncRead + Send>> {
    match encoding {
        "br" => Box::pin(BrotliDecoder::new(reader)),
        "zstd" => {
            // RFC 9659 allows a window of eight megabytes.
            let mut decoder = ZstdDecoder::with_params(reader, &[DParameter::window_log_max(23)]);
            decoder.multiple_members(true);
            Box::pin(decoder)
        }
        _ => {
            let mut decoder = GzipDecoder::new(reader);
            decoder.multiple_members(true);
            Box::pin(decoder)
        }
    }
}

/// Returns the decompressed text of a request, or as much of it as can be decompressed, at most `most` bytes. A longer text is
/// noted in the log.
pub async fn text(encoding: &str, body: Bytes, most: usize) -> Bytes {
    if is_plain(encoding) {
        return body;
    }
    let mut text = Vec::new();
    let why = if !is_known(encoding) {
        Some("its encoding is not known; gzip, br and zstd are".to_owned())
    } else {
        let most = u64::try_from(most).unwrap_or(u64::MAX);
        let mut reader = decoder(encoding, Cursor::new(body)).take(most.saturating_add(1));
        match reader.read_to_end(&mut text).await {
            Ok(_) if text.len() as u64 > most => Some(format!("it has more than {most} bytes")),
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        }
    };
    if let Some(why) = why {
        log::warn(
            "a compressed request cannot be read to its end: its dialect and tools may not be known",
            json!({
                "encoding": encoding, "why": why,
            }),
        );
    }
    text.into()
}

/// A decompressed body, without trailers.
pub struct Decoded {
    reader: Pin<Box<dyn AsyncRead + Send>>,
    /// The compressed body, from which `reader` reads. The compressed text may end before the body, so the answer ends only where
    /// the body ends or breaks off.
    rest: Pin<Box<dyn Body<Data = Bytes, Error = io::Error> + Send>>,
    buffer: BytesMut,
}

impl Decoded {
    /// Returns the decompressed body if its encoding is a single known encoding. Otherwise, the error is the body itself.
    pub fn new<B>(encoding: &str, body: B) -> Result<Decoded, B>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if !is_known(encoding) {
            return Err(body);
        }
        let rest = Shared(Arc::new(Mutex::new(body)));
        let reader = decoder(encoding, StreamReader::new(BodyDataStream::new(rest.clone())));
        Ok(Decoded { reader, rest: Box::pin(rest), buffer: BytesMut::new() })
    }

    /// Returns the next piece, or `None` at the end.
    pub fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        self.buffer.reserve(PIECE);
        Poll::Ready(match ready!(poll_read_buf(self.reader.as_mut(), cx, &mut self.buffer)) {
            Ok(0) => loop {
                match ready!(self.rest.as_mut().poll_frame(cx)) {
                    None => break None,
                    Some(Err(error)) => break Some(Err(error)),
                    // Bytes after the end of the compressed text are ignored.
                    Some(Ok(_)) => {}
                }
            },
            Ok(_) => Some(Ok(self.buffer.split().freeze())),
            Err(error) => Some(Err(error)),
        })
    }
}

/// A body that two readers use one after the other, and whose errors are I/O errors.
struct Shared<B>(Arc<Mutex<B>>);

impl<B> Clone for Shared<B> {
    fn clone(&self) -> Shared<B> {
        Shared(Arc::clone(&self.0))
    }
}

impl<B> Body for Shared<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let mut body = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let frame = ready!(Pin::new(&mut *body).poll_frame(cx));
        Poll::Ready(frame.map(|frame| frame.map_err(io::Error::other)))
    }
}
