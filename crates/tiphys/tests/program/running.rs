//! Commands in the background, and the lines that they print.

use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStdin, Command};
use std::sync::mpsc;

use tiphys_testkit::tools;
use tiphys_testkit::wait::{PATIENCE, until};

use crate::world::{Output, TIPHYS, World};

impl World {
    /// A world with the helm of `cargo xtask tools`.
    pub(crate) fn with_helm() -> Self {
        Self::new().with_programs(&[tools::program("helm")])
    }

    /// A world with the kustomize and the helm of `cargo xtask tools`.
    pub(crate) fn with_kustomize() -> Self {
        Self::new().with_programs(&["kustomize", "helm"].map(tools::program))
    }

    /// The content of a file.
    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).expect("the file can be read")
    }

    /// Runs the program with these arguments.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        let mut command = self.command(TIPHYS);
        command.args(args);
        self.finish(command)
    }

    /// Runs the program in the background.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        let mut command = self.command(TIPHYS);
        Running(Some(command.args(args).spawn().expect("the program starts")))
    }

    /// The same with an additional variable.
    pub(crate) fn start_with(&self, name: &str, value: &Path, args: &[&str]) -> Running {
        let mut command = self.command(TIPHYS);
        Running(Some(command.env(name, value).args(args).spawn().expect("the program starts")))
    }

    /// Creates a named pipe and reads it: lines, then the end once all writers have closed it.
    pub(crate) fn pipe(&self, name: &str) -> Pipe {
        let path = self.path(name);
        let mut mkfifo = self.command("mkfifo");
        mkfifo.arg(&path);
        assert_eq!(self.finish(mkfifo).code, 0, "the pipe can be made");
        Pipe::read(b'\n', move || fs::File::open(path).expect("the pipe can be opened"))
    }

    /// Waits until a server without a log accepts connections on a socket.
    pub(crate) fn serves(&self, socket: &str) {
        until(|| UnixStream::connect(self.path(socket)).ok());
    }
}

/// A running program, which is killed at the end of the test.
pub(crate) struct Running(Option<Child>);

impl Running {
    /// Starts a command.
    pub(crate) fn of(mut command: Command) -> Self {
        Self(Some(command.spawn().expect("the program starts")))
    }

    /// Takes its standard input.
    pub(crate) fn stdin(&mut self) -> ChildStdin {
        self.0.as_mut().and_then(|child| child.stdin.take()).expect("stdin")
    }

    /// Takes its standard output.
    pub(crate) fn stdout(&mut self) -> Pipe {
        let stdout = self.0.as_mut().and_then(|child| child.stdout.take()).expect("stdout");
        Pipe::read(b'\n', move || stdout)
    }

    /// Takes its standard output, in which a NUL ends each message.
    pub(crate) fn messages(&mut self) -> Pipe {
        let stdout = self.0.as_mut().and_then(|child| child.stdout.take()).expect("stdout");
        Pipe::read(0, move || stdout)
    }

    /// Sends a signal by its name without `SIG`.
    pub(crate) fn signal(&self, world: &World, name: &str) {
        let pid = self.0.as_ref().expect("running").id();
        // The shell's builtin `kill` exists on all systems.
        let mut kill = world.command("sh");
        kill.args(["-c", &format!("kill -{name} {pid}")]);
        assert_eq!(world.finish(kill).code, 0, "the signal is sent");
    }

    /// Lowers the limit of its descriptors.
    pub(crate) fn limit_descriptors(&self, world: &World, max: usize) {
        let pid = self.0.as_ref().expect("running").id();
        let mut prlimit = world.command("prlimit");
        prlimit.args([format!("--pid={pid}"), format!("--nofile={max}:")]);
        assert_eq!(world.finish(prlimit).code, 0, "the limit is set");
    }

    /// Takes its standard error.
    pub(crate) fn stderr(&mut self) -> Pipe {
        let stderr = self.0.as_mut().and_then(|child| child.stderr.take()).expect("stderr");
        Pipe::read(b'\n', move || stderr)
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self, world: &World) -> Output {
        let child = self.0.take().expect("running");
        world.shown(child.wait_with_output().expect("wait"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Lines from a pipe.
pub(crate) struct Pipe(mpsc::Receiver<String>);

impl Pipe {
    fn read<R: Read>(end: u8, open: impl FnOnce() -> R + Send + 'static) -> Self {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(open()).split(end) {
                let line = String::from_utf8(line.expect("the pipe can be read")).expect("lines are UTF-8");
                // The test may have ended.
                drop(sender.send(line));
            }
        });
        Self(receiver)
    }

    /// Returns the next line.
    pub(crate) fn line(&self) -> String {
        self.0.recv_timeout(PATIENCE).expect("a line comes")
    }

    /// Waits for a line that contains this text.
    pub(crate) fn line_with(&self, text: &str) {
        while !self.line().contains(text) {}
    }

    /// Waits for a line that contains this text, and returns the rest of the line after it.
    pub(crate) fn rest_of_line_with(&self, text: &str) -> String {
        loop {
            if let Some((_, rest)) = self.line().split_once(text) {
                return rest.to_owned();
            }
        }
    }

    /// Returns all lines until the end.
    pub(crate) fn rest(&self) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            match self.0.recv_timeout(PATIENCE) {
                Ok(line) => lines.push(line),
                Err(mpsc::RecvTimeoutError::Disconnected) => return lines,
                Err(error) => panic!("a process still holds the pipe: {error}"),
            }
        }
    }

    /// Waits for the end.
    pub(crate) fn ends(&self) {
        let end = self.0.recv_timeout(PATIENCE);
        assert_eq!(end, Err(mpsc::RecvTimeoutError::Disconnected), "all writers have closed the pipe");
    }
}
