//! Runs `aside proxy` as its users would: its messages about wrong settings, and its end.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};

use rustix::process::Signal;

fn aside(arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aside"));
    command.arg("proxy").args(arguments).envs(variables.iter().copied()).stdin(Stdio::null());
    command
}

fn check(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    aside(&[arguments, &["--check-config"]].concat(), variables).output().unwrap()
}

#[test]
fn wrong_settings_are_named_with_what_to_write() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let folder = std::env::temp_dir().join(format!("aside-proxy-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (key, kind) = (file("key.toml", "upstrem = \"http://x\"\n"), file("kind.toml", "max-body = \"much\"\n"));
    let (no_pem, wrong_pem) = (
        file("none.pem", "hello\n"),
        file("wrong.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
    );
    let table = "[[upstream]]\nurl = \"http://127.0.0.1:1\"\n";
    let servers = file("servers.toml", &format!("{table}models = [\"qwen*\"]\n{table}"));
    let late = file("late.toml", &format!("{table}models = [\"*\"]\nlisten = \"127.0.0.1:0\"\n"));
    let number = file("number.toml", "upstream = 7\n");
    let upstream = ["--upstream", "http://127.0.0.1:1"];
    for (arguments, wanted) in [
        (&[][..], "upstream: the server's URL is missing; write --upstream http://127.0.0.1:8080"),
        (&["--config", &key], "unknown field `upstrem`, expected one of `upstream`"),
        (&["--config", &kind], "invalid type: string \"much\", expected u64"),
        (&["--config", "/nowhere.toml"], "/nowhere.toml: "),
        (&["--upstream", "127.0.0.1:8080"], "does not begin with http:// or https://"),
        (&["--upstream", "http://127.0.0.1:1/v1"], "ends in /v1, which clients add: leave it out"),
        (&[&upstream[..], &["--listen", &taken]].concat(), "another program listens there"),
        (&[&upstream[..], &["--listen", "here"]].concat(), "write it as 127.0.0.1:8088"),
        (&[&upstream[..], &["--listen", "127.0.0.1:0", "--admin", &taken]].concat(), "admin: "),
        (&[&upstream[..], &["--dialect", "qwen"]].concat(), "dialect: "),
        (&[&upstream[..], &["--model", "nobody-knows-it"]].concat(), "model: "),
        (&[&upstream[..], &["--server", "none"]].concat(), "server: "),
        (&[&upstream[..], &["--upstream-ca", &no_pem]].concat(), "it has no certificate"),
        (&[&upstream[..], &["--upstream-ca", &wrong_pem]].concat(), "upstream-ca: "),
        (&[&upstream[..], &["--upstream-ca", "/nowhere.pem"]].concat(), "upstream-ca: /nowhere.pem: "),
        (&[&upstream[..], &["--upstream-key-env", "NOT_SET_ANYWHERE"]].concat(), "NOT_SET_ANYWHERE is not set"),
        (&[&upstream[..], &["--max-header", "1"]].concat(), "max-header: it must be from 8192"),
        (&[&upstream[..], &["--idle-timeout", "0"]].concat(), "idle-timeout: it must be from 1"),
        (&[&upstream[..], &["--allowed-host", "a.b:80"]].concat(), "write it without http:// and port: models.home"),
        (&[&upstream[..], &["--drain", "0"]].concat(), "drain: it must be from 1"),
        (
            &[&upstream[..], &["--client-key-env", "NOT_SET"]].concat(),
            "client-key-env: the environment variable NOT_SET is",
        ),
        (&[&upstream[..], &["--tls-cert", &no_pem]].concat(), "tls-cert: it needs its key; write --tls-key FILE too"),
        (
            &[&upstream[..], &["--tls-cert", &no_pem, "--tls-key", &no_pem]].concat(),
            "PEM begins with -----BEGIN PRIVATE KEY",
        ),
        (&["--config", &servers], "[[upstream]] 2: it has no `models`; write models = [\"qwen3*\"]"),
        (&["--config", &late], "`listen` applies to all servers: write it before the first [[upstream]]"),
        (&["--config", &number], "write upstream = \"http://127.0.0.1:8080\", or tables [[upstream]]"),
    ] {
        let output = check(arguments, &[]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.starts_with("aside proxy: ") && said.contains(wanted), "{arguments:?}: {said}");
    }
    let output = check(&[], &[("ASIDE_PROXY_UPSTREEM", "http://x")]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("ASIDE_PROXY_UPSTREEM: unknown field"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn flags_count_before_the_file_and_the_file_before_the_environment() {
    let path = std::env::temp_dir().join(format!("aside-proxy-order-{}.toml", std::process::id()));
    std::fs::write(&path, "listen = \"127.0.0.1:0\"\ndialect = \"nowhere\"\n").unwrap();
    let file = path.to_str().unwrap();
    let variables = [("ASIDE_PROXY_UPSTREAM", "http://127.0.0.1:1"), ("ASIDE_PROXY_LISTEN", "wrong")];
    // The file's wrong dialect is used, and its address overrides the environment's.
    let said = |output: Output| String::from_utf8(output.stderr).unwrap();
    assert!(said(check(&["--config", file], &variables)).contains("nowhere"));
    let output = check(&["--config", file, "--dialect", "qwen3"], &variables);
    assert_eq!((output.status.code(), said(output).as_str()), (Some(0), "aside proxy: the settings are right\n"));
    std::fs::remove_file(path).unwrap();
}

/// Reads the log up to a line with this message, and returns the line.
fn wait_for(log: &mut impl BufRead, message: &str) -> serde_json::Value {
    let mut line = String::new();
    loop {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "the program has ended");
        let entry: serde_json::Value = serde_json::from_str(&line).expect(&line);
        if entry["msg"] == message {
            return entry;
        }
    }
}

fn signal(child: &Child, signal: Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
}

/// Runs the README's line: a server with raw `<think>`, one command, and a client that shows the result correctly. Then SIGTERM
/// arrives in mid-stream.
#[test]
fn a_stream_ends_before_the_program() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let mut child = aside(&["--upstream", &url, "--listen", "127.0.0.1:0", "--dialect", "qwen3"], &[])
        .stderr(Stdio::piped())
        .spawn();
    let child = child.as_mut().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let address = wait_for(&mut log, "listening")["address"].as_str().unwrap().to_owned();
    let mut client = TcpStream::connect(&address).unwrap();
    let body = r#"{"stream":true,"key":"in the body"}"#;
    write!(
        client,
        "POST /v1/chat/completions?key=in-the-query HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer in-the-header\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let (mut stream, _) = server.accept().unwrap();
    let mut request = [0; 4096];
    let len = stream.read(&mut request).unwrap();
    // Credentials pass.
    assert!(String::from_utf8_lossy(&request[..len]).contains("Bearer in-the-header"));
    let event =
        |text: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    write!(stream, "{head}{}", event("<think>hm")).unwrap();
    let mut seen = String::new();
    let mut reader = BufReader::new(client);
    while !seen.contains("\"reasoning_content\":\"hm\"") {
        assert!(reader.read_line(&mut seen).unwrap() > 0, "{seen}");
    }
    signal(child, Signal::TERM);
    wait_for(&mut log, "ending");
    // No new client is accepted, and the stream continues.
    while TcpStream::connect(&address).is_ok() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    write!(stream, "{}", event("</think>Yes.")).unwrap();
    drop(stream);
    reader.read_to_string(&mut seen).unwrap();
    assert!(seen.contains("\"content\":\"Yes.\"") && seen.ends_with("0\r\n\r\n"), "{seen}");
    let line = wait_for(&mut log, "request");
    assert_eq!((&line["end"], &line["dialect"], &line["status"]), (&"complete".into(), &"qwen3".into(), &200.into()));
    assert!(!line.to_string().contains("in-the-") && !line.to_string().contains("in the body"), "{line}");
    assert!(child.wait().unwrap().success());
}

/// SIGHUP makes the proxy read the file again, and a wrong file changes nothing.
#[test]
fn the_file_is_read_again_at_a_signal() {
    let path = std::env::temp_dir().join(format!("aside-proxy-again-{}.toml", std::process::id()));
    let config = |dialect: &str| {
        std::fs::write(&path, format!("upstream = \"http://127.0.0.1:1\"\nlisten = \"127.0.0.1:0\"\n{dialect}\n"))
            .unwrap();
    };
    config("dialect = \"qwen3\"");
    let mut child = aside(&["--config", path.to_str().unwrap()], &[]).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let address = wait_for(&mut log, "listening")["address"].as_str().unwrap().to_owned();
    let status = |host: &str| {
        let mut client = TcpStream::connect(&address).unwrap();
        write!(client, "GET / HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
        let mut all = String::new();
        client.read_to_string(&mut all).unwrap();
        all[9..12].to_owned()
    };
    assert_eq!(status("models.home"), "403");
    config("dialect = \"nobody\"\nallowed-host = [\"models.home\"]");
    signal(&child, Signal::HUP);
    let why = wait_for(&mut log, "the settings stay as they were")["error"].as_str().unwrap().to_owned();
    assert!(why.starts_with("dialect: "), "{why}");
    assert_eq!(status("models.home"), "403");
    config("dialect = \"minimax-m2\"\nallowed-host = [\"models.home\"]");
    signal(&child, Signal::HUP);
    wait_for(&mut log, "the settings have been read again");
    assert_eq!(status("models.home"), "502");
    signal(&child, Signal::TERM);
    assert!(child.wait().unwrap().success());
    std::fs::remove_file(path).unwrap();
}
