//! Paths of parameters in a repository with another source beside it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use tiphys_model::access::{RefTree, RunContext};

use super::{GlobBounds, Places};
use crate::failure::chain;
use crate::options::Missing;
use crate::substitution::BuildEnvironment;

/// A repository, a directory beside it and another source.
struct World {
    _folder: tempfile::TempDir,
    root: PathBuf,
    app_path: PathBuf,
    context: RunContext,
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let files = [
        "repo/top.yaml",
        "repo/values/up.yaml",
        "repo/charts/we[b]/a.yaml",
        "repo/charts/we[b]/b.yaml",
        "repo/charts/we[b]/env/c.yaml",
        "repo/charts/we[b]/my-app.yaml",
        "repo/charts/web/decoy.yaml",
        "repo-evil/x.yaml",
        "values/v.yaml",
        "values/env/prod.yaml",
    ];
    for file in files {
        let path = base.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "k: v\n").unwrap();
    }
    let app_path = base.join("repo/charts/we[b]");
    symlink("../../values/up.yaml", app_path.join("inside.yaml")).unwrap();
    symlink("../../../repo-evil/x.yaml", app_path.join("outside.yaml")).unwrap();
    symlink("nowhere.yaml", app_path.join("dangling.yaml")).unwrap();
    symlink("../../../repo-evil", app_path.join("out")).unwrap();
    symlink("../../../repo-gone", app_path.join("gone")).unwrap();
    symlink("repo/top.yaml", base.join("lead-in")).unwrap();
    for number in 1..=11 {
        let target = if number == 1 { "a.yaml".to_owned() } else { format!("l{}.yaml", number - 1) };
        symlink(target, app_path.join(format!("l{number}.yaml"))).unwrap();
    }
    let tree = RefTree { path: base.join("values"), repo_url: String::new(), revision: String::new() };
    let mut context = RunContext::default();
    context.source.multiple = true;
    context.refs.insert("values".to_owned(), tree);
    context.ref_errors.insert("lost".to_owned(), "failed to get git client for repo x".to_owned());
    World { root: base.join("repo"), app_path, context, _folder: folder }
}

impl World {
    fn of<T>(&self, ask: impl FnOnce(&Places<'_>) -> T) -> T {
        let environment = BuildEnvironment::new([("ARGOCD_APP_NAME", "my-app")]);
        ask(&Places {
            app_path: &self.app_path,
            root: &self.root,
            environment: &environment,
            context: &self.context,
            glob_bounds: GlobBounds { looks_max: 10_000, matches_max: 100 },
        })
    }

    fn shown(&self, text: &str) -> String {
        let base = self.root.parent().unwrap();
        text.replace(base.to_str().unwrap(), "")
    }

    fn value_files(&self, files: &[&str], missing: Missing) -> Result<String, String> {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        let found = self.of(|places| places.value_files(&files, missing));
        found
            .map(|files| self.shown(&files.join(" ")).replace("/repo/charts/we[b]/", "./"))
            .map_err(|error| self.shown(&chain(&error)))
    }
}

#[test]
fn value_files_are_relative_to_the_chart_or_the_root() {
    let cases: [(&[&str], &str); 14] = [
        (&["a.yaml", "b.yaml"], "./a.yaml ./b.yaml"),
        (&["/values/up.yaml", "//top.yaml"], "/repo/values/up.yaml /repo/top.yaml"),
        (&["../../top.yaml", "/values/../top.yaml"], "/repo/top.yaml"),
        (&["a.yaml", "b.yaml", "./a.yaml"], "./a.yaml ./b.yaml"),
        (&["missing.yaml"], "./missing.yaml"),
        (&["$ARGOCD_APP_NAME.yaml", "${NOPE}a.yaml"], "./my-app.yaml ./a.yaml"),
        (&["inside.yaml"], "/repo/values/up.yaml"),
        (&["l10.yaml"], "./a.yaml"),
        (&["dangling.yaml"], "./nowhere.yaml"),
        (
            &["https://example.com/*.yaml", "HTTP://example.com/v?x=1"],
            "https://example.com/*.yaml HTTP://example.com/v?x=1",
        ),
        (&["$values/v.yaml", "$values/env/../v.yaml"], "/values/v.yaml"),
        (&["", "env"], "/repo/charts/we[b] ./env"),
        (&["./values:prod.yaml"], "./values:prod.yaml"),
        (&["%zz.yaml"], "./%zz.yaml"),
    ];
    let world = world();
    for (files, expected) in cases {
        assert_eq!(world.value_files(files, Missing::Refuse).as_deref(), Ok(expected), "{files:?}");
    }
}

#[test]
fn patterns_expand_to_files_that_are_not_named() {
    let cases: [(&[&str], Missing, &str); 7] = [
        (&["[ab].yaml"], Missing::Refuse, "./a.yaml ./b.yaml"),
        (&["[ab].yaml", "a.yaml"], Missing::Refuse, "./b.yaml ./a.yaml"),
        (&["b.yaml", "[ab].yaml", "**/[ac].yaml"], Missing::Refuse, "./b.yaml ./a.yaml ./env/c.yaml"),
        (&["/values/*"], Missing::Refuse, "/repo/values/up.yaml"),
        (&["$values/env/*.yaml"], Missing::Refuse, "/values/env/prod.yaml"),
        (&["a.yaml", "none*.yaml", "missing.yaml", "dangling.yaml"], Missing::LeaveOut, "./a.yaml"),
        (&["../web/*.yaml"], Missing::Refuse, "/repo/charts/web/decoy.yaml"),
    ];
    let world = world();
    for (files, missing, expected) in cases {
        assert_eq!(world.value_files(files, missing).as_deref(), Ok(expected), "{files:?}");
    }
}

#[test]
fn path_outside_is_rejected_in_argo_cds_words() {
    let failed = "error resolving value file path: internal error: failed to resolve path. Check logs for more details";
    let cases = [
        (
            "../../../x.yaml",
            "error resolving value file path: file '../../../x.yaml' resolved to outside repository root",
        ),
        (
            "/../repo-evil/x.yaml",
            "error resolving value file path: file '/../repo-evil/x.yaml' resolved to outside repository root",
        ),
        (
            "outside.yaml",
            "error resolving value file path: file 'outside.yaml' resolved to outside repository root",
        ),
        ("/", failed),
        ("../..", failed),
        ("l11.yaml", failed),
        ("file:///etc/hostname", "error resolving value file path: the URL scheme 'file' is not allowed"),
        ("S3://bucket/x", "error resolving value file path: the URL scheme 's3' is not allowed"),
        ("values:prod.yaml", "error resolving value file path: the URL scheme 'values' is not allowed"),
        ("none*.yaml", "values file glob \"none*.yaml\" matched no files"),
        ("[.yaml", "error expanding glob pattern \"[.yaml\": syntax error in pattern"),
        ("out/*", "values file glob \"out/*\" matched no files"),
        ("gone/*", "values file glob \"gone/*\" matched no files"),
        (
            "outs*",
            "glob pattern \"outs*\": glob match \"/repo/charts/we[b]/outside.yaml\" resolved to outside repository root",
        ),
        (
            "gone*",
            "glob pattern \"gone*\": glob match \"/repo/charts/we[b]/gone\" resolved to outside repository root",
        ),
        (
            "../../../lead-in",
            "error resolving value file path: file '../../../lead-in' resolved to outside repository root",
        ),
        (
            "$values/../x.yaml",
            "error resolving value file path: error resolving value file path: file '/../x.yaml' resolved to outside repository root",
        ),
        (
            "$values",
            "error resolving value file path: error resolving value file path: internal error: failed to resolve path. Check logs for more details",
        ),
    ];
    let world = world();
    for (file, expected) in cases {
        let expected = Err(expected.to_owned());
        assert_eq!(world.value_files(&[file], Missing::Refuse), expected, "{file}");
    }
}

#[test]
fn permitted_schemes_are_configurable_and_may_be_empty() {
    let mut world = world();
    world.context.values_file_schemes = vec!["S3".to_owned()];
    assert_eq!(world.value_files(&["s3://b/x"], Missing::Refuse).as_deref(), Ok("s3://b/x"));
    world.context.values_file_schemes.clear();
    let expected = "error resolving value file path: the URL scheme 'https' is not allowed";
    assert_eq!(world.value_files(&["https://b/x"], Missing::Refuse), Err(expected.to_owned()));
}

#[test]
fn set_file_paths_are_not_patterns() {
    let world = world();
    let set_file = |path: &str| {
        let found = world.of(|places| places.set_file("f", path));
        found.map(|path| world.shown(&path)).map_err(|error| world.shown(&chain(&error)))
    };
    assert_eq!(set_file("*.txt").as_deref(), Ok("/repo/charts/we[b]/*.txt"));
    assert_eq!(set_file("$values/v.yaml").as_deref(), Ok("/values/v.yaml"));
    assert_eq!(set_file("https://example.com/x").as_deref(), Ok("https://example.com/x"));
    assert_eq!(set_file(r"co\,mma\.txt").as_deref(), Ok("/repo/charts/we[b]/co,mma.txt"));
    assert_eq!(set_file(r"..\/..\/..\/x"), set_file("../../../x"));
    let expected =
        "error resolving helm value file path: file '../../../x' resolved to outside repository root";
    assert_eq!(set_file("../../../x"), Err(expected.to_owned()));
    let expected = "error resolving set-file path: error resolving value file path: file '/../x' resolved to outside repository root";
    assert_eq!(set_file("$values/../x"), Err(expected.to_owned()));
}

#[test]
fn source_names_apply_only_with_several_sources() {
    let mut world = world();
    let check = |world: &World, path: &str| {
        world.of(|places| places.check_refs([path])).map_err(|error| world.shown(&chain(&error)))
    };
    assert_eq!(check(&world, "$values/v.yaml"), Ok(()));
    assert_eq!(check(&world, "a$nope/v.yaml"), Ok(()));
    for (path, expected) in [
        (
            "$nope/v.yaml",
            r#"source referenced "$nope", which is not one of the available sources ($lost, $values)"#,
        ),
        (
            "$$values/v.yaml",
            r#"source referenced "$$values", which is not one of the available sources ($lost, $values)"#,
        ),
        (
            "${values}/v.yaml",
            r#"source referenced "${values}", which is not one of the available sources ($lost, $values)"#,
        ),
        ("$lost/v.yaml", "failed to get git client for repo x"),
    ] {
        assert_eq!(check(&world, path), Err(expected.to_owned()));
    }
    symlink("/etc/hostname", world.root.parent().unwrap().join("values/out.yaml")).unwrap();
    let expected = "repository contains out-of-bounds symlinks. file: out.yaml";
    assert_eq!(check(&world, "$values/v.yaml"), Err(expected.to_owned()));

    world.context.refs.clear();
    world.context.ref_errors.clear();
    let expected = r#"source referenced "$values", but no source has a 'ref' field defined"#;
    assert_eq!(check(&world, "$values/v.yaml"), Err(expected.to_owned()));
    world.context.source.multiple = false;
    assert_eq!(check(&world, "$values/v.yaml"), Ok(()));
    assert_eq!(world.value_files(&["$values/top.yaml"], Missing::Refuse).as_deref(), Ok("/repo/top.yaml"));
}
