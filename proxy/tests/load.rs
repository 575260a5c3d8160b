//! Tests the proxy under load: thousands of streams during a reload and a drain.

mod common;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aside_proxy::{Config, Proxy, Settings};
use bytes::Bytes;
use common::{CHAT, event, run, said, settings};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;

/// The maximum number of streams in total, and in one connection of a client.
const STREAMS: usize = 5000;
const OF_A_CONNECTION: usize = 100;

/// Returns the number of streams for which this process may open enough files: three sockets each, at most.
fn streams() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let files: usize = files.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(1024);
    STREAMS.min(files.saturating_sub(200) / 3 / OF_A_CONNECTION * OF_A_CONNECTION).max(OF_A_CONNECTION)
}

/// Runs a server whose answers have three events each. It sends an event when the phase has reached the event's number.
async fn serve(begun: Arc<AtomicUsize>, phase: watch::Receiver<usize>) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (begun, mut phase) = (Arc::clone(&begun), phase.clone());
            tokio::spawn(async move {
                let mut read = Vec::new();
                while !read.ends_with(b"{}") {
                    assert_ne!(stream.read_buf(&mut read).await.unwrap(), 0);
                }
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
                stream.write_all(head.as_bytes()).await.unwrap();
                for (number, text) in ["<think>a", "</think>b", "c"].into_iter().enumerate() {
                    phase.wait_for(|phase| *phase >= number).await.unwrap();
                    stream.write_all(event(text).as_bytes()).await.unwrap();
                    if number == 0 {
                        begun.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    address
}

/// Checks that clients that connect at once wait to be accepted. A client that finds no room tries again only after a second.
#[test]
#[cfg(target_os = "linux")]
fn many_clients_connect_at_once() {
    let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
    let most: usize = most.trim().parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let nobody = SocketAddr::from(([127, 0, 0, 1], 9));
        let proxy = Proxy::start(Config::new(&settings(nobody)).unwrap()).unwrap();
        // This thread is the only one, so nothing is accepted meanwhile.
        let connect = |_| std::net::TcpStream::connect_timeout(&proxy.address, Duration::from_millis(500)).unwrap();
        assert!((0..most.min(500)).map(connect).collect::<Vec<_>>().len() > 100);
    });
}

#[test]
fn thousands_of_streams_outlive_a_reload_and_a_drain() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (begun, (next, phase)) = (Arc::new(AtomicUsize::new(0)), watch::channel(0));
    let upstream = runtime.block_on(serve(Arc::clone(&begun), phase));
    let mut proxy = run(&settings(upstream));
    let url = format!("http://{}{CHAT}", proxy.address);
    let count = streams();
    let asked: Vec<_> = (0..count / OF_A_CONNECTION)
        .map(|_| Client::builder(TokioExecutor::new()).http2_only(true).build_http::<Full<Bytes>>())
        .flat_map(|client| (0..OF_A_CONNECTION).map(move |_| client.clone()))
        .map(|client| {
            let request = http::Request::post(&url).body(Full::from("{}")).unwrap();
            runtime.spawn(async move {
                let body = client.request(request).await.unwrap().into_body().collect().await.unwrap();
                said(std::str::from_utf8(&body.to_bytes()).unwrap())
            })
        })
        .collect();
    while begun.load(Ordering::Relaxed) < count {
        assert!(!asked.iter().any(tokio::task::JoinHandle::is_finished), "a stream has ended early");
        std::thread::sleep(Duration::from_millis(10));
    }
    // Open streams keep their settings.
    proxy.reload(&Settings { dialect: Some("granite-3.2".into()), ..settings(upstream) });
    next.send(1).unwrap();
    proxy.begin_end();
    next.send(2).unwrap();
    for stream in asked {
        assert_eq!(runtime.block_on(stream).unwrap(), "a|bc");
    }
    proxy.end();
    println!("{count} streams");
}
