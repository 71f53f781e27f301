//! Forges on loopback with canned answers. The cases are `testdata/forge/FORGE.yaml`, the requests and results beside them.
//!
//! In the cases, SERVER is the URL of the forge and OTHER that of another server. The Secret `forge` has the keys `token`, `lines` and
//! `empty`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tiphys_generators::{
    ConfigObject, ConfigObjects, ForgeRules, ForgeSettings, Forges, ObjectOrigin, Recipient,
};
use tiphys_model::access::Secret;
use tiphys_model::limits::Limits;
use tiphys_testkit::certificates::Authority;
use tiphys_testkit::chart_server::{ChartServer, Failure, Request, Transport};
use tiphys_testkit::fixture;
use tiphys_yaml::{read_documents, write_yaml};

const TOKEN: &str = "a-token-of-a-test";

/// The Secret `forge`, and the `ConfigMap` `ca` with the key `pem`.
struct Objects {
    secret: ObjectOrigin,
    ca: (String, ObjectOrigin),
}

impl ConfigObjects for Objects {
    fn config_map(&self, namespace: &str, name: &str) -> Result<Option<ConfigObject>, String> {
        let (pem, origin) = &self.ca;
        Ok(((namespace, name) == ("team", "ca")).then(|| object("ConfigMap", name, &[("pem", pem)], *origin)))
    }

    fn secret(&self, namespace: &str, name: &str) -> Result<Option<ConfigObject>, String> {
        if name == "invalid" {
            return Err("Secret team/invalid (secrets.yaml:9): data: must be an object".to_owned());
        }
        let data = [("token", TOKEN), ("lines", "a-token\n"), ("empty", "")];
        Ok(((namespace, name) == ("team", "forge")).then(|| object("Secret", name, &data, self.secret)))
    }
}

fn object(kind: &str, name: &str, data: &[(&str, &str)], origin: ObjectOrigin) -> ConfigObject {
    let data = data.iter().map(|(key, value)| ((*key).to_owned(), Secret::new(*value)));
    ConfigObject {
        data: data.collect::<BTreeMap<_, _>>(),
        secret_type: String::new(),
        origin,
        name: format!("{kind} team/{name} (file.yaml:1)"),
    }
}

fn set(origin: ObjectOrigin) -> Recipient {
    Recipient { origin, name: "ApplicationSet team/apps (set.yaml:1)".to_owned() }
}

fn forges(objects: Objects) -> Forges {
    let settings = ForgeSettings {
        list_bytes_max: 4096,
        pages_max: 3,
        request_timeout: Duration::from_secs(20),
        ..ForgeSettings::new(&Limits::default(), Vec::new())
    };
    Forges::new(settings, Arc::new(objects))
}

fn caller_objects() -> Objects {
    Objects { secret: ObjectOrigin::Caller, ca: (String::new(), ObjectOrigin::Caller) }
}

/// Callers need futures that can move to another thread.
fn is_send<T: Send>(future: T) -> T {
    future
}

/// The parameters or the error.
async fn ask(forges: &Forges, case: &Value, origin: ObjectOrigin) -> Value {
    let generator = case["generator"].as_str().expect("a generator");
    let set = set(origin);
    let answer = forges.ask(generator, &case["settings"], "team", &set);
    match is_send(answer).await {
        Ok(parameters) => json!({"parameters": parameters}),
        Err(error) if error.contains(TOKEN) => panic!("{error}"),
        Err(error) => json!({"error": error}),
    }
}

/// Method, path and credentials.
fn shown(request: &Request) -> String {
    let header = |name| request.header(name).map(|value| format!(" {name}: {value}")).unwrap_or_default();
    format!("{} {}{}{}", request.method, request.path, header("Authorization"), header("PRIVATE-TOKEN"))
}

fn serve(server: &ChartServer, answers: &Value) {
    for (path, answer) in answers.as_object().into_iter().flatten() {
        // An answer with `body` has a status or headers, every other value is the body.
        let (status, headers, body) = match answer.get("body") {
            Some(body) => (&answer["status"], &answer["headers"], body),
            None => (&Value::Null, &Value::Null, answer),
        };
        let status = status.as_u64().map_or(200, |status| u16::try_from(status).expect("a status"));
        let headers = headers.as_object().into_iter().flatten();
        let headers: Vec<_> = headers
            .map(|(name, value)| (name.clone(), value.as_str().expect("a string").to_owned()))
            .collect();
        let body = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
        server.answer(path, status, &headers, &body);
    }
}

async fn check(forge: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/forge");
    let cases = fs::read_to_string(folder.join(format!("{forge}.yaml"))).expect("the cases");
    let forges = forges(caller_objects());
    let mut results = Vec::new();
    let mut answers = Value::Null;
    for case in read_documents(cases.as_bytes()).expect("valid YAML") {
        let (server, other) = (ChartServer::start(Transport::Plain), ChartServer::start(Transport::Plain));
        let case = case.to_value();
        if case["answers"] != "previous" {
            answers = case["answers"].clone();
        }
        let urls = |text: String| text.replace("SERVER", &server.url()).replace("OTHER", &other.url());
        let parsed =
            |value: &Value| -> Value { serde_json::from_str(&urls(value.to_string())).expect("JSON") };
        serve(&server, &parsed(&answers));
        let mut result = ask(&forges, &parsed(&case), ObjectOrigin::Caller).await;
        result["about"] = case["about"].clone();
        result["requests"] = server.requests().iter().map(shown).collect::<Vec<_>>().into();
        let result = result.to_string();
        assert_eq!(other.requests(), [], "{result}");
        let result = result.replace(&server.url(), "SERVER").replace(&other.url(), "OTHER");
        results.push(serde_json::from_str::<Value>(&result).expect("JSON"));
    }
    fixture::compare(&folder.join(format!("{forge}.expected.yaml")), &write_yaml(&results.into()));
}

#[tokio::test]
async fn github_is_asked_and_answers_are_filtered() {
    check("github").await;
}

#[tokio::test]
async fn gitlab_is_asked_and_answers_are_filtered() {
    check("gitlab").await;
}

#[tokio::test]
async fn gitea_is_asked_and_answers_are_filtered() {
    check("gitea").await;
}

#[tokio::test]
async fn unsupported_forges_are_refused_by_name() {
    check("unsupported").await;
}

const PROJECT: &str = "/api/v4/projects/team%2Fapp/merge_requests";

fn gitlab(api: &str, fields: Value) -> Value {
    let mut block =
        json!({"api": api, "project": "team/app", "tokenRef": {"secretName": "forge", "key": "token"}});
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    block.as_object_mut().expect("an object").extend(fields);
    json!({"generator": "pullRequest", "settings": {"gitlab": block}})
}

#[tokio::test]
async fn certificates_are_verified_unless_insecure() {
    let (authority, other) = (Authority::new(), Authority::new());
    let identity = authority.server();
    let server = ChartServer::start(Transport::Tls(&identity));
    server.file(PROJECT, "[]");
    let ca = |name: &str| json!({"caRef": {"configMapName": name, "key": "pem"}});
    let failed = |problem: &str| {
        format!(
            "error listing repos: error listing merge requests for project 'team/app': {}{PROJECT}?***: TLS: {problem}; check caRef, or the address in api",
            server.url()
        )
    };
    for (fields, pem, error) in [
        (ca("ca"), authority.pem(), None),
        (ca("ca"), other.pem(), Some(failed("invalid peer certificate: BadSignature"))),
        (json!({}), "", Some(failed("invalid peer certificate: UnknownIssuer"))),
        (json!({"insecure": true}), "", None),
        (ca("ca"), "no PEM", Some("failed to select pull request service provider: gitlab: its CA certificate (PEM) holds no certificate".to_owned())),
        (ca("missing"), "", Some("failed to select pull request service provider: error fetching CA certificates from ConfigMap: ConfigMap \"missing\" not found; caRef names a ConfigMap in namespace \"team\"".to_owned())),
    ] {
        let objects = Objects { ca: (pem.to_owned(), ObjectOrigin::Caller), ..caller_objects() };
        let result = ask(&forges(objects), &gitlab(&server.url(), fields.clone()), ObjectOrigin::Caller).await;
        let expected = error.map_or(json!({"parameters": []}), |error| json!({"error": error}));
        assert_eq!(result, expected, "{fields}");
    }
}

#[tokio::test]
async fn token_is_sent_only_where_its_author_trusts_the_address() {
    use ObjectOrigin::{Caller, Repository};
    const SET: &str = "ApplicationSet team/apps (set.yaml:1)";
    const CA: &str = "ConfigMap team/ca (file.yaml:1)";
    let authority = Authority::new();
    let identity = authority.server();
    let server = ChartServer::start(Transport::Tls(&identity));
    server.file(PROJECT, "[]");
    let ca = json!({"caRef": {"configMapName": "ca", "key": "pem"}});
    // Who wrote the set, the Secret and the ConfigMap; the document that gets too much trust.
    for (origins, refused) in [
        ([Caller, Caller, Caller], None),
        ([Caller, Repository, Repository], None),
        ([Repository, Repository, Repository], None),
        ([Repository, Caller, Repository], Some(("Secret team/forge (file.yaml:1)", SET, "Secret token"))),
        ([Caller, Caller, Repository], Some(("Secret team/forge (file.yaml:1)", CA, "Secret token"))),
        ([Repository, Repository, Caller], Some((CA, SET, "CA certificates from ConfigMap"))),
    ] {
        let [set, secret, map] = origins;
        server.forget();
        let objects = Objects { secret, ca: (authority.pem().to_owned(), map) };
        let result = ask(&forges(objects), &gitlab(&server.url(), ca.clone()), set).await;
        let expected = refused.map_or(json!({"parameters": []}), |(object, address, what)| {
            let reason = format!("{object} is not sent to the address of {address}, which is in a rendered repository; take both from the same place");
            json!({"error": format!("failed to select pull request service provider: error fetching {what}: {reason}")})
        });
        assert_eq!(result, expected, "{origins:?}");
        assert_eq!(server.requests().len(), usize::from(refused.is_none()), "{origins:?}");
    }
}

/// The address of a public server is the caller's, but a set in a rendered repository must not weaken its verification.
#[tokio::test]
async fn public_server_gets_tokens_if_the_set_trusts_no_other() {
    let refused =
        |object: &str| Some(format!("{object} (file.yaml:1) is not sent to the address of ApplicationSet"));
    let pull_request =
        |forge: &str, project: Value| json!({"generator": "pullRequest", "settings": {forge: project}});
    let github = json!({"owner": "o", "repo": "r", "tokenRef": {"secretName": "forge", "key": "token"}});
    let ca = json!({"caRef": {"configMapName": "ca", "key": "pem"}});
    for (case, requests, error) in [
        (pull_request("github", github), &["CONNECT api.github.com:443"][..], None),
        (gitlab("", json!({})), &["CONNECT gitlab.com:443"], None),
        (gitlab("", json!({"insecure": true})), &[], refused("Secret team/forge")),
        (gitlab("", ca), &[], refused("ConfigMap team/ca")),
    ] {
        let proxy = ChartServer::start(Transport::Plain);
        let environment = vec![("HTTPS_PROXY".into(), proxy.url().into())];
        let forges =
            Forges::new(ForgeSettings::new(&Limits::default(), environment), Arc::new(caller_objects()));
        let result = ask(&forges, &case, ObjectOrigin::Repository).await;
        let result = result["error"].as_str().expect("an error");
        let error = error.unwrap_or_else(|| "the proxy refused to connect to it".to_owned());
        assert!(result.contains(&error), "{result}");
        assert_eq!(proxy.requests().iter().map(shown).collect::<Vec<_>>(), requests, "{case}");
    }
}

#[tokio::test]
async fn slow_and_broken_answers_are_errors() {
    let server = ChartServer::start(Transport::Plain);
    server.file(PROJECT, "[]");
    for (failure, request_timeout, problem) in [
        (
            Failure::HangInBody,
            Duration::from_millis(200),
            "timed out after 200ms (limit forge-request-timeout); try again, or raise the limit",
        ),
        (
            Failure::HalfOfABody,
            Duration::from_secs(20),
            "end of file before message length reached; check the address in api and the proxy",
        ),
    ] {
        server.fail(PROJECT, Some(failure));
        let settings =
            ForgeSettings { request_timeout, ..ForgeSettings::new(&Limits::default(), Vec::new()) };
        let forges = Forges::new(settings, Arc::new(caller_objects()));
        let result = ask(&forges, &gitlab(&server.url(), json!({})), ObjectOrigin::Caller).await;
        let url = format!("{}{PROJECT}?***", server.url());
        let error = format!(
            "error listing repos: error listing merge requests for project 'team/app': {url}: {problem}"
        );
        assert_eq!(result, json!({"error": error}));
    }
}

#[tokio::test]
async fn sets_ask_only_permitted_forges_with_permitted_tokens() {
    let server = ChartServer::start(Transport::Plain);
    server.file(PROJECT, "[]");
    let rules = ForgeRules::default();
    let disabled = ForgeRules { is_disabled: true, ..rules.clone() };
    let allowed = |api: String| ForgeRules { allowed_apis: vec![api], ..ForgeRules::default() };
    let labelled = ForgeRules { only_labelled_tokens: true, ..rules };
    let elsewhere = "https://git.example.org/".to_owned();
    let tests = [
        (allowed(server.url()), json!({"parameters": []})),
        (
            disabled,
            json!({"error": "failed to select pull request service provider: scm providers are disabled"}),
        ),
        (
            allowed(elsewhere.clone()),
            json!({"error": format!(
                "failed to select pull request service provider: scm provider not allowed: scm provider \"{}\" not allowed, must use one of the following: {elsewhere}",
                server.url()
            )}),
        ),
        (
            labelled,
            json!({"error": "failed to select pull request service provider: error fetching Secret token: secret team/forge is not a valid SCM creds secret: secret must have label \"argocd.argoproj.io/secret-type\"=\"scm-creds\""}),
        ),
    ];
    for (rules, expected) in tests {
        let settings = ForgeSettings { rules, ..ForgeSettings::new(&Limits::default(), Vec::new()) };
        let forges = Forges::new(settings, Arc::new(caller_objects()));
        let result = ask(&forges, &gitlab(&server.url(), json!({})), ObjectOrigin::Caller).await;
        assert_eq!(result, expected);
    }
}
