use super::SubdomainProblem::{Characters, TooLong};
use super::subdomain_problems;

#[test]
fn subdomain_is_checked_as_in_kubernetes() {
    let longest = "a".repeat(253);
    for name in ["a", "0", "a-b.c-1", "a--b", &longest] {
        assert_eq!(subdomain_problems(name), [], "{name}");
    }
    for name in ["", ".", "a.", "a..b", "-a", "a-", "a.-b", "A", "a_b", "a b", "a-<no value>", "{{a}}", "ä"]
    {
        assert_eq!(subdomain_problems(name), [Characters], "{name}");
    }
    assert_eq!(subdomain_problems(&"a".repeat(254)), [TooLong]);
    assert_eq!(subdomain_problems(&"A".repeat(254)), [TooLong, Characters]);
}
