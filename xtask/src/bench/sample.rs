//! One measured process: wall-clock time, and CPU time and peak memory of it and its children.
//!
//! The kernel keeps these figures for all children of a process together. So each measured process has its own parent: this program,
//! started again with the command line to measure.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::cargo::{program, search_path};
use crate::{Failure, files};

/// The measurement of one process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Sample {
    /// From its start to its end.
    pub(super) wall_seconds: f64,
    /// Processor time of it and of all its children.
    pub(super) cpu_seconds: f64,
    /// The most memory that one of them had at once (the resident set).
    pub(super) peak_bytes: u64,
    /// Time of the slowest application beside its plugin's own, from the report of `tiphys render`.
    #[serde(skip)]
    pub(super) overhead_seconds: f64,
    /// Whether it exited with 0.
    pub(super) succeeded: bool,
}

/// Runs a command line and prints the sample as JSON.
pub(super) fn measure_here(line: &[OsString]) -> Result<(), Failure> {
    let Some((name, arguments)) = line.split_first() else { return Err(Failure::new("nothing to measure")) };
    let failed = |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", name.display()));
    let mut command = program(name);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    let begun = Instant::now();
    let status = command.status().map_err(|error| failed(&error))?;
    let wall_seconds = begun.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| failed(&error))?;
    let seconds = |time: TimeVal| Duration::from_micros(time.num_microseconds().unsigned_abs()).as_secs_f64();
    let sample = Sample {
        wall_seconds,
        cpu_seconds: seconds(usage.user_time()) + seconds(usage.system_time()),
        peak_bytes: usage.max_rss().unsigned_abs() * 1024,
        overhead_seconds: 0.0,
        succeeded: status.success(),
    };
    println!("{}", serde_json::to_string(&sample).map_err(|error| failed(&error))?);
    Ok(())
}

/// The user of the measured process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum User {
    /// The user of xtask.
    Own,
    /// An unprivileged user. Only root can switch to it.
    Unprivileged,
}

/// User and group ID of [`User::Unprivileged`].
pub(super) const UNPRIVILEGED_ID: u32 = 65534;

/// Starts processes, all with the same short environment, and with their files on a memory file system.
pub(super) struct Starter {
    /// This program.
    pub(super) own: PathBuf,
    /// Folder for the home folder, temporary files and errors.
    place: TempDir,
    /// The measured program, which every user can start.
    pub(super) program: PathBuf,
    /// Runs of each figure, beside the one to warm up.
    runs: usize,
}

impl Starter {
    /// Copies the program.
    pub(super) fn new(program: &Path, name: &str, runs: usize) -> Result<Self, Failure> {
        let own = std::env::current_exe().map_err(|error| Failure::new(format!("this program: {error}")))?;
        let place = super::place::make()?;
        // Git checks the owner of a repository; the other user may read ours.
        files::write(&place.path().join("home/.gitconfig"), "[safe]\n\tdirectory = *\n")?;
        let copy = place.path().join("bin").join(name);
        files::copy(program, &copy)?;
        let temporary = place.path().join("tmp");
        files::create_directory(&temporary)?;
        fs::set_permissions(&temporary, Permissions::from_mode(0o1777))
            .map_err(|error| Failure::at(&temporary, error))?;
        Ok(Self { own, place, program: copy, runs })
    }

    /// The folder of all files.
    pub(super) fn folder(&self) -> &Path {
        self.place.path()
    }

    /// Does something once to warm up, then as often as requested, and returns the results of those runs. The number of the run
    /// begins with 0.
    pub(super) fn repeated<T>(
        &self,
        run: impl FnMut(usize) -> Result<T, Failure>,
    ) -> Result<Vec<T>, Failure> {
        let mut results: Vec<T> = (0..=self.runs).map(run).collect::<Result<_, _>>()?;
        results.remove(0);
        Ok(results)
    }

    /// A command with the short environment.
    pub(super) fn command(&self, name: impl AsRef<OsStr>, user: User) -> Command {
        let mut command = match user {
            User::Own => program(name.as_ref()),
            User::Unprivileged => {
                let mut command = program("setpriv");
                command.arg(format!("--reuid={UNPRIVILEGED_ID}")).arg(format!("--regid={UNPRIVILEGED_ID}"));
                command.arg("--clear-groups").arg(name.as_ref());
                command
            }
        };
        command
            .env_clear()
            .env("PATH", search_path())
            .env("HOME", self.folder().join("home"))
            .env("TMPDIR", self.folder().join("tmp"))
            .current_dir(self.folder())
            .stdin(Stdio::null());
        command
    }

    /// Runs a command line and measures it.
    pub(super) fn sample(&self, line: &[OsString], user: User) -> Result<Sample, Failure> {
        self.measured(self.command(&self.own, user), line)
    }

    /// Measures a line with a command that starts this program again.
    pub(super) fn measured(&self, mut command: Command, line: &[OsString]) -> Result<Sample, Failure> {
        let errors = self.folder().join("stderr");
        let file = File::create(&errors).map_err(|error| Failure::at(&errors, error))?;
        let output = command
            .args(["bench", "--"])
            .args(line)
            .stderr(file)
            .output()
            .map_err(|error| Failure::at(&self.own, error))?;
        let sample: Result<Sample, _> = serde_json::from_slice(&output.stdout);
        match sample {
            Ok(sample) if sample.succeeded => Ok(sample),
            _ => {
                let stderr = fs::read_to_string(&errors).unwrap_or_default();
                let line: Vec<String> = line.iter().map(|word| word.display().to_string()).collect();
                Err(Failure::new(format!("{}\nfailed: {}", line.join(" "), stderr.trim_end())))
            }
        }
    }
}
