//! The helms of `cargo xtask tools` are built like their releases: charts see the same versions.

use std::fs;
use std::process::Command;

use tiphys_testkit::tools;

/// A chart that prints the versions that its templates see.
const FILES: [(&str, &str); 2] = [
    ("Chart.yaml", "apiVersion: v2\nname: versions\nversion: 0.1.0\n"),
    (
        "templates/seen.yaml",
        "helm: {{ .Capabilities.HelmVersion.Version }}\nkubernetes: {{ .Capabilities.KubeVersion.Version }}\n",
    ),
];

#[test]
fn charts_see_the_same_versions_as_with_a_helm_release() {
    let cases = [("helm", "v4.3.1", "v1.37.0"), ("helm3", "v3.22.0", "v1.37.0")];
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("templates")).unwrap();
    for (path, content) in FILES {
        fs::write(folder.path().join(path), content).unwrap();
    }
    for (program, version, kubernetes) in cases {
        #[expect(clippy::disallowed_methods, reason = "the test runs helm")]
        let output = Command::new(tools::program(program))
            .args(["template", "."])
            .current_dir(folder.path())
            .env_clear()
            .env("HOME", folder.path())
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            format!(
                "---\n# Source: versions/templates/seen.yaml\nhelm: {version}\nkubernetes: {kubernetes}\n"
            ),
            "{program}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
