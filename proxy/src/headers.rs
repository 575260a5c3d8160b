//! Changes the headers of requests and answers as RFC 9110 requires of a proxy: headers of one connection are not forwarded,
//! and headers with the origin of a request are added.

use std::net::IpAddr;
use std::sync::Arc;

use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, COOKIE, EXPECT, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE, VIA,
};
use http::{HeaderMap, HeaderName, HeaderValue, Version};

use crate::socket::Flushes;

/// The client of a request.
pub struct Client {
    pub address: IpAddr,
    /// Whether the client uses a listener that only this machine can reach.
    pub is_local: bool,
    pub is_encrypted: bool,
    pub flushes: Arc<Flushes>,
}

/// Headers that concern only one connection, in addition to those that `Connection` names.
static HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Headers that describe the original body, and are wrong once the body is rewritten.
static OF_THE_BODY: [HeaderName; 6] = [
    CONTENT_LENGTH,
    http::header::ETAG,
    HeaderName::from_static("content-md5"),
    HeaderName::from_static("digest"),
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("repr-digest"),
];

pub static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
pub static DIALECT: HeaderName = HeaderName::from_static("x-aside-dialect");
pub const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
static FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
static FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
static FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Removes the headers that concern one connection. Returns the protocol to which a request or an answer changes.
pub fn remove_hop_by_hop(headers: &mut HeaderMap) -> Option<HeaderValue> {
    // If a body has a transfer encoding, its `Content-Length` does not apply and must not be forwarded.
    if headers.contains_key(TRANSFER_ENCODING) {
        headers.remove(CONTENT_LENGTH);
    }
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .flat_map(|value| value.as_bytes().split(|&byte| byte == b','))
        .filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok())
        .collect();
    let upgrade = headers.get(UPGRADE).filter(|_| named.contains(&UPGRADE)).cloned();
    for name in named.iter().filter(|&name| *name != CONTENT_LENGTH && *name != HOST).chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
    upgrade
}

/// Removes the headers that describe the original body.
pub fn remove_of_the_body(headers: &mut HeaderMap) {
    for name in &OF_THE_BODY {
        headers.remove(name);
    }
}

/// Turns the headers of a request into those of the request to the server.
pub fn forward(headers: &mut HeaderMap, version: Version, authority: Option<&str>, client: &Client, is_split: bool) {
    let proto = if client.is_encrypted { "https" } else { "http" };
    let client = client.address.to_canonical().to_string();
    let before = headers.get_all(&FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
    let chain: Vec<&str> = before.chain([client.as_str()]).collect();
    set(headers, &FORWARDED_FOR, &chain.join(", "));
    let host = headers.get(HOST).cloned().or_else(|| authority.and_then(|host| host.parse().ok()));
    if let (Some(host), false) = (host, headers.contains_key(&FORWARDED_HOST)) {
        headers.insert(&FORWARDED_HOST, host);
    }
    if !headers.contains_key(&FORWARDED_PROTO) {
        headers.insert(&FORWARDED_PROTO, HeaderValue::from_static(proto));
    }
    let hop = match version {
        Version::HTTP_2 => "2 aside",
        Version::HTTP_10 => "1.0 aside",
        _ => "1.1 aside",
    };
    headers.append(VIA, HeaderValue::from_static(hop));
    // The connection to the client has already answered this header.
    headers.remove(EXPECT);
    // The HTTP client writes this header for the server's name.
    headers.remove(HOST);
    // HTTP/2 may split the cookies into several headers, which HTTP/1.1 forbids.
    let cookies: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if cookies.len() > 1
        && let Ok(cookies) = HeaderValue::from_bytes(&cookies.join(&b"; "[..]))
    {
        headers.insert(COOKIE, cookies);
    }
    if is_split {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }
}

fn set(headers: &mut HeaderMap, name: &HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// Returns the request's id: the client's, if that has at most 128 characters, or a new one.
pub fn request_id(headers: &mut HeaderMap) -> HeaderValue {
    let known = headers.get(&REQUEST_ID).filter(|id| !id.is_empty() && id.len() <= 128 && id.to_str().is_ok());
    let id = known.cloned().unwrap_or_else(|| {
        let mut bytes = [0; 16];
        // Ids only distinguish requests in the log, so equal ids do no harm if there is no source of randomness.
        let _ = getrandom::fill(&mut bytes);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        HeaderValue::from_str(&hex).unwrap_or(HeaderValue::from_static("none"))
    });
    headers.insert(&REQUEST_ID, id.clone());
    id
}

/// Returns the id of the trace that a request is part of, for the log.
pub fn trace(headers: &HeaderMap) -> Option<String> {
    let parent = headers.get("traceparent")?.to_str().ok()?;
    let id = parent.split('-').nth(1)?;
    (id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        let pairs = lines
            .iter()
            .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap()));
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(name, value);
        }
        map
    }

    #[test]
    fn what_concerns_a_connection_goes_no_further() {
        let mut map = headers(&[
            ("connection", "close, x-mine, Upgrade"),
            ("x-mine", "1"),
            ("upgrade", "websocket"),
            ("keep-alive", "3"),
            ("te", "trailers"),
            ("proxy-authorization", "secret"),
            ("authorization", "Bearer k"),
            ("transfer-encoding", "chunked"),
            ("content-length", "5"),
        ]);
        assert_eq!(remove_hop_by_hop(&mut map).unwrap(), "websocket");
        assert_eq!(map, headers(&[("authorization", "Bearer k")]));
        // A header that does not concern the connection is not removed, even if `Connection` names it.
        let mut map = headers(&[("connection", "content-length"), ("content-length", "5")]);
        assert_eq!(remove_hop_by_hop(&mut map), None);
        assert_eq!(map, headers(&[("content-length", "5")]));
    }

    #[test]
    fn where_a_request_came_from_is_added() {
        let mut map =
            headers(&[("host", "me:1"), ("x-forwarded-for", "9.9.9.9"), ("accept-encoding", "gzip"), ("via", "1.0 a")]);
        map.append(COOKIE, "a=1".parse().unwrap());
        map.append(COOKIE, "b=2".parse().unwrap());
        let client = Client {
            address: "::ffff:10.0.0.1".parse().unwrap(),
            is_local: true,
            is_encrypted: false,
            flushes: Arc::default(),
        };
        forward(&mut map, Version::HTTP_11, None, &client, true);
        let wanted = [
            ("x-forwarded-for", "9.9.9.9, 10.0.0.1"),
            ("accept-encoding", "identity"),
            ("via", "1.0 a"),
            ("via", "1.1 aside"),
            ("x-forwarded-host", "me:1"),
            ("x-forwarded-proto", "http"),
            ("cookie", "a=1; b=2"),
        ];
        assert_eq!(map, headers(&wanted));
    }

    #[test]
    fn ids_and_traces() {
        let mut map = headers(&[
            ("x-request-id", "mine"),
            ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ]);
        assert_eq!(request_id(&mut map), "mine");
        assert_eq!(trace(&map).as_deref(), Some("0af7651916cd43dd8448eb211c80319c"));
        let mut map = headers(&[("x-request-id", &"x".repeat(129)), ("traceparent", "no")]);
        assert_eq!((request_id(&mut map).len(), trace(&map)), (32, None));
    }
}
