//! Pictures of the web page in the documentation.

use std::fs;

use tiphys_testkit::{fixture, workspace_root};

use crate::browser::Tab;
use crate::page::{Page, SHOP};

/// Compares nothing but the format of a committed picture. `UPDATE=1` takes it again.
fn picture(tab: &mut Tab, name: &str) {
    let path = workspace_root().join("docs/images").join(name);
    if fixture::is_updating() {
        fs::create_dir_all(path.parent().expect("a directory")).expect("the directory can be made");
        fs::write(&path, tab.picture()).expect("the picture can be written");
    }
    let png =
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}; UPDATE=1 takes it", path.display()));
    assert_eq!(png.get(..8), Some(&b"\x89PNG\r\n\x1a\n"[..]), "{name} is a PNG");
    assert_eq!(png.get(16..20), Some(&1280_u32.to_be_bytes()[..]), "{name} is 1280 px wide");
    assert!(png.len() <= 128 << 10, "{name}: at most 128 KiB, found {} bytes", png.len());
}

#[test]
fn readme_has_pictures_of_the_page() {
    let page = Page::of_sample(&[]);
    let mut tab = Tab::open(&page);
    tab.go(&format!("{SHOP}?group="));
    tab.size(1280, 720);
    tab.fill("/set.image.tag", "1.5.0");
    tab.wait("document.querySelector('#preview .diff') !== null");
    picture(&mut tab, "parameters.png");
    tab.eval("document.querySelector('.bar button.main').click()");
    tab.wait("document.querySelector('#review') !== null");
    picture(&mut tab, "review.png");
    let readme = fs::read_to_string(workspace_root().join("README.md")).expect("README.md");
    for name in ["parameters.png", "review.png"] {
        assert!(readme.contains(&format!("](docs/images/{name})")), "{name} is in README.md");
    }
}
