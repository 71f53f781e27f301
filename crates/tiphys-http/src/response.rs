//! Responses, their bodies, and where a redirect leads.

use std::fmt;
use std::io::Read as _;

use bytes::Bytes;
use flate2::bufread::MultiGzDecoder;
use reqwest::header::{CONTENT_ENCODING, HeaderValue, LOCATION};

use crate::{Base, Deadline, HttpError, HttpUrl};

/// The URL of a request, and the URL that redirected to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The URL to request.
    pub url: HttpUrl,
    /// The URL whose response redirected here.
    pub redirected_from: Option<HttpUrl>,
}

/// A response whose body has not been read yet. Non-2xx responses are responses, not errors.
pub struct Response {
    target: Target,
    inner: reqwest::Response,
    deadline: Deadline,
}

/// Omits the headers, which may be secret.
impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("target", &self.target)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

impl Target {
    /// A URL that no redirect led to.
    pub fn new(url: HttpUrl) -> Self {
        Self { url, redirected_from: None }
    }
}

impl Response {
    pub(crate) fn new(target: Target, inner: reqwest::Response, deadline: Deadline) -> Self {
        Self { target, inner, deadline }
    }

    /// The request's target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The status code.
    pub fn status(&self) -> u16 {
        self.inner.status().as_u16()
    }

    /// Status code and standard reason phrase: `404 Not Found`.
    pub fn status_line(&self) -> String {
        let status = self.inner.status();
        format!("{} {}", status.as_u16(), status.canonical_reason().unwrap_or_default()).trim_end().to_owned()
    }

    /// All values of a header. Values that are not visible ASCII are skipped.
    pub fn headers(&self, name: &str) -> impl Iterator<Item = &str> {
        self.inner.headers().get_all(name).iter().filter_map(|value| value.to_str().ok())
    }

    /// The target of a redirect. None if the response is not one. A redirect from `https` to `http` is an error.
    pub fn redirect(&self) -> Result<Option<Target>, HttpError> {
        if !matches!(self.status(), 301 | 302 | 303 | 307 | 308) {
            return Ok(None);
        }
        let location = self.inner.headers().get(LOCATION).map(HeaderValue::to_str);
        let Some(Ok(location)) = location else { return Ok(None) };
        let from = &self.target.url;
        let next = from.resolve(location, Base::File).ok_or_else(|| {
            HttpError::Other("it redirects to an invalid URL; expected http or https".to_owned())
        })?;
        if from.is_https() && !next.is_https() {
            return Err(HttpError::Other(format!(
                "it redirects from https to {next}, which is not encrypted"
            )));
        }
        Ok(Some(Target { url: next, redirected_from: Some(from.clone()) }))
    }

    /// The URL of the next page of a list (`Link: <URL>; rel="next"`), which may be on another server. None on the last page. An
    /// invalid URL is an error.
    pub fn next_page(&self) -> Result<Option<HttpUrl>, HttpError> {
        let links = self.headers("link").flat_map(|value| value.split('<').skip(1));
        let is_next = |parameter: &str| matches!(parameter.trim(), "rel=\"next\"" | "rel=next");
        let reference = links
            .filter_map(|link| link.split_once('>'))
            .find(|(_, parameters)| parameters.split([';', ',']).any(is_next));
        let Some((reference, _)) = reference else { return Ok(None) };
        let next = self.target.url.resolve(reference, Base::File);
        next.map(Some).ok_or_else(|| {
            HttpError::Other("the link to its next page is invalid; expected an http or https URL".to_owned())
        })
    }

    /// The next part of the body; none at its end. A body that ends early is an error, and so is the request's deadline.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        let chunk = self.deadline.limit(self.inner.chunk()).await?;
        chunk.map_err(|error| HttpError::of_body(&error))
    }

    /// The whole body; none if it is longer than `max` bytes.
    pub async fn bytes(mut self, max: u64) -> Result<Option<Vec<u8>>, HttpError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            let length = body.len().saturating_add(chunk.len());
            if u64::try_from(length).unwrap_or(u64::MAX) > max {
                return Ok(None);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Some(body))
    }

    /// The whole body, decompressed if its encoding is gzip; none if it is longer than `max` bytes in either form.
    pub async fn decompressed_bytes(self, max: u64) -> Result<Option<Vec<u8>>, HttpError> {
        let encoding = self.inner.headers().get(CONTENT_ENCODING);
        let is_gzip = encoding.is_some_and(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"gzip"));
        let Some(body) = self.bytes(max).await? else { return Ok(None) };
        if !is_gzip || body.is_empty() {
            return Ok(Some(body));
        }
        let mut decompressed = Vec::new();
        let read =
            MultiGzDecoder::new(body.as_slice()).take(max.saturating_add(1)).read_to_end(&mut decompressed);
        read.map_err(|_| HttpError::Other("its body is not valid gzip".to_owned()))?;
        let length = u64::try_from(decompressed.len()).unwrap_or(u64::MAX);
        Ok((length <= max).then_some(decompressed))
    }
}
