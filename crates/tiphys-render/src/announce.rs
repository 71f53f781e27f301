//! Announcements: the parameters that the plugins of an application's sources accept, and the set parameters.

use std::path::Path;

use futures_util::future::join;
use tiphys_engine::{
    BuildEnvironment, PluginPlan, SourcePlace, SourcePlan, SourceType, explicit_type, translate,
    without_switched_off, written_parameters,
};
use tiphys_model::params::Parameter;
use tiphys_model::resources::{Application, ApplicationSource};
use tiphys_plugin::{Explanation, Explanations};
use tiphys_tree::RepoPath;

use crate::error::{RenderError, SourceFailure};
use crate::prepare::{OverrideFiles, Prepared, Work};
use crate::renderer::{Renderer, SourceIndex, rendered};
use crate::report::{AnnouncedSource, AskedSource, MergedFile};

/// A question to a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inquiry {
    /// Which parameters it accepts.
    Announcements,
    /// Also what sets their values, if it explains all at once.
    Origins,
}

impl Renderer {
    /// Returns the announced and set parameters of the sources that `choose` selects. The error is that of the first source that fails.
    pub async fn announce(
        &self,
        application: &Application,
        choose: impl Fn(usize, &ApplicationSource) -> bool,
    ) -> Result<Vec<AnnouncedSource>, RenderError> {
        let asked = Box::pin(self.announce_each(application, Inquiry::Announcements, choose)).await?;
        asked.into_iter().map(|asked| asked.failure.map_or(Ok(asked.source), Err)).collect()
    }

    /// Like [`Renderer::announce`], but returns the set parameters of failed sources, too.
    pub async fn announce_each(
        &self,
        application: &Application,
        inquiry: Inquiry,
        choose: impl Fn(usize, &ApplicationSource) -> bool,
    ) -> Result<Vec<AskedSource>, RenderError> {
        let mut told = Vec::new();
        let (sources, place) = tiphys_engine::sources(&application.spec)?;
        for (at, source) in asked(&sources, place, choose) {
            let Some((mut known, prepared)) = self.found(application, source, place, at).await else {
                continue;
            };
            let failure = match prepared {
                Ok(prepared) => {
                    known.files = self.source_files(&prepared).await;
                    let answer = self.ask(&prepared.work, inquiry, &mut known).await;
                    answer.err().map(|failure| at.failed(source, failure))
                }
                Err(failure) => Some(failure),
            };
            told.push(AskedSource { source: known, failure });
        }
        Ok(told)
    }

    /// Returns the set parameters of all sources. Only sources that a local folder stands for are looked at; of others, only the document
    /// is known. No announcement runs.
    pub async fn set_parameters_of(
        &self,
        application: &Application,
    ) -> Result<Vec<AskedSource>, RenderError> {
        let mut found = Vec::new();
        let (sources, place) = tiphys_engine::sources(&application.spec)?;
        for (at, source) in asked(&sources, place, |_, _| true) {
            let is_local =
                source.chart.is_empty() && self.sources.has_copy(&source.repo_url).await.unwrap_or(true);
            if !is_local {
                found.push(AskedSource {
                    source: self.unprepared(application, source, place, at),
                    failure: None,
                });
            } else if let Some((known, prepared)) = self.found(application, source, place, at).await {
                found.push(AskedSource { source: known, failure: prepared.err() });
            }
        }
        Ok(found)
    }

    /// Returns what sets the value of a parameter of the source at this position, from 1. None if its plugin cannot explain it.
    pub async fn explain(
        &self,
        application: &Application,
        position: usize,
        name: &str,
    ) -> Result<Option<Explanation>, RenderError> {
        let (sources, place) = tiphys_engine::sources(&application.spec)?;
        for (at, source) in asked(&sources, place, |one, _| one == position) {
            let prepared = self.prepared(application, (source, OverrideFiles::Unmerged), place, at).await?;
            let Work::Plugin { chosen, request, .. } = &prepared.work else { continue };
            let plugin = chosen.plugin.name().to_owned();
            let explained = chosen.plugin.explain(request, name).await;
            let failed = |source| SourceFailure::Plugin { name: plugin, source };
            return explained.map_err(failed).map_err(|failure| at.failed(source, failure));
        }
        Ok(None)
    }

    /// Adds the announcements of a source's plugin, and its explanations if it has them. None for plain manifests.
    async fn ask(
        &self,
        work: &Work,
        inquiry: Inquiry,
        known: &mut AnnouncedSource,
    ) -> Result<(), SourceFailure> {
        let Work::Plugin { chosen, request, .. } = work else { return Ok(()) };
        let plugin = chosen.plugin.as_ref();
        let failed = |source| SourceFailure::Plugin { name: plugin.name().to_owned(), source };
        let explaining = async {
            match inquiry {
                Inquiry::Announcements => Ok(None),
                Inquiry::Origins => plugin.explain_all(request).await,
            }
        };
        let (announced, explained) = join(self.announcements.ask(plugin, request), explaining).await;
        let announced = announced.map_err(failed)?;
        known.announcements.clone_from(&announced.list);
        known.plugin_warnings.clone_from(&announced.warnings);
        if let Some(Explanations { layers, warnings }) = explained.map_err(failed)? {
            known
                .plugin_warnings
                .extend(warnings.into_iter().filter(|one| !announced.warnings.contains(one)));
            known.explanations = Some(layers);
        }
        Ok(())
    }

    /// Prepares a source. Returns its result without announcements, and the prepared source or why there is none. None for a source that
    /// renders nothing.
    async fn found(
        &self,
        application: &Application,
        source: &ApplicationSource,
        place: SourcePlace,
        at: SourceIndex,
    ) -> Option<(AnnouncedSource, Result<Prepared, RenderError>)> {
        match self.prepared(application, (source, OverrideFiles::Unmerged), place, at).await {
            Ok(prepared) => Some((self.known(application, source, place, at, &prepared)?, Ok(prepared))),
            Err(failure) => Some((self.unprepared(application, source, place, at), Err(failure))),
        }
    }

    /// Returns the result for a source without its announcements. None for a source that renders nothing.
    fn known(
        &self,
        application: &Application,
        source: &ApplicationSource,
        place: SourcePlace,
        at: SourceIndex,
        prepared: &Prepared,
    ) -> Option<AnnouncedSource> {
        let (source_type, plugin, parameters) = match &prepared.work {
            Work::Nothing => return None,
            Work::Directory { .. } => (SourceType::Directory, None, Vec::new()),
            Work::Plugin { chosen, plan, source_type, .. } => (
                *source_type,
                Some(chosen.plugin.name()),
                shown(&prepared.source, plan, Some(chosen.plugin.name())),
            ),
        };
        let build = &prepared.build;
        let set_parameters = |source: &ApplicationSource| self.set_parameters(source, place, build, plugin);
        let merged = prepared.override_files.iter().map(|file| MergedFile {
            path: file.path.clone(),
            text: file.text.clone(),
            patch: file.step.patch.clone(),
            parameters: set_parameters(&file.step.source),
            dynamic_parameters: file.step.source.dynamic_parameters().to_vec(),
        });
        Some(AnnouncedSource {
            position: at.position(),
            name: source.name.clone(),
            source_type,
            source: prepared.source.clone(),
            app_path: prepared.app_path.clone(),
            working_copy: self.sources.working_copy(&prepared.revision).map(Path::to_path_buf),
            files: None,
            chart: prepared.chart(&self.known_charts),
            instance_name: self.instance_name(application),
            plugin: plugin.map(str::to_owned),
            announcements: Vec::new(),
            parameters,
            look_ups: prepared.look_ups().to_vec(),
            own_parameters: set_parameters(source),
            override_files: merged.collect(),
            build_environment: build.variables().iter().map(|variable| variable.name.clone()).collect(),
            warnings: prepared.warnings.clone(),
            plugin_warnings: Vec::new(),
            explanations: None,
        })
    }

    /// Returns the result for a source that could not be prepared: the parameters of the Application itself. Variables are not replaced.
    fn unprepared(
        &self,
        application: &Application,
        source: &ApplicationSource,
        place: SourcePlace,
        at: SourceIndex,
    ) -> AnnouncedSource {
        let own = self.set_parameters(source, place, &BuildEnvironment::default(), None);
        let switched_on = without_switched_off(source, &self.settings.switched_off);
        let look_ups = match translate(&switched_on, place, &BuildEnvironment::default()) {
            Ok(SourcePlan::Plugin(plan)) => plan.look_ups,
            _ => Vec::new(),
        };
        AnnouncedSource {
            position: at.position(),
            name: source.name.clone(),
            source_type: explicit_type(source).ok().flatten().unwrap_or(if source.chart.is_empty() {
                SourceType::Plugin
            } else {
                SourceType::Helm
            }),
            source: source.clone(),
            app_path: RepoPath::default(),
            working_copy: None,
            files: None,
            chart: None,
            instance_name: self.instance_name(application),
            plugin: None,
            announcements: Vec::new(),
            parameters: own.clone(),
            look_ups,
            own_parameters: own,
            override_files: Vec::new(),
            build_environment: Vec::new(),
            warnings: Vec::new(),
            plugin_warnings: Vec::new(),
            explanations: None,
        }
    }

    /// Returns the set parameters of a source. Empty if it cannot be translated.
    fn set_parameters(
        &self,
        source: &ApplicationSource,
        place: SourcePlace,
        build: &BuildEnvironment,
        plugin: Option<&str>,
    ) -> Vec<Parameter> {
        let source = without_switched_off(source, &self.settings.switched_off);
        match translate(&source, place, build) {
            Ok(SourcePlan::Plugin(plan)) => shown(&source, &plan, plugin),
            _ => Vec::new(),
        }
    }
}

/// Returns the parameters of a plan. Values of a chart have the names of `params set`. `plugin` is the name of the chosen plugin.
fn shown(source: &ApplicationSource, plan: &PluginPlan, plugin: Option<&str>) -> Vec<Parameter> {
    match (&source.helm, &source.plugin) {
        (Some(_), _) => written_parameters(source, SourceType::Helm, plugin),
        (None, Some(_)) => written_parameters(source, SourceType::Plugin, plugin),
        (None, None) => plan.parameters.clone().unwrap_or_default(),
    }
}

/// Returns the chosen sources that render something.
fn asked(
    sources: &[ApplicationSource],
    place: SourcePlace,
    choose: impl Fn(usize, &ApplicationSource) -> bool,
) -> impl Iterator<Item = (SourceIndex, &ApplicationSource)> {
    rendered(sources, place)
        .map(|(index, source)| (SourceIndex { index, count: sources.len() }, source))
        .filter(move |(at, source)| choose(at.position(), source))
}
