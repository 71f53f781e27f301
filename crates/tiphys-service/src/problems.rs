//! Problems of parameters: values that do not fit their announcements, and values of the same environment variable.

use std::collections::{HashMap, HashSet};

use tiphys_engine::{
    ChartValue, HELM_PLUGIN, HELM_VALUE_PREFIXES, LookUp, SET_PREFIX, ValuePath, chart_values,
    is_held_as_text,
};
use tiphys_model::params::{
    Collision, ItemType, JsonType, Parameter, ProblemKind, Winner, check_values, collisions,
};
use tiphys_render::AnnouncedSource;

/// The problem of a number that Helm reads as a string.
const TEXT_FOR_A_NUMBER: &str = "helm has this number as a text: --set reads whole numbers of up to 64 bits, and `forceString` and \
                                 `set-string` none; write it into `values-object` or into a value file";

/// The kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum ProblemRule {
    /// A required value is missing.
    Missing,
    /// The plugin does not announce the parameter.
    Unannounced,
    /// The value has another type than the announced one.
    Type,
    /// The value is not one of the announced choices.
    Choice,
    /// The value does not reach the plugin: another one has its environment variable.
    Hidden,
    /// The chart does not read the value.
    NoEffect,
}

impl ProblemRule {
    /// Returns the lower-case name: `missing`, `unannounced`, `type`, `choice`, `hidden` or `no-effect`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    fn of(kind: &ProblemKind) -> Self {
        match kind {
            ProblemKind::Required => Self::Missing,
            ProblemKind::Unannounced { .. } => Self::Unannounced,
            ProblemKind::NotAChoice { .. } => Self::Choice,
            ProblemKind::WrongField { .. }
            | ProblemKind::NotANumber(_)
            | ProblemKind::NotABoolean(_)
            | ProblemKind::NotOneOf { .. } => Self::Type,
        }
    }
}

/// The problems of one parameter.
#[derive(Clone, Debug, Default)]
pub struct ParameterProblems {
    /// Whether a required value is missing.
    pub missing: bool,
    /// The problems.
    pub list: Vec<ParameterProblem>,
    /// Similar announced names, if the parameter is not announced.
    pub suggestions: Vec<String>,
}

/// A problem of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterProblem {
    /// The kind.
    pub rule: ProblemRule,
    /// The description, without the parameter's name.
    pub message: String,
    /// The part of the inline values that has the problem, if the parameter has these.
    pub part: Option<ValuePath>,
}

impl ParameterProblem {
    fn new(rule: ProblemRule, message: String) -> Self {
        Self { rule, message, part: None }
    }
}

/// The problems of one source's parameters.
pub(crate) struct Problems(HashMap<String, ParameterProblems>);

impl ParameterProblems {
    /// Returns the problems, without the parameter's name.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|problem| problem.message.as_str())
    }
}

impl Problems {
    /// Checks the values. A plugin that announces nothing accepts all names.
    pub(crate) fn of(source: &AnnouncedSource) -> Self {
        let mut found = Self::unchecked(source);
        if source.announcements.is_empty() {
            return found;
        }
        // The values of dynamic parameters are unknown, their names are not.
        let dynamic: HashSet<String> = source.look_ups.iter().map(LookUp::shown_name).collect();
        let named = dynamic.iter().map(|name| Parameter { name: name.clone(), ..Parameter::default() });
        let parameters: Vec<Parameter> = source.parameters.iter().cloned().chain(named).collect();
        let read = read_values(source);
        for problem in check_values(&source.announcements, &parameters) {
            if problem.kind == ProblemKind::Required && dynamic.contains(&problem.parameter) {
                continue;
            }
            let is_unannounced = matches!(problem.kind, ProblemKind::Unannounced { .. });
            if is_unannounced && read.contains(&problem.parameter)
                || is_unlisted_value(source, &problem.parameter, &problem.kind)
            {
                continue;
            }
            let problems = found.0.entry(problem.parameter).or_default();
            problems.missing |= problem.kind == ProblemKind::Required;
            let rule = ProblemRule::of(&problem.kind);
            problems.list.push(ParameterProblem::new(rule, problem.kind.to_string()));
            if let ProblemKind::Unannounced { suggestions } = problem.kind {
                problems.suggestions = suggestions;
            }
        }
        for (parameter, problem) in without_effect(source) {
            let list = &mut found.0.entry(parameter).or_default().list;
            // A similar name is announced, so it is probably a typo.
            if list.iter().all(|known| known.rule == ProblemRule::NoEffect) {
                list.push(problem);
            }
        }
        for announcement in &source.announcements {
            let name = &announcement.name;
            let problem = match &announcement.item_type {
                Some(ItemType::Number) => TEXT_FOR_A_NUMBER.to_owned(),
                Some(ItemType::OneOf(types)) if !types.allow(JsonType::String) => {
                    format!("helm passes this value as a string, and the schema requires {}", types.words())
                }
                _ => continue,
            };
            let has_other_type = found
                .0
                .get(name)
                .is_some_and(|known| known.list.iter().any(|known| known.rule == ProblemRule::Type));
            if !has_other_type && is_held_as_text(&source.source, source.plugin.as_deref(), name) {
                let problem = ParameterProblem::new(ProblemRule::Type, problem);
                found.0.entry(name.clone()).or_default().list.push(problem);
            }
        }
        found
    }

    /// Checks what does not depend on the announcements.
    pub(crate) fn unchecked(source: &AnnouncedSource) -> Self {
        let mut found: HashMap<String, ParameterProblems> = HashMap::new();
        // The Helm plugin reads its parameters as JSON, where every name has its own value.
        if source.plugin.as_deref() == Some(HELM_PLUGIN) {
            return Self(found);
        }
        for collision in collisions(&source.parameters, &source.build_environment) {
            let text = hidden_by(&collision);
            for hidden in &collision.hidden {
                let list = &mut found.entry(hidden.name.clone()).or_default().list;
                let problem = ParameterProblem::new(ProblemRule::Hidden, text.clone());
                if !list.contains(&problem) {
                    list.push(problem);
                }
            }
        }
        Self(found)
    }

    /// Removes and returns the problems of a parameter.
    pub(crate) fn take(&mut self, name: &str) -> ParameterProblems {
        self.0.remove(name).unwrap_or_default()
    }
}

/// Returns what is wrong with these parameters of a source, each with its name.
pub(crate) fn problems_of(source: &AnnouncedSource, names: &[String]) -> Vec<String> {
    let mut problems = Problems::of(source);
    let texts = |name: &String| {
        let found = problems.take(name);
        found.texts().map(|text| format!("parameter `{name}`: {text}")).collect::<Vec<_>>()
    };
    names.iter().flat_map(texts).collect()
}

/// Returns whether a value is not listed by its chart, which is allowed. A name that is similar to a listed one is probably a mistake,
/// unless it sets the listed value in another way: from a file, or as a string.
fn is_unlisted_value(source: &AnnouncedSource, name: &str, kind: &ProblemKind) -> bool {
    let ProblemKind::Unannounced { suggestions } = kind else { return false };
    let path = HELM_VALUE_PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
    let is_announced =
        |path| source.announcements.iter().any(|one| one.name.strip_prefix(SET_PREFIX) == Some(path));
    source.plugin.as_deref() == Some(HELM_PLUGIN)
        && path.is_some_and(|path| suggestions.is_empty() || is_announced(path))
}

/// Returns the parameters of the set values that a file of the chart names, whether or not it lists them.
fn read_values(source: &AnnouncedSource) -> HashSet<String> {
    let values = chart_values(&source.source, source.plugin.as_deref());
    let Some(chart) = source.chart.as_ref().filter(|_| !values.is_empty()) else { return HashSet::new() };
    let Some(keys) = chart.keys() else { return HashSet::new() };
    values.into_iter().filter(|value| keys.can_read(&value.path)).map(|value| value.parameter).collect()
}

/// Returns the values that have no effect in their chart, each with its parameter. Parameters that are announced, or a part of one, have an
/// effect. Inline values are among the announced ones, whether the chart reads them or not.
fn without_effect(source: &AnnouncedSource) -> Vec<(String, ParameterProblem)> {
    let (Some(chart), plugin) = (&source.chart, source.plugin.as_deref()) else { return Vec::new() };
    let announced: HashSet<&str> = source.announcements.iter().map(|one| one.name.as_str()).collect();
    let is_unlisted = |value: &ChartValue| {
        value.is_inline() || !value.names().any(|name| announced.contains(name.as_str()))
    };
    if !chart_values(&source.source, plugin).iter().any(is_unlisted) {
        return Vec::new();
    }
    let Some(keys) = chart.keys() else { return Vec::new() };
    let unread = keys.without_effect(&source.source, plugin).into_iter().filter(is_unlisted);
    let problem = |value: ChartValue| {
        let name = value.shown_name();
        let subject = if value.is_inline() { format!("`{name}`") } else { "it".to_owned() };
        let message = format!("{subject} has no effect in {}", keys.chart());
        let part = value.is_inline().then_some(value.path);
        (value.parameter, ParameterProblem { rule: ProblemRule::NoEffect, message, part })
    };
    unread.map(problem).collect()
}

fn hidden_by(collision: &Collision) -> String {
    let winner = match &collision.winner {
        Winner::BuildEnvironment => "the build environment".to_owned(),
        Winner::Parameter(origin) => origin.to_string(),
    };
    let hidden: Vec<String> = collision.hidden.iter().map(ToString::to_string).collect();
    format!("{} has the value of {winner}; hidden: {}", collision.variable, hidden.join(", "))
}
