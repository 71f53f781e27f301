//! Kustomizations with paths inside and outside of the repository.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::RepoPath;

use super::{KUSTOMIZATION_BYTES_MAX, check};

/// Creates a repository with the directories `base` and `apps/web`, and a directory beside it.
fn repository(folder: &Path) -> PathBuf {
    let root = folder.join("repo");
    for dir in ["repo/apps/web", "repo/base", "outside"] {
        fs::create_dir_all(folder.join(dir)).unwrap();
    }
    fs::write(folder.join("outside/kustomization.yaml"), "resources: [x.yaml]\n").unwrap();
    root
}

/// Returns the error for the directory `apps/web` with this kustomization, or an empty string.
fn checked(root: &Path, kustomization: &str) -> String {
    fs::write(root.join("apps/web/kustomization.yaml"), kustomization).unwrap();
    match check(root, &RepoPath::new("apps/web").unwrap()) {
        Ok(()) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn kustomization_does_not_leave_repository() {
    let folder = tempfile::tempdir().unwrap();
    let root = repository(folder.path());
    let inside = [
        "resources: [../../base, ../other/new.yaml, a.yaml, ./b, '']",
        "resources: ['https://github.com/org/repo//a/../../x?ref=v1', 'git@github.com:org/repo.git']",
        "resources: [../../absent]",
        "patches: [{path: ../../base/p.yaml}, {patch: '[{op: remove, path: /spec/x}]'}]",
        "labels: [{fields: [{path: /metadata/labels}]}]",
        "namePrefix: ../../../outside",
        "configMapGenerator: [{literals: ['A=../../../x'], files: [a=b/c, ../d]}]",
        "generators: [\"apiVersion: example.com/v1\\nkind: G\\nmetadata: {name: g}\\npath: ../../base\\n\"]",
        "helmCharts: [{name: ../../../x}]",
        "helmGlobals: {chartHome: a/b}\nhelmCharts: [{name: ../../../../x}]",
        "resources: {",
        "- a",
        "",
    ];
    for kustomization in inside {
        assert_eq!(checked(&root, kustomization), "", "{kustomization}");
    }
    let outside = [
        ("resources: [../../../outside]", "resources", "../../../outside"),
        // The result does not depend on whether the path exists.
        ("resources: [../../../absent]", "resources", "../../../absent"),
        ("resources: [/etc]", "resources", "/etc"),
        ("resources: [a/../../../../outside]", "resources", "a/../../../../outside"),
        ("resources: [\"a\\n/../../../../outside\"]", "resources", "a\n/../../../../outside"),
        ("Resources: [../../../outside]", "resources", "../../../outside"),
        ("reſources: [../../../outside]", "resources", "../../../outside"),
        ("resources: [../../../outside]\nresources: []", "resources", "../../../outside"),
        ("x: &a {resources: [../../../outside]}\n<<: *a", "resources", "../../../outside"),
        ("{\"resources\": [\"../../../outside\"]}", "resources", "../../../outside"),
        ("resources: [../../../outside]\n---\n[", "resources", "../../../outside"),
        ("bases: [../../../x]", "bases", "../../../x"),
        ("components: [../../../x]", "components", "../../../x"),
        ("crds: [../../../x]", "crds", "../../../x"),
        ("configurations: [../../../x]", "configurations", "../../../x"),
        ("generators: [../../../x]", "generators", "../../../x"),
        ("transformers: [../../../x]", "transformers", "../../../x"),
        ("validators: [../../../x]", "validators", "../../../x"),
        ("patchesStrategicMerge: [../../../x]", "patchesStrategicMerge", "../../../x"),
        ("patches: [{path: ../../../x}]", "patches", "../../../x"),
        ("patchesJson6902: [{path: ../../../x}]", "patchesJson6902", "../../../x"),
        ("replacements: [{path: ../../../x}]", "replacements", "../../../x"),
        ("openapi: {path: ../../../x}", "openapi", "../../../x"),
        ("configMapGenerator: [{files: [k=../../../x]}]", "configMapGenerator", "../../../x"),
        ("configMapGenerator: [{envs: [../../../x]}]", "configMapGenerator", "../../../x"),
        ("secretGenerator: [{env: ../../../x}]", "secretGenerator", "../../../x"),
        ("helmGlobals: {chartHome: ../../../x}", "helmGlobals", "../../../x"),
        ("helmCharts: [{name: ../../../../x}]", "helmCharts", "../../../../x"),
        ("helmGlobals: {chartHome: ../..}\nhelmCharts: [{name: ../x}]", "helmCharts", "../x"),
        (
            "helmChartInflationGenerator: [{chartName: ../../../../x}]",
            "helmChartInflationGenerator",
            "../../../../x",
        ),
        ("helmCharts: [{valuesFile: ../../../x}]", "helmCharts", "../../../x"),
        ("helmCharts: [{additionalValuesFiles: [../../../x]}]", "helmCharts", "../../../x"),
        ("helmChartInflationGenerator: [{values: /x}]", "helmChartInflationGenerator", "/x"),
    ];
    for (kustomization, field, path) in outside {
        let expected = format!(
            "apps/web/kustomization.yaml: {field}: {path:?} is outside of the repository; use a path inside of it, or a URL"
        );
        assert_eq!(checked(&root, kustomization), expected, "{kustomization}");
    }
}

#[test]
fn helm_configuration_of_repository_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let root = repository(folder.path());
    for (field, inner) in [("helmGlobals", "configHome"), ("helmChartInflationGenerator", "helmHome")] {
        let expected = format!(
            "apps/web/kustomization.yaml: {field}: {inner} is refused because helm runs plugins in that directory; remove it"
        );
        assert_eq!(checked(&root, &format!("{field}: {{{inner}: ./helm}}")), expected);
    }
}

#[test]
fn base_does_not_leave_repository() {
    let folder = tempfile::tempdir().unwrap();
    let root = repository(folder.path());
    symlink("../base", root.join("apps/link")).unwrap();
    symlink("../../outside", root.join("apps/out")).unwrap();
    fs::write(root.join("base/Kustomization"), "resources: [../apps/web]\ncomponents: [../../outside]\n")
        .unwrap();
    let expected = "base/Kustomization: components: \"../../outside\" is outside of the repository; use a path inside of it, or a URL";
    assert_eq!(checked(&root, "resources: [../../base]"), expected);
    // Paths are relative to the directory behind a link.
    assert_eq!(checked(&root, "resources: [../link]"), expected);
    fs::write(root.join("base/Kustomization"), "resources: [../apps/web]\ncomponents: [../apps]\n").unwrap();
    assert_eq!(checked(&root, "resources: [../../base]"), "");
    let expected = "apps/web/kustomization.yaml: resources: \"../out\" is outside of the repository; use a path inside of it, or a URL";
    assert_eq!(checked(&root, "resources: [../out]"), expected);
}

#[test]
fn kustomization_beyond_a_limit_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let root = repository(folder.path());
    let deep = format!("helmCharts: [{{valuesInline: {}{}}}]\n", "[".repeat(1_000), "]".repeat(1_000));
    assert_eq!(checked(&root, &deep), "apps/web/kustomization.yaml");
    let room = usize::try_from(KUSTOMIZATION_BYTES_MAX).unwrap();
    assert_eq!(checked(&root, &"#".repeat(room)), "");
    let expected = "apps/web/kustomization.yaml: kustomizations of more than 5242880 bytes";
    assert_eq!(checked(&root, &"#".repeat(room + 1)), expected);
}
