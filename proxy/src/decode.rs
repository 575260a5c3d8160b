//! Undoes the compression of an answer that came compressed although that was not asked for.

use std::io;
use std::pin::Pin;
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
        let reader = StreamReader::new(BodyDataStream::new(Failing(body)));
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
        Ok(Decoded { reader, buffer: BytesMut::new() })
    }

    /// Returns the next piece, or `None` at the end.
    pub fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        self.buffer.reserve(PIECE);
        Poll::Ready(match ready!(poll_read_buf(self.reader.as_mut(), cx, &mut self.buffer)) {
            Ok(0) => None,
            Ok(_) => Some(Ok(self.buffer.split().freeze())),
            Err(error) => Some(Err(error)),
        })
    }
}

/// A body whose errors are those of a reader.
struct Failing<B>(B);

impl<B> Body for Failing<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let frame = ready!(Pin::new(&mut self.0).poll_frame(cx));
        Poll::Ready(frame.map(|frame| frame.map_err(io::Error::other)))
    }
}
