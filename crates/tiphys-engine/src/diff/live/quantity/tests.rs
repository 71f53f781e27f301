use super::equal;

#[test]
fn equal_quantities_are_equal_in_any_notation() {
    let cases: &[&[&str]] = &[
        &["1", "1000m", "1.0", "+1", "01", "1e0", "1000000u", "1000000000n", "0.001k"],
        &["0.1", "100m", ".1", "1e-1"],
        &["1Gi", "1024Mi", "1048576Ki", "1073741824"],
        &["1.5Gi", "1536Mi"],
        &["1M", "1000k", "1e6", "1E6"],
        &["1E", "1e18"],
        &["0", "0Mi", "-0", "0m"],
        &["-1", "-1000m"],
    ];
    for (index, spellings) in cases.iter().enumerate() {
        for (other, others) in cases.iter().enumerate() {
            for (one, two) in spellings.iter().flat_map(|one| others.iter().map(move |two| (one, two))) {
                assert_eq!(equal(one, two), index == other, "{one} {two}");
            }
        }
    }
}

#[test]
fn invalid_quantity_equals_nothing() {
    let long = "1".repeat(100);
    for text in ["", ".", "-", "1 Gi", "1gi", "1K", "e3", "1e", "1e999", "--1", "1.2.3", "one", "1+1", &long]
    {
        assert!(!equal(text, text), "{text:?}");
    }
}
