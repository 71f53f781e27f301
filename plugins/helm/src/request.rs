//! The request: the application and its parameters, from the environment of an Argo CD plugin.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use tiphys_model::access::{CONTEXT_FILE_VARIABLE, ContextError, MountedCredentials, RefTree, RunContext};
use tiphys_model::params::{NamelessParameter, Parameter, require_names};
use tiphys_tree::read_to_bound;

use crate::host::Host;
use crate::options::{HelmOptions, OptionsError};
use crate::redaction::Redactor;
use crate::settings::{SettingError, Settings};
use crate::substitution::BuildEnvironment;
use crate::value_files::Places;

/// Maximum bytes of a file in a variable: parameters, API versions, the run context.
const FILE_BYTES_MAX: u64 = 64 << 20;

#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Inputs of this process.
    pub(crate) host: Host,
    /// The application's directory: absolute, with links as in its path.
    pub(crate) app_path: PathBuf,
    /// The root of its repository.
    pub(crate) root: PathBuf,
    /// The application's name, with its namespace as prefix unless it is the control plane's.
    pub(crate) app_name: String,
    /// The destination's namespace.
    pub(crate) namespace: String,
    /// The destination cluster's version; empty if unknown.
    pub(crate) kube_version: String,
    /// API versions of the destination cluster.
    pub(crate) api_versions: Vec<String>,
    pub(crate) options: HelmOptions,
    /// Values of variables in parameters.
    pub(crate) environment: BuildEnvironment,
    /// Other sources, repositories, the project.
    pub(crate) context: RunContext,
    pub(crate) settings: Settings,
}

/// Errors in a request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// A file named by a variable cannot be read.
    #[error("cannot read {path}, which {variable} names", path = path.display())]
    File {
        variable: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The parameters are not a list.
    #[error("ARGOCD_APP_PARAMETERS must be a list of parameters")]
    Parameters(#[source] serde_json::Error),
    /// The variables of several requests are not a list of objects of strings.
    #[error("TIPHYS_REQUESTS must be a list of objects of strings")]
    Several(#[source] serde_json::Error),
    /// A parameter has no name.
    #[error(transparent)]
    Nameless(#[from] NamelessParameter),
    /// A parameter is unknown or has an invalid value.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// A setting is invalid.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The run context is invalid.
    #[error("cannot use the file that {CONTEXT_FILE_VARIABLE} names")]
    Context(#[from] ContextError),
    /// No parent directory is the root.
    #[error(
        "the working directory {folder} is not ARGOCD_APP_SOURCE_PATH ({source_path}) below any parent directory; run the plugin in the \
         application's directory",
        folder = folder.display()
    )]
    Root { folder: PathBuf, source_path: String },
    /// The run context names another root.
    #[error(
        "the working directory {folder} is not ARGOCD_APP_SOURCE_PATH ({source_path}) below source.root of the run context; \
         run the plugin in the application's directory",
        folder = folder.display()
    )]
    OtherRoot { folder: PathBuf, source_path: String },
    /// The root is ambiguous.
    #[error(
        "the working directory {folder} is ARGOCD_APP_SOURCE_PATH ({source_path}) below two directories, one of them through a link; \
         give the application a path without the link",
        folder = folder.display()
    )]
    TwoRoots { folder: PathBuf, source_path: String },
    /// The working directory is not UTF-8.
    #[error("the working directory {folder:?} is not UTF-8; rename it")]
    NotUtf8 { folder: PathBuf },
}

impl Request {
    /// Reads this process's environment.
    pub(crate) fn of(host: &Host) -> Result<Self, RequestError> {
        let source_path = host.variable("ARGOCD_APP_SOURCE_PATH").unwrap_or_default();
        let settings = Settings::read(host)?;
        let context = context(host, &settings)?;
        let (root, app_path) = places(host.current_dir(), source_path, context.source.root.as_deref())?;
        let parameters = parameters(host)?;
        require_names(&parameters)?;
        let variable = |name| host.variable(name).unwrap_or_default().to_owned();
        let api_versions = text_of(host, "KUBE_API_VERSIONS", "KUBE_API_VERSIONS_FILE")?.unwrap_or_default();
        Ok(Self {
            app_path,
            root,
            app_name: variable("ARGOCD_APP_NAME"),
            namespace: variable("ARGOCD_APP_NAMESPACE"),
            kube_version: variable("KUBE_VERSION"),
            api_versions: api_versions.split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect(),
            options: HelmOptions::decode(&parameters)?,
            environment: BuildEnvironment::new(host.variables()),
            context,
            settings,
            host: host.clone(),
        })
    }

    /// Returns the resolver of paths in parameters.
    pub(crate) fn places(&self) -> Places<'_> {
        Places {
            app_path: &self.app_path,
            root: &self.root,
            environment: &self.environment,
            context: &self.context,
            glob_bounds: self.settings.glob_bounds,
        }
    }

    /// Returns a redactor for the directories of the sources, and for credentials in URLs of value files.
    pub(crate) fn redactor(&self) -> Redactor {
        let refs = self.context.refs.values().map(|tree| tree.path.as_path());
        let urls = self.places().urls(&self.options);
        Redactor::new(refs.chain([self.root.as_path()])).with_urls(urls.iter().map(String::as_str))
    }

    /// Returns a file's path in its repository: `$NAME/PATH` in another source.
    pub(crate) fn shown(&self, file: &Path) -> String {
        let below = |root: &Path| Some(file.strip_prefix(root).ok()?.to_string_lossy().into_owned());
        let of_source =
            |(name, tree): (&String, &RefTree)| below(&tree.path).map(|path| format!("${name}/{path}"));
        let found = below(&self.root).or_else(|| self.context.refs.iter().find_map(of_source));
        found.unwrap_or_else(|| file.to_string_lossy().into_owned())
    }

    /// The release's name: the parameter, otherwise the application's name without its namespace (`team_app` is `app`), if that is not
    /// empty.
    pub(crate) fn release_name(&self) -> &str {
        if !self.options.release_name.is_empty() {
            return &self.options.release_name;
        }
        let own = self.app_name.split_once('_').map_or(self.app_name.as_str(), |(_, own)| own);
        if own.is_empty() { &self.app_name } else { own }
    }

    /// The release's namespace: the parameter, otherwise the destination's.
    pub(crate) fn release_namespace(&self) -> &str {
        if self.options.namespace.is_empty() { &self.namespace } else { &self.options.namespace }
    }
}

/// Returns the repository's root and the application's directory, from the application's path and the working directory, which has its
/// links resolved. The root is that of the run context; without one, it is searched above the working directory.
fn places(
    folder: &Path,
    source_path: &str,
    known_root: Option<&Path>,
) -> Result<(PathBuf, PathBuf), RequestError> {
    if folder.to_str().is_none() {
        return Err(RequestError::NotUtf8 { folder: folder.to_path_buf() });
    }
    let mut path = PathBuf::new();
    for component in Path::new(source_path).components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::ParentDir => {
                path.pop();
            }
            _ => {}
        }
    }
    if let Some(root) = known_root {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        return if leads_to(&root, &path, folder) {
            Ok((root.clone(), joined(root, &path)))
        } else {
            Err(RequestError::OtherRoot { folder: folder.to_path_buf(), source_path: source_path.to_owned() })
        };
    }
    if path.as_os_str().is_empty() {
        return Ok((folder.to_path_buf(), folder.to_path_buf()));
    }
    // Either above the directory itself, or the application's path contains a link.
    let plain = folder.ends_with(&path).then(|| folder.ancestors().nth(path.components().count())).flatten();
    let through_link = folder.ancestors().find(|root| plain != Some(root) && leads_to(root, &path, folder));
    match (plain, through_link) {
        (Some(root), None) | (None, Some(root)) => Ok((root.to_path_buf(), root.join(path))),
        (Some(_), Some(_)) => {
            Err(RequestError::TwoRoots { folder: folder.to_path_buf(), source_path: source_path.to_owned() })
        }
        (None, None) => {
            Err(RequestError::Root { folder: folder.to_path_buf(), source_path: source_path.to_owned() })
        }
    }
}

/// Whether an application's path below a root is this directory, links resolved.
fn leads_to(root: &Path, path: &Path, folder: &Path) -> bool {
    root.join(path).canonicalize().is_ok_and(|real| real == folder)
}

/// Joins a path to a root; without a trailing slash if the path is empty.
fn joined(root: PathBuf, path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() { root } else { root.join(path) }
}

/// Returns the inputs of several requests; None if this process is for one.
pub(crate) fn several(host: &Host) -> Result<Option<Vec<Host>>, RequestError> {
    let Some(text) = text_of(host, "TIPHYS_REQUESTS", "TIPHYS_REQUESTS_FILE")? else { return Ok(None) };
    let all: Vec<BTreeMap<String, String>> = serde_json::from_str(&text).map_err(RequestError::Several)?;
    Ok(Some(all.into_iter().map(|variables| host.with_variables(variables)).collect()))
}

/// Returns the parameters; empty for `null` or a missing variable.
fn parameters(host: &Host) -> Result<Vec<Parameter>, RequestError> {
    let text = text_of(host, "ARGOCD_APP_PARAMETERS", "ARGOCD_APP_PARAMETERS_FILE")?.unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let list: Option<Vec<Parameter>> = serde_json::from_str(&text).map_err(RequestError::Parameters)?;
    Ok(list.unwrap_or_default())
}

/// Returns the run context; without one, that of the sidecar's own variables.
fn context(host: &Host, settings: &Settings) -> Result<RunContext, RequestError> {
    if let Some(path) = host.variable(CONTEXT_FILE_VARIABLE).filter(|path| !path.is_empty()) {
        return Ok(RunContext::parse(&read(CONTEXT_FILE_VARIABLE, path)?)?);
    }
    let mut context = RunContext { mounted_credentials: MountedCredentials::Use, ..RunContext::default() };
    if let Some(schemes) = &settings.values_file_schemes {
        context.values_file_schemes.clone_from(schemes);
    }
    if let Some(repositories) = &settings.source_repos {
        context.project.source_repos.clone_from(repositories);
    }
    if let Some(project) = host.variable("ARGOCD_APP_PROJECT_NAME") {
        project.clone_into(&mut context.project.name);
    }
    Ok(context)
}

/// Returns a variable, or the content of a file in another variable.
fn text_of(host: &Host, variable: &str, file_variable: &'static str) -> Result<Option<String>, RequestError> {
    match host.variable(file_variable).filter(|path| !path.is_empty()) {
        None => Ok(host.variable(variable).map(str::to_owned)),
        Some(path) => {
            String::from_utf8(read(file_variable, path)?).map(Some).map_err(|_| RequestError::File {
                variable: file_variable,
                path: PathBuf::from(path),
                source: io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"),
            })
        }
    }
}

fn read(variable: &'static str, path: &str) -> Result<Vec<u8>, RequestError> {
    let fail = |source| RequestError::File { variable, path: PathBuf::from(path), source };
    let too_large = || fail(io::Error::other(format!("it has more than {FILE_BYTES_MAX} bytes")));
    // The caller names the file, which may be a pipe.
    let file = File::open(path).map_err(fail)?;
    read_to_bound(file, FILE_BYTES_MAX).map_err(fail)?.ok_or_else(too_large)
}

#[cfg(test)]
mod tests;
