//! A trial of a plugin service: the request of the controller, and what is wrong with the answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use tiphys_generators::{
    ConfigObject, ConfigObjects, ObjectOrigin, PluginError, PluginErrorCause, PluginForm, PluginLimits,
    PluginQuestion, PluginServices, PluginSettings,
};
use tiphys_model::access::Secret;
use tiphys_yaml::write_go_json;

use crate::context::service::Service;
use crate::error::{Remedy, ServiceError};
use crate::warning::Warning;

/// The token of the second request.
const WRONG_TOKEN: &str = "tiphys-wrong-token";

/// A request to a plugin service.
#[derive(Clone, Debug)]
pub struct PluginCall {
    /// `baseUrl` of a `ConfigMap`.
    pub base_url: String,
    /// The token; empty if none is sent.
    pub token: Secret,
    /// Name of the set.
    pub application_set: String,
    /// `input.parameters`.
    pub parameters: Map<String, Value>,
    /// The contract.
    pub form: PluginForm,
}

/// The answer of a plugin service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginCallResult {
    /// The parameter sets; none if they cannot be read.
    pub parameters: Option<Vec<Map<String, Value>>>,
    /// Problems of the answer, or of the service's check of the token.
    pub findings: Vec<Warning>,
}

/// Sends the request once, and if it succeeds again with a wrong token and without one. There is an error if no response arrives.
pub async fn call_plugin_service(
    service: &Service,
    call: &PluginCall,
) -> Result<PluginCallResult, ServiceError> {
    if service.options().offline {
        return Err(ServiceError::invalid_input("a plugin service is not called offline"));
    }
    let mut result = PluginCallResult::default();
    let mut asked = ask(service, call, &call.token, "").await;
    if let Err(error @ PluginError { cause: PluginErrorCause::BareList, .. }) = &asked {
        result.findings.push(finding(error, call));
        asked = ask(service, call, &call.token, "bare-list").await;
    }
    match asked {
        Ok(sets) => {
            result.findings.extend(findings(&sets).into_iter().map(Warning::new));
            result.parameters = Some(sets);
        }
        Err(error) => match error.cause {
            PluginErrorCause::Settings => return Err(ServiceError::invalid_input(error.message)),
            PluginErrorCause::NoResponse => return Err(ServiceError::rendering(error.message)),
            PluginErrorCause::Status(_) => {
                result.findings.push(finding(&error, call));
                return Ok(result);
            }
            PluginErrorCause::BareList | PluginErrorCause::Answer => {
                result.findings.push(finding(&error, call));
            }
        },
    }
    for (token, with) in [(WRONG_TOKEN, "with a wrong token"), ("", "without a token")] {
        let found = match ask(service, call, &Secret::new(token), "").await {
            Err(PluginError { cause: PluginErrorCause::Status(401 | 403), .. }) => continue,
            Err(PluginError { cause: PluginErrorCause::Status(status), .. }) => format!("status {status}"),
            Err(PluginError { cause: PluginErrorCause::NoResponse, .. }) => "no response".to_owned(),
            Err(_) | Ok(_) => "an answer".to_owned(),
        };
        let problem = format!("a request {with} gets {found}; expected status 401 or 403");
        result.findings.push(Warning::new(problem));
    }
    Ok(result)
}

/// Sends one request. An empty contract is that of the form.
async fn ask(
    service: &Service,
    call: &PluginCall,
    token: &Secret,
    contract: &str,
) -> Result<Vec<Map<String, Value>>, PluginError> {
    let host = service.host();
    let environment = host.environment();
    let limits = PluginLimits { attempts_max: 1, ..PluginLimits::from(&service.options().limits) };
    let connect_to = service.options().connect_to.clone();
    let settings = PluginSettings { connect_to, limits, ..PluginSettings::new("argocd", environment) };
    let mut data = BTreeMap::from([
        ("baseUrl".to_owned(), Secret::new(call.base_url.as_str())),
        ("token".to_owned(), Secret::new("$token")),
    ]);
    if !contract.is_empty() {
        data.insert("contract".to_owned(), Secret::new(contract));
    }
    let objects = CallObjects { data, token: token.clone() };
    let question = PluginQuestion {
        application_set: &call.application_set,
        config_map: "plugin",
        form: call.form,
        parameters: &write_go_json(&Value::Object(call.parameters.clone())),
    };
    let services = PluginServices::new(settings, Arc::new(objects), Arc::clone(service.plugin_connections()));
    services.try_ask(&question).await
}

/// The objects of one request.
struct CallObjects {
    data: BTreeMap<String, Secret>,
    token: Secret,
}

impl ConfigObjects for CallObjects {
    fn config_map(&self, _namespace: &str, _name: &str) -> Result<Option<ConfigObject>, String> {
        Ok(Some(object(self.data.clone(), "its ConfigMap")))
    }

    fn secret(&self, _namespace: &str, _name: &str) -> Result<Option<ConfigObject>, String> {
        Ok(Some(object(BTreeMap::from([("token".to_owned(), self.token.clone())]), "the token")))
    }
}

fn object(data: BTreeMap<String, Secret>, name: &str) -> ConfigObject {
    ConfigObject { data, secret_type: String::new(), origin: ObjectOrigin::Caller, name: name.to_owned() }
}

/// Returns the finding about a response that is not an answer.
fn finding(error: &PluginError, call: &PluginCall) -> Warning {
    let path = match call.form {
        PluginForm::Shipped => "api/v1/getparams.execute",
        PluginForm::Proposal => "v1/generator.getParams",
    };
    let remedy = match error.cause {
        PluginErrorCause::Status(401 | 403) if call.token.is_empty() => {
            return Warning::new(error.message.clone()).with_remedy(Remedy::NameToken);
        }
        PluginErrorCause::Status(404 | 405) => {
            format!("; the server must answer POST below its address at /{path}")
        }
        PluginErrorCause::BareList => {
            "; Argo CD rejects it and expects {\"output\":{\"parameters\":[…]}}".to_owned()
        }
        _ => String::new(),
    };
    Warning::new(format!("{}{remedy}", error.message))
}

/// Returns what is wrong with parameter sets: one finding for each kind and place, which names the first set.
fn findings(sets: &[Map<String, Value>]) -> Vec<String> {
    if sets.is_empty() {
        let problem =
            "the answer has no parameter sets: the controller would delete every Application of the set";
        return vec![problem.to_owned()];
    }
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for (set, number) in sets.iter().zip(1..) {
        let mut note = |problem: String| {
            found.entry(problem).or_insert(number);
        };
        if set.contains_key("generator") {
            note("key \"generator\" is replaced by the input of the generator".to_owned());
        }
        if set.contains_key("values") {
            note("key \"values\" is replaced if the generator has `values`".to_owned());
        }
        for (key, value) in set {
            for path in numbers_with_exponent(key, value) {
                note(format!("the number {path:?} prints with an exponent, such as 1e+06; answer a string"));
            }
        }
    }
    let mut found: Vec<(usize, String)> =
        found.into_iter().map(|(problem, number)| (number, problem)).collect();
    found.sort();
    found.into_iter().map(|(number, problem)| format!("parameter set {number}: {problem}")).collect()
}

/// Returns the paths of numbers that Go prints with an exponent.
fn numbers_with_exponent(path: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Object(object) => object
            .iter()
            .flat_map(|(key, value)| numbers_with_exponent(&format!("{path}.{key}"), value))
            .collect(),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items
                .flat_map(|(index, value)| numbers_with_exponent(&format!("{path}.{index}"), value))
                .collect()
        }
        Value::Number(number) => {
            let size = number.as_f64().map_or(0.0, f64::abs);
            let has_exponent = size >= 1e6 || (size > 0.0 && size < 1e-4);
            has_exponent.then(|| path.to_owned()).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
