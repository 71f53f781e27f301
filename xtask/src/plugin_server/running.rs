//! A plugin server that runs: started the way a sidecar starts it, whoever made it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::call::{Call, Method, Outcome, Patience, Upload, call};
use super::pause;
use super::process::{Look, ProcessId};
use crate::Failure;
use crate::bench::place::{remove, write};
use crate::cargo::{program, search_path};

/// The name by which a program knows that it is a plugin server.
pub(crate) const PROGRAM_NAME: &str = "argocd-cmp-server";

/// Name of the plugin.
const PLUGIN: &str = "measured";

/// How long a server may take to be ready, or to end.
const CHANGE_MAX: Duration = Duration::from_secs(20);

/// How often it is looked at meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Argo CD's server ends at the second signal only.
const SECOND_SIGNAL_AFTER: Duration = Duration::from_millis(500);

/// Bytes of a server's messages that are shown when it failed.
const SHOWN_BYTES_MAX: usize = 2_000;

/// What the kernel lets a server do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rights {
    /// All that whoever measures may do.
    Own,
    /// Neither user namespaces nor mounts: as in a pod with the runtime's default profile.
    NoNamespaces,
}

/// How a server is started.
#[derive(Clone, Debug)]
pub(crate) struct Start<'a> {
    /// The program, called [`PROGRAM_NAME`].
    pub(crate) program: &'a Path,
    pub(crate) arguments: &'a [&'a str],
    pub(crate) rights: Rights,
    /// The folder of all its files: configuration, socket, work folder, messages.
    pub(crate) folder: PathBuf,
    /// Everything below `spec` of the plugin's file.
    pub(crate) plugin: &'a str,
}

/// A running server; asked to end on drop, and waited for.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    folder: PathBuf,
    /// From its start until it answered a call.
    pub(crate) ready: Duration,
}

impl Start<'_> {
    /// Starts the server in an empty folder, and waits until it answers.
    pub(crate) fn start(&self) -> Result<Server, Failure> {
        remove(&self.folder)?;
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ConfigManagementPlugin\nmetadata:\n  name: {PLUGIN}\nspec:\n{}",
            self.plugin
        );
        write(&self.folder.join("config/plugin.yaml"), text.as_bytes())?;
        for name in ["sockets", "work", "home"] {
            let made = self.folder.join(name);
            fs::create_dir_all(&made).map_err(|error| Failure::at(&made, error))?;
        }
        let messages = self.folder.join("messages");
        let file = File::create(&messages).map_err(|error| Failure::at(&messages, error))?;
        let begun = Instant::now();
        let child = self
            .command()
            .env_clear()
            .env("PATH", search_path())
            .env("HOME", self.folder.join("home"))
            .env("ARGOCD_PLUGINSOCKFILEPATH", self.folder.join("sockets"))
            .env("ARGOCD_CMP_WORKDIR", self.folder.join("work"))
            .arg("--config-dir-path")
            .arg(self.folder.join("config"))
            .args(self.arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .spawn()
            .map_err(|error| Failure::at(self.program, error))?;
        let mut server = Server { child, folder: self.folder.clone(), ready: Duration::ZERO };
        let question = Call {
            method: Method::CheckConfiguration,
            upload: None,
            env: &[],
            timeout: None,
            patience: Patience::UntilAnswered,
        };
        while !server.socket().exists() || call(&server.socket(), &question).is_err() {
            if server.has_ended() || begun.elapsed() > CHANGE_MAX {
                return Err(server.failure("did not begin to serve"));
            }
            pause(LOOK_EVERY);
        }
        server.ready = begun.elapsed();
        Ok(server)
    }

    fn command(&self) -> Command {
        match self.rights {
            Rights::Own => program(self.program),
            Rights::NoNamespaces => {
                // In a user namespace of its own the number of further ones can be set to none, and the mount of anything needs a
                // capability, of which the server keeps none although its user has the number 0.
                const SCRIPT: &str = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv \
                    --securebits +noroot,+noroot_locked --inh-caps=-all --ambient-caps=-all --bounding-set=-all -- \"$@\"";
                let mut command = program("unshare");
                command.args(["--user", "--map-root-user", "sh", "-c", SCRIPT, "sh"]).arg(self.program);
                command
            }
        }
    }
}

impl Server {
    /// Its socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.join(format!("sockets/{PLUGIN}.sock"))
    }

    /// The folder for all that it writes.
    pub(crate) fn work_folder(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// What the system says of it.
    pub(crate) fn look(&self) -> Result<Look, Failure> {
        ProcessId(self.child.id()).look()
    }

    /// Asks it to generate, and takes nothing but a good answer.
    pub(crate) fn generate(&self, upload: &Upload) -> Result<Outcome, Failure> {
        let question = Call {
            method: Method::Generate,
            upload: Some(upload),
            env: &[("ARGOCD_APP_NAME", "bench")],
            timeout: Some(Duration::from_secs(90)),
            patience: Patience::UntilAnswered,
        };
        call(&self.socket(), &question)
            .and_then(Outcome::answered)
            .map_err(|failure| self.failure(&failure.to_string()))
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// A failure with the end of what the server said.
    pub(crate) fn failure(&self, problem: &str) -> Failure {
        let said = fs::read(self.folder.join("messages")).unwrap_or_default();
        let end = &said[said.len().saturating_sub(SHOWN_BYTES_MAX)..];
        Failure::new(format!("{problem}; the server said:\n{}", String::from_utf8_lossy(end).trim_end()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Ok(id) = i32::try_from(self.child.id()) else { return };
        kill(Pid::from_raw(id), Signal::SIGTERM).ok();
        let begun = Instant::now();
        while !self.has_ended() {
            pause(LOOK_EVERY);
            if begun.elapsed() > CHANGE_MAX {
                kill(Pid::from_raw(id), Signal::SIGKILL).ok();
            } else if begun.elapsed() > SECOND_SIGNAL_AFTER {
                kill(Pid::from_raw(id), Signal::SIGTERM).ok();
            }
        }
    }
}

/// Copies a program to where it has the name of a plugin server.
pub(crate) fn named(program: &Path, folder: &Path) -> Result<PathBuf, Failure> {
    let copy = folder.join(PROGRAM_NAME);
    fs::create_dir_all(folder).map_err(|error| Failure::at(folder, error))?;
    fs::copy(program, &copy).map_err(|error| Failure::at(program, error))?;
    Ok(copy)
}

/// A plugin that prints one small object with `cat`: all that it costs is its start.
pub(crate) fn cat_plugin(folder: &Path) -> Result<String, Failure> {
    let printed = folder.join("printed.yaml");
    write(&printed, b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: measured\ndata:\n  key: value\n")?;
    Ok(format!("  generate:\n    command: [cat, {}]\n", printed.display()))
}
