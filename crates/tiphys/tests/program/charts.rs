//! Charts on a machine without the `helm` program.

use crate::world::{Output, URL, World};

/// A world with a chart, and Applications of it: with values in the document, and with a value file of another source.
fn world() -> World {
    let world = World::empty();
    world
        .write("repo/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")
        .write("repo/web/values.yaml", "size: 1\n")
        .write(
            "repo/web/templates/a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {size: {{ .Values.size | quote }}}\n",
        )
        .write("repo/values/large.yaml", "size: 9\n");
    let application = |name: &str, sources: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}}}\nspec:\n  project: default\n  \
             destination: {{server: 'https://kubernetes.default.svc', namespace: shop}}\n{sources}"
        )
    };
    let one = format!(
        "  source: {{repoURL: '{URL}', path: web, helm: {{parameters: [{{name: size, value: '5'}}]}}}}\n"
    );
    let two = format!(
        "  sources: [{{repoURL: '{URL}', path: web, helm: {{valueFiles: [$v/values/large.yaml]}}}}, {{repoURL: '{URL}', ref: v}}]\n"
    );
    world.write("apps/one.yaml", &application("one", &one)).write("apps/two.yaml", &application("two", &two));
    world
}

fn render(world: &World, more: &[&str]) -> Output {
    let mut command = world.command(crate::world::TIPHYS);
    command.args(["render", "--store=apps", "--repo", &format!("{URL}=repo")]).args(more);
    command.env("TIPHYS_HELM", "no-such-helm");
    world.finish(command)
}

#[test]
fn charts_are_rendered_without_helm() {
    let world = world();
    let output = render(&world, &[]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let sizes: Vec<&str> = output.stdout.lines().filter(|line| line.contains("size:")).collect();
    assert_eq!(sizes, ["  size: '5'", "  size: '9'"]);
}

#[test]
fn reason_for_the_program_is_reported() {
    let world = world();
    let template = "kind: X\nmetadata: {name: x}\ndata: {{ genCA \"x\" 1 | toJson | len }}\n";
    world.write("repo/web/templates/a.yaml", template);
    let output = render(&world, &["-v"]);
    let reasons: Vec<&str> =
        output.stderr.lines().filter(|line| line.contains("runs as a process")).collect();
    assert!(reasons.iter().any(|line| line.contains("genCA")), "{}", output.stderr);
    assert!(
        reasons.iter().any(|line| line.contains("a value file is in another source")),
        "{}",
        output.stderr
    );
}

#[test]
fn files_outside_the_repository_are_not_read() {
    let world = world();
    world.write("outside", "not for this chart");
    world.write(
        "repo/web/templates/a.yaml",
        "kind: X\nmetadata: {name: x}\ndata: {{ .Files.Get \"link\" | quote }}\n",
    );
    std::os::unix::fs::symlink("../../outside", world.path("repo/web/link")).expect("a link");
    let output = render(&world, &[]);
    assert!(output.code != 0 && !output.stdout.contains("not for this chart"), "{}", output.stdout);
    assert!(output.stderr.contains("web/link"), "{}", output.stderr);
}

#[test]
fn engine_is_chosen_by_option_and_project_file() {
    let world = world();
    let missing = "no-such-helm was not found in PATH";
    let output = render(&world, &["--helm-engine=program"]);
    assert!(output.code != 0 && output.stderr.contains(missing), "{}", output.stderr);
    world.write("project.yaml", "helmEngine: program\n");
    let output = render(&world, &["--config=project.yaml"]);
    assert!(output.code != 0 && output.stderr.contains(missing), "{}", output.stderr);
    assert_eq!(render(&world, &["--config=project.yaml", "--helm-engine=auto"]).code, 0);
    let output = render(&world, &["--helm-engine=other"]);
    assert!(
        output.stderr.contains("use auto, builtin, builtin-helm3, program, compare"),
        "{}",
        output.stderr
    );
}
