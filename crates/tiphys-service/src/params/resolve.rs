//! Reading the value of one dynamic parameter, to explain it.

use serde_json::Value;
use tiphys_engine::{LookUp, LookUpProblem, Resolution, Used};
use tiphys_render::{RenderError, UnresolvedParameter, UnresolvedParameters};

use super::inspect::ApplicationParameters;
use super::row::ParameterRow;
use crate::context::projects::ProjectRule;
use crate::context::workspace::Workspace;
use crate::error::ServiceError;

/// The value of a dynamic parameter at this time.
#[derive(Debug)]
pub struct ResolvedReference {
    /// The rule that permits it, with the scope of the kind in the cluster. None if it is not permitted, or the cluster was not asked.
    pub rule: Option<ProjectRule>,
    /// The object's resource version. None if the object does not exist, has none, or was not read.
    pub resource_version: Option<String>,
    /// The value, or why there is none.
    pub result: Result<UsedValue, LookUpProblem>,
    /// The error of the application that the problem causes.
    pub failure: Option<ServiceError>,
}

/// A value that was read from a cluster.
#[derive(Clone)]
pub struct UsedValue {
    /// Where it is from.
    pub used: Used,
    /// The value as JSON. None if it was read from a Secret.
    pub value: Option<Value>,
}

impl std::fmt::Debug for UsedValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UsedValue").field("used", &self.used).finish_non_exhaustive()
    }
}

/// Reads the value of a parameter within the rules of the application's project. None if the parameter is not dynamic.
pub async fn resolve(
    workspace: &Workspace,
    parameters: &ApplicationParameters,
    row: &ParameterRow<'_>,
) -> Option<ResolvedReference> {
    let (_, look_up) = row.dynamic?;
    let application = &parameters.stored.application;
    let values = &workspace.values;
    let (mut rule, mut resource_version) = (None, None);
    let reading = async {
        let permitted = values.permit(application, look_up, &[]).await?;
        rule = Some(ProjectRule::from(permitted.rule()));
        let object = values.object(&permitted).await?;
        let version = object.as_ref().and_then(|object| object.pointer("/metadata/resourceVersion"));
        resource_version = version.and_then(Value::as_str).map(str::to_owned);
        permitted.value(look_up, object.as_ref())
    };
    let result = reading.await.map(|resolution| used_value(look_up, &resolution));
    let failure = result.as_ref().err().map(|problem| {
        let several = application.spec.effective_sources().len() > 1;
        let unresolved = UnresolvedParameter {
            source: several.then_some(row.source.position),
            name: look_up.name().to_owned(),
            problem: problem.clone(),
        };
        let error = RenderError::Values(UnresolvedParameters(vec![unresolved]));
        ServiceError::application(&parameters.stored, error)
    });
    Some(ResolvedReference { rule, resource_version, result, failure })
}

fn used_value(look_up: &LookUp, Resolution { parameter, used }: &Resolution) -> UsedValue {
    UsedValue { used: *used, value: look_up.shown_value(parameter) }
}
