//! The body of an answer to the client, unchanged or rewritten. A piece is read from the server only when the previous piece has
//! been passed to the client's connection, so that a slow client slows the server down.

use std::error::Error;
use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use aside::sse::Rewriter;
use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Sleep, sleep_until};

use crate::decode::Decoded;
use crate::report::{End, Report};
use crate::socket::{Flushes, Idle};

type Failure = Box<dyn Error + Send + Sync>;

const SILENT: &str = "the server has sent nothing for too long";

/// The time that an answer over HTTP/2 waits before it breaks off. In this time another task sends the earlier bytes.
const TURN: Duration = Duration::from_millis(50);

/// The source of an answer's bytes.
pub enum Source<B> {
    Server(B),
    Decoded(Decoded),
    /// A text of the proxy itself.
    Own(Option<Bytes>),
    /// A source whose first piece has been read.
    Begun(Box<Source<B>>, Option<Piece>),
}

/// The next piece of a body, an error that breaks the body off, or the end of the body.
pub type Piece = Option<Result<Frame<Bytes>, Failure>>;

impl<B> Source<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Failure>,
{
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        match self {
            Source::Server(body) => Pin::new(body).poll_frame(cx).map_err(Into::into),
            Source::Decoded(body) => body.poll_piece(cx).map_ok(Frame::data).map_err(Into::into),
            Source::Own(text) => Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
            Source::Begun(rest, first) => match first.take() {
                Some(first) => Poll::Ready(first),
                None => rest.poll_frame(cx),
            },
        }
    }

    /// Reads the first piece. Returns a source that still has the piece, and the bytes of the piece. They are empty if the body
    /// has no piece.
    pub async fn begin(mut self, limit: Duration) -> (Source<B>, Bytes) {
        let piece = tokio::time::timeout(limit, poll_fn(|cx| self.poll_frame(cx))).await;
        let piece = piece.unwrap_or_else(|_| Some(Err(SILENT.into())));
        let data = piece.as_ref().and_then(|piece| piece.as_ref().ok()?.data_ref().cloned());
        (Source::Begun(Box::new(self), Some(piece)), data.unwrap_or_default())
    }

    fn is_over(&self) -> bool {
        match self {
            Source::Server(body) => body.is_end_stream(),
            Source::Own(text) => text.is_none(),
            Source::Begun(rest, None) => rest.is_over(),
            Source::Begun(_, Some(_)) | Source::Decoded(_) => false,
        }
    }
}

/// The way in which an answer that breaks off waits until its earlier bytes were sent.
pub enum Left {
    Flushed(Arc<Flushes>),
    InTime,
}

enum Stage {
    Moving,
    /// The text has ended, and only these trailers remain.
    Trailers(HeaderMap),
    /// The server's answer has broken off. The held bytes are being sent; then this answer breaks off too.
    Dying(Failure, Option<Leaving>),
    Ended,
}

enum Leaving {
    After(u64),
    At(Pin<Box<Sleep>>),
}

/// A rewriter, and the time that it has used.
struct Splitting {
    rewriter: Rewriter,
    time: Duration,
}

impl Splitting {
    fn take(&mut self, data: Option<&[u8]>) -> Result<Vec<u8>, aside::Error> {
        let begun = Instant::now();
        let mut out = Vec::new();
        match data {
            Some(data) => self.rewriter.feed(data, &mut out)?,
            None => self.rewriter.finish(&mut out)?,
        }
        self.time += begun.elapsed();
        Ok(out)
    }
}

pub struct Answer<B = Incoming> {
    source: Source<B>,
    splitting: Option<Box<Splitting>>,
    stage: Stage,
    left: Left,
    idle: Idle,
    timer: Option<Pin<Box<Sleep>>>,
    report: Option<Report>,
    /// Whether the last piece was sent. After that, hyper does not ask for the end of the body.
    is_last: bool,
}

impl<B> Answer<B> {
    pub fn new(source: Source<B>, left: Left, idle: Duration, report: Option<Report>) -> Answer<B> {
        Answer {
            source,
            splitting: None,
            stage: Stage::Moving,
            left,
            idle: Idle::new(idle),
            timer: None,
            report,
            is_last: false,
        }
    }

    /// Makes a rewriter rewrite the body.
    pub fn split(mut self, rewriter: Rewriter) -> Answer<B> {
        if let Some(report) = &self.report {
            report.metrics.streams.inc();
        }
        self.splitting = Some(Box::new(Splitting { rewriter, time: Duration::ZERO }));
        self
    }

    fn enter(&mut self, stage: Stage) {
        let end = match stage {
            Stage::Moving => None,
            Stage::Trailers(_) | Stage::Ended => Some(End::Complete),
            Stage::Dying(..) => Some(End::ServerDied),
        };
        if let (Some(report), Some(end)) = (&mut self.report, end.filter(|_| !matches!(self.source, Source::Own(_)))) {
            report.end = end;
        }
        self.stage = stage;
    }

    /// Returns the bytes to send for a piece, or for the end. Without a rewriter, these are the piece itself.
    fn through(&mut self, data: Option<Bytes>) -> Result<Bytes, Failure> {
        match &mut self.splitting {
            None => Ok(data.unwrap_or_default()),
            Some(splitting) => Ok(splitting.take(data.as_deref()).map(Bytes::from)?),
        }
    }

    /// Returns an error once the server has sent nothing for longer than the limit.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Failure> {
        loop {
            let end = self.idle.end();
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(end)));
            ready!(timer.as_mut().poll(cx));
            if end <= tokio::time::Instant::now() {
                return Poll::Ready(SILENT.into());
            }
            timer.as_mut().reset(end);
        }
    }

    fn poll_left(left: &Left, leaving: &mut Option<Leaving>, cx: &mut Context<'_>) -> Poll<()> {
        let leaving = leaving.get_or_insert_with(|| match left {
            Left::Flushed(flushes) => Leaving::After(flushes.count()),
            Left::InTime => Leaving::At(Box::pin(tokio::time::sleep(TURN))),
        });
        match (leaving, left) {
            (Leaving::After(seen), Left::Flushed(flushes)) => flushes.poll_after(*seen, cx),
            (Leaving::At(time), _) => time.as_mut().poll(cx),
            (Leaving::After(_), Left::InTime) => Poll::Ready(()),
        }
    }
}

impl<B> Body for Answer<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Failure>,
{
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let this = self.get_mut();
        loop {
            match &mut this.stage {
                Stage::Ended => return Poll::Ready(None),
                Stage::Trailers(trailers) => {
                    let trailers = mem::take(trailers);
                    this.stage = Stage::Ended;
                    return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
                }
                Stage::Dying(_, leaving) => {
                    ready!(Answer::<B>::poll_left(&this.left, leaving, cx));
                    if let Stage::Dying(failure, _) = mem::replace(&mut this.stage, Stage::Ended) {
                        return Poll::Ready(Some(Err(failure)));
                    }
                }
                Stage::Moving => {
                    let frame = match this.source.poll_frame(cx) {
                        Poll::Ready(frame) => frame,
                        Poll::Pending => Some(Err(ready!(this.poll_idle(cx)))),
                    };
                    this.idle.moved();
                    let (data, next) = match frame.map(|frame| frame.map(Frame::into_data)) {
                        Some(Ok(Ok(data))) => (Some(data), Stage::Moving),
                        Some(Ok(Err(frame))) => match frame.into_trailers() {
                            Ok(trailers) => (None, Stage::Trailers(trailers)),
                            Err(_) => continue,
                        },
                        None => (None, Stage::Ended),
                        Some(Err(failure)) => (None, Stage::Dying(failure, None)),
                    };
                    this.enter(next);
                    let data = match this.through(data) {
                        Ok(data) => data,
                        Err(failure) => {
                            this.enter(Stage::Dying(failure, None));
                            continue;
                        }
                    };
                    if !data.is_empty() {
                        this.report.iter_mut().for_each(|report| report.sends(data.len()));
                        this.is_last = this.is_end_stream();
                        return Poll::Ready(Some(Ok(Frame::data(data))));
                    }
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match (&self.splitting, &self.stage) {
            (_, Stage::Ended) => true,
            (None, Stage::Moving) => self.source.is_over(),
            _ => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.source, &self.splitting) {
            (Source::Server(body), None) => body.size_hint(),
            (Source::Own(text), None) => SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64)),
            _ => SizeHint::default(),
        }
    }
}

impl<B> Drop for Answer<B> {
    fn drop(&mut self) {
        let Some(report) = &mut self.report else { return };
        // The end of an answer of the proxy itself has already been noted.
        if self.is_last && report.end == End::ClientLeft && !matches!(self.source, Source::Own(_)) {
            report.end = End::Complete;
        }
        if let Some(splitting) = &self.splitting {
            report.metrics.streams.dec();
            report.split = Some((splitting.rewriter.stats(), splitting.time));
        }
    }
}

pub mod fuzz {
    //! Processes an answer without a network.

    use super::*;

    /// The body of a server's answer. An `Err` means that the body breaks off.
    struct Pieces(std::vec::IntoIter<Result<Vec<u8>, ()>>);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = std::io::Error;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<std::io::Result<Frame<Bytes>>>> {
            let dies = |()| std::io::Error::other("the server dies");
            Poll::Ready(self.0.next().map(|piece| piece.map(|piece| Frame::data(piece.into())).map_err(dies)))
        }
    }

    /// Processes pieces like an answer's body: decompresses them if they are compressed, and rewrites them. An `Err` means that
    /// the server's answer breaks off. Returns the bytes for the client, and whether its connection breaks off.
    pub fn through(pieces: Vec<Result<Vec<u8>, ()>>, encoding: Option<&str>, rewriter: Rewriter) -> (Vec<u8>, bool) {
        let body = Pieces(pieces.into_iter());
        let source = match encoding {
            None => Source::Server(body),
            Some(encoding) => match Decoded::new(encoding, body) {
                Ok(decoded) => Source::Decoded(decoded),
                Err(body) => Source::Server(body),
            },
        };
        let flushes = Arc::new(Flushes::default());
        let mut answer =
            Answer::new(source, Left::Flushed(Arc::clone(&flushes)), Duration::from_secs(3600), None).split(rewriter);
        let (mut out, mut died) = (Vec::new(), false);
        let mut cx = Context::from_waker(std::task::Waker::noop());
        loop {
            match Pin::new(&mut answer).poll_frame(&mut cx) {
                Poll::Pending => flushes.add(),
                Poll::Ready(None) => return (out, died),
                Poll::Ready(Some(Ok(frame))) => out.extend_from_slice(&frame.into_data().unwrap_or_default()),
                Poll::Ready(Some(Err(_))) => died = true,
            }
        }
    }
}
