//! The address of a service's method, with the errors of Go's `net/url` and `net/http`.

use tiphys_http::HttpUrl;
use tiphys_model::access::redact_url;

/// Appends the path of a method to `baseUrl`, with one slash between both.
pub(super) fn method_url(base: &str, path: &str, application_set: &str) -> Result<HttpUrl, String> {
    let slash = if base.ends_with('/') { "" } else { "/" };
    let url = format!("{base}{slash}{path}");
    let shown = redact_url(&url);
    let invalid =
        |problem: &str| Err(format!("NewRequest returned unexpected error: parse {shown:?}: {problem}"));
    if url.contains(|c: char| c.is_ascii_control()) {
        return invalid("net/url: invalid control character in URL");
    }
    let scheme = match scheme(&url) {
        Scheme::Name(scheme) => scheme,
        Scheme::Missing => return invalid("missing protocol scheme"),
        Scheme::None if url.split('/').next().is_some_and(|segment| segment.contains(':')) => {
            return invalid("first path segment in URL cannot contain colon");
        }
        Scheme::None => "",
    };
    let scheme = scheme.to_ascii_lowercase();
    let post = |problem: &str| Err(format!("error get api '{application_set}': Post {shown:?}: {problem}"));
    if scheme != "http" && scheme != "https" {
        return post(&format!("unsupported protocol scheme {scheme:?}"));
    }
    // The path must not become the host.
    if base.split_once("://").is_none_or(|(_, rest)| rest.is_empty() || rest.starts_with('/')) {
        return post("http: no Host in request URL");
    }
    if base.contains(['?', '#']) {
        return invalid("baseUrl must not have a query or a fragment, which would replace the path");
    }
    match HttpUrl::parse(&url) {
        Some((url, _)) => Ok(url),
        None => invalid("it is not a valid URL"),
    }
}

/// The part of a URL before the first colon.
enum Scheme<'a> {
    Name(&'a str),
    None,
    /// A colon at the beginning.
    Missing,
}

fn scheme(url: &str) -> Scheme<'_> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    match url.split_once(|c: char| !is_allowed(c)).map(|(name, _)| name) {
        Some("") if url.starts_with(':') => Scheme::Missing,
        Some(name)
            if name.starts_with(|c: char| c.is_ascii_alphabetic())
                && url.get(name.len()..).is_some_and(|rest| rest.starts_with(':')) =>
        {
            Scheme::Name(name)
        }
        _ => Scheme::None,
    }
}

#[cfg(test)]
mod tests;
