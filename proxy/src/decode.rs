//! Undoes the compression of an answer that came compressed although that was not asked for.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZstdDecoder};
use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame};
use http_body_util::BodyDataStream;
use tokio::io::AsyncRead;
use tokio_util::io::{StreamReader, poll_read_buf};

/// The most bytes of a piece: a few bytes that came can be very many, which are then read as the client reads them.
const PIECE: usize = 16 << 10;

/// A body whose compression is undone. It has no trailers.
pub struct Decoded {
    reader: Pin<Box<dyn AsyncRead + Send>>,
    /// The same body. The compressed text may end before it, and how it ends is how the answer does.
    rest: Pin<Box<dyn Body<Data = Bytes, Error = io::Error> + Send>>,
    buffer: BytesMut,
}

impl Decoded {
    /// Returns the body, if the encoding is one that is known, alone.
    pub fn new<B>(encoding: &str, body: B) -> Result<Decoded, B>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let encoding = encoding.trim().to_ascii_lowercase();
        if !["gzip", "x-gzip", "br", "zstd"].contains(&encoding.as_str()) {
            return Err(body);
        }
        let rest = Shared(Arc::new(Mutex::new(body)));
        let reader = StreamReader::new(BodyDataStream::new(rest.clone()));
        let reader: Pin<Box<dyn AsyncRead + Send>> = match encoding.as_str() {
            "br" => Box::pin(BrotliDecoder::new(reader)),
            "zstd" => {
                let mut decoder = ZstdDecoder::new(reader);
                decoder.multiple_members(true);
                Box::pin(decoder)
            }
            _ => {
                let mut decoder = GzipDecoder::new(reader);
                decoder.multiple_members(true);
                Box::pin(decoder)
            }
        };
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
                    // Nothing of the text comes after its end.
                    Some(Ok(_)) => {}
                }
            },
            Ok(_) => Some(Ok(self.buffer.split().freeze())),
            Err(error) => Some(Err(error)),
        })
    }
}

/// A body that two read, one after the other, and whose errors are those of a reader.
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
