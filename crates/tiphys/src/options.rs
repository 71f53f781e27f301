//! The options of the use cases, from the arguments of the command line.

use std::path::PathBuf;

use tiphys_engine::TrackingMethod;
use tiphys_render::DestinationVersions;
use tiphys_service::compare::ClusterStateArgument;
use tiphys_service::{
    ClusterContext, Host, KubernetesAccess, MissingProjects, RefusedApplications, Service, ServiceLimits,
    ServiceOptions, StorePath,
};
use tiphys_source::LocalCopy;
use tiphys_tree::read_bounded;

use crate::args::CommonArgs;
use crate::built_in;
use crate::error::ServiceError;
use crate::progress;
use crate::remote_plugins;
use crate::settings::Process;

/// Maximum bytes of a file with API versions. Clusters with many custom resources have some 100 KiB.
const API_VERSIONS_BYTES_MAX: u64 = 4 << 20;

/// The name of standard input among paths.
const STANDARD_INPUT: &str = "-";

/// Opens the service of a command.
pub(crate) fn open_service(args: &CommonArgs, process: &Process) -> Result<Service, ServiceError> {
    Service::open(service_options(args, process)?, Host::clone(process))
}

/// Returns the options of the use cases. The progress of fetching is shown on a terminal.
pub(crate) fn service_options(args: &CommonArgs, process: &Process) -> Result<ServiceOptions, ServiceError> {
    require_directories("--allow-file-repositories", &args.allow_file_repositories, process)?;
    Ok(ServiceOptions {
        repositories: repositories(args, process)?,
        repository_revisions: args.repo_revision.into(),
        cluster_state: args
            .clusters
            .cluster_state
            .iter()
            .map(|text| ClusterStateArgument::parse(text))
            .collect(),
        kubernetes: kubernetes(args),
        destinations: destinations(args, process)?,
        fetch_progress: Some(progress::of_sources(process)),
        ..ServiceOptions::from(args)
    })
}

impl From<&CommonArgs> for ServiceOptions {
    /// Converts the options that have no syntax of their own.
    fn from(args: &CommonArgs) -> Self {
        let store_path = |path: &String| match path.as_str() {
            STANDARD_INPUT => StorePath::StandardInput,
            path => StorePath::Path(path.into()),
        };
        Self {
            store: args.store.iter().map(store_path).collect(),
            plugins: args.plugins.clone(),
            project_plugins: args.project_plugins.clone(),
            built_in_plugins: if args.no_default_plugins { &[] } else { built_in::PLUGIN_FILES },
            current_checkout: args.current_checkout,
            warnings: args.warnings.clone(),
            plugin_sockets: args.plugin_sockets.clone(),
            connect_plugins: Some(remote_plugins::connect),
            pass_env: args.pass_env.clone(),
            trust_repository_settings: args.trust_repository_settings.clone(),
            allow_file_repositories: args.allow_file_repositories.clone(),
            own_credentials_via_proxy: args.own_credentials_via_proxy,
            project_rules: args.rules.project_rules.into(),
            projects: args.rules.projects.clone(),
            missing_projects: if args.rules.strict || !args.rules.projects.is_empty() {
                MissingProjects::Refuse
            } else {
                MissingProjects::Warn
            },
            refused_applications: if args.rules.strict {
                RefusedApplications::Refuse
            } else {
                RefusedApplications::Warn
            },
            argocd_namespace: args.argocd_namespace.clone(),
            tracking: args.tracking.map(TrackingMethod::from),
            cache_dir: args.cache.cache_dir.clone(),
            offline: args.cache.offline,
            refresh: args.cache.refresh,
            limits: ServiceLimits::from(&args.limits),
            jobs: args.jobs,
            sets: args.appsets.into(),
            answers: args.project_answers.clone(),
            connect_to: args.connect_to.clone(),
            file_globbing: args.git_file_globbing.into(),
            private_view: args.private_view.into(),
            ..Self::default()
        }
    }
}

/// Parses the local directories of repositories: `[URL[@REV]=]DIR`. An empty argument only turns the default off.
fn repositories(args: &CommonArgs, host: &Host) -> Result<Vec<LocalCopy>, ServiceError> {
    let origin = args.repo_origin;
    let named = if args.repo_is_of_file { "repositories of the project file" } else { "--repo" };
    let parse = |argument: &String| {
        let copy = LocalCopy::parse(argument, &host.absolute(""))
            .map_err(|error| ServiceError::invalid_input(format!("{named}: {error}")))?;
        require_directories(named, std::slice::from_ref(&copy.dir), host)?;
        Ok(LocalCopy { origin, ..copy })
    };
    args.repo.iter().filter(|argument| !argument.is_empty()).map(parse).collect()
}

/// Reads a file with a list of API versions.
fn api_versions_file(file: &str, host: &Host) -> Result<String, ServiceError> {
    let failed = |problem: &dyn std::fmt::Display| {
        ServiceError::invalid_input(format!("--api-versions: cannot read {file}: {problem}"))
    };
    let text = read_bounded(&host.absolute(file), API_VERSIONS_BYTES_MAX).map_err(|error| failed(&error))?;
    let text = text.ok_or_else(|| failed(&format!("it has more than {API_VERSIONS_BYTES_MAX} bytes")))?;
    String::from_utf8(text).map_err(|_| failed(&"it is not UTF-8"))
}

fn require_directories(option: &str, dirs: &[PathBuf], host: &Host) -> Result<(), ServiceError> {
    match dirs.iter().map(|dir| host.absolute(dir)).find(|dir| !dir.is_dir()) {
        Some(dir) => Err(ServiceError::invalid_input(format!("{option}: {} is not a folder", dir.display()))),
        None => Ok(()),
    }
}

/// Parses the contexts of clusters: `[NAME=]CONTEXT`. Names of contexts may have `=` only after a name.
pub(crate) fn kubernetes(args: &CommonArgs) -> KubernetesAccess {
    let context = |text: &String| {
        let (cluster, context) = split_cluster(text);
        ClusterContext { cluster, context: context.to_owned() }
    };
    KubernetesAccess {
        kubeconfigs: args.clusters.kubeconfig.clone(),
        contexts: args.clusters.context.iter().map(context).collect(),
        in_cluster: args.clusters.in_cluster,
        cluster_secrets: args.clusters.cluster_secrets.clone(),
    }
}

/// Parses the versions of clusters: `[NAME=]VERSION` and `[NAME=]LIST|@FILE`.
fn destinations(args: &CommonArgs, host: &Host) -> Result<DestinationVersions, ServiceError> {
    let mut versions = DestinationVersions::default();
    for text in &args.kube_version {
        let (cluster, version) = split_cluster(text);
        versions.set_kube_version(cluster, version.to_owned());
    }
    for text in &args.api_versions {
        let (cluster, list) = split_cluster(text);
        let list = match list.strip_prefix('@') {
            Some(file) => api_versions_file(file, host)?,
            None => list.to_owned(),
        };
        let list = list
            .split([',', '\n'])
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(str::to_owned)
            .collect();
        versions.set_api_versions(cluster, list);
    }
    Ok(versions)
}

/// Splits `NAME=VALUE` or `VALUE`.
fn split_cluster(text: &str) -> (Option<String>, &str) {
    match text.split_once('=') {
        Some((name, value)) => (Some(name.to_owned()), value),
        None => (None, text),
    }
}
