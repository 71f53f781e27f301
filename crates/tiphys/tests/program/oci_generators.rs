//! Application sets whose generators read artefacts of a registry.

use tiphys_testkit::certificates::Authority;
use tiphys_testkit::chart::Chart;
use tiphys_testkit::chart_server::{Access, ChartServer, Transport};

use crate::world::{Output, TIPHYS, World};

/// The artefact `team/apps` of a registry that requires a password, and a store with its Secret and two sets.
struct Place {
    server: ChartServer,
    world: World,
}

impl Place {
    fn new() -> Self {
        let authority = Authority::new();
        let server = ChartServer::start(Transport::Tls(&authority.server()));
        for version in ["1.0.0", "1.1.0"] {
            let mut apps = Chart::new("apps", version)
                .with("a/prod/app.yaml", "{team: deep}")
                .with("b/app.yaml", &format!("{{team: team-{version}}}"))
                .with(".hidden/app.yaml", "");
            apps.files.remove("Chart.yaml");
            server.artefact("team", &apps);
        }
        server.protect("/v2/", Access::Basic);
        let url = format!("oci://{}/team/apps", server.host());
        let world = World::empty();
        world.write("ca.pem", authority.pem());
        for (name, revision, paths) in [
            ("directories", "1.0.0", "directories: [{path: '*'}]"),
            ("files", "^1", "files: [{path: '*/app.yaml'}, {path: '.*/**', exclude: true}]"),
            ("all", "1.0.0", "files: [{path: .}, {path: '.*/**', exclude: true}]"),
            ("missing", ">=2", "files: [{path: '**'}]"),
        ] {
            let oci = format!("repoURL: '{url}', revision: '{revision}', {paths}");
            world.write(
                &format!("store/{name}.yaml"),
                &format!(
                    "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: {name}}}\nspec:\n  goTemplate: true\n  \
                     generators: [{{oci: {{{oci}}}}}]\n  template: {{metadata: {{name: '{{{{ or .team .path.path }}}}'}}, spec: {{project: p}}}}\n"
                ),
            );
        }
        let secret = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: s, labels: {{argocd.argoproj.io/secret-type: repository}}}}\n\
             stringData: {{type: oci, project: p, url: '{url}', username: user, password: pass}}\n"
        );
        world.write("store/secret.yaml", &secret);
        Self { server, world }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.world.command(TIPHYS);
        command.env("SSL_CERT_FILE", self.world.path("ca.pem")).args(arguments).arg("--store=store");
        let mut output = self.world.finish(command);
        output.stderr = output.stderr.replace(&self.server.host(), "HOST");
        output
    }
}

fn printed(output: &Output) -> (i32, &str, &str) {
    (output.code, &output.stdout, &output.stderr)
}

#[test]
fn artefact_is_read_with_the_secret_of_the_project() {
    let place = Place::new();
    let generate =
        |name: &str, more: &[&str]| place.run(&[&["appset", "generate", name, "-o=name"], more].concat());
    let directories = "application.argoproj.io/a\napplication.argoproj.io/b\n";
    assert_eq!(printed(&generate("directories", &[])), (0, directories, ""));
    let files = "application.argoproj.io/team-1.1.0\n";
    assert_eq!(printed(&generate("files", &["--record=answers.json"])), (0, files, ""));
    let all = "application.argoproj.io/deep\napplication.argoproj.io/team-1.0.0\n";
    assert_eq!(printed(&generate("all", &["--config=gitFileGlobbing=git"])), (0, all, ""));
    let offline = generate("directories", &["--offline"]);
    assert_eq!(printed(&offline), (0, directories, ""));
    let count = place.server.requests().len();
    assert_eq!(printed(&generate("files", &["--answers=answers.json"])), (0, files, ""));
    assert_eq!(place.server.requests().len(), count, "recorded answers are used instead");
    let missing = generate("missing", &[]);
    assert_eq!(
        printed(&missing),
        (
            3,
            "",
            "error: application set argocd/missing (store/missing.yaml:6:22): error generating params from oci: invalid revision: version matching constraint not found in 2 tags\n"
        )
    );
    let large = generate("files", &["--limit=appset-file-bytes-max=10"]);
    assert_eq!(
        printed(&large),
        (
            3,
            "",
            "error: application set argocd/files (store/files.yaml:6:22): error generating params from oci: repository oci://HOST/team/apps: b/app.yaml has more than 10 bytes\n"
        )
    );
}

#[test]
fn registry_is_asked_only_if_sets_may_ask_servers() {
    let place = Place::new();
    let output = place.run(&["list"]);
    let expected = "application set argocd/directories is left out: its oci generator reads oci://HOST/team/apps, and no folder is given for it";
    assert!(output.stderr.contains(expected), "{}", output.stderr);
    assert_eq!(place.server.requests().len(), 0);
    place.world.write("store/missing.yaml", "").write("store/project.yaml", "");
    let output = place.run(&["list", "--config=appsets=all", "-o=name"]);
    assert!(!place.server.requests().is_empty() && output.stdout.contains("team-1.1.0"), "{output:?}");
}
