use super::warning;
use crate::chart::Dependency;

fn dependency(name: &str, version: &str, repository: &str) -> Dependency {
    Dependency {
        name: name.to_owned(),
        version: version.to_owned().into(),
        repository: repository.to_owned(),
        ..Dependency::default()
    }
}

#[test]
fn missing_subcharts_are_named_without_credentials() {
    assert_eq!(warning(&[]), None);
    let redis = dependency("redis", "^18", "https://user:pw@charts.example.org/a");
    let common = dependency("common", "", "");
    let one = warning(&[(vec![], &redis)]).expect("a warning");
    assert!(
        one.starts_with(
            "the values of the subchart are not listed, since its chart is missing: redis (^18 of https://"
        ),
        "{one}"
    );
    assert!(!one.contains("pw"), "{one}");
    let two = warning(&[(vec![], &redis), (vec!["api", "db"], &common)]).expect("a warning");
    assert!(two.contains("), api/db/common; run `helm dependency build`"), "{two}");
}
