//! Tests the chart server and the registry with helm.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;
use tiphys_testkit::certificates::Authority;
use tiphys_testkit::chart::Chart;
use tiphys_testkit::chart_server::{Access, ChartServer, Failure, PASSWORD, Transport, USER};
use tiphys_testkit::recorded_servers::RecordedServers;
use tiphys_testkit::registry::{Registry, RegistryAccess};
use tiphys_testkit::tools;

const BOTH: [&str; 2] = ["helm", "helm3"];
const LOGIN: [&str; 4] = ["--username", USER, "--password", PASSWORD];

/// A helm with its own home directory.
struct Helm<'a> {
    program: &'a str,
    home: TempDir,
}

impl<'a> Helm<'a> {
    fn new(program: &'a str) -> Self {
        Self { program, home: tempfile::tempdir().expect("a temporary folder") }
    }

    fn output(&self, arguments: &[&str]) -> Output {
        #[expect(clippy::disallowed_methods, reason = "the test runs helm")]
        Command::new(tools::program(self.program))
            .args(arguments)
            .current_dir(self.home.path())
            .env_clear()
            .env("HOME", self.home.path())
            .stdin(Stdio::null())
            .output()
            .expect("helm starts")
    }

    /// Returns helm's output or error.
    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.output(arguments);
        if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
    }

    /// Asserts that helm fails with this text.
    fn expect_failure(&self, arguments: &[&str], words: &str) {
        let error = self.run(arguments).expect_err("helm fails");
        assert!(error.contains(words), "{}: {error:?} does not contain {words:?}", self.program);
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("helm prints UTF-8")
}

fn charts() -> [Chart; 3] {
    [Chart::new("web", "1.0.0"), Chart::new("web", "1.2.0+build.5"), Chart::new("web", "2.0.0-rc.1")]
        .map(|chart| chart.with("values.yaml", "replicas: 1\n"))
}

/// Returns the complete response to a GET without credentials over HTTP.
fn get(server: &ChartServer, path: &str) -> String {
    let mut stream = TcpStream::connect(server.host()).expect("the server listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: test\r\nX-Seen: yes\r\n\r\n").expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the server answers");
    answer
}

fn write(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, content).expect("a file can be written");
    path.display().to_string()
}

#[test]
fn helm_reads_a_repository_over_http_and_requests_are_recorded() {
    for program in BOTH {
        let server = ChartServer::start(Transport::Plain);
        server.repository("/charts", &charts());
        let url = format!("{}/charts", server.url());
        let helm = Helm::new(program);
        let shown = helm.run(&["show", "chart", "web", "--repo", &url]).unwrap();
        assert!(shown.contains("version: 1.2.0+build.5"), "the newest release: {shown}");
        assert_eq!(server.count("/charts/index.yaml"), 1, "{program}");
        let agent = server.requests()[0].header("user-agent").unwrap().to_owned();
        assert!(agent.starts_with("Helm/"), "{agent}");
        server.forget();
        assert_eq!(server.requests(), []);
    }
}

#[test]
fn basic_authentication_is_required_below_its_prefix_only() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/private", &charts()).protect("/private/", Access::Basic).file("/open", "public");
    let url = format!("{}/private", server.url());
    for program in BOTH {
        let helm = Helm::new(program);
        helm.expect_failure(&["show", "chart", "web", "--repo", &url], "401 Unauthorized");
        let arguments = [["show", "chart", "web"].as_slice(), &["--repo", &url], &LOGIN].concat();
        assert!(helm.run(&arguments).unwrap().contains("name: web"));
    }
    assert!(get(&server, "/open").ends_with("\r\n\r\npublic"));
    assert!(get(&server, "/private/index.yaml").starts_with("HTTP/1.1 401 "));
}

#[test]
fn tls_server_is_trusted_and_may_require_a_certificate() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let (identity, client) = (authority.server(), authority.client());
    let other_client = stranger.client();
    let folder = tempfile::tempdir().unwrap();
    let ca = write(folder.path(), "ca.pem", authority.pem());
    let other_ca = write(folder.path(), "other.pem", stranger.pem());
    let own = [
        write(folder.path(), "c.pem", &client.certificate_pem),
        write(folder.path(), "c.key", &client.key_pem),
    ];
    let wrong = [
        write(folder.path(), "w.pem", &other_client.certificate_pem),
        write(folder.path(), "w.key", &other_client.key_pem),
    ];
    let tls = ChartServer::start(Transport::Tls(&identity));
    let mutual = ChartServer::start(Transport::MutualTls(&identity, &authority));
    for program in BOTH {
        let helm = Helm::new(program);
        let show = |server: &ChartServer, more: &[&str]| {
            server.repository("/c", &charts());
            let url = format!("{}/c", server.url());
            helm.run(&[["show", "chart", "web", "--repo", &url].as_slice(), more].concat())
        };
        assert!(show(&tls, &["--ca-file", &ca]).unwrap().contains("name: web"));
        assert!(show(&tls, &[]).unwrap_err().contains("certificate"), "no CA certificate");
        assert!(
            show(&tls, &["--ca-file", &other_ca]).unwrap_err().contains("certificate"),
            "another authority"
        );
        let with = |pair: &[String; 2]| {
            let more = ["--ca-file", &ca, "--cert-file", &pair[0], "--key-file", &pair[1]];
            show(&mutual, &more)
        };
        assert!(with(&own).unwrap().contains("name: web"));
        assert!(with(&wrong).is_err(), "a certificate of another authority");
        assert!(show(&mutual, &["--ca-file", &ca]).is_err(), "no certificate");
    }
}

#[test]
fn an_index_may_name_another_host_and_a_path_may_lead_elsewhere() {
    let (server, other) = (ChartServer::start(Transport::Plain), ChartServer::start(Transport::Plain));
    other.repository("/archives", &charts());
    server
        .repository_elsewhere("/here", &charts(), &format!("{}/archives/", other.url()))
        .redirect("/there/index.yaml", &format!("{}/here/index.yaml", server.url()));
    let helm = Helm::new("helm");
    for path in ["here", "there"] {
        let url = format!("{}/{path}", server.url());
        assert!(
            helm.run(&["show", "chart", "web", "--version", "1.0.0", "--repo", &url])
                .unwrap()
                .contains("name: web")
        );
    }
    assert_eq!(other.count("/archives/web-1.0.0.tgz"), 2);
}

#[test]
fn server_fails_on_demand_and_records_requests() {
    let server = ChartServer::start(Transport::Plain);
    server.file("/a", "1234567890").fail("/a", Some(Failure::Status(500)));
    assert!(get(&server, "/a").starts_with("HTTP/1.1 500 Internal Server Error\r\n"));
    server.fail("/a", Some(Failure::HalfOfABody));
    let half = get(&server, "/a");
    assert!(half.contains("Content-Length: 10\r\n") && half.ends_with("\r\n\r\n12345"), "{half}");
    server.fail("/a", None);
    assert!(get(&server, "/a").ends_with("\r\n\r\n1234567890"));
    assert_eq!(server.count("/a"), 3);
    assert_eq!(server.requests()[0].header("x-seen"), Some("yes"));
}

#[test]
fn tls_client_of_a_plain_server_fails_at_once() {
    let server = ChartServer::start(Transport::Plain);
    server.images("charts", &charts());
    let url = format!("oci://{}/charts/web", server.host());
    let arguments = ["pull", &url, "--version", "1.0.0"];
    Helm::new("helm").expect_failure(&arguments, "first record does not look like a TLS handshake");
    assert_eq!(server.requests(), []);
}

#[test]
fn hanging_server_can_be_ended() {
    for (failure, expected) in [(Failure::Hang, ""), (Failure::HangInBody, "12345")] {
        let server = ChartServer::start(Transport::Plain);
        server.file("/a", "1234567890").fail("/a", Some(failure));
        let mut stream = TcpStream::connect(server.host()).unwrap();
        write!(stream, "GET /a HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = vec![0; 4096];
        let mut count = 0;
        while !answer[..count].ends_with(expected.as_bytes()) {
            count += stream.read(&mut answer[count..]).unwrap();
        }
        server.wait_for("/a");
        drop(server);
        // The connection ends, and nothing else was received.
        assert_eq!(stream.read(&mut answer[count..]).unwrap_or(0), 0, "{failure:?}");
        assert_eq!(count == 0, expected.is_empty(), "{failure:?}");
    }
}

#[test]
fn helm_pulls_from_the_chart_server_with_and_without_login() {
    for (access, may_be_anonymous) in
        [(Access::Open, true), (Access::Basic, false), (Access::AnonymousToken, true), (Access::Token, false)]
    {
        let server = ChartServer::start(Transport::Plain);
        let digests = server.images("charts", &charts());
        server.protect("/v2/", access);
        for program in BOTH {
            let helm = Helm::new(program);
            let url = format!("oci://{}/charts/web", server.host());
            let pull = ["pull", &url, "--version", "1.2.0+build.5", "--plain-http"];
            if !may_be_anonymous {
                helm.run(&pull).unwrap_err();
                let host = server.host();
                helm.run(&[["registry", "login", &host, "--plain-http"].as_slice(), &LOGIN].concat())
                    .unwrap_or_else(|error| panic!("{program} {access:?}: {error}"));
            }
            helm.run(&pull).unwrap_or_else(|error| panic!("{program} {access:?}: {error}"));
            let pulled = fs::read(helm.home.path().join("web-1.2.0+build.5.tgz")).unwrap();
            assert_eq!(pulled, charts()[1].pack());
        }
        assert!(digests[1].starts_with("sha256:") && digests[1].len() == 71, "{digests:?}");
    }
}

#[test]
fn helm_pulls_pushed_charts_with_the_required_credentials() {
    let authority = Authority::new();
    let identity = authority.server();
    let folder = tempfile::tempdir().unwrap();
    let ca = write(folder.path(), "ca.pem", authority.pem());
    let plain = Registry::start(RegistryAccess::Open, Transport::Plain, &authority);
    let tls = Registry::start(RegistryAccess::Basic, Transport::Tls(&identity), &authority);
    for registry in [&plain, &tls] {
        for chart in charts() {
            assert!(registry.push("team/charts", &chart).starts_with("sha256:"));
        }
    }
    for program in BOTH {
        let pull = |registry: &Registry, helm: &Helm<'_>, more: &[&str]| {
            let url = format!("oci://{}/team/charts/web", registry.host());
            helm.run(&[["pull", &url, "--version", "^1.0.0"].as_slice(), more].concat())?;
            Ok::<_, String>(fs::read(helm.home.path().join("web-1.2.0+build.5.tgz")).unwrap())
        };
        let helm = Helm::new(program);
        assert_eq!(pull(&plain, &helm, &["--plain-http"]).unwrap(), charts()[1].pack());
        let helm = Helm::new(program);
        let error = pull(&tls, &helm, &["--ca-file", &ca]).unwrap_err();
        assert!(error.contains("basic credential not found") || error.contains("401"), "{error}");
        let host = tls.host();
        helm.run(&[["registry", "login", &host, "--ca-file", &ca].as_slice(), &LOGIN].concat()).unwrap();
        assert_eq!(pull(&tls, &helm, &["--ca-file", &ca]).unwrap(), charts()[1].pack());
    }
}

#[test]
fn registry_rejects_clients_without_a_trusted_certificate() {
    let authority = Authority::new();
    let (identity, client) = (authority.server(), authority.client());
    let folder = tempfile::tempdir().unwrap();
    let ca = write(folder.path(), "ca.pem", authority.pem());
    let (certificate, key) = (
        write(folder.path(), "c.pem", &client.certificate_pem),
        write(folder.path(), "c.key", &client.key_pem),
    );
    let registry =
        Registry::start(RegistryAccess::Open, Transport::MutualTls(&identity, &authority), &authority);
    registry.push("charts", &charts()[0]);
    let helm = Helm::new("helm");
    let url = format!("oci://{}/charts/web", registry.host());
    let pull = ["pull", &url, "--version", "1.0.0", "--ca-file", &ca];
    helm.run(&pull).unwrap_err();
    helm.run(&[pull.as_slice(), &["--cert-file", &certificate, "--key-file", &key]].concat()).unwrap();
}

#[test]
fn recorded_servers_serve_the_charts_of_recorded_answers() {
    let servers = RecordedServers::start();
    let ca = servers.certificate_file().display().to_string();
    let helm = Helm::new("helm");
    let show = |url: &str, more: &[&str]| {
        helm.run(&[["show", "chart", "remote", "--repo", url].as_slice(), more].concat())
    };
    assert!(show("http://127.0.0.1:18480/stable", &[]).unwrap().contains("version: 2.0.0"));
    assert!(show("https://127.0.0.1:18443/stable", &["--ca-file", &ca]).unwrap().contains("version: 2.0.0"));
    assert!(
        show("https://127.0.0.1:18444/stable", &["--ca-file", &ca])
            .unwrap_err()
            .contains("unknown authority")
    );
    assert!(show("https://127.0.0.1:18443/private", &["--ca-file", &ca]).unwrap_err().contains("401"));
    let login = [LOGIN.as_slice(), &["--ca-file", &ca]].concat();
    assert!(show("https://127.0.0.1:18443/private", &login).is_ok());
    assert!(
        show("https://127.0.0.1:18443/otherhost", &login)
            .unwrap_err()
            .contains("localhost:18443/private/remote-2.0.0.tgz")
    );
    helm.run(&["pull", "oci://127.0.0.1:18443/charts/remote", "--version", "1.0.0", "--ca-file", &ca])
        .unwrap();
    helm.run(&["pull", "oci://127.0.0.1:18443/private/remote", "--version", "1.0.0", "--ca-file", &ca])
        .unwrap_err();
    assert_eq!(servers.digest("remote", "1.0.0").map(str::len), Some(71));
    assert_eq!(servers.digest("remote", "9.0.0"), None);
}
