//! The type that a source names, or that its files indicate (Argo CD's `GetAppSourceType`).

use serde::{Deserialize, Serialize};
use std::fmt;

use tiphys_model::resources::{ApplicationSource, DirectorySource, HelmSource, KustomizeSource};

/// The tool that generates a source's manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SourceType {
    /// kustomize.
    Kustomize,
    /// Helm.
    Helm,
    /// Plain YAML and JSON.
    Directory,
    /// A config management plugin.
    Plugin,
}

/// A source with more than one of the blocks that name a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("multiple application sources defined: {}", types.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))]
pub struct AmbiguousSource {
    /// The types, in Argo CD's order.
    pub types: Vec<SourceType>,
}

impl fmt::Display for SourceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kustomize => "Kustomize",
            Self::Helm => "Helm",
            Self::Directory => "Directory",
            Self::Plugin => "Plugin",
        })
    }
}

/// Returns the type that a source names, after its override files were merged. `None` leaves the type to detection.
pub fn explicit_type(source: &ApplicationSource) -> Result<Option<SourceType>, AmbiguousSource> {
    let blocks = [
        (source.kustomize.is_some(), SourceType::Kustomize),
        (source.helm.is_some(), SourceType::Helm),
        (source.directory.is_some(), SourceType::Directory),
        (source.plugin.is_some(), SourceType::Plugin),
    ];
    let types: Vec<SourceType> = blocks.into_iter().filter_map(|(set, kind)| set.then_some(kind)).collect();
    match types[..] {
        [] => Ok(None),
        [only] => Ok(Some(only)),
        _ => Err(AmbiguousSource { types }),
    }
}

/// Returns the source without empty `kustomize`, `helm` and `directory` blocks, which Argo CD's controller removes first. An empty `plugin`
/// block stays. Override files are merged later, so blocks that they add stay too.
///
/// As in Argo CD, a kustomize block counts as empty if it only has booleans for labels and annotations, since they have no effect alone.
pub fn without_empty_blocks(source: &ApplicationSource) -> ApplicationSource {
    let mut source = source.clone();
    source.kustomize = source.kustomize.filter(|block| *block != booleans_of(block));
    source.helm = source.helm.filter(|block| *block != HelmSource::default());
    source.directory = source.directory.filter(|block| *block != DirectorySource::default());
    source
}

/// Returns a kustomize block with only those booleans of another one that have no effect alone.
fn booleans_of(block: &KustomizeSource) -> KustomizeSource {
    KustomizeSource {
        force_common_labels: block.force_common_labels,
        force_common_annotations: block.force_common_annotations,
        common_annotations_envsubst: block.common_annotations_envsubst,
        label_without_selector: block.label_without_selector,
        label_include_templates: block.label_include_templates,
        ..KustomizeSource::default()
    }
}

/// Returns the source as a plain directory if Argo CD's settings disable the type that it names (`helm.enable: "false"`). A source that
/// names several types stays, because it is invalid anyway.
pub fn without_switched_off(source: &ApplicationSource, switched_off: &[SourceType]) -> ApplicationSource {
    match explicit_type(source) {
        Ok(Some(kind)) if switched_off.contains(&kind) => ApplicationSource {
            helm: None,
            kustomize: None,
            directory: Some(DirectorySource::default()),
            ..source.clone()
        },
        _ => source.clone(),
    }
}

/// The files that mark a directory as a kustomization.
const KUSTOMIZATION_FILES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Returns the type that the files of the source's directory indicate, if no plugin matches. `names` are the names of its files, without
/// directories, in any order. Of several matches the last by bytes decides, as in Argo CD. Types that settings disable are not
/// detected.
pub fn detected_type<'a>(
    names: impl IntoIterator<Item = &'a str>,
    switched_off: &[SourceType],
) -> SourceType {
    names
        .into_iter()
        .filter_map(|name| {
            if KUSTOMIZATION_FILES.contains(&name) {
                Some((name, SourceType::Kustomize))
            } else {
                name.ends_with("Chart.yaml").then_some((name, SourceType::Helm))
            }
        })
        .filter(|(_, kind)| !switched_off.contains(kind))
        .max_by_key(|(name, _)| *name)
        .map_or(SourceType::Directory, |(_, kind)| kind)
}

#[cfg(test)]
mod tests;
