use super::*;

fn values(text: &str) -> Vec<(&'static str, Vec<String>)> {
    let written = parse(text.as_bytes()).expect("it is valid");
    let texts = |written: WrittenKey| written.values.into_iter().map(|(value, _)| value).collect();
    written.into_iter().map(|written| (written.setting.key, texts(written))).collect()
}

#[test]
fn values_are_strings_or_lists() {
    let text = "
store: apps
repo: [., 'https://git.example.org/a.git@v1=b']
plugins: []
kubeVersion: [\"1.33\", prod=1.32]
projects:
strict: yes
appsets: none
limits: {plugin-timeout: 2m, manifests-max: 5}
";
    let expected = [
        ("store", vec!["apps"]),
        ("repo", vec![".", "https://git.example.org/a.git@v1=b"]),
        ("plugins", vec![]),
        ("kubeVersion", vec!["1.33", "prod=1.32"]),
        ("strict", vec!["true"]),
        ("appsets", vec!["none"]),
        ("limits", vec!["plugin-timeout=2m", "manifests-max=5"]),
    ];
    let expected = expected.map(|(key, values)| (key, values.into_iter().map(str::to_owned).collect()));
    assert_eq!(values(text), expected);
    assert_eq!(values(""), []);
    assert_eq!(values("# nothing\n"), []);
}

#[test]
fn mistakes_have_their_position() {
    for (text, expected) in [
        ("plugin: x", "1:1: unknown key \"plugin\"; did you mean plugins?"),
        ("store: a\nkubeversion: '1'", "2:1: unknown key \"kubeversion\"; did you mean kubeVersion?"),
        (
            "secrets: x",
            "1:1: unknown key \"secrets\"; known keys: store, storeRender, repo, repoRevision, plugins, noDefaultPlugins, pluginSockets, helmEngine, passEnv, \
             privateView, clusterState, context, kubeconfig, inCluster, clusterSecrets, kubeVersion, apiVersions, projects, projectRules, \
             strict, appsets, answers, connectTo, gitFileGlobbing, argocdNamespace, tracking, trustRepositorySettings, \
             allowFileRepositories, ownCredentialsViaProxy, cacheDir, offline, refresh, limits",
        ),
        (
            "store: a\nrepositories: b",
            "2:1: \"repositories\" is now \"repo\"; `tiphys config migrate` renames it",
        ),
        (
            "limits: {plugin-timeout: 64KiB}",
            "1:26: limits: plugin-timeout: expected a time in whole seconds, or with s, m or h, found \"64KiB\"",
        ),
        (
            "limits: {plugin-timeout: 1.5}",
            "1:26: limits.plugin-timeout: expected a whole number or a string, found a number",
        ),
        ("limits: {timeout: 1}", "1:19: limits: unknown limit \"timeout\""),
        (
            "limits: {plugin-timout: 1}",
            "1:25: limits: unknown limit \"plugin-timout\"; did you mean plugin-timeout?",
        ),
        ("limits: [1]", "1:9: limits: expected an object with the names of limits, found a list"),
        ("store: a\nstore: b", "2:1: store is given twice"),
        (
            "kubeVersion: 1.33",
            "1:14: kubeVersion: expected a string or a list of strings, found a number; put it in quotes",
        ),
        ("kubeVersion: [1.33]", "1:15: kubeVersion[0]: expected a string, found a number; put it in quotes"),
        ("store: {a: b}", "1:8: store: expected a string or a list of strings, found an object"),
        ("store: [a, '-']", "1:12: store[1]: \"-\" names no path"),
        ("plugins: ''", "1:10: plugins: \"\" names no path"),
        (
            "repo: 'https://x='",
            "1:7: repo: \"https://x=\" names no folder; write DIR, @BRANCH=DIR, URL=DIR or URL@REV=DIR",
        ),
        ("apiVersions: [prod=@]", "1:15: apiVersions[0]: \"prod=@\" names a file; list the versions here"),
        ("kubeVersion: ''", "1:14: kubeVersion: \"\" is empty"),
        ("projectRules: off", "1:15: projectRules: expected a string, found a boolean; put it in quotes"),
        ("projectRules: enforced", "1:15: projectRules: unknown \"enforced\"; use enforce, warn"),
        ("answers: [a.json]", "1:10: answers: expected a string, found a list"),
        ("answers: '-'", "1:10: answers: \"-\" names no path"),
        ("strict: 'true'", "1:9: strict: expected a boolean, found a string"),
        ("- store", "1:1: expected an object, found a list"),
        ("store: a\n---\nstore: b", "3:1: a project file has one document"),
        ("store: [", "1:9: expected a value"),
    ] {
        let Invalid { position, message } = parse(text.as_bytes()).expect_err(text);
        assert_eq!(format!("{position}: {message}"), expected);
    }
}
