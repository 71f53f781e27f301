//! What answers the questions of generators.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use tiphys_api::SecretType;
use tiphys_appset::{Answer, Question};
use tiphys_project::ProjectCluster;
use tiphys_render::Renderer;
use tiphys_store::{Store as Resources, StoredSecret, StoredSet};
use tiphys_yaml::write_go_json;
use tokio::sync::OnceCell;

use super::SetSelection;
use super::answers::RecordedAnswers;
use super::git;
use crate::clusters::cluster_secrets;
use crate::error::{ServiceError, chain};
use crate::projects::Projects;
use crate::service::Service;
use crate::trust::Trust;
use crate::workspace::Workspace;

/// Maximum size of a file that a `git` generator reads, in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Who is asked.
#[derive(Clone, Debug)]
pub(crate) enum Asking {
    /// Everything that the generators name.
    Everything,
    /// The store, and the folders that stand for repositories.
    StoreAndFolders,
    /// Nothing: the answers are recorded.
    Recorded(RecordedAnswers),
}

/// What a world is made of.
#[derive(Clone, Copy)]
pub(crate) struct WorldInputs<'a> {
    pub(crate) service: &'a Service,
    pub(crate) resources: &'a Resources,
    pub(crate) renderer: &'a Renderer,
    pub(crate) projects: &'a Projects,
    pub(crate) trust: &'a Arc<Trust>,
    pub(crate) control_plane: &'a str,
}

/// Answers questions, equal ones once.
pub(crate) struct World<'a> {
    asking: Asking,
    renderer: &'a Renderer,
    projects: &'a Projects,
    trust: &'a Trust,
    service: &'a Service,
    clusters: Vec<Map<String, Value>>,
    asked: Mutex<HashMap<String, Arc<Asked>>>,
}

/// A question, and its answer once it is known. The error is the reason why it may not be asked.
struct Asked {
    question: Question,
    answer: OnceCell<Result<Answer, String>>,
}

impl<'a> WorldInputs<'a> {
    /// Returns those of a workspace.
    pub(crate) fn of(workspace: &'a Workspace) -> Self {
        let Workspace { service, resources, renderer, projects, trust, control_plane, .. } = workspace;
        Self { service, resources, renderer, projects, trust, control_plane }
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
        let WorldInputs { service, resources, renderer, projects, trust, .. } = *inputs;
        // The clusters are data of templates here, and no connections.
        let secrets = cluster_secrets(service.options(), service.host(), |_| false)?;
        let clusters = if secrets.is_empty() { clusters(resources.secrets()) } else { clusters(&secrets) };
        Ok(Self { asking, renderer, projects, trust, service, clusters, asked: Mutex::default() })
    }

    /// Returns the answer to a question of a set. The error is the reason why it may not be asked.
    pub(crate) async fn ask(&self, set: &StoredSet, question: &Question) -> Result<Answer, String> {
        let asked = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Asked { question: question.clone(), answer: OnceCell::new() });
            Arc::clone(asked.entry(self.key(set, question)).or_insert_with(new))
        };
        asked.answer.get_or_init(|| self.answer(set, question)).await.clone()
    }

    /// Returns all answers.
    pub(crate) fn into_answers(self) -> RecordedAnswers {
        let asked = self.asked.into_inner().unwrap_or_else(PoisonError::into_inner);
        let answered = asked.values().filter_map(|asked| match asked.answer.get() {
            Some(Ok(Ok(parameters))) => Some((&asked.question, parameters)),
            _ => None,
        });
        RecordedAnswers::of(answered)
    }

    /// Returns what determines an answer.
    fn key(&self, set: &StoredSet, Question { generator, request }: &Question) -> String {
        let request = write_go_json(request);
        match *generator {
            "git" => format!("git {:?} {request}", self.trust.file_repositories(&set.place.file)),
            "clusters" | "plugin" => format!("{generator} {request}"),
            // Secrets are those of the set's namespace.
            _ => {
                let origin = self.trust.origin(&set.place.file);
                format!("{generator} {} {origin:?} {request}", set.metadata.namespace)
            }
        }
    }

    async fn answer(&self, set: &StoredSet, question: &Question) -> Result<Answer, String> {
        if let Asking::Recorded(answers) = &self.asking {
            return Ok(answers.answer(question));
        }
        match question.generator {
            "clusters" => Ok(Ok(self.clusters.clone())),
            "git" => self.ask_git(set, &question.request).await,
            kind if matches!(self.asking, Asking::StoreAndFolders) => {
                Err(format!("its {kind} generator asks another server"))
            }
            kind => Ok(Err(format!(
                "{kind} generators cannot be asked yet; give their answers in a file with --answers"
            ))),
        }
    }

    async fn ask_git(&self, set: &StoredSet, request: &Value) -> Result<Answer, String> {
        let text = |key: &str| request[key].as_str().unwrap_or_default();
        if matches!(self.asking, Asking::StoreAndFolders) {
            match self.renderer.sources().has_copy(text("repoURL")).await {
                Ok(true) => {}
                Ok(false) => {
                    let url = tiphys_source::redact_url(text("repoURL"));
                    return Err(format!("its git generator reads {url}, and no folder is given for it"));
                }
                Err(error) => return Ok(Err(chain(&error))),
            }
        }
        if let Err(error) = self.projects.require(text("project")) {
            return Ok(Err(error));
        }
        let options = self.service.options();
        let file_repositories = self.trust.file_repositories(&set.place.file);
        Ok(git::answer(self.renderer, request, file_repositories, options.file_globbing, FILE_BYTES_MAX)
            .await)
    }
}

fn clusters(secrets: &[StoredSecret]) -> Vec<Map<String, Value>> {
    let cluster = |stored: &StoredSecret| {
        let ProjectCluster { name, server, project, .. } = ProjectCluster::of_secret(&stored.secret)?;
        let metadata = &stored.secret.metadata;
        let fields = [
            ("name", Value::from(name)),
            ("server", Value::from(server)),
            ("project", Value::from(project)),
            ("labels", json!(metadata.labels)),
            ("annotations", json!(metadata.annotations)),
        ];
        Some(fields.map(|(key, value)| (key.to_owned(), value)).into_iter().collect())
    };
    secrets
        .iter()
        .filter(|stored| stored.secret.secret_type == SecretType::Cluster)
        .filter_map(cluster)
        .collect()
}
