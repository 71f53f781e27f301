use super::PluginName;

#[test]
fn name_is_a_dns_label_that_starts_with_a_letter() {
    let longest = "a".repeat(63);
    for name in ["a", "my-plugin", "helm3", "a--b", &longest] {
        assert_eq!(name.parse::<PluginName>().expect(name).as_str(), name);
    }
}

#[test]
fn invalid_name_is_rejected_with_a_suggestion() {
    let too_long = "a".repeat(64);
    let cases = [
        ("", None),
        (".", None),
        ("..", None),
        ("/", None),
        ("42", None),
        ("ü", None),
        ("My Plugin", Some("my-plugin")),
        ("my_plugin", Some("my-plugin")),
        ("my.plugin", Some("my-plugin")),
        ("-n", Some("n-plugin")),
        ("a-", Some("a")),
        ("../../etc/passwd", Some("etc-passwd")),
        ("$(id)", Some("id")),
        ("2 pages", Some("pages")),
        ("a\nb", Some("a-b")),
        ("yes", Some("yes-plugin")),
        ("null", Some("null-plugin")),
        ("y", Some("y-plugin")),
        ("On", Some("on-plugin")),
        (&too_long, Some(&too_long[..63])),
    ];
    for (text, near) in cases {
        let error = text.parse::<PluginName>().expect_err(text);
        assert_eq!(error.suggestion().as_deref(), near, "{text}");
        assert!(near.is_none_or(|near| near.parse::<PluginName>().is_ok()), "{text}");
    }
}
