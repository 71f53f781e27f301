mod table;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tiphys_source::LocalCopy;
use tiphys_store::{FileName, Store, StoreInput};

use super::{FileOrigins, Origin};
use crate::context::base::PluginsFrom;
use crate::context::host::Host;
use crate::context::options::{ServiceOptions, StorePath};

/// The layout of the tests: `pr` is a checkout with an Application, `platform` a checkout with settings only, `archive` an unpacked archive.
const FILES: [(&str, &str); 5] = [
    (
        "pr/apps/app.yaml",
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: {source: {repoURL: x, path: y}, destination: {}}\n",
    ),
    ("pr/cm.yaml", ""),
    ("platform/cm.yaml", ""),
    ("archive/cm.yaml", ""),
    ("own/cm.yaml", ""),
];

/// Options of the command line, the store, and the expected origin of files.
type Case = (&'static str, &'static str, &'static [(&'static str, Origin)]);

/// The options of a store and of some arguments of the command line.
fn options(root: &Path, store: &str, arguments: &str) -> ServiceOptions {
    let path = |path: &str| match path {
        "-" => StorePath::StandardInput,
        path => StorePath::Path(path.into()),
    };
    let mut options = ServiceOptions { store: vec![path(store)], ..ServiceOptions::default() };
    for argument in arguments.split_whitespace() {
        match argument.split_once('=') {
            Some(("--repo", repo)) => {
                options.repositories.push(LocalCopy::parse(repo, root).expect("a repository"));
            }
            Some(("--store", store)) => options.store.push(path(store)),
            Some(("--trust-repository-settings", dir)) => options.trust_repository_settings.push(dir.into()),
            None if argument == "--trust-repository-settings" => {
                options.trust_repository_settings.push("/".into());
            }
            _ => panic!("unknown option {argument}"),
        }
    }
    options
}

#[test]
fn settings_of_a_rendered_repository_are_not_the_callers() {
    use Origin::{AcceptedRepository, Caller, Repository, WorkTree};
    let dir = tempfile::tempdir().expect("a temporary directory");
    let root = dir.path().canonicalize().expect("it exists");
    for (path, content) in FILES {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("it has a parent")).expect("a directory");
        fs::write(path, content).expect("a file");
    }
    fs::create_dir(root.join("archive/sub")).expect("a directory");
    for checkout in ["pr", "platform"] {
        fs::create_dir(root.join(checkout).join(".git")).expect("a directory");
    }
    symlink(root.join("pr/cm.yaml"), root.join("own/into-pr.yaml")).expect("a link");
    symlink(root.join("own/cm.yaml"), root.join("pr/to-own.yaml")).expect("a link");
    symlink(root.join("own"), root.join("pr/dir")).expect("a link");
    symlink("pr/dir", root.join("through-pr")).expect("a link");
    let cases: [Case; 11] = [
        (
            "",
            "pr",
            &[
                ("pr/cm.yaml", Repository),
                ("own/into-pr.yaml", Repository),
                ("pr/to-own.yaml", Repository),
                ("pr/dir/cm.yaml", Repository),
                ("own/cm.yaml", Caller),
                ("platform/cm.yaml", WorkTree),
                ("pr/../own/cm.yaml", Caller),
                ("pr/apps/../../own/cm.yaml", Caller),
                ("own/../pr/cm.yaml", Repository),
                ("platform/../pr/apps/../cm.yaml", Repository),
                ("pr/dir/../platform/cm.yaml", Repository),
                ("through-pr/cm.yaml", Repository),
            ],
        ),
        ("", "own", &[("pr/cm.yaml", WorkTree), ("platform/cm.yaml", WorkTree)]),
        (
            "--repo=https://git.example.org/a.git=pr",
            "own",
            &[("pr/cm.yaml", Repository), ("own/cm.yaml", Caller)],
        ),
        ("--repo=https://git.example.org/a.git=pr/apps", "own", &[("pr/cm.yaml", Repository)]),
        ("--repo=https://git.example.org/a.git=archive", "own", &[("archive/cm.yaml", Repository)]),
        (
            "--store=archive --repo=https://git.example.org/a.git=archive/sub",
            "own",
            &[("archive/cm.yaml", Repository)],
        ),
        (
            "--trust-repository-settings",
            "pr",
            &[("pr/cm.yaml", AcceptedRepository), ("own/into-pr.yaml", AcceptedRepository)],
        ),
        (
            "--trust-repository-settings=platform",
            "pr",
            &[("pr/cm.yaml", Repository), ("platform/cm.yaml", WorkTree)],
        ),
        ("--trust-repository-settings=pr/apps", "pr", &[("pr/cm.yaml", Repository)]),
        (
            "--trust-repository-settings=own",
            "pr",
            &[
                ("own/into-pr.yaml", Repository),
                ("pr/to-own.yaml", Repository),
                ("pr/../own/cm.yaml", Caller),
            ],
        ),
        (
            "--trust-repository-settings=through-pr/../pr/apps",
            "pr",
            &[("pr/apps/app.yaml", AcceptedRepository)],
        ),
    ];
    for (option, store, expected) in cases {
        let options = options(&root, store, option);
        let host = Host::for_tests(&[]).in_dir(&root);
        let resources = Store::load(&[StoreInput::Path(root.join(store))]).expect("a store");
        let origins = FileOrigins::new(&options, &host, &resources, &[]);
        for (path, origin) in expected {
            let path = root.join(path);
            let found = origins.of(&FileName::file(&path));
            assert_eq!(found, *origin, "{option} with the store {store}: {}", path.display());
        }
    }
}

#[test]
fn rendered_store_has_the_origin_of_its_directory() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let root = dir.path().canonicalize().expect("it exists");
    fs::create_dir_all(root.join("pr/.git")).expect("a directory");
    let host = Host::for_tests(&[]).in_dir(&root);
    for (dir, expected) in [("pr/apps", Origin::Repository), ("own", Origin::Caller)] {
        fs::create_dir(root.join(dir)).expect("a directory");
        let name = FileName::directory(&root.join(dir));
        let store = Store::load(&[StoreInput::Rendered(name.clone(), FILES[0].1.to_owned())]);
        let store = store.expect("a store");
        let origins = FileOrigins::new(&options(&root, dir, ""), &host, &store, &[]);
        assert_eq!(origins.of(&name), expected, "{dir}");
    }
}

#[test]
fn named_application_paths_and_the_current_directory_are_rendered() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let root = dir.path().canonicalize().expect("it exists");
    fs::create_dir_all(root.join("pr/.git")).expect("a directory");
    fs::create_dir_all(root.join("pr/settings")).expect("a directory");
    let none = Store::load(&[]).expect("an empty store");
    let options = ServiceOptions::default();
    let cases: [(&Path, Vec<PathBuf>, Origin); 3] = [
        (&root, vec![], Origin::WorkTree),
        (&root, vec![PathBuf::from("pr/app.yaml")], Origin::Repository),
        (&root.join("pr/settings"), vec![], Origin::Repository),
    ];
    for (current_dir, applications, expected) in cases {
        let host = Host::for_tests(&[]).in_dir(current_dir);
        let origins = FileOrigins::new(&options, &host, &none, &applications);
        let found = origins.of(&FileName::file(root.join("pr/settings/cm.yaml")));
        assert_eq!(found, expected, "{applications:?} in {}", current_dir.display());
    }
}

#[test]
fn origins_of_a_comparison_depend_on_whose_settings_are_used() {
    use Origin::{AcceptedBase, AcceptedHead, AcceptedRepository, Base, Repository};
    let dir = tempfile::tempdir().expect("a temporary directory");
    let root = dir.path().canonicalize().expect("it exists");
    fs::create_dir_all(root.join("pr/.git")).expect("a directory");
    fs::write(root.join("pr/cm.yaml"), "").expect("a file");
    let host = Host::for_tests(&[]).in_dir(&root);
    let none = Store::load(&[]).expect("an empty store");
    let tops = BTreeSet::from([root.join("pr")]);
    for (arguments, from, head, base) in [
        ("", PluginsFrom::Base, Repository, Base),
        ("", PluginsFrom::Head, AcceptedHead, AcceptedBase),
        ("", PluginsFrom::Each, AcceptedHead, AcceptedBase),
        ("--trust-repository-settings=pr", PluginsFrom::Base, AcceptedRepository, AcceptedBase),
        ("--trust-repository-settings=pr", PluginsFrom::Each, AcceptedRepository, AcceptedBase),
        ("--trust-repository-settings=other", PluginsFrom::Base, Repository, Base),
    ] {
        let options = options(&root, "pr", arguments);
        let origins = FileOrigins::new(&options, &host, &none, &[]).of_compared(&tops, from);
        let of = |file: FileName| origins.of(&file);
        let found = (of(FileName::file(root.join("pr/cm.yaml"))), of(FileName::past("main:pr/cm.yaml")));
        assert_eq!(found, (head, base), "{arguments} {from:?}");
    }
}
