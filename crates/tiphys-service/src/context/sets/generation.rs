//! Generating one set: its questions are asked until none is open.

use std::sync::Arc;

use futures_util::future::join_all;
use tiphys_engine::appset::{
    Answers, GenerateError, GenerateOptions, Generated, GeneratedApplication, generate,
};
use tiphys_model::resources::ApplicationSet;
use tiphys_source::GitSource;
use tiphys_store::{Place, SetId, StoredApplication, StoredSet};
use tiphys_yaml::Node;

use super::world::{NotAsked, World};
use crate::error::{Remedy, ServiceError};
use crate::warning::Warning;

/// The result for a set.
#[derive(Debug)]
pub struct SetApplications {
    /// The set.
    pub set: SetId,
    /// The set's document.
    pub(crate) document: StoredSet,
    /// Its Applications, or why there are none.
    pub outcome: SetOutcome,
    /// Warnings about the set.
    pub warnings: Vec<Warning>,
    /// The repositories that its generators read.
    pub(crate) repositories: Vec<GitSource>,
}

/// Outcome of a set.
#[derive(Debug)]
pub enum SetOutcome {
    /// All Applications, in Argo CD's order.
    Generated {
        /// The decoded set.
        set: Arc<ApplicationSet>,
        /// Its Applications. It has neither errors nor questions.
        generated: Generated,
    },
    /// The document is invalid, or a generator or a template failed. Argo CD uses no Application of such a set.
    Failed(Vec<ServiceError>),
    /// A generator needs what may not be asked.
    LeftOut(NotAsked),
}

/// Why generating stopped.
pub(crate) enum Stop {
    /// The document is invalid.
    Failed(ServiceError),
    /// A generator needs what may not be asked.
    LeftOut(NotAsked),
}

/// Generates a set with the answers of the world. `adjust` changes the decoded set first. A cancelled request does not wait for answers or
/// the thread that generates.
pub(crate) async fn generate_one(
    stored: &StoredSet,
    world: &World<'_>,
    options: GenerateOptions,
    adjust: impl FnOnce(&mut ApplicationSet),
) -> SetApplications {
    let name = stored.id(world.control_plane());
    let (mut warnings, mut repositories) = (Vec::new(), Vec::new());
    let generated = tokio::select! {
        generated = generated(stored, world, options, adjust, &mut repositories) => generated,
        () = world.cancelled() => Err(Stop::Failed(ServiceError::interrupted())),
    };
    let outcome = match generated {
        Ok((set, generated, warning)) => {
            warnings.extend(warning);
            let volatile: Vec<&str> = generated.volatile.iter().copied().collect();
            if !volatile.is_empty() {
                let functions = volatile.join(", ");
                let message = format!(
                    "application set {name}: its templates call {functions}: the result differs each time"
                );
                warnings.push(Warning::from(message));
            }
            let errors = failures(stored, &name, &generated);
            if errors.is_empty() {
                SetOutcome::Generated { set, generated }
            } else {
                SetOutcome::Failed(errors)
            }
        }
        Err(Stop::Failed(error)) => SetOutcome::Failed(vec![error]),
        Err(Stop::LeftOut(not_asked)) => SetOutcome::LeftOut(not_asked),
    };
    SetApplications { set: name, document: stored.clone(), outcome, warnings, repositories }
}

/// Decodes a set.
pub(crate) fn decoded(stored: &StoredSet) -> Result<ApplicationSet, ServiceError> {
    let decoded = ApplicationSet::decode(&stored.node).map_err(|error| {
        let place = Place { position: Some(error.source.position), ..stored.place.clone() };
        let tiphys_yaml::DecodeError { path, message, .. } = *error.source;
        ServiceError::invalid_input(format!("{place}: {}: {path}: {message}", error.object))
    })?;
    Ok(decoded.value)
}

/// Decodes a set, and generates until no question is open. Adds the repositories that its generators read.
pub(crate) async fn generated(
    stored: &StoredSet,
    world: &World<'_>,
    options: GenerateOptions,
    adjust: impl FnOnce(&mut ApplicationSet),
    repositories: &mut Vec<GitSource>,
) -> Result<(Arc<ApplicationSet>, Generated, Option<Warning>), Stop> {
    let mut set = decoded(stored).map_err(Stop::Failed)?;
    adjust(&mut set);
    generated_from(stored, Arc::new(set), world, options, repositories).await
}

/// Generates a decoded set as [`generated`] does.
pub(crate) async fn generated_from(
    stored: &StoredSet,
    set: Arc<ApplicationSet>,
    world: &World<'_>,
    options: GenerateOptions,
    repositories: &mut Vec<GitSource>,
) -> Result<(Arc<ApplicationSet>, Generated, Option<Warning>), Stop> {
    let warning = world.check_clusters(&stored.id(world.control_plane()), &set).map_err(Stop::LeftOut)?;
    let options = GenerateOptions { template_project: world.template_project(&set), ..options };
    let mut answers = Arc::new(Answers::default());
    loop {
        // A matrix may take long. Its thread is abandoned if the caller cancels meanwhile.
        let (task_set, task_answers) = (Arc::clone(&set), Arc::clone(&answers));
        let task = tokio::task::spawn_blocking(move || generate(&task_set, &task_answers, options));
        let generated = task.await.map_err(|error| Stop::Failed(ServiceError::bug(error.to_string())))?;
        let generated = generated.map_err(|error| {
            let id = stored.id(world.control_plane());
            let message = format!("application set {id} ({}): {error}", stored.place);
            Stop::Failed(ServiceError::invalid_input(message))
        })?;
        // Each round answers all its questions, so there is a last one.
        if generated.questions.is_empty() {
            return Ok((set, generated, warning));
        }
        let sources = generated.questions.iter().filter_map(|question| world.git_source(stored, question));
        repositories.extend(sources);
        let asked = join_all(generated.questions.iter().map(|question| world.ask(stored, question))).await;
        let known = Arc::make_mut(&mut answers);
        for (question, answer) in generated.questions.iter().zip(asked) {
            known.insert(question, answer.map_err(Stop::LeftOut)?);
        }
    }
}

impl SetApplications {
    /// Creates the result for a set without warnings, whose generators read nothing.
    pub(crate) fn new(set: SetId, document: StoredSet, outcome: SetOutcome) -> Self {
        Self { set, document, outcome, warnings: Vec::new(), repositories: Vec::new() }
    }

    /// Returns the failure of a set that is defined more than once.
    pub(crate) fn repeated(set: SetId, first: &StoredSet, documents: &[&StoredSet]) -> Self {
        let places: Vec<String> = documents.iter().map(|set| set.place.to_string()).collect();
        let message = format!("application set {set} is defined more than once: {}", places.join(", "));
        let error = ServiceError::invalid_input(message).with_remedy(Remedy::LeaveOutCopies);
        Self::new(set, first.clone(), SetOutcome::Failed(vec![error]))
    }

    /// Makes it a failure that a question was not asked.
    pub(crate) fn require_answers(&mut self) {
        if let SetOutcome::LeftOut(not_asked) = &self.outcome {
            self.outcome = SetOutcome::Failed(vec![not_asked.to_error(&self.set)]);
        }
    }

    /// Returns the errors of the set.
    pub fn errors(&self) -> &[ServiceError] {
        match &self.outcome {
            SetOutcome::Failed(errors) => errors,
            SetOutcome::Generated { .. } | SetOutcome::LeftOut(_) => &[],
        }
    }

    /// Returns the generated Applications.
    pub fn applications(&self) -> &[GeneratedApplication] {
        match &self.outcome {
            SetOutcome::Generated { generated, .. } => &generated.applications,
            SetOutcome::Failed(_) | SetOutcome::LeftOut(_) => &[],
        }
    }

    /// Takes the generated Applications.
    pub fn into_applications(self) -> Vec<GeneratedApplication> {
        match self.outcome {
            SetOutcome::Generated { generated, .. } => generated.applications,
            SetOutcome::Failed(_) | SetOutcome::LeftOut(_) => Vec::new(),
        }
    }

    /// Returns the generated Applications as those of the store.
    pub(crate) fn stored(&self) -> Result<Vec<StoredApplication>, ServiceError> {
        let SetOutcome::Generated { set: decoded, generated } = &self.outcome else {
            return Ok(Vec::new());
        };
        let stored = |generated: &GeneratedApplication| {
            let GeneratedApplication { application, generator, patch, .. } = generated;
            let node = decoded.application_document(generator, &application.value(), patch.as_deref());
            stored_application(&self.document, &self.set, node)
        };
        generated.applications.iter().map(stored).collect()
    }
}

/// Returns an Application of a set, whose positions are those of the set's document, as one of the store.
pub(crate) fn stored_application(
    set: &StoredSet,
    id: &SetId,
    node: Node,
) -> Result<StoredApplication, ServiceError> {
    set.generated(node, id.clone()).map_err(|error| {
        let place = Place { position: Some(error.position()), ..set.place.clone() };
        ServiceError::rendering(format!("application set {id} ({place})")).because(error)
    })
}

/// Returns the errors of a set and of names that no Application can have, equal ones of many parameter sets once.
fn failures(stored: &StoredSet, id: &SetId, generated: &Generated) -> Vec<ServiceError> {
    let mut counted: Vec<(&GenerateError, usize)> = Vec::new();
    for error in generated.errors.iter().chain(&generated.invalid_names) {
        match counted.iter_mut().rfind(|(one, _)| *one == error) {
            Some((_, count)) => *count += 1,
            None => counted.push((error, 1)),
        }
    }
    let failed = |(error, count): (&GenerateError, usize)| {
        let place = Place { position: Some(error.position), ..stored.place.clone() };
        let times = if count > 1 { format!(" (for {count} parameter sets)") } else { String::new() };
        let message = format!("application set {id} ({place}): {error}{times}");
        if generated.has_invalid_template {
            ServiceError::invalid_input(message)
        } else {
            ServiceError::rendering(message)
        }
    };
    counted.into_iter().map(failed).collect()
}
