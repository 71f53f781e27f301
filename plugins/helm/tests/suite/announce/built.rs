//! Values of remote dependencies, from an earlier build and without network access.

use std::fs;

use tiphys_testkit::chart::Chart;
use tiphys_testkit::chart_server::{ChartServer, Transport};

use crate::announce::round_trip::{SEEN, seen};
use crate::announce::world::{Helm, World};

/// A chart with a remote dependency, one in `charts`, and a cache.
fn world(url: &str) -> World {
    let list = format!(
        "dependencies: [{{name: dep, version: '>=1', repository: '{url}', alias: store}}, {{name: own, version: '>=1'}}]"
    );
    let world = World::with_values("replicas: 1\nstore: {size: 5}\n")
        .chart_file("Chart.yaml", format!("apiVersion: v2\nname: web\nversion: 0.1.0\n{list}\n"))
        .chart_file("templates/seen.yaml", SEEN)
        .chart_file("charts/own/Chart.yaml", "apiVersion: v2\nname: own\nversion: 1.0.0\n")
        .chart_file("charts/own/values.yaml", "x: 1\n");
    let cache = world.folder().join("cache").display().to_string();
    world.variable("TIPHYS_HELM_CACHE_DIR", &cache)
}

fn lines(world: &World, helm: Helm) -> Vec<String> {
    let line = |one: tiphys_model::params::Announcement| {
        format!("{}={}", one.title.unwrap_or_default(), one.string.unwrap_or_default())
    };
    world.values_with(helm).into_iter().map(line).collect()
}

const BEFORE: [&str; 3] = ["replicas=1", "store.size=5", "own.x=1"];

const AFTER: [&str; 4] = ["replicas=1", "store.size=5", "store.user=admin", "own.x=1"];

#[test]
fn cached_dependencies_are_announced_without_network() {
    for helm in Helm::ALL {
        let server = ChartServer::start(Transport::Plain);
        server.repository(
            "/stable",
            &[Chart::new("dep", "1.2.0").with("values.yaml", "size: 1\nuser: admin\n")],
        );
        let world = world(&format!("{}/stable", server.url()));
        assert_eq!(lines(&world, helm), BEFORE, "nothing was built for {helm:?}");
        assert!(!world.folder().join("cache").exists(), "announcing creates no cache");
        assert_eq!(seen(&world, helm)["store"]["user"], "admin", "{helm:?}");
        drop(server);
        assert_eq!(lines(&world, helm), AFTER, "{helm:?}");
        // Another list may select another chart.
        let file = world.root().join("charts/web/Chart.yaml");
        let text = fs::read_to_string(&file).expect("the chart's file");
        fs::write(&file, text.replace("dep, version: '>=1'", "dep, version: '>=1.1'")).expect("writable");
        assert_eq!(lines(&world, helm), BEFORE, "{helm:?}");
        fs::write(&file, text).expect("writable");
        assert_eq!(lines(&world, helm), AFTER, "{helm:?}");
        break_packed_charts(&world);
        assert_eq!(lines(&world, helm), BEFORE, "a broken entry is ignored");
    }
}

/// Overwrites every cached packed chart.
fn break_packed_charts(world: &World) {
    let mut waiting = vec![world.folder().join("cache")];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).expect("readable").flatten() {
            let is_packed = entry.file_name().len() == 64;
            if entry.path().is_dir() {
                waiting.push(entry.path());
            } else if is_packed {
                fs::write(entry.path(), "something else").expect("writable");
            }
        }
    }
}
