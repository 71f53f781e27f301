//! A running plugin server, started as the sidecar of Argo CD starts it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::archive::Upload;
use super::call::{Call, Client, Method, Outcome};
use super::pause;
use super::process::{Look, ProcessId};
use crate::Failure;
use crate::bench::data::plugin_file;
use crate::cargo::{program, search_path};
use crate::files::{copy, create_directory, remove, write};

/// The name that makes our program a plugin server.
const PROGRAM_NAME: &str = "argocd-cmp-server";

/// Name of the plugin.
const PLUGIN: &str = "measured";

/// How long a server may take to start, and to end.
const CHANGE_MAX: Duration = Duration::from_secs(20);

/// Time between two checks of a server that starts or ends.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Argo CD's server ends only at the second signal.
const SECOND_SIGNAL_AFTER: Duration = Duration::from_millis(500);

/// Bytes of a server's log that a failure shows.
const SHOWN_BYTES_MAX: usize = 2_000;

/// Privileges of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rights {
    /// Those of xtask.
    Own,
    /// Neither user namespaces nor mounts: as in a pod with the runtime's default profile.
    NoNamespaces,
}

/// How a server is started.
#[derive(Clone, Debug)]
pub(crate) struct Start<'a> {
    /// The program, a file from [`named`].
    pub(crate) program: &'a Path,
    /// The program of the gRPC client.
    pub(crate) client: &'a Path,
    pub(crate) arguments: &'a [&'a str],
    pub(crate) rights: Rights,
    /// The directory of all its files: configuration, socket, work directory, log.
    pub(crate) folder: PathBuf,
    /// The content of `spec` in the plugin's file.
    pub(crate) plugin: &'a str,
}

/// A running server. It is ended when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    client: Client,
    folder: PathBuf,
    /// From the start to the first answer.
    pub(crate) ready: Duration,
}

impl Start<'_> {
    /// Starts the server in an empty directory, and waits until it answers.
    pub(crate) fn start(&self) -> Result<Server, Failure> {
        remove(&self.folder)?;
        write(&self.folder.join("config/plugin.yaml"), plugin_file(PLUGIN, self.plugin))?;
        for name in ["sockets", "work", "home"] {
            create_directory(&self.folder.join(name))?;
        }
        let log = self.folder.join("log");
        let file = File::create(&log).map_err(|error| Failure::at(&log, error))?;
        let client = Client::start(self.client, &socket(&self.folder))?;
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
        let mut server = Server { child, client, folder: self.folder.clone(), ready: Duration::ZERO };
        let call = Call { method: Method::CheckConfiguration, ..Call::default() };
        while !server.socket().exists() || server.client.call(&call)?.code != 0 {
            if server.has_ended() || begun.elapsed() > CHANGE_MAX {
                return Err(server.failure("the server did not start"));
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
                // A new user namespace can limit the number of further ones to zero. A mount needs a capability, and the server
                // has none although its user ID is 0.
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
    /// The socket.
    pub(crate) fn socket(&self) -> PathBuf {
        socket(&self.folder)
    }

    /// The work directory.
    pub(crate) fn work_folder(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// Resources of the process and its descendants.
    pub(crate) fn look(&self) -> Result<Look, Failure> {
        ProcessId(self.child.id()).look()
    }

    /// Calls `GenerateManifest` once, and fails unless the server answers.
    pub(crate) fn generate(&self, upload: &Upload) -> Result<Outcome, Failure> {
        self.generate_at_once(upload, 1)?.pop().ok_or_else(|| self.failure("no outcome"))
    }

    /// Calls `GenerateManifest` this many times at once, and fails unless the server answers each.
    pub(crate) fn generate_at_once(&self, upload: &Upload, count: usize) -> Result<Vec<Outcome>, Failure> {
        let call = Call {
            upload: Some(upload),
            env: &["ARGOCD_APP_NAME=bench".to_owned()],
            timeout: Duration::from_secs(90),
            ..Call::default()
        };
        self.client
            .at_once(&call, count)
            .and_then(|outcomes| outcomes.into_iter().map(Outcome::answered).collect())
            .map_err(|failure| self.failure(&failure.to_string()))
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// A failure with the end of the server's log.
    pub(crate) fn failure(&self, problem: &str) -> Failure {
        let log = fs::read(self.folder.join("log")).unwrap_or_default();
        let end = &log[log.len().saturating_sub(SHOWN_BYTES_MAX)..];
        Failure::new(format!("{problem}; the server's log:\n{}", String::from_utf8_lossy(end).trim_end()))
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

fn socket(folder: &Path) -> PathBuf {
    folder.join(format!("sockets/{PLUGIN}.sock"))
}

/// Copies a program into `folder`, under the name that makes it a plugin server.
pub(crate) fn named(program: &Path, folder: &Path) -> Result<PathBuf, Failure> {
    let place = folder.join(PROGRAM_NAME);
    copy(program, &place)?;
    Ok(place)
}

/// A plugin that prints one small object with `cat`. It costs only its start.
pub(crate) fn cat_plugin(folder: &Path) -> Result<String, Failure> {
    let printed = folder.join("printed.yaml");
    write(&printed, b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: measured\ndata:\n  key: value\n")?;
    Ok(format!("  generate:\n    command: [cat, {}]\n", printed.display()))
}
