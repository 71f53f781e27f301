use reqwest::Url;
use tiphys_model::access::{RepositoryAccess, Secret};

use super::ProxySettings;

fn settings(access: &RepositoryAccess, environment: &[(&str, &str)]) -> ProxySettings {
    ProxySettings::new(access, &|name| {
        let found = environment.iter().find(|(found, _)| *found == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

fn url(text: &str) -> Url {
    Url::parse(text).expect(text)
}

fn chosen(settings: &ProxySettings, target: &str) -> Option<String> {
    settings.setting_for(&url(target)).map(|proxy| proxy.expose().to_owned())
}

#[test]
fn environment_has_a_proxy_per_scheme_and_exceptions() {
    let environment = [
        ("HTTP_PROXY", "http://plain:1"),
        ("https_proxy", "http://tls:2"),
        ("ALL_PROXY", "http://all:3"),
        ("NO_PROXY", "a.org, .b.org,10.0.0.0/8,c.org:8443,*.d.org,192.168.1.1,fd00::/8"),
    ];
    let settings = settings(&RepositoryAccess::default(), &environment);
    for (url, expected) in [
        ("http://x.org", Some("http://plain:1")),
        ("https://x.org", Some("http://tls:2")),
        ("https://a.org", None),
        ("https://sub.a.org", None),
        ("https://nota.org", Some("http://tls:2")),
        ("https://b.org", Some("http://tls:2")),
        ("https://sub.b.org", None),
        ("https://10.1.2.3", None),
        ("https://11.1.2.3", Some("http://tls:2")),
        ("https://c.org", Some("http://tls:2")),
        ("https://c.org:8443", None),
        ("https://sub.d.org", None),
        ("https://d.org", Some("http://tls:2")),
        ("https://192.168.1.1", None),
        ("https://[fd00::1]", None),
        ("https://localhost", None),
        ("https://127.0.0.9", None),
        ("https://[::1]", None),
    ] {
        assert_eq!(chosen(&settings, url).as_deref(), expected, "{url}");
    }
}

#[test]
fn invalid_proxies_are_rejected_instead_of_ignored() {
    for (proxy, expected) in [
        ("http://p:1", Some("http://p:1/")),
        ("HTTPS://p:1", Some("https://p:1/")),
        ("p:1", Some("http://p:1/")),
        ("http://user:p@ss@p:1/path?query", Some("http://user:p%40ss@p:1/")),
        ("http://[::1]:3128", Some("http://[::1]:3128/")),
        ("socks5://p:1", None),
        ("socks4://p:1", None),
        ("ftp://p:1", None),
        ("http://p{}:1", None),
        ("http://p:port", None),
        ("http://", None),
    ] {
        let access = RepositoryAccess { proxy: Secret::new(proxy), ..RepositoryAccess::default() };
        let found = settings(&access, &[]).proxy_for(&url("https://x.org"));
        let found = found.map(|found| found.expect("a proxy is set").to_string());
        assert_eq!(found.ok().as_deref(), expected, "{proxy}");
    }
}

#[test]
fn proxy_of_the_repository_replaces_the_environment() {
    let access = RepositoryAccess {
        proxy: Secret::new("http://own:3"),
        no_proxy: "a.org".to_owned(),
        ..RepositoryAccess::default()
    };
    let settings = settings(&access, &[("HTTPS_PROXY", "http://tls:2"), ("NO_PROXY", "*")]);
    assert_eq!(chosen(&settings, "https://x.org").as_deref(), Some("http://own:3"));
    assert_eq!(chosen(&settings, "http://x.org").as_deref(), Some("http://own:3"));
    assert_eq!(chosen(&settings, "https://a.org"), None);
}
