//! Mistakes in an ApplicationSet that its document shows, without asking anything.

use std::collections::BTreeMap;

use serde_json::Value;
use tiphys_go::gotemplate::{Limits, MissingKey, Template, replace};
use tiphys_model::resources::{
    APPLICATION_SET_GENERATOR, APPLICATION_SET_TEMPLATE, ApplicationSet, Decoded, FieldPath, Generator,
    GeneratorEntry, GeneratorKind, GoStruct, ListGenerator, map_strings,
};
use tiphys_yaml::{Position, write_go_json};

use crate::appset::{JqRemoval, ParameterSelector, is_known_policy};

/// A mistake, or a field without an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetFinding {
    /// The rule.
    pub rule: SetRule,
    /// The position in the document.
    pub position: Position,
    /// The message, which begins with the field's path.
    pub message: String,
}

/// A rule of [`check_set`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum SetRule {
    /// Argo CD's schema does not have the field.
    UnknownField,
    /// A key is given twice.
    RepeatedKey,
    /// An entry of generators has an unknown one, none or several.
    Generator,
    /// A string cannot be parsed as a template.
    Template,
    /// A template or selector that has no effect.
    NoEffect,
    /// A value that Argo CD refuses.
    Refused,
    /// Applications cannot have different names.
    Name,
}

impl SetRule {
    /// Returns the name for messages.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns whether the set cannot work.
    pub fn is_error(self) -> bool {
        matches!(self, Self::Generator | Self::Template | Self::Refused | Self::Name)
    }
}

/// Returns the findings in the order of the document. `limits` are those of templates. `jq` compiles an expression; its error is in gojq's
/// words.
pub fn check_set(
    decoded: &Decoded<ApplicationSet>,
    limits: Limits,
    jq: &dyn Fn(&str) -> Result<JqRemoval, String>,
) -> Vec<SetFinding> {
    let set = &decoded.value;
    let mut check = Check { set, limits, findings: Vec::new() };
    check.decoding(decoded);
    check.settings(jq);
    for entry in &set.generators {
        check.entry(entry, true);
    }
    let spec = FieldPath::default().key("spec");
    check.templates(&APPLICATION_SET_TEMPLATE, &set.template, &spec.key("template"));
    if let Some(patch) = &set.template_patch {
        check.template(patch, &spec.key("templatePatch"));
    }
    check.name(&spec.key("template").key("metadata").key("name"));
    check.findings.sort_by_key(|finding| (finding.position, finding.rule));
    check.findings
}

struct Check<'a> {
    set: &'a ApplicationSet,
    limits: Limits,
    findings: Vec<SetFinding>,
}

impl Check<'_> {
    fn add(&mut self, rule: SetRule, path: &FieldPath, message: &str) {
        let position = self.set.position_of(path);
        self.findings.push(SetFinding { rule, position, message: format!("{path}: {message}") });
    }

    fn decoding(&mut self, decoded: &Decoded<ApplicationSet>) {
        for unknown in &decoded.findings.unknown {
            let (position, message) = (unknown.position, unknown.to_string());
            self.findings.push(SetFinding { rule: SetRule::UnknownField, position, message });
        }
        for warning in &decoded.findings.warnings {
            let position = warning.position.unwrap_or_else(|| self.set.position_of(&FieldPath::default()));
            let message = warning.message.clone();
            self.findings.push(SetFinding { rule: SetRule::RepeatedKey, position, message });
        }
    }

    /// Checks the fields other than generators and templates.
    fn settings(&mut self, jq: &dyn Fn(&str) -> Result<JqRemoval, String>) {
        let spec = FieldPath::default().key("spec");
        if let Err(error) = MissingKey::parse(&self.set.go_template_options)
            && self.set.go_template
        {
            self.add(SetRule::Refused, &spec.key("goTemplateOptions"), &error.to_string());
        }
        if let Some(policy) = self.set.applications_sync.as_deref().filter(|policy| !is_known_policy(policy))
        {
            let message =
                format!("{policy:?} is not a policy; use create-only, create-update, create-delete or sync");
            self.add(SetRule::Refused, &spec.key("syncPolicy").key("applicationsSync"), &message);
        }
        let rules = spec.key("ignoreApplicationDifferences");
        for (index, rule) in self.set.ignore_application_differences.iter().enumerate() {
            for (number, expression) in rule.jq_path_expressions.iter().enumerate() {
                if let Err(error) = jq(expression) {
                    let path = rules.index(index).key("jqPathExpressions").index(number);
                    self.add(SetRule::Refused, &path, &error);
                }
            }
        }
        if self.set.generators.is_empty() {
            self.add(SetRule::Generator, &spec.key("generators"), "has no generator");
        }
    }

    /// Checks an entry of a list of generators.
    fn entry(&mut self, entry: &GeneratorEntry, is_top_level: bool) {
        for unknown in &entry.unknown {
            let suggestion = unknown.suggestion.as_ref().map(|name| format!("; did you mean {name}?"));
            let message =
                format!("{} is not a generator here{}", unknown.path, suggestion.unwrap_or_default());
            self.findings.push(SetFinding { rule: SetRule::Generator, position: unknown.position, message });
        }
        match entry.generators.len() {
            0 if entry.unknown.is_empty() => self.add(SetRule::Generator, &entry.path, "has no generator"),
            0 | 1 => {}
            _ if is_top_level => {
                self.add(SetRule::NoEffect, &entry.path, "has several generators; write an entry for each");
            }
            _ => self.add(SetRule::Generator, &entry.path, "has several generators, of which none runs"),
        }
        if let Some(selector) = &entry.selector {
            let path = entry.path.key("selector");
            if let Err(error) = ParameterSelector::new(selector) {
                self.add(SetRule::Refused, &path, &error.to_string());
            }
            if write_go_json(&entry.value["selector"]).contains("{{") {
                self.add(
                    SetRule::NoEffect,
                    &path,
                    "selectors are read before templates, so a template in them never matches",
                );
            }
        }
        for generator in &entry.generators {
            self.generator(generator);
        }
    }

    fn generator(&mut self, generator: &Generator) {
        let path = &generator.path;
        match &generator.kind {
            GeneratorKind::List(list) => self.list(list, path),
            GeneratorKind::Git(settings) | GeneratorKind::Oci(settings)
                if settings.directories.is_empty() && settings.files.is_empty() =>
            {
                self.add(SetRule::Refused, path, "names neither directories nor files");
            }
            GeneratorKind::Git(settings) | GeneratorKind::Oci(settings)
                if !settings.directories.is_empty() && !settings.files.is_empty() =>
            {
                self.add(SetRule::NoEffect, &path.key("files"), "has no effect beside directories");
            }
            GeneratorKind::Matrix(children) => {
                if children.len() != 2 {
                    self.add(
                        SetRule::Generator,
                        &path.key("generators"),
                        "a matrix has exactly two generators",
                    );
                }
                for (index, child) in children.iter().enumerate() {
                    self.entry(child, false);
                    if index == 1 {
                        self.templates(&APPLICATION_SET_GENERATOR, &child.value, &child.path);
                    }
                }
            }
            GeneratorKind::Merge(merge) => {
                if merge.generators.len() < 2 {
                    self.add(
                        SetRule::Generator,
                        &path.key("generators"),
                        "a merge has two generators or more",
                    );
                }
                if merge.merge_keys.is_empty() {
                    self.add(SetRule::Generator, &path.key("mergeKeys"), "a merge needs keys");
                }
                for child in &merge.generators {
                    self.entry(child, false);
                }
            }
            _ => {}
        }
        for (key, value) in &generator.values {
            self.template(value, &path.key("values").key(key));
        }
        if let Some(template) = &generator.template {
            self.templates(&APPLICATION_SET_TEMPLATE, template, &path.key("template"));
        }
    }

    /// Without Go templates, parameters of a list are strings.
    fn list(&mut self, list: &ListGenerator, path: &FieldPath) {
        if self.set.go_template {
            return;
        }
        for (index, element) in list.elements.iter().enumerate() {
            for (key, value) in element.as_object().into_iter().flatten() {
                if !(value.is_string() || key == "values" && value.is_object()) {
                    let path = path.key("elements").index(index).key(key);
                    self.add(SetRule::Refused, &path, "is not a string, which needs goTemplate: true");
                }
            }
        }
    }

    /// Checks all strings of a canonical value.
    fn templates(&mut self, kind: &'static GoStruct, value: &Value, at: &FieldPath) {
        let mut found = Vec::new();
        let mut copy = value.clone();
        let walked: Result<(), _> = map_strings(kind, &mut copy, &mut |site| {
            found.push((FieldPath([at.0.as_slice(), site.path].concat()), site.text.to_owned()));
            Ok::<_, String>(site.text.to_owned())
        });
        debug_assert!(walked.is_ok(), "the callback does not fail");
        for (path, text) in found {
            self.template(&text, &path);
        }
    }

    fn template(&mut self, text: &str, path: &FieldPath) {
        if !text.contains("{{") {
            return;
        }
        if self.set.go_template {
            if let Err(error) = Template::parse("base", text, self.limits) {
                self.add(SetRule::Template, path, &error.to_string());
            }
            return;
        }
        if let Err(error) = replace(text, &BTreeMap::new()) {
            self.add(SetRule::Template, path, &error.to_string());
        } else if let Some(tag) = tags(text).find(|tag| tag.starts_with('.') || tag.contains(['|', '"', '(']))
        {
            let message = format!("{{{{{tag}}}}} is never replaced without goTemplate: true");
            self.add(SetRule::NoEffect, path, &message);
        }
    }

    /// Checks that the Applications can have different names.
    fn name(&mut self, path: &FieldPath) {
        let own = self.set.generators.iter().flat_map(|entry| &entry.generators);
        let mut own = own.filter_map(|generator| generator.template.as_ref());
        let is_named =
            |template: &Value| template["metadata"]["name"].as_str().is_some_and(|name| !name.is_empty());
        if self.set.template_patch.is_some() || own.any(is_named) {
            return;
        }
        match self.set.template["metadata"]["name"].as_str().unwrap_or_default() {
            "" => self.add(SetRule::Name, path, "is missing, so no Application has a name"),
            name if !name.contains("{{") && self.generates_several() => {
                self.add(SetRule::Name, path, "is the same for all Applications, so none is created");
            }
            _ => {}
        }
    }

    /// Whether it has more than one parameter set, which only a list tells.
    fn generates_several(&self) -> bool {
        let entries = self.set.generators.iter().filter(|entry| entry.selector.is_none());
        let generators = entries.flat_map(|entry| &entry.generators);
        let elements = generators.map(|generator| match &generator.kind {
            GeneratorKind::List(list) => list.elements.len(),
            _ => 0,
        });
        elements.sum::<usize>() > 1
    }
}

/// Returns the tags of a fasttemplate.
fn tags(text: &str) -> impl Iterator<Item = &str> {
    text.split("{{").skip(1).filter_map(|rest| rest.split_once("}}")).map(|(tag, _)| tag.trim())
}

#[cfg(test)]
mod tests;
