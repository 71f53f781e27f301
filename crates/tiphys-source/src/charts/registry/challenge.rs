//! The `WWW-Authenticate` header: which credentials a server demands.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    Basic,
    Bearer { realm: String, service: Option<String>, scope: Option<String> },
}

impl Challenge {
    /// Reads a header; none for unsupported schemes.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (scheme, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        match scheme.to_ascii_lowercase().as_str() {
            "basic" => Some(Self::Basic),
            "bearer" => {
                let parameters = parameters(rest);
                let value = |name: &str| {
                    let found = parameters.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
                    found.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
                };
                Some(Self::Bearer {
                    realm: value("realm")?,
                    service: value("service"),
                    scope: value("scope"),
                })
            }
            _ => None,
        }
    }
}

/// Splits `name="value"` pairs at commas. Quoted values may contain commas, and quotes escaped with a backslash.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim_matches([' ', ',']).to_owned();
        let mut value = String::new();
        if let Some(quoted) = after.strip_prefix('"') {
            let mut chars = quoted.chars();
            while let Some(char) = chars.next() {
                match char {
                    '"' => break,
                    '\\' => value.extend(chars.next()),
                    char => value.push(char),
                }
            }
            rest = chars.as_str();
        } else {
            let end = after.find(',').unwrap_or(after.len());
            after[..end].trim().clone_into(&mut value);
            rest = &after[end..];
        }
        found.push((name, value));
    }
    found
}

#[cfg(test)]
mod tests;
