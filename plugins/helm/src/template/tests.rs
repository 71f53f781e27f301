//! Arguments of `helm template`.

use std::path::PathBuf;

use proptest::prelude::*;
use tiphys_process::ExecLimits;

use super::{Call, Template, csv_field, file_assignment, joined, reads_only};
use crate::options::{AssignmentKind, Step};

const LIMITS: ExecLimits = ExecLimits { text_bytes_max: 128 * 1024, total_bytes_max: 2 << 20 };

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn arguments_are_in_the_order_of_argo_cd() {
    let template = Template {
        release_name: "rel".into(),
        namespace: "ns".into(),
        kube_version: Some("1.30.1".into()),
        assignments: vec![
            (AssignmentKind::File, "f".into(), "/r/f,1.txt".into()),
            (AssignmentKind::Text, "s".into(), "5".into()),
            (AssignmentKind::Value, "b".into(), "-x".into()),
            (AssignmentKind::Value, "a".into(), "1, 2".into()),
        ],
        value_files: texts(&["/r/a.yaml", "https://example.com/v.yaml"]),
        inline_values: Some(PathBuf::from("/home-of-helm/values")),
        exact_values: Some(PathBuf::from("/home-of-helm/exact")),
        api_versions: texts(&["v1", "apps/v1"]),
        crds: Step::Run,
        schema_validation: Step::Skip,
        tests: Step::Skip,
    };
    let expected = Call {
        arguments: texts(&[
            "template", ".", "--name-template", "rel", "--namespace", "ns", "--kube-version", "1.30.1", "--set", "b=-x", "--set",
            "a=1\\, 2", "--set-string", "s=5", "--set-file", "f=/r/f\\,1.txt", "--values", "/r/a.yaml", "--values",
            "https://example.com/v.yaml", "--values", "/home-of-helm/values", "--values", "/home-of-helm/exact", "--api-versions", "v1,apps/v1", "--include-crds",
            "--skip-schema-validation", "--skip-tests",
        ]),
        shown: "helm template . --name-template rel --namespace ns --kube-version 1.30.1 --set b=****** --set a=****** --set-string \
                s=****** --set-file f=****** --values /r/a.yaml --values https://example.com/v.yaml --values <temp file with values from \
                source.helm.values/valuesObject> --values /home-of-helm/exact --api-versions v1 --api-versions apps/v1 --include-crds --skip-schema-validation \
                --skip-tests"
            .into(),
        values: texts(&["5", "5", "5", "-x", "-x", "-x", "1, 2", "1, 2", " 2"]),
    };
    assert_eq!(template.call(&LIMITS), Ok(expected));
}

#[test]
fn set_values_are_redacted_in_the_command() {
    let cases = [
        ("db.password", "hunter22", "hunter22", "db.password=******"),
        ("list", "{hunter22,b}", "x=hunter22", "list=******"),
        ("a=hunter22,b", "c", "hunter22", "a=******"),
        ("a", r"b\,c=hunter\22", "hunter22", "a=******"),
    ];
    for kind in [AssignmentKind::Value, AssignmentKind::Text, AssignmentKind::File] {
        for (name, value, secret, expected) in cases {
            let assignments = vec![(kind, name.to_owned(), value.to_owned())];
            let template = Template { release_name: "rel".into(), assignments, ..Template::default() };
            let shown = template.call(&LIMITS).unwrap().shown;
            assert!(shown.contains(expected) && !shown.contains(secret), "{kind:?}: {shown}");
        }
    }
}

#[test]
fn set_values_are_redacted_in_messages_of_helm() {
    let assignments =
        [("a", "hunter22"), ("b", "hunter22+more"), ("c", r"back\\slash"), ("d", "short"), ("e", "my-app")];
    let assignments =
        assignments.map(|(name, value)| (AssignmentKind::Value, name.to_owned(), value.to_owned())).to_vec();
    let template = Template { release_name: "my-app".into(), assignments, ..Template::default() };
    let redacted = template
        .call(&LIMITS)
        .unwrap()
        .without_values(r"my-app/t.yaml: hunter22+more, xhunter22, back\slash, back\\slash and short", &[]);
    assert_eq!(redacted, "my-app/t.yaml: ******, x******, ******, ****** and short");
}

#[test]
fn unset_options_have_no_arguments() {
    let template = Template { release_name: "rel".into(), crds: Step::Skip, ..Template::default() };
    let expected = Call {
        arguments: texts(&["template", ".", "--name-template", "rel"]),
        shown: "helm template . --name-template rel".into(),
        values: Vec::new(),
    };
    assert_eq!(template.call(&LIMITS), Ok(expected));
}

#[test]
fn paths_are_escaped_for_helm() {
    let cases = [
        ("/r/f,1.txt", r"n=/r/f\,1.txt"),
        (r"/r/back\slash", r"n=/r/back\\slash"),
        (r"/r/x\\,b=/etc/hostname", r"n=/r/x\\\\\,b=/etc/hostname"),
        ("/r/{a,b}", r"n=/r/{a\,b}"),
    ];
    for (path, expected) in cases {
        assert_eq!(file_assignment("n", path), expected);
        assert!(reads_only("n", path), "{path}");
    }
    let cases = [
        ("/r/a.yaml", "/r/a.yaml"),
        ("/r/a.yaml,/etc/hostname", r#""/r/a.yaml,/etc/hostname""#),
        ("/r/\"a\".yaml", r#""/r/""a"".yaml""#),
        ("/r/a\n/etc/hostname", "\"/r/a\n/etc/hostname\""),
    ];
    for (path, expected) in cases {
        assert_eq!(csv_field(path), expected);
    }
}

#[test]
fn name_that_sets_another_file_is_detected() {
    for name in ["a", "a.b", r"a\.b", "a[0].b", r"a\,b", r"a\=b", "", "a[", "a]b", "a,b"] {
        assert!(reads_only(name, "/r/x=y/f.txt"), "{name}");
    }
    for name in ["b=/etc/hostname,f", "b=,f", "=/etc/hostname,f", r"b\\=/etc/hostname,f", "x\\"] {
        assert!(!reads_only(name, "/r/x=/etc/hostname"), "{name}");
    }
}

proptest! {
    /// For any name and path, helm reads the resolved path or nothing.
    #[test]
    fn helm_reads_no_other_file(name in r"[ab.,=\[\]{}\\]{0,8}", path in r"/r/[ab.,=\[\]{}\\ -]{0,8}") {
        let is_plain = name.chars().all(|char| matches!(char, 'a' | 'b'));
        prop_assert!(!is_plain || reads_only(&name, &path));
    }
}

#[test]
fn api_versions_are_joined_up_to_the_limit() {
    assert_eq!(
        joined(&texts(&["v1", "a/v1", "", "b/v1", "c,d", "e/v1", "f\"", "g", "h"])),
        texts(&["v1,a/v1", "", "b/v1", "c,d", "e/v1", "f\"", "g,h"])
    );
    let many: Vec<String> =
        (0..20_000).map(|number| format!("group{number}.example.com/v1/Kind{number}")).collect();
    let lists = joined(&many);
    assert!(lists.iter().all(|list| list.len() <= super::API_VERSIONS_BYTES_MAX), "each fits");
    assert_eq!(
        lists.join(",").split(',').map(str::to_owned).collect::<Vec<_>>(),
        many,
        "all are there, in order"
    );
}

#[test]
fn value_above_the_argument_limit_is_rejected() {
    let with = |bytes: usize| {
        let value = "x".repeat(bytes - "big=".len());
        let assignments = vec![(AssignmentKind::Text, "big".to_owned(), value)];
        Template { release_name: "r".into(), assignments, ..Template::default() }.call(&LIMITS)
    };
    assert!(with(128 * 1024 - 1).is_ok());
    let error = with(128 * 1024).unwrap_err().to_string();
    assert_eq!(
        error,
        "parameter set-string.big has 131072 bytes, more than 131071, the limit of one value; move it to the parameter values or to a \
         value file, or name a file with it in set-file.big"
    );
}

#[test]
fn arguments_above_the_system_limit_are_rejected() {
    let value = "x".repeat(100_000);
    let assignments =
        (0..40).map(|number| (AssignmentKind::Value, format!("v{number}"), value.clone())).collect();
    let template = Template { release_name: "r".into(), assignments, ..Template::default() };
    let error = template.call(&LIMITS).unwrap_err().to_string();
    assert!(error.contains("more than 2080768; move values from set.NAME"), "{error}");
    let template = Template { release_name: "r".repeat(200_000), ..Template::default() };
    let error = template.call(&LIMITS).unwrap_err().to_string();
    assert!(error.starts_with("an argument of helm has 200000 bytes, more than 131071: rrr"), "{error}");
}
