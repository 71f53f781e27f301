//! Launchers of every kind, trees, and looks at processes from outside.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tiphys_process::{CommandSpec, Launcher, Limits, Outcome, PrivateView, Run, RunError, Shielded, View};
use tiphys_testkit::executable::make_executable;
use tokio_util::sync::CancellationToken;

/// Who launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// The user that runs the tests.
    Caller,
    /// A user without any right, where the tests may become one; else the caller.
    Unprivileged,
    /// The same, where the kernel gives no user namespaces.
    WithoutUserNamespaces,
    /// The caller as it is root in most containers: without the right to mount.
    WithoutMounting,
}

impl Who {
    fn program(self) -> &'static str {
        match self {
            Self::Caller => "launcher",
            Self::Unprivileged => "unprivileged",
            Self::WithoutUserNamespaces => "without-user-namespaces",
            Self::WithoutMounting => "without-mounting",
        }
    }

    pub(crate) fn is_nobody(self) -> bool {
        is_root() && matches!(self, Self::Unprivileged | Self::WithoutUserNamespaces)
    }
}

pub(crate) const EVERYONE: [Who; 4] =
    [Who::Caller, Who::Unprivileged, Who::WithoutUserNamespaces, Who::WithoutMounting];

const NOBODY: u32 = 65534;

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Programs that start the launcher, made once.
/// They go with the last place that uses them, and every test that starts a process has one.
fn programs() -> Arc<TempDir> {
    static PROGRAMS: Mutex<Weak<TempDir>> = Mutex::new(Weak::new());
    let mut programs = PROGRAMS.lock().expect("no test panics here");
    programs.upgrade().unwrap_or_else(|| {
        let made = Arc::new(make_programs());
        *programs = Arc::downgrade(&made);
        made
    })
}

fn make_programs() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("chmod");
    // The build folder may be out of another user's reach.
    let launcher = folder.path().join("launcher");
    fs::copy(env!("CARGO_BIN_EXE_tiphys-launcher"), &launcher).expect("copies the launcher");
    make_executable(&launcher);
    let become_nobody = if is_root() {
        format!("setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups")
    } else {
        String::new()
    };
    let launcher = launcher.display();
    let give_up_mounting = if is_root() { "setpriv --bounding-set=-sys_admin --inh-caps=-all" } else { "" };
    let scripts = [
        ("noted", format!("echo $$ >>${{0%/*}}/started\nexec {launcher} \"$@\"")),
        (
            "dying",
            format!(
                "echo $$ >>${{0%/*}}/started\n[ $(wc -l <${{0%/*}}/started) != 1 ] || {{ head -c 1 >/dev/null; exit 1; }}\nexec {launcher} \"$@\""
            ),
        ),
        ("without-mounting", format!("exec {give_up_mounting} {launcher} \"$@\"")),
        ("unprivileged", format!("exec {become_nobody} {launcher} \"$@\"")),
        (
            "without-user-namespaces",
            format!(
                "exec {become_nobody} unshare --map-current-user --keep-caps sh -c \
                     'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps=-all --inh-caps=-all {launcher} \"$@\"' \
                     sh \"$@\""
            ),
        ),
    ];
    for (name, line) in scripts {
        let script = folder.path().join(name);
        fs::write(&script, format!("#!/bin/sh\n{line}\n")).expect("writes a script");
        make_executable(&script);
    }
    folder
}

/// A folder with a tree in it, owned by whoever launches.
pub(crate) struct Place {
    programs: Arc<TempDir>,
    pub(crate) folder: TempDir,
    pub(crate) who: Who,
}

impl Place {
    pub(crate) fn new(who: Who) -> Self {
        let place = Self { programs: programs(), folder: TempDir::new().expect("a folder"), who };
        place.folder_at("tree");
        place.file("tree/file", "content\n");
        place.folder_at("tree/app");
        place.file("tree/app/values.yaml", "a: 1\n");
        place.give_away(place.folder.path());
        place
    }

    pub(crate) fn launcher(&self) -> Launcher {
        Launcher::new(self.launcher_program())
    }

    /// A launcher that writes its number into the file `started` when it is started.
    pub(crate) fn noted_launcher(&self) -> PathBuf {
        self.own("noted")
    }

    /// The same, of which the first one dies as soon as it is told something.
    pub(crate) fn dying_launcher(&self) -> PathBuf {
        self.own("dying")
    }

    /// A program with this place as its folder.
    fn own(&self, name: &str) -> PathBuf {
        let here = self.path(name);
        if !here.exists() {
            symlink(self.programs.path().join(name), &here).expect("links");
        }
        here
    }

    pub(crate) fn launcher_program(&self) -> PathBuf {
        self.programs.path().join(self.who.program())
    }

    fn give_away(&self, path: &Path) {
        if self.who.is_nobody() {
            chown(path, Some(NOBODY), Some(NOBODY)).expect("chown");
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).expect("writes");
        self.give_away(&self.path(name));
    }

    pub(crate) fn folder_at(&self, name: &str) {
        fs::create_dir(self.path(name)).expect("mkdir");
        self.give_away(&self.path(name));
    }

    pub(crate) fn overlay(&self) -> View {
        self.view(PrivateView::Auto)
    }

    pub(crate) fn copy(&self) -> View {
        self.view(PrivateView::Copy)
    }

    pub(crate) fn view(&self, how: PrivateView) -> View {
        self.view_at("run", how)
    }

    /// A view whose run has the folder of this name.
    pub(crate) fn view_at(&self, run: &str, how: PrivateView) -> View {
        if !self.path(run).exists() {
            self.folder_at(run);
        }
        View::Private {
            lower: self.path("tree"),
            others: vec![],
            run_dir: self.path(run),
            how,
            shielded: Shielded::default(),
        }
    }

    pub(crate) fn direct(&self) -> View {
        View::Direct { dir: self.path("tree") }
    }

    pub(crate) async fn start(&self, view: View) -> Run {
        self.launcher().start(view, LIMITS).await.unwrap_or_else(|error| panic!("{:?}: {error}", self.who))
    }
}

pub(crate) const LIMITS: Limits =
    Limits { stdout_bytes_max: 1024 * 1024, stderr_bytes_max: 2000, grace: Duration::from_millis(300) };

pub(crate) fn command(argv: &[&str]) -> CommandSpec {
    CommandSpec {
        argv: argv.iter().map(ToString::to_string).collect(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        dir: PathBuf::new(),
    }
}

pub(crate) fn shell(script: &str) -> CommandSpec {
    command(&["sh", "-c", script])
}

/// A shell script whose processes can be found by [`alive`].
pub(crate) fn marked(mark: &str, script: &str) -> CommandSpec {
    let mut command = shell(script);
    command.env.push(("TIPHYS_TEST_MARK".into(), mark.into()));
    command
}

/// A mark that no other test has.
pub(crate) fn mark(place: &Place) -> String {
    place.folder.path().display().to_string()
}

/// Executes without a deadline.
pub(crate) async fn execute(run: &mut Run, command: CommandSpec) -> Result<Outcome, RunError> {
    run.execute(command, None, &CancellationToken::new()).await
}

/// Standard output of a script that has to succeed.
pub(crate) async fn output(run: &mut Run, script: &str) -> String {
    let outcome = execute(run, shell(script)).await.expect("starts");
    assert_eq!(outcome.ended, tiphys_process::Ended::Exited(0), "{script}: {}", outcome.stderr);
    String::from_utf8(outcome.stdout).expect("UTF-8")
}

/// Living processes with the mark in their environment, those of other users only for root.
pub(crate) fn alive(mark: &str) -> Vec<String> {
    let wanted = format!("TIPHYS_TEST_MARK={mark}");
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let marked = processes.filter(|process| {
        fs::read(process.path().join("environ"))
            .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()))
    });
    marked.map(|process| process.file_name().to_string_lossy().into_owned()).collect()
}

/// Waits for a condition.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up_at = Instant::now() + Duration::from_mins(2);
    let mut again = tokio::time::interval(Duration::from_millis(2));
    while !holds() {
        assert!(Instant::now() < give_up_at, "{what}: not within two minutes");
        again.tick().await;
    }
}

/// Whether an unprivileged user gets user namespaces from this kernel.
pub(crate) fn user_namespaces_are_allowed() -> bool {
    let mut probe = if is_root() {
        let mut probe = Command::new("setpriv");
        let nobody = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
        probe.args(nobody).args(["--clear-groups", "unshare", "-Ur", "true"]);
        probe
    } else {
        let mut probe = Command::new("unshare");
        probe.args(["-Ur", "true"]);
        probe
    };
    probe.status().expect("unshare is there").success()
}
