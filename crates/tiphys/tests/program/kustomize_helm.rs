//! Charts in kustomizations: `--enable-helm` in a rendered repository gives it no program, no local file and no credentials.

use std::fs;
use std::os::unix::fs::symlink;

use crate::world::{URL, World};

/// The chart, which prints the value `x`.
const TEMPLATE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {x: {{ .Values.x | quote }}}\n";

/// A repository whose settings enable helm.
fn world() -> World {
    let world = World::with_kustomize();
    world
        .write(
            "repo/apps/app.yaml",
            &format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  \
                 source: {{repoURL: '{URL}', path: k, kustomize: {{namePrefix: eu-}}}}\n  destination: {{namespace: shop}}\n"
            ),
        )
        .write(
            "repo/apps/cm.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {kustomize.buildOptions: --enable-helm}\n",
        )
        .write("outside/c/values.yaml", "x: outside\n");
    for chart in ["repo/k/charts/c", "outside/c"] {
        world
            .write(&format!("{chart}/Chart.yaml"), "apiVersion: v2\nname: c\nversion: 1.0.0\n")
            .write(&format!("{chart}/templates/cm.yaml"), TEMPLATE);
    }
    world.write("repo/k/charts/c/values.yaml", "x: of the chart\n");
    world.write("home/secret", "s3cret");
    world
}

#[test]
fn chart_of_a_kustomization_gets_only_files_of_kustomize() {
    let world = world();
    let secret = world.path("home/secret").display().to_string();
    let outside = world.path("outside").display().to_string();
    let marker = world.path("home/attacked");
    let attack = format!("touch {}\ncat\n", marker.display());
    world.write("repo/k/attack.sh", &attack);
    let chart = |fields: &str| format!("helmCharts: [{{name: c, {fields}}}]\n");
    let generator = |fields: &str| {
        (
            "generators: [g.yaml]\n".to_owned(),
            format!(
                "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {{name: x}}\nname: c\n{fields}\n"
            ),
        )
    };
    // kustomize itself refuses these since 5.8.3, before it calls helm.
    let option = "releaseName must not start with '-'";
    let plain = |kustomization: String| (kustomization, String::new());
    // The kustomization, its generator, the exit code, and a part of the output.
    let cases = [
        (plain(chart("releaseName: good")), 0, "x: of the chart"),
        (generator("releaseName: good"), 0, "x: of the chart"),
        (plain(chart("releaseName: --post-renderer=sh")), 3, option),
        (plain(chart(&format!("releaseName: '--set-file=x={secret}'"))), 3, option),
        (plain(chart("releaseName: -post")), 3, option),
        (generator("releaseName: --post-renderer=sh"), 3, option),
        (generator(&format!("releaseName: '--set-file=x={secret}'")), 3, option),
        (
            generator(&format!("releaseName: good\nchartHome: {outside}\nvaluesFile: attack.sh")),
            3,
            "leads out of the repository",
        ),
    ];
    for ((kustomization, generator), code, expected) in cases {
        world.write("repo/k/kustomization.yaml", &kustomization).write("repo/k/g.yaml", &generator);
        let output = world.run(&["render", "--store=repo/apps", "--repo", &format!("{URL}=repo")]);
        let printed = if code == 0 { &output.stdout } else { &output.stderr };
        assert_eq!(output.code, code, "{kustomization}{generator}{}", output.stderr);
        assert!(printed.contains(expected), "{kustomization}{generator}{printed}");
        assert!(!output.stdout.contains("s3cret") && !output.stdout.contains("outside"), "{}", output.stdout);
        assert!(!marker.exists(), "{kustomization}{generator}");
    }
}

#[test]
fn chart_of_a_base_is_found_for_any_spelling_of_the_path() {
    let world = world();
    world
        .write("repo/k/kustomization.yaml", "helmCharts: [{name: c, releaseName: good}]\n")
        .write("repo/deep/k/kustomization.yaml", "resources: [../../k]\n");
    symlink("deep/k", world.path("repo/link")).expect("a link");
    let application = fs::read_to_string(world.path("repo/apps/app.yaml")).expect("the application");
    let spellings =
        ["deep/k", "deep/k/", "./deep/k", "deep//k", "deep/./k/.", "k/../deep/k", "new/../deep/k"];
    for path in spellings.into_iter().chain(["link", "./link/"]) {
        world.write("repo/apps/app.yaml", &application.replace("path: k", &format!("path: {path}")));
        let output = world.run(&["render", "--store=repo/apps", "--repo", &format!("{URL}=repo")]);
        assert_eq!(output.code, 0, "{path}: {}", output.stderr);
        assert!(output.stdout.contains("x: of the chart"), "{path}: {}", output.stdout);
    }
}
