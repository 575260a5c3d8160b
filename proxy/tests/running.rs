//! Tests everything that an operator decides: host names and keys of clients, TLS, several servers, new settings while the proxy
//! runs, its end; and whose fault the counts report.

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use aside_proxy::{Config, Settings, Upstreams};
use async_compression::tokio::write::{BrotliEncoder, GzipEncoder, ZstdEncoder};
use common::{
    Answer, CHAT, EXPECTED, JSON, Request, Running, answer, begin_events, chat, chunk, connect, event, front, post,
    read, read_from, run, said, send, server, settings, spoken,
};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

/// Starts a server that answers with JSON and records its requests.
fn shown(body: &'static str) -> (SocketAddr, mpsc::Receiver<Request>) {
    let (show, requests) = mpsc::channel();
    let upstream = server(move |request, stream| {
        show.send(request.clone()).unwrap();
        answer(stream, "200 OK", JSON, body)
    });
    (upstream, requests)
}

fn get(address: SocketAddr, path: &str, lines: &str) -> Answer {
    send(address, format!("GET {path} HTTP/1.1\r\n{lines}\r\n").as_bytes()).unwrap()
}

fn with_admin(settings: Settings) -> Settings {
    Settings { admin: Some("127.0.0.1:0".into()), ..settings }
}

#[test]
fn a_listener_of_this_machine_serves_no_name_that_it_does_not_know() {
    let (upstream, requests) = shown("{}");
    let local = with_admin(Settings { allowed_host: Some(vec!["Models.Home".into()]), ..settings(upstream) });
    let proxy = run(&local);
    for (lines, status) in [
        ("host: 127.0.0.1:8088\r\n", 200),
        ("host: 10.0.0.7\r\n", 200),
        ("host: [::1]:80\r\n", 200),
        ("host: LOCALHOST:8088\r\n", 200),
        ("host: models.home:1\r\n", 200),
        ("host: evil.example:8088\r\n", 403),
        ("host: localhost.evil.example\r\n", 403),
        ("host: 127.0.0.1.evil.example\r\n", 403),
        ("host: a b\r\n", 400),
        ("host: localhost\r\nhost: localhost\r\n", 400),
        ("", 400),
    ] {
        let got = get(proxy.address, "/x", lines);
        assert_eq!(got.status(), status, "{lines}");
        assert_eq!(requests.try_iter().count(), usize::from(status == 200), "{lines}");
        if status == 403 {
            assert!(got.text().contains("allow the name by --allowed-host "), "{}", got.text());
        }
        assert_eq!(get(proxy.admin.unwrap(), "/healthz", lines).status(), status, "{lines}");
    }
    // A name in the request line counts too.
    let got = send(proxy.address, b"GET http://evil.example/x HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    assert_eq!((got.status(), requests.try_iter().count()), (403, 0));
    for (allowed_host, listen, status) in
        [(Some(vec!["*".into()]), "127.0.0.1:0", 200), (None, "127.0.0.1:0", 403), (None, "0.0.0.0:0", 200)]
    {
        let proxy = run(&Settings { allowed_host, listen: Some(listen.into()), ..settings(upstream) });
        let address = SocketAddr::from(([127, 0, 0, 1], proxy.address.port()));
        assert_eq!(get(address, "/x", "host: evil.example\r\n").status(), status, "{listen}");
        assert_eq!(get(address, "/x", "").status(), 400, "{listen}");
    }
}

/// Returns a text in this encoding, as a client would send it.
fn compressed(encoding: &str, text: &[u8]) -> Vec<u8> {
    macro_rules! through {
        ($encoder:ident) => {{
            let mut encoder = $encoder::new(Vec::new());
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                encoder.write_all(text).await.unwrap();
                encoder.shutdown().await.unwrap();
            });
            encoder.into_inner()
        }};
    }
    match encoding {
        "gzip" => through!(GzipEncoder),
        "br" => through!(BrotliEncoder),
        "zstd" => through!(ZstdEncoder),
        _ => text.to_vec(),
    }
}

fn post_compressed(address: SocketAddr, encoding: &str, body: &[u8]) -> Answer {
    let head = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: me\r\ncontent-encoding: {encoding}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    send(address, &[head.as_bytes(), body].concat()).unwrap()
}

#[test]
fn a_compressed_request_is_read_and_passes_as_it_came() {
    let call = r#"<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>"#;
    let answered = format!(r#"{{"choices":[{{"index":0,"message":{{"content":"<think>hm</think>{call}"}}}}]}}"#);
    let (upstream, requests) = shown(Box::leak(answered.into_boxed_str()));
    let body =
        json!({"model": "Qwen/Qwen3-8B", "tools": [{"type": "function", "function": {"name": "f"}}]}).to_string();
    let proxy = run(&Settings { dialect: None, ..settings(upstream) });
    // The proxy asks the server about its models, too.
    let of_clients = || requests.iter().find(|request| request.path() == CHAT).unwrap();
    for encoding in ["gzip", "GZIP", "br", "zstd", "identity"] {
        let sent = compressed(&encoding.to_lowercase(), body.as_bytes());
        let got = post_compressed(proxy.address, encoding, &sent);
        assert_eq!(got.all("x-aside-dialect"), ["qwen3"], "{encoding}");
        assert!(got.text().contains("\"tool_calls\""), "{encoding}: {}", got.text());
        let request = of_clients();
        assert_eq!((request.body, request.head.contains(encoding)), (sent, true), "{encoding}");
    }
    // Bytes that are not gzip, and an unknown encoding, are forwarded too.
    for (encoding, body) in [("gzip", &b"no gzip"[..]), ("compress", b"no json"), ("gzip, zstd", b"")] {
        let got = post_compressed(proxy.address, encoding, body);
        assert_eq!(got.status(), 200, "{encoding}");
        assert_eq!(of_clients().body, body, "{encoding}");
    }
    // A few bytes that decompress to gigabytes: only the beginning is read, and it has the model.
    let bomb = [br#"{"model":"Qwen/Qwen3-8B","x":""#, &vec![b' '; 64 << 20][..]].concat();
    let got = post_compressed(proxy.address, "gzip", &compressed("gzip", &bomb));
    assert_eq!(got.all("x-aside-dialect"), ["qwen3"]);
    // The history is written into the request, which the server then receives uncompressed.
    let history = run(&Settings { server: Some("vllm".into()), ..settings(upstream) });
    let body = r#"{"messages":[{"role":"assistant","content":"b","reasoning_content":"a"}]}"#;
    post_compressed(history.address, "zstd", &compressed("zstd", body.as_bytes()));
    let request = of_clients_after(&requests);
    assert_eq!(String::from_utf8_lossy(&request.body), body.replace("reasoning_content", "reasoning"));
    assert!(request.all("content-encoding").is_empty());
}

/// Returns the last request for chat completions.
fn of_clients_after(requests: &mpsc::Receiver<Request>) -> Request {
    requests.try_iter().filter(|request| request.path() == CHAT).last().unwrap()
}

/// Waits until the counts have this line.
fn counts(proxy: &Running, line: &str) {
    let begun = Instant::now();
    loop {
        let metrics = proxy.asks_admin("/metrics");
        if metrics.text().contains(line) {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "{line}\n{}", metrics.text());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_counts_blame_who_it_was() {
    let upstream = server(|request, stream| match request.path() {
        "/moved" => answer(stream, "307 Temporary Redirect", "location: /\r\n", ""),
        "/none" => write!(stream, "HTTP/1.1 204 No Content\r\n\r\n").is_ok(),
        _ if request.head.starts_with("HEAD ") => {
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n").is_ok()
        }
        _ => answer(stream, "200 OK", JSON, "{}"),
    });
    let proxy = run(&with_admin(Settings { idle_timeout: Some(1), ..settings(upstream) }));
    let chunked = format!("POST {CHAT} HTTP/1.1\r\nhost: me\r\ntransfer-encoding: chunked\r\n\r\n");
    // The bytes of the client are not HTTP.
    let got = send(proxy.address, format!("{chunked}zz\r\n").as_bytes()).unwrap();
    assert_eq!(got.status(), 400);
    counts(&proxy, "aside_errors_total{kind=\"refused\"} 1\n");
    // The client stops sending in the middle of its request, while the server waits for the rest.
    let got = send(proxy.address, format!("{chunked}5\r\n12345\r\n").as_bytes()).unwrap();
    assert_eq!(got.status(), 408);
    counts(&proxy, "aside_errors_total{kind=\"refused\"} 2\n");
    // The client disconnects in the middle of its request.
    let mut stream = connect(proxy.address);
    stream.write_all(format!("{chunked}5\r\n12345\r\n").as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    drop(stream);
    counts(&proxy, "aside_errors_total{kind=\"client_left\"} 1\n");
    // Answers without a body are complete.
    for (method, path, status) in
        [("HEAD", "/x", 200), ("GET", "/moved", 307), ("POST", "/moved", 307), ("GET", "/none", 204)]
    {
        let mut stream = connect(proxy.address);
        stream
            .write_all(format!("{method} {path} HTTP/1.1\r\nhost: me\r\nconnection: close\r\n\r\n").as_bytes())
            .unwrap();
        let mut all = String::new();
        stream.read_to_string(&mut all).unwrap();
        assert!(all.starts_with(&format!("HTTP/1.1 {status} ")), "{all}");
    }
    counts(&proxy, "status=\"3xx\"} 2\n");
    let metrics = proxy.asks_admin("/metrics");
    let errors: Vec<_> = metrics.text().lines().filter(|line| line.starts_with("aside_errors_total")).collect();
    let wanted = ["aside_errors_total{kind=\"client_left\"} 1", "aside_errors_total{kind=\"refused\"} 2"];
    assert_eq!(errors.iter().collect::<std::collections::BTreeSet<_>>(), wanted.iter().collect());
}

/// Writes a file that is removed at the end of its test.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> File {
        let path = std::env::temp_dir().join(format!("aside-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        File(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A certificate for localhost, and its key. It cannot sign other certificates, because a server's certificate that can sign others is
/// not accepted.
struct Made {
    der: rustls::pki_types::CertificateDer<'static>,
    pem: String,
    key: String,
}

fn made(name: &str, signs: bool) -> Made {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new([name.to_owned()]).unwrap();
    if signs {
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    }
    let certificate = params.self_signed(&key).unwrap();
    Made { der: certificate.der().clone(), pem: certificate.pem(), key: key.serialize_pem() }
}

type Secure = rustls::StreamOwned<rustls::ClientConnection, TcpStream>;

/// Connects to the proxy in TLS, trusting this certificate.
fn secure(address: SocketAddr, trusted: &Made) -> Secure {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(trusted.der.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    let connection = rustls::ClientConnection::new(config, "localhost".try_into().unwrap()).unwrap();
    rustls::StreamOwned::new(connection, connect(address))
}

fn asks(stream: &mut Secure) -> std::io::Result<Answer> {
    stream.write_all(&post(CHAT, "", "{}"))?;
    read_from(stream).ok_or_else(|| std::io::ErrorKind::UnexpectedEof.into())
}

#[test]
fn clients_may_speak_tls() {
    let upstream = server(|request, stream| {
        assert_eq!(request.all("x-forwarded-proto"), ["https"]);
        begin_events(stream, "");
        spoken().as_bytes().chunks(9).all(|piece| chunk(stream, piece)) && stream.write_all(b"0\r\n\r\n").is_ok()
    });
    let (first, second) = (made("localhost", false), made("localhost", false));
    let (certificate, key) = (File::new("tls.pem", &first.pem), File::new("tls.key", &first.key));
    let tls = Settings {
        tls_cert: Some(certificate.0.clone()),
        tls_key: Some(key.0.clone()),
        connect_timeout: Some(1),
        ..settings(upstream)
    };
    let proxy = run(&tls);
    let mut stream = secure(proxy.address, &first);
    // Sends several requests on one connection.
    for _ in 0..2 {
        assert_eq!(said(asks(&mut stream).unwrap().text()), EXPECTED);
    }
    // A client without TLS, or one that sends nothing, loses its connection.
    for sent in [&post(CHAT, "", "{}")[..], b""] {
        let mut stream = connect(proxy.address);
        stream.write_all(sent).unwrap();
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        assert!(!all.starts_with(b"HTTP/"), "{all:?}");
    }
    // New files count for new connections once they are read again.
    std::fs::write(&certificate.0, &second.pem).unwrap();
    std::fs::write(&key.0, &second.key).unwrap();
    assert!(asks(&mut secure(proxy.address, &second)).is_err());
    proxy.reload(&tls);
    assert_eq!(said(asks(&mut secure(proxy.address, &second)).unwrap().text()), EXPECTED);
    assert!(asks(&mut secure(proxy.address, &first)).is_err());
    // The message about wrong settings says what to write instead.
    std::fs::write(&key.0, &first.key).unwrap();
    let wrong = |settings: Settings| Config::new(&settings).err().unwrap().to_string();
    assert!(wrong(tls.clone()).contains("it must be the key of the first certificate"), "{}", wrong(tls.clone()));
    std::fs::write(&key.0, "").unwrap();
    assert!(wrong(tls.clone()).contains("PEM begins with -----BEGIN PRIVATE KEY-----"), "{}", wrong(tls.clone()));
    assert!(wrong(Settings { tls_key: None, ..tls.clone() }).contains("write --tls-key FILE too"));
    assert!(wrong(Settings { tls_cert: None, ..tls }).contains("write --tls-cert FILE too"));
}

#[test]
fn a_certificate_in_the_file_is_the_servers_own() {
    // A certificate as `openssl req -x509` makes it: it may sign others.
    for (name, signs, listed, wanted) in [
        ("localhost", true, true, 200),
        ("localhost", false, true, 200),
        ("elsewhere", true, true, 502),
        ("localhost", true, false, 502),
    ] {
        let (server, other) = (made(name, signs), made("localhost", true));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider);
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let key = rustls::pki_types::pem::PemObject::from_pem_slice(server.key.as_bytes()).unwrap();
        let config = Arc::new(config.with_single_cert(vec![server.der.clone()], key).unwrap());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
                let mut tls = rustls::StreamOwned::new(connection, stream.unwrap());
                if tls.read(&mut [0; 4096]).is_ok() {
                    let _ = tls.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
                }
            }
        });
        let file = File::new("ca.pem", if listed { &server.pem } else { &other.pem });
        let any = SocketAddr::from(([127, 0, 0, 1], 1));
        let proxy = run(&Settings { upstream: Some(url.into()), upstream_ca: Some(file.0.clone()), ..settings(any) });
        assert_eq!(get(proxy.address, "/x", "host: me\r\n").status(), wanted, "{name} {signs} {listed}");
    }
}

#[test]
fn operators_see_whether_the_server_answers_while_the_proxy_ends() {
    let (begins, begun) = mpsc::channel();
    let (go_on, waiting) = mpsc::channel::<()>();
    let waiting = std::sync::Mutex::new(waiting);
    let upstream = server(move |request, stream| {
        if request.path() == "/v1/models" {
            return answer(stream, "401 Unauthorized", JSON, "{}");
        }
        begin_events(stream, "");
        chunk(stream, event("a").as_bytes());
        begins.send(()).unwrap();
        let _ = waiting.lock().unwrap().recv();
        chunk(stream, event("b").as_bytes()) && stream.write_all(b"0\r\n\r\n").is_ok()
    });
    let of = |proxy: &Running, path: &str| (proxy.asks_admin(path).status(), proxy.asks_admin(path).text().to_owned());
    let mut proxy = run(&with_admin(settings(upstream)));
    assert_eq!(of(&proxy, "/readyz"), (200, "ok\n".to_owned()));
    let mut stream = connect(proxy.address);
    stream.write_all(&post(CHAT, "", "{}")).unwrap();
    begun.recv().unwrap();
    proxy.begin_end();
    while TcpStream::connect(proxy.address).is_ok() {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(of(&proxy, "/healthz"), (200, "ok\n".to_owned()));
    assert_eq!(of(&proxy, "/readyz"), (503, "the proxy is ending\n".to_owned()));
    go_on.send(()).unwrap();
    assert_eq!(said(read(&stream).unwrap().text()), "|ab");
    while TcpStream::connect(proxy.admin.unwrap()).is_ok() {
        std::thread::sleep(Duration::from_millis(10));
    }
    // A server that does not exist, and a server that is not ready.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = listener.local_addr().unwrap();
    drop(listener);
    let loading = server(|_, stream| answer(stream, "503 Service Unavailable", JSON, "{}"));
    let proxy = run(&with_admin(settings(nobody)));
    assert_eq!(of(&proxy, "/readyz"), (503, format!("{nobody} does not answer\n")));
    assert_eq!(of(&proxy, "/healthz"), (200, "ok\n".to_owned()));
    proxy.reload(&settings(loading));
    assert_eq!(of(&proxy, "/readyz"), (503, format!("{loading} answers 503 Service Unavailable\n")));
}

#[test]
fn open_streams_end_when_their_time_is_over() {
    let (begins, begun) = mpsc::channel();
    let upstream = server(move |_, stream| {
        begin_events(stream, "");
        chunk(stream, event("a").as_bytes());
        begins.send(()).unwrap();
        while chunk(stream, b": still here\n\n") {
            std::thread::sleep(Duration::from_millis(50));
        }
        false
    });
    let proxy = run(&Settings { drain: Some(1), ..settings(upstream) });
    let mut stream = connect(proxy.address);
    stream.write_all(&post(CHAT, "", "{}")).unwrap();
    begun.recv().unwrap();
    let since = Instant::now();
    proxy.end();
    assert!((1..5).contains(&since.elapsed().as_secs()), "{:?}", since.elapsed());
    assert!(!read(&stream).unwrap().is_whole);
}

#[test]
fn new_settings_count_for_the_next_request_of_an_open_connection() {
    let (first, second) = (shown("{}"), shown("{}"));
    let proxy = run(&settings(first.0));
    let mut stream = connect(proxy.address);
    for (reload, requests) in [(None, &first.1), (Some(second.0), &second.1)] {
        if let Some(upstream) = reload {
            proxy.reload(&settings(upstream));
        }
        stream.write_all(&post(CHAT, "", "{}")).unwrap();
        assert_eq!(read(&stream).unwrap().status(), 200);
        assert_eq!(requests.recv().unwrap().path(), CHAT);
    }
}

#[test]
fn clients_without_the_key_are_refused_in_the_shape_of_the_api() {
    let (upstream, requests) = shown("{}");
    let keys = Settings {
        client_key_env: Some("CARGO_PKG_NAME".into()),
        upstream_key_env: Some("CARGO_PKG_VERSION".into()),
        ..settings(upstream)
    };
    let (key, own) = (env!("CARGO_PKG_NAME"), format!("Bearer {}", env!("CARGO_PKG_VERSION")));
    let proxy = run(&keys);
    for lines in ["", "authorization: Bearer other\r\n", "authorization: Bearer \r\n", "x-api-key: aside-prox\r\n"] {
        for (path, place, kind) in [
            (CHAT, "/error/code", "invalid_api_key"),
            ("/v1/messages", "/error/type", "authentication_error"),
            ("/api/chat", "/error", "the key of the request is missing or wrong"),
        ] {
            let got = send(proxy.address, &post(path, lines, "{}")).unwrap();
            let body: Value = serde_json::from_slice(&got.body).unwrap();
            assert_eq!((got.status(), body.pointer(place)), (401, Some(&kind.into())), "{lines}{path}");
            assert_eq!(got.all("www-authenticate"), ["Bearer"]);
        }
    }
    assert_eq!(requests.try_iter().count(), 0);
    for lines in [format!("authorization: bearer {key}\r\n"), format!("x-api-key: {key}\r\n")] {
        assert_eq!(send(proxy.address, &post(CHAT, &lines, "{}")).unwrap().status(), 200);
        let request = requests.recv().unwrap();
        assert_eq!((request.all("authorization"), request.all("x-api-key")), (vec![own.as_str()], vec![]));
    }
    // A browser first sends a preflight request, without a key.
    let got = send(proxy.address, format!("OPTIONS {CHAT} HTTP/1.1\r\nhost: me\r\n\r\n").as_bytes()).unwrap();
    assert_eq!((got.status(), requests.recv().unwrap().all("authorization")), (200, vec![]));
    // If there is no key for the server, the client's key is still not forwarded.
    let proxy = run(&Settings { upstream_key_env: None, ..keys.clone() });
    send(proxy.address, &post(CHAT, &format!("authorization: Bearer {key}\r\n"), "{}")).unwrap();
    assert!(requests.recv().unwrap().all("authorization").is_empty());
    let error = Config::new(&Settings { client_key_env: Some("NOT_SET_ANYWHERE".into()), ..keys }).err().unwrap();
    assert_eq!(error.to_string(), "client-key-env: the environment variable NOT_SET_ANYWHERE is not set");
}

/// Starts a server with these models, whose chat answers contain the server's name.
fn named(name: &'static str, models: &'static [&'static str]) -> (SocketAddr, mpsc::Receiver<Request>) {
    let (show, requests) = mpsc::channel();
    let upstream = server(move |request, stream| {
        let _ = show.send(request.clone());
        match request.path() {
            "/v1/models" => {
                let list: Vec<_> = models.iter().map(|id| json!({"id": id, "owned_by": name})).collect();
                answer(stream, "200 OK", JSON, &json!({"object": "list", "data": list}).to_string())
            }
            CHAT => {
                let text = format!("<think>hm</think>{name}");
                answer(stream, "200 OK", JSON, &json!({"choices": [{"message": {"content": text}}]}).to_string())
            }
            _ => answer(stream, "200 OK", "", name),
        }
    });
    (upstream, requests)
}

fn of_servers(toml: &str) -> Settings {
    let table: toml::Table = toml::from_str(toml).unwrap();
    let Some(toml::Value::Array(servers)) = table.get("upstream") else { panic!("no [[upstream]]") };
    let servers = servers.iter().map(|server| server.as_table().unwrap().clone()).collect();
    let any = settings(SocketAddr::from(([127, 0, 0, 1], 1)));
    Settings { upstream: Some(Upstreams::Several(servers)), dialect: None, ..any }
}

#[test]
fn the_model_of_a_request_decides_its_server() {
    let (first, at_first) = named("first", &["Qwen3-8B", "shared", "hidden"]);
    let (second, _seen) = named("second", &["shared", "gpt-oss"]);
    let servers = of_servers(&format!(
        "[[upstream]]\nurl = \"http://{first}\"\nmodels = [\"qwen3*\", \"one\"]\n\
         [[upstream]]\nurl = \"http://{second}\"\nmodels = [\"gpt*\", \"shared\"]\ndialect = \"qwen3\"\n"
    ));
    let proxy = run(&with_admin(servers));
    let says = |body: &[u8], lines: &str| {
        let head = format!("POST {CHAT} HTTP/1.1\r\nhost: me\r\n{lines}content-length: {}\r\n\r\n", body.len());
        let got = send(proxy.address, &[head.as_bytes(), body].concat()).unwrap();
        let body: Value = serde_json::from_slice(&got.body).unwrap();
        (got.status(), body["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned(), body)
    };
    for (body, name) in [
        (r#"{"model":"Qwen3-8B"}"#, "first"),
        (r#"{"stream":false,"model":"gpt-oss:20b"}"#, "second"),
        (r#"{"messages":[],"model":"shared"}"#, "second"),
        ("{}", "first"),
        ("[]", "first"),
    ] {
        let (status, said, _) = says(body.as_bytes(), "");
        assert_eq!((status, said.as_str()), (200, name), "{body}");
        let (_, said, _) = says(&compressed("zstd", body.as_bytes()), "content-encoding: zstd\r\n");
        assert_eq!(said, name, "compressed {body}");
    }
    let (status, _, body) = says(br#"{"model":"llama"}"#, "");
    assert_eq!((status, body["error"]["code"].as_str()), (404, Some("model_not_found")));
    assert!(body["error"]["message"].as_str().unwrap().contains("no server has the model \"llama\""), "{body}");
    // A body in chunks, and a form, whose model is in a part.
    let chunked = "transfer-encoding: chunked\r\n\r\n13\r\n{\"model\":\"gpt-oss\"}\r\n0\r\n\r\n";
    let got = send(proxy.address, format!("POST {CHAT} HTTP/1.1\r\nhost: me\r\n{chunked}").as_bytes()).unwrap();
    assert!(got.text().contains("second"), "{}", got.text());
    let form = "content-type: multipart/form-data; boundary=x\r\ncontent-length: 3\r\n\r\n--x";
    let got = send(proxy.address, format!("POST /v1/audio HTTP/1.1\r\nhost: me\r\n{form}").as_bytes()).unwrap();
    assert_eq!(got.text(), "first");
    for path in ["/v1/models/gpt-oss", "/v1/models/gpt%2Doss%3A20b", "/v1/models/s%68ared"] {
        assert_eq!(get(proxy.address, path, "host: me\r\n").text(), "second", "{path}");
    }
    // The list has each model once, from the server that its requests go to.
    at_first.try_iter().for_each(drop);
    let list = get(proxy.address, "/v1/models", "host: me\r\nauthorization: Bearer k\r\n");
    let body: Value = serde_json::from_slice(&list.body).unwrap();
    let wanted = json!([
        {"id": "Qwen3-8B", "owned_by": "first"}, {"id": "shared", "owned_by": "second"}, {"id": "gpt-oss", "owned_by": "second"},
    ]);
    assert_eq!((&body["object"], &body["data"]), (&"list".into(), &wanted));
    assert_eq!(at_first.recv().unwrap().all("authorization"), ["Bearer k"]);
    counts(&proxy, "aside_requests_total{format=\"other\",status=\"2xx\"} ");
    assert_eq!(proxy.asks_admin("/readyz").status(), 200);
}

#[test]
fn one_server_of_several_may_be_away() {
    let (first, _requests) = named("first", &["a", "b"]);
    let tables = |last: &str| {
        format!(
            "[[upstream]]\nurl = \"http://{first}\"\nmodels = [\"a\"]\n[[upstream]]\nurl = \"{last}\"\nmodels = [\"*\"]\n"
        )
    };
    let proxy = run(&with_admin(of_servers(&tables("http://127.0.0.1:1"))));
    let list = get(proxy.address, "/v1/models", "host: me\r\n");
    assert_eq!(list.text(), r#"{"data":[{"id":"a","owned_by":"first"}],"object":"list"}"#);
    assert_eq!(proxy.asks_admin("/readyz").text(), "127.0.0.1:1 does not answer\n");
    for (toml, why) in [
        ("[[upstream]]\nmodels = [\"*\"]", "[[upstream]] 1: the `url` is missing; write url = "),
        ("[[upstream]]\nurl = \"http://x\"", "[[upstream]] 1: it has no `models`; write models = [\"qwen3*\"]"),
        ("[[upstream]]\nurl = 7\nmodels = [\"*\"]", "write upstream = \"http://127.0.0.1:8080\", or tables"),
        ("[[upstream]]\nurl = \"http://x\"\nmodels = \"*\"", "[[upstream]] 1: invalid type: string \"*\""),
        (
            "[[upstream]]\nurl = \"http://x\"\nmodels = [\"*\"]\nlisten = \"x\"",
            "`listen` applies to all servers: write it before",
        ),
        ("[[upstream]]\nurl = \"http://x\"\nmodels = [\"*\"]\ndialect = \"x\"", "[[upstream]] 1: dialect: "),
        (
            "[[upstream]]\nurl = \"http://x\"\nmodels = [\"*\"]\ndialct = \"x\"",
            "[[upstream]] 1: unknown field `dialct`",
        ),
    ] {
        let error = Config::new(&of_servers(toml)).err().unwrap().to_string();
        assert!(error.contains(why), "{toml}: {error}");
    }
}

#[test]
fn the_first_bytes_decide_where_the_type_says_little() {
    let body = r#"{"choices":[{"index":0,"message":{"content":"<think>Twice 21.</think>It is 42 – é."}}]}"#;
    let (events, quiet) = (spoken(), format!(": hi\n\n{}", spoken()));
    for (kind, text, is_read) in [
        ("text/plain", body, true),
        ("text/plain; charset=utf-8", &events, true),
        ("", &events, true),
        ("", body, true),
        ("application/json", &events, true),
        ("application/json", &quiet, true),
        ("application/json", body, true),
        ("application/json", "\n\n{}", true),
        ("application/json", "[1]", false),
        ("text/plain", "Internal error: no", false),
        ("text/plain", "dates: no", false),
        ("", "", false),
        ("text/html", &events, false),
    ] {
        let served = text.to_owned();
        let kind_line = if kind.is_empty() { String::new() } else { format!("content-type: {kind}\r\n") };
        let proxy = front(move |request, stream| {
            if request.body == b"[]" {
                let _ = write!(stream, "HTTP/1.1 200 OK\r\n{kind_line}connection: close\r\n\r\n{served}");
                return false;
            }
            answer(stream, "200 OK", &kind_line, &served)
        });
        // For `{}`, the server answers with a length, and for `[]` without.
        for sent in ["{}", "[]"] {
            let got = send(proxy.address, &post(CHAT, "", sent)).unwrap();
            assert_eq!(got.all("x-aside-dialect").len(), usize::from(is_read), "{kind}: {text}");
            if !is_read {
                assert_eq!(got.text(), text, "{kind}");
            } else if text.contains("data:") {
                assert_eq!(said(got.text()), EXPECTED, "{kind}: {text}");
            } else {
                assert_eq!(got.text().contains("\"reasoning_content\":\"Twice 21.\""), text == body, "{kind}");
            }
        }
    }
    // If the content type shows that an answer is a stream, its head is sent before its first event.
    let proxy = front(|_, stream| {
        begin_events(stream, "");
        std::thread::sleep(Duration::from_secs(2));
        stream.write_all(b"0\r\n\r\n").is_ok()
    });
    let mut stream = connect(proxy.address);
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    stream.write_all(&post(CHAT, "", "{}")).unwrap();
    stream.read_exact(&mut [0; 12]).unwrap();
    chat(proxy.address);
}
