//! The proxy under load: thousands of streams over a reload and a drain, and floods of HTTP/2 frames, which must leave the proxy as
//! it was.

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aside_proxy::Settings;
use bytes::Bytes;
use common::{CHAT, Running, answer, chat, connect, event, run, said, server, settings};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;

/// The most streams, and those of one connection of a client.
const STREAMS: usize = 5000;
const OF_A_CONNECTION: usize = 100;

/// Returns the number of streams for which this process may open enough files: three sockets each, at most.
fn streams() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let files: usize = files.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(1024);
    STREAMS.min(files.saturating_sub(200) / 3 / OF_A_CONNECTION * OF_A_CONNECTION).max(OF_A_CONNECTION)
}

/// Runs a server of which each answer has three events. It sends the next one when the phase has come to its number.
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
    // The streams that are open keep their settings.
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

/// Returns a frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let len = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&len[1..], &[kind, flags], &stream.to_be_bytes()[..], payload].concat()
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// Returns the headers of a request, without compression but for the static table.
fn headers() -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    [&[0x83, 0x86, 0x44][..], &text(CHAT), &[0x41], &text("me")].concat()
}

/// Sends frames until there are no more, or the proxy closes the connection.
fn flood(address: SocketAddr, frames: impl Iterator<Item = Vec<u8>>) {
    let mut stream: TcpStream = connect(address);
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).unwrap();
    let mut reader = stream.try_clone().unwrap();
    let reading = std::thread::spawn(move || {
        let mut buffer = [0; 1 << 16];
        while reader.read(&mut buffer).is_ok_and(|len| len > 0) {}
    });
    for frame in frames {
        if stream.write_all(&frame).is_err() {
            break;
        }
    }
    let _ = stream.shutdown(std::net::Shutdown::Both);
    reading.join().unwrap();
}

/// Returns the bytes of memory that the process has.
fn memory() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn floods_of_frames_leave_the_proxy_as_it_was() {
    const COUNT: u32 = 50_000;
    // It takes its time, so that what a client asks and gives up stays for a while.
    let upstream = server(|request, stream| {
        std::thread::sleep(Duration::from_millis(if request.body.is_empty() { 200 } else { 0 }));
        answer(stream, "200 OK", common::JSON, r#"{"choices":[{"message":{"content":"<think>a</think>b"}}]}"#)
    });
    let proxy: Running = run(&settings(upstream));
    fn stream(number: u32) -> u32 {
        2 * number + 1
    }
    let open = |number, flags| frame(HEADERS, flags, stream(number), &headers());
    type Frames = Box<dyn Iterator<Item = Vec<u8>>>;
    let floods: [(&str, Frames); 7] = [
        ("requests that are given up at once", {
            let give_up = move |number| frame(RST_STREAM, 0, stream(number), &8_u32.to_be_bytes());
            Box::new((0..COUNT).map(move |number| [open(number, END_STREAM | END_HEADERS), give_up(number)].concat()))
        }),
        ("requests without an end", Box::new((0..COUNT).map(move |number| open(number, END_HEADERS)))),
        ("pings", Box::new((0..COUNT).map(|_| frame(PING, 0, 0, &[0; 8])))),
        ("settings", Box::new((0..COUNT).map(|_| frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0])))),
        ("empty data", {
            let data = (0..COUNT).map(move |_| frame(DATA, 0, stream(0), &[]));
            Box::new(std::iter::once(open(0, END_HEADERS)).chain(data))
        }),
        ("headers without an end", {
            let more = (0..COUNT / 10).map(move |_| frame(CONTINUATION, 0, stream(0), &[0x40; 4096]));
            Box::new(std::iter::once(open(0, 0)).chain(more))
        }),
        ("windows", {
            let windows = (0..COUNT).map(move |_| frame(WINDOW_UPDATE, 0, stream(0), &1_u32.to_be_bytes()));
            Box::new(std::iter::once(open(0, END_HEADERS)).chain(windows))
        }),
    ];
    let before = memory();
    for (what, frames) in floods {
        flood(proxy.address, frames);
        assert!(chat(proxy.address).text().contains(r#""reasoning_content":"a","content":"b""#), "{what}");
        let more = memory().saturating_sub(before) >> 20;
        assert!(more < 128, "{what}: {more} MiB more");
        println!("{what}: {more} MiB more");
    }
    proxy.end();
}
