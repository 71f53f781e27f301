use tiphys_model::params::Parameter;
use tiphys_model::resources::{EnvEntry, PluginSource};

use super::request_environment;
use crate::BuildEnvironment;

fn names_and_values(block: Option<&PluginSource>) -> Vec<String> {
    let build = BuildEnvironment::parse(["ARGOCD_APP_NAME=web"]).expect("valid variables");
    request_environment(&build, block).iter().map(|v| format!("{}={}", v.name, v.value)).collect()
}

#[test]
fn parameters_variable_is_absent_without_plugin_block() {
    assert_eq!(names_and_values(None), ["ARGOCD_APP_NAME=web"]);
}

#[test]
fn absent_parameters_are_null_and_empty_ones_a_list() {
    let mut block = PluginSource::default();
    assert_eq!(names_and_values(Some(&block)), ["ARGOCD_APP_NAME=web", "ARGOCD_APP_PARAMETERS=null"]);
    block.parameters = Some(Vec::new());
    assert_eq!(names_and_values(Some(&block)), ["ARGOCD_APP_NAME=web", "ARGOCD_APP_PARAMETERS=[]"]);
}

#[test]
fn variables_are_replaced_in_env_but_not_in_parameters() {
    let block = PluginSource {
        env: vec![EnvEntry { name: "X".to_owned(), value: "$ARGOCD_APP_NAME".to_owned() }],
        parameters: Some(vec![Parameter {
            name: "a-b".to_owned(),
            string: Some("$ARGOCD_APP_NAME".to_owned()),
            ..Parameter::default()
        }]),
        ..PluginSource::default()
    };
    assert_eq!(
        names_and_values(Some(&block)),
        [
            "ARGOCD_APP_NAME=web",
            "ARGOCD_ENV_X=web",
            r#"ARGOCD_APP_PARAMETERS=[{"name":"a-b","string":"$ARGOCD_APP_NAME"}]"#,
            "PARAM_A_B=$ARGOCD_APP_NAME",
        ]
    );
}
