//! What stands for a name, and what does not.

use super::BuildEnvironment;

fn environment() -> BuildEnvironment {
    BuildEnvironment::new([
        ("ARGOCD_APP_NAME", "my-app"),
        ("ARGOCD_APP_NAMESPACE", "my-ns"),
        ("ARGOCD_ENV_STAGE", "prod"),
        ("ARGOCD_APP_PARAMETERS", "[]"),
        ("HOME", "/somewhere"),
        ("KUBE_VERSION", "1.34.2"),
        ("PARAM_X", "x"),
    ])
}

#[test]
fn names_of_the_build_environment_are_replaced_as_go_does() {
    let cases = [
        ("$ARGOCD_APP_NAME", "my-app"),
        ("${ARGOCD_APP_NAME}-x", "my-app-x"),
        ("a-$ARGOCD_APP_NAMESPACE/$ARGOCD_ENV_STAGE.yaml", "a-my-ns/prod.yaml"),
        ("$$ARGOCD_APP_NAME", "$ARGOCD_APP_NAME"),
        ("{$ARGOCD_APP_NAME,b}", "{my-app,b}"),
        ("$argocd_app_name", ""),
        ("${ARGOCD_APP_NAME", "ARGOCD_APP_NAME"),
        ("a$", "a$"),
    ];
    for (text, expected) in cases {
        assert_eq!(environment().substitute(text), expected, "{text}");
    }
}

#[test]
fn nothing_else_of_the_environment_can_be_reached() {
    for text in ["$HOME", "$KUBE_VERSION", "$PARAM_X", "$ARGOCD_APP_PARAMETERS", "$NOPE"] {
        assert_eq!(environment().substitute(text), "", "{text}");
    }
}
