//! Redaction of credentials in URLs and addresses.

/// Redacts a URL: replaces the password and everything after a `?` with `***`. Without a scheme, only `USER:PASSWORD@` is redacted, since
/// git's `git@HOST:PATH` holds no secret.
pub fn redact_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return redact_without_scheme(url) };
    let (login, rest) = rest.split_at(credentials_end(rest).unwrap_or(0));
    let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?***"));
    let login = match login.split_once(':') {
        Some((user, _)) => format!("{user}:***"),
        // A token for a registry. Git's `ssh://USER@` is only a user.
        None if !login.is_empty() && ["http", "https", "oci"].iter().any(|one| scheme.ends_with(one)) => {
            "***".to_owned()
        }
        None => login.to_owned(),
    };
    format!("{scheme}://{login}{rest}{query}")
}

/// Returns the index of the `@` that ends the credentials in the part of a URL after `//`. None if there are no credentials.
///
/// Users write passwords with unencoded `#`, `?` and `/`, and programs parse such URLs differently. To never print such a password, a host
/// whose port is not a number is treated as a user and the start of a password.
pub fn credentials_end(behind_scheme: &str) -> Option<usize> {
    let (before_query, _) = behind_scheme.split_once('?').unwrap_or((behind_scheme, ""));
    let (authority, _) = before_query.split_once('/').unwrap_or((before_query, ""));
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()) || text.ends_with(']');
    let is_cut = || authority.rsplit_once(':').is_some_and(|(_, port)| !is_port(port));
    authority.rfind('@').or_else(|| {
        let in_all = || before_query.rfind('@').or_else(|| behind_scheme.rfind('@'));
        in_all().filter(|_| is_cut())
    })
}

fn redact_without_scheme(address: &str) -> String {
    let authority_end = address.find('/').unwrap_or(address.len());
    let login =
        address[..authority_end].rfind('@').and_then(|at| Some((address[..at].split_once(':')?.0, at)));
    login.map_or_else(|| address.to_owned(), |(user, at)| format!("{user}:***{}", &address[at..]))
}

/// Redacts the address of a Helm repository or a registry: a URL, or `HOST/PATH` with or without credentials in front.
pub fn redact_address(address: &str) -> String {
    /// [`redact_url`] needs a scheme to locate the credentials.
    const SCHEME: &str = "https://";
    if address.contains("://") {
        return redact_url(address);
    }
    let redacted = redact_url(&[SCHEME, address].concat());
    redacted.strip_prefix(SCHEME).unwrap_or(&redacted).to_owned()
}

#[cfg(test)]
mod tests;
