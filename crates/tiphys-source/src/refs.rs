//! Branches and tags of a repository, and which commit a revision's name means.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

/// Names that an error lists at most.
const CANDIDATES_MAX: usize = 5;

/// Digits of an abbreviated commit at least, as in Argo CD.
const ABBREVIATION_DIGITS_MIN: usize = 7;

/// Digits of a whole commit id.
pub(crate) const COMMIT_DIGITS: usize = 40;

/// Names and the commits they stand for, annotated tags followed to their commit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Refs {
    commits: BTreeMap<String, String>,
}

/// What a revision's text is, before anything is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RevisionKind {
    /// A whole commit id; never looked up as a name.
    Commit,
    /// A name, or an abbreviated commit where no ref has that name.
    NameOrAbbreviation,
    /// A name.
    Name,
}

/// What a revision's text is (`IsCommitSHA` and `IsTruncatedCommitSHA` of Argo CD).
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
    /// Reads the lines of `git ls-remote`, and those of `git for-each-ref` in the same form: id, tab, name. The lines
    /// of `--symref` are left out, because the names they point to have lines of their own.
    pub(crate) fn parse(text: &str) -> Self {
        let mut commits = BTreeMap::new();
        for line in text.lines() {
            let Some((id, name)) = line.split_once('\t') else { continue };
            if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                continue;
            }
            // A tag's own line comes before the line of what it points to.
            let name = name.strip_suffix("^{}").unwrap_or(name);
            commits.insert(name.to_owned(), id.to_owned());
        }
        Self { commits }
    }

    /// The commit of a name: a full one (`HEAD`, `refs/…`), then a branch, a tag, anything else below `refs/`. Where Argo CD
    /// takes a branch or a tag of one name at random, the branch wins.
    pub(crate) fn resolve(&self, revision: &str) -> Option<&str> {
        let revision = if revision.is_empty() { "HEAD" } else { revision };
        let exact = revision == "HEAD" || revision.starts_with("refs/");
        ["", "refs/heads/", "refs/tags/", "refs/"]
            .into_iter()
            .filter(|prefix| !prefix.is_empty() || exact)
            .find_map(|prefix| self.commits.get(&format!("{prefix}{revision}")))
            .map(String::as_str)
    }

    /// Names that begin with a prefix, without it, and their commits; sorted.
    pub(crate) fn with_prefix<'a>(
        &'a self,
        prefix: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let names = self.commits.iter();
        names.filter_map(move |(name, id)| Some((name.strip_prefix(prefix)?, id.as_str())))
    }

    /// The commit that a clone's copy of a remote's branch stands for.
    pub(crate) fn resolve_tracking(&self, remote: &str, branch: &str) -> Option<&str> {
        let branch = if branch.is_empty() { "HEAD" } else { branch };
        self.commits.get(&format!("refs/remotes/{remote}/{branch}")).map(String::as_str)
    }

    /// Whether a name is that of a branch, or of a clone's copy of a remote's branch.
    pub(crate) fn has_branch(&self, name: &str) -> bool {
        let name = name.strip_prefix("refs/heads/").unwrap_or(name);
        self.commits.contains_key(&format!("refs/heads/{name}"))
            || self.commits.keys().any(|key| {
                let branch = key.strip_prefix("refs/remotes/").and_then(|rest| rest.split_once('/'));
                branch.is_some_and(|(_, branch)| branch == name)
            })
    }

    /// A name of this commit, for servers that give commits by name only.
    pub(crate) fn name_of(&self, commit: &str) -> Option<&str> {
        self.commits
            .iter()
            .find(|(name, id)| name.starts_with("refs/") && id.as_str() == commit)
            .map(|(name, _)| name.as_str())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// The end of an error's sentence: names that are close, or why there are none.
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

    /// The end of a sentence about a name that git itself was asked for: names that are close, copies of a remote's branches among
    /// them, or all names if there are no more than `names_max`.
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

    /// Names of some kinds without their kind, those that are close to another name; all for an empty one.
    fn names<'a>(&'a self, kinds: &'a [&'a str], near: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let wanted = near.to_ascii_lowercase();
        self.commits
            .keys()
            .filter_map(|name| kinds.iter().find_map(|kind| name.strip_prefix(kind)))
            .filter(|name| !name.ends_with("/HEAD"))
            .filter(move |name| wanted.is_empty() || is_close(&wanted, &name.to_ascii_lowercase()))
    }
}

/// One within the other, or the same but for two letters.
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
