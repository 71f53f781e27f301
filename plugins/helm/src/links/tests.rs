//! Trees with links, and which of them are refused.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::check;

/// Makes a tree of links: path, then target.
fn refused(links: &[(&str, &str)]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("repo");
    fs::create_dir_all(root.join("charts/web")).unwrap();
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::write(folder.path().join("secret"), "").unwrap();
    for (path, target) in links {
        let place = root.join(path);
        fs::create_dir_all(place.parent().unwrap_or(Path::new("/"))).unwrap();
        symlink(target, place).unwrap();
    }
    check(&root).err().map(|error| error.to_string())
}

#[test]
fn a_link_that_leads_out_is_refused_wherever_it_is() {
    let message = |file: &str| Some(format!("repository contains out-of-bounds symlinks. file: {file}"));
    let cases: [(&[(&str, &str)], &str); 6] = [
        (&[("other/place/out", "../../../secret")], "other/place/out"),
        (&[("charts/web/abs", "/etc/hostname")], "charts/web/abs"),
        (&[("a", "charts"), ("z", "..")], "z"),
        // Behind a folder that is not there yet.
        (&[("later", "nowhere/../../secret")], "later"),
        // Out and in again.
        (&[("x", "../repo/charts")], "x"),
        // Only through another link.
        (&[("charts/web/up", "../.."), ("charts/web/through", "up/../secret")], "charts/web/through"),
    ];
    for (links, file) in cases {
        assert_eq!(refused(links), message(file));
    }
}

#[test]
fn links_that_stay_inside_are_fine_though_they_lead_to_nothing() {
    let links: [(&str, &str); 5] =
        [("a", "charts/web"), ("charts/b", "../a"), ("c", "nowhere"), ("loop", "loop"), (".git/out", "/etc")];
    assert_eq!(refused(&links), None);
}
