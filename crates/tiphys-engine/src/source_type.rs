//! Which tool a source names, or which one its files look like (`spec/cmp.md` 3.5 and 3.6).

use std::fmt;

use tiphys_api::{ApplicationSource, DirectorySource, HelmSource, KustomizeSource};

/// What makes a source's manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// The type that a source names; `None` leaves it to detection. To be asked after override files were merged.
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

/// The source with empty `kustomize`, `helm` and `directory` blocks taken out, as Argo CD's controller does before anything else;
/// an empty `plugin` block stays. Blocks that an override file adds are not touched by this: they come later.
///
/// Argo CD's notion of empty is odd, and followed: a kustomize block with nothing but its switches for labels and annotations
/// counts as empty, since they do nothing alone.
pub fn without_empty_blocks(source: &ApplicationSource) -> ApplicationSource {
    let mut source = source.clone();
    source.kustomize = source.kustomize.filter(|block| *block != switches_of(block));
    source.helm = source.helm.filter(|block| *block != HelmSource::default());
    source.directory = source.directory.filter(|block| *block != DirectorySource::default());
    source
}

/// A kustomize block with only those switches of another one that do nothing alone.
fn switches_of(block: &KustomizeSource) -> KustomizeSource {
    KustomizeSource {
        force_common_labels: block.force_common_labels,
        force_common_annotations: block.force_common_annotations,
        common_annotations_envsubst: block.common_annotations_envsubst,
        label_without_selector: block.label_without_selector,
        label_include_templates: block.label_include_templates,
        ..KustomizeSource::default()
    }
}

/// The source whose type is named by its block, but switched off by Argo CD's settings (`helm.enable: "false"`): a plain directory. One
/// that names several types stays, since it is wrong anyway.
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

/// The files that make a folder a kustomization.
pub const KUSTOMIZATION_FILES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The type that the files of the source's own folder look like, once no plugin has claimed it. `names` are those of its
/// files (not of folders), in any order; where several decide, the last by bytes does, as in Argo CD. Types that settings switch off
/// are not looked for.
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
