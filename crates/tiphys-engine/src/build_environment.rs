//! The build environment: the variables that every command of a plugin gets, and that `$` in an Application refers to.

use std::collections::BTreeSet;

use tiphys_model::params::{EnvVar, expand};

/// Input for the variables.
#[derive(Clone, Copy, Debug)]
pub struct BuildInputs<'a> {
    /// The application's instance name, see [`crate::instance_name`].
    pub instance_name: &'a str,
    /// Namespace of the destination; empty if there is none.
    pub destination_namespace: &'a str,
    /// Name of the project.
    pub project: &'a str,
    /// The resolved revision: a commit, a chart version, a digest.
    pub revision: &'a str,
    /// URL of the repository, as written in the source.
    pub repo_url: &'a str,
    /// Path of the source.
    pub path: &'a str,
    /// Revision, as written in the source.
    pub target_revision: &'a str,
    /// Kubernetes version of the destination, as its API server reports it; empty if unknown.
    pub kube_version: &'a str,
    /// API versions of the destination, as `group/version` and `group/version/Kind`, in any order.
    pub api_versions: &'a [String],
}

/// The build environment: the standard variables of Argo CD, in its order.
///
/// Discovery and announcements get the same variables as `generate`. Argo CD gives them fewer (argo-cd#19832), so that
/// `$ARGOCD_APP_REVISION` in a plugin's variable would have another value for announcements than for manifests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildEnvironment {
    variables: Vec<EnvVar>,
}

/// Invalid input for a build environment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildEnvironmentError {
    /// The value is not a Kubernetes version.
    #[error("{version:?} is not a Kubernetes version; expected a version such as `v1.28.3`")]
    KubeVersion {
        /// The version as given.
        version: String,
    },
    /// An entry without `=`.
    #[error("{entry:?} is not a variable; expected NAME=VALUE")]
    Entry {
        /// The entry as given.
        entry: String,
    },
}

impl BuildEnvironment {
    /// Returns the variables of a request. The Kubernetes version must be valid or empty.
    pub fn new(inputs: &BuildInputs<'_>) -> Result<Self, BuildEnvironmentError> {
        let kube_version = reduced_version(inputs.kube_version)?;
        let api_versions: BTreeSet<&str> = inputs.api_versions.iter().map(String::as_str).collect();
        let api_versions: Vec<&str> = api_versions.into_iter().collect();
        let variables = [
            ("ARGOCD_APP_NAME", inputs.instance_name),
            ("ARGOCD_APP_NAMESPACE", inputs.destination_namespace),
            ("ARGOCD_APP_PROJECT_NAME", inputs.project),
            ("ARGOCD_APP_REVISION", inputs.revision),
            ("ARGOCD_APP_REVISION_SHORT", shortened(inputs.revision, 7)),
            ("ARGOCD_APP_REVISION_SHORT_8", shortened(inputs.revision, 8)),
            ("ARGOCD_APP_SOURCE_REPO_URL", inputs.repo_url),
            ("ARGOCD_APP_SOURCE_PATH", inputs.path),
            ("ARGOCD_APP_SOURCE_TARGET_REVISION", inputs.target_revision),
            ("KUBE_VERSION", &kube_version),
            ("KUBE_API_VERSIONS", &api_versions.join(",")),
        ];
        Ok(Self { variables: variables.map(|(name, value)| EnvVar::new(name, value)).to_vec() })
    }

    /// Parses `NAME=value` entries, in order. The first `=` is the separator.
    pub fn parse<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Self, BuildEnvironmentError> {
        let variable = |entry: &str| match entry.split_once('=') {
            Some((name, value)) => Ok(EnvVar::new(name, value)),
            None => Err(BuildEnvironmentError::Entry { entry: entry.to_owned() }),
        };
        Ok(Self { variables: entries.into_iter().map(variable).collect::<Result<_, _>>()? })
    }

    /// Returns the variables, in order.
    pub fn variables(&self) -> &[EnvVar] {
        &self.variables
    }

    /// Replaces `$NAME` and `${NAME}` with these variables. Of several with one name, the last takes effect.
    pub fn expand(&self, text: &str) -> String {
        expand(text, |name| {
            self.variables.iter().rev().find(|variable| variable.name == name).map(|v| v.value.as_str())
        })
    }
}

/// Returns the beginning of a revision. Branch names may be non-ASCII, so the cut is at a character boundary.
fn shortened(revision: &str, length_bytes: usize) -> &str {
    &revision[..revision.floor_char_boundary(length_bytes)]
}

/// Returns the dotted numbers of a version: `v1.28.3+k3s1` is `1.28.3`. An empty version stays empty.
fn reduced_version(version: &str) -> Result<String, BuildEnvironmentError> {
    if version.is_empty() {
        return Ok(String::new());
    }
    let error = || BuildEnvironmentError::KubeVersion { version: version.to_owned() };
    let text = version.trim_start();
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut numbers: Vec<u64> = Vec::new();
    let mut rest = text;
    loop {
        let digits = &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()];
        if digits.is_empty() || (numbers.is_empty() && digits.len() > 1 && digits.starts_with('0')) {
            return Err(error());
        }
        numbers.push(digits.parse().map_err(|_| error())?);
        rest = &rest[digits.len()..];
        // A dot must be followed by a digit: in `1.28.x`, the second dot begins the suffix.
        match rest.strip_prefix('.') {
            Some(after) if after.starts_with(|c: char| c.is_ascii_digit()) => rest = after,
            _ => break,
        }
    }
    if numbers.len() < 2 {
        return Err(error());
    }
    Ok(numbers.iter().map(u64::to_string).collect::<Vec<_>>().join("."))
}

#[cfg(test)]
mod tests;
