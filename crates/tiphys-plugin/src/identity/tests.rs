use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::environment::{BaseEnvironment, EnvironmentRule};

use super::{FileDigests, identity};

struct World(tempfile::TempDir, FileDigests);

impl World {
    fn new() -> Self {
        let world = Self(tempfile::tempdir().expect("a temporary directory"), FileDigests::default());
        world.write("plugin/plugin.yaml", "a");
        world.write("plugin/sub/helper.sh", "b");
        world.write("bin/tool", "c");
        world.write("helm", "d");
        world
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it has a parent")).expect("it can be made");
        fs::write(&path, content).expect("it can be written");
        fs::set_permissions(path, Permissions::from_mode(0o755)).expect("it can be made a program");
    }

    fn identity(&self, more: &[(&str, &str)]) -> [u8; 32] {
        self.try_identity(more).expect("it can be identified")
    }

    fn try_identity(&self, more: &[(&str, &str)]) -> io::Result<[u8; 32]> {
        let text = |path: &Path| path.to_str().expect("it is UTF-8").to_owned();
        let mut variables = vec![
            ("PATH".to_owned(), text(&self.path("bin"))),
            ("TIPHYS_HELM".to_owned(), text(&self.path("helm"))),
        ];
        variables.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let base = BaseEnvironment::new(variables, &EnvironmentRule::Listed(vec!["MY_*".to_owned()]));
        identity(&self.path("plugin"), (&["generate.sh".to_owned()], &["tool*".to_owned()]), &base, &self.1)
    }
}

#[test]
fn identity_changes_with_each_part() {
    let world = World::new();
    let first = world.identity(&[]);
    assert_eq!(world.identity(&[]), first);
    assert_eq!(world.identity(&[("OTHER", "1")]), first, "a variable that the plugin does not get");
    assert_ne!(world.identity(&[("MY_SETTING", "1")]), first);
    let changes = [
        ("plugin/plugin.yaml", "a2"),
        ("plugin/sub/helper.sh", "b2"),
        ("plugin/generate.sh", "new"),
        ("bin/tool", "c2"),
        ("bin/tool-v2", "new"),
        ("helm", "d2"),
    ];
    let mut seen = vec![first];
    for (name, content) in changes {
        world.write(name, content);
        let now = world.identity(&[]);
        assert!(!seen.contains(&now), "{name}");
        seen.push(now);
    }
}

#[test]
fn large_directory_has_no_identity() {
    let world = World::new();
    for number in 0..=super::ENTRIES_MAX {
        fs::create_dir(world.path(&format!("plugin/{number}"))).expect("it can be made");
    }
    let error = identity(&world.path("plugin"), (&[], &[]), &BaseEnvironment::default(), &world.1)
        .expect_err("too many");
    assert_eq!(error.to_string(), "more than 10000 entries");
}

#[test]
fn program_that_may_call_another_one_has_no_identity() {
    let world = World::new();
    let error = |more: &[(&str, &str)]| world.try_identity(more).expect_err("no identity").to_string();
    let without_folder = |text: String| text.replace(world.0.path().to_str().expect("it is UTF-8"), "");
    assert_eq!(
        error(&[("TIPHYS_HELM_PLUGINS", "/plugins")]),
        "TIPHYS_HELM_PLUGINS is set, and helm's plugins may read any file"
    );
    world.write("plugin/generate.sh", "#!/bin/sh");
    assert!(world.try_identity(&[]).is_ok(), "its own script");
    world.write("bin/tool", "#!/bin/sh");
    assert_eq!(without_folder(error(&[])), "/bin/tool is a script, which may call any program");
    world.write("manager", "m");
    fs::remove_file(world.path("bin/tool")).expect("it can be removed");
    symlink(world.path("manager"), world.path("bin/tool")).expect("it can be linked");
    assert_eq!(without_folder(error(&[])), "/bin/tool is a link to /manager");
    fs::remove_file(world.path("bin/tool")).expect("it can be removed");
    world.write("tools/tool-v1", "t");
    symlink(world.path("tools/tool-v1"), world.path("bin/tool")).expect("it can be linked");
    assert!(world.try_identity(&[]).is_ok(), "a link to the same tool");
}

#[test]
fn file_that_cannot_be_run_is_no_program() {
    let world = World::new();
    let first = world.identity(&[]);
    fs::set_permissions(world.path("bin/tool"), Permissions::from_mode(0o644)).expect("it can be changed");
    assert_ne!(world.identity(&[]), first);
}
