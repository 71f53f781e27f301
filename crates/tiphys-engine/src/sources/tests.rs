use serde_json::{Value, json};
use tiphys_model::resources::{Application, GoFields};

use super::{ApplicationSources, SourcesError};

fn application(spec: &Value) -> Application {
    Application { spec: GoFields::of_json(spec).expect("valid spec"), ..Application::default() }
}

#[test]
fn sources_keep_order_and_lose_empty_blocks() {
    let one = application(&json!({"source": {"repoURL": "a", "helm": {}}}));
    let sources = ApplicationSources::of(&one).expect("one source");
    assert!(sources.all().all(|one| one.source.helm.is_none()));
    let several = application(
        &json!({"source": {"repoURL": "x"}, "sources": [{"repoURL": "a", "plugin": {}}, {"repoURL": "b"}]}),
    );
    let sources = ApplicationSources::of(&several).expect("two sources");
    let found: Vec<_> = sources
        .all()
        .map(|one| {
            (one.position, one.sources.count(), one.source.repo_url.as_str(), one.source.plugin.is_some())
        })
        .collect();
    assert_eq!(found, [(1, 2, "a", true), (2, 2, "b", false)]);
}

#[test]
fn source_for_references_only_is_not_rendered() {
    let cases = [
        (json!({"ref": "r"}), false),
        (json!({"ref": "r", "path": "x"}), true),
        (json!({"ref": "r", "chart": "x"}), true),
        (json!({"ref": "r", "repoURL": "oci://x"}), true),
        (json!({}), true),
    ];
    for (mut source, is_rendered) in cases {
        if source.get("repoURL").is_none() {
            source["repoURL"] = json!("a");
        }
        let several = application(&json!({"sources": [{"repoURL": "a"}, source.clone()]}));
        let sources = ApplicationSources::of(&several).expect("two sources");
        assert_eq!(sources.rendered().any(|one| one.position == 2), is_rendered, "{source}");
        let only = application(&json!({"sources": [source.clone()]}));
        assert_eq!(ApplicationSources::of(&only).expect("a source").rendered().count(), 1, "{source}");
    }
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
        let found = ApplicationSources::of(&application(&value)).map(|found| found.all().count());
        assert_eq!(found, Err(expected), "{value}");
    }
}
