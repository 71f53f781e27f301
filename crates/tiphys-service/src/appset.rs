//! Use cases about `ApplicationSets`: previews, their comparison, one template, and plugin services.

mod changes;
mod diff;
mod plugin_answers;
mod plugin_call;
mod preview;
mod reconcile;
mod recorded;
mod template;

pub use changes::preview_change;
pub use diff::compare_previews;
pub use plugin_answers::PluginAnswers;
pub use plugin_call::{PluginCall, PluginCallResult, call_plugin_service};
pub use preview::{ControllerSettings, ExistingApplications, PreviewRequest, Previews, SetPreview, preview};
pub use reconcile::{
    ControlPlaneObjects, DecodedSet, GenerateRequest, GeneratedSet, generate_set, plan_deletion,
};
pub use recorded::{RecordedParameters, recorded_parameters};
pub use template::{SetTemplate, render_for_set};
