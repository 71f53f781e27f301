//! The key of an application's result: a digest of everything that decides it.

use std::fmt;
use std::hash::{Hash, Hasher};

use tiphys_api::Application;
use tiphys_engine::GENERATE_PATHS_ANNOTATION;

use crate::context::ContextSettings;
use crate::inputs::{InputFiles, SourceInputs};
use crate::renderer::{RenderSettings, Renderer};

/// Changed when the input of the hash changes.
const DOMAIN: &str = "tiphys 2026-11 result of an application";

/// Equal keys have equal results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResultKey([u8; 32]);

impl fmt::Display for ResultKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl ResultKey {
    /// Returns the key with these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl Renderer {
    /// Returns the key of an application with these inputs. None if they are the whole revision: then nothing is known to be equal. `more`
    /// counts, too.
    pub(crate) fn key(
        &self,
        application: &Application,
        inputs: &[SourceInputs],
        more: &impl Hash,
    ) -> Option<ResultKey> {
        let mut hasher = KeyHasher::new(DOMAIN);
        self.settings_digest().hash(&mut hasher);
        self.plugin_marks.hash(&mut hasher);
        more.hash(&mut hasher);
        self.hash_application(application, &mut hasher)?;
        inputs.len().hash(&mut hasher);
        for SourceInputs { position, reference, repository, files } in inputs {
            (position, reference, repository).hash(&mut hasher);
            match files {
                InputFiles::Paths { digest, paths } => {
                    (0, digest).hash(&mut hasher);
                    if paths.fetches {
                        self.sources.chart_folders().for_each(|folder| folder.hash(&mut hasher));
                    }
                }
                InputFiles::Remote { revision, content } => (1, revision, content).hash(&mut hasher),
                InputFiles::Whole { .. } => return None,
            }
        }
        Some(ResultKey(hasher.digest()))
    }

    /// Hashes what an Application says.
    fn hash_application(&self, application: &Application, hasher: &mut KeyHasher) -> Option<()> {
        let Application { metadata, spec, file_repositories, .. } = application;
        (&metadata.name, self.instance_name(application), spec.project_name()).hash(hasher);
        metadata.annotations.get(GENERATE_PATHS_ANNOTATION).hash(hasher);
        (&spec.destination.server, &spec.destination.name, &spec.destination.namespace).hash(hasher);
        (file_repositories, !spec.sources.is_empty()).hash(hasher);
        for source in spec.effective_sources() {
            // Of dynamic parameters, whose inputs are the whole revision, this does not have all.
            serde_json::to_vec(source).ok()?.hash(hasher);
        }
        Some(())
    }

    /// Returns a digest of the settings that decide results, for all applications.
    fn settings_digest(&self) -> [u8; 32] {
        let digest = || {
            let mut hasher = KeyHasher::new(DOMAIN);
            let RenderSettings {
                tracking,
                label_key,
                installation_id,
                argocd_namespace,
                destinations,
                plugin_timeout: _,
                kustomize_build_options,
                switched_off,
                context,
                others: _,
                directory_bytes_max,
                manifests_max,
            } = &self.settings;
            let ContextSettings { values_file_schemes, source_repos, own_logins } = context;
            (tracking, label_key, installation_id, argocd_namespace, destinations).hash(&mut hasher);
            (kustomize_build_options, switched_off, values_file_schemes, source_repos).hash(&mut hasher);
            // The user's own credentials are in no repository, and what they give access to is known by its content.
            own_logins.is_some().hash(&mut hasher);
            (directory_bytes_max, manifests_max, self.sources.network()).hash(&mut hasher);
            self.sources.known().hash(&mut hasher);
            hasher.digest()
        };
        *self.settings_digest.get_or_init(digest)
    }
}

/// Hashes values by their implementation of [`Hash`], in which no value is the beginning of another one.
pub(crate) struct KeyHasher(blake3::Hasher);

impl KeyHasher {
    /// Returns an empty hasher. Keys of different domains differ.
    pub(crate) fn new(domain: &str) -> Self {
        Self(blake3::Hasher::new_derive_key(domain))
    }

    /// Returns the digest of all values.
    pub(crate) fn digest(&self) -> [u8; 32] {
        *self.0.finalize().as_bytes()
    }
}

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0.finalize().as_bytes()[..8]);
        u64::from_le_bytes(first)
    }
}
