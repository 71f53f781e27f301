//! Rejects requests that do not come from a page of this server.
//!
//! Any web page can make a browser send requests to this machine. Such a request has another host name (DNS rebinding), or a
//! `Sec-Fetch-Site` or `Origin` header of another site.

use std::net::IpAddr;

use axum::http::header::{HOST, ORIGIN, REFERER};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};

/// The reason of a rejected request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// It has another host name.
    #[error("this page is served to 127.0.0.1, [::1] and localhost only; the request names another host")]
    Host,
    /// Another site caused it.
    #[error("the request comes from another site; open the page by its own address")]
    Site,
}

/// The header with the origin of a request.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// The header with the purpose of a request.
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Checks the head of a request.
pub(crate) fn judge(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
    let host = only(headers, &HOST).ok_or(Refusal::Host)?;
    let named = uri.authority().map(axum::http::uri::Authority::as_str);
    if !is_loopback(host) || named.is_some_and(|named| named != host) {
        return Err(Refusal::Host);
    }
    let is_own = |url: &str| {
        let rest = url.strip_prefix("http://").and_then(|rest| rest.strip_prefix(host));
        rest.is_some_and(|path| path.is_empty() || path.starts_with('/'))
    };
    let is_foreign = |name| headers.contains_key(name) && !only(headers, name).is_some_and(is_own);
    let site = headers.get(FETCH_SITE).map(HeaderValue::as_bytes);
    let allowed = match (site, method) {
        _ if is_foreign(&ORIGIN) => false,
        // A user may follow a link on another page, but such a page may not load this one by itself.
        (Some(site), &Method::GET | &Method::HEAD) => {
            matches!(site, b"same-origin" | b"none")
                || headers.get(FETCH_DEST).is_some_and(|dest| dest == "document")
        }
        // Without Sec-Fetch-Site, a followed link cannot be distinguished from a load by the page.
        (None, &Method::GET | &Method::HEAD) => !is_foreign(&REFERER),
        (Some(site), _) => site == b"same-origin",
        (None, _) => headers.contains_key(ORIGIN),
    };
    if allowed { Ok(()) } else { Err(Refusal::Site) }
}

/// The header's value if it is unique and a string.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Whether `HOST` or `HOST:PORT` is a loopback address or `localhost`. The port may be that of a tunnel.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = match name.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').unwrap_or_default(),
        None => name,
    };
    name.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests;
