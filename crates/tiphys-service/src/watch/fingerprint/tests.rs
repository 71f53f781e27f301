use std::collections::BTreeMap;

use tiphys_model::params::{Parameter, ResolvedParameter};

use super::FingerprintKey;

fn strings(strings: &[&str]) -> Vec<String> {
    strings.iter().map(|string| (*string).to_owned()).collect()
}

fn string(name: &str, value: &str) -> ResolvedParameter {
    let parameter =
        Parameter { name: name.to_owned(), string: Some(value.to_owned()), ..Parameter::default() };
    ResolvedParameter::new(parameter, false)
}

fn array(name: &str, values: &[&str]) -> ResolvedParameter {
    let parameter = Parameter { name: name.to_owned(), array: Some(strings(values)), ..Parameter::default() };
    ResolvedParameter::new(parameter, false)
}

fn map(name: &str, values: &[(&str, &str)]) -> ResolvedParameter {
    let values = values.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let map = Some(values.collect::<BTreeMap<_, _>>());
    ResolvedParameter::new(Parameter { name: name.to_owned(), map, ..Parameter::default() }, false)
}

#[test]
fn fingerprints_differ_exactly_if_values_differ() {
    let secret = ResolvedParameter::new(string("a", "b").expose().clone(), true);
    let sources: [Vec<Vec<ResolvedParameter>>; 16] = [
        vec![],
        vec![vec![]],
        vec![vec![], vec![]],
        vec![vec![string("a", "b")]],
        vec![vec![secret]],
        vec![vec![string("a", "c")]],
        vec![vec![string("ab", "")]],
        vec![vec![string("a", "b")], vec![]],
        vec![vec![string("a", "b"), string("a", "b")]],
        vec![vec![string("a", "b")], vec![string("a", "b")]],
        vec![vec![array("a", &["b"])]],
        vec![vec![array("a", &[])]],
        vec![vec![array("a", &["b", "c"])]],
        vec![vec![array("a", &["bc"])]],
        vec![vec![map("a", &[])]],
        vec![vec![map("a", &[("b", "c")])]],
    ];
    let key = FingerprintKey([7; 32]);
    for (index, one) in sources.iter().enumerate() {
        for (other_index, other) in sources.iter().enumerate() {
            let are_equal = key.fingerprint(one) == key.fingerprint(other);
            assert_eq!(are_equal, index == other_index, "{index} and {other_index}");
        }
    }
}

#[test]
fn fingerprints_depend_on_a_random_key() {
    let keys = [0; 2].map(|_| FingerprintKey::random().expect("random bytes"));
    let values = [vec![string("a", "b")]];
    assert_ne!(keys[0].fingerprint(&values), keys[1].fingerprint(&values));
    assert_ne!(keys[0].0, [0; 32]);
}
