//! Any text of parameters is read or refused; what is read comes to a plugin as it was read.

use tiphys_model::params::{Parameters, app_parameters, parameter_variables};
use tiphys_yaml::read_json;

pub(crate) fn body(bytes: &[u8]) {
    let Some(parameters) = decode(bytes) else { return };
    let list = parameters.list.as_deref();
    let text = app_parameters(list);
    let again = decode(text.as_bytes()).expect("what a plugin gets can be read");
    assert_eq!(again.list, parameters.list, "{text}");
    let parameters_or_none = list.unwrap_or_default();
    let nameless = parameters_or_none.iter().any(|parameter| parameter.name.is_empty());
    assert_eq!(parameters.require_names().is_err(), nameless);
    for variable in parameter_variables(parameters_or_none) {
        let rest = variable.name.strip_prefix("PARAM_").expect("every variable has the prefix");
        let allowed = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        assert!(rest.chars().all(allowed), "{}", variable.name);
    }
}

fn decode(bytes: &[u8]) -> Option<Parameters> {
    Parameters::decode(&read_json(bytes).ok()?, "").ok()
}
