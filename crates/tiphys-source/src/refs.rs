//! Branches and tags of a repository, and resolving revisions among them.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

/// Maximum number of names in an error.
const CANDIDATES_MAX: usize = 5;

/// Minimum number of digits of an abbreviated commit, as in Argo CD.
const ABBREVIATION_DIGITS_MIN: usize = 7;

/// Number of digits of a full commit id.
pub(crate) const COMMIT_DIGITS: usize = 40;

/// The beginning of the full names of branches, and of remote-tracking branches.
pub(crate) const BRANCHES: &str = "refs/heads/";
pub(crate) const TRACKING: &str = "refs/remotes/";

/// Refs and their commits. Annotated tags are dereferenced.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Refs {
    commits: BTreeMap<String, String>,
}

/// The kind of a revision by its syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RevisionKind {
    /// A full commit id. It is never looked up as a name.
    Commit,
    /// A name, or an abbreviated commit if no ref has that name.
    NameOrAbbreviation,
    /// A name.
    Name,
}

/// Returns the kind of a revision (`IsCommitSHA` and `IsTruncatedCommitSHA` of Argo CD).
pub(crate) fn revision_kind(revision: &str) -> RevisionKind {
    let is_hex = revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    match revision.len() {
        COMMIT_DIGITS if is_hex => RevisionKind::Commit,
        ABBREVIATION_DIGITS_MIN..COMMIT_DIGITS if is_hex => RevisionKind::NameOrAbbreviation,
        _ => RevisionKind::Name,
    }
}

/// Whether a revision is empty or `HEAD`.
pub(crate) fn is_default(revision: &str) -> bool {
    revision.is_empty() || revision == "HEAD"
}

impl Refs {
    /// Parses the output of `git ls-remote`, or of `git for-each-ref` in the same format: id, tab, name. The lines of `--symref` are left
    /// out, because their targets have lines of their own.
    pub(crate) fn parse(text: &str) -> Self {
        let mut commits = BTreeMap::new();
        for line in text.lines() {
            let Some((id, name)) = line.split_once('\t') else { continue };
            if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                continue;
            }
            // The line of a tag object precedes that of the dereferenced commit.
            let name = name.strip_suffix("^{}").unwrap_or(name);
            commits.insert(name.to_owned(), id.to_owned());
        }
        Self { commits }
    }

    /// Returns the commit of a name: a full name (`HEAD`, `refs/…`), then a branch, a tag, any other ref. If a branch and a tag have the same
    /// name, it is the branch; Argo CD's choice is random.
    pub(crate) fn resolve(&self, revision: &str) -> Option<&str> {
        let revision = if revision.is_empty() { "HEAD" } else { revision };
        let exact = revision == "HEAD" || revision.starts_with("refs/");
        ["", "refs/heads/", "refs/tags/", "refs/"]
            .into_iter()
            .filter(|prefix| !prefix.is_empty() || exact)
            .find_map(|prefix| self.commits.get(&format!("{prefix}{revision}")))
            .map(String::as_str)
    }

    /// Returns the commit of a remote-tracking branch.
    pub(crate) fn resolve_tracking(&self, remote: &str, branch: &str) -> Option<&str> {
        let branch = if branch.is_empty() { "HEAD" } else { branch };
        self.commits.get(&format!("refs/remotes/{remote}/{branch}")).map(String::as_str)
    }

    /// Whether there is a ref of this full name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.commits.contains_key(name)
    }

    /// Whether a branch or remote-tracking branch has this name.
    pub(crate) fn has_branch(&self, name: &str) -> bool {
        let name = name.strip_prefix("refs/heads/").unwrap_or(name);
        self.commits.contains_key(&format!("refs/heads/{name}"))
            || self.commits.keys().any(|key| {
                let branch = key.strip_prefix("refs/remotes/").and_then(|rest| rest.split_once('/'));
                branch.is_some_and(|(_, branch)| branch == name)
            })
    }

    /// Returns a ref of this commit, for servers that do not send commits by id.
    pub(crate) fn name_of(&self, commit: &str) -> Option<&str> {
        self.commits
            .iter()
            .find(|(name, id)| name.starts_with("refs/") && id.as_str() == commit)
            .map(|(name, _)| name.as_str())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// Returns the end of an error message: similar names, or why there are none.
    pub(crate) fn hint(&self, revision: &str) -> String {
        if self.is_empty() {
            return "; it has no branches and no tags".to_owned();
        }
        if revision.contains(['*', '>', '<', '~', '^', ' ', '|']) || revision.starts_with('=') {
            return "; a range of versions is not looked up among the tags of a git repository".to_owned();
        }
        let close: Vec<&str> =
            self.names(&["refs/heads/", "refs/tags/"], revision).take(CANDIDATES_MAX).collect();
        if close.is_empty() { String::new() } else { format!("; similar names: {}", close.join(", ")) }
    }

    /// Returns the end of an error message about a revision that git resolves: similar names, remote-tracking branches included, or all names
    /// if there are at most `names_max`.
    pub(crate) fn near(&self, revision: &str, names_max: usize) -> String {
        const KINDS: [&str; 3] = ["refs/heads/", "refs/remotes/", "refs/tags/"];
        let close: Vec<&str> = self.names(&KINDS, revision).take(names_max).collect();
        if !revision.is_empty() && !close.is_empty() {
            return format!("; similar names: {}", close.join(", "));
        }
        let all: Vec<&str> = self.names(&KINDS, "").take(names_max + 1).collect();
        match all.len() {
            0 => "; it has no branches and no tags".to_owned(),
            len if len <= names_max => format!("; there are {}", all.join(", ")),
            _ => String::new(),
        }
    }

    /// Returns the names with one of these prefixes that are similar to `near`, without the prefix. All if `near` is empty.
    fn names<'a>(&'a self, kinds: &'a [&'a str], near: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let wanted = near.to_ascii_lowercase();
        self.commits
            .keys()
            .filter_map(|name| kinds.iter().find_map(|kind| name.strip_prefix(kind)))
            .filter(|name| !name.ends_with("/HEAD"))
            .filter(move |name| wanted.is_empty() || is_close(&wanted, &name.to_ascii_lowercase()))
    }
}

/// Whether one name contains the other, or they differ in at most two letters.
fn is_close(wanted: &str, name: &str) -> bool {
    if wanted.is_empty() {
        return false;
    }
    let (longer, shorter) = if wanted.len() < name.len() { (name, wanted) } else { (wanted, name) };
    let common = longer.chars().zip(shorter.chars()).take_while(|(a, b)| a == b).count();
    let rest = &shorter.chars().skip(common).collect::<String>();
    (shorter.len() > 2 && longer.contains(shorter))
        || (common >= 2 && rest.chars().count() <= 2 && longer.chars().count() - common <= 3)
}
