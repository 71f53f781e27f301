use std::fs;
use std::path::Path;

use crate::environment::{BaseEnvironment, EnvironmentRule};

use super::identity;

struct World(tempfile::TempDir);

impl World {
    fn new() -> Self {
        let world = Self(tempfile::tempdir().expect("a temporary directory"));
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
        fs::write(path, content).expect("it can be written");
    }

    fn identity(&self, more: &[(&str, &str)]) -> [u8; 32] {
        let text = |path: &Path| path.to_str().expect("it is UTF-8").to_owned();
        let mut variables = vec![
            ("PATH".to_owned(), text(&self.path("bin"))),
            ("TIPHYS_HELM".to_owned(), text(&self.path("helm"))),
        ];
        variables.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let base = BaseEnvironment::new(variables, &EnvironmentRule::Listed(vec!["MY_*".to_owned()]));
        identity(&self.path("plugin"), &["tool".to_owned(), "generate.sh".to_owned()], &base)
            .expect("it can be identified")
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
    let error = identity(&world.path("plugin"), &[], &BaseEnvironment::default()).expect_err("too many");
    assert_eq!(error.to_string(), "more than 10000 entries");
}
