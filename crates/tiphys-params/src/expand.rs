//! `$NAME` and `${NAME}` in a text, by the rules of Go's `os.Expand` (`spec/cmp.md` 4.2 and 14).

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// What stays; the one dollar sign that `$$` means, too.
    Text(&'a str),
    /// A reference to a variable.
    Variable {
        /// The variable.
        name: &'a str,
        /// The reference as it stands in the text, with its dollar sign.
        written: &'a str,
    },
}

/// The variables of the build environment that `$` in a `helm` block refers to, as Argo CD's native support has them.
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

/// How the names of the variables begin that people set in a plugin's block (`spec.source.plugin.env`), as its commands get them.
pub const PLUGIN_ENV_PREFIX: &str = "ARGOCD_ENV_";

/// Replaces variables. `lookup` gives a variable's value; what it does not know becomes nothing. `$$` is a dollar sign.
///
/// A name is `[A-Za-z0-9_]*`, one of `*#$@!?-0123456789`, or anything between braces. `${}` and an unclosed `${` vanish, but
/// for the text behind the latter; a dollar sign before anything else stays.
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

/// The pieces of a text by the rules of [`expand`], which drops what is none of them.
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    // Looked up once, so that many braces that are not closed take no square of their number.
    let last_closing_brace = text.rfind('}');
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let dollar = rest.find('$').unwrap_or(rest.len());
            if dollar > 0 {
                let (before, behind) = rest.split_at(dollar);
                rest = behind;
                return Some(Piece::Text(before));
            }
            let behind = rest.get(1..)?;
            if behind.is_empty() {
                return Some(Piece::Text(std::mem::take(&mut rest)));
            }
            let is_closed = last_closing_brace.is_some_and(|at| at >= text.len() - behind.len());
            let (reference, length) = reference(behind, is_closed);
            let (written, behind) = rest.split_at(1 + length);
            rest = behind;
            match reference {
                Reference::Name("$") | Reference::Nothing => return Some(Piece::Text("$")),
                Reference::Name(name) => return Some(Piece::Variable { name, written }),
                Reference::Broken => {}
            }
        }
    })
}

/// What stands behind a dollar sign.
enum Reference<'a> {
    /// A variable.
    Name(&'a str),
    /// Nothing that could be a name: the dollar sign is a text.
    Nothing,
    /// Braces without a name, or an opening brace alone: they are dropped.
    Broken,
}

/// Reads what stands behind a dollar sign, which is something, and how many bytes of it belong to the reference.
/// `is_closed`: it holds a closing brace.
fn reference(rest: &str, is_closed: bool) -> (Reference<'_>, usize) {
    let bytes = rest.as_bytes();
    if bytes[0] == b'{' {
        // A special name may be the closing brace's neighbour only; `${*}` is one, `${*x}` is an ordinary name.
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
