use tiphys_access::{RepositoryAccess, Secret};

use super::{Address, Proxies};

fn proxies(access: &RepositoryAccess, environment: &[(&str, &str)]) -> Proxies {
    Proxies::new(access, &|name| {
        let found = environment.iter().find(|(found, _)| *found == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

fn address(url: &str) -> Address {
    Address::parse(url).expect(url).0
}

fn chosen(proxies: &Proxies, url: &str) -> Option<String> {
    proxies.text_for(&address(url)).map(|proxy| proxy.expose().to_owned())
}

#[test]
fn the_environment_has_a_proxy_for_each_scheme_and_its_exceptions() {
    let environment = [
        ("HTTP_PROXY", "http://plain:1"),
        ("https_proxy", "http://tls:2"),
        ("NO_PROXY", "a.org, .b.org,10.0.0.0/8,c.org:8443,*.d.org,192.168.1.1,fd00::/8"),
    ];
    let proxies = proxies(&RepositoryAccess::default(), &environment);
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
        assert_eq!(chosen(&proxies, url).as_deref(), expected, "{url}");
    }
}

#[test]
fn a_proxy_of_another_kind_is_refused() {
    for (proxy, is_one) in [
        ("http://p:1", true),
        ("HTTPS://p:1", true),
        ("p:1", true),
        ("socks5://p:1", false),
        ("socks4://p:1", false),
        ("ftp://p:1", false),
    ] {
        let access = RepositoryAccess { proxy: Secret::new(proxy), ..RepositoryAccess::default() };
        let found = proxies(&access, &[]).of(&address("https://x.org"));
        assert_eq!(found.is_ok_and(|found| found.is_some()), is_one, "{proxy}");
    }
}

#[test]
fn a_repositorys_own_proxy_takes_the_place_of_all_that_the_environment_says() {
    let access = RepositoryAccess {
        proxy: Secret::new("http://own:3"),
        no_proxy: "a.org".to_owned(),
        ..RepositoryAccess::default()
    };
    let proxies = proxies(&access, &[("HTTPS_PROXY", "http://tls:2"), ("NO_PROXY", "*")]);
    assert_eq!(chosen(&proxies, "https://x.org").as_deref(), Some("http://own:3"));
    assert_eq!(chosen(&proxies, "http://x.org").as_deref(), Some("http://own:3"));
    assert_eq!(chosen(&proxies, "https://a.org"), None);
}
