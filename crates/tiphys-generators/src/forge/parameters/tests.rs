use super::branch_slug;

#[test]
fn slugs_are_those_of_the_go_library() {
    for (branch, slug) in [
        ("feature/ABC-123_do it", "feature-abc-123-do-it"),
        (" --a__b--c.d_", "a-b-c-d"),
        ("a&b@c", "aandbatc"),
        ("it's-\"so\u{2019}\u{2014}x", "its-so-x"),
        ("Größe/façade", "grosse-facade"),
        ("привет", "privet"),
        ("北京", "bei-jing"),
        ("rocket-🚀-x", "rocket-x"),
        // 50 bytes at most, and whole words.
        (
            "a123456789-b123456789-c123456789-d123456789-e12345",
            "a123456789-b123456789-c123456789-d123456789-e12345",
        ),
        (
            "a123456789-b123456789-c123456789-d123456789-e123456",
            "a123456789-b123456789-c123456789-d123456789",
        ),
        (&"x".repeat(60), &"x".repeat(50)),
    ] {
        assert_eq!(branch_slug(branch), slug, "{branch}");
    }
}
