//! Sent requests, and cases without a request.

use tiphys_generators::{PluginForm, PluginLimits, PluginQuestion};
use tiphys_testkit::canned_server::{Canned, CannedServer};

use crate::{ONE, QUESTION, ask, error, services, world};

#[tokio::test]
async fn contract_decides_path_body_and_answer() {
    let server = CannedServer::start(None, |request| match request.path.as_str() {
        "/api/v1/getparams.execute" => Canned::new(200, ONE),
        _ => Canned::new(200, r#"[{"name":"bare"}]"#),
    });
    let shipped = "{\"applicationSetName\":\"set\",\"input\":{\"parameters\":{\"a\":1.0}}}\n";
    let (form, other) = (PluginForm::Shipped, PluginForm::Proposal);
    let bare_list = "json: cannot unmarshal object into Go value of type []map[string]interface {}";
    for (form, contract, parameters, path, body, expected) in [
        (form, None, "{\"a\":1.0}", "/api/v1/getparams.execute", shipped, Ok("one")),
        (
            form,
            None,
            "{}",
            "/api/v1/getparams.execute",
            "{\"applicationSetName\":\"set\",\"input\":{}}\n",
            Ok("one"),
        ),
        (other, Some("shipped"), "{\"a\":1.0}", "/api/v1/getparams.execute", shipped, Ok("one")),
        (form, Some("bare-list"), "{\"a\":1.0}", "/api/v1/getparams.execute", shipped, Err(bare_list)),
        (other, None, "{\"a\":1.0}", "/v1/generator.getParams", "{\"a\":1.0}\n", Ok("bare")),
        (form, Some("proposal"), "{}", "/v1/generator.getParams", "{}\n", Ok("bare")),
    ] {
        let more: Vec<_> = contract.iter().map(|contract| ("contract", *contract)).collect();
        let answer = services(&server, &more).ask(&PluginQuestion { form, parameters, ..QUESTION }).await;
        match expected {
            Ok(name) => assert_eq!(answer.expect("an answer")[0]["name"], name),
            Err(text) => {
                let error = answer.expect_err("it fails");
                assert!(
                    error.starts_with(&format!("error listing params: error get api 'set': {text}: ")),
                    "{error}"
                );
            }
        }
        let requests = server.requests();
        let request = requests.last().expect("a request");
        assert_eq!(
            (request.method.as_str(), request.path.as_str(), request.body.as_str()),
            ("POST", path, body)
        );
        assert_eq!(request.header("Content-Type"), Some("application/json"));
        assert_eq!(request.header("Authorization"), Some("Bearer s3cr3t"));
    }
}

#[tokio::test]
async fn list_of_a_service_needs_its_contract() {
    let server = CannedServer::start(None, |_| Canned::new(200, r#"[{"name":"x"}]"#));
    let refused = error(&services(&server, &[])).await;
    let expected = "error listing params: error get api 'set': json: cannot unmarshal array into Go value of type \
                    plugin.ServiceResponse: [{\"name\":\"x\"}]; a service that answers with a list needs \
                    `contract: bare-list` in ConfigMap argocd/cm";
    assert_eq!(refused, expected);
    let accepted = ask(&services(&server, &[("contract", "bare-list")])).await;
    assert_eq!(accepted.as_deref(), Ok(r#"[{"name":"x"}]"#));
}

#[tokio::test]
async fn token_is_the_value_of_a_secret() {
    let server = CannedServer::start(None, |_| Canned::new(200, ONE));
    let secret = [("k", " t0ken \n"), ("empty", " \n"), ("lines", "a\nb"), ("umlaut", "ä")];
    let no_key = |key: &str| format!("Secret argocd/s has no key {key:?}");
    let no_reference =
        "token is empty, or does not reference a secret key starting with '$': expected".to_owned();
    let no_header = |key: &str| {
        format!("Secret argocd/s: key {key:?}: a token must be one line of printable ASCII characters")
    };
    for (reference, expected) in [
        ("$s:k", Ok(Some("Bearer t0ken"))),
        ("$s:k:ignored", Ok(Some("Bearer t0ken"))),
        ("$plugin.token", Ok(Some("Bearer s3cr3t"))),
        ("$s:empty", Ok(None)),
        ("$s:missing", Err(no_key("missing"))),
        ("$s:", Err(no_key(""))),
        ("$s:k ", Err(no_key("k "))),
        ("$", Err("Secret argocd/argocd-secret has no key \"\"".to_owned())),
        ("$s:lines", Err(no_header("lines"))),
        ("$s:umlaut", Err(no_header("umlaut"))),
        ("$none:k", Err("error fetching secret argocd/none: Secret \"none\" not found".to_owned())),
        ("$:k", Err("error fetching secret argocd/: Secret \"\" not found".to_owned())),
        ("hush", Err(no_reference.clone())),
        (" $s:k", Err(no_reference)),
    ] {
        let before = server.requests().len();
        let world = world(&server.url(), &[("token", reference)]).secret("s", &secret);
        let answer = ask(&world.services(PluginLimits::default(), &[])).await;
        let requests = server.requests();
        match expected {
            Ok(header) => assert_eq!(requests.last().expect("a request").header("Authorization"), header),
            Err(expected) => {
                let error = answer.expect_err(reference);
                let prefix = "error getting plugin from generator: error fetching Secret token: ";
                assert!(error.starts_with(&format!("{prefix}{expected}")), "{error}");
                assert!(!error.contains("hush") && !error.contains("t0ken"), "{error}");
                assert_eq!(requests.len(), before, "{reference}");
            }
        }
    }
}

#[tokio::test]
async fn invalid_settings_are_errors_in_upstreams_words() {
    let server = CannedServer::start(None, |_| Canned::new(200, ONE));
    let settings = "error getting plugin from generator: ";
    let listing = "error listing params: ";
    for (key, value, expected) in [
        ("baseUrl", "", format!("{settings}error fetching ConfigMap: baseUrl not found in ConfigMap")),
        ("token", "", format!("{settings}error fetching ConfigMap: token not found in ConfigMap")),
        (
            "requestTimeout",
            "5s",
            format!("{settings}error set requestTimeout : strconv.Atoi: parsing \"5s\": invalid syntax"),
        ),
        (
            "contract",
            "rest",
            format!(
                "{settings}ConfigMap argocd/cm: contract: \"rest\" is unknown; expected shipped, proposal or bare-list"
            ),
        ),
        ("caRef", "ca", format!("{settings}ConfigMap argocd/cm: caRef: \"ca\": expected CONFIGMAP:KEY")),
        ("caRef", "ca:x", format!("{settings}ConfigMap argocd/cm: caRef: ConfigMap \"ca\" not found")),
        (
            "caRef",
            "cm:x",
            format!("{settings}ConfigMap argocd/cm: caRef: ConfigMap argocd/cm has no key \"x\""),
        ),
        (
            "caRef",
            "cm:baseUrl",
            format!("{settings}ConfigMap argocd/cm: its CA certificate (PEM) holds no certificate"),
        ),
        (
            "baseUrl",
            "ftp://x",
            format!(
                "{listing}error get api 'set': Post \"ftp://x/api/v1/getparams.execute\": unsupported protocol scheme \"ftp\""
            ),
        ),
        (
            "baseUrl",
            "http://x?y=1",
            format!(
                "{listing}NewRequest returned unexpected error: parse \"http://x?***\": baseUrl must not have a query"
            ),
        ),
    ] {
        let error = error(&services(&server, &[(key, value)])).await;
        assert!(error.starts_with(&expected), "{error}");
    }
    assert_eq!(server.requests(), []);
    let missing = services(&server, &[]).ask(&PluginQuestion { config_map: "x", ..QUESTION }).await;
    let expected = "error fetching ConfigMap: ConfigMap \"x\" not found";
    assert_eq!(missing, Err(format!("{settings}{expected}")));
}
