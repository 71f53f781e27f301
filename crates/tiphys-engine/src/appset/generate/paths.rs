//! The generators `git` and `oci`: paths of a repository or an artefact.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::{Map, Value, json};
use tiphys_go::glob::go_match;
use tiphys_go::gotemplate::{flatten, normalize};
use tiphys_model::resources::{ApplicationSet, PathPattern, RepositoryGenerator};
use tiphys_yaml::read_document;

use super::list::go_type;
use super::{Run, Sets, Stop, text};
use crate::appset::{ParameterSet, TemplateMode, TemplateProject};

/// Returns the project that the template of a set names. `None` if it is a template, so that it is not known yet.
pub fn template_project(set: &ApplicationSet) -> Option<&str> {
    let project = set.template["spec"]["project"].as_str().unwrap_or_default();
    (!project.contains("{{")).then_some(project)
}

impl Run<'_> {
    /// Fails if the project of the template does not exist. As in Argo CD, only `git` generators need it: it says which signatures count.
    pub(super) fn require_template_project(&self) -> Result<(), Stop> {
        match (self.template_project, template_project(self.set)) {
            (TemplateProject::Missing, Some(project)) => Err(Stop::failed(format!(
                "error getting project {project}: appprojects.argoproj.io {project:?} not found"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the directories or files of a repository that the patterns select. `kind` is that of the generator.
    pub(super) fn paths(
        &self,
        kind: &'static str,
        settings: &RepositoryGenerator,
        values: &BTreeMap<String, String>,
    ) -> Sets {
        let sets = if !settings.directories.is_empty() {
            self.directories(kind, settings, values)
        } else if !settings.files.is_empty() {
            self.files(kind, settings, values)
        } else {
            return Err(Stop::failed("ApplicationSet is empty"));
        };
        sets.map_err(|stop| stop.wrapped(&format!("error generating params from {kind}: ")))
    }

    fn directories(
        &self,
        kind: &'static str,
        settings: &RepositoryGenerator,
        values: &BTreeMap<String, String>,
    ) -> Sets {
        let found = self
            .answer(kind, self.paths_request(settings, "directories", &json!(true)))
            .map_err(|stop| stop.wrapped(&format!("error getting directories from {kind}: ")))?;
        let matches = |path: &str, is_excluded: bool| {
            let mut patterns =
                settings.directories.iter().filter(|pattern| pattern.is_excluded == is_excluded);
            // As in Argo CD, a bad pattern matches nothing.
            patterns.any(|pattern| go_match(pattern.path.as_bytes(), path.as_bytes()).unwrap_or(false))
        };
        let paths = found.iter().map(|entry| text(entry, "path"));
        let selected = paths.filter(|path| matches(path, false) && !matches(path, true));
        let sets = selected.map(|path| self.path_parameters(settings, path, None, Map::new()));
        let with_values = |set| {
            self.with_values(set, values).map_err(|error| {
                Stop::failed(format!(
                    "error generating params from apps: failed to append templated values: {error}"
                ))
            })
        };
        sets.map(with_values).collect()
    }

    fn files(
        &self,
        kind: &'static str,
        settings: &RepositoryGenerator,
        values: &BTreeMap<String, String>,
    ) -> Sets {
        let mut files = BTreeMap::new();
        let mut questions = Vec::new();
        let (excluding, including): (Vec<&PathPattern>, Vec<&PathPattern>) =
            settings.files.iter().partition(|pattern| pattern.is_excluded);
        for pattern in including.into_iter().chain(excluding) {
            let request = self.paths_request(settings, "files", &json!(pattern.path));
            let found = match self.answer(kind, request) {
                Ok(found) => found,
                Err(Stop::Ask(more)) => {
                    questions.extend(more);
                    continue;
                }
                Err(failed) => return Err(failed),
            };
            for file in found {
                let path = text(file, "path");
                if pattern.is_excluded {
                    files.remove(path);
                } else {
                    files.insert(path, text(file, "content"));
                }
            }
        }
        if !questions.is_empty() {
            return Err(Stop::Ask(questions));
        }
        let sets = files.into_par_iter().map(|(path, content)| {
            let failed = |error: String| {
                let url = &settings.repo_url;
                Stop::failed(format!("unable to process file '{path}' from repository '{url}': {error}"))
            };
            let objects =
                objects(content).map_err(|error| failed(format!("unable to parse file: {error}")))?;
            let (directory, name) = path.rsplit_once('/').unwrap_or((".", path));
            let set = |object| {
                let set = self.path_parameters(settings, directory, Some(name), object);
                self.with_values(set, values)
                    .map_err(|error| failed(format!("failed to append templated values: {error}")))
            };
            objects.into_iter().map(set).collect()
        });
        Ok(sets.collect::<Result<Vec<Vec<_>>, _>>()?.into_iter().flatten().collect())
    }

    /// Returns a question about a repository. The project of the template says whose credentials are used; that of a Go template is not known
    /// yet.
    fn paths_request(&self, settings: &RepositoryGenerator, key: &str, value: &Value) -> Value {
        let project = template_project(self.set).unwrap_or_default();
        json!({"repoURL": settings.repo_url, "revision": settings.revision, "project": project, key: value})
    }

    /// Returns parameters with those of a directory, and of a file in it.
    fn path_parameters(
        &self,
        settings: &RepositoryGenerator,
        directory: &str,
        file: Option<&str>,
        object: Map<String, Value>,
    ) -> ParameterSet {
        let basename = directory.rsplit('/').next().unwrap_or(directory);
        let segments: Vec<&str> = directory.split('/').collect();
        let mut names =
            vec![("basename", basename.to_owned()), ("basenameNormalized", normalize(basename.as_bytes()))];
        if let Some(file) = file {
            names.push(("filename", file.to_owned()));
            names.push(("filenameNormalized", normalize(file.as_bytes())));
        }
        let prefix = &settings.path_param_prefix;
        let values = match self.mode {
            TemplateMode::Go => {
                let mut path = json!({"path": directory, "segments": segments});
                for (key, value) in names {
                    path[key] = Value::from(value);
                }
                let mut values = object;
                if prefix.is_empty() {
                    values.insert("path".to_owned(), path);
                } else {
                    values.insert(prefix.clone(), json!({"path": path}));
                }
                values
            }
            TemplateMode::Fast => {
                let strings = flatten(&object).into_iter().map(|(key, value)| (key, Value::from(value)));
                let mut values: Map<String, Value> = strings.collect();
                let path = if prefix.is_empty() { "path".to_owned() } else { format!("{prefix}.path") };
                let names =
                    names.into_iter().map(|(key, value)| (format!("{path}.{key}"), Value::from(value)));
                values.extend(names);
                let segments = segments.iter().enumerate();
                values.extend(
                    segments.map(|(index, segment)| (format!("{path}[{index}]"), Value::from(*segment))),
                );
                values.insert(path, Value::from(directory));
                values
            }
        };
        ParameterSet { values, ..ParameterSet::default() }
    }
}

/// Returns the object of a file, or its list of objects. An empty file has an empty object.
fn objects(content: &str) -> Result<Vec<Map<String, Value>>, String> {
    let document = read_document(content.as_bytes());
    let document = document.map_err(|error| format!("error converting YAML to JSON: yaml: {error}"))?;
    let mismatch = |found: &Value, expected: &str| {
        format!(
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} into Go value of type {expected}",
            go_type(found)
        )
    };
    match document.map(|document| document.to_any_value()) {
        None | Some(Value::Null) => Ok(vec![Map::new()]),
        Some(Value::Object(object)) => Ok(vec![object]),
        Some(Value::Array(items)) => items
            .into_iter()
            .map(|item| match item {
                Value::Object(object) => Ok(object),
                Value::Null => Ok(Map::new()),
                other => Err(mismatch(&other, "map[string]interface {}")),
            })
            .collect(),
        Some(other) => Err(mismatch(&other, "[]map[string]interface {}")),
    }
}

#[cfg(test)]
mod tests;
