//! Credentials of registries from files of helm and docker.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::json;
use tiphys_testkit::certificates::Authority;
use tiphys_testkit::chart_server::{ChartServer, Transport};
use tiphys_testkit::executable::make_executable;
use tiphys_testkit::registry::{Registry, RegistryAccess};
use tiphys_testkit::tools;

use crate::generate::dependencies::umbrella;
use crate::generate::remotes::{chart, with_dep};
use crate::generate::world::{Helm, World};

/// A registry that requires the user `user` and the password `pass`, and its CA.
struct Protected {
    registry: Registry,
    authority: Authority,
}

impl Protected {
    fn start() -> Self {
        let authority = Authority::new();
        let registry =
            Registry::start(RegistryAccess::Basic, Transport::Tls(&authority.server()), &authority);
        registry.push("charts", &chart("dep", "1.0.0"));
        Self { registry, authority }
    }

    /// A chart with a dependency from the registry.
    fn world(&self) -> World {
        let world = with_dep("1.0.0", &format!("oci://{}/charts", self.registry.host()))
            .file("../ca.pem", self.authority.pem());
        let ca = world.beside("ca.pem");
        world.variable("SSL_CERT_FILE", &ca)
    }
}

impl World {
    /// A path beside the repository.
    fn beside(&self, name: &str) -> String {
        self.root().parent().expect("the root has a parent").join(name).display().to_string()
    }

    /// Writes docker's configuration.
    fn docker(self, config: &serde_json::Value) -> Self {
        let folder = self.beside("docker");
        self.file("../docker/config.json", &config.to_string()).variable("DOCKER_CONFIG", &folder)
    }
}

const EXPECTED: [&str; 2] = ["ConfigMap/dep-1.0.0", "ConfigMap/app-0.1.0"];

#[test]
fn cached_build_needs_the_same_credentials() {
    let protected = Protected::start();
    let config = json!({ "auths": { protected.registry.host(): { "auth": "dXNlcjpwYXNz" } } });
    for helm in Helm::ALL {
        let person = protected
            .world()
            .docker(&config)
            .cached()
            .context(&json!({ "version": 1, "mountedCredentials": "use" }));
        assert_eq!(person.generate(helm).names(), EXPECTED);
        let server = person.context(&json!({ "version": 1 }));
        let refused = server.generate(helm);
        assert!(refused.error().contains("credential"), "{helm:?}: {}", refused.error());
    }
}

#[test]
fn unneeded_mounted_files_are_not_read() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/stable", &[chart("dep", "1.0.0")]);
    let url = format!("{}/stable", server.url());
    let entry =
        |name: &str, url: &str| format!("- {{name: {name}, url: '{url}', caFile: /nowhere/{name}.pem}}\n");
    let stale =
        format!("repositories:\n- {{name: open, url: '{url}'}}\n{}", entry("stale", "https://a.invalid"));
    for helm in Helm::ALL {
        let with = |world: World, repositories: &str| {
            let folder = world.beside("helm");
            world
                .file("../helm/repositories.yaml", repositories)
                .file("../docker/config.json", "- [")
                .variable("HELM_CONFIG_HOME", &folder)
        };
        let local = umbrella("{name: dep, version: 1.0.0, repository: 'file://../dep'}").chart_files(
            "charts/dep",
            "dep",
            "1.0.0",
            "",
        );
        let local = with(local, "- [");
        let docker = local.beside("docker");
        assert_eq!(local.variable("DOCKER_CONFIG", &docker).generate(helm).names(), EXPECTED);
        let fetched = with(with_dep("1.0.0", &url), &stale);
        let docker = fetched.beside("docker");
        assert_eq!(fetched.variable("DOCKER_CONFIG", &docker).generate(helm).names(), EXPECTED);
        let needed = with(with_dep("1.0.0", &url), &format!("repositories:\n{}", entry("stale", &url)));
        let answer = needed.generate(helm);
        assert_eq!(
            answer.error(),
            "error building helm chart dependencies: cannot read /nowhere/stale.pem: entity not found"
        );
    }
}

/// A helper with state in the caller's home, like `pass` and those of cloud providers.
const HELPER: &str = "#!/bin/sh
[ \"$1\" = get ] && [ -z \"$ARGOCD_APP_NAME\" ] || exit 9
read -r registry
if [ \"$registry\" != \"$TEST_REGISTRY\" ]; then
    echo 'credentials not found in native keychain'
    exit 1
fi
read -r secret < \"$HOME/.secret\" || exit 9
echo asked >> \"$HOME/asked\"
printf '{\"ServerURL\":\"%s\",\"Username\":\"user\",\"Secret\":\"%s\"}' \"$registry\" \"$secret\"
";

impl World {
    /// A home with a helper in `PATH` that has credentials for a registry.
    fn helper(self, secret: &str, registry: &str) -> Self {
        let world = self.file("../home/.secret", secret).file("../bin/docker-credential-test", HELPER);
        let (home, bin) = (world.beside("home"), world.beside("bin"));
        let helper = format!("{bin}/docker-credential-test");
        make_executable(Path::new(&helper));
        let path = format!("{bin}:{}", tools::search_path().display());
        world.variable("HOME", &home).variable("PATH", &path).variable("TEST_REGISTRY", registry)
    }
}

#[test]
fn credential_helper_runs_in_the_callers_home() {
    let protected = Protected::start();
    let host = &protected.registry.host();
    let (own, all) = (json!({ "credHelpers": { host.as_str(): "test" } }), json!({ "credsStore": "test" }));
    for helm in Helm::ALL {
        for config in [&own, &all] {
            let world = protected.world().docker(config).helper("pass\n", host);
            assert_eq!(world.generate(helm).names(), EXPECTED, "{helm:?} {config}");
            let asked = fs::read_to_string(world.beside("home/asked")).unwrap();
            assert_eq!(asked, "asked\n", "once");
        }
        // Without credentials for this registry, the request is anonymous.
        let unknown = protected.world().docker(&own).helper("pass\n", "other.example.com").generate(helm);
        assert!(unknown.error().contains("credential"), "{helm:?}: {}", unknown.error());
        let wrong = protected.world().docker(&own).helper("hunter22\n", host).generate(helm);
        assert!(wrong.error().contains("401") && !wrong.error().contains("hunter22"), "{}", wrong.error());
    }
}

/// Whether helm itself, run with this home, fetches the chart.
#[expect(clippy::disallowed_methods, reason = "the plugin is compared with helm")]
fn helm_pulls(world: &World, helm: Helm, registry: &str) -> bool {
    let path = format!("{}:{}", world.beside("bin"), tools::search_path().display());
    let mut command = Command::new(helm.program());
    command
        .args(["pull", &format!("oci://{registry}/charts/dep"), "--version", "1.0.0"])
        .args(["--destination", &world.beside("")])
        .env_clear()
        .envs([("PATH", path), ("HOME", world.beside("home")), ("DOCKER_CONFIG", world.beside("docker"))])
        .envs([("SSL_CERT_FILE", world.beside("ca.pem")), ("TEST_REGISTRY", registry.to_owned())]);
    command.output().expect("helm starts").status.success()
}

#[test]
fn pipe_as_credential_file_is_reported_without_waiting() {
    let url = "oci://registry.invalid/charts";
    for (variable, place, setting) in [
        ("HELM_REPOSITORY_CONFIG", "", "HELM_REPOSITORY_CONFIG"),
        ("HELM_CONFIG_HOME", "repositories.yaml", "HELM_REPOSITORY_CONFIG"),
        ("HELM_REGISTRY_CONFIG", "", "HELM_REGISTRY_CONFIG"),
        ("DOCKER_CONFIG", "config.json", "DOCKER_CONFIG"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let named = if place.is_empty() { folder.path().join("file") } else { folder.path().to_path_buf() };
        let path = if place.is_empty() { named.clone() } else { named.join(place) };
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
        let world = with_dep("1.0.0", url).variable(variable, named.to_str().unwrap());
        assert_eq!(
            world.generate(Helm::Four).error(),
            format!(
                "error building helm chart dependencies: {} is not a regular file; replace it with one, or set {setting} to another path",
                path.display()
            )
        );
    }
}

#[test]
fn credentials_are_found_where_helm_finds_them() {
    const RIGHT: &str = "dXNlcjpwYXNz";
    const STALE: &str = "dXNlcjpzdGFsZQ==";
    let protected = Protected::start();
    let host = &protected.registry.host();
    let url = format!("https://{host}/");
    let entry = |name: &str, auth: &str| json!({ "auths": { name: { "auth": auth } } });
    let cases = [
        (
            json!({}),
            json!({ "auths": { host.as_str(): { "auth": STALE } }, "credHelpers": { host.as_str(): "test" } }),
            true,
        ),
        (json!({}), json!({ "auths": { host.as_str(): { "auth": STALE } }, "credsStore": "test" }), true),
        (json!({ "credsStore": "test" }), entry(host, STALE), true),
        (json!({ "credHelpers": { "other.example.com": "test" } }), entry(host, RIGHT), true),
        (json!({}), entry(&url, RIGHT), true),
        (entry(&url, RIGHT), entry(host, STALE), true),
        (entry(host, STALE), entry(host, RIGHT), false),
        (json!({}), json!({ "credHelpers": { url.as_str(): "test" } }), false),
    ];
    for helm in Helm::ALL {
        for (helms, dockers, expected) in &cases {
            let world = protected
                .world()
                .file("../home/.config/helm/registry/config.json", &helms.to_string())
                .docker(dockers)
                .helper("pass\n", host);
            assert_eq!(helm_pulls(&world, helm, host), *expected, "{helm:?}: {helms} {dockers}");
            let answer = world.generate(helm);
            assert_eq!(answer.code == Some(0), *expected, "{helm:?}: {helms} {dockers}: {answer:?}");
        }
        // A helper without credentials for the registry leaves it to the next file.
        let world = protected
            .world()
            .file("../home/.config/helm/registry/config.json", r#"{"credsStore": "test"}"#)
            .docker(&entry(host, RIGHT))
            .helper("pass\n", host)
            .variable("TEST_REGISTRY", "other.example.com");
        assert_eq!(world.generate(helm).names(), EXPECTED, "{helm:?}");
    }
}

#[test]
fn credential_files_are_parsed_as_helm_does() {
    const RIGHT: &str = "dXNlcjpwYXNz";
    let protected = Protected::start();
    let host = &protected.registry.host();
    let entry = |login: serde_json::Value| json!({ "auths": { host.as_str(): login } }).to_string();
    let right = || entry(json!({ "auth": RIGHT }));
    let auth = |text: &str| entry(json!({ "auth": text }));
    let with = |field: &str, value: serde_json::Value| {
        json!({ "auths": { host.as_str(): { "auth": RIGHT } }, field: value }).to_string()
    };
    let no_pair = "its field auth is not base64 of USER:PASSWORD";
    let cases = [
        (String::new(), right(), ""),
        (" \n".to_owned(), right(), ""),
        ("null".to_owned(), right(), ""),
        (right(), String::new(), ""),
        (String::new(), with("credsStore", json!("")), ""),
        (String::new(), with("credHelpers", json!({ host.as_str(): "" })), ""),
        (with("credsStore", json!("")), String::new(), ""),
        (right() + " geheim", String::new(), ""),
        (String::new(), auth("dXNlcj\npwYXNz\n"), ""),
        (String::new(), auth("geheim!!"), no_pair),
        (auth("Z2VoZWlt"), right(), no_pair),
        (entry(json!({ "auth": "geheim!!", "identitytoken": "geheim" })), right(), no_pair),
        (String::new(), entry(json!({ "auth": ["geheim"] })), "its field auth must be a string"),
        (String::new(), entry(json!("geheim")), "it is not an object"),
        (with("credsStore", json!(["geheim"])), right(), "check its field credsStore"),
        (r#"{"auths": ["geheim"]}"#.to_owned(), right(), "check its field auths"),
    ];
    for helm in Helm::ALL {
        for (helms, dockers, problem) in &cases {
            let world = protected
                .world()
                .file("../home/.config/helm/registry/config.json", helms)
                .file("../docker/config.json", dockers);
            assert_eq!(helm_pulls(&world, helm, host), problem.is_empty(), "{helm:?}: {helms} {dockers}");
            // Outside the directory that the test searches for in messages.
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name).display().to_string();
            fs::write(at("helm.json"), helms).unwrap();
            fs::write(at("config.json"), dockers).unwrap();
            let world =
                world.variable("HELM_REGISTRY_CONFIG", &at("helm.json")).variable("DOCKER_CONFIG", &at(""));
            if problem.is_empty() {
                assert_eq!(world.generate(helm).names(), EXPECTED, "{helm:?}: {helms} {dockers}");
                continue;
            }
            let error = world.generate(helm).error().to_owned();
            let file = at(if helms.is_empty() { "config.json" } else { "helm.json" });
            assert!(error.contains(problem) && error.contains(&file), "{helm:?}: {error}");
            assert!(!error.contains("geheim") && !error.contains("Z2VoZWlt"), "{helm:?}: {error}");
        }
    }
}

#[test]
fn failing_helper_is_reported_without_its_answer() {
    let protected = Protected::start();
    let host = &protected.registry.host();
    let own = json!({ "credHelpers": { host.as_str(): "test" } });
    let begin = format!(
        "error building helm chart dependencies: dependency dep: login to repository oci://{host}/charts: docker-credential-test"
    );
    let missing = protected.world().docker(&own).generate(Helm::Four);
    assert_eq!(
        missing.error(),
        format!(
            "{begin}, which has the credentials for {host}, was not found in PATH; install it, or log in to {host} without it"
        )
    );
    let no_login = format!(
        "{begin} has no credentials for {host}; run `docker-credential-test get` with {host} on its standard input to see why"
    );
    for helper in ["#!/bin/sh\necho '{\"Username\":\"hunter22\"}'\n", "#!/bin/sh\necho hunter22\nexit 1\n"] {
        let world = protected.world().docker(&own).helper("pass\n", host);
        let world = world.file("../bin/docker-credential-test", helper);
        assert_eq!(world.generate(Helm::Four).error(), no_login);
    }
    let hangs =
        protected.world().docker(&own).helper("pass\n", host).variable("TIPHYS_HELM_LOGIN_TIMEOUT", "1");
    let hangs = hangs.file("../bin/docker-credential-test", "#!/bin/sh\nexec tail -f /dev/null\n");
    assert_eq!(
        hangs.generate(Helm::Four).error(),
        format!("{begin} returned no credentials for {host} within 1 s; increase TIPHYS_HELM_LOGIN_TIMEOUT")
    );
}
