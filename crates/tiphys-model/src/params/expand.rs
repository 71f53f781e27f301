//! Replacement of `$NAME` and `${NAME}` by the rules of Go's `os.Expand`.

/// A piece of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Literal text, including the dollar sign that `$$` stands for.
    Text(&'a str),
    /// A reference to a variable.
    Variable {
        /// The variable's name.
        name: &'a str,
        /// The reference as written, with its dollar sign.
        written: &'a str,
    },
}

/// The build environment variables that `$` in a `helm` block can refer to, as in Argo CD's native Helm support.
pub const BUILD_VARIABLES: [&str; 9] = [
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

/// Prefix of the environment variables that users set in `spec.source.plugin.env`, as the plugin's commands get them.
pub const PLUGIN_ENV_PREFIX: &str = "ARGOCD_ENV_";

/// Replaces variables. `lookup` returns a variable's value; an unknown variable is replaced by an empty string. `$$` is a dollar sign.
///
/// A name is `[A-Za-z0-9_]*`, one of `*#$@!?-0123456789`, or anything between braces. `${}` and the `${` of an unclosed reference are
/// removed; a dollar sign before anything else stays.
pub fn expand<'a>(text: &str, lookup: impl Fn(&str) -> Option<&'a str>) -> String {
    let mut expanded = String::with_capacity(text.len());
    for piece in pieces(text) {
        expanded.push_str(match piece {
            Piece::Text(text) => text,
            Piece::Variable { name, .. } => lookup(name).unwrap_or_default(),
        });
    }
    expanded
}

/// Splits a string by the rules of [`expand`]. Invalid references are omitted.
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    // Searched once, so that many unclosed braces do not take quadratic time.
    let last_closing_brace = text.rfind('}');
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let dollar = rest.find('$').unwrap_or(rest.len());
            if dollar > 0 {
                let (before, after) = rest.split_at(dollar);
                rest = after;
                return Some(Piece::Text(before));
            }
            let after = rest.get(1..)?;
            if after.is_empty() {
                return Some(Piece::Text(std::mem::take(&mut rest)));
            }
            let is_closed = last_closing_brace.is_some_and(|at| at >= text.len() - after.len());
            let (reference, length) = reference(after, is_closed);
            let (written, after) = rest.split_at(1 + length);
            rest = after;
            match reference {
                Reference::Name("$") | Reference::Nothing => return Some(Piece::Text("$")),
                Reference::Name(name) => return Some(Piece::Variable { name, written }),
                Reference::Broken => {}
            }
        }
    })
}

/// The syntax after a dollar sign.
enum Reference<'a> {
    /// A variable.
    Name(&'a str),
    /// No name: the dollar sign is literal.
    Nothing,
    /// Empty braces, or an unclosed brace: omitted.
    Broken,
}

/// Parses the non-empty string after a dollar sign. Returns the reference and its length in bytes. `is_closed` says whether the string has
/// a closing brace.
fn reference(rest: &str, is_closed: bool) -> (Reference<'_>, usize) {
    let bytes = rest.as_bytes();
    if bytes[0] == b'{' {
        // `${*}` is the special name `*`, but `${*x}` is an ordinary name, so the first closing brace ends both.
        let closing = if is_closed { rest.find('}') } else { None };
        return match closing {
            None => (Reference::Broken, 1),
            Some(1) => (Reference::Broken, 2),
            Some(end) => (Reference::Name(&rest[1..end]), end + 1),
        };
    }
    if is_special(bytes[0]) {
        return (Reference::Name(&rest[..1]), 1);
    }
    match bytes.iter().position(|&byte| !is_name_byte(byte)).unwrap_or(bytes.len()) {
        0 => (Reference::Nothing, 0),
        end => (Reference::Name(&rest[..end]), end),
    }
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'#' | b'$' | b'@' | b'!' | b'?' | b'-' | b'0'..=b'9')
}

fn is_name_byte(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests;
