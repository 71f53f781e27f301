//! Names for new plugins.

use std::str::FromStr;

/// Maximum characters of a name: those of a DNS label, as for most names in Kubernetes.
const CHARS_MAX: usize = 63;

/// A name that is valid everywhere a plugin's name is used: in Applications, as the file name of its socket, as a directory, an image and a
/// container. `plugin check` permits more: every name without a `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PluginName(String);

/// A string is not a valid plugin name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} is not a valid plugin name: use at most {CHARS_MAX} lower-case letters, digits and `-`, start with a letter, do not end \
        with `-`, and avoid words that YAML does not read as a string (`yes`, `null`)"
)]
pub(super) struct NameError {
    name: String,
}

impl PluginName {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PluginName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let holds = text.len() <= CHARS_MAX
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && !text.ends_with('-')
            && text.chars().all(allowed)
            && is_text(text);
        if holds { Ok(Self(text.to_owned())) } else { Err(NameError { name: text.to_owned() }) }
    }
}

/// Whether YAML reads a word as a string. Some files contain the name without quotes.
fn is_text(word: &str) -> bool {
    let read = tiphys_yaml::read_document(word.as_bytes());
    read.is_ok_and(|node| node.is_some_and(|node| node.as_str() == Some(word)))
}

impl NameError {
    /// Returns a similar valid name.
    pub(super) fn suggestion(&self) -> Option<String> {
        let lower = self.name.to_ascii_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .skip_while(|word| word.starts_with(|c: char| c.is_ascii_digit()))
            .collect();
        let joined: String = words.join("-").chars().take(CHARS_MAX).collect();
        let name = joined.trim_end_matches('-');
        let name = if is_text(name) { name.to_owned() } else { format!("{name}-plugin") };
        (name != "-plugin").then_some(name)
    }
}

#[cfg(test)]
mod tests;
