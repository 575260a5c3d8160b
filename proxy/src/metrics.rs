//! Counters for `/metrics`. The values of their labels come from fixed lists, so that clients cannot make new ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use aside::sse::Stats;
use http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct Request {
    format: &'static str,
    status: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct Kind {
    kind: &'static str,
}

/// All counters.
pub struct Metrics {
    registry: Registry,
    pub requests: Family<Request, Counter>,
    pub streams: Gauge,
    pub bytes: Family<Kind, Counter>,
    pub events: Family<Kind, Counter>,
    pub calls: Counter,
    pub errors: Family<Kind, Counter>,
    pub first_byte: Histogram,
    pub rewriter: Counter<f64, AtomicU64>,
    /// Whether the proxy ends all open exchanges.
    pub is_over: AtomicBool,
}

impl Metrics {
    pub fn new() -> Arc<Metrics> {
        let mut registry = Registry::with_prefix("aside");
        let metrics = Metrics {
            requests: Family::default(),
            streams: Gauge::default(),
            bytes: Family::default(),
            events: Family::default(),
            calls: Counter::default(),
            errors: Family::default(),
            first_byte: Histogram::new(exponential_buckets(0.005, 2.0, 16)),
            rewriter: Counter::default(),
            is_over: AtomicBool::new(false),
            registry: Registry::default(),
        };
        registry.register(
            "requests",
            "Requests, by the format of their path and the class of their status",
            metrics.requests.clone(),
        );
        registry.register("streams_open", "Answers that are being split now", metrics.streams.clone());
        registry.register("text_bytes", "Bytes of text that were sent, by channel", metrics.bytes.clone());
        registry.register(
            "events",
            "Events and bodies that were read, by what was done with them",
            metrics.events.clone(),
        );
        registry.register("calls", "Tool calls of texts that were sent as calls", metrics.calls.clone());
        registry.register("errors", "Exchanges that did not end well, by why", metrics.errors.clone());
        let help = "Seconds from a request to the first byte of its answer, for answers that are split";
        registry.register("first_byte_seconds", help, metrics.first_byte.clone());
        registry.register("rewriter_seconds", "Seconds that were spent in the rewriter", metrics.rewriter.clone());
        Arc::new(Metrics { registry, ..metrics })
    }

    pub fn request(&self, format: &'static str, status: Option<StatusCode>) {
        let status = match status.map_or(0, |status| status.as_u16() / 100) {
            0 => "none",
            1 => "1xx",
            2 => "2xx",
            3 => "3xx",
            4 => "4xx",
            _ => "5xx",
        };
        self.requests.get_or_create(&Request { format, status }).inc();
    }

    pub fn error(&self, kind: &'static str) {
        self.errors.get_or_create(&Kind { kind }).inc();
    }

    /// Adds the counts and the time of a rewriter.
    pub fn rewritten(&self, stats: &Stats, time: Duration) {
        self.rewriter.inc_by(time.as_secs_f64());
        for (kind, count) in [("thinking", stats.thinking_bytes), ("content", stats.content_bytes)] {
            self.bytes.get_or_create(&Kind { kind }).inc_by(count);
        }
        self.calls.inc_by(stats.calls);
        let events = [
            ("read", stats.events),
            ("changed", stats.changed),
            ("added", stats.added),
            ("repaired", stats.repaired),
            ("too_long", stats.too_long),
            ("unread", stats.unread),
            ("split_by_server", stats.split_by_server),
            ("contradicted", stats.contradicted),
        ];
        for (kind, count) in events {
            self.events.get_or_create(&Kind { kind }).inc_by(count);
        }
    }

    /// Returns all metrics in the text format of OpenMetrics.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
