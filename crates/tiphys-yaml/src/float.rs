//! Numbers with a fraction or an exponent, as written.

/// A 64-bit float. Two are equal if their values are.
#[derive(Clone, Debug)]
pub struct Float {
    value: f64,
    written: Option<Box<Written>>,
}

/// A number as written, as JSON. It is behind a pointer, because nearly all values of a document have another type.
#[derive(Clone, Debug)]
struct Written(Box<str>);

impl Float {
    /// Returns the float of a number in a document. The string is kept if it is a number of JSON and differs from Go's form.
    pub(crate) fn written(value: f64, text: &str) -> Self {
        let is_kept = is_json_number(text) && crate::json::float_text(value) != text;
        Self { value, written: is_kept.then(|| Box::new(Written(text.into()))) }
    }

    /// Returns the value.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Returns the number as JSON: as written in the document if it is valid there, else in Go's form.
    pub fn as_written(&self) -> String {
        match &self.written {
            Some(written) => written.0.to_string(),
            None => crate::json::float_text(self.value),
        }
    }
}

impl From<f64> for Float {
    fn from(value: f64) -> Self {
        Self { value, written: None }
    }
}

impl PartialEq for Float {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

fn is_json_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (text, exponent) =
        text.split_once(['e', 'E']).map_or((text, "0"), |(text, exponent)| (text, exponent));
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && digits(fraction)
        && digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
}

#[cfg(test)]
mod tests;
