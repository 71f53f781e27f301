//! Decodes posted forms.

use std::collections::HashMap;

use percent_encoding::percent_decode;

/// Limit of a posted form in bytes. Values are passed to plugins in the environment, which has a lower limit.
pub const FORM_BYTES_MAX: usize = 8 << 20;

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
