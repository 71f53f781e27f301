use tiphys_tree::RepoPath;

use super::{Submodule, absolute_url, parse};
use crate::url::RemoteUrl;

#[test]
fn relative_urls_start_at_the_superprojects() {
    for (base, url, expected) in [
        ("https://h/team/app.git", "../lib.git", Ok("https://h/team/lib.git")),
        ("https://h/team/app/", "../lib", Ok("https://h/team/lib")),
        ("https://h/team/app", "./lib", Ok("https://h/team/app/lib")),
        ("https://h/team/app", "../../other/lib", Ok("https://h/other/lib")),
        ("https://h/app", "../../lib", Err("its relative URL climbs over the server's root")),
        ("git@h:team/app.git", "../lib.git", Ok("git@h:team/lib.git")),
        ("git@h:app.git", "../lib.git", Ok("git@h:lib.git")),
        ("git@h:app.git", "../../lib.git", Err("its relative URL climbs over the server's root")),
        ("ssh://git@h:22/team/app", "../lib", Ok("ssh://git@h:22/team/lib")),
        ("file:///srv/app", "../lib", Ok("file:///srv/lib")),
        ("https://h/app", "https://other/lib", Ok("https://other/lib")),
        ("https://h/app", "file:///etc", Err("a submodule of a remote repository may not have a file URL")),
        ("git@h:app", "file:///etc", Err("a submodule of a remote repository may not have a file URL")),
        ("file:///srv/app", "file:///srv/lib", Ok("file:///srv/lib")),
        ("https://h/app", "ext::sh -c x", Err("only file, http, https, ssh and git URLs are allowed")),
    ] {
        let superproject = RemoteUrl::parse(base).expect("the superproject can be fetched");
        assert_eq!(absolute_url(&superproject, url).as_deref(), expected.as_ref().copied(), "{base} {url}");
    }
}

#[test]
fn gitmodules_is_read_by_name() {
    let listing = "submodule.a.path\nx/a\0submodule.a.url\n../a\0submodule.b.c.url\nu\0submodule.b.c.path\nb\0\
                   submodule.b.c.update\nnone\0submodule.no-path.url\nu\0core.x\ny\0";
    let module = |name: &str, path: &str, url: &str, left_out| Submodule {
        name: name.to_owned(),
        path: RepoPath::new(path).expect("the path stays inside"),
        url: Some(url.to_owned()),
        left_out,
    };
    let modules = parse(listing, "r").expect("it is well-formed");
    assert_eq!(modules, [module("a", "x/a", "../a", false), module("b.c", "b", "u", true)]);
}

#[test]
fn a_submodule_outside_the_repository_is_refused() {
    for path in ["../x", "/x", ""] {
        let error = parse(&format!("submodule.a.path\n{path}\0"), "r").expect_err("it cannot be used");
        assert_eq!(error.to_string(), "submodule \"a\" of repository r has no path that can be used");
    }
}
