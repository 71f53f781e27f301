//! Answers the questions of generators.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tiphys_engine::appset::{Answer, ClusterUse, Question, TemplateProject, cluster_use, template_project};
use tiphys_engine::diff::LAST_APPLIED_ANNOTATION;
use tiphys_model::access::RepoUrl;
use tiphys_model::limits::Limit;
use tiphys_model::project_rules::ProjectCluster;
use tiphys_model::resources::{ApplicationSet, IN_CLUSTER_NAME, IN_CLUSTER_SERVER};
use tiphys_render::Renderer;
use tiphys_source::GitSource;
use tiphys_store::{SetId, Store as Resources, StoredSecret, StoredSet};
use tiphys_yaml::write_go_json;

use super::answered::AnsweredQuestions;
use super::answers::{RecordedAnswers, missing};
use super::asked::AskedOnce;
use super::services::Services;
use super::{git, oci};
use crate::context::clusters::read_cluster_secrets;
use crate::context::projects::Projects;
use crate::context::service::Service;
use crate::context::sets::SetSelection;
use crate::context::workspace::Workspace;
use crate::error::{Remedy, ServiceError, chain};
use crate::warning::Warning;

/// Argo CD's words for a cluster Secret that it cannot decode.
const UNDECODED_SECRET: &str =
    "cluster cache contains unexpected type *v1.Secret instead of *Cluster, secret conversion failure";

/// The sources that are asked if the recorded answers of the options do not fit.
#[derive(Clone, Debug)]
pub(crate) enum Asking {
    /// Everything that the generators name.
    Everything,
    /// Everything, and the store has all objects of the control plane, so that what is missing does not exist. These are its clusters.
    ControlPlane(Arc<GeneratorClusters>),
    /// The store, and the folders that stand for repositories.
    StoreAndFolders,
    /// Nothing: these answers are used instead of those of the options.
    Recorded(RecordedAnswers),
}

/// Why a question is not asked.
#[derive(Debug)]
pub struct NotAsked {
    /// The reason, which continues the name of a set.
    pub reason: String,
    /// The way to get an answer.
    pub remedy: Remedy,
}

/// The clusters of cluster Secrets, as generators get them.
#[derive(Debug)]
pub(crate) struct GeneratorClusters {
    parameters: Vec<Map<String, Value>>,
    /// The first Secret that Argo CD cannot decode, with the problem.
    undecoded: Option<String>,
}

/// Inputs of a [`World`].
#[derive(Clone, Copy)]
pub(crate) struct WorldInputs<'a> {
    pub(crate) service: &'a Service,
    pub(crate) resources: &'a Resources,
    pub(crate) renderer: &'a Renderer,
    pub(crate) projects: &'a Projects,
    pub(crate) control_plane: &'a str,
    /// Asks other servers.
    pub(crate) services: &'a Services,
    /// The recorded answers of the options.
    pub(crate) answers: &'a RecordedAnswers,
}

/// Answers questions, equal ones once.
pub(crate) struct World<'a> {
    asking: Asking,
    answered: AnsweredQuestions,
    renderer: &'a Renderer,
    projects: &'a Projects,
    service: &'a Service,
    services: &'a Services,
    control_plane: &'a str,
    clusters: Arc<GeneratorClusters>,
    asked: AskedOnce,
}

impl NotAsked {
    /// Returns it as the error of a set.
    pub(crate) fn to_error(&self, set: &SetId) -> ServiceError {
        let error = ServiceError::rendering(format!("application set {set}: {}", self.reason));
        error.with_remedy(self.remedy.clone())
    }
}

impl GeneratorClusters {
    /// Returns the clusters of these Secrets.
    pub(crate) fn of(secrets: &[(StoredSecret, ProjectCluster)]) -> Self {
        let undecoded = secrets.iter().find_map(|(stored, cluster)| {
            let problem = cluster.config_problem.as_ref()?;
            Some(format!("cluster Secret {} ({}): {problem}", stored.secret.metadata.name, stored.place))
        });
        Self { parameters: secrets.iter().map(parameters).collect(), undecoded }
    }
}

impl<'a> WorldInputs<'a> {
    /// Returns those of a workspace.
    pub(crate) fn of(workspace: &'a Workspace) -> Self {
        let Workspace { service, resources, renderer, projects, control_plane, services, answers, .. } =
            workspace;
        Self { service, resources, renderer, projects, control_plane, services, answers }
    }
}

impl<'a> World<'a> {
    /// Creates the world of a workspace, with the answers of a selection.
    pub(crate) fn of(workspace: &'a Workspace, selection: &SetSelection) -> Result<Self, ServiceError> {
        let asking = match &selection.answers {
            Some(answers) => Asking::Recorded(answers.clone()),
            None => Asking::Everything,
        };
        Self::new(&WorldInputs::of(workspace), asking)
    }

    /// Creates a world. Nothing is asked yet.
    pub(crate) fn new(inputs: &WorldInputs<'a>, asking: Asking) -> Result<Self, ServiceError> {
        let WorldInputs { service, resources, renderer, projects, control_plane, services, answers } =
            *inputs;
        let answers = match &asking {
            Asking::Recorded(given) => given,
            Asking::Everything | Asking::ControlPlane(_) | Asking::StoreAndFolders => answers,
        };
        let answered = AnsweredQuestions::new(answers.clone());
        let clusters = match &asking {
            Asking::ControlPlane(clusters) => Arc::clone(clusters),
            _ => Arc::new(GeneratorClusters::of(&clusters_of(service, resources)?)),
        };
        let asked = AskedOnce::default();
        Ok(Self { asking, answered, renderer, projects, service, services, control_plane, clusters, asked })
    }

    /// Checks that the clusters that a set needs are known. Only a cluster has its cluster Secrets, so their absence is not an answer.
    /// Returns a warning.
    pub(crate) fn check_clusters(
        &self,
        id: &SetId,
        set: &ApplicationSet,
    ) -> Result<Option<Warning>, NotAsked> {
        let is_known = matches!(self.asking, Asking::Recorded(_) | Asking::ControlPlane(_))
            || self.answered.has(&clusters_question());
        if is_known || !self.clusters.parameters.is_empty() {
            return Ok(None);
        }
        let remedy = Remedy::NameClusterSecrets;
        match cluster_use(set) {
            ClusterUse::None => Ok(None),
            ClusterUse::All => {
                let message = format!(
                    "application set {id}: no cluster Secret is known, so its clusters generator has only {IN_CLUSTER_NAME}"
                );
                Ok(Some(Warning::new(message).with_remedy(remedy)))
            }
            ClusterUse::Selected => {
                let reason = "its clusters generator selects cluster Secrets, and none is known".to_owned();
                Err(NotAsked { reason, remedy })
            }
        }
    }

    /// Returns whether the project that the template of a set names exists.
    pub(crate) fn template_project(&self, set: &ApplicationSet) -> TemplateProject {
        let is_missing = !matches!(self.asking, Asking::Recorded(_))
            && template_project(set).is_some_and(|name| self.projects.is_refused_as_missing(name));
        if is_missing { TemplateProject::Missing } else { TemplateProject::Assumed }
    }

    /// Returns the answer to a question of a set.
    pub(crate) async fn ask(&self, set: &StoredSet, question: &Question) -> Result<Answer, NotAsked> {
        if let Some(answer) = self.answered.answer(question) {
            let key = format!("answered {} {}", question.generator, write_go_json(&question.request));
            return Ok(self.asked.get(key, question, async || Ok(answer)).await);
        }
        match (&self.asking, question.generator) {
            (Asking::Recorded(_), _) => Ok(Err(missing(question))),
            // Argo CD's controller could not list the sets of the cluster any more.
            (Asking::ControlPlane(_), "plugin") if question.request["contract"] == "proposal" => {
                let name = question.request["configMap"].as_str().unwrap_or_default();
                Ok(Err(format!(
                    "plugin.configMapRef: a string is only valid in files; in a cluster write `configMapRef: {{name: {name}}}` and `input.parameters`"
                )))
            }
            (_, "clusters") => Ok(self.clusters().await),
            (Asking::StoreAndFolders, "git" | "oci") => match self.left_out(question).await? {
                Ok(()) => Ok(self.repository(set, question).await),
                Err(error) => Ok(Err(error)),
            },
            (_, "git" | "oci") => Ok(self.repository(set, question).await),
            (Asking::StoreAndFolders, kind) => Err(NotAsked {
                reason: format!("its {kind} generator asks another server"),
                remedy: Remedy::IncludeSets,
            }),
            (Asking::Everything | Asking::ControlPlane(_), "clusterDecisionResource")
                if let Some(problem) = &self.clusters.undecoded =>
            {
                Ok(Err(format!("error listing clusters: {UNDECODED_SECRET}: {problem}")))
            }
            (Asking::Everything | Asking::ControlPlane(_), _) => {
                Ok(self.services.ask(set, self.control_plane, question, &self.clusters.parameters).await)
            }
        }
    }

    /// Returns the namespace of sets without one.
    pub(crate) fn control_plane(&self) -> &'a str {
        self.control_plane
    }

    /// Waits until the request is cancelled.
    pub(crate) async fn cancelled(&self) {
        self.renderer.cancellation().cancelled().await;
    }

    /// Returns what is wrong with recorded answers that are not used. Those without a question are only known after all questions were asked.
    pub(crate) fn unused_answers(&self, is_complete: bool) -> Vec<String> {
        self.answered.unused(is_complete)
    }

    /// Returns the answers of everything that was asked.
    pub(crate) fn into_answers(self) -> RecordedAnswers {
        let asked = self.asked.answered().into_iter().chain(self.services.answered());
        RecordedAnswers::of(asked)
    }

    async fn clusters(&self) -> Answer {
        let question = clusters_question();
        self.asked
            .get(question.generator.to_owned(), &question, async || Ok(self.clusters.parameters.clone()))
            .await
    }

    /// Returns why a repository may not be read, if no folder stands for it. The inner error is that of a folder.
    async fn left_out(&self, question: &Question) -> Result<Result<(), String>, NotAsked> {
        let Question { generator, request, .. } = question;
        let url = request["repoURL"].as_str().unwrap_or_default();
        let sources = self.renderer.sources();
        let has_folder = match *generator {
            "oci" => Ok(sources.has_chart_folder(url)),
            _ => sources.has_copy(url).await,
        };
        match has_folder {
            Ok(true) => Ok(Ok(())),
            Ok(false) => {
                let shown = tiphys_source::redact_url(url);
                let mut folder_of = RepoUrl::new(url).without_credentials();
                if *generator == "oci" && RepoUrl::new(url).scheme().is_none() {
                    folder_of.insert_str(0, "oci://");
                }
                Err(NotAsked {
                    reason: format!("its {generator} generator reads {shown}, and no folder is given for it"),
                    remedy: Remedy::ReadRepository(folder_of),
                })
            }
            Err(error) => Ok(Err(chain(&error))),
        }
    }

    /// Returns the source of a question that is about a repository, unless its answer is recorded.
    pub(crate) fn git_source(&self, set: &StoredSet, question: &Question) -> Option<GitSource> {
        let is_asked = question.generator == "git"
            && !matches!(self.asking, Asking::Recorded(_))
            && !self.answered.has(question);
        let file_repositories = set.place.origin().file_repositories();
        is_asked.then(|| git::source(self.renderer, &question.request, file_repositories))
    }

    /// Returns the answer of a git repository or an artefact.
    async fn repository(&self, set: &StoredSet, question: &Question) -> Answer {
        let Question { generator, request, .. } = question;
        let file_repositories = set.place.origin().file_repositories();
        let key = format!("{generator} {file_repositories:?} {}", write_go_json(request));
        let ask = async || {
            let options = self.service.options();
            let bytes_max = options.limits.get(Limit::APPSET_FILE_BYTES_MAX);
            if *generator == "oci" {
                return oci::answer(self.renderer, request, bytes_max).await;
            }
            git::answer(self.renderer, request, file_repositories, options.file_globbing, bytes_max).await
        };
        self.asked.get(key, question, ask).await
    }
}

/// The question of `clusters` generators.
fn clusters_question() -> Question {
    Question { generator: "clusters", request: json!({}), parameters: String::new() }
}

/// Returns the options' cluster Secrets, else those of a store. They are data here, and no connections.
pub(crate) fn clusters_of(
    service: &Service,
    resources: &Resources,
) -> Result<Vec<(StoredSecret, ProjectCluster)>, ServiceError> {
    let mut secrets = read_cluster_secrets(service.options())?;
    if secrets.is_empty() {
        secrets = resources.secrets().to_vec();
    }
    let cluster = |stored: StoredSecret| {
        let cluster = ProjectCluster::of_secret(&stored.secret)?;
        Some((stored, cluster))
    };
    Ok(secrets.into_iter().filter_map(cluster).collect())
}

/// Returns name and URL of the cluster of Argo CD itself, unless a Secret has its URL.
pub(crate) fn own_cluster(clusters: &[Map<String, Value>]) -> Option<(&'static str, &'static str)> {
    let is_own = |cluster: &Map<String, Value>| {
        cluster.get("server").and_then(Value::as_str) == Some(IN_CLUSTER_SERVER)
    };
    (!clusters.iter().any(is_own)).then_some((IN_CLUSTER_NAME, IN_CLUSTER_SERVER))
}

fn parameters((stored, cluster): &(StoredSecret, ProjectCluster)) -> Map<String, Value> {
    let ProjectCluster { name, server, project, .. } = cluster;
    let metadata = &stored.secret.metadata;
    let annotations = (!metadata.annotations.is_empty()).then(|| {
        let mut annotations = metadata.annotations.clone();
        // It has the credentials of the Secret.
        annotations.remove(LAST_APPLIED_ANNOTATION);
        annotations
    });
    let fields = [
        ("name", json!(name)),
        ("server", json!(server)),
        ("project", json!(project)),
        ("labels", json!(metadata.labels)),
        ("annotations", json!(annotations)),
    ];
    fields.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}
