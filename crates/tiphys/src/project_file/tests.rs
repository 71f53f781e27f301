use clap::{CommandFactory as _, FromArgMatches as _};

use super::*;
use crate::args::Arguments;

fn parsed(arguments: &[&str], variables: &[(&str, &str)]) -> (GivenKeys, CommonArgs) {
    let arguments = [&["tiphys", "render"], arguments].concat();
    let matches = Arguments::command().try_get_matches_from(&arguments).expect("valid arguments");
    let host = Process::for_tests(&arguments, variables);
    let given = GivenKeys::new(&matches, &host);
    (given, Arguments::from_arg_matches(&matches).expect("valid arguments").common)
}

#[test]
fn options_that_are_given_are_known() {
    for (arguments, key, option) in [
        (&["--store", "a"][..], ProjectKey::Store, "--store"),
        (&["--repo", "."], ProjectKey::Repositories, "--repo"),
        (&["--plugins", "p"], ProjectKey::Plugins, "--plugins"),
        (&["--cluster-state", "live"], ProjectKey::ClusterState, "--cluster-state"),
        (&["--kube-version", "1.33"], ProjectKey::KubeVersion, "--kube-version"),
        (&["--api-versions", "v1"], ProjectKey::ApiVersions, "--api-versions"),
        (&["--projects", "p"], ProjectKey::Projects, "--projects"),
        (&["--project-rules", "enforce"], ProjectKey::ProjectRules, "--project-rules"),
        (&["--strict"], ProjectKey::Strict, "--strict"),
        (&["--appsets", "auto"], ProjectKey::AppSets, "--appsets"),
        (
            &["--trust-repository-settings"],
            ProjectKey::TrustRepositorySettings,
            "--trust-repository-settings",
        ),
    ] {
        let (given, _) = parsed(arguments, &[]);
        assert_eq!(given.by(key), Some(GivenBy::Option(option)));
        assert_eq!(given.0.len(), 1, "{arguments:?}");
    }
    // An option of some commands.
    let arguments = ["tiphys", "appset", "generate", "--answers", "a.json"];
    let matches = Arguments::command().try_get_matches_from(arguments).expect("valid arguments");
    let given = GivenKeys::new(&matches, &Process::for_tests(&arguments, &[]));
    assert_eq!(given.by(ProjectKey::Answers), Some(GivenBy::Option("--answers")));
    let (given, _) = parsed(&[], &[("TIPHYS_PLUGINS", "p")]);
    assert_eq!(given.by(ProjectKey::Plugins), Some(GivenBy::Variable("TIPHYS_PLUGINS")));
    assert_eq!(given.0.len(), 1);
}

#[test]
fn config_names_a_file_the_base_or_none() {
    let choice = |arguments: &[&str]| choice(&parsed(arguments, &[]).1);
    assert_eq!(choice(&[]), ProjectFileChoice::Search);
    assert_eq!(choice(&["--config", "none"]), ProjectFileChoice::None);
    assert_eq!(choice(&["--config", "./none"]), ProjectFileChoice::Named("./none".into()));
    assert_eq!(choice(&["--config", "base"]), ProjectFileChoice::Base);
    assert_eq!(choice(&["--config", "./base"]), ProjectFileChoice::Named("./base".into()));
}
