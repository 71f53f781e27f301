//! `$NAME` in parameters, as Argo CD's native support replaces it: Go's `os.Expand` with the names of its build environment.
//!
//! Argo CD substitutes a plugin's `env` and not its parameters, so the plugin does it itself, with the same names: nothing else of the
//! environment can be reached.

use std::collections::BTreeMap;

/// Names of the build environment.
const NAMES: &[&str] = &[
    "ARGOCD_APP_NAME",
    "ARGOCD_APP_NAMESPACE",
    "ARGOCD_APP_PROJECT_NAME",
    "ARGOCD_APP_REVISION",
    "ARGOCD_APP_REVISION_SHORT",
    "ARGOCD_APP_REVISION_SHORT_8",
    "ARGOCD_APP_SOURCE_REPO_URL",
    "ARGOCD_APP_SOURCE_PATH",
    "ARGOCD_APP_SOURCE_TARGET_REVISION",
];

/// Beginning of the names of a plugin's own variables (`spec.source.plugin.env`).
const OWN_PREFIX: &str = "ARGOCD_ENV_";

/// What names stand for. Names that are not in it stand for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BuildEnvironment(BTreeMap<String, String>);

impl BuildEnvironment {
    /// Chooses from a process's variables.
    pub(crate) fn new<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let is_one = |name: &str| NAMES.contains(&name) || name.starts_with(OWN_PREFIX);
        let chosen = variables.into_iter().filter(|(name, _)| is_one(name));
        Self(chosen.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// A text with `$NAME` and `${NAME}` replaced; a name that is not known becomes nothing, `$$` is a dollar sign.
    pub(crate) fn substitute(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(dollar) = rest.find('$') {
            let (before, behind) = (&rest[..dollar], &rest[dollar + 1..]);
            out.push_str(before);
            if behind.is_empty() {
                out.push('$');
            }
            let (name, width) = shell_name(behind);
            match name {
                Some("$") => out.push('$'),
                Some(name) => out.push_str(self.0.get(name).map_or("", String::as_str)),
                // No name follows, so the sign stands for itself; what begins like a name and is none is left out.
                None if width == 0 && !behind.is_empty() => out.push('$'),
                None => {}
            }
            rest = &behind[width..];
        }
        out.push_str(rest);
        out
    }
}

/// The name behind a dollar sign, and the bytes that it takes; no name with some bytes is one that is written wrongly.
fn shell_name(text: &str) -> (Option<&str>, usize) {
    let bytes = text.as_bytes();
    let Some(&first) = bytes.first() else { return (None, 0) };
    if first == b'{' {
        if bytes.len() > 2 && is_special(bytes[1]) && bytes[2] == b'}' {
            return (Some(&text[1..2]), 3);
        }
        return match text.find('}') {
            Some(1) => (None, 2),
            Some(end) => (Some(&text[1..end]), end + 1),
            None => (None, 1),
        };
    }
    if is_special(first) {
        return (Some(&text[..1]), 1);
    }
    let end = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    ((end > 0).then(|| &text[..end]), end)
}

/// Variables of a shell that have one character. None of them is known here.
fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'#' | b'$' | b'@' | b'!' | b'?' | b'-') || byte.is_ascii_digit()
}

#[cfg(test)]
mod tests;
