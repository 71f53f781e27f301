//! Fitting versions and the stamp.

use std::fs;

use super::build::{fresh_folder, remove_leftovers};
use super::catalogue::{Source, TOOLS, Tool};
use super::stamp::{Origin, Stamp};
use super::{bin, link, python};

fn tool(name: &str) -> &'static Tool {
    TOOLS.iter().find(|tool| tool.name == name).expect("a tool of the catalogue")
}

#[test]
fn only_the_pinned_version_of_most_tools_fits() {
    let cases = [
        ("helm", "v4.3.1", true),
        ("helm", "v4.3.1+g0a1b2c3\n", true),
        ("helm", "v4.3", false),
        ("helm", "v4.3.10", false),
        ("helm", "v3.18.4", false),
        ("kustomize", "v5.8.1\n", true),
        ("kustomize", "kustomize/v5.8.1", true),
        ("kustomize", "v5.8.0", false),
        ("kustomize", "(devel)", false),
        ("yq", "yq (https://github.com/mikefarah/yq/) version v4.53.6\n", true),
        ("yq", "yq (https://github.com/mikefarah/yq/) version v4.52.1", false),
        ("yq", "yq 4.53.6", false),
        ("yq", "yq 0.0.0", false),
        ("mdbook", "mdbook v0.5.4\n", true),
        ("mdbook", "mdbook v0.5.40", false),
        ("mdbook", "mdbook v0.4.52", false),
        ("registry", "registry github.com/distribution/distribution/v3 v3.1.2\n", true),
        ("registry", "registry github.com/distribution/distribution/v3 v3.1.2+unknown", false),
        ("registry", "registry github.com/docker/distribution 2.8.2+ds1", false),
        ("registry", "v3.1.2", false),
        ("helm3", "v3.22.0", true),
        ("helm3", "v3.22.0+g0a1b2c3", true),
        ("helm3", "v3.22", false),
        ("helm3", "v3.21.4", false),
        ("helm3", "v4.3.1", false),
    ];
    for (name, printed, fits) in cases {
        assert_eq!(tool(name).fits(printed), fits, "{name}: {printed}");
    }
}

#[test]
fn any_jq_since_1_6_and_any_gojq_fits() {
    let cases = [
        ("jq-1.5", false),
        ("jq-1.5-1-a5b5cbe", false),
        ("jq-1.6", true),
        ("jq-1.6-159-gcff5336", true),
        ("jq-1.7.1", true),
        ("jq-1.8.1-dirty", true),
        ("jq-2.0", true),
        ("jq-master", false),
        ("gojq 0.12.18 (rev: HEAD/go1.26.8)", true),
        ("jq version 1.6", false),
        ("", false),
    ];
    for (printed, fits) in cases {
        assert_eq!(tool("jq").fits(printed), fits, "{printed}");
    }
}

#[test]
fn linker_sets_the_pinned_version() {
    for tool in TOOLS {
        if let Source::GoPackage { linker_flags, .. } = tool.source {
            let is_the_same = !linker_flags.contains("version=") || linker_flags.ends_with(tool.version);
            assert!(is_the_same, "{}", tool.name);
        }
    }
}

#[test]
fn stamp_is_valid_until_the_program_changes() {
    let folder = tempfile::tempdir().unwrap();
    let (place, file) = (folder.path().join("helm"), folder.path().join("stamp"));
    let helm = tool("helm");
    fs::write(&place, "a program").unwrap();
    let mut stamp = Stamp::default();
    assert!(!stamp.holds(helm, &place), "nothing recorded yet");
    stamp.record(helm, &place, &Origin::Built).unwrap();
    stamp.write(&file).unwrap();

    let read = Stamp::read(&file);
    assert_eq!(read, stamp);
    assert!(read.holds(helm, &place));
    assert!(!read.holds(tool("yq"), &place), "another tool");
    fs::write(&place, "another program").unwrap();
    assert!(!read.holds(helm, &place), "changed");
    fs::remove_file(&place).unwrap();
    assert!(!read.holds(helm, &place), "gone");
}

#[test]
fn stamp_of_another_version_or_invalid_stamp_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let (place, file) = (folder.path().join("helm"), folder.path().join("stamp"));
    let helm = tool("helm");
    fs::write(&place, "a program").unwrap();
    let mut stamp = Stamp::default();
    stamp.record(helm, &place, &Origin::Built).unwrap();
    stamp.write(&file).unwrap();

    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace(helm.version, "v4.0.0")).unwrap();
    assert!(!Stamp::read(&file).holds(helm, &place));
    for text in ["", "helm", "helm\tv4.3.1", "\t\t\t\n\n"] {
        fs::write(&file, text).unwrap();
        assert!(!Stamp::read(&file).holds(helm, &place), "{text:?}");
    }
}

#[test]
fn link_replaces_the_existing_file_and_is_recorded_as_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let bin = bin(folder.path());
    fs::create_dir_all(&bin).unwrap();
    let (found, place) = (folder.path().join("found"), bin.join("jq"));
    fs::write(&found, "from PATH").unwrap();
    fs::write(&place, "built").unwrap();
    let mut stamp = Stamp::default();
    stamp.record(tool("jq"), &place, &Origin::Built).unwrap();
    assert!(!stamp.is_linked(tool("jq")));

    link(&found, &place, folder.path()).unwrap();
    assert_eq!(fs::read_to_string(&place).unwrap(), "from PATH");
    stamp.record(tool("jq"), &place, &Origin::Linked(found)).unwrap();
    assert!(stamp.is_linked(tool("jq")));
}

#[test]
fn only_leftovers_of_interrupted_builds_are_removed() {
    let home = tempfile::tempdir().unwrap();
    let left = fresh_folder(home.path()).unwrap().keep();
    fs::write(left.join("helm"), "half").unwrap();
    fs::create_dir(home.path().join("bin")).unwrap();
    fs::write(home.path().join("stamp"), "").unwrap();
    remove_leftovers(home.path()).unwrap();
    let mut names: Vec<_> =
        fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["bin", "stamp"]);
}

#[test]
fn python_packages_are_valid_for_one_list_and_interpreter() {
    let folder = tempfile::tempdir().unwrap();
    let (interpreter, packages) = (folder.path().join("python3"), folder.path().join("python"));
    fs::write(&interpreter, "3.11").unwrap();
    fs::create_dir(&packages).unwrap();
    assert!(!python::is_there(&packages, &interpreter), "nothing recorded yet");
    fs::write(packages.join("stamp"), python::stamp(&interpreter).unwrap()).unwrap();
    assert!(python::is_there(&packages, &interpreter));
    fs::write(&interpreter, "3.12.1").unwrap();
    assert!(!python::is_there(&packages, &interpreter), "another interpreter");
    fs::write(packages.join("stamp"), "grpcio==1.0\n").unwrap();
    assert!(!python::is_there(&packages, &interpreter), "another list");
}
