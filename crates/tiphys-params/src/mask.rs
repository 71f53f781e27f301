//! URLs as people may see them.

/// A URL as people may see it: a password in it is replaced by `***`, and so is all that follows a `?`. Of what has no scheme only
/// `USER:PASSWORD@` is masked, since git's `git@HOST:PATH` holds no secret.
pub fn mask_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return mask_login(url) };
    let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?***"));
    let authority_end = rest.find(['/', '#']).unwrap_or(rest.len());
    let Some(at) = rest[..authority_end].rfind('@') else { return format!("{scheme}://{rest}{query}") };
    let host = &rest[at..];
    match rest[..at].split_once(':') {
        Some((user, _)) => format!("{scheme}://{user}:***{host}{query}"),
        // A registry's token. Of git's ssh://USER@ only the user is there.
        None if ["http", "https", "oci"].iter().any(|one| scheme.ends_with(one)) => {
            format!("{scheme}://***{host}{query}")
        }
        None => format!("{scheme}://{rest}{query}"),
    }
}

fn mask_login(address: &str) -> String {
    let authority_end = address.find('/').unwrap_or(address.len());
    let login =
        address[..authority_end].rfind('@').and_then(|at| Some((address[..at].split_once(':')?.0, at)));
    login.map_or_else(|| address.to_owned(), |(user, at)| format!("{user}:***{}", &address[at..]))
}

/// The address of a Helm repository or a registry as people may see it: a URL, or `HOST/PATH`, before which a password may stand, too.
pub fn mask_address(address: &str) -> String {
    /// Only of a whole URL is known where a password stands.
    const SCHEME: &str = "https://";
    if address.contains("://") {
        return mask_url(address);
    }
    let masked = mask_url(&[SCHEME, address].concat());
    masked.strip_prefix(SCHEME).unwrap_or(&masked).to_owned()
}

#[cfg(test)]
mod tests;
