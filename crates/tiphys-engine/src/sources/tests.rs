use serde_json::{Value, json};
use tiphys_model::resources::{ApplicationSpec, GoFields};

use super::{SourcesError, sources};
use crate::SourcePlace;

fn spec(value: &Value) -> ApplicationSpec {
    GoFields::of_json(value).expect("valid spec")
}

#[test]
fn sources_keep_order_and_lose_empty_blocks() {
    let (found, place) =
        sources(&spec(&json!({"source": {"repoURL": "a", "helm": {}}}))).expect("one source");
    assert_eq!((found[0].helm.is_some(), place), (false, SourcePlace::Only));
    let several = spec(
        &json!({"source": {"repoURL": "x"}, "sources": [{"repoURL": "a", "plugin": {}}, {"repoURL": "b"}]}),
    );
    let (found, place) = sources(&several).expect("two sources");
    let urls: Vec<&str> = found.iter().map(|source| source.repo_url.as_str()).collect();
    assert_eq!((urls, place), (vec!["a", "b"], SourcePlace::OneOfSeveral));
    assert!(found[0].plugin.is_some());
}

#[test]
fn application_without_valid_source_is_rejected() {
    let cases = [
        (json!({}), SourcesError::None),
        (json!({"source": {"path": "x"}}), SourcesError::NoRepository { path: "spec.source".to_owned() }),
        (
            json!({"sources": [{"repoURL": "a"}, {"path": "x"}]}),
            SourcesError::NoRepository { path: "spec.sources[1]".to_owned() },
        ),
        (json!({"sourceHydrator": {}, "source": {"repoURL": "a"}}), SourcesError::Hydrator),
    ];
    for (value, expected) in cases {
        assert_eq!(sources(&spec(&value)), Err(expected), "{value}");
    }
}
