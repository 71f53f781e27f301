//! From what a person wrote to the parameters as they are to be: which application, which of its sources, what it accepts.

use std::collections::HashSet;
use std::sync::Arc;

use tiphys_api::ApplicationSource;
use tiphys_engine::{
    Given, HELM_PLUGIN, HELM_VALUE_PREFIXES, KUSTOMIZE_PLUGIN, SET_FILE_PREFIX, SourceType, VariableNames,
    Variables, build_variables, has_plugin_values, replaced_variables, shown_name, with_parameters,
    written_parameters,
};
use tiphys_params::{Applied, ApplyError, Assignment, Edited, ParameterValue, Target, apply, read_values};
use tiphys_plugin::{Phase, PluginError};
use tiphys_render::{AnnouncedSource, AskedSource, RenderError, SourceFailure};
use tiphys_store::StoredApplication;

use crate::args::{SourceChoice, ValueArgs};
use crate::assignments;
use crate::context::Workplace;
use crate::failure::{Failure, chain};
use crate::settings::Host;

/// How the Helm plugin ends if a chart has more than it announces.
const HELM_PAST_BOUND: &str = "exit status 3";

/// What a person wants of an application's parameters, read but not yet understood: that takes the names that are known.
#[derive(Debug)]
pub(super) struct Wanted {
    set: Vec<String>,
    files: Vec<Vec<(String, ParameterValue)>>,
    unset: Vec<String>,
    variables: Variables,
}

/// A source whose parameters are changed.
#[derive(Debug)]
pub(super) struct Subject {
    /// The application.
    pub(super) stored: Arc<StoredApplication>,
    /// Place among its sources, from 1.
    pub(super) position: usize,
    /// What makes its manifests.
    pub(super) source_type: SourceType,
    /// What the plugin said; `None` if nobody asked it.
    pub(super) announced: Option<AnnouncedSource>,
}

/// A change of a source's parameters.
#[derive(Debug)]
pub(super) struct Change {
    /// The source as it is where it will be written.
    pub(super) before: ApplicationSource,
    /// The source as it is to be.
    pub(super) after: ApplicationSource,
    /// What changes.
    pub(super) applied: Applied,
}

impl Wanted {
    /// Values of the command line and of files.
    pub(super) fn values(args: &ValueArgs, unset: &[String], host: &Host) -> Result<Self, Failure> {
        let mut files = Vec::new();
        for file in &args.values {
            let bytes = assignments::read_bytes(host, file)
                .map_err(|error| Failure::bad_input(format!("--values {file}: {error}")))?;
            let values = read_values(&bytes)
                .map_err(|error| Failure::bad_input(format!("--values {file}: {}", chain(&error))))?;
            files.push(values);
        }
        if args.assignments.is_empty() && args.values.is_empty() && unset.is_empty() {
            return Err(Failure::bad_input("nothing to set")
                .hint("write NAME=VALUE, or -f FILE; --help shows all forms"));
        }
        let variables = if args.variables { Variables::Replaced } else { Variables::Literal };
        Ok(Self { set: args.assignments.clone(), files, unset: unset.to_vec(), variables })
    }

    /// Names to take away.
    pub(super) fn names(names: &[String]) -> Self {
        Self { set: Vec::new(), files: Vec::new(), unset: names.to_vec(), variables: Variables::default() }
    }

    /// The names with one of these prefixes, as they are written: brackets in them are a part of the name.
    fn names_that_begin_with<'a>(&'a self, prefixes: &'a [&str]) -> impl Iterator<Item = &'a str> {
        let of_set =
            |text: &'a String| text.split_once('=').map(|(name, _)| name.trim_end_matches([':', '+']));
        let names = self.set.iter().filter_map(of_set).chain(self.unset.iter().map(String::as_str));
        names.filter(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
    }

    /// The assignments: files first, so that the command line may change single items of what they set.
    fn assignments(
        &self,
        known: &HashSet<&str>,
        host: &Host,
    ) -> Result<Vec<Assignment<ParameterValue>>, Failure> {
        let mut wanted = Vec::new();
        for values in &self.files {
            wanted.extend(
                values.iter().map(|(name, value)| Assignment {
                    target: Target::whole(name),
                    value: Some(value.clone()),
                }),
            );
        }
        for text in &self.set {
            wanted.push(assignments::read(text, known, host)?);
        }
        for text in &self.unset {
            let target = Target::parse(text, known).map_err(|error| Failure::bad_input_from(&error))?;
            wanted.push(Assignment { target, value: None });
        }
        Ok(wanted)
    }
}

impl Subject {
    /// The source that is meant: the chosen one, else the only one that takes parameters.
    pub(super) async fn find(
        place: &Workplace,
        stored: Arc<StoredApplication>,
        choice: &SourceChoice,
        allow_unannounced: bool,
    ) -> Result<Self, Failure> {
        super::check_choice(&stored, choice)?;
        if allow_unannounced {
            return Self::unasked(&stored, choice);
        }
        let asking = place.renderer.announce_each(&stored.application, |position, source| {
            super::is_chosen(choice, position, source)
        });
        let refused = |error: RenderError| {
            let failure = Failure::of_application(&stored, &error);
            let is_of_a_file = matches!(&error, RenderError::Source(error) if matches!(*error.failure, SourceFailure::Override(_)));
            if error.is_of_the_document() || is_of_a_file {
                return failure;
            }
            failure.hint("--allow-unannounced takes every name without asking the plugin, and checks nothing")
        };
        let mut announced = Vec::new();
        for AskedSource { source, failure } in Box::pin(place.run(asking)).await?.map_err(refused)? {
            match failure {
                Some(error) if source.source_type == SourceType::Helm && is_past_bound(&error) => {
                    tracing::warn!(
                        "{}: the types of the chart's values are unknown, so new values are set as helm's --set reads them: {}",
                        stored.full_name(),
                        chain(&error)
                    );
                }
                Some(error) => return Err(refused(error)),
                None => {}
            }
            announced.push(source);
        }
        for warning in announced.iter().flat_map(|source| &source.warnings) {
            tracing::warn!("{}: {warning}", stored.full_name());
        }
        let mut found: Vec<AnnouncedSource> =
            announced.into_iter().filter(|source| source.plugin.is_some()).collect();
        match found.len() {
            1 => {
                let announced = found.remove(0);
                // The plugin that stands for Argo CD's own kustomize: its parameters are fields that Argo CD knows, unless the
                // Application says that they are a plugin's.
                let is_native = announced.plugin.as_deref() == Some(KUSTOMIZE_PLUGIN)
                    && announced.source.plugin.is_none();
                Ok(Self {
                    stored,
                    position: announced.position,
                    source_type: if is_native { SourceType::Kustomize } else { announced.source_type },
                    announced: Some(announced),
                })
            }
            0 => Err(Failure::bad_input(format!(
                "{} has no parameters: its manifests are plain files, not made by a plugin",
                stored.full_name()
            ))),
            _ => Err(several(&stored, found.iter().map(|source| (source.position, source.name.as_str())))),
        }
    }

    /// The source that is meant, as far as its document tells: no plugin is asked.
    fn unasked(stored: &Arc<StoredApplication>, choice: &SourceChoice) -> Result<Self, Failure> {
        let typed = |source: &ApplicationSource| match (&source.plugin, &source.kustomize, &source.helm) {
            (Some(_), _, _) => Some(SourceType::Plugin),
            (None, Some(_), _) => Some(SourceType::Kustomize),
            (None, None, Some(_)) => Some(SourceType::Helm),
            (None, None, None) => None,
        };
        let found: Vec<(usize, &str, SourceType)> = stored
            .application
            .spec
            .effective_sources()
            .iter()
            .zip(1..)
            .filter(|(source, position)| super::is_chosen(choice, *position, source))
            .filter_map(|(source, position)| Some((position, source.name.as_str(), typed(source)?)))
            .collect();
        match found[..] {
            [(position, _, source_type)] => {
                Ok(Self { stored: Arc::clone(stored), position, source_type, announced: None })
            }
            [] => Err(Failure::bad_input(format!(
                "{} names no plugin, so the place of its parameters is unknown without asking",
                stored.full_name()
            ))
            .hint(
                "leave --allow-unannounced out, or name the plugin in the Application (`plugin: {name: …}`)",
            )),
            _ => Err(several(stored, found.iter().map(|(position, name, _)| (*position, *name)))),
        }
    }

    /// The source's own document.
    pub(super) fn source(&self) -> &ApplicationSource {
        &self.stored.application.spec.effective_sources()[self.position - 1]
    }

    /// Applies what is wanted to the parameters of `source`: the document's own, or that with its override files.
    pub(super) fn change(
        &self,
        wanted: &Wanted,
        source: &ApplicationSource,
        host: &Host,
    ) -> Result<Change, Failure> {
        let plugin = self.plugin();
        let before = written_parameters(source, self.source_type, plugin);
        let announcements =
            self.announced.as_ref().map(|source| source.announcements.as_slice()).unwrap_or_default();
        let in_effect =
            self.announced.as_ref().map(|source| source.parameters.as_slice()).unwrap_or_default();
        let has_values = self.source_type == SourceType::Helm || has_plugin_values(source, plugin);
        // Names of values need not be announced.
        let free_prefixes: &[&str] = if has_values { &HELM_VALUE_PREFIXES } else { &[] };
        let known: HashSet<&str> = announcements
            .iter()
            .map(|announcement| announcement.name.as_str())
            .chain(before.iter().chain(in_effect).map(|parameter| parameter.name.as_str()))
            .chain(wanted.names_that_begin_with(free_prefixes))
            .collect();
        let mut assignments = wanted.assignments(&known, host)?;
        for assignment in &mut assignments {
            assignment.target.name = shown_name(source, plugin, &assignment.target.name);
        }
        let names_are_free = announcements.is_empty();
        let edited = Edited { parameters: &before, announcements, names_are_free, free_prefixes };
        let mut applied = apply(edited, &assignments).map_err(|error| self.refused(&error))?;
        if has_values {
            let names = VariableNames::of(source);
            let said = assignments.iter();
            let said = said.filter_map(|assignment| of_variables(assignment, names, wanted.variables));
            applied.warnings.extend(said);
        }
        let refused = |error| Failure::bad_input(format!("{}: {}", self.stored.full_name(), chain(&error)));
        let names: Vec<&str> = assignments.iter().map(|assignment| assignment.target.name.as_str()).collect();
        let given = Given { plugin, announcements, names: &names, variables: wanted.variables };
        let after = with_parameters(source, self.source_type, &applied.parameters, given).map_err(refused)?;
        // A text and a variable that look alike are no change that could be shown; a warning tells which of them it is now.
        let has_become = |name: &str| {
            !replaced_variables(source, plugin, name).eq(replaced_variables(&after, plugin, name))
        };
        applied.changes.retain(|change| change.before != change.after || !has_become(&change.target.name));
        Ok(Change { before: source.clone(), after, applied })
    }

    /// The plugin that was chosen for the source, if it was asked: a `plugin` block need not name it.
    fn plugin(&self) -> Option<&str> {
        self.announced.as_ref()?.plugin.as_deref()
    }

    fn refused(&self, error: &ApplyError) -> Failure {
        let place = self.plugin().map(|plugin| format!(" (plugin {plugin})")).unwrap_or_default();
        let failure = Failure::bad_input(format!("{}{place}: {error}", self.stored.full_name()));
        match error.remedy() {
            Some(remedy) => failure.hint(remedy),
            None => failure,
        }
    }
}

/// Whether the Helm plugin has announced nothing because of a bound of its own: the chart may render all the same.
fn is_past_bound(error: &RenderError) -> bool {
    let RenderError::Source(error) = error else { return false };
    let SourceFailure::Plugin { name, source } = &*error.failure else { return false };
    name == HELM_PLUGIN
        && matches!(source, PluginError::Command { phase: Phase::Announce, how, .. } if how == HELM_PAST_BOUND)
}

/// Says what becomes of the variables in a value, for somebody who meant it otherwise.
fn of_variables(
    assignment: &Assignment<ParameterValue>,
    names: VariableNames,
    variables: Variables,
) -> Option<String> {
    let name = &assignment.target.name;
    let Some(ParameterValue::String(text)) = &assignment.value else { return None };
    let found: Vec<&str> = build_variables(text, names).collect();
    if found.is_empty() || !HELM_VALUE_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return None;
    }
    let found = found.join(", ");
    // The path of a file is written as it stands.
    if variables == Variables::Replaced || name.starts_with(SET_FILE_PREFIX) {
        return Some(format!("`{name}`: {found} is replaced when manifests are made"));
    }
    Some(format!("`{name}`: {found} is set as text; --variables has it replaced when manifests are made"))
}

fn several<'a>(stored: &StoredApplication, found: impl Iterator<Item = (usize, &'a str)>) -> Failure {
    let list: Vec<String> = found
        .map(
            |(position, name)| {
                if name.is_empty() { position.to_string() } else { format!("{position} ({name})") }
            },
        )
        .collect();
    Failure::bad_input(format!(
        "{} has several sources with parameters: {}",
        stored.full_name(),
        list.join(", ")
    ))
    .hint("say which: --source-position or --source-name")
}
