use std::collections::BTreeSet;

use super::*;

#[test]
fn a_packed_chart_goes_where_the_same_chart_stands_in_a_folder() {
    let outside = tempfile::tempdir().expect("a folder");
    let charts = outside.path().join("charts");
    for (folder, name, version) in
        [("dep", "dep", "0.1.0"), ("renamed", "other", "1.0.0"), ("evil", "../evil", "1")]
    {
        fs::create_dir_all(charts.join(folder)).expect("a folder");
        let text = format!("apiVersion: v2\nname: {name}\nversion: {version}\n");
        fs::write(charts.join(folder).join("Chart.yaml"), text).expect("a file");
    }
    fs::create_dir(charts.join("no-chart")).expect("a folder");
    let packed =
        ["dep-0.1.0.tgz", "dep-0.2.0.tgz", "other-1.0.0.tar.gz", "renamed-1.0.0.tgz", "third-0.1.0.tgz"];
    for name in packed {
        fs::write(charts.join(name), "packed").expect("a file");
    }
    fs::write(outside.path().join("evil-1.tgz"), "not ours").expect("a file");

    remove_doubles(&charts).expect("a folder that can be written");

    let left = fs::read_dir(&charts).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let left: BTreeSet<String> = left.map(|name| name.to_string_lossy().into_owned()).collect();
    let expected =
        ["dep", "dep-0.2.0.tgz", "evil", "no-chart", "renamed", "renamed-1.0.0.tgz", "third-0.1.0.tgz"];
    assert_eq!(left, expected.map(str::to_owned).into());
    assert!(outside.path().join("evil-1.tgz").exists());
}
