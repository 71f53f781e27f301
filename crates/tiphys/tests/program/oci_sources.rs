//! Applications whose sources are artefacts of a registry.

use std::fs;

use tiphys_testkit::chart_server::{Access, ChartServer, Transport};
use tiphys_testkit::tools;

use crate::world::{Output, TIPHYS, World};

const TAR: &str = "application/vnd.oci.image.layer.v1.tar";
const CHART: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
const GZIP: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// Layers with their media types.
type Layers = Vec<(&'static str, Vec<u8>)>;

/// A registry that requires a password and has `team/apps`, and a store with its Secret and the Application `app`.
struct Place {
    server: ChartServer,
    world: World,
}

impl Place {
    fn new() -> Self {
        let server = ChartServer::start(Transport::Plain);
        server.protect("/v2/", Access::Basic);
        let world = World::empty().with_programs(&["helm", "kustomize"].map(tools::program));
        world.write(
            "store/secret.yaml",
            &format!(
                "apiVersion: v1\nkind: Secret\nmetadata: {{name: s, labels: {{argocd.argoproj.io/secret-type: repository}}}}\n\
                 stringData: {{type: oci, url: 'oci://{}/team/apps', username: user, password: pass, insecureOCIForceHttp: 'true'}}\n",
                server.host()
            ),
        );
        Self { server, world }
    }

    /// Packs what a script leaves in an empty directory.
    fn pack(&self, script: &str, options: &str) -> Vec<u8> {
        let mut shell = self.world.command("sh");
        let pack = format!(
            "rm -rf packed archive && mkdir packed && (cd packed && {script}) && tar {options} -f archive -C packed ."
        );
        shell.args(["-e", "-c", &pack]);
        let output = self.world.finish(shell);
        assert_eq!(output.code, 0, "{}", output.stderr);
        fs::read(self.world.path("archive")).expect("the archive is read")
    }

    /// Serves a version with one gzipped layer, and returns its digest.
    fn serve(&self, version: &str, script: &str) -> String {
        self.server.layers("team/apps", version, &[(GZIP, self.pack(script, "-cz"))])
    }

    /// Renders the Application at a revision and a path.
    fn render(&self, revision: &str, path: &str, arguments: &[&str]) -> Output {
        self.world.write(
            "store/app.yaml",
            &format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: app}}\nspec:\n  \
                 source: {{repoURL: 'oci://{}/team/apps', targetRevision: '{revision}', path: '{path}'}}\n  destination: {{namespace: shop}}\n",
                self.server.host()
            ),
        );
        let mut command = self.world.command(TIPHYS);
        command.args(["render", "--store=store", "-o=name"]).args(arguments);
        let mut output = self.world.finish(command);
        output.stderr = output.stderr.replace(&self.server.host(), "HOST");
        output
    }
}

/// A directory, a kustomization and a chart, each with the version in its objects.
fn apps(version: &str) -> String {
    let object =
        |name: &str| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: '{name}-{version}'}}}}");
    format!(
        "mkdir -p plain base kustomize chart/templates; echo \"{}\" > plain/all.yaml; echo \"{}\" > base/all.yaml; echo '{{resources: [all.yaml]}}' > base/kustomization.yaml; \
         echo '{{resources: [../base], namePrefix: a-}}' > kustomize/kustomization.yaml; echo \"{}\" > chart/templates/all.yaml; \
         echo '{{apiVersion: v2, name: chart, version: {version}}}' > chart/Chart.yaml; ln -s ../base/all.yaml plain/linked.yaml",
        object("plain"),
        object("base"),
        object("chart")
    )
}

#[test]
fn artefact_is_rendered_by_digest_tag_and_range() {
    let place = Place::new();
    let digest = place.serve("1.0.0", &apps("1.0.0"));
    place.serve("1.1.0", &apps("1.1.0"));
    for (revision, path, options, expected) in [
        (digest.as_str(), "plain", "", "configmap/plain-1.0.0\nconfigmap/base-1.0.0\n"),
        ("1.0.0", "kustomize", "", "configmap/a-base-1.0.0\n"),
        ("^1", "chart", "", "configmap/chart-1.1.0\n"),
        ("^1", "chart", "--offline", "configmap/chart-1.1.0\n"),
        ("1.1.0", "./plain/", "", "configmap/plain-1.1.0\nconfigmap/base-1.1.0\n"),
    ] {
        let options: Vec<&str> = options.split_whitespace().collect();
        let output = place.render(revision, path, &options);
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (0, expected),
            "{revision} {path}: {}",
            output.stderr
        );
    }
    place.server.layers(
        "team/apps",
        "2.0.0",
        &[(TAR, place.pack(&apps("2.0.0"), "-c")), ("application/x", b"a signature".to_vec())],
    );
    let output = place.render(">=2", "kustomize", &[]);
    assert_eq!((output.code, output.stdout.as_str()), (0, "configmap/a-base-2.0.0\n"), "{}", output.stderr);
}

#[test]
fn unusable_artefact_is_refused() {
    let place = Place::new();
    let small = || place.pack("echo > a.yaml", "-cz");
    let of = |script: &str| vec![(GZIP, place.pack(script, "-cz"))];
    let others = |count| vec![("application/x", b"a signature".to_vec()); count];
    let cases: Vec<(&str, Layers, &str, &str)> = vec![
        ("two", vec![(GZIP, small()), (TAR, small())], "", "expected only a single oci content layer, got 2"),
        ("none", others(10), "", "expected only a single oci content layer, got 0"),
        ("eleven", others(11), "", "expected no more than 10 oci layers, got 11"),
        (
            "unlisted",
            vec![("application/x.tar+gzip", small())],
            "",
            "oci layer media type application/x.tar+gzip is not in the list of allowed media types",
        ),
        (
            "two-charts",
            vec![(CHART, place.pack("mkdir a b && touch a/a b/b", "-cz"))],
            "",
            "cannot unpack the chart's archive: it has more than one folder at its top",
        ),
        ("no-chart", vec![(CHART, small())], "", "has no folder with the chart"),
        (
            "not-gzipped",
            vec![(GZIP, b"plain text".to_vec())],
            "",
            "cannot unpack the artefact's archive: error reading file: invalid gzip header",
        ),
        (
            "no-archive",
            vec![(TAR, b"plain text".to_vec())],
            "",
            "cannot unpack the artefact's archive: error while iterating on tar reader",
        ),
        (
            "half",
            vec![(GZIP, small()[..80].to_vec())],
            "",
            "cannot unpack the artefact's archive: error while iterating on tar reader",
        ),
        (
            "link",
            of("ln -s ../out a.yaml"),
            "",
            "error checking symlink \"../out\" target: statat ../out: path escapes from parent",
        ),
        (
            "bomb",
            of("head -c 4000000 /dev/zero > a.yaml"),
            "--limit=tree-bytes-max=1MiB",
            "the tree has more than 1048576 bytes: limit tree-bytes-max",
        ),
        (
            "large",
            of("head -c 4000000 /dev/urandom > a.yaml"),
            "--limit=chart-bytes-max=1MiB",
            "has more than 1048576 bytes: limit chart-bytes-max",
        ),
        (
            "many",
            of("touch 1.yaml 2.yaml 3.yaml"),
            "--limit=tree-entries-max=2",
            "the tree has more than 2 entries: limit tree-entries-max",
        ),
    ];
    for (tag, layers, options, expected) in cases {
        place.server.layers("team/apps", tag, &layers);
        let options: Vec<&str> = options.split_whitespace().collect();
        let output = place.render(tag, ".", &options);
        assert_eq!((output.code, output.stdout.as_str()), (3, ""), "{tag}");
        assert!(output.stderr.contains(expected), "{tag}: {}", output.stderr);
    }
}

#[test]
fn path_and_links_stay_in_the_artefact() {
    let place = Place::new();
    place.serve(
        "1.0.0",
        "echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}' > a.yaml; ln -s /etc/hostname b.yaml",
    );
    // As in Argo CD, a link without a leading slash: its target is in its directory, and does not exist.
    assert_eq!(place.render("1.0.0", ".", &[]).stdout, "configmap/a\n");
    for (revision, path, expected) in [
        ("1.0.0", "../..", "spec.source.path: path \"../..\" leads out of the repository"),
        ("1.0.0", "/etc", "spec.source.path: path \"/etc\" is absolute"),
        ("1.0.0", "missing", "missing: app path does not exist"),
        ("1.0.0", "a.yaml", "a.yaml is a file; the path of a source names a folder"),
        ("2.0.0", ".", "repository oci://HOST/team/apps has no tag or digest \"2.0.0\""),
        (">=2", ".", "version matching constraint not found in 1 tags"),
    ] {
        let output = place.render(revision, path, &[]);
        assert!(output.code > 1 && output.stderr.contains(expected), "{path} {revision}: {}", output.stderr);
    }
}
