use tiphys_helm_values::{HelmVersion, parse_name};

use super::{Documents, Reading, Written};

fn at(text: &str, version: HelmVersion, name: &str) -> Vec<(usize, Option<String>)> {
    let reading = Reading { version, nodes_max: 1_000 };
    let path = parse_name(name).expect("a name");
    let found = Documents::default().written(text.as_bytes(), reading, &path);
    found.into_iter().map(|Written { line, text }| (line, text)).collect()
}

/// The lines and values of a name, in Helm 4 and in Helm 3.
type Places = &'static [(usize, Option<&'static str>)];

#[test]
fn value_is_found_at_the_line_of_its_key_in_each_document() {
    let text = "a: 1\nb:\n  c: text\n  'd.e': 1e3\nlist:\n- x\n- z: [1]\nnothing: ~\na: 2\n---\n# more\nb:\n  c: last\n...\na: lost\n";
    let cases: [(&str, Places, Places); 8] = [
        ("a", &[(9, Some("2"))], &[(9, Some("2"))]),
        ("b.c", &[(13, Some("last")), (3, Some("text"))], &[(3, Some("text"))]),
        (r"b.d\.e", &[(4, Some("1000"))], &[(4, Some("1000"))]),
        ("list[0]", &[(6, Some("x"))], &[(6, Some("x"))]),
        ("list[1].z", &[(7, Some("[1]"))], &[(7, Some("[1]"))]),
        ("list[2]", &[], &[]),
        ("nothing", &[(8, None)], &[(8, None)]),
        ("a.b", &[], &[]),
    ];
    for (name, expected, in_helm_3) in cases {
        for (version, expected) in [(HelmVersion::V4, expected), (HelmVersion::V3, in_helm_3)] {
            let expected: Vec<_> =
                expected.iter().map(|(line, text)| (*line, text.map(str::to_owned))).collect();
            assert_eq!(at(text, version, name), expected, "{name} {version:?}");
        }
    }
    assert_eq!(at("a: [", HelmVersion::V4, "a"), Vec::new());
}

#[test]
fn null_above_a_value_removes_it_from_earlier_documents() {
    let text = b"a:\n  b: {c: 1}\n---\na: {b: null}\n---\na: {d: 2}\n";
    let reading = Reading { version: HelmVersion::V4, nodes_max: 1_000 };
    for (name, lines, above) in
        [("a.b.c", &[][..], Some(2)), ("a.b", &[4, 2], None), ("a", &[6, 4, 1], None), ("a.d", &[6], None)]
    {
        let (path, documents) = (parse_name(name).expect("a name"), Documents::default());
        let found = documents.written(text, reading, &path);
        assert_eq!(found.iter().map(|written| written.line).collect::<Vec<_>>(), lines, "{name}");
        assert_eq!(documents.null_above(text, reading, &path), above, "{name}");
    }
}
