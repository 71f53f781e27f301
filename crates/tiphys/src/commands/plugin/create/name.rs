//! Names for new plugins.

use std::str::FromStr;

/// Characters of a name: a label of DNS, as most names in Kubernetes are.
const CHARS_MAX: usize = 63;

/// A name that can stand everywhere a plugin's name stands: in Applications, as a file name of its socket, as a folder, an image and a
/// container. `plugin check` allows more: everything without a `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PluginName(String);

/// Why a text is no name for a plugin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} is no name for a plugin: lower-case letters, digits and `-` are allowed, {CHARS_MAX} at most, the first a letter and \
     the last no `-`; words that YAML reads as something else (`yes`, `null`) are none"
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

/// Whether YAML takes a word for a text. A name stands in many files, in some of them without quotes.
fn is_text(word: &str) -> bool {
    let read = tiphys_yaml::read_document(word.as_bytes());
    read.is_ok_and(|node| node.is_some_and(|node| node.as_str() == Some(word)))
}

impl NameError {
    /// A name that is near, if there is one.
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
