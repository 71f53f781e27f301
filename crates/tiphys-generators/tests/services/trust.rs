//! A token and CA certificates are only for addresses from the same place.

use tiphys_generators::ObjectOrigin::{Caller, Repository};
use tiphys_generators::PluginLimits;
use tiphys_testkit::canned_server::{Canned, CannedServer};

use crate::world::World;
use crate::{ONE, ask};

#[tokio::test]
async fn secrets_are_not_sent_to_addresses_with_less_trust() {
    let server = CannedServer::start(None, |_| Canned::new(200, ONE));
    let base_url = server.url();
    let refused = Some(
        "error fetching Secret token: Secret argocd/argocd-secret is not sent to the address of ConfigMap argocd/cm, which is in a rendered repository",
    );
    let no_ca = Some(
        "ConfigMap argocd/cm: caRef: ConfigMap argocd/ca is not sent to the address of ConfigMap argocd/cm",
    );
    let weak_ca = Some(
        "ConfigMap argocd/cm: caRef: ConfigMap argocd/ca is in a rendered repository, so it is not trusted",
    );
    for (address, token, ca, expected) in [
        (Caller, Caller, Caller, None),
        (Repository, Repository, Repository, None),
        (Caller, Repository, Caller, None),
        (Repository, Caller, Repository, refused),
        (Repository, Repository, Caller, no_ca),
        (Caller, Caller, Repository, weak_ca),
    ] {
        let before = server.requests().len();
        let certificate = tiphys_testkit::certificates::Authority::new();
        let settings = [("baseUrl", base_url.as_str()), ("token", "$k"), ("caRef", "ca:ca")];
        let world = World::in_namespace("argocd")
            .config_map_of(address, "cm", &settings)
            .config_map_of(ca, "ca", &[("ca", certificate.pem())])
            .secret_of(token, "argocd-secret", &[("k", "t0ken")]);
        let answer = ask(&world.services(PluginLimits::default(), &[])).await;
        match expected {
            None => assert_eq!(answer.as_deref(), Ok(r#"[{"name":"one"}]"#)),
            Some(expected) => {
                let error = answer.expect_err("it is refused");
                let expected = format!("error getting plugin from generator: {expected}");
                assert!(error.starts_with(&expected), "{error}");
                assert_eq!(server.requests().len(), before);
            }
        }
    }
}
