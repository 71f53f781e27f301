//! Chart servers that require the caller's own credentials, from the files of helm and docker, and servers with their own certificates.

use std::process::Command;

use tiphys_testkit::certificates::Authority;
use tiphys_testkit::chart::Chart;
use tiphys_testkit::chart_server::{Access, ChartServer, IDENTITY_TOKEN, Transport};

use crate::world::{Output, TIPHYS, URL, World};

/// `user:pass` in base64, which the servers require.
const PAIR: &str = "dXNlcjpwYXNz";

/// The only template of the chart.
const MANIFEST: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}\n";

/// The script of a helper with the right credentials.
const KNOWS: &str = "printf '{\"ServerURL\":\"%s\",\"Username\":\"user\",\"Secret\":\"pass\"}' \"$registry\"";

/// Servers with the chart `web` in a Helm repository and in a registry, and a world with an Application of it.
struct Place {
    server: ChartServer,
    world: World,
}

impl Place {
    /// Both servers require credentials.
    fn new() -> Self {
        let authority = Authority::new();
        let server = ChartServer::start(Transport::Tls(&authority.server()));
        let chart = Chart::new("web", "1.0.0").with("templates/web.yaml", MANIFEST);
        server.repository("/stable", std::slice::from_ref(&chart)).protect("/stable", Access::Basic);
        server.images("team", &[chart]);
        server.protect("/v2/", Access::Basic);
        let world = World::with_helm();
        world.write("ca.pem", authority.pem());
        Self { server, world }
    }

    /// The address of the Helm repository.
    fn repository(&self) -> String {
        format!("{}/stable", self.server.url())
    }

    /// The address of the registry.
    fn registry(&self) -> String {
        format!("{}/team", self.server.host())
    }

    /// Writes helm's `repositories.yaml` with a password for the repository.
    fn helm_repository(&self, password: &str) -> &Self {
        let entry =
            format!("{{name: s, url: '{}', username: user, password: {password}}}", self.repository());
        self.world.write("home/.config/helm/repositories.yaml", &format!("repositories: [{entry}]\n"));
        self
    }

    /// Writes docker's `config.json`.
    fn docker(&self, config: &str) -> &Self {
        self.world.write("home/.docker/config.json", &config.replace("HOST", &self.server.host()));
        self
    }

    /// Writes a credential helper that runs this command, and records each call.
    fn helper(&self, prints: &str) -> &Self {
        let script = format!(
            "#!/bin/sh\n[ \"$1\" = get ] || exit 9\nread -r registry\necho \"$registry\" >> \"$HOME/asked\"\n{prints}\n"
        );
        self.world.write("bin/docker-credential-test", &script);
        self
    }

    /// Number of the helper's calls.
    fn asked(&self) -> usize {
        let path = self.world.path("home/asked");
        if path.exists() { self.world.read("home/asked").lines().count() } else { 0 }
    }

    /// Writes a Secret of the store for the repository.
    fn secret(&self, password: &str) -> &Self {
        let secret = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: s, labels: {{argocd.argoproj.io/secret-type: repository}}}}\n\
             stringData: {{type: helm, url: '{}', username: user, password: {password}}}\n",
            self.repository()
        );
        self.world.write("store/secret.yaml", &secret);
        self
    }

    fn command(&self, repo_url: &str, more: &[&str]) -> Command {
        let application = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  source: \
             {{repoURL: '{repo_url}', chart: web, targetRevision: 1.0.0}}\n  destination: {{namespace: shop}}\n"
        );
        self.world.write("store/web.yaml", &application);
        let mut command = self.world.command(TIPHYS);
        let path = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
        let path = path.expect("PATH is set").to_str().expect("UTF-8");
        let path = format!("{}:{path}", self.world.path("bin").display());
        command.env("PATH", path).env("SSL_CERT_FILE", self.world.path("ca.pem"));
        command.args(["render", "--store=store", "--config=tracking=none"]).args(more);
        command
    }

    fn render(&self, repo_url: &str) -> Output {
        self.world.finish(self.command(repo_url, &[]))
    }
}

fn is_rendered(output: &Output) {
    let expected = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n";
    assert_eq!((output.code, output.stdout.as_str(), output.stderr.as_str()), (0, expected, ""));
}

#[test]
fn repository_gets_credentials_of_helm_repo_add_unless_a_secret() {
    let place = Place::new();
    let url = place.repository();
    let refused = place.render(&url);
    let expected = "refused access; tried no credentials; log in with `helm repo add`, ";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    is_rendered(&place.helm_repository("pass").render(&url));
    let wrong = place.helm_repository("pass").secret("hunter22").render(&url);
    assert!(wrong.stderr.contains("tried the repository's user and password"), "{}", wrong.stderr);
    is_rendered(&place.helm_repository("hunter22").secret("pass").render(&url));
}

#[test]
fn registry_gets_credentials_of_docker_or_of_a_helper() {
    let place = Place::new();
    let url = place.registry();
    let refused = place.render(&url);
    assert!(refused.stderr.contains("tried no credentials"), "{}", refused.stderr);
    is_rendered(&place.docker(&format!(r#"{{"auths": {{"HOST": {{"auth": "{PAIR}"}}}}}}"#)).render(&url));

    let place = Place::new();
    let url = place.registry();
    place.docker(r#"{"auths": {"HOST": {}}, "credHelpers": {"HOST": "test"}}"#).helper(KNOWS);
    let offline = place.world.finish(place.command(&url, &["--offline"]));
    assert_eq!((offline.code, place.asked()), (3, 0), "{}", offline.stderr);
    is_rendered(&place.render(&url));
    assert_eq!(place.world.read("home/asked"), format!("{}\n", place.server.host()), "once");
    // The cached chart is used for the helper's credentials.
    is_rendered(&place.world.finish(place.command(&url, &["--offline"])));
    is_rendered(&place.render(&url));
    assert_eq!(place.asked(), 1);
}

#[test]
fn identity_token_is_exchanged_for_tokens_of_a_registry() {
    let entry = format!(r#"{{"auths": {{"HOST": {{"auth": "", "identitytoken": "{IDENTITY_TOKEN}"}}}}}}"#);
    let prints = format!("printf '{{\"Username\":\"<token>\",\"Secret\":\"{IDENTITY_TOKEN}\"}}'");
    for (config, prints) in [(entry.as_str(), "exit 9"), (r#"{"credsStore": "test"}"#, prints.as_str())] {
        let place = Place::new();
        place.server.protect("/v2/", Access::Token);
        place.docker(config).helper(prints);
        is_rendered(&place.render(&place.registry()));
        let offline = place.world.finish(place.command(&place.registry(), &["--offline"]));
        is_rendered(&offline);
    }
    let place = Place::new();
    place.server.protect("/v2/", Access::Token);
    place.docker(r#"{"auths": {"HOST": {"identitytoken": "hunter22"}}}"#);
    let refused = place.render(&place.registry());
    assert!(
        refused.stderr.contains("tried the identity token of the registry's login"),
        "{}",
        refused.stderr
    );
    assert!(!refused.stderr.contains("hunter22"), "{}", refused.stderr);
}

#[test]
fn failing_helper_is_named_without_its_output() {
    for (prints, expected) in [
        ("echo hunter22; exit 1", "docker-credential-test has no credentials for HOST; run "),
        ("exec tail -f /dev/null", "docker-credential-test returned no credentials for HOST within 5 s"),
        (
            "echo 'credentials not found in native keychain'; exit 1",
            "tried what docker-credential-test knows; log in",
        ),
    ] {
        let place = Place::new();
        place.docker(r#"{"credsStore": "test"}"#).helper(prints);
        let output = place.world.finish(place.command(&place.registry(), &["--limit=lookup-timeout=5"]));
        let shown = output.stderr.replace(&place.server.host(), "HOST");
        assert!(output.code == 3 && shown.contains(expected), "{shown}");
        assert!(!shown.contains("hunter22"), "{shown}");
    }
}

#[test]
fn invalid_credentials_file_is_named_without_its_content() {
    let place = Place::new();
    place.world.write("home/.config/helm/repositories.yaml", "repositories: [{password: [hunter22]}]\n");
    let output = place.render(&place.repository());
    let shown = output.stderr.replace(&place.repository(), "URL");
    assert_eq!(
        (output.code, shown.as_str()),
        (
            3,
            "error: application web (store/web.yaml:1:1): source URL at 1.0.0, chart web: logins for repository URL: \
             $WORLD/home/.config/helm/repositories.yaml does not have the structure of helm's file; check its syntax\n"
        )
    );
    is_rendered(&place.secret("pass").render(&place.repository()));
    let copy = format!("--repo={}=charts", place.registry());
    place.world.write("charts/web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}\n");
    place.world.write("charts/web/templates/web.yaml", MANIFEST).write("home/.docker/config.json", "- [");
    // A local directory needs no credentials.
    is_rendered(&place.world.finish(place.command(&place.registry(), &[&copy])));
}

#[test]
fn config_map_certificates_apply_to_charts_and_dependencies() {
    let authority = Authority::new();
    let server = ChartServer::start(Transport::Tls(&authority.server()));
    let chart = Chart::new("web", "1.0.0").with("templates/web.yaml", MANIFEST);
    server.repository("/stable", &[chart]);
    let world = World::with_helm();
    let repository = format!("{}/stable", server.url());
    let application = |source: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  source: {source}\n  destination: {{namespace: shop}}\n"
        )
    };
    let chart = format!("{{repoURL: '{repository}', chart: web, targetRevision: 1.0.0}}");
    world.write("chart.yaml", &application(&chart));
    world.write("umbrella.yaml", &application(&format!("{{repoURL: '{URL}', path: umbrella}}")));
    let dependency = format!("{{name: web, version: 1.0.0, repository: '{repository}'}}");
    world.write(
        "repo/umbrella/Chart.yaml",
        &format!("{{apiVersion: v2, name: umbrella, version: 1.0.0, dependencies: [{dependency}]}}\n"),
    );
    let pem = authority.pem().replace('\n', "\n    ");
    world.write(
        "certificates.yaml",
        &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: argocd-tls-certs-cm}}\ndata:\n  127.0.0.1: |\n    {pem}\n"),
    );
    let copy = format!("--repo={URL}=repo");
    for store in ["--store=chart.yaml", "--store=umbrella.yaml"] {
        let refused = world.run(&["render", store, &copy, "--config=tracking=none"]);
        assert!(refused.code == 3 && refused.stderr.contains("certificate"), "{}", refused.stderr);
        is_rendered(&world.run(&[
            "render",
            store,
            "--store=certificates.yaml",
            &copy,
            "--config=tracking=none",
        ]));
    }
}

/// At its lowest level the HTTP client logs bytes in lines of about ten, so that credentials are split there.
/// `HTTP_PROXY` and `HTTPS_PROXY` do not apply to loopback addresses; `ALL_PROXY` is not supported.
#[test]
fn http_libraries_do_not_read_proxies_of_the_environment() {
    let place = Place::new();
    place.helm_repository("pass");
    let mut command = place.command(&place.repository(), &[]);
    for name in ["ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"] {
        command.env(name, "http://127.0.0.1:1").env(name.to_ascii_lowercase(), "http://127.0.0.1:1");
    }
    let output = place.world.finish(command);
    assert_eq!(output.code, 0, "{}", output.stderr);
}

#[test]
fn log_contains_no_credentials_at_any_level() {
    let place = Place::new();
    place.helm_repository("pass");
    let output = place.world.finish(place.command(&place.repository(), &["-vvv"]));
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stderr.contains("debug: "), "the log is on: {}", output.stderr);
    for piece in ["uthorization", &PAIR[..6], &PAIR[6..]] {
        assert!(!output.stderr.contains(piece), "{piece}: {}", output.stderr);
    }
}
