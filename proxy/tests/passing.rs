//! Tests everything that is forwarded unchanged: headers, other paths, HTTP/2, WebSockets, TLS to the server; and the operators'
//! metrics.

mod common;

use std::io::{Read, Write};
use std::sync::{Arc, mpsc};

use aside_proxy::{Config, Settings};
use bytes::Bytes;
use common::{
    CHAT, EXPECTED, JSON, Request, Running, answer, begin_events, chat, chunk, connect, event, front, post, read, run,
    said, send, server, settings, spoken,
};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;

/// Starts a proxy in front of a server whose answers show its requests.
fn shown() -> (Running, mpsc::Receiver<Request>) {
    let (show, requests) = mpsc::channel();
    let proxy = front(move |request, stream| {
        show.send(request.clone()).unwrap();
        answer(stream, "201 Created", "x-own: 1\r\nconnection: x-hop\r\nx-hop: 1\r\netag: \"7\"\r\n", "hello")
    });
    (proxy, requests)
}

#[test]
fn other_paths_pass_as_they_are() {
    let (proxy, requests) = shown();
    let lines = "x-forwarded-for: 9.9.9.9\r\nauthorization: Bearer k\r\naccept-encoding: gzip\r\nconnection: close, x-mine\r\nx-mine: 1\r\n\
                 traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\nx-request-id: mine\r\nte: trailers\r\n\
                 expect: 100-continue\r\n";
    // The interim answer arrives first.
    let mut stream = connect(proxy.address);
    stream.write_all(&post("/v1/embeddings?x=%2f", lines, "{}")).unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    let all = all.strip_prefix("HTTP/1.1 100 Continue\r\n\r\n").unwrap_or(&all);
    assert!(all.starts_with("HTTP/1.1 201 Created\r\n") && all.ends_with("\r\n\r\nhello"), "{all}");
    for line in ["x-own: 1", "x-request-id: mine", "etag: \"7\"", "content-length: 5"] {
        assert!(all.contains(&format!("{line}\r\n")), "{line}: {all}");
    }
    assert!(!all.contains("x-hop") && !all.contains("x-aside-dialect"), "{all}");
    let request = requests.recv().unwrap();
    assert_eq!(request.path(), "/v1/embeddings?x=%2f");
    assert_eq!(request.body, b"{}");
    for (name, value) in [
        ("x-forwarded-for", "9.9.9.9, 127.0.0.1"),
        ("x-forwarded-host", "me"),
        ("x-forwarded-proto", "http"),
        ("authorization", "Bearer k"),
        ("accept-encoding", "gzip"),
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ("x-request-id", "mine"),
        ("via", "1.1 aside"),
        ("content-length", "2"),
    ] {
        assert_eq!(request.all(name), [value], "{name}");
    }
    assert!(request.all("host")[0].starts_with("127.0.0.1:"));
    for name in ["x-mine", "te", "expect", "connection", "transfer-encoding"] {
        assert!(request.all(name).is_empty(), "{name}: {}", request.head);
    }
}

#[test]
fn preflights_and_heads_pass() {
    let proxy = front(|request, stream| {
        let lines = "access-control-allow-origin: *\r\naccess-control-allow-headers: authorization\r\n";
        match request.head.split(' ').next() {
            Some("HEAD") => write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n").is_ok(),
            _ => write!(stream, "HTTP/1.1 204 No Content\r\n{lines}\r\n").is_ok(),
        }
    });
    let head = format!(
        "OPTIONS {CHAT} HTTP/1.1\r\nhost: me\r\norigin: http://a\r\naccess-control-request-method: POST\r\nconnection: close\r\n\r\n"
    );
    let mut stream = connect(proxy.address);
    stream.write_all(head.as_bytes()).unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    assert!(
        all.starts_with("HTTP/1.1 204 No Content\r\n") && all.contains("access-control-allow-origin: *\r\n"),
        "{all}"
    );
    let mut stream = connect(proxy.address);
    stream.write_all(b"HEAD / HTTP/1.1\r\nhost: me\r\nconnection: close\r\n\r\n").unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    assert!(all.contains("content-length: 99\r\n") && all.ends_with("\r\n\r\n"), "{all}");
}

/// Checks an upload that is longer than any buffer, and that the server reads as it arrives.
#[test]
fn uploads_are_streamed() {
    let proxy = front(|request, stream| answer(stream, "200 OK", JSON, &request.body.len().to_string()));
    let mut stream = connect(proxy.address);
    stream.write_all(b"POST /v1/files HTTP/1.1\r\nhost: me\r\ntransfer-encoding: chunked\r\n\r\n").unwrap();
    let piece = vec![b'x'; 1 << 20];
    (0..20).all(|_| chunk(&mut stream, &piece));
    stream.write_all(b"0\r\n\r\n").unwrap();
    assert_eq!(read(&stream).unwrap().text(), (20 << 20).to_string());
}

#[test]
fn a_websocket_passes() {
    let proxy = front(|request, stream| {
        assert_eq!((request.all("upgrade"), request.all("connection")), (vec!["websocket"], vec!["upgrade"]));
        let head = "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\n\r\nhi";
        stream.write_all(head.as_bytes()).unwrap();
        let mut said = [0; 4];
        stream.read_exact(&mut said).unwrap();
        assert_eq!(&said, b"ping");
        stream.write_all(b"pong").unwrap();
        false
    });
    let mut stream = connect(proxy.address);
    let head = "GET /v1/realtime HTTP/1.1\r\nhost: me\r\nconnection: keep-alive, Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: k\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut all = Vec::new();
    while !all.ends_with(b"\r\n\r\nhi") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        all.extend(byte);
    }
    let head = String::from_utf8(all).unwrap();
    assert!(
        head.starts_with("HTTP/1.1 101 ")
            && head.contains("upgrade: websocket")
            && head.contains("sec-websocket-accept: x")
    );
    stream.write_all(b"ping").unwrap();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "pong");
}

fn http2() -> Client<HttpConnector, Full<Bytes>> {
    Client::builder(TokioExecutor::new()).http2_only(true).build_http()
}

#[test]
fn clients_speak_http2() {
    let proxy = front(|request, stream| {
        assert_eq!(request.all("via"), ["2 aside"]);
        assert_eq!(request.all("cookie"), ["a=1; b=2"]);
        begin_events(stream, "keep-alive: 3\r\n");
        for piece in spoken().as_bytes().chunks(9) {
            chunk(stream, piece);
        }
        if request.all("x-die").is_empty() {
            return stream.write_all(b"0\r\n\r\n").is_ok();
        }
        chunk(stream, common::event(" <thi").as_bytes());
        false
    });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let client = http2();
    let url = format!("http://{}{CHAT}", proxy.address);
    let ask = |dies: bool| {
        let request = http::Request::post(&url).header("cookie", "a=1").header("cookie", "b=2");
        let request = if dies { request.header("x-die", "1") } else { request };
        let sent = client.request(request.body(Full::from("{}")).unwrap());
        async move {
            let answer = sent.await.unwrap();
            assert_eq!(
                (answer.version(), answer.headers()["x-aside-dialect"].to_str().unwrap()),
                (http::Version::HTTP_2, "qwen3")
            );
            let (mut body, mut text) = (answer.into_body(), String::new());
            while let Some(frame) = body.frame().await {
                let Ok(frame) = frame else { return (said(&text), false) };
                text += &String::from_utf8_lossy(frame.data_ref().map_or(&[], |data| data));
            }
            (said(&text), true)
        }
    };
    runtime.block_on(async {
        // The requests are sent on one connection, at the same time.
        let asked: Vec<_> = (0..40).map(|number| tokio::spawn(ask(number % 2 == 1))).collect();
        for (number, asked) in asked.into_iter().enumerate() {
            let wanted =
                if number % 2 == 1 { (format!("{EXPECTED} <thi"), false) } else { (EXPECTED.to_owned(), true) };
            assert_eq!(asked.await.unwrap(), wanted);
        }
    });
}

/// Runs a server that speaks TLS with a certificate of a name.
fn encrypted(name: &str) -> (std::net::SocketAddr, String) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let (certificate, key) = (made.cert.der().clone(), made.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certificate], key.try_into().unwrap()).unwrap();
    let config = Arc::new(config);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut tls =
                rustls::StreamOwned::new(rustls::ServerConnection::new(Arc::clone(&config)).unwrap(), stream.unwrap());
            let mut request = [0; 4096];
            if tls.read(&mut request).is_ok() {
                let body = spoken();
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                let _ = tls.write_all((head + &body).as_bytes());
                let _ = tls.flush();
            }
        }
    });
    (address, made.cert.pem())
}

#[test]
fn the_server_may_speak_tls() {
    let file = std::env::temp_dir().join(format!("aside-ca-{}.pem", std::process::id()));
    for (name, wanted) in [("localhost", 200), ("elsewhere", 502)] {
        let (address, pem) = encrypted(name);
        std::fs::write(&file, pem).unwrap();
        let url = format!("https://localhost:{}", address.port());
        let proxy = run(&Settings { upstream: Some(url.into()), upstream_ca: Some(file.clone()), ..settings(address) });
        let answer = chat(proxy.address);
        assert_eq!(answer.status(), wanted, "{}", answer.text());
        if wanted == 200 {
            assert_eq!(said(answer.text()), EXPECTED);
        } else {
            assert!(answer.text().contains("certificate of the model's server is not trusted"), "{}", answer.text());
        }
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn the_history_goes_where_the_server_reads_it() {
    let (show, requests) = mpsc::channel();
    let upstream = server(move |request, stream| {
        show.send(request.clone()).unwrap();
        answer(stream, "200 OK", JSON, "{}")
    });
    let proxy = run(&Settings { server: Some("vllm".into()), max_body: Some(1000), ..settings(upstream) });
    let body = r#"{"messages":[{"role":"assistant","content":"b","reasoning_content":"a"}]}"#;
    assert_eq!(send(proxy.address, &post(CHAT, "content-md5: x\r\n", body)).unwrap().status(), 200);
    let request = requests.recv().unwrap();
    assert_eq!(String::from_utf8(request.body.clone()).unwrap(), body.replace("reasoning_content", "reasoning"));
    assert_eq!(request.all("content-length"), [request.body.len().to_string()]);
    assert!(request.all("content-md5").is_empty());
    // A body that is not a request of the format stays unchanged.
    send(proxy.address, &post(CHAT, "", "[]")).unwrap();
    assert_eq!(requests.recv().unwrap().body, b"[]");
    assert_eq!(send(proxy.address, &post(CHAT, "", &"x".repeat(1001))).unwrap().status(), 413);
}

/// Runs a proxy without a dialect, in front of a server with this data about its model, and returns the dialect of an answer.
fn chosen(model: &str, says: impl Fn(&str, &str) -> Option<String> + Send + Sync + 'static) -> String {
    let upstream = server(move |request, stream| {
        let body = String::from_utf8_lossy(&request.body);
        match says(request.path(), &body) {
            Some(said) => answer(stream, "200 OK", JSON, &said),
            None if request.path() == CHAT => {
                begin_events(stream, "");
                chunk(stream, spoken().as_bytes());
                stream.write_all(b"0\r\n\r\n").is_ok()
            }
            None => answer(stream, "404 Not Found", "", ""),
        }
    });
    let proxy = run(&Settings { dialect: None, ..settings(upstream) });
    let body = serde_json::json!({"model": model});
    send(proxy.address, &post(CHAT, "", &body.to_string())).unwrap().all("x-aside-dialect")[0].to_owned()
}

#[test]
fn the_dialect_is_that_of_the_request_or_of_what_the_server_says() {
    let template = r"{% if add_generation_prompt %}{{ '<|turn>model\n<|channel>' }}{% endif %}";
    assert_eq!(chosen("Qwen/Qwen3-8B", |_, _| None), "qwen3");
    let props = serde_json::json!({"chat_template": template}).to_string();
    assert_eq!(chosen("mine", move |path, _| (path == "/props").then(|| props.clone())), "gemma-4");
    let models =
        r#"{"data":[{"id":"mine","root":"/models/MiniMaxAI/MiniMax-M2"},{"id":"other","root":"Qwen/Qwen3-8B"}]}"#;
    assert_eq!(chosen("mine", move |path, _| (path == "/v1/models").then(|| models.to_owned())), "minimax-m2");
    let show =
        serde_json::json!({"template": "{{ x }}", "model_info": {"tokenizer.chat_template": template}}).to_string();
    let ollama =
        move |path: &str, body: &str| (path == "/api/show" && body == r#"{"model":"mine"}"#).then(|| show.clone());
    assert_eq!(chosen("mine", ollama), "gemma-4");
    assert_eq!(chosen("mine", |_, _| None), "any");
}

/// A dialect file is read at the start, and counts for every model.
#[test]
fn a_dialect_file_is_read() {
    let folder = std::env::temp_dir().join(format!("aside-dialect-file-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("mine.toml");
    std::fs::write(
        &file,
        "name = \"mine\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<reflect>\"]\nclose = [\"</reflect>\"]\n",
    )
    .unwrap();
    let upstream = server(|_, stream| {
        answer(stream, "200 OK", JSON, r#"{"choices":[{"message":{"content":"<reflect>hm</reflect>Yes."}}]}"#)
    });
    let proxy = run(&Settings { dialect: None, dialect_file: Some(file.clone()), ..settings(upstream) });
    let got = send(proxy.address, &post(CHAT, "", r#"{"model":"Qwen/Qwen3-8B"}"#)).unwrap();
    assert_eq!(got.all("x-aside-dialect"), ["mine"]);
    assert!(got.text().contains(r#""reasoning_content":"hm""#), "{}", got.text());
    std::fs::write(&file, "name = 1").unwrap();
    let both = Settings { dialect_file: Some(file.clone()), ..settings(upstream) };
    let wrong = Settings { dialect: None, ..both.clone() };
    let missing = Settings { dialect_file: Some(folder.join("none")), ..wrong.clone() };
    for (settings, why) in [(both, "each says the dialect"), (wrong, "line 1"), (missing, "dialect-file: ")] {
        let error = Config::new(&settings).err().unwrap().to_string();
        assert!(error.contains(why), "{error}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Checks that a draft is used only if the host asks for it and no dialect is known.
#[cfg(feature = "templates")]
#[test]
fn a_draft_is_made_where_it_is_asked_for() {
    const TEMPLATE: &str = "{% for m in messages %}<|{{ m.role }}|>{% if m.reasoning %}<reflect>{{ m.reasoning }}</reflect>{% endif %}\
        {{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";
    let template_of = |template: &'static str| {
        server(move |request, stream| match request.path() {
            "/props" => answer(stream, "200 OK", JSON, &serde_json::json!({"chat_template": template}).to_string()),
            CHAT => {
                answer(stream, "200 OK", JSON, r#"{"choices":[{"message":{"content":"<reflect>hm</reflect>Yes."}}]}"#)
            }
            _ => answer(stream, "404 Not Found", "", ""),
        })
    };
    for (template, draft, name, text) in [
        (TEMPLATE, Some(true), "new-model-7b", r#""reasoning_content":"hm""#),
        (TEMPLATE, Some(false), "any", "<reflect>hm</reflect>Yes."),
        (TEMPLATE, None, "any", "<reflect>hm</reflect>Yes."),
        ("{{ messages[0].content }}", Some(true), "any", "<reflect>hm</reflect>Yes."),
    ] {
        let proxy = run(&Settings { dialect: None, draft, ..settings(template_of(template)) });
        let got = send(proxy.address, &post(CHAT, "", r#"{"model":"Org/New Model-7B"}"#)).unwrap();
        assert_eq!(got.all("x-aside-dialect"), [name], "{draft:?}");
        assert!(got.text().contains(text), "{}", got.text());
    }
}

#[cfg(not(feature = "templates"))]
#[test]
fn a_draft_needs_the_feature() {
    let upstream = server(|_, stream| answer(stream, "404 Not Found", "", ""));
    let error = Config::new(&Settings { draft: Some(true), ..settings(upstream) }).err().unwrap();
    assert!(error.to_string().starts_with("draft: this program renders no templates"), "{error}");
}

/// Checks that a template determines the start of an answer, and that the server is asked again after it was unavailable.
#[test]
fn the_template_says_the_start() {
    let proxy = run(&Settings {
        dialect: None,
        ..settings(server(|request, stream| {
            let template = r"{% if add_generation_prompt %}{{ '<|turn>model\n<|channel>' }}{% endif %}";
            match request.path() {
                "/props" => answer(stream, "200 OK", JSON, &serde_json::json!({"chat_template": template}).to_string()),
                _ => answer(
                    stream,
                    "200 OK",
                    JSON,
                    r#"{"choices":[{"message":{"content":"hm"},"finish_reason":"length"}]}"#,
                ),
            }
        }))
    });
    let answer = send(proxy.address, &post(CHAT, "", "{}")).unwrap();
    assert!(answer.text().contains("\"reasoning_content\":\"hm\""), "{}", answer.text());
}

#[test]
fn operators_see_health_and_counts_on_a_listener_of_their_own() {
    let upstream = server(|request, stream| {
        begin_events(stream, "");
        chunk(stream, spoken().as_bytes());
        if request.body != br#"{"stream":true}"# {
            chunk(stream, event(r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#).as_bytes());
        }
        stream.write_all(b"0\r\n\r\n").is_ok()
    });
    let proxy = run(&Settings { admin: Some("127.0.0.1:0".into()), ..settings(upstream) });
    for _ in 0..2 {
        chat(proxy.address);
    }
    send(proxy.address, &post(CHAT, "", r#"{"tools":[{"type":"function","function":{"name":"f"}}]}"#));
    let get = |path: &str| proxy.asks_admin(path);
    assert_eq!(get("/healthz").text(), "ok\n");
    assert_eq!(get("/v1/chat/completions").status(), 404);
    let metrics = get("/metrics");
    for line in [
        "aside_requests_total{format=\"chat\",status=\"2xx\"} 3\n",
        "aside_streams_open 0\n",
        "aside_text_bytes_total{kind=\"thinking\"} 27\n",
        "aside_calls_total 1\n",
        "aside_first_byte_seconds_count 3\n",
    ] {
        assert!(metrics.text().contains(line), "{line}{}", metrics.text());
    }
    // For clients, the operators' paths are forwarded to the server.
    assert!(common::said(chat(proxy.address).text()) == EXPECTED);
}
