//! The variables that a plugin's commands get for one source, in addition to the build environment.

use tiphys_model::params::{APP_PARAMETERS, EnvVar, PLUGIN_ENV_PREFIX, app_parameters, parameter_variables};
use tiphys_model::resources::{EnvEntry, PluginSource};

use crate::BuildEnvironment;

/// Returns the variables of `plugin.env`, in order: the prefix with the name, and the value with `$` references to the build environment
/// replaced. As in Argo CD, an entry without name and value is a variable too.
pub fn plugin_env(env: &[EnvEntry], build: &BuildEnvironment) -> Vec<EnvVar> {
    env.iter()
        .map(|entry| EnvVar::new(format!("{PLUGIN_ENV_PREFIX}{}", entry.name), build.expand(&entry.value)))
        .collect()
}

/// Returns all variables of a request, in Argo CD's order. Without a plugin block, there are no parameters, and `ARGOCD_APP_PARAMETERS` is
/// absent. Of several variables with one name, the last takes effect.
pub fn request_environment(build: &BuildEnvironment, block: Option<&PluginSource>) -> Vec<EnvVar> {
    let mut variables = build.variables().to_vec();
    if let Some(block) = block {
        variables.extend(plugin_env(&block.env, build));
        let parameters = block.parameters.as_deref();
        variables.push(EnvVar::new(APP_PARAMETERS, app_parameters(parameters)));
        variables.extend(parameter_variables(parameters.unwrap_or_default()));
    }
    variables
}

#[cfg(test)]
mod tests;
