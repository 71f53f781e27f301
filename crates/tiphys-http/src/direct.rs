//! Requests without a proxy and without other headers than the given ones; reqwest adds `Accept`.

use bytes::Bytes;
use http_body_util::Full;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use reqwest::header::HeaderMap;

use crate::connect_to::Router;
use crate::{ConnectTo, HttpError, HttpUrl};

/// A connection pool.
#[derive(Debug)]
pub(crate) struct DirectClient(Client<HttpsConnector<Router>, Full<Bytes>>);

impl DirectClient {
    pub(crate) fn new(tls: rustls::ClientConfig, connect_to: &[ConnectTo]) -> Self {
        let connector = HttpsConnector::from((Router::new(connect_to), tls));
        Self(Client::builder(TokioExecutor::new()).build(connector))
    }

    /// Sends a POST request. Returns when the response's head has arrived.
    pub(crate) async fn post(
        &self,
        url: &HttpUrl,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<reqwest::Response, HttpError> {
        let mut request = http::Request::post(url.as_str())
            .body(Full::new(body))
            .map_err(|_| HttpError::Other("its URL has characters that are not allowed".to_owned()))?;
        *request.headers_mut() = headers;
        let response = self.0.request(request).await;
        response
            .map(|response| response.map(reqwest::Body::wrap).into())
            .map_err(|error| HttpError::of_request(&error, None))
    }
}
