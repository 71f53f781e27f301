//! The preparation of a source: its override files are merged, disabled types become plain directories, and the type is that of a block,
//! else of a plugin whose discovery rule matches, else of the files.

use tiphys_model::resources::ApplicationSource;

use crate::override_files::{OVERRIDE_FILE_BYTES_MAX, OverrideFile, override_file_names, override_source};
use crate::translate::{SourcePlan, TranslateError, translate};
use crate::{AmbiguousSource, BuildEnvironment, OverrideError, OverrideStep, SourceType, SourceTypes};

/// The directory of a source.
pub trait SourceFolder {
    /// Why a file cannot be read.
    type Error;

    /// Reads a file of at most `bytes_max` bytes; `None` if it does not exist. The name comes from an Application: it may lead elsewhere.
    fn read(&mut self, name: &str, bytes_max: u64) -> Result<Option<FolderFile>, Self::Error>;

    /// Returns the names of the files directly in the directory that `is_wanted` accepts.
    fn names(&mut self, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<String>, Self::Error>;
}

/// A file of a [`SourceFolder`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderFile {
    /// Its path as messages show it.
    pub path: String,
    /// Its bytes.
    pub text: Vec<u8>,
}

/// The override files of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideFiles<'a> {
    /// Those of its directory, for the application with this instance name.
    Unmerged(&'a str),
    /// They are merged already, so those of its directory do not count.
    Merged,
}

/// An override file of the repository, merged.
#[derive(Clone, Debug)]
pub struct MergedOverride {
    /// The file.
    pub file: FolderFile,
    /// The effect of the merge.
    pub step: OverrideStep,
}

/// A source whose renderer is known, except for discovery.
#[derive(Clone, Debug)]
pub struct Preparation {
    /// The source with its override files merged.
    pub source: ApplicationSource,
    /// The override files, in the order in which they apply.
    pub override_files: Vec<MergedOverride>,
    /// Warnings about them.
    pub warnings: Vec<String>,
    /// The decision about the type.
    pub choice: TypeChoice,
}

/// The decision about the type of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeChoice {
    /// A block names it, and the plugin if that renders it.
    Named(SourceType),
    /// The discovery rules of plugins.
    Discovery(UndecidedType),
}

/// The type of a source that the discovery rules of plugins decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndecidedType {
    types: SourceTypes,
    /// The type if no rule matches.
    otherwise: SourceType,
}

/// A source that cannot be prepared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PreparationError<E> {
    /// The directory cannot be read.
    #[error("{0}")]
    Folder(E),
    /// An override file is invalid.
    #[error(transparent)]
    Override(OverrideError),
    /// The source names several types.
    #[error(transparent)]
    Ambiguous(#[from] AmbiguousSource),
}

impl Preparation {
    /// Prepares a source with the files of its directory.
    pub fn new<F: SourceFolder>(
        source: &ApplicationSource,
        overrides: OverrideFiles<'_>,
        types: &SourceTypes,
        folder: &mut F,
    ) -> Result<Self, PreparationError<F::Error>> {
        let mut files = Vec::new();
        if let OverrideFiles::Unmerged(instance_name) = overrides {
            for name in override_file_names(instance_name).map_err(PreparationError::Override)? {
                files.extend(folder.read(&name, OVERRIDE_FILE_BYTES_MAX).map_err(PreparationError::Folder)?);
            }
        }
        let named: Vec<OverrideFile<'_>> = files
            .iter()
            .map(|file: &FolderFile| OverrideFile { name: &file.path, text: &file.text })
            .collect();
        let merged = override_source(source, &named).map_err(PreparationError::Override)?;
        let source = types.without_disabled(&merged.source);
        let nameless = source.plugin.as_ref().is_some_and(|block| block.name.is_empty());
        let choice = match types.named(&source)? {
            Some(named) if !nameless => TypeChoice::Named(named),
            Some(named) => TypeChoice::Discovery(UndecidedType { types: types.clone(), otherwise: named }),
            None => {
                let names = folder.names(&|name| types.indicated_by(name).is_some());
                let names = names.map_err(PreparationError::Folder)?;
                let otherwise = types.detected(names.iter().map(String::as_str));
                TypeChoice::Discovery(UndecidedType { types: types.clone(), otherwise })
            }
        };
        Ok(Self {
            source,
            override_files: files
                .into_iter()
                .zip(merged.steps)
                .map(|(file, step)| MergedOverride { file, step })
                .collect(),
            warnings: merged.warnings.into_iter().map(|warning| warning.message).collect(),
            choice,
        })
    }

    /// Returns the type of the source and its plan. `found` is the plugin that discovery has found, if it was asked.
    pub fn plan(
        &self,
        found: Option<&str>,
        build: &BuildEnvironment,
    ) -> Result<(SourceType, SourcePlan), TranslateError> {
        let source_type = match (&self.choice, found) {
            (TypeChoice::Named(named), _) => *named,
            (TypeChoice::Discovery(undecided), None) => undecided.otherwise,
            (TypeChoice::Discovery(_), Some(_)) => SourceType::Plugin,
        };
        let plan = match translate(&self.source, source_type, build)? {
            SourcePlan::Plugin(plan) => SourcePlan::Plugin(plan.of_plugin(found)?),
            plan @ SourcePlan::Directory(_) => plan,
        };
        Ok((source_type, plan))
    }
}

impl UndecidedType {
    /// Whether a match of this plugin decides the type. A plugin of a native type stands back if the files decide: Argo CD prefers charts
    /// to kustomizations in one directory, and ignores types that the settings disable.
    pub fn is_decided_by(&self, plugin: &str) -> bool {
        let Some(native) = self.types.of_plugin(plugin) else { return true };
        match self.otherwise {
            SourceType::Native(_) => false,
            SourceType::Directory => !self.types.is_disabled(native),
            // A block without a name takes any plugin.
            SourceType::Plugin => true,
        }
    }

    /// Returns the type if no rule matches. [`SourceType::Plugin`] requires a match.
    pub fn otherwise(&self) -> SourceType {
        self.otherwise
    }
}

#[cfg(test)]
mod tests;
