use super::{ValuePath, assigned_value_name};

#[test]
fn keys_in_brackets_are_read_as_written() {
    for (name, expected) in [
        ("set.a.b", Some((r"set.a.b", false))),
        ("set.a[0].b", Some(("set.a[0].b", false))),
        ("set.a[disk]", Some(("set.a.disk", true))),
        ("set.a[kubernetes.io/os]", Some((r"set.a.kubernetes\.io/os", true))),
        ("set.a[x=y].z", Some((r"set.a.x\=y.z", true))),
        ("set.a[x]y]", Some((r"set.a.x]y", true))),
        ("set.a[b][0][c]", Some(("set.a.b[0].c", true))),
        (r"set.a\[0]", Some((r"set.a\[0]", false))),
        ("set.a[]", None),
        ("set.a[0]b", None),
        ("set.a..b", None),
        ("set.", None),
    ] {
        let parsed = ValuePath::of_parameter(name).expect("a value");
        let parsed = parsed.ok().map(|(path, has_keys)| (path.parameter().expect("a name"), has_keys));
        assert_eq!(parsed.as_ref().map(|(name, keys)| (name.as_str(), *keys)), expected, "{name}");
    }
    assert!(ValuePath::of_parameter("replicas").is_none());
}

#[test]
fn name_ends_at_operator_outside_of_brackets() {
    for (text, expected) in [
        ("set.a=b", Some("set.a")),
        ("set.a:=[1]", Some("set.a")),
        ("set.a+:=[1]", Some("set.a")),
        ("set.a[x=y]=z", Some("set.a[x=y]")),
        ("set.a[x]y=z]=z", Some("set.a[x]y=z]")),
        (r"set.a\=b=c", Some(r"set.a\=b")),
        (r"set.a\[x=b]", Some(r"set.a\[x")),
        ("set.a[x=y", Some("set.a[x")),
        ("set.a[0]:={\"a\":\"[=]\"}", Some("set.a[0]")),
        ("set.\u{e9}\\\u{e9}=1", Some("set.\u{e9}\\\u{e9}")),
        ("set.a\\", None),
        ("set.a", None),
    ] {
        assert_eq!(assigned_value_name(text), expected, "{text}");
    }
}
