//! Announcements of a plugin's file and of its dynamic command, checked as the proposal demands (Q/A 5).

use tiphys_params::{
    Announcement, AnnouncementEntry, Announcements, decode_announcement_entries, decode_dynamic_output,
};

use crate::chain;
use crate::config::PluginConfig;
use crate::plugin::{Phase, PluginError};

/// What happens to what the proposal forbids and Argo CD lets pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// It is an error.
    #[default]
    Refuse,
    /// It is logged; a forbidden announcement is left out (`TIPHYS_CMP_STRICT=false`, `design.md` section 5).
    Log,
}

/// The static announcements. The file was read as leniently as Argo CD reads it; here a wrong one is handled.
pub(crate) fn fixed(config: &PluginConfig, strictness: Strictness) -> Result<Vec<Announcement>, PluginError> {
    match strictness {
        Strictness::Log => Ok(valid(&config.static_announcements, &config.name)),
        Strictness::Refuse => {
            let refused =
                |error| PluginError::Announcement { message: format!("spec.parameters.static: {error}") };
            config.checked_announcements().map_err(refused).map(|read| told(read, &config.name))
        }
    }
}

/// The dynamic announcements, from the command's standard output.
pub(crate) fn dynamic(
    stdout: &[u8],
    plugin: &str,
    strictness: Strictness,
) -> Result<Vec<Announcement>, PluginError> {
    let refused = |message| PluginError::Output { phase: Phase::Announce, message };
    match strictness {
        Strictness::Refuse => decode_dynamic_output(stdout)
            .map_err(|error| refused(chain(&error)))
            .map(|read| told(read, plugin)),
        Strictness::Log => {
            let node = tiphys_yaml::read_json(stdout).map_err(|error| refused(error.to_string()))?;
            let entries = decode_announcement_entries(&node, "the output")
                .map_err(|error| refused(error.to_string()))?;
            Ok(valid(&entries, plugin))
        }
    }
}

/// The entries that hold; the others are logged.
fn valid(entries: &[AnnouncementEntry], plugin: &str) -> Vec<Announcement> {
    let check = |entry: &AnnouncementEntry| {
        entry.check().inspect_err(|error| tracing::warn!(plugin, "announcement left out: {error}")).ok()
    };
    entries.iter().filter_map(check).collect()
}

fn told(read: Announcements, plugin: &str) -> Vec<Announcement> {
    for warning in &read.warnings {
        tracing::warn!(plugin, "{}", warning.message);
    }
    read.list
}
