//! Announcements of a plugin's file and of its dynamic command, checked as the
//! [proposal](https://github.com/argoproj/argo-cd/blob/master/docs/proposals/parameterized-config-management-plugins.md) requires.

use tiphys_model::params::{
    Announcement, AnnouncementEntry, Announcements, decode_announcement_entries, decode_dynamic_output,
    merge_announcements,
};

use crate::chain;
use crate::config::PluginConfig;
use crate::error::{Phase, PluginError};

/// How announcements and parameters are handled that the proposal forbids and Argo CD accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// They are errors.
    #[default]
    Refuse,
    /// They are logged, and forbidden announcements are ignored (`TIPHYS_CMP_STRICT=false`, `docs/beside-argo-cd.md`).
    Log,
}

/// Returns the static announcements. The file was read as leniently as by Argo CD, so they are checked here.
pub(crate) fn static_announcements(
    config: &PluginConfig,
    strictness: Strictness,
) -> Result<Vec<Announcement>, PluginError> {
    match strictness {
        Strictness::Log => Ok(valid(&config.static_announcements, &config.name)),
        Strictness::Refuse => {
            let refused =
                |error| PluginError::Announcement { message: format!("spec.parameters.static: {error}") };
            config.checked_announcements().map_err(refused).map(|read| log_warnings(read, &config.name))
        }
    }
}

/// Decodes the dynamic announcements from the command's standard output.
pub(crate) fn dynamic(
    stdout: &[u8],
    plugin: &str,
    strictness: Strictness,
) -> Result<Vec<Announcement>, PluginError> {
    let refused = |message| PluginError::Output { phase: Phase::Announce, message };
    match strictness {
        Strictness::Refuse => decode_dynamic_output(stdout)
            .map_err(|error| refused(chain(&error)))
            .map(|read| log_warnings(read, plugin)),
        Strictness::Log => {
            let node = tiphys_yaml::read_json(stdout).map_err(|error| refused(error.to_string()))?;
            let entries = decode_announcement_entries(&node, "the output")
                .map_err(|error| refused(error.to_string()))?;
            Ok(valid(&entries, plugin))
        }
    }
}

/// Merges static and dynamic announcements, and logs the defaults that have no effect in the merged ones.
pub(crate) fn merged(
    fixed: Vec<Announcement>,
    dynamic: Vec<Announcement>,
    plugin: &str,
) -> Vec<Announcement> {
    let merged = merge_announcements(fixed, dynamic);
    for announcement in &merged {
        for field in announcement.ignored_defaults() {
            tracing::warn!(
                plugin,
                "announcement `{}`: the default in `{field}` is ignored, since its collectionType is `{}`",
                announcement.name,
                announcement.collection_type.field()
            );
        }
    }
    merged
}

/// Returns the valid entries and logs the others.
fn valid(entries: &[AnnouncementEntry], plugin: &str) -> Vec<Announcement> {
    let check = |entry: &AnnouncementEntry| {
        entry.check().inspect_err(|error| tracing::warn!(plugin, "announcement ignored: {error}")).ok()
    };
    entries.iter().filter_map(check).collect()
}

pub(crate) fn log_warnings(read: Announcements, plugin: &str) -> Vec<Announcement> {
    for warning in &read.warnings {
        tracing::warn!(plugin, "{}", warning.message);
    }
    read.list
}
