//! Post-renders helm's output with a kustomization of the repository.
//!
//! The directory is copied, and helm's output is added as a resource. Directories around it are links, so that `../base` resolves as
//! before. Nothing is written to the repository.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tiphys_model::access::NetworkUse;
use tiphys_process::{Tool, ToolError};
use tiphys_tree::kustomization::{KUSTOMIZATIONS, KustomizationError};
use tiphys_tree::{ContainmentError, PathError, RepoPath, resolve};

use crate::home::{Home, HomeError};
use crate::mirror::{MirrorError, mirror};
use crate::redaction::without_values;
use crate::request::Request;
use crate::slow::SlowNotice;
use crate::value_files::joined;

/// Name of the file with helm's output. It is added to the resources unless the kustomization names it.
const HELM_OUTPUT: &str = "helm-output.yaml";

/// Variables that prevent fetching, since kustomize has no option for it: git accepts no transport, and HTTP except to this machine uses an
/// invalid proxy.
const NO_NETWORK: [(&str, &str); 7] = [
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("HTTP_PROXY", "http://127.0.0.1:0"),
    ("HTTPS_PROXY", "http://127.0.0.1:0"),
    ("NO_PROXY", ""),
    ("http_proxy", "http://127.0.0.1:0"),
    ("https_proxy", "http://127.0.0.1:0"),
    ("no_proxy", ""),
];

/// Git transports that kustomize may use: no repositories of this machine, which the application's project need not permit.
const OVER_THE_NETWORK: (&str, &str) = ("GIT_ALLOW_PROTOCOL", "http:https:ssh:git");

/// Added to failures if fetching is disabled.
const OFFLINE_HINT: &str = "; remote resources are unavailable, since fetching is disabled (--offline)";

/// Errors of post-rendering.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KustomizeError {
    /// The path leads out of the repository.
    #[error("parameter kustomize-dir: '{dir}' is outside of the repository")]
    Outside { dir: String },
    /// The path is invalid.
    #[error("parameter kustomize-dir")]
    Path(#[from] PathError),
    /// The directory does not exist, or is behind a link out of the repository.
    #[error("parameter kustomize-dir")]
    Contained(#[from] ContainmentError),
    /// The directory has no kustomization.
    #[error("parameter kustomize-dir: no kustomization.yaml in '{dir}'; name a directory with one")]
    None { dir: String },
    /// The kustomization refers to files outside the repository.
    #[error("parameter kustomize-dir")]
    Kustomization(#[from] KustomizationError),
    /// The copy failed.
    #[error("parameter kustomize-dir")]
    Mirror(#[from] MirrorError),
    /// Helm's output cannot be added to the copy.
    #[error("parameter kustomize-dir: cannot write {path}", path = path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The program was not found.
    #[error("parameter kustomize-dir: {program} was not found in PATH; install kustomize, or set TIPHYS_KUSTOMIZE", program = program.display())]
    NotFound {
        /// The name or path.
        program: PathBuf,
    },
    #[error("failed running kustomize")]
    Tool(#[from] ToolError),
    #[error(
        "failed running kustomize: `kustomize {command}` in '{dir}' failed exit status {code}: {stderr}{hint}"
    )]
    Failed {
        /// Its arguments.
        command: String,
        dir: String,
        code: i32,
        /// Standard error.
        stderr: String,
        /// Possible cause; empty, or starts with a separator.
        hint: &'static str,
    },
    /// A file in the home of this run failed.
    #[error(transparent)]
    Home(#[from] HomeError),
}

/// Applies the kustomization of the parameter `kustomize-dir` to helm's output.
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
    let copy = mirror(&request.root, &dir, &home.path().join(Home::KUSTOMIZE_TREE))?;
    let output = copy.join(HELM_OUTPUT);
    // An existing file of this name may be a link.
    let _not_there: io::Result<()> = fs::remove_file(&output);
    fs::write(&output, manifests).map_err(|source| KustomizeError::Write { path: output, source })?;
    for path in KUSTOMIZATIONS.map(|name| copy.join(name)) {
        replace_link(&path).map_err(|source| KustomizeError::Write { path, source })?;
    }

    let mut env = request.host.child_environment();
    env.extend(home.environment());
    let is_offline = request.context.network == NetworkUse::None;
    let rules: &[(&str, &str)] = if is_offline { &NO_NETWORK } else { &[OVER_THE_NETWORK] };
    env.extend(rules.iter().map(|(name, value)| (name.into(), value.into())));
    let (timeout, stdout_bytes_max) = (request.settings.timeout, request.settings.output_bytes_max);
    let tool = Tool { program, env, timeout, stdout_bytes_max };
    let slow = SlowNotice::new(&request.settings, request.redactor().with_home(home));
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
                stderr: without_values(output.stderr.trim(), &[], &request.options.exact_values),
                hint: if is_offline { OFFLINE_HINT } else { "" },
            }),
        }
    };
    run(&["edit", "add", "resource", HELM_OUTPUT]).await?;
    run(&["build", "."]).await
}

/// Replaces a link to a file with a copy: kustomize would write through the link, into the repository.
fn replace_link(path: &Path) -> io::Result<()> {
    if path.is_symlink() && path.is_file() {
        let content = fs::read(path)?;
        fs::remove_file(path)?;
        fs::write(path, content)?;
    }
    Ok(())
}

/// Returns the directory, relative to the root, with links resolved.
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
    tiphys_tree::kustomization::check(&request.root, &below)?;
    real.strip_prefix(&request.root).map(Path::to_path_buf).map_err(|_| outside())
}
