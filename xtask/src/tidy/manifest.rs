//! Parses a `Cargo.toml` into sections of lines. Our manifests have one entry per line (checked by `manifests`), with its own comment.

/// One `key = value` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Line number, from 1.
    pub(super) line: usize,
    /// The section's name in brackets: `dependencies`, `workspace.lints.clippy`.
    pub(super) section: String,
    /// The key.
    pub(super) key: String,
    /// The value without the comment.
    pub(super) value: String,
    /// The comment after it without `#`; empty if there is none.
    pub(super) comment: String,
}

/// Returns all entries of a manifest.
pub(super) fn entries(text: &str) -> Vec<Entry> {
    let mut section = String::new();
    let mut entries = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let (content, comment) = split_comment(line);
        let content = content.trim();
        if let Some(name) = content.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
            && !content.contains('=')
        {
            name.trim_matches(['[', ']']).clone_into(&mut section);
        } else if let Some((key, value)) = content.split_once('=') {
            entries.push(Entry {
                line: index + 1,
                section: section.clone(),
                key: key.trim().trim_matches('"').to_owned(),
                value: value.trim().to_owned(),
                comment: comment.trim().to_owned(),
            });
        }
    }
    entries
}

/// The crate name of an entry in a list of dependencies: `serde` for `serde.workspace = true`.
pub(super) fn dependency_name(key: &str) -> &str {
    key.split('.').next().unwrap_or(key)
}

/// Whether a section lists dependencies, including those of one platform.
pub(super) fn lists_dependencies(section: &str) -> bool {
    ["dependencies", "dev-dependencies", "build-dependencies"].iter().any(|name| {
        section == *name || section.ends_with(&format!(".{name}")) && section.starts_with("target.")
    })
}

fn split_comment(line: &str) -> (&str, &str) {
    let mut quote = None;
    for (index, character) in line.char_indices() {
        match (quote, character) {
            (None, '#') => return (&line[..index], &line[index + 1..]),
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => {}
        }
    }
    (line, "")
}
