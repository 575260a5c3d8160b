//! Listens, accepts connections, and ends: at the first signal, when the open streams have ended or their time is over; at the
//! second signal, immediately.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::admin;
use crate::config::{Config, Limits, bind};
use crate::error::Error;
use crate::exchange::Exchanges;
use crate::headers::Client;
use crate::log;
use crate::metrics::Metrics;
use crate::socket::{Flushes, Socket, Streams};

/// The maximum number of connections that wait to be accepted. Linux may have a lower limit, `net.core.somaxconn`.
#[cfg(unix)]
const BACKLOG: i32 = 4096;

/// A proxy that serves.
pub struct Proxy {
    /// The address for clients.
    pub address: SocketAddr,
    /// The address for `/healthz`, `/readyz` and `/metrics`.
    pub admin: Option<SocketAddr>,
    /// The settings of both addresses.
    listens: (String, Option<String>),
    current: Arc<Current>,
    phase: watch::Sender<Phase>,
    serving: JoinHandle<()>,
}

/// The phases of the proxy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Serves,
    /// No connection is accepted, and open exchanges continue to their ends.
    Drains,
    Over,
}

/// The state for the current settings. SIGHUP replaces the state, and each request keeps the state with which it began.
struct Current(Mutex<Arc<Exchanges>>);

impl Current {
    fn get(&self) -> Arc<Exchanges> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Proxy {
    /// Listens, and serves until [`Proxy::end`], without a log. Must be called in a tokio runtime with time and network.
    ///
    /// # Errors
    ///
    /// An address cannot be listened on.
    pub fn start(config: Config) -> Result<Proxy, Error> {
        let fault = |error: io::Error| Error::new(error.to_string());
        let listen = |setting: &str, address: &str| {
            let listener = bind(setting, address)?;
            // The standard library's queue of 128 connections is full when many clients connect at once.
            #[cfg(unix)]
            rustix::net::listen(&listener, BACKLOG).map_err(|error| fault(error.into()))?;
            listener.set_nonblocking(true).map_err(fault)?;
            let listener = TcpListener::from_std(listener).map_err(fault)?;
            let address = listener.local_addr().map_err(fault)?;
            Ok((listener, address))
        };
        let listens = (config.listen.clone(), config.admin.clone());
        let (listener, address) = listen("listen", &config.listen)?;
        let admin = config.admin.as_deref().map(|address| listen("admin", address)).transpose()?;
        let upstream: Vec<_> = config.servers.iter().map(|server| server.upstream.authority.as_str()).collect();
        log::info("listening", json!({"address": address.to_string(), "upstream": upstream.join(", ")}));
        let (phase, phases) = watch::channel(Phase::Serves);
        let exchanges = Arc::new(Exchanges::new(config, Metrics::new())?);
        begin(&exchanges);
        let current = Arc::new(Current(Mutex::new(exchanges)));
        let admin = admin.map(|(listener, address)| {
            tokio::spawn(serve_admin(listener, Arc::clone(&current), phases.clone()));
            address
        });
        let serving = tokio::spawn(serve(listener, Arc::clone(&current), phases));
        Ok(Proxy { address, admin, listens, current, phase, serving })
    }

    /// Serves later requests with other settings. Open requests and the addresses do not change.
    ///
    /// # Errors
    ///
    /// The library does not have the dialect.
    pub fn reload(&self, config: Config) -> Result<(), Error> {
        if self.listens != (config.listen.clone(), config.admin.clone()) {
            log::warn("listen and admin stay as they were: they need a restart", json!({}));
        }
        let exchanges = Arc::new(Exchanges::new(config, Arc::clone(&self.current.get().metrics))?);
        begin(&exchanges);
        *self.current.0.lock().unwrap_or_else(PoisonError::into_inner) = exchanges;
        Ok(())
    }

    /// Stops accepting connections. Returns when all exchanges have ended by themselves, or were ended after the time in the
    /// settings.
    pub async fn end(self) {
        let _ = self.phase.send(Phase::Drains);
        let exchanges = self.current.get();
        match exchanges.limits.drain {
            None => drop(self.serving.await),
            Some(limit) => {
                let mut serving = self.serving;
                if tokio::time::timeout(limit, &mut serving).await.is_err() {
                    log::warn("the open streams break off: their time is over", json!({"seconds": limit.as_secs()}));
                    exchanges.metrics.is_over.store(true, Ordering::Relaxed);
                    let _ = self.phase.send(Phase::Over);
                    let _ = serving.await;
                }
            }
        }
        let _ = self.phase.send(Phase::Over);
    }
}

/// Asks the servers about their models, so that the log has the results.
fn begin(exchanges: &Arc<Exchanges>) {
    let exchanges = Arc::clone(exchanges);
    tokio::spawn(async move { exchanges.begin().await });
}

/// Serves with a log on standard error until SIGTERM or an interrupt, and then ends when the open streams have ended; at a
/// second signal, immediately. `load` makes the settings, at the start and at each SIGHUP; if they are wrong at a SIGHUP,
/// nothing changes.
///
/// # Errors
///
/// The settings are wrong, an address cannot be listened on, or the system refuses threads.
pub fn run(load: impl Fn() -> Result<Config, Error>) -> Result<(), Error> {
    let config = load()?;
    log::turn_on();
    raise_limit_of_files();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::new(format!("no threads: {error}")))?;
    runtime.block_on(async {
        let mut signals = Signals::new().map_err(|error| Error::new(format!("no signals: {error}")))?;
        let proxy = Proxy::start(config)?;
        while signals.next().await == Signal::Reload {
            match load().and_then(|config| proxy.reload(config)) {
                Ok(()) => log::info("the settings have been read again", json!({})),
                Err(error) => log::warn("the settings stay as they were", json!({"error": error.to_string()})),
            }
        }
        log::info("ending", json!({"how": "when the open streams have ended; at once with a second signal"}));
        tokio::select! {
            () = proxy.end() => {}
            () = async { while signals.next().await == Signal::Reload {} } => {}
        }
        log::info("ended", json!({}));
        Ok(())
    })
}

/// The meaning of a signal.
#[derive(PartialEq, Eq)]
enum Signal {
    End,
    #[cfg(unix)]
    Reload,
}

/// The signals that the process waits for.
struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hangup: tokio::signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    fn new() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    #[cfg(unix)]
    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::End,
            _ = self.interrupt.recv() => Signal::End,
            _ = self.hangup.recv() => Signal::Reload,
        }
    }

    #[cfg(not(unix))]
    fn new() -> io::Result<Signals> {
        Ok(Signals {})
    }

    #[cfg(not(unix))]
    async fn next(&mut self) -> Signal {
        // If signals cannot be received, the function waits forever.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Signal::End
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
        // If this fails, fewer streams can be open at once.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

/// Accepts the next connection, or returns `None` once this phase is reached.
async fn accept(
    listener: &TcpListener,
    phases: &mut watch::Receiver<Phase>,
    last: Phase,
) -> Option<(TcpStream, SocketAddr)> {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = phases.wait_for(|phase| *phase >= last) => return None,
        };
        match accepted {
            Ok(accepted) => return Some(accepted),
            Err(error) => {
                // If there are no free descriptors, the next call would fail immediately too, so the loop waits.
                log::warn("no connection was accepted", json!({"error": error.to_string()}));
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn serve(listener: TcpListener, current: Arc<Current>, mut phases: watch::Receiver<Phase>) {
    let graceful = GracefulShutdown::new();
    let is_local = is_local(&listener);
    while let Some((stream, client)) = accept(&listener, &mut phases, Phase::Drains).await {
        // Small pieces must be sent without delay.
        let _ = stream.set_nodelay(true);
        let (current, watcher, mut phases) = (Arc::clone(&current), graceful.watcher(), phases.clone());
        tokio::spawn(async move {
            let over = async {
                if phases.wait_for(|phase| *phase == Phase::Over).await.is_err() {
                    // The owner was dropped without ending the proxy, so connections continue.
                    std::future::pending::<()>().await;
                }
            };
            let (tls, limit) = {
                let exchanges = current.get();
                (exchanges.tls.clone(), exchanges.limits.connect)
            };
            let connection = async {
                let Some(tls) = tls else {
                    return connection(stream, client.ip(), is_local, false, current, watcher).await;
                };
                // If the handshake fails, there is no request to log.
                if let Ok(Ok(stream)) = tokio::time::timeout(limit, tls.accept(stream)).await {
                    connection(stream, client.ip(), is_local, true, current, watcher).await;
                }
            };
            tokio::select! {
                () = connection => {}
                () = over => {}
            }
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

/// Returns whether only this machine can reach a listener.
fn is_local(listener: &TcpListener) -> bool {
    listener.local_addr().is_ok_and(|address| address.ip().to_canonical().is_loopback())
}

/// Answers the requests of a connection.
async fn connection<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    address: IpAddr,
    is_local: bool,
    is_encrypted: bool,
    current: Arc<Current>,
    watcher: Watcher,
) {
    let limits = current.get().limits;
    let flushes = Arc::new(Flushes::default());
    let socket = Socket::new(stream, Arc::clone(&flushes), limits.connect, limits.idle);
    let service = service_fn(move |request| {
        let client = Client { address, is_local, is_encrypted, flushes: Arc::clone(&flushes) };
        let exchanges = current.get();
        async move { Ok::<_, Infallible>(exchanges.answer(client, request).await) }
    });
    let builder = builder(&limits);
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(socket), service);
    // The exchanges of the connection have already logged their ends.
    let _ = watcher.watch(connection.into_owned()).await;
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

async fn serve_admin(listener: TcpListener, current: Arc<Current>, mut phases: watch::Receiver<Phase>) {
    let is_local = is_local(&listener);
    while let Some((stream, _)) = accept(&listener, &mut phases, Phase::Over).await {
        let (current, phases) = (Arc::clone(&current), phases.clone());
        let service = service_fn(move |request| {
            let (exchanges, drains) = (current.get(), *phases.borrow() != Phase::Serves);
            async move { Ok::<_, Infallible>(admin::answer(&request, &exchanges, is_local, drains).await) }
        });
        let limit = Duration::from_secs(10);
        tokio::spawn(async move {
            let mut builder = hyper::server::conn::http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(limit);
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
