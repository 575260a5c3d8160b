//! Decides which requests the proxy serves: those for one of its host names, from clients with its key.
//!
//! A web page can let its own host name resolve to 127.0.0.1, and a browser then allows the page to read what is served there.
//! Such a request still has the host name of the page. So a listener that only this machine can reach refuses unknown names.

use http::header::{AUTHORIZATION, HOST};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, Method, Request, StatusCode};
use subtle::ConstantTimeEq;

use crate::fault::Fault;
use crate::headers::API_KEY;

/// Headers in which clients send their key.
pub static KEYS: [HeaderName; 2] = [AUTHORIZATION, API_KEY];

/// The names of a listener, and the key of its clients.
pub struct Guard {
    /// The allowed names, in addition to `localhost` and addresses. Without a list, a listener that only this machine can reach
    /// allows no further names, and any other listener allows all names.
    pub hosts: Option<Vec<String>>,
    pub key: Option<Vec<u8>>,
}

impl Guard {
    /// Checks the host name in a request. `is_local` means that only this machine can reach the listener.
    pub fn check_host<B>(&self, request: &Request<B>, is_local: bool) -> Result<(), Fault> {
        let wrong = |why| Fault::new(StatusCode::BAD_REQUEST, why);
        let mut values = request.headers().get_all(HOST).iter();
        let header = values.next();
        if values.next().is_some() {
            return Err(wrong("the request has two Host headers"));
        }
        let header = header.map(|host| Authority::try_from(host.as_bytes())).transpose();
        let header = header.map_err(|_| wrong("the Host of the request cannot be read"))?;
        let authorities = || request.uri().authority().into_iter().chain(&header);
        if authorities().next().is_none() {
            return Err(wrong("the request has no Host header"));
        }
        match authorities().find(|authority| !self.has(authority.host(), is_local)) {
            None => Ok(()),
            Some(other) => {
                let message =
                    format!("the proxy is not served as {0}: allow the name by --allowed-host {0}", other.host());
                Err(Fault::new(StatusCode::FORBIDDEN, message))
            }
        }
    }

    fn has(&self, host: &str, is_local: bool) -> bool {
        let Some(allowed) = self.hosts.as_deref().or(is_local.then_some(&[])) else { return true };
        let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let is = |name: &str| name == "*" || host.eq_ignore_ascii_case(name);
        address.parse::<std::net::IpAddr>().is_ok() || is("localhost") || allowed.iter().any(|name| is(name))
    }

    /// Checks the key of a request, and removes it, because it is for the proxy and not for the server. A browser's preflight
    /// request has no key.
    pub fn check_key(&self, method: &Method, headers: &mut HeaderMap) -> Result<(), Fault> {
        let Some(key) = &self.key else { return Ok(()) };
        let sent = KEYS.iter().flat_map(|name| headers.get_all(name)).map(|value| value.as_bytes());
        let is_bearer = |value: &[u8]| value.get(..7).is_some_and(|kind| kind.eq_ignore_ascii_case(b"Bearer "));
        let mut sent = sent.map(|value| if is_bearer(value) { &value[7..] } else { value }.trim_ascii());
        if method != Method::OPTIONS && !sent.any(|sent| sent.ct_eq(key).into()) {
            return Err(Fault::new(StatusCode::UNAUTHORIZED, "the key of the request is missing or wrong"));
        }
        KEYS.iter().for_each(|name| drop(headers.remove(name)));
        Ok(())
    }
}
