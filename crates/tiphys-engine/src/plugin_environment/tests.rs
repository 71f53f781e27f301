use tiphys_api::{EnvEntry, PluginSource};
use tiphys_params::Parameter;

use super::request_environment;
use crate::BuildEnvironment;

fn names_and_values(block: Option<&PluginSource>) -> Vec<String> {
    let build = BuildEnvironment::parse(["ARGOCD_APP_NAME=web"]).expect("it holds");
    request_environment(&build, block).iter().map(|v| format!("{}={}", v.name, v.value)).collect()
}

#[test]
fn without_a_plugin_block_there_is_no_parameters_variable() {
    assert_eq!(names_and_values(None), ["ARGOCD_APP_NAME=web"]);
}

#[test]
fn an_empty_plugin_block_gives_null_parameters_and_an_empty_list_gives_an_empty_one() {
    let mut block = PluginSource::default();
    assert_eq!(names_and_values(Some(&block)), ["ARGOCD_APP_NAME=web", "ARGOCD_APP_PARAMETERS=null"]);
    block.parameters = Some(Vec::new());
    assert_eq!(names_and_values(Some(&block)), ["ARGOCD_APP_NAME=web", "ARGOCD_APP_PARAMETERS=[]"]);
}

#[test]
fn variables_are_substituted_and_parameters_are_not() {
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
