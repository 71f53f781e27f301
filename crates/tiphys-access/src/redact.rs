//! URLs as people may see them.

/// A URL as people may see it: a password in it is replaced by `***`, and so is all that follows a `?`. Of what has no scheme only
/// `USER:PASSWORD@` is masked, since git's `git@HOST:PATH` holds no secret.
pub fn redact_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return mask_login(url) };
    let (login, rest) = rest.split_at(credentials_end(rest).unwrap_or(0));
    let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?***"));
    let login = match login.split_once(':') {
        Some((user, _)) => format!("{user}:***"),
        // A registry's token. Of git's ssh://USER@ only the user is there.
        None if !login.is_empty() && ["http", "https", "oci"].iter().any(|one| scheme.ends_with(one)) => {
            "***".to_owned()
        }
        None => login.to_owned(),
    };
    format!("{scheme}://{login}{rest}{query}")
}

/// Where the login ends in what follows a URL's `//`: at which `@`; `None` if there is no login.
///
/// People write passwords with signs that would have to be encoded there: `#`, `?` and `/`. Programs take such a URL in different ways,
/// and nobody is to see the password: what looks like a host with a port that is no number is a user with the beginning of a password.
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

fn mask_login(address: &str) -> String {
    let authority_end = address.find('/').unwrap_or(address.len());
    let login =
        address[..authority_end].rfind('@').and_then(|at| Some((address[..at].split_once(':')?.0, at)));
    login.map_or_else(|| address.to_owned(), |(user, at)| format!("{user}:***{}", &address[at..]))
}

/// The address of a Helm repository or a registry as people may see it: a URL, or `HOST/PATH`, before which a password may stand, too.
pub fn redact_address(address: &str) -> String {
    /// Only of a whole URL is known where a password stands.
    const SCHEME: &str = "https://";
    if address.contains("://") {
        return redact_url(address);
    }
    let masked = redact_url(&[SCHEME, address].concat());
    masked.strip_prefix(SCHEME).unwrap_or(&masked).to_owned()
}

#[cfg(test)]
mod tests;
