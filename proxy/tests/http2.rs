//! Sends frames of HTTP/2 that no client should send, which must not affect the proxy.
//!
//! Nothing else may run in this process: a test measures its memory.

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use aside_proxy::Settings;
use common::{CHAT, Running, answer, chat, connect, run, server, settings};

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

/// Returns the headers of a request, as HPACK encodes them without a dynamic table.
fn headers() -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    [&[0x83, 0x86, 0x44][..], &text(CHAT), &[0x41], &text("me")].concat()
}

/// Begins a connection.
fn connect_http2(address: SocketAddr) -> TcpStream {
    let mut stream = connect(address);
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).unwrap();
    stream
}

/// Reads a frame. Returns its kind, flags and stream.
fn read_frame(stream: &mut TcpStream) -> (u8, u8, u32) {
    let mut head = [0; 9];
    stream.read_exact(&mut head).unwrap();
    let [first, second, third, kind, flags, number @ ..] = head;
    let len = u32::from_be_bytes([0, first, second, third]);
    stream.read_exact(&mut vec![0; len as usize]).unwrap();
    (kind, flags, u32::from_be_bytes(number))
}

#[test]
fn an_answer_before_the_end_of_its_request_resets_no_stream() {
    let upstream = server(|_, stream| answer(stream, "200 OK", common::JSON, "{}"));
    let away = SocketAddr::from(([127, 0, 0, 1], 1));
    let key = Some("CARGO_PKG_NAME".into());
    for settings in [
        settings(away),
        Settings { client_key_env: key, ..settings(upstream) },
        Settings { allowed_host: None, ..settings(upstream) },
        Settings { max_body: Some(10), ..settings(upstream) },
        Settings { max_body: Some(10), server: Some("vllm".into()), ..settings(upstream) },
    ] {
        let proxy = run(&settings);
        let mut stream = connect_http2(proxy.address);
        stream.write_all(&frame(HEADERS, END_HEADERS, 1, &headers())).unwrap();
        stream.write_all(&frame(DATA, 0, 1, &[b'x'; 20])).unwrap();
        // The answer, and the frames after it until the request ends.
        while !matches!(read_frame(&mut stream), (HEADERS | DATA, flags, 1) if flags & END_STREAM != 0) {}
        stream.write_all(&frame(DATA, END_STREAM, 1, b"x")).unwrap();
        stream.write_all(&frame(PING, 0, 0, &[0; 8])).unwrap();
        loop {
            match read_frame(&mut stream) {
                (RST_STREAM, ..) => panic!("{settings:?}"),
                (PING, ..) => break,
                _ => {}
            }
        }
    }
}

/// Sends frames until there are no more, or the proxy closes the connection.
fn flood(address: SocketAddr, frames: impl Iterator<Item = Vec<u8>>) {
    let mut stream = connect_http2(address);
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
    // The server answers slowly, so that abandoned requests of a client stay open for a while.
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
