//! The selection of a plugin.

use std::sync::Arc;

use tiphys_plugin::{Catalogue, Choice, ChooseError, Others, Plugin, Request, RequestFor};

use crate::fixture::{Fixture, request};

struct Always(Request);

#[async_trait::async_trait]
impl RequestFor for Always {
    async fn request(&self, _plugin: &dyn Plugin) -> Result<Request, ChooseError> {
        Ok(self.0.clone())
    }
}

const MATCHES: &str = "  generate: {command: ['true']}\n  discover: {fileName: x}";
const MATCHES_NOT: &str = "  generate: {command: ['true']}\n  discover: {fileName: nothing}";
const BY_NAME: &str = "  generate: {command: ['true']}";
const BROKEN: &str = "  generate: {command: ['true']}\n  discover: {find: {command: ['false']}}";

fn catalogue(fixture: &Fixture, plugins: &[(&str, &str)]) -> (Catalogue, Always) {
    let mut catalogue = Catalogue::default();
    for (name, spec) in plugins {
        catalogue.add(Arc::new(fixture.plugin(name, spec)));
    }
    (catalogue, Always(request(&fixture.tree(&[("app/x", "")]))))
}

#[tokio::test]
async fn first_match_by_name_wins_and_others_are_reported() {
    let fixture = Fixture::new();
    let plugins = [("c", MATCHES), ("b", MATCHES), ("a", MATCHES_NOT), ("d", BY_NAME), ("e", MATCHES)];
    let (catalogue, requests) = catalogue(&fixture, &plugins);
    let chosen = catalogue.discover(&requests, Others::Name, &[]).await.unwrap().unwrap();
    assert_eq!(chosen.plugin.name(), "b");
    assert_eq!(chosen.choice, Choice::Discovered { also: vec!["c".to_owned(), "e".to_owned()] });
    let chosen = catalogue.discover(&requests, Others::Ignore, &[]).await.unwrap().unwrap();
    assert_eq!(chosen.choice, Choice::Discovered { also: vec![] });
}

#[tokio::test]
async fn plugins_of_native_types_are_checked_last() {
    let fixture = Fixture::new();
    let (catalogue, requests) = catalogue(&fixture, &[("kustomize", MATCHES), ("zzz", MATCHES)]);
    let chosen = catalogue.discover(&requests, Others::Ignore, &["kustomize"]).await.unwrap().unwrap();
    assert_eq!(chosen.plugin.name(), "zzz");
}

#[tokio::test]
async fn no_match_is_none_and_a_failing_plugin_an_error() {
    let fixture = Fixture::new();
    let (nothing, requests) = catalogue(&fixture, &[("a", MATCHES_NOT), ("b", BY_NAME)]);
    assert!(nothing.discover(&requests, Others::Ignore, &[]).await.unwrap().is_none());
    let (broken, requests) = catalogue(&fixture, &[("a", BROKEN), ("b", MATCHES)]);
    let error = broken.discover(&requests, Others::Ignore, &[]).await.unwrap_err();
    assert!(matches!(&error, ChooseError::Failed { name, .. } if name == "a"), "{error}");
}

#[tokio::test]
async fn named_plugin_with_discovery_rules_must_match() {
    let fixture = Fixture::new();
    let (catalogue, requests) =
        catalogue(&fixture, &[("right", MATCHES), ("wrong", MATCHES_NOT), ("free", BY_NAME)]);
    for name in ["right", "free"] {
        assert_eq!(catalogue.by_name(name, &requests).await.unwrap().choice, Choice::Named, "{name}");
    }
    let error = catalogue.by_name("wrong", &requests).await.unwrap_err();
    assert!(matches!(error, ChooseError::NotSupported { .. }), "{error}");
}

#[tokio::test]
async fn unknown_plugin_error_lists_known_plugins() {
    let fixture = Fixture::new();
    let (catalogue, requests) = catalogue(&fixture, &[("b", BY_NAME), ("a", BY_NAME)]);
    let error = catalogue.by_name("c", &requests).await.unwrap_err();
    assert_eq!(error.to_string(), "could not find plugin \"c\"; known plugins: a, b");
}
