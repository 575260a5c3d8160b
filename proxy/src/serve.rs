//! Listens, accepts, and ends: at the first signal when the streams that are open have ended, at the second at once.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::admin;
use crate::config::{Config, Limits, bind};
use crate::error::Error;
use crate::exchange::{Client, Exchanges};
use crate::log;
use crate::metrics::Metrics;
use crate::socket::{Flushes, Socket, Streams};

/// A proxy that serves.
pub struct Proxy {
    /// Where clients connect.
    pub address: SocketAddr,
    /// Where `/healthz` and `/metrics` are.
    pub admin: Option<SocketAddr>,
    end: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

impl Proxy {
    /// Listens, and serves until [`Proxy::end`], without a log. It needs a runtime of tokio, with time and network.
    ///
    /// # Errors
    ///
    /// An address cannot be listened on.
    pub fn start(config: Config) -> Result<Proxy, Error> {
        let fault = |error: io::Error| Error::new(error.to_string());
        let listen = |setting: &str, address: &str| {
            let listener = bind(setting, address)?;
            listener.set_nonblocking(true).map_err(fault)?;
            let listener = TcpListener::from_std(listener).map_err(fault)?;
            let address = listener.local_addr().map_err(fault)?;
            Ok((listener, address))
        };
        let (listener, address) = listen("listen", &config.listen)?;
        let admin = config.admin.as_deref().map(|address| listen("admin", address)).transpose()?;
        let metrics = Metrics::new();
        log::info("listening", json!({"address": address.to_string(), "upstream": config.upstream.authority.as_str()}));
        let (end, ended) = watch::channel(false);
        let admin = admin.map(|(listener, address)| {
            tokio::spawn(serve_admin(listener, Arc::clone(&metrics), ended.clone()));
            address
        });
        let exchanges = Arc::new(Exchanges::new(config, metrics)?);
        tokio::spawn({
            let exchanges = Arc::clone(&exchanges);
            async move { exchanges.chooser.begin().await }
        });
        let serving = tokio::spawn(serve(listener, exchanges, ended));
        Ok(Proxy { address, admin, end, serving })
    }

    /// Accepts no more, and returns when all exchanges have ended.
    pub async fn end(self) {
        let _ = self.end.send(true);
        let _ = self.serving.await;
    }
}

/// Serves with a log on standard error until SIGTERM or an interrupt, then ends when the open streams have; at a second signal, at once.
///
/// # Errors
///
/// An address cannot be listened on, or the system refuses threads.
pub fn run(config: Config) -> Result<(), Error> {
    log::turn_on();
    raise_limit_of_files();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::new(format!("no threads: {error}")))?;
    runtime.block_on(async {
        let mut signals = Signals::new().map_err(|error| Error::new(format!("no signals: {error}")))?;
        let proxy = Proxy::start(config)?;
        signals.next().await;
        log::info("ending", json!({"how": "when the open streams have ended; at once with a second signal"}));
        tokio::select! {
            () = proxy.end() => {}
            () = signals.next() => {}
        }
        log::info("ended", json!({}));
        Ok(())
    })
}

/// The signals that ask the process to end.
struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    fn new() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    #[cfg(not(unix))]
    fn new() -> io::Result<Signals> {
        Ok(Signals {})
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        // Without signals there is nothing to wait for.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Raises the limit of open files: each stream takes two descriptors, the usual limit is 1,024, and the system allows more on
/// request.
fn raise_limit_of_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        // With the limit as it was, fewer streams can be open at once.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

/// Accepts the next connection, or returns `None` at the end.
async fn accept(listener: &TcpListener, ended: &mut watch::Receiver<bool>) -> Option<(TcpStream, SocketAddr)> {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = ended.wait_for(|ended| *ended) => return None,
        };
        match accepted {
            Ok(accepted) => return Some(accepted),
            Err(error) => {
                // Without descriptors, the next call fails as fast as this one.
                log::warn("no connection was accepted", json!({"error": error.to_string()}));
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn serve(listener: TcpListener, exchanges: Arc<Exchanges>, mut ended: watch::Receiver<bool>) {
    let limits = exchanges.limits;
    let builder = Arc::new(builder(&limits));
    let graceful = GracefulShutdown::new();
    while let Some((stream, client)) = accept(&listener, &mut ended).await {
        // Pieces are small, and wait for nothing.
        let _ = stream.set_nodelay(true);
        let flushes = Arc::new(Flushes::default());
        let socket = Socket::new(stream, Arc::clone(&flushes), limits.connect, limits.idle);
        let exchanges = Arc::clone(&exchanges);
        let service = service_fn(move |request| {
            let client = Client { address: client.ip(), flushes: Arc::clone(&flushes) };
            let exchanges = Arc::clone(&exchanges);
            async move { Ok::<_, Infallible>(exchanges.answer(client, request).await) }
        });
        let watcher = graceful.watcher();
        let builder = Arc::clone(&builder);
        tokio::spawn(async move {
            let connection = builder.serve_connection_with_upgrades(TokioIo::new(socket), service).into_owned();
            // Its exchanges have logged how they ended.
            let _ = watcher.watch(connection).await;
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

fn builder(limits: &Limits) -> auto::Builder<Streams> {
    let mut builder = auto::Builder::new(Streams::new(limits.idle));
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.connect)
        .max_buf_size(limits.header)
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(30))
        .max_header_list_size(u32::try_from(limits.header).unwrap_or(u32::MAX));
    builder
}

async fn serve_admin(listener: TcpListener, metrics: Arc<Metrics>, mut ended: watch::Receiver<bool>) {
    while let Some((stream, _)) = accept(&listener, &mut ended).await {
        let metrics = Arc::clone(&metrics);
        let service = service_fn(move |request| {
            let answer = admin::answer(&request, &metrics);
            async move { Ok::<_, Infallible>(answer) }
        });
        let limit = Duration::from_secs(10);
        tokio::spawn(async move {
            let mut builder = hyper::server::conn::http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(limit);
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
