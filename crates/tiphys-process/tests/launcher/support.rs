//! Launchers under different users, trees, and inspection of processes.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tempfile::TempDir;
use tiphys_process::{CommandSpec, Launcher, Limits, Outcome, PrivateView, Run, RunError, View};
use tiphys_testkit::executable::make_executable;
pub(crate) use tiphys_testkit::wait::eventually;
use tokio_util::sync::CancellationToken;

/// The user that starts the launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    /// The user that runs the tests.
    Caller,
    /// An unprivileged user if the tests can switch to one, else the caller.
    Unprivileged,
    /// The same, without user namespaces.
    WithoutUserNamespaces,
    /// The caller without the right to mount, like root in most containers.
    WithoutMounting,
}

impl User {
    fn program(self) -> &'static str {
        match self {
            Self::Caller => "launcher",
            Self::Unprivileged => "unprivileged",
            Self::WithoutUserNamespaces => "without-user-namespaces",
            Self::WithoutMounting => "without-mounting",
        }
    }

    pub(crate) fn switches_user(self) -> bool {
        is_root() && matches!(self, Self::Unprivileged | Self::WithoutUserNamespaces)
    }
}

pub(crate) const ALL_USERS: [User; 4] =
    [User::Caller, User::Unprivileged, User::WithoutUserNamespaces, User::WithoutMounting];

const UNPRIVILEGED_ID: u32 = 65534;

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Programs that start the launcher, made once and removed with the last [`TestDir`].
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
    let directory = TempDir::new().expect("a directory");
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).expect("chmod");
    // Another user may have no access to the build directory.
    let launcher = directory.path().join("launcher");
    fs::copy(env!("CARGO_BIN_EXE_tiphys-launcher"), &launcher).expect("copies the launcher");
    make_executable(&launcher);
    let switch_user = if is_root() {
        format!("setpriv --reuid={UNPRIVILEGED_ID} --regid={UNPRIVILEGED_ID} --clear-groups")
    } else {
        String::new()
    };
    let launcher = launcher.display();
    let give_up_mounting = if is_root() { "setpriv --bounding-set=-sys_admin --inh-caps=-all" } else { "" };
    let scripts = [
        ("logged", format!("echo $$ >>${{0%/*}}/started\nexec {launcher} \"$@\"")),
        (
            "dying",
            format!(
                "echo $$ >>${{0%/*}}/started\n[ $(wc -l <${{0%/*}}/started) != 1 ] || {{ head -c 1 >/dev/null; exit 1; }}\nexec {launcher} \"$@\""
            ),
        ),
        ("without-mounting", format!("exec {give_up_mounting} {launcher} \"$@\"")),
        ("unprivileged", format!("exec {switch_user} {launcher} \"$@\"")),
        (
            "without-user-namespaces",
            format!(
                "exec {switch_user} unshare --map-current-user --keep-caps sh -c \
                     'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps=-all --inh-caps=-all {launcher} \"$@\"' \
                     sh \"$@\""
            ),
        ),
    ];
    for (name, line) in scripts {
        let script = directory.path().join(name);
        fs::write(&script, format!("#!/bin/sh\n{line}\n")).expect("writes a script");
        make_executable(&script);
    }
    directory
}

/// A directory with a tree in it, owned by the user that starts the launcher.
pub(crate) struct TestDir {
    programs: Arc<TempDir>,
    pub(crate) directory: TempDir,
    pub(crate) user: User,
}

impl TestDir {
    pub(crate) fn new(user: User) -> Self {
        let dir = Self { programs: programs(), directory: TempDir::new().expect("a directory"), user };
        dir.directory_at("tree");
        dir.file("tree/file", "content\n");
        dir.directory_at("tree/app");
        dir.file("tree/app/values.yaml", "a: 1\n");
        dir.give_away(dir.directory.path());
        dir
    }

    pub(crate) fn launcher(&self) -> Launcher {
        Launcher::new(self.launcher_program())
    }

    /// A launcher that appends its PID to the file `started` when it starts.
    pub(crate) fn logged_launcher(&self) -> PathBuf {
        self.link_to_program("logged")
    }

    /// The same, but the first one dies on its first request.
    pub(crate) fn dying_launcher(&self) -> PathBuf {
        self.link_to_program("dying")
    }

    /// A link to a program, so that the program finds this directory.
    fn link_to_program(&self, name: &str) -> PathBuf {
        let here = self.path(name);
        if !here.exists() {
            symlink(self.programs.path().join(name), &here).expect("links");
        }
        here
    }

    pub(crate) fn launcher_program(&self) -> PathBuf {
        self.programs.path().join(self.user.program())
    }

    fn give_away(&self, path: &Path) {
        if self.user.switches_user() {
            chown(path, Some(UNPRIVILEGED_ID), Some(UNPRIVILEGED_ID)).expect("chown");
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).expect("writes");
        self.give_away(&self.path(name));
    }

    pub(crate) fn directory_at(&self, name: &str) {
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

    /// A view with a run directory of this name.
    pub(crate) fn view_at(&self, run: &str, how: PrivateView) -> View {
        if !self.path(run).exists() {
            self.directory_at(run);
        }
        View::private(self.path("tree"), self.path(run), how)
    }

    pub(crate) fn direct(&self) -> View {
        View::Direct { dir: self.path("tree") }
    }

    pub(crate) async fn start(&self, view: View) -> Run {
        self.launcher().start(view, LIMITS).await.unwrap_or_else(|error| panic!("{:?}: {error}", self.user))
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

/// A shell script whose processes [`alive`] finds.
pub(crate) fn marked(mark: &str, script: &str) -> CommandSpec {
    let mut command = shell(script);
    command.env.push(("TIPHYS_TEST_MARK".into(), mark.into()));
    command
}

/// A mark that is unique to this test.
pub(crate) fn mark(dir: &TestDir) -> String {
    dir.directory.path().display().to_string()
}

/// Executes without a deadline.
pub(crate) async fn execute(run: &mut Run, command: CommandSpec) -> Result<Outcome, RunError> {
    run.execute(command, None, &CancellationToken::new()).await
}

/// Runs a script that must succeed. Returns its standard output.
pub(crate) async fn output(run: &mut Run, script: &str) -> String {
    let outcome = execute(run, shell(script)).await.expect("starts");
    assert_eq!(outcome.ended, tiphys_process::Ended::Exited(0), "{script}: {}", outcome.stderr);
    String::from_utf8(outcome.stdout).expect("UTF-8")
}

/// Running processes with the mark in their environment; those of other users only for root.
pub(crate) fn alive(mark: &str) -> Vec<String> {
    let wanted = format!("TIPHYS_TEST_MARK={mark}");
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let marked = processes.filter(|process| {
        fs::read(process.path().join("environ"))
            .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()))
    });
    marked.map(|process| process.file_name().to_string_lossy().into_owned()).collect()
}

/// Whether the kernel gives an unprivileged user a user namespace.
pub(crate) fn user_namespaces_are_allowed() -> bool {
    let mut probe = if is_root() {
        let mut probe = Command::new("setpriv");
        let ids = [format!("--reuid={UNPRIVILEGED_ID}"), format!("--regid={UNPRIVILEGED_ID}")];
        probe.args(ids).args(["--clear-groups", "unshare", "-Ur", "true"]);
        probe
    } else {
        let mut probe = Command::new("unshare");
        probe.args(["-Ur", "true"]);
        probe
    };
    probe.status().expect("unshare is installed").success()
}
