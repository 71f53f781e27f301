use super::{Limit, Limits};

#[test]
fn limits_have_their_own_names_and_valid_defaults() {
    for limit in Limit::ALL {
        if let Some(default) = limit.default() {
            assert_eq!(limit.read(&limit.unit().write(default)), Ok(default), "{limit}");
        }
    }
}

#[test]
fn values_have_units() {
    let cases = [
        (Limit::PLUGIN_TIMEOUT, "90", Ok(90)),
        (Limit::PLUGIN_TIMEOUT, "90s", Ok(90)),
        (Limit::PLUGIN_TIMEOUT, "2m", Ok(120)),
        (Limit::PLUGIN_TIMEOUT, "24h", Ok(86_400)),
        (Limit::PLUGIN_TIMEOUT, "25h", Err("expected 1s to 24h")),
        (Limit::PLUGIN_TIMEOUT, "0", Err("expected 1s to 24h")),
        (Limit::PLUGIN_TIMEOUT, "64KiB", Err("expected a time in whole seconds, or with s, m or h")),
        (Limit::PLUGIN_TIMEOUT, "1.5s", Err("expected a time in whole seconds, or with s, m or h")),
        (Limit::TREE_BYTES_MAX, "64KiB", Ok(65_536)),
        (Limit::TREE_BYTES_MAX, "1GiB", Ok(1 << 30)),
        (Limit::TREE_BYTES_MAX, "1GB", Err("expected a size in bytes, or with KiB, MiB or GiB")),
        (Limit::TREE_BYTES_MAX, "90s", Err("expected a size in bytes, or with KiB, MiB or GiB")),
        (Limit::TREE_BYTES_MAX, "0", Err("expected at least 1B")),
        (Limit::TREE_BYTES_MAX, "", Err("expected a size in bytes, or with KiB, MiB or GiB")),
        (Limit::TREE_BYTES_MAX, "-1", Err("expected a size in bytes, or with KiB, MiB or GiB")),
        (Limit::TREE_BYTES_MAX, "99999999999GiB", Err("expected a size in bytes, or with KiB, MiB or GiB")),
        (Limit::MANIFESTS_MAX, "5", Ok(5)),
        (Limit::MANIFESTS_MAX, "5s", Err("expected a whole number")),
    ];
    for (limit, value, expected) in cases {
        let read = limit.read(value).map_err(|error| error.to_string());
        assert_eq!(read, expected.map_err(str::to_owned), "{limit} {value}");
    }
}

#[test]
fn limit_without_a_value_has_its_default() {
    let mut limits = Limits::default();
    assert_eq!((limits.get(Limit::PLUGIN_GRACE), limits.given(Limit::PLUGIN_GRACE)), (5, None));
    limits.set(Limit::PLUGIN_GRACE, 0);
    assert_eq!((limits.get(Limit::PLUGIN_GRACE), limits.given(Limit::PLUGIN_GRACE)), (0, Some(0)));
}
