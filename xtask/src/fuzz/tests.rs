//! Selected targets and arguments.

use std::path::Path;

use super::{Place, arguments, chosen};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn all_targets_run_unless_some_are_named() {
    let all = names(&["edit", "tar"]);
    assert_eq!(chosen(&all, &[]), Ok(all.clone()));
    assert_eq!(chosen(&all, &names(&["tar"])), Ok(names(&["tar"])));
    let error = chosen(&all, &names(&["tra"])).expect_err("unknown");
    assert_eq!(error.to_string(), "unknown fuzz target \"tra\"; the targets are edit, tar");
}

#[test]
fn fuzzer_writes_below_target_and_not_to_the_seeds() {
    let arguments = arguments("tar", &Place::of(Path::new("/w"), "tar"), 5);
    let folders: Vec<&str> = arguments.iter().map(String::as_str).filter(|it| it.starts_with("/w")).collect();
    assert_eq!(folders, ["/w/target/fuzz/corpus/tar", "/w/fuzz/corpus/tar"], "the first is written to");
    assert!(arguments.contains(&"-artifact_prefix=/w/target/fuzz/failures/tar/".to_owned()));
    assert!(arguments.contains(&"-max_total_time=5".to_owned()));
}
