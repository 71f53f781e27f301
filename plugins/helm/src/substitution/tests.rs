//! Substitution of variables.

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
fn build_environment_is_expanded_as_go_does() {
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
fn other_variables_are_not_expanded() {
    for text in ["$HOME", "$KUBE_VERSION", "$PARAM_X", "$ARGOCD_APP_PARAMETERS", "$NOPE"] {
        assert_eq!(environment().substitute(text), "", "{text}");
    }
}
