//! Checks that kustomizations do not leave their repository, before kustomize reads them.
//!
//! Kustomize rejects files outside of a kustomization's directory, but accepts any directory of the machine as a base: `../../../other`.

mod named;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::{ContainmentError, EntryPath, RepoPath, read_bounded, resolve};
use tiphys_yaml::{Data, Node, read_document};

pub use named::named;

/// The maximum size in bytes of a kustomization and all kustomizations that it refers to.
pub const KUSTOMIZATION_BYTES_MAX: u64 = 5 << 20;

/// File names that kustomize reads.
pub const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Fields with paths. Without inner fields, the field is a list of paths. Otherwise it is an object or a list of objects, in which each
/// inner field is a path or a list of paths.
const FIELDS: [(&str, &[&str]); 18] = [
    ("resources", &[]),
    ("bases", &[]),
    ("components", &[]),
    ("crds", &[]),
    ("configurations", &[]),
    ("generators", &[]),
    ("transformers", &[]),
    ("validators", &[]),
    (STRATEGIC_MERGE, &[]),
    ("patches", &["path"]),
    ("patchesJson6902", &["path"]),
    ("replacements", &["path"]),
    ("openapi", &["path"]),
    ("configMapGenerator", &["files", "envs", "env"]),
    ("secretGenerator", &["files", "envs", "env"]),
    ("helmGlobals", &["chartHome", "configHome"]),
    ("helmCharts", &["name", "valuesFile", "additionalValuesFiles"]),
    ("helmChartInflationGenerator", &["chartName", "chartHome", "helmHome", "values"]),
];

/// The field with patches that are paths or inline objects.
const STRATEGIC_MERGE: &str = "patchesStrategicMerge";

/// The fields of generators with files of variables.
const ENV_FIELDS: [&str; 2] = ["envs", "env"];

/// Fields with the name of a chart, which is a path below the directory in a `chartHome` field.
const CHART_NAMES: [&str; 2] = ["name", "chartName"];

/// The default directory of charts.
const CHART_HOME: &str = "charts";

/// The fields with helm's configuration directory.
const CONFIG_HOMES: [&str; 2] = ["configHome", "helmHome"];

/// The reason why a kustomization is rejected.
#[derive(Debug, thiserror::Error)]
pub enum KustomizationError {
    /// It refers to a path outside of the repository.
    #[error("{file}: {field}: {path:?} is outside of the repository; use a path inside of it, or a URL")]
    Outside {
        /// The kustomization, relative to the repository's root.
        file: String,
        /// The field.
        field: &'static str,
        /// The path as written.
        path: String,
    },
    /// It sets a configuration directory for helm, whose plugins helm would run.
    #[error("{file}: {field}: {inner} is refused because helm runs plugins in that directory; remove it")]
    ConfigHome {
        /// The kustomization, relative to the repository's root.
        file: String,
        /// The outer field.
        field: &'static str,
        /// The inner field.
        inner: &'static str,
    },
    /// It is too large, together with the kustomizations read before.
    #[error("{file}: kustomizations of more than {KUSTOMIZATION_BYTES_MAX} bytes")]
    TooLarge {
        /// The kustomization, relative to the repository's root.
        file: String,
    },
    /// It exceeds a limit of the YAML reader, which kustomize may not have.
    #[error("{file}")]
    Limit {
        /// The kustomization, relative to the repository's root.
        file: String,
        /// The limit.
        #[source]
        source: tiphys_yaml::Error,
    },
    /// Reading failed.
    #[error("cannot read {file}")]
    Io {
        /// The kustomization, relative to the repository's root.
        file: String,
        /// The I/O error.
        #[source]
        source: io::Error,
    },
}

/// Checks the kustomization in a directory of a repository, and all that it refers to. Paths outside of the repository are rejected.
/// Symbolic links are followed as long as they stay inside, and nothing outside is read. Missing files, invalid YAML and a missing
/// kustomization are left to kustomize to report.
///
/// A string in a field with paths counts as a path even if it is a URL or an inline object, because kustomize tries both.
pub fn check(root: &Path, folder: &RepoPath) -> Result<(), KustomizationError> {
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<PathBuf> = resolve(root, folder).into_iter().collect();
    let mut bytes_left = KUSTOMIZATION_BYTES_MAX;
    while let Some(folder) = waiting.pop() {
        if !seen.insert(folder.clone()) {
            continue;
        }
        let below = folder.strip_prefix(root).unwrap_or(&folder).as_os_str().as_encoded_bytes();
        for name in KUSTOMIZATIONS {
            let Ok(file) = EntryPath::new(below).and_then(|below| below.join(name.as_bytes())) else {
                continue;
            };
            let Some(kustomization) = read(root, &file, &mut bytes_left)? else { continue };
            let paths = paths(&kustomization);
            let homes = chart_homes(&paths);
            for NamedPath { field, inner, path } in paths {
                if let Some(inner) = inner.filter(|inner| CONFIG_HOMES.contains(inner)) {
                    return Err(KustomizationError::ConfigHome { file: file.to_string(), field, inner });
                }
                let is_chart = inner.is_some_and(|inner| CHART_NAMES.contains(&inner));
                for home in if is_chart { homes.as_slice() } else { &[""] } {
                    let whole = if home.is_empty() { path.to_owned() } else { format!("{home}/{path}") };
                    let here = file.parent().unwrap_or_default();
                    // As in kustomize: lexically first, then with links resolved.
                    let found = here.join(whole.as_bytes()).map(|path| resolve(root, path));
                    match found {
                        Ok(Ok(found)) if !seen.contains(&found) && found.is_dir() => waiting.push(found),
                        Err(_) | Ok(Err(ContainmentError::OutOfBounds { .. })) => {
                            let (file, path) = (file.to_string(), path.to_owned());
                            return Err(KustomizationError::Outside { file, field, path });
                        }
                        Ok(_) => {}
                    }
                }
            }
        }
    }
    Ok(())
}

/// Reads a kustomization; `None` if kustomize could not read it either.
fn read(root: &Path, file: &EntryPath<'_>, bytes_left: &mut u64) -> Result<Option<Node>, KustomizationError> {
    let Ok(real) = resolve(root, file) else { return Ok(None) };
    if !real.is_file() {
        return Ok(None);
    }
    let bytes = read_bounded(&real, *bytes_left);
    let bytes = bytes.map_err(|source| KustomizationError::Io { file: file.to_string(), source })?;
    let bytes = bytes.ok_or_else(|| KustomizationError::TooLarge { file: file.to_string() })?;
    *bytes_left -= bytes.len() as u64;
    match read_document(&bytes) {
        Ok(node) => Ok(node),
        Err(source) if source.is_limit() => Err(KustomizationError::Limit { file: file.to_string(), source }),
        Err(_) => Ok(None),
    }
}

/// A path in a kustomization.
#[derive(Clone, Copy, Debug)]
pub struct NamedPath<'n> {
    /// The field.
    pub field: &'static str,
    /// The field in the object, if `field` contains objects.
    pub inner: Option<&'static str>,
    /// The path as written.
    pub path: &'n str,
}

impl NamedPath<'_> {
    /// Whether a file with variables is named.
    pub fn is_env_file(&self) -> bool {
        self.inner.is_some_and(|inner| ENV_FIELDS.contains(&inner))
    }

    /// Whether the path may be an inline patch.
    pub fn may_be_inline(&self) -> bool {
        self.field == STRATEGIC_MERGE && self.path.contains('\n')
    }
}

fn paths(kustomization: &Node) -> Vec<NamedPath<'_>> {
    let mut found = Vec::new();
    for (field, inner) in FIELDS {
        for item in kustomization.all(field).flat_map(items) {
            if inner.is_empty() {
                found.extend(item.as_str().map(|path| NamedPath { field, inner: None, path }));
            }
            found.extend(paths_in(item, field, inner));
        }
    }
    found
}

/// Returns the paths in the fields of an object.
fn paths_in<'n>(
    object: &'n Node,
    field: &'static str,
    inner: &'static [&'static str],
) -> impl Iterator<Item = NamedPath<'n>> {
    inner.iter().flat_map(move |name| {
        let strings = object.all(name).flat_map(items).filter_map(Node::as_str);
        strings.map(move |text| {
            // A file may have the form `key=path`.
            let file = text.split_once('=').filter(|_| *name == "files").map(|(_, file)| file);
            NamedPath { field, inner: Some(name), path: file.unwrap_or(text) }
        })
    })
}

/// Returns the directories in which charts may be found.
fn chart_homes<'n>(paths: &[NamedPath<'n>]) -> Vec<&'n str> {
    let homes = paths.iter().filter(|one| one.inner == Some("chartHome") && !one.path.is_empty());
    let mut homes: Vec<&str> = homes.map(|one| one.path).collect();
    if homes.is_empty() {
        homes.push(CHART_HOME);
    }
    homes
}

/// Returns the items of a list, or the value itself.
fn items(node: &Node) -> &[Node] {
    match &node.data {
        Data::Sequence(items) => items,
        _ => std::slice::from_ref(node),
    }
}

#[cfg(test)]
mod tests;
