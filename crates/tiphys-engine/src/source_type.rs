//! The type that a source names, or that its files indicate (Argo CD's `GetAppSourceType`).

mod native;

use std::fmt;

use tiphys_model::resources::{ApplicationSource, ArgoCdSettings, DirectorySource};

pub use native::{Block, HELM_PLUGIN, KUSTOMIZE_PLUGIN, NATIVE_TYPES, NativeType};
use native::{HELM, KUSTOMIZE};

/// The tool that generates a source's manifests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SourceType {
    /// A tool that Argo CD itself runs, and here a plugin.
    Native(&'static NativeType),
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

/// The native types, and those that Argo CD's settings disable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTypes {
    native: Vec<&'static NativeType>,
    disabled: Vec<&'static NativeType>,
}

impl SourceType {
    /// Helm.
    pub const HELM: Self = Self::Native(&HELM);
    /// kustomize.
    pub const KUSTOMIZE: Self = Self::Native(&KUSTOMIZE);
}

impl fmt::Display for SourceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native(native) => native.name,
            Self::Directory => "Directory",
            Self::Plugin => "Plugin",
        })
    }
}

impl fmt::Debug for SourceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Default for SourceTypes {
    fn default() -> Self {
        Self::new(NATIVE_TYPES, &ArgoCdSettings::default())
    }
}

impl SourceTypes {
    /// Returns these native types, without those that the settings disable: any value other than `true` does.
    pub fn new(native: &[&'static NativeType], settings: &ArgoCdSettings) -> Self {
        let is_disabled = |one: &&&NativeType| (one.enabled)(settings).is_some_and(|word| word != "true");
        Self { native: native.to_vec(), disabled: native.iter().filter(is_disabled).copied().collect() }
    }

    /// Returns the plugins that render native types.
    pub fn plugins(&self) -> Vec<&'static str> {
        self.native.iter().map(|native| native.plugin).collect()
    }

    /// Returns the type that a source names, after its override files were merged. `None` leaves the type to detection.
    pub fn named(&self, source: &ApplicationSource) -> Result<Option<SourceType>, AmbiguousSource> {
        let native = self.native.iter().filter(|native| (native.block)(source) != Block::Absent);
        let native = native.map(|native| SourceType::Native(native));
        let others = [
            (source.directory.is_some(), SourceType::Directory),
            (source.plugin.is_some(), SourceType::Plugin),
        ];
        let others = others.into_iter().filter_map(|(is_set, kind)| is_set.then_some(kind));
        let types: Vec<SourceType> = native.chain(others).collect();
        match types[..] {
            [] => Ok(None),
            [only] => Ok(Some(only)),
            _ => Err(AmbiguousSource { types }),
        }
    }

    /// Returns the source as a plain directory if Argo CD's settings disable the type that it names (`helm.enable: "false"`). A source that
    /// names several types stays, because it is invalid anyway.
    pub fn without_disabled(&self, source: &ApplicationSource) -> ApplicationSource {
        let mut source = source.clone();
        if let Ok(Some(SourceType::Native(native))) = self.named(&source)
            && self.is_disabled(native)
        {
            (native.remove_block)(&mut source);
            source.directory = Some(DirectorySource::default());
        }
        source
    }

    /// Returns the type that the files of the source's directory indicate, if no plugin matches. `names` are the names of its files, without
    /// directories, in any order. Of several matches the last by bytes decides, as in Argo CD. Types that settings disable are not
    /// detected.
    pub fn detected<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> SourceType {
        let indicated = names.into_iter().filter_map(|name| Some((name, self.indicated_by(name)?)));
        indicated.max_by_key(|(name, _)| *name).map_or(SourceType::Directory, |(_, kind)| kind)
    }

    /// Returns the type that a file of this name indicates.
    pub(crate) fn indicated_by(&self, name: &str) -> Option<SourceType> {
        let mut enabled = self.native.iter().filter(|native| !self.is_disabled(native));
        enabled.find(|native| (native.is_indicated_by)(name)).map(|native| SourceType::Native(native))
    }

    /// Returns the native type that a plugin implements.
    pub(crate) fn of_plugin(&self, plugin: &str) -> Option<&'static NativeType> {
        self.native.iter().find(|native| native.plugin == plugin).copied()
    }

    /// Whether the settings disable a type.
    pub(crate) fn is_disabled(&self, native: &NativeType) -> bool {
        self.disabled.contains(&native)
    }
}

/// Returns the source without empty blocks, which Argo CD's controller removes first. An empty `plugin` block stays. Override files are
/// merged later, so blocks that they add stay too.
pub fn without_empty_blocks(source: &ApplicationSource) -> ApplicationSource {
    let mut source = source.clone();
    for native in NATIVE_TYPES {
        if (native.block)(&source) == Block::Empty {
            (native.remove_block)(&mut source);
        }
    }
    source.directory = source.directory.filter(|block| *block != DirectorySource::default());
    source
}

#[cfg(test)]
mod tests;
