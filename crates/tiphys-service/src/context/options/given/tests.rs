use std::collections::BTreeSet;

use tiphys_model::limits::Limit;

use super::{GivenSettings, SettingOrigin};
use crate::context::host::Host;
use crate::context::options::{ServiceOptions, Setting, SettingKind};
use crate::context::project_file::{ProjectFile, ProjectFileChoice};

/// Returns a value that a setting accepts, and that is not the default.
fn value(setting: &Setting) -> &'static str {
    match &setting.kind {
        _ if setting == Setting::CONNECT_TO => "a:1=b:2",
        SettingKind::Limits => "manifests-max=7",
        SettingKind::Word(words) => words.last().expect("words").0,
        SettingKind::Switch(_) => "true",
        _ => ".",
    }
}

fn host(dir: &std::path::Path, variables: &[(&str, &str)]) -> Host {
    Host::for_tests(variables).in_dir(dir)
}

fn applied(given: &GivenSettings, host: &Host) -> ServiceOptions {
    let mut options = ServiceOptions::default();
    given.apply(&mut options, host).expect("valid values");
    options
}

/// Writes the fields that settings change.
fn changed(options: &ServiceOptions) -> String {
    macro_rules! fields {
        ($($field:ident),* $(,)?) => { [$(format!("{}: {:?}", stringify!($field), options.$field)),*].join("\n") };
    }
    fields!(
        store,
        no_default_plugins,
        plugins,
        plugin_sockets,
        helm_engine,
        pass_env,
        repositories,
        repository_revisions,
        trust_repository_settings,
        allow_file_repositories,
        own_credentials_via_proxy,
        cluster_state,
        kubernetes,
        project_rules,
        projects,
        strict,
        argocd_namespace,
        destinations,
        tracking,
        cache_dir,
        offline,
        refresh,
        limits,
        sets,
        answers,
        connect_to,
        file_globbing,
        private_view,
    )
}

#[test]
fn each_setting_is_given_by_argument_variable_and_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let default = changed(&ServiceOptions::default());
    for setting in Setting::ALL.iter().copied() {
        let value = value(setting);
        let plain = host(dir, &[]);
        let mut by_argument = GivenSettings::default();
        by_argument.set_arguments([format!("{}={value}", setting.key).as_str()]).expect("a valid value");
        let by_argument = changed(&applied(&by_argument, &plain));
        assert_ne!(by_argument, default, "{} changes nothing", setting.key);
        let variable = host(dir, &[(&setting.variable(), value)]);
        let by_variable = GivenSettings::of_variables(&variable).expect("a valid value");
        assert_eq!(changed(&applied(&by_variable, &plain)), by_argument, "{}", setting.key);
        let written = match setting.kind {
            SettingKind::Switch(_) => value.to_owned(),
            SettingKind::Limits => "{manifests-max: 7}".to_owned(),
            _ => format!("'{value}'"),
        };
        std::fs::write(dir.join("file.yaml"), format!("{}: {written}\n", setting.key)).expect("written");
        let file = ProjectFile::find(&ProjectFileChoice::Named("file.yaml".into()), &plain);
        let mut by_file = GivenSettings::default();
        by_file.add_file(&file.expect("a valid file").expect("a file")).expect("usable");
        assert_eq!(by_file.by(setting), (setting != Setting::LIMITS).then_some(SettingOrigin::ProjectFile));
        assert_eq!(changed(&applied(&by_file, &plain)), by_argument, "{}", setting.key);
    }
}

#[test]
fn each_setting_and_limit_has_its_own_variable() {
    let settings = Setting::ALL.iter().map(|setting| setting.variable());
    let variables: BTreeSet<String> =
        settings.chain(Limit::ALL.iter().map(|limit| limit.variable())).collect();
    assert_eq!(variables.len(), Setting::ALL.len() + Limit::ALL.len());
}

#[test]
fn values_that_give_clusters() {
    let cases = [
        (Setting::IN_CLUSTER, "true", true),
        (Setting::IN_CLUSTER, "1", true),
        (Setting::IN_CLUSTER, "False", false),
        (Setting::IN_CLUSTER, "0", false),
        (Setting::CLUSTER_STATE, "live", true),
        (Setting::CLUSTER_STATE, "false", true),
        (Setting::STORE, "apps", false),
    ];
    for (setting, value, expected) in cases {
        assert_eq!(setting.gives_clusters(&[value.to_owned()]), expected, "{}={value}", setting.key);
    }
    assert!(!Setting::CONTEXT.gives_clusters(&[]));
}

#[test]
fn project_file_needs_the_consent_that_the_table_states() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join(".git")).expect("a checkout");
    let host = host(folder.path(), &[]);
    let needs_consent = |setting: &Setting, value: &str| {
        let value = if setting == Setting::LIMITS { "{manifests-max: 7}" } else { value };
        std::fs::write(folder.path().join(".tiphys.yaml"), format!("{}: {value}\n", setting.key))
            .expect("written");
        let file = ProjectFile::find(&ProjectFileChoice::Search, &host).expect(value).expect("a file");
        file.values().first().expect("a value").needs_consent()
    };
    for setting in Setting::ALL.iter().copied() {
        let (inside, outside) = match &setting.kind {
            SettingKind::Switch(_) => (vec!["false", "true"], None),
            SettingKind::Word(_) => (setting.words(), None),
            _ => (vec!["inside"], Some("../outside")),
        };
        let all: Vec<&str> = inside.iter().copied().chain(outside).collect();
        let expected = match setting.consent_text().as_str() {
            "yes" => all.clone(),
            "for paths that lead out of the checkout" => vec!["../outside"],
            "" => Vec::new(),
            word => all.iter().copied().filter(|value| word == format!("for `{value}`")).collect(),
        };
        let found: Vec<&str> = all.iter().copied().filter(|value| needs_consent(setting, value)).collect();
        assert_eq!(found, expected, "{}", setting.key);
    }
}

#[test]
fn default_of_the_table_is_that_of_the_options() {
    let host = Host::for_tests(&[]);
    let default = changed(&ServiceOptions::default());
    for setting in Setting::ALL
        .iter()
        .copied()
        .filter(|setting| !setting.default.is_empty() && *setting != Setting::STORE)
    {
        let mut given = GivenSettings::default();
        given.set_arguments([format!("{}={}", setting.key, setting.default).as_str()]).expect("valid");
        assert_eq!(changed(&applied(&given, &host)), default, "{}", setting.key);
    }
}

#[test]
fn option_wins_over_variable_and_variable_over_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    std::fs::write(
        dir.join("file.yaml"),
        "tracking: label\nappsets: none\nkubeVersion: '1.30'\nlimits: {manifests-max: 1, plugin-grace: 1, plugin-jobs: 1}\n",
    )
    .expect("written");
    let host = host(
        dir,
        &[
            ("TIPHYS_APPSETS", "all"),
            ("TIPHYS_TRACKING", "none"),
            ("TIPHYS_PLUGIN_GRACE", "2"),
            ("TIPHYS_PLUGIN_JOBS", "2"),
        ],
    );
    let mut given = GivenSettings::of_variables(&host).expect("valid");
    given.set_arguments(["tracking=annotation", "limits=plugin-jobs=3"]).expect("valid");
    let file = ProjectFile::find(&ProjectFileChoice::Named("file.yaml".into()), &host).expect("valid");
    given.add_file(&file.expect("a file")).expect("usable");
    let of = |setting: &Setting| given.get(setting).map(|given| (given.values.join(","), given.origin));
    assert_eq!(of(Setting::TRACKING), Some(("annotation".to_owned(), SettingOrigin::Option)));
    assert_eq!(of(Setting::APPSETS), Some(("all".to_owned(), SettingOrigin::Variable)));
    assert_eq!(of(Setting::KUBE_VERSION), Some(("1.30".to_owned(), SettingOrigin::ProjectFile)));
    let limits: Vec<(&str, SettingOrigin, u64)> =
        given.limits().map(|(limit, origin, value)| (limit.name(), origin, value)).collect();
    assert_eq!(
        limits,
        [
            ("manifests-max", SettingOrigin::ProjectFile, 1),
            ("plugin-grace", SettingOrigin::Variable, 2),
            ("plugin-jobs", SettingOrigin::Option, 3)
        ]
    );
}

#[test]
fn invalid_value_names_its_setting_and_origin() {
    let folder = tempfile::tempdir().expect("a folder");
    for (argument, variable, expected) in [
        ("plugins=", None, "--plugins: must not be empty"),
        ("trustRepositorySettings=", None, "--config trustRepositorySettings: must not be empty"),
        (
            "tracking=x",
            None,
            "--config tracking: unknown \"x\"; use annotation, label, annotation+label, none",
        ),
        ("repo=none", None, "--repo: FOLDER/none is not a folder"),
        ("offline=yes", None, "--offline: unknown \"yes\"; use true, false"),
        ("traking=label", None, "unknown key \"traking\"; did you mean tracking?"),
        ("kube-version=1.30", None, "unknown key \"kube-version\"; did you mean kubeVersion?"),
        (
            "plugin-timeout=3s",
            None,
            "\"plugin-timeout\" is a limit; write it below limits:, or --limit plugin-timeout=VALUE",
        ),
        ("repositories=.", None, "\"repositories\" is now \"repo\"; `tiphys config migrate` renames it"),
        (
            "limits=plugin-timeout=1GiB",
            None,
            "--limit: plugin-timeout: expected a time in whole seconds, or with s, m or h, found \"1GiB\"",
        ),
        ("limits=timeout", None, "--limit: \"timeout\": expected NAME=VALUE"),
        (
            "strict=true",
            Some(("TIPHYS_TRACKING", "x")),
            "TIPHYS_TRACKING: unknown \"x\"; use annotation, label, annotation+label, none",
        ),
        (
            "strict=true",
            Some(("TIPHYS_PLUGIN_TIMEOUT", "x")),
            "TIPHYS_PLUGIN_TIMEOUT: expected a time in whole seconds, or with s, m or h, found \"x\"",
        ),
    ] {
        let variables: Vec<(&str, &str)> = variable.into_iter().collect();
        let host = host(folder.path(), &variables);
        let result = GivenSettings::of_variables(&host).and_then(|mut given| {
            given.set_arguments([argument])?;
            given.apply(&mut ServiceOptions::default(), &host)
        });
        let error =
            result.expect_err(argument).message().replace(&folder.path().display().to_string(), "FOLDER");
        assert_eq!(error, expected);
    }
}
