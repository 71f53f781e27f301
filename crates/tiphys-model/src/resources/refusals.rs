//! Reasons why Argo CD refuses an Application whose fields have the right types.

use crate::params::Warning;
use tiphys_yaml::Node;

use crate::resources::{API_VERSION, ApplicationSource, ApplicationSpec, subdomain_problems};

/// Returns the reasons why Argo CD refuses an Application, in document order: its API version and name, and what `ValidateRepo` of Argo CD's
/// `util/argo/argo.go` and the CRD require.
pub(crate) fn refusals(document: &Node, spec: &ApplicationSpec) -> Vec<Warning> {
    let mut refusals = Refusals { document, found: Vec::new() };
    let api_version = document.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
    if api_version != API_VERSION {
        refusals.add(&["apiVersion"], &format!("{api_version:?} is not known; write {API_VERSION}"));
    }
    let name = document.at(["metadata", "name"]).and_then(Node::as_str).unwrap_or_default();
    if !name.is_empty()
        && let Some(problem) = subdomain_problems(name).first()
    {
        refusals.add(&["metadata", "name"], &format!("{name:?} is not valid: {problem}"));
    }
    if document.at(["spec", "destination"]).is_none_or(Node::is_null) {
        refusals.add(&["spec"], "there is no destination; add spec.destination");
    }
    let destination = &spec.destination;
    if !destination.server.is_empty() && !destination.name.is_empty() {
        refusals.add(&["spec", "destination"], "there are name and server; a destination has one of them");
    }
    if spec.source_hydrator.is_none() {
        if spec.sources.is_empty() {
            spec.source.iter().for_each(|source| refusals.source(&["source"], source));
        }
        for (index, source) in spec.sources.iter().enumerate() {
            refusals.source(&["sources", &index.to_string()], source);
        }
    }
    refusals.found
}

struct Refusals<'a> {
    document: &'a Node,
    found: Vec<Warning>,
}

impl Refusals<'_> {
    /// Adds what is wrong at a path of the document.
    fn add(&mut self, path: &[&str], problem: &str) {
        let position = self.document.at(path.iter().copied()).map(|node| node.position);
        let is_index = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let field = path.iter().enumerate().map(|(index, part)| match index {
            0 => (*part).to_owned(),
            _ if is_index(part) => format!("[{part}]"),
            _ => format!(".{part}"),
        });
        let message = format!("{}: {problem}", field.collect::<String>());
        self.found.push(Warning { message, position });
    }

    fn source(&mut self, place: &[&str], source: &ApplicationSource) {
        let path: Vec<&str> = ["spec"].into_iter().chain(place.iter().copied()).collect();
        let is_for_others = place.len() > 1 && !source.reference.is_empty();
        if source.repo_url.is_empty() {
            self.add(&path, "there is no repoURL");
        }
        match (source.path.is_empty(), source.chart.is_empty()) {
            (true, true) if !is_for_others => {
                self.add(&path, "there is neither path nor chart; the root of a repository is path: .");
            }
            (false, false) => {
                self.add(&path, "there are path and chart; a chart of a Helm repository has no path");
            }
            (true, false) if source.target_revision.is_empty() => {
                self.add(&path, "a chart needs a targetRevision");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
