//! A plugin server to be measured through its socket.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::place::write;
use super::sample::User;
use super::world::World;
use crate::Failure;

/// How long the server may take until it says that it serves.
const START_MAX: Duration = Duration::from_secs(20);

/// A running server; asked to end on drop, and waited for.
pub(super) struct Server {
    child: Child,
    sockets: PathBuf,
}

impl Server {
    /// Starts a server for a plugin of this name, which prints one object.
    pub(super) fn start(world: &World, name: &str) -> Result<Self, Failure> {
        let folder = world.folder().join("server");
        let (config, sockets, workdir) =
            (folder.join("config"), folder.join("sockets"), folder.join("workdir"));
        let printed = world.plugins.join("nothing/printed.yaml");
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata:
  name: {name}
spec:
  generate:
    command: [cat, {}]
",
            printed.display()
        );
        write(&config.join("plugin.yaml"), text.as_bytes())?;
        for made in [&sockets, &workdir] {
            std::fs::create_dir_all(made).map_err(|error| Failure::at(made, error))?;
        }
        let failed = |problem: &str| Failure::new(format!("tiphys cmp-server: {problem}"));
        let mut child = world
            .starter
            .command(&world.tiphys, User::Own)
            .arg("cmp-server")
            .args(option("--config-dir-path", &config))
            .args(option("--plugin-sockets", &sockets))
            .args(option("--workdir", &workdir))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(&error.to_string()))?;
        let errors = child.stderr.take();
        let server = Self { child, sockets };
        let (serves, told) = mpsc::channel();
        // Reads to the end, so that the server never waits for us.
        std::thread::spawn(move || {
            for line in
                errors.map(BufReader::new).into_iter().flat_map(BufReader::lines).map_while(Result::ok)
            {
                if line.contains(" serving on ") {
                    serves.send(()).ok();
                }
            }
        });
        told.recv_timeout(START_MAX).map_err(|_| failed("did not begin to serve"))?;
        Ok(server)
    }

    /// The folder of its socket.
    pub(super) fn sockets(&self) -> &Path {
        &self.sockets
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(id) = i32::try_from(self.child.id()) {
            kill(Pid::from_raw(id), Signal::SIGTERM).ok();
        }
        self.child.wait().ok();
    }
}

fn option<'a>(name: &'a str, value: &'a Path) -> [&'a std::ffi::OsStr; 2] {
    [name.as_ref(), value.as_os_str()]
}
