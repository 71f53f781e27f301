//! The values of the project file as those of options. Options and environment variables win over the file.

use std::collections::BTreeMap;

use clap::ArgMatches;
use clap::ValueEnum as _;
use clap::parser::ValueSource;
use tiphys_service::compare::project_file_of_base;
use tiphys_service::{CurrentCheckout, ProjectFile, ProjectFileChoice, ProjectKey, ProjectValue};
use tiphys_source::CopyOrigin;

use crate::args::{AppSetsArg, Command, CommonArgs, ProjectRules};
use crate::error::ServiceError;
use crate::options::{kubernetes, open_service};
use crate::settings::Process;

/// The value of `--config` that uses no project file.
const NO_FILE: &str = "none";

/// The value of `--config` that uses the project file of a comparison's base.
const FILE_OF_BASE: &str = "base";

/// Where the value of a key is from that no project file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GivenBy {
    Option(&'static str),
    Variable(&'static str),
}

/// The keys of the project file that an option or a variable gives a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct GivenKeys(BTreeMap<ProjectKey, GivenBy>);

impl GivenKeys {
    /// Reads which options and variables were given.
    pub(crate) fn new(matches: &ArgMatches, host: &Process) -> Self {
        let given = |key| {
            let (id, option, variable) = names(key);
            match value_source(matches, id) {
                Some(ValueSource::CommandLine) => Some((key, GivenBy::Option(option))),
                Some(ValueSource::EnvVariable) => Some((key, GivenBy::Variable(variable?))),
                // The variable of plugins is not one of the parser.
                _ => {
                    let variable =
                        variable.filter(|name| key == ProjectKey::Plugins && host.variable(name).is_some());
                    variable.map(|name| (key, GivenBy::Variable(name)))
                }
            }
        };
        Self(ProjectKey::ALL.into_iter().filter_map(given).collect())
    }

    /// Returns what gives a key a value.
    pub(crate) fn by(&self, key: ProjectKey) -> Option<GivenBy> {
        self.0.get(&key).copied()
    }
}

/// Returns which project file the options choose.
pub(crate) fn choice(common: &CommonArgs) -> ProjectFileChoice {
    match &common.config {
        None => ProjectFileChoice::Search,
        Some(file) if file.as_os_str() == NO_FILE => ProjectFileChoice::None,
        Some(file) if file.as_os_str() == FILE_OF_BASE => ProjectFileChoice::Base,
        Some(file) => ProjectFileChoice::Named(file.clone()),
    }
}

/// Whether options, variables or the project file name clusters, or folders that stand for them.
pub(crate) fn names_clusters(common: &CommonArgs, host: &Process) -> Result<bool, ServiceError> {
    if !common.clusters.cluster_state.is_empty() || kubernetes(common).is_given() {
        return Ok(true);
    }
    let file = match choice(common) {
        // A comparison uses that of the base, so this one may be unusable.
        ProjectFileChoice::Search => ProjectFile::find(&ProjectFileChoice::Search, host).unwrap_or(None),
        ProjectFileChoice::Base => None,
        named => ProjectFile::find(&named, host)?,
    };
    Ok(file.is_some_and(|file| file.values().iter().any(|value| value.key == ProjectKey::ClusterState)))
}

/// Gives the options of a command the values of the project file; in a comparison of revisions that of the base.
pub(crate) async fn use_for(
    command: &Command,
    given: &GivenKeys,
    common: &mut CommonArgs,
    host: &Process,
) -> Result<(), ServiceError> {
    let choice = choice(common);
    let file = match command.revision() {
        Some(revision) if choice != ProjectFileChoice::None => {
            let service = open_service(common, host)?;
            let found = Box::pin(project_file_of_base(&service, &revision, &choice)).await?;
            common.warnings.extend(found.1);
            found.0
        }
        _ => ProjectFile::find(&choice, host)?,
    };
    common.current_checkout = match given.by(ProjectKey::Repositories) {
        None => CurrentCheckout::Used,
        Some(_) => CurrentCheckout::Unused,
    };
    match file {
        Some(file) => apply(&file, given, common),
        None => Ok(()),
    }
}

/// Gives options the values of the project file. Fails if it needs consent for one that is not given.
fn apply(file: &ProjectFile, given: &GivenKeys, common: &mut CommonArgs) -> Result<(), ServiceError> {
    let is_used = |key| given.by(key).is_none();
    file.require_usable(is_used)?;
    file.values().iter().filter(|value| is_used(value.key)).for_each(|value| set(common, value));
    if !file.is_allowed() && given.by(ProjectKey::Repositories).is_none() {
        common.repo_origin = CopyOrigin::Checkout;
    }
    Ok(())
}

/// Gives the option of a key its values.
pub(crate) fn set(common: &mut CommonArgs, ProjectValue { key, values, .. }: &ProjectValue) {
    let paths = || values.iter().map(Into::into).collect();
    let word = values.first().map(String::as_str).unwrap_or_default();
    match key {
        ProjectKey::Store => common.store.clone_from(values),
        ProjectKey::Repositories => {
            common.repo.clone_from(values);
            common.repo_is_of_file = true;
            common.current_checkout = CurrentCheckout::Replaced;
        }
        ProjectKey::Plugins => common.project_plugins = paths(),
        ProjectKey::ClusterState => common.clusters.cluster_state.clone_from(values),
        ProjectKey::KubeVersion => common.kube_version.clone_from(values),
        ProjectKey::ApiVersions => common.api_versions.clone_from(values),
        ProjectKey::Projects => common.rules.projects = paths(),
        ProjectKey::ProjectRules => {
            common.rules.project_rules =
                ProjectRules::from_str(word, false).unwrap_or(common.rules.project_rules);
        }
        ProjectKey::Strict => common.rules.strict = word == "true",
        ProjectKey::AppSets => common.appsets = AppSetsArg::from_str(word, false).unwrap_or(common.appsets),
        ProjectKey::Answers => common.project_answers = Some(word.into()),
        ProjectKey::TrustRepositorySettings => common.trust_repository_settings = paths(),
    }
}

/// Returns the values of a key's option.
pub(crate) fn values(common: &CommonArgs, key: ProjectKey, host: &Process) -> Vec<String> {
    let paths = |paths: &[std::path::PathBuf]| paths.iter().map(|path| path.display().to_string()).collect();
    let word = |word: Option<clap::builder::PossibleValue>| {
        word.map(|word| word.get_name().to_owned()).into_iter().collect()
    };
    match key {
        ProjectKey::Store if common.store.is_empty() => vec![".".to_owned()],
        ProjectKey::Store => common.store.clone(),
        ProjectKey::Repositories => common.repo.iter().map(|repo| tiphys_source::redact_url(repo)).collect(),
        ProjectKey::Plugins if common.plugins.is_empty() => {
            let list = host.variable("TIPHYS_PLUGINS").unwrap_or_default();
            list.split(':').filter(|path| !path.is_empty()).map(str::to_owned).collect()
        }
        ProjectKey::Plugins => paths(&common.plugins),
        ProjectKey::ClusterState => common.clusters.cluster_state.clone(),
        ProjectKey::KubeVersion => common.kube_version.clone(),
        ProjectKey::ApiVersions => common.api_versions.clone(),
        ProjectKey::Projects => paths(&common.rules.projects),
        ProjectKey::ProjectRules => word(common.rules.project_rules.to_possible_value()),
        ProjectKey::Strict => vec![common.rules.strict.to_string()],
        ProjectKey::AppSets => word(common.appsets.to_possible_value()),
        ProjectKey::Answers => paths(common.project_answers.as_slice()),
        ProjectKey::TrustRepositorySettings => paths(&common.trust_repository_settings),
    }
}

/// Returns where the value of an option is from. Some options are those of one command.
fn value_source(matches: &ArgMatches, id: &str) -> Option<ValueSource> {
    match matches.try_contains_id(id) {
        Ok(_) => matches.value_source(id),
        Err(_) => value_source(matches.subcommand()?.1, id),
    }
}

/// Returns the parser's name of a key's option, the option and its variable.
const fn names(key: ProjectKey) -> (&'static str, &'static str, Option<&'static str>) {
    match key {
        ProjectKey::Store => ("store", "--store", Some("TIPHYS_STORE")),
        ProjectKey::Repositories => ("repo", "--repo", Some("TIPHYS_REPO")),
        ProjectKey::Plugins => ("plugins", "--plugins", Some("TIPHYS_PLUGINS")),
        ProjectKey::ClusterState => ("cluster_state", "--cluster-state", Some("TIPHYS_CLUSTER_STATE")),
        ProjectKey::KubeVersion => ("kube_version", "--kube-version", None),
        ProjectKey::ApiVersions => ("api_versions", "--api-versions", None),
        ProjectKey::Projects => ("projects", "--projects", Some("TIPHYS_PROJECTS")),
        ProjectKey::ProjectRules => ("project_rules", "--project-rules", Some("TIPHYS_PROJECT_RULES")),
        ProjectKey::Strict => ("strict", "--strict", None),
        ProjectKey::AppSets => ("appsets", "--appsets", Some("TIPHYS_APPSETS")),
        ProjectKey::Answers => ("answers", "--answers", None),
        ProjectKey::TrustRepositorySettings => {
            ("trust_repository_settings", "--trust-repository-settings", None)
        }
    }
}

#[cfg(test)]
mod tests;
