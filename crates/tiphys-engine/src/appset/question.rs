//! Questions of generators: requests to git, clusters and services.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tiphys_yaml::write_go_json;

/// A question of a generator. Equal questions have equal answers within one generation.
#[derive(Clone, Debug)]
pub struct Question {
    /// Kind of the generator, such as `plugin`.
    pub generator: &'static str,
    /// The fields that determine the answer:
    ///
    /// | generator | request | answer |
    /// |---|---|---|
    /// | `clusters` | `{}` | `name`, `server`, `project`, `labels`, `annotations` of each cluster Secret |
    /// | `git`, `oci` | `repoURL`, `revision`, `project`, `directories: true` | `path` of each directory |
    /// | `git`, `oci` | `repoURL`, `revision`, `project`, `files: PATTERN` | `path` and `content` of each file |
    /// | `plugin` | `configMap`, `contract`, `body` | the objects that the service lists |
    /// | `clusterDecisionResource` | `configMap`, `name`, `labelSelector` | `name`, `server` and the decision's strings of each cluster |
    /// | `pullRequest`, `scmProvider` | the settings | an object for each pull request or branch, with the parameters' names |
    pub request: Value,
    /// The parameters of a `plugin` generator as they are sent: compact JSON with sorted keys. Empty for other generators. Questions are
    /// compared without it, because `request` has the values.
    pub parameters: String,
}

impl PartialEq for Question {
    fn eq(&self, other: &Self) -> bool {
        (self.generator, &self.request) == (other.generator, &other.request)
    }
}

/// Objects, or the error in Argo CD's words.
pub type Answer = Result<Vec<Map<String, Value>>, String>;

/// The answers that are known.
#[derive(Clone, Debug, Default)]
pub struct Answers(BTreeMap<String, Answer>);

impl Answers {
    /// Adds an answer.
    pub fn insert(&mut self, question: &Question, answer: Answer) {
        self.0.insert(key(question), answer);
    }

    pub(crate) fn get(&self, question: &Question) -> Option<&Answer> {
        self.0.get(&key(question))
    }
}

fn key(question: &Question) -> String {
    format!("{} {}", question.generator, write_go_json(&question.request))
}
