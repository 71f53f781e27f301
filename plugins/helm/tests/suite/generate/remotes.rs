//! Dependencies from Helm repositories and registries: real servers on loopback, both versions of helm.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use tiphys_testkit::certificates::Authority;
use tiphys_testkit::chart::Chart;
use tiphys_testkit::chart_server::{Access, ChartServer, Failure, Transport};
use tiphys_testkit::executable::make_executable;
use tiphys_testkit::registry::{Registry, RegistryAccess};

use crate::generate::dependencies::umbrella;
use crate::generate::world::{Helm, World};

/// The user of protected servers.
const USER: &str = "user";

/// The password of protected servers.
const PASSWORD: &str = "pass";

/// A chart with one object.
pub(crate) fn chart(name: &str, version: &str) -> Chart {
    Chart::new(name, version).with("templates/shown.yaml", crate::generate::dependencies::SHOWN)
}

/// The charts of most servers.
fn charts() -> [Chart; 3] {
    [chart("dep", "1.1.0"), chart("dep", "1.0.0"), chart("more", "0.1.0")]
}

/// An application's chart with one dependency, `dep`.
pub(crate) fn with_dep(version: &str, repository: &str) -> World {
    umbrella(&format!("{{name: dep, version: '{version}', repository: '{repository}'}}"))
}

/// Credentials of a repository.
fn login(url: &str) -> Value {
    json!({ "url": url, "type": "helm", "username": USER, "password": PASSWORD })
}

/// A repository with more fields.
fn with(mut repository: Value, fields: &Value) -> Value {
    let more = fields.as_object().cloned().unwrap_or_default();
    repository.as_object_mut().expect("an object").extend(more);
    repository
}

impl World {
    /// A run context with these repositories.
    pub(crate) fn repositories(self, repositories: &Value) -> Self {
        self.context(&json!({ "version": 1, "repositories": repositories }))
    }

    pub(crate) fn context(self, context: &Value) -> Self {
        let world = self.file("../context.json", &context.to_string());
        let path = world.root().parent().expect("the root has a parent").join("context.json");
        world.variable("TIPHYS_CONTEXT_FILE", &path.display().to_string())
    }

    /// The lock file that helm itself creates for the chart.
    #[expect(clippy::disallowed_methods, reason = "helm is run as users do")]
    pub(crate) fn lock(&self, helm: Helm) -> String {
        let chart = self.root().join("charts/app");
        let home = self.root().join("../home");
        let output = Command::new(helm.program())
            .args(["dependency", "build"])
            .current_dir(&chart)
            .env_clear()
            .env("HOME", home)
            .output()
            .expect("helm starts");
        assert!(output.status.success(), "{output:?}");
        fs::read_to_string(chart.join("Chart.lock")).expect("helm creates a lock file")
    }

    /// Expects `dep` in this version.
    fn gives(&self, helm: Helm, version: &str) {
        assert_eq!(
            self.generate(helm).names(),
            [format!("ConfigMap/dep-{version}"), "ConfigMap/app-0.1.0".to_owned()]
        );
    }
}

#[test]
fn range_without_lock_file_selects_the_newest_version() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/stable", &charts());
    for helm in Helm::ALL {
        for (range, version) in [("1.0.0", "1.0.0"), ("^1.0.0", "1.1.0"), ("<1.1.0", "1.0.0")] {
            with_dep(range, &format!("{}/stable", server.url())).gives(helm, version);
        }
    }
}

#[test]
fn lock_file_wins_over_a_range() {
    let server = ChartServer::start(Transport::Plain);
    let url = format!("{}/stable", server.url());
    for helm in Helm::ALL {
        server.repository("/stable", &[chart("dep", "1.0.0")]);
        let locked = with_dep(">=1.0.0", &url);
        let lock = locked.lock(helm);
        server.repository("/stable", &charts());
        with_dep(">=1.0.0", &url).gives(helm, "1.1.0");
        with_dep(">=1.0.0", &url).file("charts/app/Chart.lock", &lock).gives(helm, "1.0.0");
    }
}

#[test]
fn repository_can_be_named_by_name_or_alias() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/stable", &charts());
    for helm in Helm::ALL {
        for repository in ["@known", "alias:known"] {
            let known =
                json!([{ "url": format!("{}/stable", server.url()), "name": "known", "type": "helm" }]);
            with_dep("1.0.0", repository).repositories(&known).gives(helm, "1.0.0");
        }
    }
}

#[test]
fn shared_repositories_and_equal_names_are_supported() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/stable", &charts()).repository("/other", &charts());
    let (stable, other) = (format!("{}/stable", server.url()), format!("{}/other", server.url()));
    for helm in Helm::ALL {
        for second in [&stable, &other] {
            let world = umbrella(&format!(
                "{{name: dep, version: 1.0.0, repository: '{stable}'}}, {{name: more, version: 0.1.0, repository: '{second}'}}"
            ))
            .repositories(&json!([
                { "url": stable, "name": "same", "type": "helm" },
                { "url": other, "name": "same", "type": "helm" },
            ]));
            let names = world.generate(helm).names();
            assert_eq!(names, ["ConfigMap/dep-1.0.0", "ConfigMap/more-0.1.0", "ConfigMap/app-0.1.0"]);
        }
    }
}

#[test]
fn repository_uses_its_credentials_or_a_template() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/private", &charts()).protect("/private", Access::Basic);
    let url = format!("{}/private", server.url());
    for helm in Helm::ALL {
        with_dep("1.0.0", &url).repositories(&json!([login(&url)])).gives(helm, "1.0.0");
        let templates = json!({ "version": 1, "credentialTemplates": [login(&server.url())] });
        with_dep("1.0.0", &url).context(&templates).gives(helm, "1.0.0");
    }
}

#[test]
fn credentials_apply_to_requirements_yaml() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/private", &charts()).protect("/private", Access::Basic);
    let url = format!("{}/private", server.url());
    for helm in Helm::ALL {
        let world = World::new("charts/app")
            .file("charts/app/Chart.yaml", "apiVersion: v1\nname: app\nversion: 0.1.0\n")
            .file("charts/app/templates/shown.yaml", crate::generate::dependencies::SHOWN)
            .file(
                "charts/app/requirements.yaml",
                &format!("dependencies:\n- name: dep\n  version: 1.0.0\n  repository: {url}\n"),
            );
        world.repositories(&json!([login(&url)])).gives(helm, "1.0.0");
    }
}

#[test]
fn unauthorized_repository_is_reported_with_the_remedy() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/private", &charts()).protect("/private", Access::Basic);
    let url = format!("{}/private", server.url());
    let wrong = with(login(&url), &json!({ "password": "wrong-secret" }));
    for helm in Helm::ALL {
        for (repositories, tried) in
            [(json!([]), "no credentials"), (json!([wrong]), "the repository's user and password")]
        {
            let answer = with_dep("1.0.0", &url).repositories(&repositories).generate(helm);
            assert_eq!(
                answer.error(),
                format!(
                    "error building helm chart dependencies: dependency dep: repository {url} refused access; tried {tried}; log in \
                     with `helm repo add`, `helm registry login` or `docker login`, or add a Secret labelled \
                     argocd.argoproj.io/secret-type: repository with type helm, url, username and password to the store: index.yaml: the \
                     server answered 401 Unauthorized"
                )
            );
        }
    }
}

#[test]
fn other_hosts_get_credentials_only_with_the_parameter() {
    let server = ChartServer::start(Transport::Plain);
    let elsewhere = format!("http://localhost:{}/private/", server.port());
    server
        .repository("/private", &charts())
        .repository_elsewhere("/index", &charts(), &elsewhere)
        .protect("/private", Access::Basic)
        .protect("/index", Access::Basic);
    let url = format!("{}/index", server.url());
    for helm in Helm::ALL {
        let world = || with_dep("1.0.0", &url).repositories(&json!([login(&url)]));
        let refused = world().generate(helm);
        let expected = format!(
            "tried the repository's user and password for its own server only, and none for {elsewhere}dep-1.0.0.tgz; set \
             passCredentials: true in the Application's helm block if that server may have them"
        );
        assert!(refused.error().contains(&expected), "{}", refused.error());
        world().text("pass-credentials", "true").gives(helm, "1.0.0");
    }
}

/// Go's `net/http`, which helm uses, sends credentials to all ports of the host.
#[test]
fn redirect_to_another_server_gets_no_credentials() {
    let server = ChartServer::start(Transport::Plain);
    let other = ChartServer::start(Transport::Plain);
    server.repository("/stable", &charts());
    other.repository("/moved", &charts());
    let url = format!("{}/stable", server.url());
    server.redirect("/stable/dep-1.0.0.tgz", &format!("{}/moved/dep-1.0.0.tgz", other.url()));
    let world = || with_dep("1.0.0", &url).repositories(&json!([login(&url)]));
    world().gives(Helm::Four, "1.0.0");
    other.protect("/moved", Access::Basic);
    let answer = world().generate(Helm::Four);
    assert!(answer.error().contains("answered 401 Unauthorized"), "{answer:?}");
}

#[test]
fn private_ca_and_client_certificate_are_used() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let (identity, client) = (authority.server(), clients.client());
    let server = ChartServer::start(Transport::MutualTls(&identity, &clients));
    server.repository("/stable", &charts());
    let url = format!("{}/stable", server.url());
    let certificate = json!({
        "tlsClientCertData": client.certificate_pem, "tlsClientCertKey": client.key_pem, "caData": authority.pem(),
    });
    let plain = json!({ "url": url, "type": "helm" });
    for helm in Helm::ALL {
        with_dep("1.0.0", &url)
            .repositories(&json!([with(plain.clone(), &certificate)]))
            .gives(helm, "1.0.0");
        let only_authority = with(plain.clone(), &json!({ "caData": authority.pem() }));
        let answer = with_dep("1.0.0", &url).repositories(&json!([only_authority])).generate(helm);
        assert!(answer.error().ends_with("TLS: received fatal alert: CertificateRequired"), "{answer:?}");
        let answer = with_dep("1.0.0", &url).generate(helm);
        assert!(answer.error().contains("certificate"), "{answer:?}");
    }
}

#[test]
fn server_certificates_apply_to_its_repositories() {
    let (authority, other) = (Authority::new(), Authority::new());
    let server = ChartServer::start(Transport::Tls(&authority.server()));
    server.repository("/stable", &charts());
    let url = format!("{}/stable", server.url());
    let world = |certificates: Value, repositories: Value| {
        with_dep("1.0.0", &url).context(
            &json!({ "version": 1, "serverCertificates": certificates, "repositories": repositories }),
        )
    };
    let known = |fields: Value| json!([with(json!({ "url": url, "type": "helm" }), &fields)]);
    let own = json!({ "127.0.0.1": authority.pem() });
    for helm in Helm::ALL {
        world(own.clone(), json!([])).gives(helm, "1.0.0");
        world(own.clone(), known(json!({}))).gives(helm, "1.0.0");
        world(json!({ "127.0.0.1": other.pem() }), known(json!({ "caData": authority.pem() })))
            .gives(helm, "1.0.0");
        for refused in [
            world(json!({ "a.example.org": authority.pem() }), json!([])),
            world(own.clone(), known(json!({ "caData": other.pem() }))),
        ] {
            let answer = refused.generate(helm);
            assert!(answer.error().contains("certificate"), "{answer:?}");
        }
    }
}

#[test]
fn insecure_server_is_accepted() {
    let identity = Authority::new().server();
    let server = ChartServer::start(Transport::Tls(&identity));
    server.repository("/stable", &charts());
    let url = format!("{}/stable", server.url());
    for helm in Helm::ALL {
        let insecure = json!([{ "url": url, "type": "helm", "insecure": true }]);
        with_dep("1.0.0", &url).repositories(&insecure).gives(helm, "1.0.0");
    }
}

#[test]
fn proxy_is_used_only_for_its_repository() {
    let (proxy, direct) = (ChartServer::start(Transport::Plain), ChartServer::start(Transport::Plain));
    // A proxy receives absolute URLs.
    let far = "http://charts.invalid/stable";
    for chart in charts() {
        proxy.file(&format!("{far}/{}", chart.archive_name()), chart.pack());
    }
    let index = ChartServer::start(Transport::Plain);
    index.repository("/stable", &charts());
    direct.repository("/stable", &charts());
    proxy.repository_elsewhere(far, &charts(), "");
    let near = format!("{}/stable", direct.url());
    for helm in Helm::ALL {
        let world = umbrella(&format!(
            "{{name: dep, version: 1.0.0, repository: '{far}'}}, {{name: more, version: 0.1.0, repository: '{near}'}}"
        ))
        .repositories(&json!([{ "url": far, "type": "helm", "proxy": proxy.url() }]));
        let names = world.generate(helm).names();
        assert_eq!(names, ["ConfigMap/dep-1.0.0", "ConfigMap/more-0.1.0", "ConfigMap/app-0.1.0"]);
    }
    assert!(proxy.requests().iter().all(|request| request.path.starts_with(far)));
}

#[test]
fn source_proxy_is_not_used_for_the_callers_credentials() {
    let (proxy, private) = (ChartServer::start(Transport::Plain), ChartServer::start(Transport::Plain));
    let far = "http://charts.invalid/stable";
    for chart in charts() {
        proxy.file(&format!("{far}/{}", chart.archive_name()), chart.pack());
    }
    proxy.repository_elsewhere(far, &charts(), "");
    private.repository("/private", &charts()).protect("/private", Access::Basic);
    let near = format!("{}/private", private.url());
    let file = format!("repositories:\n- {{url: '{near}', username: {USER}, password: {PASSWORD}}}\n");
    let source = json!({ "kind": "git", "repoURL": "https://git.invalid/apps.git", "proxy": proxy.url() });
    for helm in Helm::ALL {
        let world = umbrella(&format!(
            "{{name: dep, version: 1.0.0, repository: '{far}'}}, {{name: more, version: 0.1.0, repository: '{near}'}}"
        ))
        .context(&json!({ "version": 1, "source": source, "mountedCredentials": "use" }))
        .file("../home/.config/helm/repositories.yaml", &file);
        let home = world.root().parent().unwrap().join("home").display().to_string();
        let names = world.variable("HOME", &home).generate(helm).names();
        assert_eq!(names, ["ConfigMap/dep-1.0.0", "ConfigMap/more-0.1.0", "ConfigMap/app-0.1.0"]);
    }
    assert!(proxy.requests().iter().all(|request| request.path.starts_with(far)));
}

#[test]
fn forbidden_repository_is_not_contacted() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/a", &charts()).repository("/b", &charts());
    let (a, b) = (format!("{}/a", server.url()), format!("{}/b", server.url()));
    let world = umbrella(&format!(
        "{{name: dep, version: 1.0.0, repository: '{a}'}}, {{name: more, version: 0.1.0, repository: '{b}'}}, \
         {{name: far, version: 0.1.0, repository: 'oci://registry.invalid/charts'}}"
    ))
    .context(&json!({ "version": 1, "project": { "name": "strict", "sourceRepos": [a] } }));
    let expected = format!("helm repos {b}, registry.invalid/charts are not permitted in project 'strict'");
    assert_eq!(world.generate(Helm::Four).error(), expected);
    assert!(server.requests().is_empty());

    let world = with_dep("1.0.0", &b)
        .variable("TIPHYS_HELM_SOURCE_REPOS", "https://elsewhere.example.com/*")
        .variable("ARGOCD_APP_PROJECT_NAME", "team");
    assert_eq!(
        world.generate(Helm::Four).error(),
        format!("helm repos {b} are not permitted in project 'team'")
    );
}

#[test]
fn files_of_helm_replace_a_missing_run_context() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/private", &charts()).protect("/private", Access::Basic);
    let url = format!("{}/private", server.url());
    let repositories =
        format!("repositories:\n- name: known\n  url: {url}\n  username: {USER}\n  password: {PASSWORD}\n");
    for helm in Helm::ALL {
        for repository in [url.as_str(), "@known"] {
            let world = with_dep("1.0.0", repository).file("../helm/repositories.yaml", &repositories);
            let folder = world.root().parent().unwrap().join("helm").display().to_string();
            world.variable("HELM_CONFIG_HOME", &folder).gives(helm, "1.0.0");
        }
    }
}

#[test]
fn files_of_helm_complete_the_run_context() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/private", &charts()).protect("/private", Access::Basic);
    let url = format!("{}/private", server.url());
    let file = |password: &str| {
        format!("repositories:\n- {{name: known, url: '{url}', username: {USER}, password: {password}}}\n")
    };
    for helm in Helm::ALL {
        for (repositories, password) in [(json!([]), PASSWORD), (json!([login(&url)]), "of-another-user")] {
            let world = with_dep("1.0.0", &url)
                .context(&json!({ "version": 1, "repositories": repositories, "mountedCredentials": "use" }))
                .file("../home/.config/helm/repositories.yaml", &file(password));
            let home = world.root().parent().unwrap().join("home").display().to_string();
            world.variable("HOME", &home).gives(helm, "1.0.0");
        }
    }
}

#[test]
fn run_context_of_a_server_ignores_files_of_helm() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/private", &charts()).protect("/private", Access::Basic);
    let url = format!("{}/private", server.url());
    let file = format!("repositories:\n- {{url: '{url}', username: {USER}, password: {PASSWORD}}}\n");
    for helm in Helm::ALL {
        // An unreadable file is not opened.
        for (mode, file) in [(json!("ignore"), &file), (Value::Null, &file), (Value::Null, &"- [".to_owned())]
        {
            let world = with_dep("1.0.0", &url)
                .context(&json!({ "version": 1, "mountedCredentials": mode }))
                .file("../home/.config/helm/repositories.yaml", file);
            let home = world.root().parent().unwrap().join("home").display().to_string();
            let answer = world.variable("HOME", &home).generate(helm);
            let error = answer.error();
            assert!(error.contains("401"), "{helm:?}, {mode}: {error}");
        }
    }
}

#[test]
fn offline_run_uses_only_the_cache() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/stable", &charts()).file("/v.yaml", "a: 1\n");
    let url = format!("{}/stable", server.url());
    for helm in Helm::ALL {
        let offline = json!({ "version": 1, "network": "none" });
        // Offline, the age of a resolved range does not matter.
        let world = with_dep("^1.0.0", &url).variable("TIPHYS_HELM_RANGE_AGE", "1").cached();
        world.generate(helm).names();
        let asked = server.requests().len();
        world.context(&offline).gives(helm, "1.1.0");

        let answer = with_dep("1.0.0", &url).context(&offline).generate(helm);
        let expected = format!(
            "error building helm chart dependencies: found in Chart.yaml, but missing in charts/ directory: dep; charts of {url} are not \
             cached, and fetching is disabled (--offline); render once without --offline, commit them in charts/, or name a folder \
             that has them (--repo URL=DIR)"
        );
        assert_eq!(answer.error(), expected, "{helm:?}");
        let file = format!("{}/v.yaml", server.url());
        let problem =
            "it is a URL, and fetching is disabled (--offline); commit the file, or render without --offline";
        let answer = World::probe().context(&offline).array("value-files", &[&file]).generate(helm);
        let expected =
            format!("error resolving helm value files: error resolving value file path: {problem}");
        assert_eq!(answer.error(), expected, "{helm:?}");
        let answer = World::probe().context(&offline).text("set-file.f", &file).generate(helm);
        assert_eq!(answer.error(), format!("error resolving helm value file path: {problem}"), "{helm:?}");
        assert_eq!(server.requests().len(), asked, "{helm:?}: no request was sent");
    }
}

#[test]
fn failure_of_a_server_is_reported() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/stable", &charts());
    let url = format!("{}/stable", server.url());
    for helm in Helm::ALL {
        for (path, failure, expected) in [
            ("/stable/index.yaml", Failure::Status(500), "index.yaml: the server answered 500 "),
            ("/stable/index.yaml", Failure::HalfOfABody, "index.yaml: end of file before message length"),
            ("/stable/dep-1.0.0.tgz", Failure::Status(404), "chart dep 1.0.0: the server answered 404 "),
            (
                "/stable/dep-1.0.0.tgz",
                Failure::HalfOfABody,
                "chart dep 1.0.0: end of file before message length",
            ),
        ] {
            server.fail(path, Some(failure));
            let answer = with_dep("1.0.0", &url).generate(helm);
            let error = answer.error();
            assert!(error.contains(expected) && error.contains(&url), "{helm:?} {failure:?}: {error}");
            server.fail(path, None);
        }
    }
}

#[test]
fn hanging_server_is_named_at_the_timeout() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/stable", &charts());
    let url = format!("{}/stable", server.url());
    for failure in [Failure::Hang, Failure::HangInBody] {
        server.fail("/stable/index.yaml", Some(failure));
        let answer = with_dep("1.0.0", &url).variable("TIPHYS_HELM_TIMEOUT", "1").generate(Helm::Four);
        assert_eq!(
            answer.error(),
            format!(
                "error building helm chart dependencies: dependency dep: looking up charts of repository {url} did not end within 1s; \
                 increase TIPHYS_HELM_TIMEOUT"
            )
        );
    }
}

#[test]
fn only_slow_calls_are_reported() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/stable", &charts());
    let url = format!("{}/stable", server.url());
    let world = || with_dep("1.0.0", &url).variable("TIPHYS_HELM_TIMEOUT", "60");
    // Much longer than the run takes on a slow machine.
    world().variable("TIPHYS_HELM_SLOW_AFTER", "59").gives(Helm::Four, "1.0.0");
    server.fail("/stable/index.yaml", Some(Failure::Hang));
    let world = world().variable("TIPHYS_HELM_SLOW_AFTER", "1").variable("TIPHYS_HELM_TIMEOUT", "2");
    let answer = world.generate(Helm::Four);
    let lines: Vec<&str> = answer.stderr.lines().collect();
    let notice = format!(
        "tiphys-helm: `dependency dep` has not ended after 1 s; it may take 2 s (TIPHYS_HELM_TIMEOUT); it fetches from {url}"
    );
    let at = lines.iter().position(|line| *line == notice);
    assert!(at.is_some_and(|at| at + 1 < lines.len()), "before the failure: {}", answer.stderr);
    assert_eq!(lines.iter().filter(|line| line.contains("has not ended")).count(), 1);
}

#[test]
fn failure_of_a_registry_is_reported() {
    let server = ChartServer::start(Transport::Plain);
    server.images("charts", &charts());
    let url = format!("{}/charts", server.host());
    let known = json!([{ "url": url, "type": "helm", "enableOCI": true, "insecureOCIForceHttp": true }]);
    let world = || with_dep("1.0.0", &format!("oci://{url}")).repositories(&known);
    for helm in Helm::ALL {
        world().gives(helm, "1.0.0");
        for (path, failure, expected) in [
            ("/v2/charts/dep/manifests", Failure::Status(401), "401"),
            ("/v2/charts/dep/manifests", Failure::Status(500), "500"),
            ("/v2/charts/dep/blobs", Failure::Status(404), "not found"),
            ("/v2/charts/dep/blobs", Failure::HalfOfABody, "end of file before message length"),
        ] {
            server.fail(path, Some(failure));
            let answer = world().generate(helm);
            let error = answer.error();
            assert!(error.contains(expected) && error.contains(&url), "{helm:?} {failure:?}: {error}");
            server.fail(path, None);
        }
    }
}

#[test]
fn hanging_registry_is_named_at_the_timeout() {
    let server = ChartServer::start(Transport::Plain);
    server.images("charts", &charts());
    let url = format!("{}/charts", server.host());
    let known = json!([{ "url": url, "type": "helm", "enableOCI": true, "insecureOCIForceHttp": true }]);
    for (path, failure, action) in [
        ("/v2/", Failure::Hang, "looking up charts of"),
        ("/v2/charts/dep/blobs", Failure::HangInBody, "fetching a chart of"),
    ] {
        server.fail(path, Some(failure));
        let world = with_dep("1.0.0", &format!("oci://{url}")).repositories(&known);
        let answer = world.variable("TIPHYS_HELM_TIMEOUT", "1").generate(Helm::Four);
        let end =
            format!("{action} repository oci://{url} did not end within 1s; increase TIPHYS_HELM_TIMEOUT");
        assert!(answer.error().ends_with(&end), "{failure:?}: {}", answer.error());
        server.fail(path, None);
    }
}

#[test]
fn truncated_archive_is_reported_and_not_cached() {
    let server = ChartServer::start(Transport::Plain);
    let archive = chart("dep", "1.0.0").pack();
    let url = format!("{}/stable", server.url());
    for helm in Helm::ALL {
        server.repository("/stable", &charts()).file("/stable/dep-1.0.0.tgz", &archive[..archive.len() / 2]);
        let world = with_dep("1.0.0", &url).cached();
        let error = world.generate(helm).error().to_owned();
        let end = "it was changed, or did not come whole";
        assert!(
            error.contains(&format!("chart dep 1.0.0 of repository {url}")) && error.ends_with(end),
            "{error}"
        );
        server.repository("/stable", &charts());
        world.gives(helm, "1.0.0");
    }
}

#[test]
fn registry_is_read_with_and_without_credentials() {
    let authority = Authority::new();
    let identity = authority.server();
    for access in [RegistryAccess::Open, RegistryAccess::Basic] {
        let registry = Registry::start(access, Transport::Tls(&identity), &authority);
        for chart in charts() {
            registry.push("charts", &chart);
        }
        let url = format!("{}/charts", registry.host());
        let fields = json!({ "enableOCI": true, "caData": authority.pem() });
        let repository = match access {
            RegistryAccess::Open => with(json!({ "url": url, "type": "helm" }), &fields),
            RegistryAccess::Basic => with(login(&url), &fields),
        };
        for helm in Helm::ALL {
            for (version, expected) in [("1.0.0", "1.0.0"), ("^1.0.0", "1.1.0")] {
                with_dep(version, &format!("oci://{url}"))
                    .repositories(&json!([repository]))
                    .gives(helm, expected);
            }
        }
    }
}

#[test]
fn registry_is_read_over_plain_http_or_insecure_tls() {
    let authority = Authority::new();
    let identity = authority.server();
    let plain = json!({ "insecureOCIForceHttp": true });
    let insecure = json!({ "insecure": true });
    for (transport, fields) in [(Transport::Plain, plain), (Transport::Tls(&identity), insecure)] {
        let registry = Registry::start(RegistryAccess::Basic, transport, &authority);
        for chart in charts() {
            registry.push("charts", &chart);
        }
        let url = format!("{}/charts", registry.host());
        let repository = with(with(login(&url), &json!({ "enableOCI": true })), &fields);
        for helm in Helm::ALL {
            with_dep("1.0.0", &format!("oci://{url}"))
                .repositories(&json!([repository]))
                .gives(helm, "1.0.0");
        }
    }
}

#[test]
fn unauthorized_registry_is_named_without_the_password() {
    let authority = Authority::new();
    let identity = authority.server();
    let registry = Registry::start(RegistryAccess::Basic, Transport::Tls(&identity), &authority);
    registry.push("charts", &chart("dep", "1.0.0"));
    let url = format!("{}/charts", registry.host());
    let fields = json!({ "enableOCI": true, "caData": authority.pem(), "password": "wrong-secret" });
    for helm in Helm::ALL {
        let answer = with_dep("1.0.0", &format!("oci://{url}"))
            .repositories(&json!([with(login(&url), &fields)]))
            .generate(helm);
        let error = answer.error();
        assert!(error.contains(&format!("oci://{url}")) && error.contains("401"), "{helm:?}: {error}");
        assert!(!error.contains("wrong-secret"), "{error}");
    }
}

#[test]
fn docker_credentials_are_used_without_a_run_context() {
    let authority = Authority::new();
    let identity = authority.server();
    let registry = Registry::start(RegistryAccess::Basic, Transport::Tls(&identity), &authority);
    registry.push("charts", &chart("dep", "1.0.0"));
    let config = json!({ "auths": { registry.host(): { "auth": "dXNlcjpwYXNz" } } });
    for helm in Helm::ALL {
        let world = with_dep("1.0.0", &format!("oci://{}/charts", registry.host()))
            .file("../docker/config.json", &config.to_string())
            .file("../ca.pem", authority.pem());
        let path = |name: &str| world.root().parent().unwrap().join(name).display().to_string();
        let (docker, ca) = (path("docker"), path("ca.pem"));
        world.variable("DOCKER_CONFIG", &docker).variable("SSL_CERT_FILE", &ca).gives(helm, "1.0.0");
    }
}

#[test]
fn helm_gets_no_credentials() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/private", &charts()).protect("/private", Access::Basic);
    let url = format!("{}/private", server.url());
    for helm in Helm::ALL {
        let world = with_dep("1.0.0", &url).repositories(&json!([login(&url)]));
        let seen = world.root().parent().unwrap().join("seen").display().to_string();
        let script = format!(
            "#!/bin/sh\n{{ echo \"$@\"; env; find \"$HELM_CONFIG_HOME\" -type f; }} >> {seen}\nexec {} \"$@\"\n",
            helm.program().display()
        );
        let world = world.file("../spy", &script);
        let spy = world.root().parent().unwrap().join("spy");
        make_executable(&spy);
        let world = world.variable("TIPHYS_HELM", &spy.display().to_string());
        world.gives(helm, "1.0.0");
        let seen = fs::read_to_string(seen).unwrap();
        assert!(seen.contains("template") && seen.contains("HELM_CONFIG_HOME="), "{seen}");
        assert!(!seen.contains("repositories.yaml"), "{seen}");
        for line in seen.lines() {
            assert!(!line.split([' ', '=', ':']).any(|word| word == PASSWORD || word == USER), "{line}");
        }
    }
}
