use std::fs;
use std::path::Path;

use super::*;

/// Loads plugins of these names, each from a folder of its own below `root`.
fn plugins(root: &Path, origin: PluginOrigin, names: &[&str]) -> Vec<NamedPlugin> {
    let load = |(index, name): (usize, &&str)| {
        let folder = root.join(format!("{origin:?}-{index}"));
        fs::create_dir_all(&folder).expect("a directory");
        let text = format!(
            "kind: ConfigManagementPlugin\nmetadata: {{name: {name}}}\nspec: {{generate: {{command: [x]}}}}\n"
        );
        fs::write(folder.join("plugin.yaml"), text).expect("a file");
        let loaded = tiphys_plugin::load_plugins(&folder).expect("it is valid");
        let plugin = loaded.into_iter().next().expect("one plugin");
        NamedPlugin { file: plugin.file.display().to_string(), plugin, origin }
    };
    names.iter().enumerate().map(load).collect()
}

#[test]
fn plugin_of_the_caller_replaces_an_installed_one() {
    use PluginOrigin::{Installation, Option, ProjectFile, Variable};
    for (installed, origin, named, expected) in [
        (&["a", "b"][..], Option, &[][..], Ok(&["a Installation-0", "b Installation-1"][..])),
        (&["a", "b"], Option, &["b", "c"], Ok(&["a Installation-0", "b Option-0", "c Option-1"])),
        (&["a"], Variable, &["a"], Ok(&["a Variable-0"])),
        (&["a"], ProjectFile, &["a"], Ok(&["a ProjectFile-0"])),
        (&[], Option, &["a", "a"], Err("--plugins: plugin \"a\" is in ")),
        (&["a"], Variable, &["a", "a"], Err("TIPHYS_PLUGINS: plugin \"a\" is in ")),
        (&["a", "a"], Option, &[], Err("plugin \"a\" is in ")),
        (&["a", "a"], Option, &["a"], Err("plugin \"a\" is in ")),
    ] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut all = plugins(dir.path(), origin, named);
        all.extend(plugins(dir.path(), Installation, installed));
        let found = without_replaced(all).map(|plugins| {
            let shown = |plugin: &LoadedPlugin| {
                let folder = plugin.folder.file_name().expect("a name").to_string_lossy().into_owned();
                format!("{} {folder}", plugin.config.display_name())
            };
            plugins.iter().map(shown).collect::<Vec<_>>()
        });
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(error), Err(expected)) => {
                assert!(error.message().starts_with(expected), "{}", error.message());
            }
            (found, expected) => panic!("{found:?} is not {expected:?}"),
        }
    }
}
