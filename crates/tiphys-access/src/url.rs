//! Comparison of repository URLs, as in Argo CD (`NormalizeGitURL` and `SameURL` of its `util/git`).

mod go;

/// Returns a repository URL as Argo CD compares it: lower case, without `.git`, `ssh://` and the colon of `git@host:path`. Empty for an
/// invalid URL; an empty result matches no URL.
pub fn normalize_git_url(url: &str) -> String {
    let mut url = lower_case(url.trim());
    if is_ssh(&url) && !url.starts_with("ssh://") {
        url = format!("ssh://{}", url.replacen(':', "/", 1));
    }
    let url = url.strip_suffix(".git").unwrap_or(&url);
    let Some(printed) = go::parse_and_print(url) else { return String::new() };
    printed.strip_prefix("ssh://").map(str::to_owned).unwrap_or(printed)
}

/// Decodes each `%XX` into a byte. Invalid UTF-8 in the result becomes `\u{fffd}`.
pub fn percent_decode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        out.extend(before.bytes());
        let mut digits = after.chars();
        let mut digit = || digits.next().and_then(|digit| digit.to_digit(16));
        if let (Some(high), Some(low)) = (digit(), digit()) {
            out.extend(u8::try_from(high << 4 | low));
            rest = digits.as_str();
        } else {
            out.push(b'%');
            rest = after;
        }
    }
    out.extend(rest.bytes());
    String::from_utf8_lossy(&out).into_owned()
}

/// Go's `strings.ToLower`, which maps each character to one character.
fn lower_case(text: &str) -> String {
    text.chars()
        .map(|c| {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(single), None) => single,
                // Only U+0130 (capital I with dot) has a lower case of two characters.
                _ => 'i',
            }
        })
        .collect()
}

/// Whether the URL is `user@host…`, with or without `ssh://`.
pub(crate) fn is_ssh(url: &str) -> bool {
    let Some((user, host)) = url.strip_prefix("ssh://").unwrap_or(url).rsplit_once('@') else { return false };
    !host.is_empty() && !user.contains(['/', ':'])
}

#[cfg(test)]
mod tests;
