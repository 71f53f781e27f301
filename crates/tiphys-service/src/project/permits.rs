//! Questions about projects: what they permit, and by which rule.

use std::path::{Path, PathBuf};

use tiphys_model::project_rules::{ObjectIdentity, ProjectCluster, ProjectRules, Refused, Scope};
use tiphys_model::resources::{AppProject, Destination};
use tiphys_store::{Store, StoreInput};

use crate::context::projects::{KnownClusters, ProjectRule};
use crate::error::ServiceError;

/// The files of a project.
#[derive(Clone, Debug, Default)]
pub struct ProjectFiles {
    /// The file with the `AppProject`.
    pub project: PathBuf,
    /// Files with global projects that apply to it, one each.
    pub globals: Vec<PathBuf>,
    /// The file or directory with Argo CD's cluster Secrets.
    pub clusters: Option<PathBuf>,
}

/// A question about a project.
#[derive(Clone, Debug)]
pub enum ProjectQuestion {
    /// Whether an Application may use a repository.
    Repository {
        /// Its URL.
        url: String,
    },
    /// Whether an Application may have a destination.
    Destination {
        /// URL or name of the cluster.
        cluster: String,
        /// The namespace.
        namespace: String,
    },
    /// Whether an Application may have a kind of objects, or an object at a destination.
    Object {
        /// The object. With a namespace it is namespaced, else cluster-scoped.
        object: ObjectRequest,
        /// URL or name of the cluster, to check the object's namespace as well.
        cluster: Option<String>,
    },
    /// Whether a dynamic parameter may read an object.
    LookUp {
        /// The object. With a namespace it is namespaced, else cluster-scoped.
        object: ObjectRequest,
        /// URL or name of the cluster.
        cluster: String,
    },
}

/// An object of a question.
#[derive(Clone, Debug, Default)]
pub struct ObjectRequest {
    /// API group; empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; `None` for a cluster-scoped object.
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
}

/// The answer to a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectAnswer {
    /// Why the project does not permit it. `None` if it does.
    pub refusal: Option<String>,
    /// The rule that permits a look-up.
    pub rule: Option<ProjectRule>,
}

/// Answers a question about a project. A project with an invalid rule permits nothing; the refusal is its error then.
pub fn project_permits(
    files: &ProjectFiles,
    question: &ProjectQuestion,
) -> Result<ProjectAnswer, ServiceError> {
    let project = load_project(&files.project)?;
    let globals = files.globals.iter().map(|file| load_project(file)).collect::<Result<Vec<_>, _>>()?;
    let clusters = files.clusters.as_deref().map(load_clusters).transpose()?.unwrap_or_default();
    let clusters = KnownClusters::of_secrets(clusters);
    let refused = |refusal: String| ProjectAnswer { refusal: Some(refusal), rule: None };
    let rules = match ProjectRules::new(&project, &globals.iter().collect::<Vec<_>>(), clusters.scoped()) {
        Ok(rules) => rules,
        Err(error) => return Ok(refused(error.to_string())),
    };
    Ok(answer(&rules, &clusters, question).unwrap_or_else(|error| refused(error.to_string())))
}

fn answer(
    rules: &ProjectRules,
    clusters: &KnownClusters,
    question: &ProjectQuestion,
) -> Result<ProjectAnswer, Refused> {
    let cluster = |given: &str| clusters.of(&destination(given));
    match question {
        ProjectQuestion::Repository { url } => rules.permits_source(url)?,
        ProjectQuestion::Destination { cluster: given, namespace } => {
            rules.permits_destination(&cluster(given), namespace)?;
        }
        ProjectQuestion::Object { object, cluster: given } => {
            let scope = if object.namespace.is_some() { Scope::Namespaced } else { Scope::Cluster };
            match given {
                Some(given) => rules.check_object(&cluster(given), &object.identity(), scope)?,
                None => rules.permits_kind(&object.group, &object.kind, &object.name, scope)?,
            };
        }
        ProjectQuestion::LookUp { object, cluster: given } => {
            let permit = rules.permit_look_up(&cluster(given), &object.identity())?;
            return Ok(ProjectAnswer { refusal: None, rule: Some(ProjectRule::from(permit.rule())) });
        }
    }
    Ok(ProjectAnswer::default())
}

impl ObjectRequest {
    fn identity(&self) -> ObjectIdentity {
        let Self { group, kind, namespace, name } = self.clone();
        ObjectIdentity { group, kind, namespace, name }
    }
}

/// Returns the destination with a URL or a name.
fn destination(cluster: &str) -> Destination {
    let cluster = cluster.to_owned();
    if cluster.contains("://") {
        Destination { server: cluster, ..Destination::default() }
    } else {
        Destination { name: cluster, ..Destination::default() }
    }
}

fn load_project(file: &Path) -> Result<AppProject, ServiceError> {
    let store = load(file)?;
    match store.projects() {
        [stored] => Ok(stored.project.clone()),
        projects => Err(ServiceError::invalid_input(format!(
            "{}: expected one AppProject, found {}",
            file.display(),
            projects.len()
        ))),
    }
}

fn load_clusters(path: &Path) -> Result<Vec<ProjectCluster>, ServiceError> {
    Ok(load(path)?.secrets().iter().filter_map(|stored| ProjectCluster::of_secret(&stored.secret)).collect())
}

/// Loads a file or directory. An invalid document of Argo CD is an error, because a rule may be in it.
fn load(path: &Path) -> Result<Store, ServiceError> {
    let store =
        Store::load(&[StoreInput::Path(path.to_owned())]).map_err(ServiceError::invalid_input_from)?;
    match store.broken().first() {
        Some(broken) => Err(ServiceError::invalid_input(broken.to_string())),
        None => Ok(store),
    }
}
