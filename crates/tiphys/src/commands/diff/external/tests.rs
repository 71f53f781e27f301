use std::collections::HashSet;

use serde_json::{Map, Value, json};
use tiphys_engine::Manifest;
use tiphys_engine::diff::compare;

use super::file_name;

#[test]
fn file_has_kubectls_name_and_stays_in_its_directory() {
    let long = "n".repeat(300);
    let cases = [
        (None, "apps/v1", "Deployment", "shop", "web", "apps.v1.Deployment.shop.web".to_owned()),
        (None, "v1", "Namespace", "", "shop", "v1.Namespace.shop".to_owned()),
        (Some("argocd/shop"), "v1", "Namespace", "", "shop", "argocd_shop.v1.Namespace.shop".to_owned()),
        (None, "v1", "Namespace", "", "shop", "v1.Namespace.shop.2".to_owned()),
        (None, "v1", "../../X", "", "../y\n", "v1..._.._X..._y_".to_owned()),
        (None, "v1", "A", "", &long, format!("v1.A.{}", "n".repeat(250))),
        (None, "v1", "A", "", &long, format!("v1.A.{}.2", "n".repeat(248))),
    ];
    let mut taken = HashSet::new();
    for (application, api_version, kind, namespace, name, expected) in cases {
        let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"namespace": namespace, "name": name}});
        let Value::Object(object) = object else { panic!("{object}") };
        let comparison = compare(&[], &[Manifest::new(object)]);
        assert_eq!(file_name(application, &comparison.objects[0], &mut taken), expected);
    }
    let nothing = compare(&[Manifest::new(Map::new())], &[]);
    assert_eq!(file_name(None, &nothing.objects[0], &mut taken), "x");
}
