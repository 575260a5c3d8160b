//! A client's connection, with features that hyper does not have: timeouts for a client that sends or reads nothing, and a way
//! for an answer that breaks off to wait until all of it has been written.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use hyper::rt::Executor;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// The first bytes from a client of HTTP/2. Until hyper knows the version of a connection, none of its timeouts runs.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Counts how often the socket has accepted all bytes that were written to a connection. The bodies of the connection's answers
/// share the count.
#[derive(Debug, Default)]
pub struct Flushes {
    count: AtomicU64,
    waiting: Mutex<Vec<Waker>>,
}

impl Flushes {
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Waits until the count differs from `seen`.
    pub fn poll_after(&self, seen: u64, cx: &mut Context<'_>) -> Poll<()> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if self.count() != seen {
            return Poll::Ready(());
        }
        waiting.push(cx.waker().clone());
        Poll::Pending
    }

    pub fn add(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        self.count.fetch_add(1, Ordering::AcqRel);
        waiting.drain(..).for_each(Waker::wake);
    }
}

/// A deadline that runs only while an operation waits.
struct Deadline {
    limit: Duration,
    running: Option<Pin<Box<Sleep>>>,
}

impl Deadline {
    fn new(limit: Duration) -> Deadline {
        Deadline { limit, running: None }
    }

    /// Notes that an operation is waiting. Returns an error once it has waited too long.
    fn poll<T>(&mut self, what: &str, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        let limit = self.limit;
        let running = self.running.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(running.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, what)))
    }

    fn stop(&mut self) {
        self.running = None;
    }
}

pub struct Socket<S> {
    stream: S,
    flushes: Arc<Flushes>,
    /// The number of bytes of the preface that were read; `None` if the client has sent other bytes.
    preface: Option<usize>,
    begin: Deadline,
    write: Deadline,
}

impl<S> Socket<S> {
    pub fn new(stream: S, flushes: Arc<Flushes>, begin: Duration, idle: Duration) -> Socket<S> {
        Socket { stream, flushes, preface: Some(0), begin: Deadline::new(begin), write: Deadline::new(idle) }
    }

    fn written<T>(&mut self, result: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        match result {
            Poll::Ready(result) => {
                self.write.stop();
                Poll::Ready(result)
            }
            Poll::Pending => self.write.poll("the client does not read", cx),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Socket<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let Some(seen) = self.preface else { return result };
        let came = &buffer.filled()[before..];
        if PREFACE[seen..].starts_with(came) && seen + came.len() < PREFACE.len() {
            self.preface = Some(seen + came.len());
        } else {
            self.preface = None;
            self.begin.stop();
        }
        match result {
            Poll::Pending => self.begin.poll("the client sends no request", cx),
            ready => ready,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Socket<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.written(result, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.written(result, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // hyper flushes after it has written all bytes, so they were all accepted.
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        self.flushes.add();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Runs the streams of an HTTP/2 connection, and ends a stream without progress after a time limit. Without this, hyper would
/// wait without a limit for a client that does not read, and would not ask the body of the answer, which has a limit.
#[derive(Clone)]
pub struct Streams {
    limit: Duration,
}

impl Streams {
    pub fn new(idle: Duration) -> Streams {
        // This limit is longer than those of bodies and requests, whose errors are more precise.
        Streams { limit: idle + Duration::from_secs(1) }
    }
}

impl<F> Executor<F> for Streams
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, stream: F) {
        let limit = self.limit;
        tokio::spawn(async move {
            let (mut stream, mut timer) = (pin!(stream), pin!(sleep(limit)));
            poll_fn(|cx| {
                if timer.as_mut().poll(cx).is_ready() {
                    // Dropping the stream resets it, and ends the request to the server.
                    return Poll::Ready(());
                }
                timer.as_mut().reset(Instant::now() + limit);
                stream.as_mut().poll(cx).map(drop)
            })
            .await;
        });
    }
}

/// The time of the last activity, for an idle limit that needs no timer for each piece.
#[derive(Debug)]
pub struct Idle {
    limit: Duration,
    since: Instant,
    /// The last activity, in milliseconds after `since`.
    last: AtomicU64,
}

impl Idle {
    pub fn new(limit: Duration) -> Idle {
        Idle { limit, since: Instant::now(), last: AtomicU64::new(0) }
    }

    /// Notes an activity.
    pub fn moved(&self) {
        self.last.store(u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Returns the time at which the idle limit will be reached.
    pub fn end(&self) -> Instant {
        self.since + Duration::from_millis(self.last.load(Ordering::Relaxed)) + self.limit
    }

    /// Waits until the idle limit is reached.
    pub async fn wait(&self) {
        while Instant::now() < self.end() {
            tokio::time::sleep_until(self.end()).await;
        }
    }
}
