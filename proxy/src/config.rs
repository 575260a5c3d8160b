//! Checks the settings, so that faults are found before anything is served.

use std::time::Duration;

use aside::history;
use aside::sse::{Comments, Formats, Options, Shapes};
use aside::{Channel, Start};
use http::header::HeaderValue;
use tokio_rustls::TlsAcceptor;

use crate::choice::Choice;
use crate::error::Error;
use crate::settings::{Settings, StartAt, Thinking, Upstreams, Word};
use crate::tls;
use crate::upstream::Upstream;

/// The checked settings of a proxy, made from [`Settings`].
pub struct Config {
    pub(crate) listen: String,
    pub(crate) admin: Option<String>,
    pub(crate) allowed_hosts: Option<Vec<String>>,
    pub(crate) client_key: Option<Vec<u8>>,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) servers: Vec<Server>,
    pub(crate) limits: Limits,
}

/// The checked settings of a server and of its answers.
pub struct Server {
    /// The patterns of the server's models.
    pub(crate) models: Vec<String>,
    pub(crate) upstream: Upstream,
    pub(crate) tls: rustls::ClientConfig,
    pub(crate) key: Option<HeaderValue>,
    pub(crate) choice: Option<Choice>,
    pub(crate) drafts: bool,
    pub(crate) starts: Starts,
    pub(crate) thinking: Thinking,
    pub(crate) formats: Formats,
    pub(crate) options: Options,
    /// Whether comments in a stream of the server become events of the stream's format.
    pub(crate) replaces_comments: bool,
    pub(crate) history: Option<history::Server>,
}

/// The starts of answers to requests that turn the thinking on or off.
#[derive(Clone, Copy)]
pub struct Starts {
    pub on: StartAt,
    pub off: StartAt,
}

impl Starts {
    /// Returns the start of an answer, or `None` if the dialect decides it. `thinks` is the wish of the request, and `known` the
    /// start according to the chat template.
    pub fn of(&self, thinks: Option<bool>, known: Option<Start>) -> Option<Start> {
        match thinks.map_or(StartAt::Dialect, |thinks| if thinks { self.on } else { self.off }) {
            StartAt::Dialect => known,
            StartAt::Content => Some(Start::Channel(Channel::Content)),
            StartAt::Thinking => Some(Start::Channel(Channel::Thinking)),
        }
    }
}

#[derive(Clone, Copy)]
pub struct Limits {
    pub body: u64,
    pub header: usize,
    pub tools: usize,
    pub connect: Duration,
    pub idle: Duration,
    pub drain: Option<Duration>,
}

impl Config {
    /// Checks settings.
    ///
    /// # Errors
    ///
    /// A setting is missing or wrong. The error has its name and a correct form.
    pub fn new(settings: &Settings) -> Result<Config, Error> {
        let limits = Limits {
            body: settings.max_body.unwrap_or(128 << 20),
            header: settings.max_header.unwrap_or(64 << 10),
            tools: settings.max_tools.unwrap_or(1 << 20),
            connect: seconds("connect-timeout", settings.connect_timeout, 10)?,
            idle: seconds("idle-timeout", settings.idle_timeout, 600)?,
            drain: settings.drain.map(|drain| seconds("drain", Some(drain), 0)).transpose()?,
        };
        if !(8192..=1 << 24).contains(&limits.header) {
            return Err(Error::new("max-header: it must be from 8192 to 16777216"));
        }
        let missing = "upstream: the server's URL is missing; write --upstream http://127.0.0.1:8080";
        let servers = match &settings.upstream {
            None => return Err(Error::new(missing)),
            Some(Upstreams::One(_)) => vec![Server::new(settings, vec!["*".to_owned()])?],
            Some(Upstreams::Several(tables)) if tables.is_empty() => return Err(Error::new(missing)),
            Some(Upstreams::Several(tables)) => {
                let of =
                    |table| settings.of_server(table).and_then(|(settings, models)| Server::new(&settings, models));
                let numbered = tables.iter().zip(1..);
                let server =
                    |(table, number)| of(table).map_err(|error| Error::new(format!("[[upstream]] {number}: {error}")));
                numbered.map(server).collect::<Result<_, _>>()?
            }
        };
        let is_name = |host: &&String| !host.is_empty() && !host.contains([':', '/', ' ']);
        if let Some(host) = settings.allowed_host.iter().flatten().find(|host| !is_name(host)) {
            let message =
                format!("allowed-host: {host:?} is not a name; write it without http:// and port: models.home");
            return Err(Error::new(message));
        }
        Ok(Config {
            listen: settings.listen.clone().unwrap_or_else(|| "127.0.0.1:8088".to_owned()),
            admin: settings.admin.clone(),
            allowed_hosts: settings.allowed_host.clone(),
            client_key: settings.client_key_env.as_deref().map(client_key).transpose()?,
            tls: tls::server(settings.tls_cert.as_deref(), settings.tls_key.as_deref())?,
            servers,
            limits,
        })
    }

    /// Checks that the addresses can be listened on.
    ///
    /// # Errors
    ///
    /// An address is in use, or does not belong to this machine.
    pub fn check(&self) -> Result<(), Error> {
        // Both addresses are bound at the same time, so that equal addresses are an error.
        let listener = bind("listen", &self.listen)?;
        self.admin.as_deref().map(|address| bind("admin", address)).transpose()?;
        drop(listener);
        Ok(())
    }
}

impl Server {
    /// Checks the settings of one server, whose models have these patterns.
    fn new(settings: &Settings, models: Vec<String>) -> Result<Server, Error> {
        let Some(Upstreams::One(url)) = &settings.upstream else {
            return Err(Error::new("the `url` must be a text; write url = \"http://127.0.0.1:8080\""));
        };
        let upstream = Upstream::new(url)?;
        let formats = settings.formats.as_deref().unwrap_or(&[Word(Formats::ALL)]).iter().map(|format| format.0);
        let formats = formats.reduce(|all, format| all | format);
        let formats = formats.ok_or_else(|| Error::new("formats: the list is empty; leave it out for all"))?;
        Ok(Server {
            models,
            tls: tls::client(upstream.is_encrypted(), settings.upstream_ca.as_deref())?,
            upstream,
            key: settings.upstream_key_env.as_deref().map(upstream_key).transpose()?,
            choice: Choice::of_settings(settings)?,
            drafts: drafts(settings)?,
            starts: Starts {
                on: settings.on.unwrap_or(StartAt::Dialect),
                off: settings.off.unwrap_or(StartAt::Content),
            },
            thinking: settings.thinking.unwrap_or(Thinking::Keep),
            formats,
            options: options(settings).formats(formats),
            replaces_comments: settings.comments == Some(Word(Comments::Chunk)),
            history: settings.server.as_deref().map(server).transpose()?,
        })
    }
}

/// Listens on an address.
pub fn bind(setting: &str, address: &str) -> Result<std::net::TcpListener, Error> {
    std::net::TcpListener::bind(address).map_err(|error| {
        let advice = match error.kind() {
            std::io::ErrorKind::AddrInUse => "another program listens there: end it, or write another port",
            std::io::ErrorKind::AddrNotAvailable => {
                "this machine does not have that address: write 127.0.0.1 or 0.0.0.0"
            }
            std::io::ErrorKind::PermissionDenied => "that port is reserved: write one above 1023",
            _ => "write it as 127.0.0.1:8088",
        };
        Error::new(format!("{setting}: {address}: {error}; {advice}"))
    })
}

fn seconds(setting: &str, value: Option<u64>, default: u64) -> Result<Duration, Error> {
    match value.unwrap_or(default) {
        seconds @ 1..=86_400 => Ok(Duration::from_secs(seconds)),
        _ => Err(Error::new(format!("{setting}: it must be from 1 to 86400 seconds"))),
    }
}

/// Returns the key in the environment variable that a setting names.
fn key(setting: &str, variable: &str) -> Result<String, Error> {
    let fault = |why: &str| Error::new(format!("{setting}: the environment variable {variable} {why}"));
    let key = std::env::var(variable).map_err(|_| fault("is not set"))?;
    let is_key = |key: &str| !key.is_empty() && HeaderValue::from_str(key).is_ok();
    is_key(key.trim()).then(|| key.trim().to_owned()).ok_or_else(|| fault("has no key: it is not one line"))
}

fn upstream_key(variable: &str) -> Result<HeaderValue, Error> {
    let key = HeaderValue::from_str(&format!("Bearer {}", key("upstream-key-env", variable)?));
    let mut key = key.map_err(|error| Error::new(format!("upstream-key-env: {error}")))?;
    key.set_sensitive(true);
    Ok(key)
}

fn client_key(variable: &str) -> Result<Vec<u8>, Error> {
    key("client-key-env", variable).map(String::into_bytes)
}

/// Returns whether a dialect is drafted if none is known.
fn drafts(settings: &Settings) -> Result<bool, Error> {
    let drafts = settings.draft.unwrap_or(false);
    if drafts && !cfg!(feature = "templates") {
        return Err(Error::new("draft: this program renders no templates: build it with the feature `templates`"));
    }
    Ok(drafts)
}

fn server(name: &str) -> Result<history::Server, Error> {
    history::Server::find(name).map_err(|unknown| Error::new(format!("server: {unknown}")))
}

/// Returns the options of all rewriters.
fn options(settings: &Settings) -> Options {
    let is_on = |setting: Option<bool>| setting.unwrap_or(false);
    Options::new()
        .field(word(settings.field))
        .responses_as(word(settings.responses_as))
        .calls(settings.calls.unwrap_or(true))
        .repair(is_on(settings.repair))
        .comments(word(settings.comments))
        .normalise(if is_on(settings.normalise) { Shapes::ALL } else { Shapes::NONE })
        .promote_empty(is_on(settings.promote_empty))
        .merge(is_on(settings.merge))
        // With a label, blocks and items that the rewriter made are recognised in later requests.
        .label(settings.server.is_some())
        .max_event(settings.max_event)
}

fn word<T: Default>(setting: Option<Word<T>>) -> T {
    setting.map_or_else(T::default, |word| word.0)
}
