use super::*;

/// More than any chart here needs.
const BOUNDS: ChartBounds = ChartBounds { charts: 10, bytes: 1 << 20, dependencies: 10 };

/// Writes the metadata of a chart.
fn chart(folder: &Path, name: &str, version: &str) {
    fs::create_dir_all(folder).expect("directory created");
    let text = format!("apiVersion: v2\nname: {name}\nversion: {version}\n");
    fs::write(folder.join("Chart.yaml"), text).expect("a file");
}

#[test]
fn charts_directory_has_folders_and_archives() {
    let outside = tempfile::tempdir().expect("directory created");
    let charts = outside.path().join("charts");
    chart(&charts.join("any-folder"), "dep", "1.0.0");
    fs::create_dir_all(charts.join("no-chart")).expect("directory created");
    for (file, name) in [("other-2.0.0.tgz", "other"), ("db-admin-1.0.0.tgz", "db-admin")] {
        let folder = outside.path().join(name);
        chart(&folder.join(name), name, "2.0.0");
        let mut archive = Vec::new();
        tiphys_tree::archive::pack(&folder, &mut archive).expect("chart packed");
        fs::write(charts.join(file), archive).expect("a file");
    }
    fs::write(charts.join("old-1.0.0.tgz"), "no archive").expect("a file");

    let found = InCharts::read(&charts, BOUNDS);

    let dependency = |name: &str, version: &str| Dependency {
        name: name.to_owned(),
        version: version.to_owned().into(),
        ..Dependency::default()
    };
    let cases = [("dep", "1.0.0"), ("dep", "^1.1.0"), ("other", "2.0.0"), ("any-folder", "1.0.0")];
    let in_folder = cases.map(|(name, version)| found.has_folder_of(&dependency(name, version)));
    assert_eq!(in_folder, [true, false, false, false]);
    let mut archives: Vec<&str> = found.archives.iter().map(|(file, _)| file.as_str()).collect();
    archives.sort_unstable();
    assert_eq!(archives, ["db-admin-1.0.0.tgz", "other-2.0.0.tgz"]);
    let present = ["dep", "other", "db", "db-admin", "old"].map(|name| found.has_chart(name));
    assert_eq!(present, [true, true, false, true, false]);
}
