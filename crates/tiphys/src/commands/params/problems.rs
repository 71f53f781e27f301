//! What does not fit: values against the announcements, and values that claim the same variable.

use std::collections::HashMap;

use tiphys_engine::{HELM_PLUGIN, HELM_VALUE_PREFIXES, SET_PREFIX, is_held_as_text};
use tiphys_params::{Collision, ItemType, JsonType, ProblemKind, Winner, check_values, collisions};
use tiphys_render::AnnouncedSource;

use super::asked::Asked;
use super::row::Row;

/// What is said of a number that helm does not take for one (`spec/helm-parity.md` 1.4).
const TEXT_FOR_A_NUMBER: &str = "helm has this number as a text: --set reads whole numbers of up to 64 bits, and `forceString` and \
                                 `set-string` none; write it into `values-object` or into a value file";

/// What is wrong with one parameter.
#[derive(Clone, Debug, Default)]
pub(super) struct Trouble {
    /// Whether a value is due, and none is there.
    pub(super) missing: bool,
    /// What is wrong, without the parameter's name.
    pub(super) texts: Vec<String>,
    /// Announced names that look alike, if it is not announced.
    pub(super) suggestions: Vec<String>,
}

/// The troubles of one source's parameters.
pub(super) struct Problems(HashMap<String, Trouble>);

impl Problems {
    /// Checks everything. A plugin that announces nothing leaves all names free.
    pub(super) fn of(source: &AnnouncedSource) -> Self {
        let mut found = Self::unchecked(source);
        if source.announcements.is_empty() {
            return found;
        }
        for problem in check_values(&source.announcements, &source.parameters) {
            if is_unlisted_value(source, &problem.parameter, &problem.kind) {
                continue;
            }
            let trouble = found.0.entry(problem.parameter).or_default();
            trouble.missing |= problem.kind == ProblemKind::Required;
            trouble.texts.push(problem.kind.to_string());
            if let ProblemKind::Unannounced { suggestions } = problem.kind {
                trouble.suggestions = suggestions;
            }
        }
        for announcement in &source.announcements {
            let name = &announcement.name;
            let problem = match &announcement.item_type {
                Some(ItemType::Number) => TEXT_FOR_A_NUMBER.to_owned(),
                Some(ItemType::OneOf(types)) if !types.allow(JsonType::String) => {
                    format!("helm has this value as a text, and it has to be {}", types.words())
                }
                _ => continue,
            };
            if is_held_as_text(&source.source, source.plugin.as_deref(), name) {
                found.0.entry(name.clone()).or_default().texts.push(problem);
            }
        }
        found
    }

    /// What can be said without the announcements.
    pub(super) fn unchecked(source: &AnnouncedSource) -> Self {
        let mut found: HashMap<String, Trouble> = HashMap::new();
        for collision in collisions(&source.parameters, &source.build_environment) {
            let text = hidden_by(&collision);
            for hidden in &collision.hidden {
                let texts = &mut found.entry(hidden.name.clone()).or_default().texts;
                if !texts.contains(&text) {
                    texts.push(text.clone());
                }
            }
        }
        Self(found)
    }

    /// The trouble of a parameter, which is told once.
    pub(super) fn take(&mut self, name: &str) -> Trouble {
        self.0.remove(name).unwrap_or_default()
    }
}

/// Whether this is a value of a chart that the chart does not list, which is no trouble: it takes such values too. One whose name looks
/// like another one's is more likely a slip of the pen, unless it is that value, set in another way: from a file, or forced to be a text.
fn is_unlisted_value(source: &AnnouncedSource, name: &str, kind: &ProblemKind) -> bool {
    let ProblemKind::Unannounced { suggestions } = kind else { return false };
    let path = HELM_VALUE_PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
    let is_announced =
        |path| source.announcements.iter().any(|one| one.name.strip_prefix(SET_PREFIX) == Some(path));
    source.plugin.as_deref() == Some(HELM_PLUGIN)
        && path.is_some_and(|path| suggestions.is_empty() || is_announced(path))
}

/// Warns of all that is wrong, each with the place of the value, or of its source if there is none.
pub(super) fn warn_of(asked: &Asked, rows: &[Row<'_>]) {
    for row in rows {
        for text in &row.trouble.texts {
            let place = row.location().cloned().unwrap_or_else(|| asked.location(row.source));
            tracing::warn!("{place}: parameter `{}`: {text}", row.name);
        }
    }
}

fn hidden_by(collision: &Collision) -> String {
    let winner = match &collision.winner {
        Winner::BuildEnvironment => "the build environment".to_owned(),
        Winner::Parameter(origin) => origin.to_string(),
    };
    let hidden: Vec<String> = collision.hidden.iter().map(ToString::to_string).collect();
    format!("{} has the value of {winner}; hidden: {}", collision.variable, hidden.join(", "))
}
