//! Commands cannot change what other runs see, whatever they do to the files of their view.

use std::os::unix::fs::symlink;

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_oneof};
use proptest::test_runner::TestRunner;
use tiphys_process::PrivateView;

use super::support::{TestDir, User, execute, output, shell};
use super::views::snapshot;

/// Number of random programs for each kind of view and user.
const PROGRAMS: u32 = 12;

/// Files, directories and links of the tree, and unused names.
const PATHS: [&str; 9] = [
    "file",
    "app",
    "app/values.yaml",
    "app/deep/er/leaf",
    "app/deep",
    "link",
    "directory-link",
    "new",
    "app/new",
];

/// A file operation of a command. Failures do not matter.
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
    /// Also appends through the new link.
    HardLink(&'static str, &'static str),
    /// Replaces a file by a link and writes through it.
    SwapForLink(&'static str, &'static str),
    MakeDirectory(&'static str),
    WriteBySeeking(&'static str),
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
            Self::MakeDirectory(path) => format!("mkdir -p {path}/made"),
            Self::WriteBySeeking(path) => format!("dd if=/dev/zero of={path} bs=1 count=9 conv=notrunc"),
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
        path().prop_map(Operation::MakeDirectory),
        path().prop_map(Operation::WriteBySeeking),
    ]
}

/// Prints what a run sees: types, modes, times, links and contents.
const LIST: &str = "find . -mindepth 1 -printf '%p %y %m %T@ %l\\n' | sort; find . -type f -print0 | sort -z | xargs -0 cksum";

/// Runs a hostile program. Returns what a concurrent run sees meanwhile and afterwards, and what a later run sees.
async fn what_others_see(dir: &TestDir, how: PrivateView, program: &str) -> [String; 3] {
    let mut hostile = dir.start(dir.view_at("hostile", how)).await;
    let mut other = dir.start(dir.view_at("other", how)).await;
    let (done, meanwhile) = tokio::join!(execute(&mut hostile, shell(program)), output(&mut other, LIST));
    done.expect("starts");
    let afterwards = output(&mut other, LIST).await;
    hostile.finish().await.expect("finishes");
    let mut later = dir.start(dir.view_at("later", how)).await;
    let seen_later = output(&mut later, LIST).await;
    for run in [other, later] {
        run.finish().await.expect("finishes");
    }
    [meanwhile, afterwards, seen_later]
}

#[test]
fn commands_do_not_change_what_other_runs_see() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    for (user, how) in [
        (User::Caller, PrivateView::Auto),
        (User::Caller, PrivateView::Copy),
        (User::Unprivileged, PrivateView::Auto),
        (User::WithoutMounting, PrivateView::Auto),
    ] {
        let dir = TestDir::new(user);
        dir.directory_at("tree/app/deep");
        dir.directory_at("tree/app/deep/er");
        dir.file("tree/app/deep/er/leaf", "leaf\n");
        symlink("app/values.yaml", dir.path("tree/link")).expect("links");
        symlink("app/deep", dir.path("tree/directory-link")).expect("links");
        let before = snapshot(&dir.path("tree"));
        let undisturbed = runtime.block_on(what_others_see(&dir, how, "true"));
        assert!(undisturbed.iter().all(|seen| seen.contains("app/deep/er/leaf f 644 ")), "{undisturbed:?}");
        let config =
            ProptestConfig { cases: PROGRAMS, failure_persistence: None, ..ProptestConfig::default() };
        let programs = prop::collection::vec(operation(), 1..12);
        let held = TestRunner::new(config).run(&programs, |operations| {
            let program: Vec<String> = operations.iter().map(Operation::script).collect();
            let program = format!("exec 2>/dev/null; {}", program.join("; "));
            let seen = runtime.block_on(what_others_see(&dir, how, &program));
            assert_eq!(seen, undisturbed, "{user:?} {how:?}");
            assert_eq!(snapshot(&dir.path("tree")), before, "{user:?} {how:?}");
            Ok(())
        });
        held.unwrap_or_else(|failed| panic!("{user:?} {how:?}: {failed}"));
        for run in ["hostile", "other", "later"] {
            assert!(!dir.path(run).exists(), "{user:?} {how:?}");
        }
    }
}
