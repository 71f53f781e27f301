//! Generating the Applications of ApplicationSets.

mod answers;

use std::time::SystemTime;

use serde_json::{Map, Value, json};
use tiphys_api::{ApplicationSet, SecretType};
use tiphys_appset::{Answer, Answers, GenerateError, Generated, GeneratedApplication, Question, generate};
use tiphys_gotemplate::Options;
use tiphys_project::ProjectCluster;
use tiphys_store::{ApplicationRef, Place, Store as Resources, StoreInput, StoredSecret, StoredSet};

use crate::clusters::cluster_secrets;
use crate::error::ServiceError;
use crate::service::Service;
use crate::store::{load_inputs, load_store};
use crate::warning::Warning;

pub use answers::RecordedAnswers;

/// Rounds of questions: one for each level of generators, and one that has all answers.
const ROUNDS_MAX: usize = 4;

/// Sets to generate.
#[derive(Clone, Debug, Default)]
pub struct SetSelection {
    /// Names, `namespace/name`, or files; empty means all of the store.
    pub sets: Vec<String>,
    /// Answers that are used for all questions. Nothing is asked then.
    pub answers: Option<RecordedAnswers>,
}

/// The Applications of a set.
#[derive(Debug)]
pub struct SetApplications {
    /// Namespace and name of the set.
    pub set: String,
    /// Applications in Argo CD's order. They are not complete if there are errors.
    pub applications: Vec<GeneratedApplication>,
    /// Errors of the set.
    pub errors: Vec<ServiceError>,
    /// Warnings about the set.
    pub warnings: Vec<Warning>,
}

/// Generates the Applications of sets. `now` is the time of their templates.
pub fn generate_sets(
    service: &Service,
    selection: &SetSelection,
    now: SystemTime,
) -> Result<Vec<SetApplications>, ServiceError> {
    let (options, host) = (service.options(), service.host());
    let mut resources: Vec<Resources> = Vec::new();
    let mut names = Vec::new();
    for set in &selection.sets {
        match ApplicationRef::parse(set) {
            ApplicationRef::Path(path) => {
                resources.push(load_inputs(&[StoreInput::Path(path)])?);
            }
            ApplicationRef::Name { namespace, name } => names.push((namespace, name)),
        }
    }
    let store = load_store(options, host)?;
    // The clusters are data of templates here, and no connections.
    let secrets = cluster_secrets(options, host, |_| false)?;
    let clusters = if secrets.is_empty() { clusters(store.secrets()) } else { clusters(&secrets) };
    let world = World { clusters, answers: selection.answers.as_ref() };
    let mut found: Vec<&StoredSet> = resources.iter().flat_map(Resources::sets).collect();
    for (namespace, name) in &names {
        let is_named = |set: &&StoredSet| {
            set.metadata.name == *name
                && namespace.as_ref().is_none_or(|namespace| *namespace == set.metadata.namespace)
        };
        let before = found.len();
        found.extend(store.sets().iter().filter(is_named));
        if found.len() == before {
            return Err(ServiceError::invalid_input(format!(
                "application set {name:?} not found in the store"
            )));
        }
    }
    if selection.sets.is_empty() {
        found.extend(store.sets());
    }
    if found.is_empty() {
        return Err(ServiceError::invalid_input("no application set to generate"));
    }
    Ok(found.into_iter().map(|set| generate_one(set, &world, Options::at(now))).collect())
}

/// What answers questions.
struct World<'a> {
    clusters: Vec<Map<String, Value>>,
    answers: Option<&'a RecordedAnswers>,
}

fn generate_one(stored: &StoredSet, world: &World<'_>, options: Options) -> SetApplications {
    let metadata = &stored.metadata;
    let name = match metadata.namespace.as_str() {
        "" => metadata.name.clone(),
        namespace => format!("{namespace}/{}", metadata.name),
    };
    let mut result =
        SetApplications { set: name, applications: Vec::new(), errors: Vec::new(), warnings: Vec::new() };
    let set = match ApplicationSet::decode(&stored.node) {
        Ok(decoded) => decoded.value,
        Err(error) => {
            let place = Place { position: Some(error.source.position), ..stored.place.clone() };
            let tiphys_yaml::DecodeError { path, message, .. } = *error.source;
            result
                .errors
                .push(ServiceError::invalid_input(format!("{place}: {}: {path}: {message}", error.object)));
            return result;
        }
    };
    match answered(&set, world, options) {
        Ok(Generated { applications, errors, volatile, .. }) => {
            result.errors = errors.iter().map(|error| failed(&result.set, stored, error)).collect();
            result.applications = applications;
            let volatile: Vec<&str> = volatile.into_iter().collect();
            if !volatile.is_empty() {
                let functions = volatile.join(", ");
                let message = format!(
                    "application set {}: its templates call {functions}: the result differs each time",
                    result.set
                );
                result.warnings.push(Warning::from(message));
            }
        }
        Err(error) => {
            let message = format!("application set {} ({}): {error}", result.set, stored.place);
            result.errors.push(ServiceError::invalid_input(message));
        }
    }
    result
}

/// Generates until no question is open.
fn answered(
    set: &ApplicationSet,
    world: &World<'_>,
    options: Options,
) -> Result<Generated, tiphys_gotemplate::OptionError> {
    let mut answers = Answers::default();
    let mut generated = generate(set, &answers, options)?;
    for _ in 1..ROUNDS_MAX {
        for question in &generated.questions {
            answers.insert(question, world.answer(question));
        }
        if generated.questions.is_empty() {
            break;
        }
        generated = generate(set, &answers, options)?;
    }
    Ok(generated)
}

impl World<'_> {
    fn answer(&self, question: &Question) -> Answer {
        match (self.answers, question.generator) {
            (Some(answers), _) => answers.answer(question),
            (None, "clusters") => Ok(self.clusters.clone()),
            (None, kind) => Err(format!(
                "{kind} generators cannot be asked yet; give their answers in a file with --answers"
            )),
        }
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

fn failed(set: &str, stored: &StoredSet, error: &GenerateError) -> ServiceError {
    let place = Place { position: Some(error.position), ..stored.place.clone() };
    ServiceError::rendering(format!("application set {set} ({place}): {error}"))
}
