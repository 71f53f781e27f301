//! Logins that the person who asks has on this machine: files are read once in a command, and a helper is asked once for a registry.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use tiphys_logins::{HelperBound, OwnLogins};
use tiphys_source::{ChartSource, Sources};
use tiphys_testkit::certificates::Authority;
use tiphys_testkit::chart::Chart;
use tiphys_testkit::chart_server::{Access, ChartServer, Transport};
use tiphys_testkit::executable::make_executable;
use tiphys_testkit::git;

use crate::charts::workbench::{Workbench, chart, failure, fetch, pair, web, with};

/// A helper that prints the credentials.
const KNOWS: &str = "printf '{\"Username\":\"user\",\"Secret\":\"pass\"}'";

/// Long enough for a helper that does anything, which is a shell in a process.
const LONG: Duration = Duration::from_mins(1);

/// For a helper that does nothing.
const SHORT: Duration = Duration::from_secs(2);

/// `user:pass` in base64, which the servers ask for.
const PAIR: &str = "dXNlcjpwYXNz";

/// Two registries that demand credentials, each with the charts `web` and `api`, and a user with helm's and docker's files.
struct Place {
    bench: Workbench,
    authority: Authority,
    registries: [ChartServer; 2],
    /// How long a helper may take.
    bound: Duration,
}

impl Place {
    fn new() -> Self {
        let authority = Authority::new();
        let identity = authority.server();
        let registries = [(); 2].map(|()| {
            let server = ChartServer::start(Transport::Tls(&identity));
            let charts = [web("1.0.0"), Chart::new("api", "1.0.0").with("says", "1.0.0")];
            server.repository("/stable", &charts).protect("/stable/", Access::Basic);
            server.images("team", &charts);
            server.protect("/v2/", Access::Basic);
            server
        });
        let place = Self { bench: Workbench::new(), authority, registries, bound: LONG };
        fs::create_dir(place.path("bin")).expect("a folder can be made");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.bench.path(name)
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        fs::write(self.path(name), text).expect("a file can be written");
        self
    }

    /// Makes a helper for all registries that tells of each time that it is asked.
    fn helper(self, then: &str) -> Self {
        let asked = self.path("asked").display().to_string();
        let script = format!("#!/bin/sh\nread -r registry\necho \"$registry\" >> '{asked}'\n{then}\n");
        self.write("config.json", r#"{"credsStore": "test"}"#).write("bin/docker-credential-test", &script);
        make_executable(&self.path("bin/docker-credential-test"));
        self
    }

    /// The registries for which the helper was asked.
    fn asked(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("asked")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn own_logins(&self) -> OwnLogins {
        let folder = self.path("").display().to_string();
        let (name, path) = &git::environment(&self.path(""))[0];
        assert_eq!(name, "PATH");
        let path = format!("{folder}/bin:{}", path.display());
        let variables = [
            ("PATH", path),
            ("DOCKER_CONFIG", folder.clone()),
            ("HELM_REGISTRY_CONFIG", format!("{folder}/registry.json")),
            ("HELM_REPOSITORY_CONFIG", format!("{folder}/repositories.yaml")),
        ];
        let bound = HelperBound { timeout: self.bound, option: Some("--lookup-timeout") };
        OwnLogins::new(variables.map(|(name, value)| (name.to_owned(), value)), bound)
    }

    /// A chart for which the person's logins count.
    fn source(&self, address: &str, name: &str) -> ChartSource {
        let mut source = with(chart(address, name, "^1"), |access| {
            self.authority.pem().clone_into(&mut access.ca_data);
        });
        source.own_logins = Some(self.own_logins());
        source
    }

    fn of_registry(&self, number: usize, name: &str) -> ChartSource {
        self.source(&format!("{}/team", self.registries[number].host()), name)
    }

    async fn is_fetched(&self, sources: &Sources, source: &ChartSource) {
        assert_eq!(fetch(sources, source).await.expect("it is fetched"), pair("1.0.0", "1.0.0"));
    }
}

#[tokio::test]
async fn a_helper_is_asked_once_for_a_registry_however_many_charts_want_it_at_once() {
    let place = Place::new().helper(KNOWS);
    let sources = place.bench.sources();
    let all = [(0, "web"), (0, "api"), (1, "web"), (1, "api")].map(|(at, name)| place.of_registry(at, name));
    let [one, two, three, four] = &all;
    tokio::join!(
        place.is_fetched(&sources, one),
        place.is_fetched(&sources, two),
        place.is_fetched(&sources, three),
        place.is_fetched(&sources, four),
    );
    let (mut asked, mut expected) =
        (place.asked(), place.registries.each_ref().map(|registry| registry.host()).to_vec());
    asked.sort();
    expected.sort();
    assert_eq!(asked, expected);
}

#[tokio::test]
async fn the_failure_of_a_helper_is_told_to_all_who_want_it() {
    let hangs =
        "docker-credential-test returned no credentials for HOST within 2 s; increase --lookup-timeout";
    let fails = "docker-credential-test has no credentials for HOST; run `docker-credential-test get` with HOST on its \
                 standard input to see why";
    for (then, bound, expected) in [("exec tail -f /dev/null", SHORT, hangs), ("exit 1", LONG, fails)] {
        let place = Place { bound, ..Place::new().helper(then) };
        let sources = place.bench.sources();
        let [one, two] = ["web", "api"].map(|name| place.of_registry(0, name));
        let (one, two) = tokio::join!(failure(&sources, &one), failure(&sources, &two));
        let host = place.registries[0].host();
        let expected = format!("login to repository {host}/team: {}", expected.replace("HOST", &host));
        assert_eq!((one.as_str(), two.as_str()), (expected.as_str(), expected.as_str()));
        assert!(place.asked().len() <= 1, "{:?}", place.asked());
    }
}

#[tokio::test]
async fn files_with_logins_are_read_once_in_a_command() {
    let place = Place::new();
    let repository = format!("{}/stable", place.registries[0].url());
    let host = place.registries[0].host();
    place.write("config.json", &format!(r#"{{"auths": {{"{host}": {{"auth": "{PAIR}"}}}}}}"#)).write(
        "repositories.yaml",
        &format!("repositories: [{{url: '{repository}', username: user, password: pass}}]"),
    );
    let sources = place.bench.sources();
    place.is_fetched(&sources, &place.source(&repository, "web")).await;
    place.is_fetched(&sources, &place.of_registry(0, "web")).await;
    place.write("config.json", "- [").write("repositories.yaml", "- [");
    place.is_fetched(&sources, &place.source(&repository, "api")).await;
    place.is_fetched(&sources, &place.of_registry(0, "api")).await;
    for source in [place.source(&repository, "api"), place.of_registry(0, "api")] {
        let text = failure(&place.bench.sources(), &source).await;
        assert!(text.contains("does not have the structure of helm's file; check its syntax"), "{text}");
    }
}

#[tokio::test]
async fn withheld_credentials_are_reported_with_the_setting() {
    let place = Place::new();
    let (host, url) = (place.registries[0].host(), format!("{}/stable", place.registries[0].url()));
    place.write("config.json", &format!(r#"{{"auths": {{"{host}": {{"auth": "{PAIR}"}}}}}}"#));
    let entry = format!("{{url: '{url}', username: user, password: pass}}");
    place.write("repositories.yaml", &format!("repositories: [{entry}]"));
    for source in [place.source(&url, "web"), place.of_registry(0, "web")] {
        let sources = place.bench.sources();
        place.is_fetched(&sources, &source).await;
        let insecure = with(source, |access| access.insecure = true);
        let text = failure(&place.bench.sources(), &insecure).await;
        let expected = "refused access; tried no credentials: the repository Secret sets `insecure` without credentials, so \
                        those of the user are withheld; add credentials to that Secret, or remove the setting: ";
        assert!(text.contains(expected), "{text}");
    }
}

/// As in helm, invalid credentials matter only where a registry requires some.
#[tokio::test]
async fn what_is_no_login_is_told_by_its_file_and_field_where_a_registry_wants_one() {
    let place = Place::new();
    let (host, file) = (place.registries[0].host(), place.path("config.json").display().to_string());
    place.registries[1].protect("/v2/", Access::Open);
    let open = place.registries[1].host();
    let no_pair = "its field auth is not base64 of USER:PASSWORD";
    for (entry, problem) in [
        (r#"{"auth": "geheim!!"}"#, no_pair),
        (r#"{"auth": "Z2VoZWlt"}"#, no_pair),
        (r#"{"auth": ["geheim"]}"#, "its field auth must be a string"),
        (r#""geheim""#, "it is not an object"),
    ] {
        place.write("config.json", &format!(r#"{{"auths": {{"{host}": {entry}, "{open}": {entry}}}}}"#));
        let sources = place.bench.sources();
        let text = failure(&sources, &place.of_registry(0, "web")).await;
        let due =
            format!("tried no credentials: the credentials for {host} in {file} cannot be used: {problem}; ");
        assert!(text.contains(&due) && !text.contains("geheim") && !text.contains("Z2VoZWlt"), "{text}");
        place.is_fetched(&sources, &place.of_registry(1, "web")).await;
    }
    // Behind a helper, too, once that has said that it knows nothing.
    let place = place.helper("echo 'credentials not found in native keychain'; exit 1");
    fs::rename(place.path("config.json"), place.path("registry.json")).expect("a file can be renamed");
    place.write("config.json", &format!(r#"{{"auths": {{"{host}": {{"auth": "geheim!!"}}}}}}"#));
    let text = failure(&place.bench.sources(), &place.of_registry(0, "web")).await;
    let due = format!(
        "tried what docker-credential-test knows, and no other credentials: the credentials for {host} in {file} cannot be used: {no_pair}; "
    );
    assert!(text.contains(&due) && !text.contains("geheim"), "{text}");
    assert_eq!(place.asked(), [host]);
    fs::remove_file(place.path("registry.json")).expect("a file can be removed");
    for config in ["", "{\"credsStore\": \"\"}", "null"] {
        place.write("config.json", config);
        let text = failure(&place.bench.sources(), &place.of_registry(0, "api")).await;
        assert!(text.contains("tried no credentials; "), "{text}");
    }
}
