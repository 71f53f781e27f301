//! Announcements: the parameters that the plugins of an application's sources accept, and the set parameters.

use std::path::Path;

use futures_util::future::join;
use tiphys_engine::{
    ApplicationSources, BuildEnvironment, OverrideFiles, PluginPlan, SourceOf, SourcePlan, SourceType,
    translate, written_parameters,
};
use tiphys_model::params::Parameter;
use tiphys_model::resources::{Application, ApplicationSource};
use tiphys_plugin::{Explanation, Explanations};
use tiphys_tree::RepoPath;

use crate::error::{RenderError, SourceFailure};
use crate::prepare::{Prepared, Work};
use crate::renderer::Renderer;
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
        let sources = ApplicationSources::of(application)?;
        for of in sources.rendered().filter(|of| choose(of.position, of.source)) {
            let (mut known, prepared) = self.found(of).await;
            let failure = match prepared {
                Ok(prepared) => {
                    known.files = self.source_files(&prepared).await;
                    let answer = self.ask(&prepared.work, inquiry, &mut known).await;
                    answer.err().map(|failure| prepared.failed(failure))
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
        for of in ApplicationSources::of(application)?.rendered() {
            let SourceOf { source, .. } = of;
            let is_local =
                source.chart.is_empty() && self.sources.has_copy(&source.repo_url).await.unwrap_or(true);
            let (source, failure) = if is_local {
                let (known, prepared) = self.found(of).await;
                (known, prepared.err())
            } else {
                (self.unprepared(of), None)
            };
            found.push(AskedSource { source, failure });
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
        let sources = ApplicationSources::of(application)?;
        let Some(of) = sources.rendered().find(|of| of.position == position) else { return Ok(None) };
        let instance_name = self.instance_name(application);
        let prepared = self.prepared(of, OverrideFiles::Unmerged(&instance_name)).await?;
        let Work::Plugin { chosen, request, .. } = &prepared.work else { return Ok(None) };
        let plugin = chosen.plugin.name().to_owned();
        let explained = chosen.plugin.explain(request, name).await;
        let failed = |source| SourceFailure::Plugin { name: plugin, source };
        explained.map_err(failed).map_err(|failure| prepared.failed(failure))
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

    /// Prepares a source. Returns its result without announcements, and the prepared source or why there is none.
    async fn found(&self, of: SourceOf<'_>) -> (AnnouncedSource, Result<Prepared, RenderError>) {
        let instance_name = self.instance_name(of.application);
        match self.prepared(of, OverrideFiles::Unmerged(&instance_name)).await {
            Ok(prepared) => (self.known(of, &prepared), Ok(prepared)),
            Err(failure) => (self.unprepared(of), Err(failure)),
        }
    }

    /// Returns the result for a source without its announcements.
    fn known(&self, of: SourceOf<'_>, prepared: &Prepared) -> AnnouncedSource {
        let (source_type, plugin, parameters) = match &prepared.work {
            Work::Directory { .. } => (SourceType::Directory, None, Vec::new()),
            Work::Plugin { chosen, plan, source_type, .. } => (
                *source_type,
                Some(chosen.plugin.name()),
                shown(&prepared.source, plan, Some(chosen.plugin.name())),
            ),
        };
        let build = &prepared.build;
        let set_parameters = |source: &ApplicationSource| self.set_parameters(source, build, plugin);
        let merged = prepared.override_files.iter().map(|file| MergedFile {
            path: file.file.path.clone(),
            text: file.file.text.clone(),
            patch: file.step.patch.clone(),
            parameters: set_parameters(&file.step.source),
            dynamic_parameters: file.step.source.dynamic_parameters().to_vec(),
        });
        AnnouncedSource {
            position: of.position,
            name: of.source.name.clone(),
            source_type,
            source: prepared.source.clone(),
            app_path: prepared.app_path.clone(),
            working_copy: self.sources.working_copy(&prepared.revision).map(Path::to_path_buf),
            files: None,
            chart: prepared.chart(&self.known_charts),
            instance_name: self.instance_name(of.application),
            plugin: plugin.map(str::to_owned),
            announcements: Vec::new(),
            parameters,
            look_ups: prepared.look_ups().to_vec(),
            own_parameters: set_parameters(of.source),
            override_files: merged.collect(),
            build_environment: build.variables().iter().map(|variable| variable.name.clone()).collect(),
            warnings: prepared.warnings.clone(),
            plugin_warnings: Vec::new(),
            explanations: None,
        }
    }

    /// Returns the result for a source that could not be prepared: the parameters of the Application itself. Variables are not replaced.
    fn unprepared(&self, of: SourceOf<'_>) -> AnnouncedSource {
        let source = of.source;
        let own = self.set_parameters(source, &BuildEnvironment::default(), None);
        let look_ups = self.own_plan(source, &BuildEnvironment::default()).map(|(_, plan)| plan.look_ups);
        let named = self.settings.source_types.named(source).ok().flatten();
        let unnamed = if source.chart.is_empty() { SourceType::Plugin } else { SourceType::HELM };
        AnnouncedSource {
            position: of.position,
            name: source.name.clone(),
            source_type: named.unwrap_or(unnamed),
            source: source.clone(),
            app_path: RepoPath::default(),
            working_copy: None,
            files: None,
            chart: None,
            instance_name: self.instance_name(of.application),
            plugin: None,
            announcements: Vec::new(),
            parameters: own.clone(),
            look_ups: look_ups.unwrap_or_default(),
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
        build: &BuildEnvironment,
        plugin: Option<&str>,
    ) -> Vec<Parameter> {
        self.own_plan(source, build).map_or(Vec::new(), |(source, plan)| shown(&source, &plan, plugin))
    }

    /// Returns a source without disabled types, and the plan for the plugin that renders its block. `None` if there is none.
    fn own_plan(
        &self,
        source: &ApplicationSource,
        build: &BuildEnvironment,
    ) -> Option<(ApplicationSource, PluginPlan)> {
        let source = self.settings.source_types.without_disabled(source);
        let named = self.settings.source_types.named(&source).ok()??;
        match translate(&source, named, build).ok()? {
            SourcePlan::Plugin(plan) => Some((source, plan)),
            SourcePlan::Directory(_) => None,
        }
    }
}

/// Returns the parameters of a plan. Values of a chart have the names of `params set`. `plugin` is the name of the chosen plugin.
fn shown(source: &ApplicationSource, plan: &PluginPlan, plugin: Option<&str>) -> Vec<Parameter> {
    match (&source.helm, &source.plugin) {
        (Some(_), _) => written_parameters(source, SourceType::HELM, plugin),
        (None, Some(_)) => written_parameters(source, SourceType::Plugin, plugin),
        (None, None) => plan.parameters.clone().unwrap_or_default(),
    }
}
