//! The annotation that lists the parts of a repository that an application needs.

/// Name of the annotation.
pub const GENERATE_PATHS_ANNOTATION: &str = "argocd.argoproj.io/manifest-generate-paths";

/// Returns the directories and files that a plugin gets: those of the annotation and the application's own directory, relative to the
/// repository's root, sorted by components, none inside another. `None` if the annotation is absent, empty, or names the root.
///
/// Items are separated by `;` and trimmed. A leading `/` means the root; other items are relative to the application's path. `..` stops at
/// the root. Argo CD gives patterns to plugins literally, but matches them on refresh. Here an item ends before its first component with a
/// pattern, so that everything it may match is included.
pub fn generate_paths(annotation: Option<&str>, application_path: &str) -> Option<Vec<String>> {
    let items: Vec<&str> = annotation?.split(';').map(str::trim).filter(|item| !item.is_empty()).collect();
    if items.is_empty() {
        return None;
    }
    let mut paths = vec![cleaned([application_path])];
    paths.extend(items.iter().map(|item| match item.strip_prefix('/') {
        Some(absolute) => cleaned([without_pattern(absolute)]),
        None => cleaned([application_path, without_pattern(item)]),
    }));
    // Sorted by components, each path is followed directly by those inside it.
    paths.sort_by(|a, b| a.split('/').cmp(b.split('/')));
    if paths[0].is_empty() {
        return None;
    }
    paths.dedup_by(|path, outer| is_inside(path, outer));
    Some(paths)
}

/// Returns whether a path equals another one or is below it.
fn is_inside(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the part of a path before the first component with a pattern.
fn without_pattern(path: &str) -> &str {
    match path.find(['*', '?', '[', '{']) {
        Some(index) => &path[..path[..index].rfind('/').unwrap_or_default()],
        None => path,
    }
}

/// Joins paths and resolves `.`, `..` and empty components.
fn cleaned<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let joined = parts.into_iter().flat_map(|part| ["/", part]).collect::<String>();
    let clean = tiphys_go::path::clean(joined.as_bytes());
    String::from_utf8_lossy(clean.strip_prefix(b"/").unwrap_or(&clean)).into_owned()
}

#[cfg(test)]
mod tests;
