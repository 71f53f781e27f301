//! The pipeline from an Application to its manifests: source, override files, plugin, objects.
//!
//! A [`Renderer`] knows no command line, store or HTTP, so commands, servers and controllers can use it.

mod announce;
mod chart_folder;
mod context;
mod destination;
mod directory;
mod error;
mod inputs;
mod pair;
mod prepare;
mod renderer;
mod report;
mod shared_announcements;
mod source_folder;
mod values;

pub use announce::Inquiry;
pub use chart_folder::ChartFolder;
pub use context::ContextSettings;
pub use destination::DestinationVersions;
pub use directory::{DirectoryError, DirectoryManifests, JsonnetError};
pub use error::{RenderError, SourceError, SourceFailure};
pub use inputs::{
    InputFiles, InputPaths, SourceFiles, SourceInputs, SourceProblem, SourceRule, UnselectedPaths,
};
pub use pair::{RenderedPair, Side, has_equal_inputs, render_both, render_pair};
pub use prepare::{Prepared, Work};
pub use renderer::{RenderSettings, Renderer};
pub use report::{AnnouncedSource, AskedSource, MergedFile, RenderedApplication, RenderedSource};
pub use values::{
    ClusterVersions, LiveVersions, NoClusters, SourceLookUps, UnreadVersions, UnresolvedParameter,
    UnresolvedParameters, ValueResolver,
};
