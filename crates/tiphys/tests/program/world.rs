//! A directory in which the program runs, and its output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use tiphys_testkit::executable::make_executable;

/// The program.
pub(crate) const TIPHYS: &str = env!("CARGO_BIN_EXE_tiphys");

/// The repository of the tests' Applications, which `--repo` maps to the directory `repo`.
pub(crate) const URL: &str = "https://git.example.org/team/apps.git";

/// Replaces the world's directory in the output of programs.
const WORLD: &str = "$WORLD";

/// A directory with a home, a cache and a directory for temporary files.
pub(crate) struct World {
    /// Removes the directory.
    _dir: TempDir,
    root: PathBuf,
    /// Entries of `PATH` before the program's directory, each followed by a `:`.
    programs: String,
    /// Additional variables of commands.
    variables: Vec<(&'static str, PathBuf)>,
}

/// The result of a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Output {
    /// Exit code, or 128 and the signal's number.
    pub(crate) code: i32,
    /// Standard output with the world's directory as `$WORLD`.
    pub(crate) stdout: String,
    /// Standard error, likewise.
    pub(crate) stderr: String,
}

impl World {
    /// A world with the files that most tests need, from `testdata/cli/world`.
    pub(crate) fn new() -> Self {
        Self::empty().with_files(&testdata().join("world"))
    }

    /// A world without files.
    pub(crate) fn empty() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = dir.path().canonicalize().expect("the folder is there");
        for folder in ["home", "tmp"] {
            fs::create_dir(root.join(folder)).expect("the folder can be made");
        }
        Self { _dir: dir, root, programs: String::new(), variables: Vec::new() }
    }

    /// The world with these programs on `PATH`.
    pub(crate) fn with_programs(self, programs: &[PathBuf]) -> Self {
        let folder = |program: &PathBuf| format!("{}:", program.parent().expect("parent").display());
        Self { programs: programs.iter().map(folder).collect(), ..self }
    }

    /// Copies a directory's files into the world if the directory exists.
    pub(crate) fn with_files(self, from: &Path) -> Self {
        if from.is_dir() {
            copy_files(from, &self.root);
        }
        self
    }

    /// A path in the world.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Writes a file and its parent directories. A file that begins with `#!` is executable.
    pub(crate) fn write(&self, path: &str, content: &str) -> &Self {
        let place = self.path(path);
        fs::create_dir_all(place.parent().expect("a file has a folder")).expect("the folder can be made");
        fs::write(&place, content).expect("the file can be written");
        if content.starts_with("#!") {
            make_executable(&place);
        }
        self
    }

    /// A command in the world's directory, without the environment of the test's user.
    #[expect(clippy::disallowed_methods, reason = "the test runs programs")]
    pub(crate) fn command(&self, program: &str) -> Command {
        let programs = Path::new(TIPHYS).parent().expect("the program is in a folder").display();
        let path = std::env::var("PATH").expect("PATH is set");
        let mut command = Command::new(program);
        command
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", format!("{programs}:{}{path}", self.programs))
            .env("HOME", self.path("home"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("TMPDIR", self.path("tmp"))
            .env("URL", URL)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs([("GIT_AUTHOR_NAME", "A. Tester"), ("GIT_COMMITTER_NAME", "A. Tester")])
            .envs([("GIT_AUTHOR_EMAIL", "tester@example.org"), ("GIT_COMMITTER_EMAIL", "tester@example.org")])
            .envs(["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"].map(|name| (name, "2026-01-02T03:04:05Z")))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn finish(&self, mut command: Command) -> Output {
        let output = command.output().expect("the program starts");
        self.shown(output)
    }

    /// Converts the output of a command.
    pub(crate) fn shown(&self, output: std::process::Output) -> Output {
        use std::os::unix::process::ExitStatusExt as _;
        let code = output.status.code().or_else(|| output.status.signal().map(|signal| 128 + signal));
        Output {
            code: code.expect("the command has ended"),
            stdout: self.masked(output.stdout),
            stderr: self.masked(output.stderr),
        }
    }

    fn masked(&self, bytes: Vec<u8>) -> String {
        let text = String::from_utf8(bytes).expect("the program prints UTF-8");
        text.replace(self.root.to_str().expect("the world's path is UTF-8"), WORLD)
    }

    /// Leftovers of runs: temporary files and private views.
    pub(crate) fn left_behind(&self) -> Vec<PathBuf> {
        self.left_behind_but(&[])
    }

    /// The same without entries with these names.
    pub(crate) fn left_behind_but(&self, names: &[&str]) -> Vec<PathBuf> {
        let mut left = Vec::new();
        let entries = |folder: &Path| -> Vec<PathBuf> {
            let entries = fs::read_dir(folder).into_iter().flatten();
            entries.map(|entry| entry.expect("the folder can be read").path()).collect()
        };
        for path in ["tmp", "cache/tiphys/runs"].iter().flat_map(|folder| entries(&self.path(folder))) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.starts_with("tiphys-helm-") {
                // Runs of the Helm plugin share this directory, with a lock and cached information about helm.
                let of_runs = entries(&path).into_iter();
                left.extend(
                    of_runs.filter(|path| !["gate", "versions"].iter().any(|name| path.ends_with(name))),
                );
            } else if name.starts_with("tiphys-trees-") {
                // Commands share this directory, with two locks.
                let of_commands = entries(&path).into_iter().chain(entries(&path.join("runs")));
                left.extend(
                    of_commands.filter(|path| !["gate", "runs"].iter().any(|name| path.ends_with(name))),
                );
            } else {
                left.push(path);
            }
        }
        // The lock of commands that remove views of others.
        left.retain(|path| !path.ends_with("cache/tiphys/runs/gate"));
        left.retain(|path| !names.iter().any(|name| path.ends_with(name)));
        left
    }
}

/// The directory of the cases.
pub(crate) fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cli")
}

fn copy_files(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let entry = entry.expect("the entry can be read");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            fs::create_dir_all(&to).expect("the folder can be made");
            copy_files(&from, &to);
        } else {
            fs::copy(&from, &to).expect("the file can be copied");
        }
    }
}
