//! Redirects, TLS, other servers, and shared connections.

use std::net::TcpListener;
use std::time::Duration;

use tiphys_generators::PluginLimits;
use tiphys_testkit::canned_server::{Canned, CannedServer, Pace};
use tiphys_testkit::certificates::Authority;

use crate::{ONE, QUESTION, ask, error, services, world};

#[tokio::test]
async fn redirects_stay_on_the_server_and_keep_the_method() {
    let other = CannedServer::start(None, |_| Canned::new(200, ONE));
    let elsewhere = format!("{}/x?secret", other.url());
    for (status, location, expected) in [
        (307, "/moved", Ok(())),
        (308, "/moved", Ok(())),
        (
            302,
            "/moved",
            Err("it redirects to $BASE/moved; status code 302 would turn the request into a GET"),
        ),
        (
            307,
            elsewhere.as_str(),
            Err("it redirects to $OTHER/x?***; only redirects to the same server are followed"),
        ),
        (307, "/api/v1/getparams.execute", Err("stopped after 10 redirects")),
        (307, "ftp://x/", Err("it redirects to an invalid URL; expected http or https")),
    ] {
        let server = {
            let location = location.to_owned();
            CannedServer::start(None, move |request| match request.path.as_str() {
                "/moved" => Canned::new(200, ONE),
                _ => Canned::new(status, "").with("Location", &location),
            })
        };
        let answer = ask(&services(&server, &[])).await;
        match expected {
            Ok(()) => {
                assert_eq!(answer.as_deref(), Ok(r#"[{"name":"one"}]"#));
                let [first, second] = &server.requests()[..] else { panic!("two requests") };
                assert_eq!((&first.method, &first.body), (&second.method, &second.body));
                let referer = format!("{}/api/v1/getparams.execute", server.url());
                assert_eq!(second.header("Referer"), Some(referer.as_str()));
                assert_eq!(second.header("Authorization"), Some("Bearer s3cr3t"));
            }
            Err(expected) => {
                let error = answer.expect_err(location);
                let error = error.replace(&server.url(), "$BASE").replace(&other.url(), "$OTHER");
                let prefix =
                    "error listing params: error get api 'set': Post \"$BASE/api/v1/getparams.execute\": ";
                assert!(error.starts_with(&format!("{prefix}{expected}")), "{error}");
            }
        }
    }
    assert_eq!(other.requests(), []);
}

#[tokio::test]
async fn server_needs_a_certificate_of_the_named_authority_and_host() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let server = CannedServer::start(Some(&authority.server()), |_| Canned::new(200, ONE));
    let services = |base_url: &str, ca: &str| {
        let world = world(base_url, &[("caRef", "ca:ca.pem")]).config_map("ca", &[("ca.pem", ca)]);
        let to = [("plugin.svc:443", server.host()), ("localhost:443", server.host())];
        let to = to.map(|(from, to)| format!("{from}={to}"));
        world.services(PluginLimits::default(), &[&to[0], &to[1]])
    };
    for base_url in [server.url().as_str(), "https://localhost"] {
        let answer = ask(&services(base_url, authority.pem())).await;
        assert_eq!(answer.as_deref(), Ok(r#"[{"name":"one"}]"#), "{base_url}");
    }
    let trusted = server.requests().len();
    let name = error(&services("https://plugin.svc", authority.pem())).await;
    let unknown = error(&services("https://localhost", stranger.pem())).await;
    for (error, problem) in [(name, "certificate not valid for name"), (unknown, "invalid peer certificate")]
    {
        assert!(error.contains("/api/v1/getparams.execute\": tls: ") && error.contains(problem), "{error}");
    }
    assert_eq!(server.requests().len(), trusted);
}

#[tokio::test]
async fn service_can_be_reached_at_another_server() {
    let server = CannedServer::start(None, |_| Canned::new(200, ONE));
    let to = format!("plugin.argocd.svc:4355={}", server.host());
    let services = world("http://plugin.argocd.svc:4355/x/", &[]).services(PluginLimits::default(), &[&to]);
    assert_eq!(ask(&services).await.as_deref(), Ok(r#"[{"name":"one"}]"#));
    let requests = server.requests();
    assert_eq!(requests[0].path, "/x/api/v1/getparams.execute");
    assert_eq!(requests[0].header("Host"), Some("plugin.argocd.svc:4355"));
}

#[tokio::test]
async fn unreachable_services_are_reported() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let closed = listener.local_addr().expect("it is bound").to_string();
    drop(listener);
    let prefix = |url: &str| {
        format!("error listing params: error get api 'set': Post \"http://{url}/api/v1/getparams.execute\": ")
    };
    let refused =
        error(&world(&format!("http://{closed}"), &[]).services(PluginLimits::default(), &[])).await;
    assert_eq!(refused, format!("{}dial tcp {closed}: connect: connection refused", prefix(&closed)));
    let unknown = error(&world("http://x.invalid", &[]).services(PluginLimits::default(), &[])).await;
    assert_eq!(unknown, format!("{}dial tcp: lookup x.invalid: no such host", prefix("x.invalid")));
}

#[tokio::test]
async fn service_that_cannot_be_reached_is_not_asked_again() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let services = world(&format!("http://{address}"), &[]).services(PluginLimits::default(), &[]);
    let refused = error(&services).await;
    assert!(refused.ends_with("connect: connection refused"), "{refused}");
    let listener = TcpListener::bind(address).expect("the port is still free");
    assert_eq!(error(&services).await, refused);
    listener.set_nonblocking(true).expect("it is ours");
    assert!(listener.accept().is_err(), "no connection");
}

#[tokio::test]
async fn concurrent_questions_are_limited_and_share_connections() {
    for (jobs, connections) in [(1, 1), (2, 2)] {
        let late = Pace::Late(Duration::from_millis(200));
        let server = CannedServer::start(None, move |_| Canned::new(200, ONE).at(late));
        let limits = PluginLimits { jobs, ..PluginLimits::default() };
        let services = world(&server.url(), &[]).services(limits, &[]);
        let (one, other) = tokio::join!(services.ask(&QUESTION), services.ask(&QUESTION));
        assert_eq!((one, server.connections()), (other, connections));
        ask(&services).await.expect("an answer");
        assert_eq!(server.connections(), connections);
    }
}
