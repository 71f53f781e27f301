//! Events of a set about its Applications, in Argo CD's words.

use tiphys_go::strconv::quote;

use super::Action;

/// An event of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The reason.
    pub reason: &'static str,
    /// The message.
    pub message: String,
}

impl Event {
    /// The type of every event: Argo CD reports failures as conditions.
    pub const TYPE: &'static str = "Normal";
}

impl Action {
    /// Returns an event for each request of the action, in their order. It is recorded when the request succeeds.
    pub fn events(&self, name: &str) -> Vec<Event> {
        let name = quote(name);
        let event = |reason, message| Event { reason, message };
        match self {
            Self::None => Vec::new(),
            Self::Create(_) => vec![event("created", format!("created Application {name}"))],
            Self::Patch(_) => vec![event("updated", format!("updated Application {name}"))],
            Self::Delete { finalizers_patch } => {
                let removal = format!(
                    "Updated Application {name} finalizer before deletion, because application has an invalid destination"
                );
                let removal = finalizers_patch.as_ref().map(|_| event("Updated", removal));
                let deletion = event("Deleted", format!("Deleted Application {name}"));
                removal.into_iter().chain([deletion]).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests;
