//! Applications whose plugin announces a parameter of each kind.

use crate::page::Page;
use crate::running::Pipe;
use crate::world::World;
use tiphys_testkit::tools::program;

/// The Application with a parameter of each kind.
pub(crate) const KINDS: &str = "/applications/argocd/kinds";

/// A parameter of each kind.
pub(crate) const PARAMETERS: &str = r"
    - {name: title, title: The title, tooltip: Shown in the tab., string: shop}
    - {name: replicas, itemType: number, required: true}
    - {name: debug, itemType: boolean, string: 'false'}
    - {name: theme, choices: [light, dark]}
    - {name: hosts, collectionType: array, array: [a.example.com, b.example.com]}
    - {name: limits, collectionType: map, map: {cpu: '1', memory: 2Gi}}
";

/// Prints a `ConfigMap` with the title and the hosts.
pub(crate) const GENERATE: &str = r#"printf 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: kinds}\ndata:\n  title: "%s"\n  hosts: "%s"\n' "$PARAM_TITLE" "$PARAM_HOSTS_0 $PARAM_HOSTS_1""#;

/// The file of a plugin with static parameters and a script that generates.
pub(crate) fn plugin(parameters: &str, generate: &str) -> String {
    let generate = generate.replace('\n', "\n      ");
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {{name: kinds}}
spec:
  generate:
    command: [sh, -c]
    args:
    - |
      {generate}
  parameters:
    static: {parameters}
"
    )
}

/// The file of an Application with parameters as YAML.
pub(crate) fn application(name: &str, parameters: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: {name}, namespace: argocd}}
spec:
  project: default
  destination: {{server: https://kubernetes.default.svc, namespace: kinds}}
  source:
    repoURL: https://git.example.com/platform/sample.git
    path: kinds
    plugin:
      name: kinds
      parameters: {parameters}
"
    )
}

/// The sample repository with the Application `kinds` and its plugin.
pub(crate) fn world(parameters: &str, generate: &str, set: &str) -> World {
    let world = World::empty().with_programs(&["kustomize", "helm"].map(program));
    assert_eq!(world.run(&["init", "--example", "sample"]).code, 0);
    world
        .write("sample/plugins/kinds/plugin.yaml", &plugin(parameters, generate))
        .write("sample/kinds/file", "")
        .write("sample/applications/kinds.yaml", &application("kinds", set));
    world
}

/// Serves the Application `kinds` with these set parameters.
pub(crate) fn serve(set: &str) -> Page {
    serve_world(world(PARAMETERS, GENERATE, set))
}

/// Serves a repository with the plugin.
pub(crate) fn serve_world(world: World) -> Page {
    Page::serve(world, &["--plugins", "plugins"])
}

/// Serves the Application `kinds`, whose plugin writes the line `started` to the pipe when it renders, and holds it open until it is stopped.
pub(crate) fn serve_holding() -> (Page, Pipe) {
    let world = world(PARAMETERS, GENERATE, "[]");
    let pipe = world.pipe("pipe");
    let hold =
        format!("exec 3>'{}'\necho started >&3\nsetsid sleep 1000 &\nwait", world.path("pipe").display());
    world.write("sample/plugins/kinds/plugin.yaml", &plugin(PARAMETERS, &hold));
    (serve_world(world), pipe)
}
