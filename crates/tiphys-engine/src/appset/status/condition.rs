//! The conditions of a set.

use serde_json::{Value, json};

use super::{Outcome, StatusInput};

/// Message of `ParametersGenerated`, in the words of Argo CD 3.6.1.
const PARAMETERS_GENERATED: &str = "All parameters have been generated successfully";

const ERROR_OCCURRED: &str = "ErrorOccurred";
const RESOURCES_UP_TO_DATE: &str = "ResourcesUpToDate";

/// Our types.
const DELETIONS_GUARDED: &str = "DeletionsGuarded";
const ROLLING_SYNC_UNSUPPORTED: &str = "RollingSyncUnsupported";
const OTHER_CONTROLLER: &str = "OtherController";

/// The types whose conditions are replaced. Those of a rollout are removed, because the set has none.
const EVALUATED: [&str; 8] = [
    ERROR_OCCURRED,
    "ParametersGenerated",
    RESOURCES_UP_TO_DATE,
    "RolloutProgressing",
    "InvalidRolloutConfig",
    DELETIONS_GUARDED,
    ROLLING_SYNC_UNSUPPORTED,
    OTHER_CONTROLLER,
];

/// A condition, without its time.
struct Condition<'a> {
    kind: &'static str,
    status: &'static str,
    reason: &'static str,
    message: &'a str,
}

/// Returns the new conditions, sorted by type. An unchanged one keeps its time.
pub(super) fn merged(input: &StatusInput<'_>) -> Vec<Value> {
    let evaluated = match input.outcome {
        Outcome::RollingSync => &[ROLLING_SYNC_UNSUPPORTED][..],
        Outcome::OtherController(_) => &[OTHER_CONTROLLER],
        _ => &EVALUATED,
    };
    let current = input.status["conditions"].as_array().map_or(&[][..], Vec::as_slice);
    let is_evaluated = |condition: &&Value| evaluated.iter().any(|kind| condition["type"] == *kind);
    let kept = current.iter().filter(|condition| !is_evaluated(condition)).cloned();
    let message = input.outcome.message();
    let new = conditions(input.outcome, &message).into_iter();
    let mut merged: Vec<Value> = kept.chain(new.map(|one| one.merged(current, input.now))).collect();
    merged.sort_by(|one, other| one["type"].as_str().cmp(&other["type"].as_str()));
    merged
}

fn conditions<'a>(outcome: &Outcome, message: &'a str) -> Vec<Condition<'a>> {
    let condition = |kind, status, reason, message| Condition { kind, status, reason, message };
    let generated = condition("ParametersGenerated", "True", "ParametersGenerated", PARAMETERS_GENERATED);
    let failed = |reason| {
        [
            condition(ERROR_OCCURRED, "True", reason, message),
            condition(RESOURCES_UP_TO_DATE, "False", "ErrorOccurred", message),
        ]
    };
    match outcome {
        Outcome::UpToDate => vec![
            condition(ERROR_OCCURRED, "False", "ApplicationSetUpToDate", message),
            generated,
            condition(RESOURCES_UP_TO_DATE, "True", "ApplicationSetUpToDate", message),
        ],
        Outcome::Failed { reason, .. } => {
            let not_generated = condition("ParametersGenerated", "False", "ErrorOccurred", message);
            let parameters = if reason.has_parameters() { generated } else { not_generated };
            failed(reason.word()).into_iter().chain([parameters]).collect()
        }
        Outcome::Guarded(_) => {
            let guarded = condition(DELETIONS_GUARDED, "True", "TooManyDeletions", message);
            failed("TooManyDeletions").into_iter().chain([generated, guarded]).collect()
        }
        Outcome::RollingSync => {
            vec![condition(ROLLING_SYNC_UNSUPPORTED, "True", "RollingSyncUnsupported", message)]
        }
        Outcome::OtherController(_) => {
            vec![condition(OTHER_CONTROLLER, "True", "OtherControllerActive", message)]
        }
    }
}

impl Condition<'_> {
    /// Returns the current condition if it is the same, else this one with the current time.
    fn merged(&self, current: &[Value], now: &str) -> Value {
        let fields = [
            ("type", self.kind),
            ("status", self.status),
            ("reason", self.reason),
            ("message", self.message),
        ];
        let is_same = |one: &&Value| fields.iter().all(|(field, value)| one[field] == *value);
        current.iter().find(is_same).cloned().unwrap_or_else(|| {
            json!({
                "type": self.kind,
                "status": self.status,
                "reason": self.reason,
                "message": self.message,
                "lastTransitionTime": now,
            })
        })
    }
}
