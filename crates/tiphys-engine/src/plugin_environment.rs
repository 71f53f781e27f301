//! What a plugin's commands get for one source, beside the build environment.

use tiphys_api::{EnvEntry, PluginSource};
use tiphys_params::{EnvVar, PLUGIN_ENV_PREFIX, app_parameters, parameter_variables};

use crate::BuildEnvironment;

/// The variables of `plugin.env`, in order: names verbatim behind the prefix, values with `$` replaced from the build environment
/// alone (`spec/cmp.md` 4.2, row 12). An entry without name and value is a variable too (14, row 4.2).
pub fn plugin_env(env: &[EnvEntry], build: &BuildEnvironment) -> Vec<EnvVar> {
    env.iter()
        .map(|entry| EnvVar::new(format!("{PLUGIN_ENV_PREFIX}{}", entry.name), build.expand(&entry.value)))
        .collect()
}

/// All variables of a request, in Argo CD's order (`spec/cmp.md` 4.2, rows 1 to 14). Without a plugin block there are no
/// parameters, and the variable that would hold them is absent. Of two variables of one name the later wins.
pub fn request_environment(build: &BuildEnvironment, block: Option<&PluginSource>) -> Vec<EnvVar> {
    let mut variables = build.variables().to_vec();
    if let Some(block) = block {
        variables.extend(plugin_env(&block.env, build));
        let parameters = block.parameters.as_deref();
        variables.push(EnvVar::new("ARGOCD_APP_PARAMETERS", app_parameters(parameters)));
        variables.extend(parameter_variables(parameters.unwrap_or_default()));
    }
    variables
}

#[cfg(test)]
mod tests;
