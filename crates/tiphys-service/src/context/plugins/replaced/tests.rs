use std::fs;
use std::path::Path;

use super::*;

/// Loads plugins of these names, each from a folder of its own below `root`.
fn plugins(root: &Path, origin: Option<SettingOrigin>, names: &[&str]) -> Vec<NamedPlugin> {
    let load = |(index, name): (usize, &&str)| {
        let folder = root.join(format!("{}-{index}", shown(origin)));
        fs::create_dir_all(&folder).expect("a directory");
        let text = format!(
            "kind: ConfigManagementPlugin\nmetadata: {{name: {name}}}\nspec: {{generate: {{command: [x]}}}}\n"
        );
        fs::write(folder.join("plugin.yaml"), text).expect("a file");
        let loaded = tiphys_plugin::load_plugins(&folder).expect("it is valid");
        let plugin = loaded.into_iter().next().expect("one plugin");
        NamedPlugin { file: plugin.shown_file(), plugin, origin }
    };
    names.iter().enumerate().map(load).collect()
}

fn shown(origin: Option<SettingOrigin>) -> String {
    origin.map_or_else(|| "BuiltIn".to_owned(), |origin| format!("{origin:?}"))
}

#[test]
fn plugin_of_the_caller_replaces_a_built_in_one() {
    use SettingOrigin::{Option as FromOption, ProjectFile, Variable};
    for (built_in, origin, named, expected) in [
        (&["a", "b"][..], FromOption, &[][..], Ok(&["a BuiltIn-0", "b BuiltIn-1"][..])),
        (&["a", "b"], FromOption, &["b", "c"], Ok(&["a BuiltIn-0", "b Option-0", "c Option-1"])),
        (&["a"], Variable, &["a"], Ok(&["a Variable-0"])),
        (&["a"], ProjectFile, &["a"], Ok(&["a ProjectFile-0"])),
        (&[], FromOption, &["a", "a"], Err("--plugins: plugin \"a\" is in ")),
        (&["a"], Variable, &["a", "a"], Err("TIPHYS_PLUGINS: plugin \"a\" is in ")),
    ] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut all = plugins(dir.path(), Some(origin), named);
        all.extend(plugins(dir.path(), None, built_in));
        let found = without_replaced(all).map(|plugins| {
            let shown = |plugin: &LoadedPlugin| {
                let folder = plugin.folder().and_then(Path::file_name).expect("a name").to_string_lossy();
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
