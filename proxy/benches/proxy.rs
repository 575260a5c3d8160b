//! The cost of `aside proxy` compared with that of a proxy of the same libraries that changes nothing: CPU for each frame,
//! memory of many streams at once, and whether anything grows over many streams in turn. Linux only: it reads /proc.
//!
//!     cargo bench -p aside-proxy --bench proxy                  frames, then 2,000 streams at once
//!     cargo bench -p aside-proxy --bench proxy -- soak 100000   that many streams in turn, with all that can happen to one
//!
//! The server and both proxies are separate processes: this program with a different argument.

use std::convert::Infallible;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

type Body = BoxBody<Bytes, std::io::Error>;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server"] => runtime.block_on(server()),
        ["plain", upstream] => runtime.block_on(plain(upstream.to_owned())),
        ["aside", upstream] => runtime.block_on(aside(upstream)),
        ["soak", count] => runtime.block_on(soak(count.parse().unwrap())),
        [] => runtime.block_on(figures()),
        _ => panic!("{arguments:?}: there are none, or `soak COUNT`"),
    }
}

/// A process of this program.
struct Process {
    child: Child,
    address: SocketAddr,
}

impl Process {
    fn start(arguments: &[&str]) -> Process {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let mut child = command.args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Process { child, address: line.trim().parse().unwrap() }
    }

    /// Returns the processor time that the process has used, in seconds.
    fn cpu(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        ticks as f64 / 100.0
    }

    /// Returns the process's memory in MB, and the number of its descriptors.
    fn size(&self) -> (f64, usize) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse().unwrap();
        (kilobytes / 1024.0, std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Listens, and writes the address to standard output.
async fn listen() -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    std::io::stdout().flush().unwrap();
    listener
}

/// Serves with a function.
async fn serve<F, R>(answer: F)
where
    F: Fn(Request<Incoming>) -> R + Clone + Send + 'static,
    R: Future<Output = Result<Response<Body>, Infallible>> + Send + 'static,
{
    let listener = listen().await;
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        stream.set_nodelay(true).unwrap();
        let service = service_fn(answer.clone());
        tokio::spawn(async move {
            let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// Returns one frame, as vLLM writes it: 180 bytes around four letters.
fn frame(text: &str) -> String {
    format!(
        "data: {{\"id\":\"chatcmpl-8f2a1c9e\",\"object\":\"chat.completion.chunk\",\"created\":1761506036,\"model\":\"qwen3\",\
         \"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"logprobs\":null,\"finish_reason\":null}}]}}\n\n"
    )
}

/// Returns the frames of an answer of a length: half of it is thinking.
fn frames(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(move |at| match at {
        0 => frame("<think>"),
        _ if at == count / 2 => frame("</think>"),
        _ if at + 1 == count => frame("last <thi"),
        _ => frame("word"),
    })
}

/// The model's server. The path has the number of frames, the milliseconds between them, and the kind of end:
/// /320/20/ok/v1/chat/completions.
async fn server() {
    serve(|request: Request<Incoming>| async move {
        let path = request.uri().path().to_owned();
        let mut parts = path[1..].split('/');
        let count: usize = parts.next().unwrap().parse().unwrap_or(0);
        let pause: u64 = parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
        let end = parts.next().unwrap_or_default().to_owned();
        // A server that does not read its requests may lose its answers.
        let _ = request.into_body().collect().await;
        let mut response = Response::builder().header("content-type", "text/event-stream");
        if end == "gzip" {
            let mut encoder = async_compression::tokio::write::GzipEncoder::new(Vec::new());
            encoder.write_all(frames(count).collect::<String>().as_bytes()).await.unwrap();
            encoder.shutdown().await.unwrap();
            response = response.header("content-encoding", "gzip");
            return Ok(response
                .body(Full::from(encoder.into_inner()).map_err(|never| match never {}).boxed())
                .unwrap());
        }
        let (send, mut receive) = tokio::sync::mpsc::channel::<Result<Frame<Bytes>, std::io::Error>>(1);
        tokio::spawn(async move {
            for frame in frames(count) {
                if pause > 0 {
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                }
                if send.send(Ok(Frame::data(Bytes::from(frame)))).await.is_err() {
                    return;
                }
            }
            if end == "die" {
                // The bytes before the break are sent first.
                tokio::time::sleep(Duration::from_millis(5)).await;
                let _ = send.send(Err(std::io::Error::other("it dies"))).await;
            }
        });
        let stream = futures_util::stream::poll_fn(move |cx| receive.poll_recv(cx));
        Ok(response.body(BodyExt::boxed(StreamBody::new(stream))).unwrap())
    })
    .await;
}

/// The proxy that changes nothing.
async fn plain(upstream: String) {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: Client<_, Incoming> = Client::builder(TokioExecutor::new()).build(connector);
    serve(move |mut request: Request<Incoming>| {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        *request.uri_mut() = format!("http://{upstream}{path}").parse().unwrap();
        let asked = client.request(request);
        async move {
            Ok(match asked.await {
                Ok(answer) => answer.map(|body| body.map_err(std::io::Error::other).boxed()),
                Err(_) => Response::builder()
                    .status(502)
                    .body(Full::default().map_err(|never| match never {}).boxed())
                    .unwrap(),
            })
        }
    })
    .await;
}

async fn aside(upstream: &str) {
    let settings = aside_proxy::Settings {
        upstream: Some(format!("http://{upstream}").into()),
        listen: Some("127.0.0.1:0".into()),
        dialect: Some("qwen3".into()),
        ..Default::default()
    };
    let proxy = aside_proxy::Proxy::start(aside_proxy::Config::new(&settings).unwrap()).unwrap();
    println!("{}", proxy.address);
    std::io::stdout().flush().unwrap();
    std::future::pending::<()>().await;
}

/// Requests a stream. Returns all bytes that arrived, including the head.
async fn ask(address: SocketAddr, path: &str) -> Vec<u8> {
    let mut stream = begin(address, path).await;
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all).await;
    all
}

async fn begin(address: SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {path}/v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// Runs streams at the same time. Returns the processor seconds that a process used meanwhile, and its memory in the middle.
async fn run(process: &Process, streams: usize, count: usize, pause: u64) -> (f64, f64) {
    let before = process.cpu();
    let tasks: Vec<_> = (0..streams)
        .map(|_| {
            let address = process.address;
            tokio::spawn(async move {
                let all = ask(address, &format!("/{count}/{pause}/ok")).await;
                assert!(all.ends_with(b"0\r\n\r\n"), "it breaks off: {}", String::from_utf8_lossy(&all));
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(pause * count as u64 * 2 / 3)).await;
    let memory = process.size().0;
    for task in tasks {
        task.await.unwrap();
    }
    (process.cpu() - before, memory)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

async fn figures() {
    let server = Process::start(&["server"]);
    let upstream = server.address.to_string();
    let start = |name: &str| Process::start(&[name, &upstream]);
    // 5,000 frames a second, like those of a fleet of models, in streams that are more and slower from run to run.
    for (streams, count, pause) in [(100, 640, 20), (1000, 64, 200), (5000, 16, 1000)] {
        let (plain, aside) = (start("plain"), start("aside"));
        let (mut of_plain, mut of_aside) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            for (process, all) in [(&plain, &mut of_plain), (&aside, &mut of_aside)] {
                let (cpu, _) = run(process, streams, count, pause).await;
                all.push(cpu / (streams * count) as f64 * 1e6);
            }
        }
        let (of_plain, of_aside) = (median(of_plain), median(of_aside));
        println!(
            "CPU a frame in {streams} streams, median of 3: plain {of_plain:.2} us, aside {of_aside:.2} us, {:.2} times",
            of_aside / of_plain
        );
    }
    // 2,000 streams at once.
    let (plain, aside) = (start("plain"), start("aside"));
    let (_, of_plain) = run(&plain, 2000, 100, 100).await;
    let (_, of_aside) = run(&aside, 2000, 100, 100).await;
    println!(
        "2,000 streams at once: plain {of_plain:.1} MB, aside {of_aside:.1} MB, {:.1} MB more",
        of_aside - of_plain
    );
}

/// Runs many streams, 64 at a time: complete ones, dying servers, leaving and slow clients, gzip and HTTP/2.
async fn soak(count: usize) {
    let server = Process::start(&["server"]);
    let aside = Process::start(&["aside", &server.address.to_string()]);
    let begun = Instant::now();
    let mut http2 = Client::builder(TokioExecutor::new());
    let http2: Client<_, Full<Bytes>> = http2.http2_only(true).build_http();
    let each = count / 10;
    for round in 1..=10 {
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..each {
            while tasks.len() >= 64 {
                tasks.join_next().await.unwrap().unwrap();
            }
            let (address, http2) = (aside.address, http2.clone());
            tasks.spawn(async move { one(address, number, http2).await });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        let (memory, descriptors) = aside.size();
        println!(
            "{:>7} streams, {:.0} s: {memory:.1} MB, {descriptors} descriptors",
            round * each,
            begun.elapsed().as_secs_f64()
        );
    }
}

/// Runs one stream. Returns whether all of it arrived.
async fn one(address: SocketAddr, number: usize, http2: Client<HttpConnector, Full<Bytes>>) {
    let whole = |all: &[u8]| {
        let text = String::from_utf8_lossy(all).into_owned();
        // 20 frames: 9 words of thinking, then 8 words of content, and the held text.
        (text.matches("\"word\"").count(), text.contains("\"reasoning_content\":\"word\""), text.contains("<thi"))
    };
    match number % 6 {
        0 => {
            let all = ask(address, "/20/0/ok").await;
            assert!(
                whole(&all) == (17, true, true) && all.ends_with(b"0\r\n\r\n"),
                "{}",
                String::from_utf8_lossy(&all)
            );
        }
        1 => {
            let all = ask(address, "/20/0/die").await;
            assert!(
                whole(&all) == (17, true, true) && !all.ends_with(b"0\r\n\r\n"),
                "{}",
                String::from_utf8_lossy(&all)
            );
        }
        2 => {
            let mut stream = begin(address, "/2000/0/ok").await;
            let _ = stream.read(&mut [0; 100]).await;
        }
        3 => {
            let all = ask(address, "/20/0/gzip").await;
            assert!(
                whole(&all) == (17, true, true) && all.ends_with(b"0\r\n\r\n"),
                "{}",
                String::from_utf8_lossy(&all)
            );
        }
        4 => {
            let request =
                Request::post(format!("http://{address}/20/0/ok/v1/chat/completions")).body(Full::from("{}")).unwrap();
            let answer = http2.request(request).await.unwrap();
            let all = answer.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(whole(&all), (17, true, true));
        }
        _ => {
            let mut stream = begin(address, "/20/0/ok").await;
            let (mut all, mut buffer) = (Vec::new(), [0; 700]);
            while let Ok(len @ 1..) = stream.read(&mut buffer).await {
                all.extend_from_slice(&buffer[..len]);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            assert!(
                whole(&all) == (17, true, true) && all.ends_with(b"0\r\n\r\n"),
                "{}",
                String::from_utf8_lossy(&all)
            );
        }
    }
}
