//! Registries: a real one, and one that gives tokens.

use tiphys_testkit::certificates::Authority;
use tiphys_testkit::chart_server::{Access, ChartServer, Transport};
use tiphys_testkit::registry::{Registry, RegistryAccess};

use crate::charts::workbench::{Workbench, chart, failure, fetch, log_in, pair, web, with};

/// As settings of a registry that speaks no TLS.
fn plain(access: &mut tiphys_model::access::RepositoryAccess) {
    access.insecure_oci_force_http = true;
}

#[tokio::test]
async fn charts_and_artefacts_come_from_a_registry_by_version_range_tag_and_digest() {
    let authority = Authority::new();
    let identity = authority.server();
    let registry = Registry::start(RegistryAccess::Basic, Transport::Tls(&identity), &authority);
    registry.push("team/charts", &web("1.0.0"));
    let digest = registry.push("team/charts", &web("1.2.0+build"));
    let settings = |access: &mut tiphys_model::access::RepositoryAccess| {
        log_in(access);
        authority.pem().clone_into(&mut access.ca_data);
    };
    let (bench, host) = (Workbench::new(), registry.host());
    let sources = bench.sources();
    for repository in [format!("{host}/team/charts"), format!("oci://{host}/team/charts/")] {
        for (wanted, version) in [("1.0.0", "1.0.0"), ("1.2.0+build", "1.2.0+build"), ("^1", "1.2.0+build")] {
            let source = with(chart(&repository, "web", wanted), settings);
            assert_eq!(
                fetch(&sources, &source).await.expect("it is fetched"),
                pair(version, version),
                "{wanted}"
            );
        }
    }
    for wanted in ["1.2.0_build", "^1.1", digest.as_str()] {
        let source = with(chart(&format!("oci://{host}/team/charts/web"), "", wanted), settings);
        let found = fetch(&sources, &source).await.expect("it is fetched");
        assert_eq!(found, pair(&digest, "1.2.0+build"), "{wanted}");
    }
    let refused = with(chart(&format!("{host}/team/charts"), "web", "1.0.0"), |access| {
        authority.pem().clone_into(&mut access.ca_data);
    });
    let text = failure(&Workbench::new().sources(), &refused).await;
    assert!(text.contains("refused access; tried no credentials"), "{text}");
}

#[tokio::test]
async fn a_token_is_fetched_with_the_password_and_sent_in_its_stead() {
    for access in [Access::AnonymousToken, Access::Token] {
        let server = ChartServer::start(Transport::Plain);
        server.images("charts", &[web("1.0.0")]);
        server.protect("/v2/", access);
        let mut source = with(chart(&format!("{}/charts", server.host()), "web", "1.0.0"), plain);
        if access == Access::Token {
            source = with(source, log_in);
        }
        let found = fetch(&Workbench::new().sources(), &source).await.expect("it is fetched");
        assert_eq!(found, pair("1.0.0", "1.0.0"));
        for request in server.requests().iter().filter(|request| request.path.starts_with("/v2/")) {
            let sent = request.header("Authorization").unwrap_or("Bearer");
            assert!(sent.starts_with("Bearer"), "the password goes to who gives the token: {request:?}");
        }
    }
}

#[tokio::test]
async fn artefact_of_an_https_url_is_refused() {
    let text =
        failure(&Workbench::new().sources(), &chart("https://127.0.0.1:9/charts/web", "", "1.0.0")).await;
    assert!(text.contains("write a registry as HOST/PATH or oci://HOST/PATH, in lower case"), "{text}");
}

#[tokio::test]
async fn what_a_registry_does_not_have_is_told_by_name() {
    let server = ChartServer::start(Transport::Plain);
    server.images("charts", &[web("1.0.0")]);
    let repository = format!("{}/charts", server.host());
    let sources = Workbench::new().sources();
    for (name, wanted, expected) in [
        ("web", "2.0.0", "chart \"web\" version \"2.0.0\" not found in"),
        ("api", "1.0.0", "chart \"api\" version \"1.0.0\" not found in"),
        ("web", ">=2", "invalid revision: version matching constraint not found in 1 tags"),
        (
            "web",
            "latest",
            "invalid revision: failed to determine semver constraint: improper constraint: latest",
        ),
        ("Web", "1.0.0", "write a registry as HOST/PATH or oci://HOST/PATH, in lower case"),
        ("../web", "1.0.0", "write a registry as HOST/PATH or oci://HOST/PATH, in lower case"),
    ] {
        let text = failure(&sources, &with(chart(&repository, name, wanted), plain)).await;
        assert!(text.contains(expected), "{text}");
    }
    let text = failure(&sources, &chart(&repository, "web", "1.0.0")).await;
    assert!(text.contains("insecureOCIForceHttp"), "{text}");
}

#[tokio::test]
async fn a_range_passes_over_what_is_no_version() {
    let server = ChartServer::start(Transport::Plain);
    server.images("charts", &[web("1.0.0")]);
    let tags = r#"{"tags": ["1.0.1-01", "latest", "1.0.0", "99999999999999999999"]}"#;
    server.file("/v2/charts/web/tags/list", tags);
    let source = with(chart(&format!("{}/charts", server.host()), "web", ">=0-0"), plain);
    let found = fetch(&Workbench::new().sources(), &source).await.expect("it is fetched");
    assert_eq!(found, pair("1.0.0", "1.0.0"));
}
