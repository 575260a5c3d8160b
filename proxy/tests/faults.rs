//! Tests servers that die, never answer or do not use HTTP, clients that leave or read slowly, and malformed requests.

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use aside_proxy::Settings;
use common::{CHAT, begin_events, chat, chunk, connect, event, front, post, read, run, said, send, server, settings};

#[test]
fn what_was_held_leaves_before_a_stream_breaks_off_as_it_did() {
    for count in 0..100 {
        // The text may be the start of a marker, and is held.
        let proxy = front(move |_, stream| {
            begin_events(stream, "");
            (0..count % 10).all(|_| chunk(stream, event("a").as_bytes()));
            chunk(stream, event("b <thi").as_bytes());
            false
        });
        let answer = chat(proxy.address);
        assert!(!answer.is_whole, "a clean end");
        assert_eq!(said(answer.text()), format!("|{}b <thi", "a".repeat(count % 10)));
    }
}

/// Checks that a slow client receives everything that a server sent before it died.
#[test]
fn a_slow_client_gets_all_before_the_end() {
    let proxy = front(|_, stream| {
        begin_events(stream, "");
        (0..20_000).all(|_| chunk(stream, event(&"x".repeat(400)).as_bytes()));
        chunk(stream, event("<thi").as_bytes());
        false
    });
    let mut stream = connect(proxy.address);
    stream.write_all(&post(CHAT, "", "{}")).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let answer = read(&stream).unwrap();
    assert!(!answer.is_whole);
    let said = said(answer.text());
    assert!(said.len() == 1 + 20_000 * 400 + 4 && said.ends_with("x<thi"), "{}", said.len());
}

#[test]
fn a_server_that_sends_half_a_body_ends_no_answer() {
    let proxy = front(|_, stream| {
        let _ = write!(stream, "HTTP/1.1 200 OK\r\n{}content-length: 999\r\n\r\n{{\"choices\":[", common::JSON);
        false
    });
    let answer = chat(proxy.address);
    assert_eq!((answer.text(), answer.is_whole), ("{\"choices\":[", false));
}

fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[test]
fn the_errors_of_the_proxy_have_the_shape_of_the_api() {
    let proxy = run(&settings(nobody()));
    for (path, place) in [
        (CHAT, "/error/message"),
        ("/v1/responses", "/error/message"),
        ("/v1/messages", "/error/message"),
        ("/api/chat", "/error"),
        ("/elsewhere", "/error/message"),
    ] {
        let answer = send(proxy.address, &post(path, "", "{}")).unwrap();
        let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(body.pointer(place).unwrap(), "the model's server cannot be reached", "{path}");
        assert_eq!((answer.status(), answer.all("content-type")), (502, vec!["application/json"]));
        assert_eq!(answer.all("x-request-id").len(), 1);
    }
}

#[test]
fn a_server_that_speaks_something_else_or_closes() {
    for said in
        [&b"SSH-2.0-OpenSSH\r\n"[..], b"", b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n", b"\x15\x03\x01\x00\x02\x02\x16"]
    {
        let proxy = front(move |_, stream| {
            let _ = stream.write_all(said);
            false
        });
        let answer = chat(proxy.address);
        assert_eq!(answer.status(), 502, "{said:?}");
        assert!(answer.text().contains("not HTTP, before an answer"), "{}", answer.text());
    }
    // The proxy does not read an endless head forever.
    let proxy = front(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream.write_all(&[b"x: ", &[b'y'; 4000][..], b"\r\n"].concat()).is_ok() {}
        false
    });
    assert_eq!(chat(proxy.address).status(), 502);
}

#[test]
fn no_request_is_sent_twice() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let proxy = front(move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        false
    });
    assert_eq!(chat(proxy.address).status(), 502);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn a_server_that_never_answers_or_stops() {
    let upstream = server(|request, stream| {
        if request.path().starts_with("/v1/messages") {
            begin_events(stream, "");
            chunk(stream, b": hi\n\n");
        }
        std::thread::sleep(Duration::from_secs(4));
        false
    });
    let proxy = run(&Settings { idle_timeout: Some(1), ..settings(upstream) });
    let begun = Instant::now();
    let answer = chat(proxy.address);
    assert_eq!(answer.status(), 504, "{}", answer.text());
    let answer = send(proxy.address, &post("/v1/messages", "", "{}")).unwrap();
    assert_eq!((answer.status(), answer.text(), answer.is_whole), (200, ": hi\n\n", false));
    assert!(begun.elapsed() < Duration::from_secs(4));
}

#[test]
fn when_the_client_leaves_the_servers_request_ends() {
    let (ended, end) = mpsc::channel();
    let proxy = front(move |request, stream| {
        if request.path().ends_with("/messages") {
            // Here the client leaves before the head of an answer.
            ended.send(stream.read(&mut [0; 1]).unwrap_or(0) == 0).unwrap();
            return false;
        }
        begin_events(stream, "");
        while chunk(stream, event("x").as_bytes()) {
            std::thread::sleep(Duration::from_millis(2));
        }
        ended.send(true).unwrap();
        false
    });
    let mut stream = connect(proxy.address);
    stream.write_all(&post(CHAT, "", "{}")).unwrap();
    stream.read_exact(&mut [0; 400]).unwrap();
    drop(stream);
    assert!(end.recv_timeout(Duration::from_secs(5)).unwrap());
    let mut stream = connect(proxy.address);
    stream.write_all(&post("/v1/messages", "", "{}")).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    drop(stream);
    assert!(end.recv_timeout(Duration::from_secs(5)).unwrap());
}

#[test]
fn a_client_that_reads_slowly_slows_the_server() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let upstream = server(move |_, stream| {
        begin_events(stream, "");
        while chunk(stream, event(&"x".repeat(8000)).as_bytes()) {
            counted.fetch_add(8000, Ordering::SeqCst);
        }
        false
    });
    let proxy = run(&Settings { idle_timeout: Some(2), ..settings(upstream) });
    let mut stream = connect(proxy.address);
    stream.write_all(&post(CHAT, "", "{}")).unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let before = sent.load(Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(500));
    // The buffers of the sockets are full, so there is no progress.
    assert_eq!(sent.load(Ordering::SeqCst), before);
    assert!(before < 64 << 20, "{before} bytes are somewhere");
    // A client that reads nothing for too long loses its connection.
    std::thread::sleep(Duration::from_secs(2));
    let mut all = Vec::new();
    let end = stream.read_to_end(&mut all);
    assert!(end.is_err() || !all.ends_with(b"0\r\n\r\n"));
}

#[test]
fn a_client_of_http2_that_stops_reading_does_not_keep_the_server() {
    use bytes::Bytes;
    use http_body_util::{BodyExt, Full};
    use hyper_util::client::legacy::Client;
    use hyper_util::rt::TokioExecutor;

    let (leaves, left) = mpsc::channel();
    let upstream = server(move |request, stream| {
        begin_events(stream, "");
        if request.body == b"short" {
            return stream.write_all(b"0\r\n\r\n").is_ok();
        }
        while chunk(stream, event(&"x".repeat(10_000)).as_bytes()) {}
        let _ = leaves.send(());
        false
    });
    let proxy = run(&Settings { idle_timeout: Some(1), ..settings(upstream) });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).http2_only(true).build_http();
    let ask = |body: &'static str| {
        let uri = format!("http://{}{CHAT}", proxy.address);
        client.request(http::Request::post(uri).body(Full::from(body)).unwrap())
    };
    let unread = runtime.block_on(ask("{}")).unwrap();
    left.recv_timeout(Duration::from_secs(15)).expect("the server's request goes on");
    // The other streams of the connection, and later ones, are not affected.
    let answer = runtime.block_on(async { ask("short").await.unwrap().collect().await });
    assert!(answer.is_ok(), "{answer:?}");
    // The answer never looks complete.
    assert!(runtime.block_on(unread.collect()).is_err());
}

#[test]
fn what_is_too_long_is_refused() {
    let upstream = server(|_, stream| common::answer(stream, "200 OK", common::JSON, "{}"));
    let proxy = run(&Settings { max_body: Some(1000), max_header: Some(8192), ..settings(upstream) });
    let long = "x".repeat(1001);
    let answer = send(proxy.address, &post(CHAT, "", &long)).unwrap();
    assert_eq!(answer.status(), 413);
    assert!(answer.text().contains("longer than 1000 bytes (max-body of the proxy)"), "{}", answer.text());
    // A request whose length is not known in advance.
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: me\r\ntransfer-encoding: chunked\r\n\r\n3e9\r\n{long}\r\n0\r\n\r\n"
    );
    let answer = send(proxy.address, head.as_bytes()).unwrap();
    assert_eq!(answer.status(), 413);
    assert!(answer.text().contains("request_too_large"), "{}", answer.text());
    assert_eq!(send(proxy.address, &post(CHAT, "", &long[1..])).unwrap().status(), 200);
    let head = format!("GET / HTTP/1.1\r\nhost: me\r\nx: {}\r\n\r\n", "y".repeat(20_000));
    assert_eq!(send(proxy.address, head.as_bytes()).unwrap().status(), 431);
}

#[test]
fn an_event_that_is_too_long_passes() {
    let long = event(&format!("<think>{}", "x".repeat(5000)));
    let served = long.clone();
    let upstream = server(move |_, stream| {
        begin_events(stream, "");
        chunk(stream, served.as_bytes());
        chunk(stream, event("<think>hm").as_bytes());
        stream.write_all(b"0\r\n\r\n").is_ok()
    });
    let proxy = run(&Settings { max_event: Some(1000), ..settings(upstream) });
    let answer = chat(proxy.address);
    assert!(answer.text().starts_with(&long) && answer.text().contains("\"reasoning_content\":\"hm\""));
}

/// Checks a client that sends nothing, half a preface, or half a head.
#[test]
fn a_client_that_sends_no_request_loses_its_connection() {
    let upstream = server(|_, stream| common::answer(stream, "200 OK", common::JSON, "{}"));
    let proxy = run(&Settings { connect_timeout: Some(1), ..settings(upstream) });
    for sent in [&b""[..], b"PRI * HT", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r", b"POST / HTTP/1.1\r\nhost:"] {
        let mut stream = connect(proxy.address);
        stream.write_all(sent).unwrap();
        let begun = Instant::now();
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        assert!(begun.elapsed() < Duration::from_secs(5), "{sent:?}");
    }
}

/// Returns all requests that the server received for a client's bytes.
fn smuggled(sent: &[u8]) -> (Vec<String>, Vec<u8>) {
    let (saw, seen) = mpsc::channel();
    let proxy = front(move |request, stream| {
        saw.send(format!("{}{}", request.head, String::from_utf8_lossy(&request.body))).unwrap();
        common::answer(stream, "200 OK", common::JSON, "{}")
    });
    let mut stream = connect(proxy.address);
    stream.set_read_timeout(Some(Duration::from_millis(400))).unwrap();
    stream.write_all(sent).unwrap();
    let mut answers = Vec::new();
    let _ = stream.read_to_end(&mut answers);
    (seen.try_iter().collect(), answers)
}

#[test]
fn requests_that_two_readers_would_cut_differently() {
    let hidden = "GET /hidden HTTP/1.1\r\nhost: me\r\n\r\n";
    let head = |lines: &str| format!("POST /v1/x HTTP/1.1\r\nhost: me\r\n{lines}\r\n");
    let len = hidden.len();
    for (sent, why) in [
        (head("content-length: 0\r\ncontent-length: 5\r\n") + "12345", "two lengths"),
        (head("content-length: +5\r\n") + "12345", "a length with a sign"),
        (head("content-length: 5, 5\r\n") + "12345", "a list of lengths"),
        (head("transfer-encoding: chunked, identity\r\n") + "0\r\n\r\n", "chunked is not last"),
        (head("transfer-encoding: xchunked\r\n") + "0\r\n\r\n", "another encoding"),
        (head("transfer-encoding : chunked\r\n") + "0\r\n\r\n", "a blank before the colon"),
        (head("x: 1\r\n folded\r\n"), "a folded line"),
        (head("transfer-encoding: chunked\r\n") + "5;\nx\r\n12345\r\n0\r\n\r\n", "a line feed in an extension"),
        (head("transfer-encoding: chunked\r\n") + "-1\r\n", "a negative chunk"),
        (head("transfer-encoding: chunked\r\n") + "fffffffffffffffff\r\n", "a chunk too long for a number"),
        ("GET / HTTP/1.1\rhost: me\r\n\r\n".to_owned(), "a bare carriage return"),
        ("GET  / HTTP/1.1\r\n\r\n".to_owned(), "two blanks"),
        ("CONNECT other:443 HTTP/1.1\r\nhost: other\r\n\r\n".to_owned(), "a tunnel"),
        ("OPTIONS * HTTP/1.1\r\nhost: me\r\n\r\n".to_owned(), "no path"),
    ] {
        let (requests, answers) = smuggled(sent.as_bytes());
        assert!(
            requests.iter().all(|request| !request.contains("12345") || request.contains("\r\n\r\n12345")),
            "{why}: {requests:?}"
        );
        assert!(requests.is_empty() || !answers.starts_with(b"HTTP/1.1 200"), "{why}: {requests:?}");
    }
    // With both a length and chunks, the chunks are the body, and the server gets only one kind of framing.
    for lines in
        ["transfer-encoding: chunked\r\ncontent-length: 4\r\n", "content-length: 4\r\ntransfer-encoding: chunked\r\n"]
    {
        let (requests, _) = smuggled(format!("{}{:x}\r\n{hidden}\r\n0\r\n\r\n", head(lines), len).as_bytes());
        assert!(
            requests.len() <= 1 && requests.iter().all(|request| request.starts_with("POST /v1/x ")),
            "{requests:?}"
        );
        assert!(
            requests.iter().all(|request| !(request.contains("content-length") && request.contains("chunked"))),
            "{requests:?}"
        );
    }
    // The body of a request is never read as the head of the next.
    let (requests, _) = smuggled(format!("{}{hidden}", head(&format!("content-length: {len}\r\n"))).as_bytes());
    assert_eq!(requests.len(), 1);
    // A host in the request line does not change the server.
    let (requests, _) = smuggled(b"GET http://127.0.0.9/x HTTP/1.1\r\nhost: 127.0.0.9\r\n\r\n");
    assert!(requests[0].starts_with("GET /x HTTP/1.1\r\n") && requests[0].contains("host: 127.0.0.1:"), "{requests:?}");
}

/// Checks server answers of which the next client must not receive a part.
#[test]
fn answers_that_two_readers_would_cut_differently() {
    for lines in [
        "content-length: 5\r\ncontent-length: 9\r\n",
        "content-length: 2\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 2\r\n",
    ] {
        let proxy = front(move |_, stream| {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n{lines}\r\n");
            let _ = stream.write_all(
                (head + "5\r\nhello\r\n0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad").as_bytes(),
            );
            true
        });
        for _ in 0..2 {
            let answer = send(proxy.address, b"GET /x HTTP/1.1\r\nhost: me\r\n\r\n").unwrap();
            assert!(answer.status() == 502 || answer.text() == "hello", "{lines}: {answer:?}");
            assert!(
                !(answer.all("content-length").len() == 1 && answer.all("transfer-encoding").len() == 1),
                "{lines}: {answer:?}"
            );
        }
    }
}

#[test]
fn many_streams_at_once_leave_nothing_behind() {
    let proxy = front(|_, stream| {
        begin_events(stream, "");
        let done = (0..50).all(|_| chunk(stream, event("x").as_bytes()));
        done && stream.write_all(b"0\r\n\r\n").is_ok()
    });
    let address = proxy.address;
    let threads: Vec<_> = (0..40)
        .map(|number| {
            std::thread::spawn(move || {
                for _ in 0..10 {
                    if number % 4 == 0 {
                        let mut stream: TcpStream = connect(address);
                        stream.write_all(&post(CHAT, "", "{}")).unwrap();
                        let _ = stream.read(&mut [0; 10]);
                        continue;
                    }
                    let answer = chat(address);
                    assert_eq!((said(answer.text()), answer.is_whole), (format!("|{}", "x".repeat(50)), true));
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    proxy.end();
}
