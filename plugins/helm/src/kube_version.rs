//! Kubernetes versions as Argo CD passes them to helm: the numbers, without a vendor's suffix.

use tiphys_go::strconv::quote;

/// An invalid version. The message is that of Kubernetes' parser, with Argo CD's prefix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("could not parse kubernetes version {version}: {problem}")]
pub(crate) struct KubeVersionError {
    version: String,
    problem: String,
}

/// Returns the numbers of a version as Kubernetes' `ParseGeneric` does: at least two, after white space and a `v`. The rest of the line is
/// dropped (`1.30.11+IKS` is `1.30.11`). `None` for an empty string.
pub(crate) fn parse(version: &str) -> Result<Option<String>, KubeVersionError> {
    if version.is_empty() {
        return Ok(None);
    }
    let fail = |problem| Err(KubeVersionError { version: version.to_owned(), problem });
    let quoted = quote(version);
    // Go's `\s` in a regular expression.
    let start = version.trim_start_matches(['\t', '\n', '\u{c}', '\r', ' ']);
    let start = start.strip_prefix('v').unwrap_or(start);
    let mut end = 0;
    let mut components = Vec::new();
    loop {
        let digits = start[end..].bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            break;
        }
        components.push(&start[end..end + digits]);
        end += digits;
        // A dot counts only before a digit.
        let more =
            start[end..].starts_with('.') && start[end + 1..].starts_with(|c: char| c.is_ascii_digit());
        if !more {
            break;
        }
        end += 1;
    }
    if components.is_empty() || start[end..].contains('\n') {
        return fail(format!("could not parse {quoted} as version"));
    }
    if components.len() < 2 {
        return fail(format!("illegal version string {quoted}"));
    }
    let first = components[0];
    if first.starts_with('0') && first != "0" {
        return fail(format!("illegal zero-prefixed version component {} in {quoted}", quote(first)));
    }
    let mut numbers = Vec::new();
    for component in components {
        let Ok(number) = component.parse::<u64>() else {
            let component = quote(component);
            return fail(format!(
                "illegal non-numeric version component {component} in {quoted}: strconv.ParseUint: parsing {component}: \
                 value out of range"
            ));
        };
        numbers.push(number.to_string());
    }
    Ok(Some(numbers.join(".")))
}

#[cfg(test)]
mod tests;
