//! Decodes posted forms.

use std::collections::HashMap;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use percent_encoding::percent_decode;
use tokio::time::timeout;

use crate::access::{Access, FORM_TOKEN};
use crate::pages::message;

/// Limit of a posted form in bytes. Values are passed to plugins in the environment, which has a lower limit.
pub const FORM_BYTES_MAX: usize = 8 << 20;

/// Time to receive a body.
const BODY_MAX: Duration = Duration::from_secs(30);

/// The controls of a posted form in the order of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Posted {
    pairs: Vec<(String, String)>,
    /// The last value of each name.
    values: HashMap<String, usize>,
}

/// The body is not a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the posted form is not UTF-8 text")]
pub(crate) struct NotText;

/// Reads a posted form that has the token of forms. The error is the response, with a link back to the page of the form.
pub(crate) async fn read(
    access: &Access,
    headers: &HeaderMap,
    body: Body,
    back: &str,
) -> Result<Posted, Response> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let refused = |status, text: &str| message(status, "The form was refused", text, Some(back));
    let form = text(CONTENT_TYPE).and_then(|value| value.split(';').next()).map(str::trim);
    if form != Some("application/x-www-form-urlencoded") {
        return Err(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected a form"));
    }
    let Some(body) = read_body(headers, body).await else {
        return Err(refused(
            StatusCode::PAYLOAD_TOO_LARGE,
            &format!(
                "it has more than {FORM_BYTES_MAX} bytes, or did not arrive in {} s",
                BODY_MAX.as_secs()
            ),
        ));
    };
    match Posted::parse(&body) {
        Err(error) => Err(refused(StatusCode::BAD_REQUEST, &error.to_string())),
        Ok(posted) if access.is_form_token(posted.get(FORM_TOKEN)) => Ok(posted),
        Ok(_) => Err(refused(
            StatusCode::FORBIDDEN,
            "Its token is missing or old. Go back to the form and send it again; with scripts it has what you have entered.",
        )),
    }
}

/// Returns the body of a write. None if it is longer than [`FORM_BYTES_MAX`], or takes longer than [`BODY_MAX`].
pub(crate) async fn read_body(headers: &HeaderMap, body: Body) -> Option<Bytes> {
    let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    // A body whose declared length exceeds the limit is not read.
    if declared.is_some_and(|length| length > FORM_BYTES_MAX) {
        return None;
    }
    // If the body ends early, the browser has disconnected.
    timeout(BODY_MAX, to_bytes(body, FORM_BYTES_MAX)).await.ok()?.ok()
}

impl Posted {
    /// Parses `application/x-www-form-urlencoded`. Browsers send every line break as CR LF; here it becomes LF.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, NotText> {
        let mut posted = Self::default();
        for pair in body.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
            let mut halves = pair.splitn(2, |byte| *byte == b'=');
            let name = decoded(halves.next().unwrap_or_default())?;
            let value = decoded(halves.next().unwrap_or_default())?;
            posted.values.insert(name.clone(), posted.pairs.len());
            posted.pairs.push((name, value));
        }
        Ok(posted)
    }

    /// The value of a control; the last of several.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|place| self.pairs[*place].1.as_str())
    }

    /// All controls.
    pub(crate) fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }
}

fn decoded(text: &[u8]) -> Result<String, NotText> {
    let plain: Vec<u8> = text.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    let text = percent_decode(&plain).decode_utf8().map_err(|_| NotText)?;
    Ok(with_line_feeds(&text))
}

/// Replaces every line break by LF.
pub(crate) fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

#[cfg(test)]
mod tests;
