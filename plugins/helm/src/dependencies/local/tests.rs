use std::collections::BTreeSet;

use super::*;

/// More than any chart here has.
const BOUNDS: ChartBounds = ChartBounds { charts: 10, bytes: 1 << 20, dependencies: 10 };

/// Name and version.
type Named<'a> = (&'a str, &'a str);

/// The list of dependencies, the folders, the packed charts, and what is left.
type Case<'a> = (&'a [Named<'a>], &'a [Named<'a>], &'a [Named<'a>], &'a [&'a str]);

/// Names in a folder `charts` after doubles are gone. A chart in a folder is in one that has its name and version, and a packed one is in an
/// archive that has a name of its own.
fn left(list: &[Named<'_>], in_folders: &[Named<'_>], packed: &[Named<'_>]) -> BTreeSet<String> {
    let outside = tempfile::tempdir().expect("a folder");
    let charts = outside.path().join("charts");
    let chart = |folder: &Path, (name, version): &Named<'_>| {
        fs::create_dir_all(folder).expect("a folder");
        let text = format!("apiVersion: v2\nname: {name}\nversion: {version}\n");
        fs::write(folder.join("Chart.yaml"), text).expect("a file");
    };
    fs::create_dir_all(charts.join("no-chart")).expect("a folder");
    for named in in_folders {
        chart(&charts.join(format!("{}-{}", named.0, named.1)), named);
    }
    for (number, named) in packed.iter().enumerate() {
        let folder = outside.path().join(number.to_string());
        chart(&folder.join(named.0), named);
        let mut archive = Vec::new();
        tiphys_tree::archive::pack(&folder, &mut archive).expect("it can be packed");
        fs::write(charts.join(format!("{number}-{}-{}.tgz", named.0, named.1)), archive).expect("a file");
    }
    fs::write(charts.join("dep-1.0.0.tar.gz"), "no archive").expect("a file");
    let dependency = |(name, version): &Named<'_>| Dependency {
        name: (*name).to_owned(),
        version: (*version).to_owned().into(),
        ..Dependency::default()
    };
    let list: Vec<Dependency> = list.iter().map(dependency).collect();
    let list: Vec<&Dependency> = list.iter().collect();

    remove_doubles(&charts, &list, BOUNDS).expect("a folder that can be written");

    let left = fs::read_dir(&charts).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let left = left.map(|name| name.to_string_lossy().into_owned());
    left.filter(|name| !["no-chart", "dep-1.0.0.tar.gz"].contains(&name.as_str())).collect()
}

#[test]
fn a_packed_chart_goes_where_a_folder_does_for_every_dependency_that_means_it() {
    let one = [("dep", "1.0.0")];
    let cases: [Case<'_>; 9] = [
        // The same version, and another one of the range.
        (&[("dep", "1.0.0")], &one, &one, &["dep-1.0.0"]),
        (&[("dep", "^1.0.0")], &one, &[("dep", "1.5.0")], &["dep-1.0.0"]),
        // The folder's version is not in the range.
        (&[("dep", "^1.1.0")], &one, &[("dep", "1.5.0")], &["0-dep-1.5.0.tgz", "dep-1.0.0"]),
        // Two versions are needed, and the folder is one of them.
        (
            &[("dep", "1.x"), ("dep", "2.x")],
            &one,
            &[("dep", "1.5.0"), ("dep", "2.5.0")],
            &["1-dep-2.5.0.tgz", "dep-1.0.0"],
        ),
        (&[("dep", ">=1"), ("dep", "2.x")], &one, &[("dep", "2.5.0")], &["0-dep-2.5.0.tgz", "dep-1.0.0"]),
        (
            &[("dep", "1.x"), ("dep", "2.x")],
            &[("dep", "1.0.0"), ("dep", "2.0.0")],
            &[("dep", "1.5.0"), ("dep", "2.5.0")],
            &["dep-1.0.0", "dep-2.0.0"],
        ),
        // No dependency means it, so that it was not built.
        (&[("dep", "2.x")], &one, &one, &["0-dep-1.0.0.tgz", "dep-1.0.0"]),
        (
            &[("dep", "1.x")],
            &[("dep", "1.0.0"), ("other", "1.0.0")],
            &[("other", "1.0.0")],
            &["0-other-1.0.0.tgz", "dep-1.0.0", "other-1.0.0"],
        ),
        (&[("dep", "1.x")], &[], &one, &["0-dep-1.0.0.tgz"]),
    ];
    for (list, in_folders, packed, expected) in cases {
        let expected: BTreeSet<String> = expected.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(left(list, in_folders, packed), expected, "{list:?}, {in_folders:?}, {packed:?}");
    }
}

#[test]
fn a_packed_chart_is_the_one_whose_name_is_followed_by_a_version() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("charts")).expect("a folder");
    let is_there = |name: &str| {
        let dependency = Dependency { name: name.to_owned(), ..Dependency::default() };
        missing(folder.path(), &[dependency], BOUNDS).is_none()
    };
    for file in ["db-admin-1.0.0.tgz", "web-v2.0.0-rc.1+build.tgz", "store-.tgz", "old-1.0.0.tar.gz"] {
        fs::write(folder.path().join("charts").join(file), "").expect("a file");
    }
    let found = ["db", "db-admin", "web", "store", "old"].map(is_there);
    assert_eq!(found, [false, true, true, false, true]);
}
