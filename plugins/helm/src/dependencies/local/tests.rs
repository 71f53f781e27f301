use std::collections::BTreeSet;

use super::*;

/// More than any chart here needs.
const BOUNDS: ChartBounds = ChartBounds { charts: 10, bytes: 1 << 20, dependencies: 10 };

/// Name and version.
type Named<'a> = (&'a str, &'a str);

/// Dependencies, charts in directories, packed charts, and the expected result.
type Case<'a> = (&'a [Named<'a>], &'a [Named<'a>], &'a [Named<'a>], &'a [&'a str]);

/// Names in `charts` after duplicates are removed. Directories are named `NAME-VERSION`; packed charts have unique names.
fn left(list: &[Named<'_>], in_folders: &[Named<'_>], packed: &[Named<'_>]) -> BTreeSet<String> {
    let outside = tempfile::tempdir().expect("directory created");
    let charts = outside.path().join("charts");
    let chart = |folder: &Path, (name, version): &Named<'_>| {
        fs::create_dir_all(folder).expect("directory created");
        let text = format!("apiVersion: v2\nname: {name}\nversion: {version}\n");
        fs::write(folder.join("Chart.yaml"), text).expect("a file");
    };
    fs::create_dir_all(charts.join("no-chart")).expect("directory created");
    for named in in_folders {
        chart(&charts.join(format!("{}-{}", named.0, named.1)), named);
    }
    for (number, named) in packed.iter().enumerate() {
        let folder = outside.path().join(number.to_string());
        chart(&folder.join(named.0), named);
        let mut archive = Vec::new();
        tiphys_tree::archive::pack(&folder, &mut archive).expect("chart packed");
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

    remove_duplicates(&charts, &list, BOUNDS).expect("writable directory");

    let left = fs::read_dir(&charts).expect("readable").map(|entry| entry.expect("an entry").file_name());
    let left = left.map(|name| name.to_string_lossy().into_owned());
    left.filter(|name| !["no-chart", "dep-1.0.0.tar.gz"].contains(&name.as_str())).collect()
}

#[test]
fn packed_chart_is_removed_if_a_directory_satisfies_all() {
    let one = [("dep", "1.0.0")];
    let cases: [Case<'_>; 9] = [
        // The same version, and another one of the range.
        (&[("dep", "1.0.0")], &one, &one, &["dep-1.0.0"]),
        (&[("dep", "^1.0.0")], &one, &[("dep", "1.5.0")], &["dep-1.0.0"]),
        // The directory's version is not in the range.
        (&[("dep", "^1.1.0")], &one, &[("dep", "1.5.0")], &["0-dep-1.5.0.tgz", "dep-1.0.0"]),
        // Two versions are needed, and the directory is one of them.
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
        // No dependency selects it, so it was not built.
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
fn packed_chart_has_its_name_followed_by_a_version() {
    let folder = tempfile::tempdir().expect("directory created");
    fs::create_dir(folder.path().join("charts")).expect("directory created");
    let is_present = |name: &str| {
        let dependency = Dependency { name: name.to_owned(), ..Dependency::default() };
        missing(folder.path(), &[dependency], BOUNDS).is_empty()
    };
    for file in ["db-admin-1.0.0.tgz", "web-v2.0.0-rc.1+build.tgz", "store-.tgz", "old-1.0.0.tar.gz"] {
        fs::write(folder.path().join("charts").join(file), "").expect("a file");
    }
    let found = ["db", "db-admin", "web", "store", "old"].map(is_present);
    assert_eq!(found, [false, true, true, false, true]);
}
