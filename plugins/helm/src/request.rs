//! What is asked for: the application and its parameters, as Argo CD gives them to a plugin in its environment.

use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use tiphys_access::{CONTEXT_FILE_VARIABLE, ContextError, MountedCredentials, RunContext};
use tiphys_params::{NamelessParameter, Parameter, require_names};
use tiphys_tree::read_to_bound;

use crate::host::Host;
use crate::options::{HelmOptions, OptionsError};
use crate::settings::{SettingError, Settings};
use crate::shown::Cleaner;
use crate::substitution::BuildEnvironment;
use crate::value_files::Places;

/// Bytes of a file that the caller names: parameters, API versions, the run context.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// This process's surroundings.
    pub(crate) host: Host,
    /// The application's folder: absolute, as its path names it.
    pub(crate) app_path: PathBuf,
    /// The root of its repository.
    pub(crate) root: PathBuf,
    /// The application's name, with its namespace in front where it has another than the control plane.
    pub(crate) app_name: String,
    /// The destination's namespace.
    pub(crate) namespace: String,
    /// The destination cluster's version; empty if nobody knows it.
    pub(crate) kube_version: String,
    /// What the destination cluster has.
    pub(crate) api_versions: Vec<String>,
    /// The parameters.
    pub(crate) options: HelmOptions,
    /// What variables in parameters stand for.
    pub(crate) environment: BuildEnvironment,
    /// Other sources, repositories, the project.
    pub(crate) context: RunContext,
    /// What people have set.
    pub(crate) settings: Settings,
}

/// Why a request cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// A file that the caller names.
    #[error("cannot read {path}, which {variable} names", path = path.display())]
    File {
        /// The variable.
        variable: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// Parameters that are none.
    #[error("ARGOCD_APP_PARAMETERS is not a list of parameters")]
    Parameters(#[source] serde_json::Error),
    /// A parameter without a name.
    #[error(transparent)]
    Nameless(#[from] NamelessParameter),
    /// A parameter that is not known, or has a wrong value.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// A setting.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The run context.
    #[error("cannot use the file that {CONTEXT_FILE_VARIABLE} names")]
    Context(#[from] ContextError),
    /// Where the repository begins.
    #[error(
        "the working directory {folder} is not ARGOCD_APP_SOURCE_PATH ({source_path}) of any folder above it; run the plugin in the \
         application's folder",
        folder = folder.display()
    )]
    Root {
        /// The working directory.
        folder: PathBuf,
        /// The application's path.
        source_path: String,
    },
    /// The run context says another root.
    #[error(
        "the working directory {folder} is not ARGOCD_APP_SOURCE_PATH ({source_path}) below the folder source.root of the run context; \
         run the plugin in the application's folder",
        folder = folder.display()
    )]
    OtherRoot {
        /// The working directory.
        folder: PathBuf,
        /// The application's path.
        source_path: String,
    },
    /// The repository may begin at two folders.
    #[error(
        "the working directory {folder} is ARGOCD_APP_SOURCE_PATH ({source_path}) of two folders above it, of one of them behind a link; \
         give the application a path without the link",
        folder = folder.display()
    )]
    TwoRoots {
        /// The working directory.
        folder: PathBuf,
        /// The application's path.
        source_path: String,
    },
    /// A folder's name.
    #[error("the working directory {folder:?} is not UTF-8; rename it")]
    NotUtf8 {
        /// The working directory.
        folder: PathBuf,
    },
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

    /// Where the paths of parameters lead.
    pub(crate) fn places(&self) -> Places<'_> {
        Places {
            app_path: &self.app_path,
            root: &self.root,
            environment: &self.environment,
            context: &self.context,
            glob_bounds: self.settings.glob_bounds,
        }
    }

    /// Leaves the folders of its sources out of texts, and what opens the URLs of its value files.
    pub(crate) fn cleaner(&self) -> Cleaner {
        let refs = self.context.refs.values().map(|tree| tree.path.as_path());
        let urls = self.places().urls(&self.options);
        Cleaner::of_sources(refs.chain([self.root.as_path()])).with_urls(urls.iter().map(String::as_str))
    }

    /// The name of the release: the parameter, else the application's own name without its namespace (`team_app` is `app`), else all of it.
    pub(crate) fn release_name(&self) -> &str {
        if !self.options.release_name.is_empty() {
            return &self.options.release_name;
        }
        let own = self.app_name.split_once('_').map_or(self.app_name.as_str(), |(_, own)| own);
        if own.is_empty() { &self.app_name } else { own }
    }

    /// The release's namespace: the parameter, else the destination's.
    pub(crate) fn release_namespace(&self) -> &str {
        if self.options.namespace.is_empty() { &self.namespace } else { &self.options.namespace }
    }
}

/// The repository's root and the application's folder, from the working directory, which has all links followed, and the application's path.
/// The root is the one that the run context says; where it says none, it is looked for above the working directory.
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
    // Above the folder itself, or the application's path leads through a link.
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

/// Whether an application's path below a root is a folder, links followed.
fn leads_to(root: &Path, path: &Path, folder: &Path) -> bool {
    root.join(path).canonicalize().is_ok_and(|real| real == folder)
}

/// A path below a root; none is the root itself, without a slash at its end.
fn joined(root: PathBuf, path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() { root } else { root.join(path) }
}

/// The parameters; `null` and no variable are no parameters.
fn parameters(host: &Host) -> Result<Vec<Parameter>, RequestError> {
    let text = text_of(host, "ARGOCD_APP_PARAMETERS", "ARGOCD_APP_PARAMETERS_FILE")?.unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let list: Option<Vec<Parameter>> = serde_json::from_str(&text).map_err(RequestError::Parameters)?;
    Ok(list.unwrap_or_default())
}

/// What the caller says of repositories and other sources; where it says nothing, what the sidecar's own variables say.
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

/// What a variable holds, or a file that another variable names.
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
    // Whoever calls the plugin names it, and may give a pipe.
    let file = File::open(path).map_err(fail)?;
    read_to_bound(file, FILE_BYTES_MAX).map_err(fail)?.ok_or_else(too_large)
}

#[cfg(test)]
mod tests;
