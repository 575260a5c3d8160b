//! Writes the counts and the log line of an exchange when the report is dropped, however the exchange has ended.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use aside::sse::Stats;
use http::StatusCode;
use serde_json::{Value, json};

use crate::log;
use crate::metrics::Metrics;

/// The ways in which an exchange can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client has not read the answer to its end. This is the default.
    ClientLeft,
    Complete,
    ServerDied,
    ServerNotReached,
    Refused,
    /// The proxy has ended before the exchange.
    Drained,
}

impl End {
    fn name(self) -> &'static str {
        match self {
            End::ClientLeft => "client_left",
            End::Complete => "complete",
            End::ServerDied => "server_died",
            End::ServerNotReached => "server_not_reached",
            End::Refused => "refused",
            End::Drained => "drained",
        }
    }
}

pub struct Report {
    pub metrics: Arc<Metrics>,
    pub format: &'static str,
    /// The status of the answer, once there is an answer.
    pub status: Option<StatusCode>,
    pub begun: Instant,
    /// The members of the log line about the request and about the choice of the dialect: an object.
    pub fields: Value,
    pub end: End,
    /// The number of bytes of the answer's body.
    pub sent: u64,
    pub first: Option<Duration>,
    /// For an answer that was split: the rewriter's counts and time.
    pub split: Option<(Stats, Duration)>,
}

impl Report {
    pub fn new(metrics: Arc<Metrics>, format: &'static str, fields: Value) -> Report {
        let begun = Instant::now();
        Report { metrics, format, status: None, begun, fields, end: End::ClientLeft, sent: 0, first: None, split: None }
    }

    /// Adds bytes of the answer that were sent.
    pub fn sends(&mut self, bytes: usize) {
        self.sent += bytes as u64;
        if self.first.is_none() {
            self.first = Some(self.begun.elapsed());
        }
    }
}

/// Returns a time in seconds, to the microsecond.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e6
}

impl Drop for Report {
    fn drop(&mut self) {
        if self.end == End::ClientLeft && self.metrics.is_over.load(Ordering::Relaxed) {
            self.end = End::Drained;
        }
        let end = self.end.name();
        if self.end != End::Complete {
            self.metrics.error(end);
        }
        self.metrics.request(self.format, self.status);
        let mut fields = json!({
            "status": self.status.map(|status| status.as_u16()),
            "format": self.format,
            "bytes": self.sent,
            "seconds": seconds(self.begun.elapsed()),
            "first_byte_seconds": self.first.map(seconds),
            "end": end,
        });
        if let (Value::Object(all), Value::Object(known)) = (&mut fields, self.fields.take()) {
            all.extend(known);
        }
        if let Some((stats, time)) = &self.split {
            self.metrics.rewritten(stats, *time);
            self.first.iter().for_each(|first| self.metrics.first_byte.observe(first.as_secs_f64()));
            fields["thinking_bytes"] = stats.thinking_bytes.into();
            fields["content_bytes"] = stats.content_bytes.into();
            fields["calls"] = stats.calls.into();
            if stats.too_long + stats.unread + stats.unpromoted + stats.truncated > 0 || stats.encoded {
                // The log shows that a part of the answer was sent unread, for an operator who finds thinking in the content.
                fields["unread"] = json!({
                    "too_long": stats.too_long, "unknown": stats.unread, "unpromoted": stats.unpromoted,
                    "truncated": stats.truncated, "compressed": stats.encoded,
                });
            }
        }
        log::info("request", fields);
    }
}
