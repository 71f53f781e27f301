//! Results that are used again: what is kept of an application, and when.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tiphys_api::Application;
use tiphys_engine::{Manifest, SourceType, references};
use tiphys_params::{Parameter, ValueRedactor};
use tiphys_plugin::InputRule;
use tiphys_tree::{RepoPath, Tree};
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use crate::inputs::{InputFiles, Reach, SourceInputs};
use crate::key::ResultKey;
use crate::prepare::{Prepared, Work};
use crate::random_functions::calls_random_functions;
use crate::renderer::{Renderer, rendered};
use crate::values::{ClusterVersions, LiveVersions};
use crate::{RenderedApplication, RenderedSource};

/// Keeps results. A result that cannot be written is not kept; one that cannot be read is none.
pub trait ResultStore: Send + Sync + fmt::Debug {
    /// Returns what was kept.
    fn get(&self, key: &ResultKey) -> Option<Vec<u8>>;

    /// Keeps a result.
    fn put(&self, key: &ResultKey, result: &[u8]);
}

/// Results of earlier renderings, for one renderer.
#[derive(Debug)]
pub(crate) struct Kept {
    store: Arc<dyn ResultStore>,
    /// A digest of the program that renders.
    program: [u8; 32],
    /// What the plugins are, by their names.
    plugins: OnceCell<Vec<(String, Option<[u8; 32]>)>>,
}

impl Kept {
    pub(crate) fn new(store: Arc<dyn ResultStore>, program: [u8; 32]) -> Self {
        Self { store, program, plugins: OnceCell::new() }
    }

    /// Whether a plugin is known to have the same results again.
    fn is_identified(&self, name: &str) -> bool {
        let plugins = self.plugins.get().into_iter().flatten();
        plugins.into_iter().any(|(known, identity)| known == name && identity.is_some())
    }
}

/// What decides the result of an application.
#[derive(Debug)]
pub(crate) struct Deciding {
    pub(crate) key: ResultKey,
    inputs: Vec<SourceInputs>,
}

/// What is kept of an application.
#[derive(Serialize, Deserialize)]
struct KeptApplication {
    sources: Vec<KeptSource>,
    warnings: Vec<String>,
    objects: Vec<Map<String, Value>>,
}

/// What is kept of a source. The rest is known without rendering.
#[derive(Serialize, Deserialize)]
struct KeptSource {
    position: usize,
    source_type: SourceType,
    plugin: Option<String>,
    also_matching: Vec<String>,
    parameters: Vec<Parameter>,
    objects: usize,
    stderr: String,
}

impl Renderer {
    /// Returns what decides the result of an application; `None` if results are not kept, or if not all inputs are known.
    pub(crate) async fn deciding(&self, application: &Application) -> Option<Deciding> {
        let kept = self.kept.as_ref()?;
        let inputs = self.inputs_within(application, Reach::Everywhere).await.ok()?;
        let fetches =
            |input: &SourceInputs| matches!(&input.files, InputFiles::Paths { paths, .. } if paths.fetches);
        if inputs.iter().any(fetches) {
            return None;
        }
        let ClusterVersions { kube_version, api_versions } = match self.cluster_versions(application).await {
            Ok(LiveVersions::Known(versions)) => versions,
            Ok(LiveVersions::NoAccess) => ClusterVersions::default(),
            Ok(LiveVersions::ChangedByHead) | Err(_) => return None,
        };
        let plugins = kept.plugins.get_or_init(|| self.plugin_identities()).await;
        let more = (kept.program, plugins, kube_version, api_versions, self.settings.others);
        let key = self.key(application, &inputs, &more)?;
        Some(Deciding { key, inputs })
    }

    /// Returns the kept result of an application.
    pub(crate) async fn kept(
        &self,
        application: &Application,
        key: ResultKey,
    ) -> Option<RenderedApplication> {
        let begun = Instant::now();
        let store = Arc::clone(&self.kept.as_ref()?.store);
        let read = move || serde_json::from_slice::<KeptApplication>(&store.get(&key)?).ok();
        let KeptApplication { sources: kept, warnings, objects } = spawn_blocking(read).await.ok()??;
        let (sources, place) = tiphys_engine::sources(&application.spec).ok()?;
        let mut shown = Vec::new();
        for (index, source) in rendered(&sources, place) {
            // One without an entry has nothing to render.
            let Some(one) = kept.iter().find(|one| one.position == index + 1) else { continue };
            shown.push(RenderedSource {
                position: one.position,
                name: source.name.clone(),
                repo_url: source.shown_repository(),
                path: source.path.clone(),
                chart: source.chart.clone(),
                revision: self.origin(application, source).await.ok()?.revision.revision().to_owned(),
                source_type: one.source_type,
                plugin: one.plugin.clone(),
                also_matching: one.also_matching.clone(),
                parameters: one.parameters.clone(),
                look_ups: Vec::new(),
                objects: one.objects,
                stderr: one.stderr.clone(),
                duration: begun.elapsed(),
                plugin_duration: std::time::Duration::ZERO,
            });
        }
        Some(RenderedApplication {
            manifests: objects.into_iter().map(Manifest::new).collect(),
            sources: shown,
            warnings,
            redactor: ValueRedactor::default(),
            duration: begun.elapsed(),
        })
    }

    /// Keeps a result if another run would have the same.
    pub(crate) async fn keep(
        &self,
        application: &Application,
        Deciding { key, inputs }: Deciding,
        prepared: &[(usize, Prepared)],
        result: &RenderedApplication,
    ) {
        let Some(kept) = &self.kept else { return };
        let mut charts = Vec::new();
        for (_, prepared) in prepared {
            let Work::Plugin { chosen, request, .. } = &prepared.work else { continue };
            if !kept.is_identified(chosen.plugin.name()) {
                return;
            }
            if chosen.plugin.inputs() == InputRule::Chart {
                let others = request.context.iter().flat_map(|context| context.refs.values());
                let trees: Vec<Tree> =
                    [&request.tree].into_iter().chain(others.map(|given| &given.tree)).cloned().collect();
                charts.push((trees, prepared.source.clone()));
            }
        }
        if !self.are_unchanged(application, &inputs).await {
            return;
        }
        let sources = result.sources.iter().map(|source| KeptSource {
            position: source.position,
            source_type: source.source_type,
            plugin: source.plugin.clone(),
            also_matching: source.also_matching.clone(),
            parameters: source.parameters.clone(),
            objects: source.objects,
            stderr: source.stderr.clone(),
        });
        let result = KeptApplication {
            sources: sources.collect(),
            warnings: result.warnings.clone(),
            objects: result.manifests.iter().map(|manifest| manifest.object().clone()).collect(),
        };
        let store = Arc::clone(&kept.store);
        let keeping = move || {
            if charts.iter().any(|(trees, source)| calls_random_functions(trees, source)) {
                return;
            }
            if let Ok(bytes) = serde_json::to_vec(&result) {
                store.put(&key, &bytes);
            }
        };
        // Without a result, nothing is kept.
        let _kept = spawn_blocking(keeping).await;
    }

    /// Whether the files of a folder are still those whose digest is in the key.
    async fn are_unchanged(&self, application: &Application, inputs: &[SourceInputs]) -> bool {
        let Ok((sources, _)) = tiphys_engine::sources(&application.spec) else { return false };
        let Ok(references) = references(&sources) else { return false };
        for SourceInputs { position, reference, files, .. } in inputs {
            let InputFiles::Paths { paths, .. } = files else { continue };
            let source = match reference {
                Some(name) => references.get(name.as_str()).copied(),
                None => sources.get(position - 1),
            };
            let Some(source) = source else { return false };
            let source = self.git_source(application, source);
            let paths: Vec<RepoPath> = paths.all.keys().cloned().collect();
            let unchanged = async {
                let revision = self.sources.resolve(&source).await?;
                self.sources.is_unchanged(&revision, &paths).await
            };
            // Boxed because it is a large future.
            if !Box::pin(unchanged).await.unwrap_or(false) {
                return false;
            }
        }
        true
    }

    async fn plugin_identities(&self) -> Vec<(String, Option<[u8; 32]>)> {
        let plugins = self.catalogue.all();
        let identify = move || {
            plugins.iter().map(|plugin| (plugin.name().to_owned(), plugin.identity())).collect::<Vec<_>>()
        };
        spawn_blocking(identify).await.unwrap_or_default()
    }
}
