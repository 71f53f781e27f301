//! Subcharts: directories, archives, aliases, conditions, globals.

use std::io::Write as _;

use crate::announce::world::{CHART, World};

const SUB: &str = "apiVersion: v2\nname: db\nversion: 1.2.3\n";

fn umbrella(dependencies: &str, values: &str) -> World {
    World::new(CHART)
        .chart_file(
            "Chart.yaml",
            format!("apiVersion: v2\nname: web\nversion: 0.1.0\ndependencies: {dependencies}\n"),
        )
        .chart_file("values.yaml", values)
}

fn with_db(world: World) -> World {
    world
        .chart_file("charts/db/Chart.yaml", SUB)
        .chart_file("charts/db/values.yaml", "size: 1\nuser: admin\n")
}

/// An archive as made by `helm package`.
fn packed(name: &str, files: &[(&str, &[u8])]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary directory");
    for (file, bytes) in files {
        let path = folder.path().join(name).join(file);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directory created");
        std::fs::write(path, bytes).expect("file written");
    }
    let mut archive = Vec::new();
    tiphys_tree::archive::pack(folder.path(), &mut archive).expect("chart packed");
    archive.flush().expect("the archive is in memory");
    archive
}

#[test]
fn values_of_subcharts_are_below_their_names() {
    let world = with_db(umbrella("[{name: db, version: 1.x}]", "a: 1\ndb: {size: 2}\n"));
    assert_eq!(world.lines(), ["a (number) 1", "db.size (number) 2", "db.user admin"]);
    assert_eq!(world.value("db.user").name, "set.db.user");
}

#[test]
fn unlisted_subchart_is_announced() {
    let world = with_db(World::with_values("a: 1\n"));
    assert_eq!(world.lines(), ["a (number) 1", "db.size (number) 1", "db.user admin"]);
}

#[test]
fn each_alias_has_its_own_values() {
    let list = "[{name: db, version: 1.2.3, alias: one}, {name: db, version: 1.2.3, alias: two}]";
    let world = with_db(umbrella(list, "two: {size: 2}\n"));
    let expected = ["two.size (number) 2", "two.user admin", "one.size (number) 1", "one.user admin"];
    let mut lines = world.lines();
    lines.sort();
    let mut sorted = expected;
    sorted.sort_unstable();
    assert_eq!(lines, sorted);
}

#[test]
fn disabled_subcharts_have_no_values() {
    let list = "[{name: db, version: 1.2.3, condition: db.enabled, tags: [back]}]";
    let off = ["db: {enabled: false}\n", "tags: {back: false}\n"];
    for values in off {
        let lines = with_db(umbrella(list, values)).lines();
        assert!(!lines.iter().any(|line| line.contains("db.size")), "{lines:?}");
    }
    let on = [
        "db: {enabled: true}\n",
        "tags: {back: false}\ndb: {enabled: true}\n",
        "tags: {back: true}\n",
        "{}\n",
    ];
    for values in on {
        let lines = with_db(umbrella(list, values)).lines();
        assert!(lines.contains(&"db.size (number) 1".to_owned()), "{lines:?}");
    }
}

#[test]
fn subchart_enabled_by_a_set_value_is_announced() {
    let list = "[{name: db, version: 1.2.3, condition: db.enabled}]";
    let world = with_db(umbrella(list, "db: {enabled: false}\n")).text("set.db.enabled", "true");
    assert_eq!(world.lines(), ["db.enabled (boolean) false", "db.size (number) 1", "db.user admin"]);
    // `generate` reports what helm rejects.
    let world = with_db(umbrella(list, "db: {enabled: false}\n")).text("set.db[", "true");
    assert_eq!(world.lines(), ["db.enabled (boolean) false"]);
}

#[test]
fn archives_in_archives_are_read() {
    let inner =
        packed("disk", &[("Chart.yaml", b"name: disk\nversion: 1.0.0\n"), ("values.yaml", b"speed: 7\n")]);
    let files: [(&str, &[u8]); 5] = [
        ("Chart.yaml", SUB.as_bytes()),
        ("values.yaml", b"# bytes of it\nsize: 1\n"),
        ("values.schema.json", br#"{"properties": {"size": {"type": "string"}}}"#),
        ("templates/values.yaml", b"not: values\n"),
        ("charts/disk-1.0.0.tgz", &inner),
    ];
    let world = umbrella("[{name: db, version: 1.2.3}]", "{}\n");
    let world = world
        .chart_file("charts/db-1.2.3.tgz", packed("db", &files))
        .chart_file("charts/db-1.2.3.tgz.prov", "signed");
    assert_eq!(world.lines(), ["db.size 1", "db.disk.speed (number) 7"]);
    assert_eq!(world.value("db.size").tooltip.as_deref(), Some("bytes of it"));
}

#[test]
fn ignored_subchart_is_not_announced() {
    let world = with_db(World::with_values("a: 1\n")).chart_file(".helmignore", "charts/db\n");
    assert_eq!(world.lines(), ["a (number) 1"]);
}

#[test]
fn other_files_are_not_read() {
    let world = with_db(World::with_values("a: 1\n"))
        .chart_file("templates/broken.yaml", "{{")
        .chart_file("Chart.lock", "- not a lock");
    let large = std::fs::File::create(world.root().join(CHART).join("large")).expect("file created");
    large.set_len(101 << 20).expect("a file of holes");
    assert_eq!(world.lines(), ["a (number) 1", "db.size (number) 1", "db.user admin"]);
}

#[test]
fn globals_of_subcharts_are_announced_at_the_top() {
    let world = umbrella("[{name: db, version: 1.2.3}]", "global: {region: eu}\n")
        .chart_file("charts/db/Chart.yaml", SUB)
        .chart_file(
            "charts/db/values.yaml",
            "# where it is\nglobal:\n  region: us\n  # part of it\n  zone: z\nsize: 1\n",
        );
    assert_eq!(world.lines(), ["global.region eu", "global.zone z", "db.size (number) 1"]);
    assert_eq!(world.value("global.zone").tooltip.as_deref(), Some("part of it"));
}

#[test]
fn local_dependency_is_read_only_inside_the_repository() {
    let list = "[{name: db, version: 1.2.3, repository: 'file://../db'}, {name: out, version: 1.0.0, repository: 'file://../../../out'}]";
    let world =
        umbrella(list, "a: 1\n").file("charts/db/Chart.yaml", SUB).file("charts/db/values.yaml", "size: 1\n");
    let outside = world.folder().join("out");
    std::fs::create_dir(&outside).expect("directory created");
    std::fs::write(outside.join("Chart.yaml"), "name: out\nversion: 1.0.0\n").expect("file written");
    std::fs::write(outside.join("values.yaml"), "secret: x\n").expect("file written");
    assert_eq!(world.lines(), ["a (number) 1", "db.size (number) 1"]);
}

#[test]
fn dependencies_in_requirements_yaml_are_read() {
    let world = World::new(CHART)
        .chart_file("Chart.yaml", "apiVersion: v1\nname: web\nversion: 0.1.0\n")
        .chart_file(
            "requirements.yaml",
            "dependencies: [{name: db, version: 1.2.3, alias: store, condition: x.used}]\n",
        )
        .chart_file("values.yaml", "x: {used: true}\n");
    assert_eq!(
        with_db(world).lines(),
        ["x.used (boolean) true", "store.size (number) 1", "store.user admin"]
    );
}

/// Helm merges `requirements.yaml` over `Chart.yaml`, item by item, and does not append it.
#[test]
fn requirements_yaml_changes_the_items_of_chart_yaml() {
    let list = "dependencies: [{name: other, version: 1.2.3, alias: store}, {name: gone, version: 0.1.0}]\n";
    let world = World::new(CHART)
        .chart_file("Chart.yaml", format!("apiVersion: v1\nname: web\nversion: 0.1.0\n{list}"))
        .chart_file("requirements.yaml", "dependencies: [{name: db, condition: x.used}]\n")
        .chart_file("values.yaml", "x: {used: true}\n");
    assert_eq!(
        with_db(world).lines(),
        ["x.used (boolean) true", "store.size (number) 1", "store.user admin"]
    );
}
