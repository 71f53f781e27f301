//! The step behind helm that its own post-renderers would be: helm's output as a resource of a kustomization of the repository.
//!
//! The folder is copied, and helm's output put beside the kustomization. Folders around it are seen through links, so that `../base` is
//! where it was. Nothing is written to the repository.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tiphys_access::NetworkUse;
use tiphys_kustomize::{KUSTOMIZATIONS, KustomizationError};
use tiphys_process::{Tool, ToolError};
use tiphys_tree::{ContainmentError, PathError, RepoPath, resolve};

use crate::home::{Home, HomeError};
use crate::mirror::{Around, MirrorError, mirror};
use crate::request::Request;
use crate::slow::SlowNotice;
use crate::value_files::joined;

/// Name of the file with helm's output, which the kustomization may name among its resources; else it is added to them.
const HELM_OUTPUT: &str = "helm-output.yaml";

/// What keeps kustomize from fetching, which has no option for that: git has no way to another repository then, and HTTP but that of
/// this machine itself goes to a proxy that cannot be.
const NO_NETWORK: [(&str, &str); 7] = [
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("HTTP_PROXY", "http://127.0.0.1:0"),
    ("HTTPS_PROXY", "http://127.0.0.1:0"),
    ("NO_PROXY", ""),
    ("http_proxy", "http://127.0.0.1:0"),
    ("https_proxy", "http://127.0.0.1:0"),
    ("no_proxy", ""),
];

/// Where kustomize may have git fetch from: never from a repository of this machine, which the application's project need not permit.
const OVER_THE_NETWORK: (&str, &str) = ("GIT_ALLOW_PROTOCOL", "http:https:ssh:git");

/// What is said of a failure where nothing may be fetched.
const OFFLINE_HINT: &str =
    "; a resource that is elsewhere cannot be had, since nothing may be fetched (--offline)";

/// Why the output did not get through a kustomization.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KustomizeError {
    /// It leads out.
    #[error("parameter kustomize-dir: '{dir}' is outside of the repository")]
    Outside {
        /// The parameter.
        dir: String,
    },
    /// A path that cannot be one of a repository.
    #[error("parameter kustomize-dir")]
    Path(#[from] PathError),
    /// It is not there, or behind a link that leads out.
    #[error("parameter kustomize-dir")]
    Contained(#[from] ContainmentError),
    /// It has no kustomization.
    #[error("parameter kustomize-dir: there is no kustomization.yaml in '{dir}'; name a folder with one")]
    None {
        /// The parameter.
        dir: String,
    },
    /// It leads out of the repository.
    #[error("parameter kustomize-dir")]
    Kustomization(#[from] KustomizationError),
    /// The copy could not be made.
    #[error("parameter kustomize-dir")]
    Mirror(#[from] MirrorError),
    /// Helm's output could not be put into it.
    #[error("parameter kustomize-dir: cannot write {path}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// There is no kustomize.
    #[error("parameter kustomize-dir: {program} was not found on PATH; install kustomize, or name one in TIPHYS_KUSTOMIZE", program = program.display())]
    NotFound {
        /// What was looked for.
        program: PathBuf,
    },
    /// It could not be run.
    #[error("failed running kustomize")]
    Tool(#[from] ToolError),
    /// It failed.
    #[error(
        "failed running kustomize: `kustomize {command}` in '{dir}' failed exit status {code}: {stderr}{hint}"
    )]
    Failed {
        /// Its arguments.
        command: String,
        /// The parameter.
        dir: String,
        /// Its exit code.
        code: i32,
        /// What it wrote to standard error.
        stderr: String,
        /// What may be why; empty or beginning with a separator.
        hint: &'static str,
    },
    /// A file of this program's own.
    #[error(transparent)]
    Home(#[from] HomeError),
}

/// Helm's output changed by the kustomization that the parameter `kustomize-dir` names.
pub(crate) async fn build(
    request: &Request,
    home: &Home,
    manifests: &[u8],
) -> Result<Vec<u8>, KustomizeError> {
    let dir = folder(request)?;
    let program = request
        .host
        .find(&request.settings.kustomize)
        .ok_or_else(|| KustomizeError::NotFound { program: request.settings.kustomize.to_path_buf() })?;
    let copy = mirror(&request.root, &dir, &home.path().join(Home::KUSTOMIZE_TREE), Around::Links)?;
    let output = copy.join(HELM_OUTPUT);
    // A file of the same name is a link perhaps.
    let _not_there: io::Result<()> = fs::remove_file(&output);
    fs::write(&output, manifests).map_err(|source| KustomizeError::Write { path: output, source })?;
    for path in KUSTOMIZATIONS.map(|name| copy.join(name)) {
        replace_link(&path).map_err(|source| KustomizeError::Write { path, source })?;
    }

    let mut env = request.host.passed_on();
    env.extend(home.environment());
    let is_offline = request.context.network == NetworkUse::None;
    let rules: &[(&str, &str)] = if is_offline { &NO_NETWORK } else { &[OVER_THE_NETWORK] };
    env.extend(rules.iter().map(|(name, value)| (name.into(), value.into())));
    let (timeout, stdout_bytes_max) = (request.settings.timeout, request.settings.output_bytes_max);
    let tool = Tool { program, env, timeout, stdout_bytes_max };
    let slow = SlowNotice::new(&request.settings, request.cleaner().with_home(home));
    let run = async |arguments: &[&str]| {
        let given: Vec<OsString> = arguments.iter().map(Into::into).collect();
        let command = format!("kustomize {}", arguments.join(" "));
        let output = slow.wait(&command, tool.run(&given, &copy, None)).await?;
        match output.code {
            Some(0) => Ok(output.stdout),
            code => Err(KustomizeError::Failed {
                command: arguments.join(" "),
                dir: request.options.kustomize_dir.clone(),
                code: code.unwrap_or(-1),
                stderr: output.stderr.trim().to_owned(),
                hint: if is_offline { OFFLINE_HINT } else { "" },
            }),
        }
    };
    run(&["edit", "add", "resource", HELM_OUTPUT]).await?;
    run(&["build", "."]).await
}

/// Puts a copy of a file in the place of a link to it: kustomize would write through the link, into the repository.
fn replace_link(path: &Path) -> io::Result<()> {
    if path.is_symlink() && path.is_file() {
        let content = fs::read(path)?;
        fs::remove_file(path)?;
        fs::write(path, content)?;
    }
    Ok(())
}

/// The folder, relative to the root, without links.
fn folder(request: &Request) -> Result<PathBuf, KustomizeError> {
    let dir = &request.options.kustomize_dir;
    let from = if dir.starts_with('/') { &request.root } else { &request.app_path };
    let path = joined(from, Path::new(dir));
    let outside = || KustomizeError::Outside { dir: dir.clone() };
    let below = path.strip_prefix(&request.root).map_err(|_| outside())?;
    let below = RepoPath::new(below.to_str().unwrap_or_default())?;
    let real = resolve(&request.root, &below)?;
    if !KUSTOMIZATIONS.iter().any(|name| real.join(name).is_file()) {
        return Err(KustomizeError::None { dir: dir.clone() });
    }
    tiphys_kustomize::check(&request.root, &below)?;
    real.strip_prefix(&request.root).map(Path::to_path_buf).map_err(|_| outside())
}
