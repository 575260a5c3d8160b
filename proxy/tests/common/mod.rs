//! Code that the proxy's tests share: a scripted server, the proxy in front of it, and a client that records every byte.
#![allow(dead_code, reason = "each test file uses a part")]

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use aside_proxy::{Config, Proxy, Settings};
use tokio::runtime::Runtime;

/// A request as the server receives it.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub head: String,
    pub body: Vec<u8>,
}

impl Request {
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// Returns the values of a header.
    pub fn all(&self, name: &str) -> Vec<&str> {
        values(&self.head, name)
    }
}

fn values<'a>(head: &'a str, name: &str) -> Vec<&'a str> {
    let pairs = head.lines().filter_map(|line| line.split_once(": "));
    pairs.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
}

/// Reads a head, up to its empty line.
fn head(from: &mut impl BufRead) -> Option<String> {
    let mut head = String::new();
    loop {
        let before = head.len();
        if from.read_line(&mut head).ok()? == 0 {
            return None;
        }
        if &head[before..] == "\r\n" {
            return Some(head);
        }
    }
}

/// Reads a body according to its head. Returns the body, and whether it is complete.
fn body(head: &str, from: &mut impl BufRead) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    if values(head, "transfer-encoding").contains(&"chunked") {
        loop {
            let mut line = String::new();
            if from.read_line(&mut line).unwrap_or(0) == 0 {
                return (body, false);
            }
            let len = usize::from_str_radix(line.trim(), 16).expect("the length of a chunk");
            let mut chunk = vec![0; len + 2];
            if from.read_exact(&mut chunk).is_err() {
                return (body, false);
            }
            if len == 0 {
                return (body, true);
            }
            body.extend_from_slice(&chunk[..len]);
        }
    }
    if let Some(len) = values(head, "content-length").first() {
        body.resize(len.parse().unwrap(), 0);
        let is_whole = from.read_exact(&mut body).is_ok();
        return (body, is_whole);
    }
    if head.starts_with("HTTP/") {
        let _ = from.read_to_end(&mut body);
    }
    (body, true)
}

/// Runs a server that calls `answer` for each request, and keeps the connection while `answer` returns true.
pub fn server(answer: impl Fn(&Request, &mut TcpStream) -> bool + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, answer) = (stream.unwrap(), Arc::clone(&answer));
            std::thread::spawn(move || {
                stream.set_nodelay(true).unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                while let Some(head) = head(&mut reader) {
                    let (body, _) = body(&head, &mut reader);
                    if !answer(&Request { head, body }, &mut stream) {
                        break;
                    }
                }
            });
        }
    });
    address
}

/// Writes the head of a stream of events, with additional lines.
pub fn begin_events(stream: &mut TcpStream, lines: &str) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n";
    let _ = write!(stream, "{head}{lines}\r\n");
}

pub fn chunk(stream: &mut TcpStream, data: &[u8]) -> bool {
    let framed = [format!("{:x}\r\n", data.len()).as_bytes(), data, b"\r\n"].concat();
    stream.write_all(&framed).is_ok()
}

/// Writes an answer that is not a stream.
pub fn answer(stream: &mut TcpStream, status: &str, lines: &str, body: &str) -> bool {
    write!(stream, "HTTP/1.1 {status}\r\n{lines}content-length: {}\r\n\r\n{body}", body.len()).is_ok()
}

pub const JSON: &str = "content-type: application/json\r\n";

/// A proxy, with the threads that it runs on.
pub struct Running {
    pub address: SocketAddr,
    pub admin: Option<SocketAddr>,
    proxy: Option<Proxy>,
    ending: Option<tokio::task::JoinHandle<()>>,
    runtime: Runtime,
}

impl Running {
    /// Applies new settings, as at SIGHUP.
    pub fn reload(&self, settings: &Settings) {
        let _entered = self.runtime.enter();
        self.proxy.as_ref().unwrap().reload(Config::new(settings).unwrap()).unwrap();
    }

    /// Sends a request to the operators' listener.
    pub fn asks_admin(&self, path: &str) -> Answer {
        send(self.admin.unwrap(), format!("GET {path} HTTP/1.1\r\nhost: me\r\n\r\n").as_bytes()).unwrap()
    }

    /// Ends the proxy as a signal would.
    pub fn end(mut self) {
        if self.ending.is_none() {
            self.begin_end();
        }
        self.runtime.block_on(self.ending.take().unwrap()).unwrap();
    }

    /// Begins to end.
    pub fn begin_end(&mut self) {
        self.ending = Some(self.runtime.spawn(self.proxy.take().unwrap().end()));
    }
}

pub fn settings(upstream: SocketAddr) -> Settings {
    Settings {
        upstream: Some(format!("http://{upstream}").into()),
        allowed_host: Some(vec!["me".into()]),
        listen: Some("127.0.0.1:0".into()),
        dialect: Some("qwen3".into()),
        ..Settings::default()
    }
}

pub fn run(settings: &Settings) -> Running {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let config = Config::new(settings).unwrap();
    let proxy = runtime.block_on(async { Proxy::start(config).unwrap() });
    Running { address: proxy.address, admin: proxy.admin, proxy: Some(proxy), ending: None, runtime }
}

/// Runs a proxy in front of a server.
pub fn front(answer: impl Fn(&Request, &mut TcpStream) -> bool + Send + Sync + 'static) -> Running {
    run(&settings(server(answer)))
}

/// An answer as the client receives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub head: String,
    pub body: Vec<u8>,
    /// Whether the answer ended properly, or broke off.
    pub is_whole: bool,
}

impl Answer {
    pub fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    pub fn all(&self, name: &str) -> Vec<&str> {
        values(&self.head, name)
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Reads an answer.
pub fn read(stream: &TcpStream) -> Option<Answer> {
    read_from(stream.try_clone().unwrap())
}

pub fn read_from(stream: impl std::io::Read) -> Option<Answer> {
    let mut reader = BufReader::new(stream);
    let head = head(&mut reader)?;
    let (body, is_whole) = body(&head, &mut reader);
    Some(Answer { head, body, is_whole })
}

/// Sends bytes, and reads the answer.
pub fn send(address: SocketAddr, bytes: &[u8]) -> Option<Answer> {
    let mut stream = connect(address);
    stream.write_all(bytes).unwrap();
    read(&stream)
}

/// Returns the bytes of a request, with additional lines in its head.
pub fn post(path: &str, lines: &str, body: &str) -> Vec<u8> {
    let len = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: me\r\ncontent-type: application/json\r\n{lines}content-length: {len}\r\n\r\n"
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

pub const CHAT: &str = "/v1/chat/completions";

/// Requests a stream of chat completions.
pub fn chat(address: SocketAddr) -> Answer {
    send(address, &post(CHAT, "", r#"{"stream":true}"#)).expect("an answer")
}

/// Returns an event of chat completions.
pub fn event(text: &str) -> String {
    let text = serde_json::Value::from(text);
    format!("data: {{\"id\":\"c1\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{text}}}}}]}}\n\n")
}

/// Joins the deltas of a stream of chat completions: the thinking, a bar, the content.
pub fn said(stream: &str) -> String {
    let (mut thinking, mut content) = (String::new(), String::new());
    for data in stream.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let Ok(chunk) = serde_json::from_str::<serde_json::Value>(data) else { continue };
        let delta = &chunk["choices"][0]["delta"];
        thinking += delta["reasoning_content"].as_str().unwrap_or_default();
        content += delta["content"].as_str().unwrap_or_default();
    }
    format!("{thinking}|{content}")
}

pub fn spoken() -> String {
    event("<thi") + &event("nk>\nTwice 21.\n") + &event("</think>\n\nIt is 42 – é.")
}

pub const EXPECTED: &str = "Twice 21.|It is 42 – é.";
