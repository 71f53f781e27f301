//! Interrupted commands for plugin authors.

use crate::world::{Output, World};

const PLUGIN: &str = "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {name: holder}
spec: {generate: {command: [holder.sh]}}
";

#[test]
fn interrupted_test_leaves_no_process_and_no_files() {
    let world = World::new();
    world.write("holder/plugin.yaml", PLUGIN).write(
        "holder/holder.sh",
        "#!/bin/sh\nexec 3> \"$PIPE\"\necho started >&3\nsetsid sleep 1000 &\nwait",
    );
    for case in ["a", "b", "c"] {
        world.write(&format!("holder/testdata/{case}/tree/file"), "");
    }
    let pipe = world.pipe("pipe");
    let arguments = ["plugin", "test", "holder", "--update", "--config=passEnv=PIPE", "--limit=jobs=1"];
    let running = world.start_with("PIPE", &world.path("pipe"), &arguments);
    assert_eq!(pipe.line(), "started");
    running.signal(&world, "INT");
    let interrupted = Output { code: 130, stdout: String::new(), stderr: "error: interrupted\n".to_owned() };
    assert_eq!(running.finish(&world), interrupted);
    pipe.ends();
    assert_eq!(world.left_behind(), Vec::<std::path::PathBuf>::new());
    for case in ["a", "b", "c"] {
        assert!(!world.path(&format!("holder/testdata/{case}/error.txt")).exists(), "{case}");
    }
}
