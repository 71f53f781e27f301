//! `--offline` where nothing may be written to the cache: a commit and a chart that were fetched before are rendered from it.

use std::fs;

use tiphys_testkit::chart::Chart;
use tiphys_testkit::chart_server::{ChartServer, Transport};

use crate::world::{TIPHYS, World};

const PLUGIN: &str = "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {name: show}
spec: {generate: {command: [cat, object.yaml]}}
";

#[test]
fn a_cache_that_is_for_reading_is_enough_without_the_network() {
    let (world, server) = (World::new(), ChartServer::start(Transport::Plain));
    let object = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
    server.repository("/charts", &[Chart::new("web", "1.0.0").with("object.yaml", &object("of-chart"))]);
    let repository = world.path("remote");
    fs::create_dir(&repository).expect("made");
    world.write("remote/object.yaml", &object("of-commit"));
    for args in
        [&["init", "--quiet", "-b", "main"][..], &["add", "--all"], &["commit", "--quiet", "-m", "one"]]
    {
        let mut command = world.command("git");
        command.current_dir(&repository).args(args);
        assert_eq!(world.finish(command).code, 0, "git {args:?}");
    }
    let application = |name: &str, source: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\nspec:\n  source: {{{source}, plugin: {{name: show}}}}\n  destination: {{namespace: shop}}\n"
        )
    };
    let of_chart = format!("repoURL: '{}/charts', chart: web, targetRevision: 1.x", server.url());
    let of_commit = format!("repoURL: 'file://{}', path: ., targetRevision: main", repository.display());
    world.write("store/chart.yaml", &application("chart", &of_chart));
    world.write("store/commit.yaml", &application("commit", &of_commit));
    world.write("plugins/show/plugin.yaml", PLUGIN);
    let args = ["render", "--store=store", "--plugins=plugins", "-o=name"];
    let online = world.run(&args);
    assert_eq!((online.code, online.stderr.as_str()), (0, ""));
    assert_eq!(online.stdout, "configmap/of-chart\nconfigmap/of-commit\n");
    // Only what was fetched is there: no tree that was made of it.
    fs::remove_dir_all(world.path("cache/tiphys/trees")).expect("removed");
    drop(server);

    let script = "mount --bind cache cache && mount -o remount,bind,ro cache && exec \"$0\" \"$@\"";
    let mut probe = world.command("unshare");
    probe.args(["--map-root-user", "--mount", "sh", "-c", script, "true"]);
    if world.finish(probe).code != 0 {
        // Only a machine on which nobody may make a namespace has no answer.
        return;
    }
    for (options, expected) in [(&["--offline"][..], (0, online.stdout.as_str())), (&[], (2, ""))] {
        let mut command = world.command("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", script, TIPHYS]).args(args).args(options);
        let output = world.finish(command);
        assert_eq!((output.code, output.stdout.as_str()), expected, "{options:?}: {}", output.stderr);
        assert_eq!(world.left_behind(), Vec::<std::path::PathBuf>::new(), "{options:?}");
    }
}
