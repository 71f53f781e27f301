//! The annotation that says which parts of a repository an application needs.

/// Name of the annotation.
pub const GENERATE_PATHS_ANNOTATION: &str = "argocd.argoproj.io/manifest-generate-paths";

/// The folders and files that a plugin is to see: those of the annotation and the application's own, relative to the repository's
/// root, sorted by their components, none of them inside another. `None`: the whole repository, since the annotation is absent, empty or names its root.
///
/// Items are separated by `;`, white space around them does not count, a leading `/` means the root, anything else is relative to
/// the application's path; `..` stops at the root. Argo CD's plugin path takes a pattern's characters literally while its refresh
/// matches them; here an item is cut before the first component with one, so that whatever it may match is there.
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
    // By components, so that what is inside a path follows it at once.
    paths.sort_by(|a, b| a.split('/').cmp(b.split('/')));
    if paths[0].is_empty() {
        return None;
    }
    paths.dedup_by(|path, outer| is_inside(path, outer));
    Some(paths)
}

/// Whether a path is another one or below it.
fn is_inside(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The part of a path before the first component that is a pattern.
fn without_pattern(path: &str) -> &str {
    match path.find(['*', '?', '[', '{']) {
        Some(index) => &path[..path[..index].rfind('/').unwrap_or_default()],
        None => path,
    }
}

/// Joins paths and takes out `.`, `..` and empty components.
fn cleaned<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut components: Vec<&str> = Vec::new();
    for component in parts.into_iter().flat_map(|part| part.split('/')) {
        match component {
            "" | "." => {}
            ".." => {
                components.pop();
            }
            _ => components.push(component),
        }
    }
    components.join("/")
}

#[cfg(test)]
mod tests;
