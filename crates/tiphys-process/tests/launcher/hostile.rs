//! Whatever commands do to the files of their view, no other run sees any of it.

use std::os::unix::fs::symlink;

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_oneof};
use proptest::test_runner::TestRunner;
use tiphys_process::PrivateView;

use super::support::{Place, Who, execute, output, shell};
use super::views::snapshot;

/// Programs that are tried for each kind of view and of user.
const PROGRAMS: u32 = 12;

/// Files, folders and links of the tree, and names that are free.
const PATHS: [&str; 9] = [
    "file",
    "app",
    "app/values.yaml",
    "app/deep/er/leaf",
    "app/deep",
    "link",
    "folder-link",
    "new",
    "app/new",
];

/// One thing that a command does with files of its view. What fails does not matter.
#[derive(Clone, Debug)]
enum Operation {
    Overwrite(&'static str),
    WriteInPlace(&'static str),
    Append(&'static str),
    Truncate(&'static str, u16),
    Rename(&'static str, &'static str),
    ChangeMode(&'static str, u16),
    ChangeTime(&'static str),
    Remove(&'static str),
    /// And what is written to the one would be in the other.
    HardLink(&'static str, &'static str),
    /// A link takes a file's place, and is written through.
    SwapForLink(&'static str, &'static str),
    MakeFolder(&'static str),
    WriteByMapping(&'static str),
}

impl Operation {
    fn script(&self) -> String {
        match self {
            Self::Overwrite(path) => format!("printf evil >{path}"),
            Self::WriteInPlace(path) => format!("printf evil 1<>{path}"),
            Self::Append(path) => format!("printf evil >>{path}"),
            Self::Truncate(path, bytes) => format!("truncate -s {bytes} {path}"),
            Self::Rename(from, to) => format!("mv -f {from} {to}"),
            Self::ChangeMode(path, mode) => format!("chmod {mode:o} {path}"),
            Self::ChangeTime(path) => format!("touch -d 2001-02-03 {path}"),
            Self::Remove(path) => format!("rm -rf {path}"),
            Self::HardLink(from, to) => format!("ln -f {from} {to}; printf evil >>{to}"),
            Self::SwapForLink(path, target) => {
                format!("rm -rf {path}; ln -s \"$PWD/{target}\" {path}; printf evil >{path}")
            }
            Self::MakeFolder(path) => format!("mkdir -p {path}/made"),
            Self::WriteByMapping(path) => format!("dd if=/dev/zero of={path} bs=1 count=9 conv=notrunc"),
        }
    }
}

fn operation() -> impl Strategy<Value = Operation> {
    let path = || prop::sample::select(PATHS.as_slice());
    let mode = || prop_oneof![Just(0), Just(0o200), Just(0o777), Just(0o7777)];
    prop_oneof![
        path().prop_map(Operation::Overwrite),
        path().prop_map(Operation::WriteInPlace),
        path().prop_map(Operation::Append),
        (path(), any::<u16>()).prop_map(|(path, bytes)| Operation::Truncate(path, bytes)),
        (path(), path()).prop_map(|(from, to)| Operation::Rename(from, to)),
        (path(), mode()).prop_map(|(path, mode)| Operation::ChangeMode(path, mode)),
        path().prop_map(Operation::ChangeTime),
        path().prop_map(Operation::Remove),
        (path(), path()).prop_map(|(from, to)| Operation::HardLink(from, to)),
        (path(), path()).prop_map(|(path, target)| Operation::SwapForLink(path, target)),
        path().prop_map(Operation::MakeFolder),
        path().prop_map(Operation::WriteByMapping),
    ]
}

/// What a run sees: kinds, modes, times, links and contents.
const LOOK: &str = "find . -mindepth 1 -printf '%p %y %m %T@ %l\\n' | sort; find . -type f -print0 | sort -z | xargs -0 cksum";

/// The hostile run and one that looks on all the while, then one that comes later.
async fn what_others_see(place: &Place, how: PrivateView, program: &str) -> [String; 3] {
    let mut hostile = place.start(place.view_at("hostile", how)).await;
    let mut other = place.start(place.view_at("other", how)).await;
    let (done, meanwhile) = tokio::join!(execute(&mut hostile, shell(program)), output(&mut other, LOOK));
    done.expect("starts");
    let afterwards = output(&mut other, LOOK).await;
    hostile.finish().await.expect("finishes");
    let mut later = place.start(place.view_at("later", how)).await;
    let seen_later = output(&mut later, LOOK).await;
    for run in [other, later] {
        run.finish().await.expect("finishes");
    }
    [meanwhile, afterwards, seen_later]
}

#[test]
fn no_program_changes_what_another_run_sees() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    for (who, how) in [
        (Who::Caller, PrivateView::Auto),
        (Who::Caller, PrivateView::Copy),
        (Who::Unprivileged, PrivateView::Auto),
        (Who::WithoutMounting, PrivateView::Auto),
    ] {
        let place = Place::new(who);
        place.folder_at("tree/app/deep");
        place.folder_at("tree/app/deep/er");
        place.file("tree/app/deep/er/leaf", "leaf\n");
        symlink("app/values.yaml", place.path("tree/link")).expect("links");
        symlink("app/deep", place.path("tree/folder-link")).expect("links");
        let before = snapshot(&place.path("tree"));
        let undisturbed = runtime.block_on(what_others_see(&place, how, "true"));
        assert!(undisturbed.iter().all(|seen| seen.contains("app/deep/er/leaf f 644 ")), "{undisturbed:?}");
        let config =
            ProptestConfig { cases: PROGRAMS, failure_persistence: None, ..ProptestConfig::default() };
        let programs = prop::collection::vec(operation(), 1..12);
        let held = TestRunner::new(config).run(&programs, |operations| {
            let program: Vec<String> = operations.iter().map(Operation::script).collect();
            let program = format!("exec 2>/dev/null; {}", program.join("; "));
            let seen = runtime.block_on(what_others_see(&place, how, &program));
            assert_eq!(seen, undisturbed, "{who:?} {how:?}");
            assert_eq!(snapshot(&place.path("tree")), before, "{who:?} {how:?}");
            Ok(())
        });
        held.unwrap_or_else(|failed| panic!("{who:?} {how:?}: {failed}"));
        for run in ["hostile", "other", "later"] {
            assert!(!place.path(run).exists(), "{who:?} {how:?}");
        }
    }
}
