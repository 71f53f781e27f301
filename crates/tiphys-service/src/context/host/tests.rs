use std::path::{Path, PathBuf};

use super::Host;

#[test]
fn the_cache_folder_is_the_asked_one_else_below_xdg_else_below_home() {
    type Case = (Option<&'static str>, &'static [(&'static str, &'static str)], Option<&'static str>);
    let cases: [Case; 6] = [
        (Some("c"), &[], Some("/current/c")),
        (Some("/c"), &[("HOME", "/h")], Some("/c")),
        (None, &[("XDG_CACHE_HOME", "/x"), ("HOME", "/h")], Some("/x/tiphys")),
        (None, &[("XDG_CACHE_HOME", "relative"), ("HOME", "/h")], Some("/h/.cache/tiphys")),
        (None, &[("HOME", "/h")], Some("/h/.cache/tiphys")),
        (None, &[], None),
    ];
    for (asked, variables, expected) in cases {
        let found = Host::for_tests(variables).cache_dir(asked.map(Path::new)).ok();
        assert_eq!(found, expected.map(PathBuf::from), "{asked:?} {variables:?}");
    }
}
