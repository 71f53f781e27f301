//! An application whose plugins were asked which parameters they accept.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use tiphys_engine::{shown_name, source_node};
use tiphys_plugin::LoadedPlugin;
use tiphys_render::{AnnouncedSource, AskedSource};
use tiphys_store::StoredApplication;

use super::check_choice;
use super::defaults::Defaults;
use super::origin::{Layers, Location};
use super::row::{Announced, Row, rows};
use crate::args::{CommonArgs, SourceChoice};
use crate::failure::Failure;
use crate::settings::Host;

/// The application that was asked for, and what is known of its chosen sources.
pub(super) struct Asked {
    /// The application.
    pub(super) stored: Arc<StoredApplication>,
    /// What the plugins accept, and what is set; of a plugin that gave no answer only what is set.
    pub(super) sources: Vec<AnnouncedSource>,
    /// Which sources' plugins gave no answer, by index, and why.
    failures: Vec<(usize, Failure)>,
    plugins: Vec<LoadedPlugin>,
    current_dir: PathBuf,
}

/// Finds the application and asks its plugins. What a person should know of both is told.
pub(super) async fn ask(
    common: &CommonArgs,
    host: &Host,
    app: &str,
    choice: &SourceChoice,
) -> Result<Asked, Failure> {
    let place = super::workplace(common, host, app)?;
    let stored = &super::only_application(&place, app)?;
    check_choice(stored, choice)?;
    let asking = place
        .renderer
        .announce_each(&stored.application, |position, source| super::is_chosen(choice, position, source));
    let answers =
        Box::pin(place.run(asking)).await?.map_err(|error| Failure::of_application(stored, &error))?;
    let mut asked = Asked {
        stored: Arc::clone(stored),
        sources: Vec::new(),
        failures: Vec::new(),
        plugins: place.plugins,
        current_dir: host.absolute(""),
    };
    for (index, AskedSource { source, failure }) in answers.into_iter().enumerate() {
        if let Some(error) = failure {
            let failure = Failure::of_application(stored, &error);
            // Nothing of a document that does not hold is worth listing.
            if error.is_of_the_document() {
                return Err(failure);
            }
            asked.failures.push((index, failure));
        }
        for warning in &source.warnings {
            tracing::warn!("{}: {warning}", stored.full_name());
        }
        asked.sources.push(source);
    }
    Ok(asked)
}

impl Asked {
    /// The rows of all sources.
    pub(super) fn rows(&self) -> Vec<Row<'_>> {
        let mut all = Vec::new();
        for (index, source) in self.sources.iter().enumerate() {
            let failed = self.failures.iter().any(|(failed, _)| *failed == index);
            let announced = if failed { Announced::Unknown } else { Announced::Known };
            let defaults = Defaults::of(&self.plugins, source.plugin.as_deref(), |path| self.shown(path));
            let layers = Layers::of(&self.stored, source, defaults);
            all.extend(rows(source, &layers, announced));
        }
        all
    }

    /// The one parameter of this name, or by which the plugin gets it. That it is not there is known only if all plugins have answered.
    pub(super) fn row(&self, name: &str) -> Result<Row<'_>, Failure> {
        let rows = self.rows();
        let is_it = |row: &Row<'_>| {
            let AnnouncedSource { source, plugin, .. } = row.source;
            row.name == shown_name(source, plugin.as_deref(), name)
        };
        let application = self.stored.full_name();
        let positions: Vec<String> =
            rows.iter().filter(|row| is_it(row)).map(|row| row.source.position.to_string()).collect();
        match positions.len() {
            1 => {}
            0 => {
                if let Some((_, failure)) = self.failures.first() {
                    return Err(failure.clone());
                }
                let similar = tiphys_params::suggest(name, rows.iter().map(|row| row.name));
                let failure = Failure::bad_input(format!("{application} has no parameter {name:?}"));
                return Err(match similar.as_slice() {
                    [] => failure,
                    names => failure.hint(format!("did you mean {}?", names.join(" or "))),
                });
            }
            _ => {
                return Err(Failure::bad_input(format!(
                    "{application} has a parameter {name:?} in several sources ({}); say --source-position",
                    positions.join(", ")
                )));
            }
        }
        let found = rows.into_iter().find(is_it);
        found.ok_or_else(|| Failure::bug("a row that was counted is not there"))
    }

    /// Where a source stands, for what is said of parameters that stand nowhere.
    pub(super) fn location(&self, source: &AnnouncedSource) -> Location {
        let place = &self.stored.place;
        let document = source.position.checked_sub(1).and_then(|index| source_node(&self.stored.node, index));
        Location {
            file: place.file.to_string(),
            position: document.map(|document| document.position).or(place.position),
            version: self.stored.version(),
        }
    }

    /// Whether a plugin gave no answer.
    pub(super) fn has_failed(&self) -> bool {
        !self.failures.is_empty()
    }

    /// Tells of every plugin that gave no answer, and gives the exit code.
    pub(super) fn conclude(&self) -> ExitCode {
        let mut worst = None;
        for (_, failure) in &self.failures {
            failure.tell();
            worst = worst.max(Some(failure.kind()));
        }
        worst.map_or(ExitCode::SUCCESS, |kind| ExitCode::from(kind.code()))
    }

    /// A file of ours as people call it here.
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.current_dir).unwrap_or(path).display().to_string()
    }
}
