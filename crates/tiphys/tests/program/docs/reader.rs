//! Runs the commands of a document in the directory of [`place`](crate::docs::place).

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::iter::Peekable;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};

use tempfile::TempDir;
use tiphys_testkit::executable::make_executable;
use tiphys_testkit::{kube_server, pull_requests, tools, workspace_root};

use crate::docs::document::{Block, How};
use crate::docs::place;

/// The directory and its servers.
pub(crate) struct Reader {
    place: TempDir,
    /// The current directory, which `cd` changes.
    folder: PathBuf,
    servers: Vec<Server>,
    /// Free ports, which stand for [`SHOWN_PORTS`].
    ports: [String; 2],
}

/// The ports of servers in documents. Other processes of the machine may use them.
const SHOWN_PORTS: [&str; 2] = ["4355", "4356"];

impl Reader {
    pub(crate) fn new() -> Self {
        let place = place::new();
        // Both are held until each has its port.
        let listeners = SHOWN_PORTS.map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let ports = listeners.map(|listener| listener.local_addr().expect("an address").port().to_string());
        Self { folder: place.path().to_path_buf(), place, servers: Vec::new(), ports }
    }

    /// Runs a block and returns the lines that it should have.
    pub(crate) fn follow(&mut self, block: &Block) -> Vec<String> {
        let begin = format!("line {}", block.first + 1);
        if block.how != How::Continued {
            self.folder = self.place.path().to_path_buf();
        }
        match &block.how {
            How::File(file) => self.write(file, &block.lines),
            How::Part(file) => {
                let text = fs::read_to_string(workspace_root().join(file));
                let text = text.unwrap_or_else(|error| panic!("{begin}: {file}: {error}"));
                let lines: Vec<&str> = text.lines().collect();
                let found = lines.windows(block.lines.len()).any(|lines| lines == block.lines);
                assert!(found, "{begin}: {file} has no such lines");
            }
            How::Console | How::Continued => {
                let shown = self.console(&begin, &block.lines);
                let is_inside = !shown.iter().any(|line| line.starts_with(&block.fence));
                assert!(is_inside, "{begin}: the output would end the block; write a longer fence");
                return shown;
            }
            How::Server => {
                let line = block.lines.join("\n");
                let command = line.strip_prefix("$ ");
                self.serve(command.unwrap_or_else(|| panic!("{begin}: a command begins with $")));
            }
            How::Demo(options) => {
                let shown: Vec<String> = block.lines.iter().map(|line| masked(line)).collect();
                let printed: Vec<String> = demo(options).lines().map(masked).collect();
                let found = printed.windows(shown.len()).any(|lines| lines == shown);
                assert!(found, "{begin}: the demo prints something else:\n{}", printed.join("\n"));
            }
        }
        block.lines.clone()
    }

    fn write(&self, file: &str, lines: &[String]) {
        if Path::new(file).extension().is_some_and(|extension| extension == "yaml") {
            let read = tiphys_yaml::read_document((lines.join("\n") + "\n").as_bytes());
            assert!(read.is_ok(), "{file}: {}", read.expect_err("not a document"));
        }
        let file = self.place.path().join(file);
        fs::create_dir_all(file.parent().expect("a file is in a folder")).expect("the folder can be made");
        let content = self.with_ports(&(lines.join("\n") + "\n"));
        fs::write(&file, content).expect("the file can be written");
        if lines.first().is_some_and(|line| line.starts_with("#!")) {
            make_executable(&file);
        }
    }

    /// Runs the commands of a block. Lines that differ only in times or widths are not changed.
    fn console(&mut self, begin: &str, lines: &[String]) -> Vec<String> {
        let mut block = Vec::new();
        let mut lines = lines.iter().map(String::as_str).peekable();
        while let Some(command) = next_command(begin, &mut lines) {
            block.extend(command.lines().map(str::to_owned));
            let mut shown = Vec::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
                shown.push(line.to_owned());
            }
            let printed = self.run(begin, &command["$ ".len()..]);
            let is_same = printed.iter().map(|line| masked(line)).eq(shown.iter().map(|line| masked(line)));
            block.extend(if is_same { shown } else { printed });
        }
        block
    }

    /// Runs one command and returns its output, followed by its exit code if it fails, unless the command prints that itself.
    fn run(&mut self, begin: &str, command: &str) -> Vec<String> {
        if let Some(to) = command.strip_prefix("cd ") {
            self.folder.push(to);
            assert!(self.folder.is_dir(), "{begin}: {command}: no such directory");
            return Vec::new();
        }
        let output =
            self.command(&format!("{{ {command}\n}} 2>&1"), &self.folder).output().expect("the shell starts");
        let printed = String::from_utf8_lossy(&output.stdout).replace(&self.inside(), "");
        let printed = SHOWN_PORTS.iter().zip(&self.ports).fold(printed, |printed, (shown, port)| {
            printed.replace(&format!(":{port}"), &format!(":{shown}"))
        });
        let printed: Vec<String> = printed.lines().map(str::to_owned).collect();
        if !command.contains("$?") {
            let told = printed.iter().any(|line| line.starts_with("error: "));
            let shown = printed.join("\n");
            assert_eq!(told, !output.status.success(), "{begin}: {command}: {}\n{shown}", output.status);
        }
        printed
    }

    /// Starts a server and waits until it serves.
    fn serve(&mut self, command: &str) {
        let mut process = self.command(&format!("exec {command}"), self.place.path());
        let mut process = process.stderr(Stdio::piped()).spawn().expect("the shell starts");
        let log = BufReader::new(process.stderr.take().expect("stderr is a pipe"));
        self.servers.push(Server { process, log });
        let server = self.servers.last_mut().expect("a server");
        let mut said = String::new();
        for line in server.log.by_ref().lines() {
            said.push_str(&line.expect("the server's log is text"));
            if said.contains("serving on") {
                return;
            }
        }
        panic!("{command} ended: {said}");
    }

    /// A shell with the variables that the documents set, and without the user's settings.
    #[expect(clippy::disallowed_methods, reason = "the commands are run as readers run them")]
    fn command(&self, line: &str, folder: &Path) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_tiphys")).parent().expect("a program is in a folder");
        let mut path = program.as_os_str().to_owned();
        path.push(":");
        path.push(tools::search_path());
        let mut command = Command::new("sh");
        command
            .args(["-c", &self.with_ports(line)])
            .current_dir(folder)
            .env_clear()
            .env("PATH", path)
            .env("PYTHONPATH", tools::python_packages())
            .env("HOME", self.place.path().join("home"))
            .env("TIPHYS_PLUGINS", format!("{}examples/plugins", self.inside()))
            .envs([("GIT_AUTHOR_NAME", "A. Reader"), ("GIT_COMMITTER_NAME", "A. Reader")])
            .envs([("GIT_AUTHOR_EMAIL", "reader@example.com"), ("GIT_COMMITTER_EMAIL", "reader@example.com")])
            .envs(["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"].map(|name| (name, "2026-01-02T03:04:05Z")))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null());
        command
    }

    /// Replaces the ports of documents.
    fn with_ports(&self, text: &str) -> String {
        let ports = SHOWN_PORTS.iter().zip(&self.ports);
        ports.fold(text.to_owned(), |text, (shown, port)| {
            text.replace(&format!(":{shown}"), &format!(":{port}"))
        })
    }

    /// The prefix of absolute paths in the directory.
    fn inside(&self) -> String {
        format!("{}/", self.place.path().display())
    }
}

/// Returns the next command of a block with all its lines.
fn next_command<'a>(begin: &str, lines: &mut Peekable<impl Iterator<Item = &'a str>>) -> Option<String> {
    let mut command = lines.next()?.to_owned();
    assert!(command.starts_with("$ "), "{begin}: a command begins with $: {command}");
    while command.ends_with('\\') {
        command.push('\n');
        command.push_str(lines.next().unwrap_or_else(|| panic!("{begin}: the command ends: {command}")));
    }
    Some(command)
}

/// A process that is killed at the end of the test.
struct Server {
    process: Child,
    /// Stays open, because a server may fail if it cannot log.
    log: BufReader<ChildStderr>,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Returns the output of `cargo xtask demo` with options and the tested program.
#[expect(clippy::disallowed_methods, reason = "the demo is run as readers run it")]
fn demo(options: &[String]) -> String {
    // The demo must not build the tools and the programs.
    drop((tools::search_path(), pull_requests::program(), kube_server::program()));
    let Output { status, stdout, stderr } = Command::new(env!("CARGO"))
        .args(["run", "--locked", "--quiet", "--package", "xtask", "--", "demo", "--program"])
        .arg(env!("CARGO_BIN_EXE_tiphys"))
        .args(options)
        .current_dir(workspace_root())
        .output()
        .expect("cargo starts");
    let stdout = String::from_utf8_lossy(&stdout).into_owned();
    assert!(status.success(), "{status}\n{stdout}{}", String::from_utf8_lossy(&stderr));
    stdout
}

/// Removes what differs between runs: numbers before `ms` and `s`, and the width of columns.
fn masked(line: &str) -> String {
    let indent = &line[..line.len() - line.trim_start().len()];
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_unit = |word: &&str| matches!(word.trim_end_matches(';'), "ms" | "s");
    let masked: Vec<&str> = words
        .iter()
        .enumerate()
        .map(|(index, word)| {
            let is_time = word.parse::<f64>().is_ok() && words.get(index + 1).is_some_and(is_unit);
            if is_time { "TIME" } else { word }
        })
        .collect();
    format!("{indent}{}", masked.join(" "))
}

#[test]
fn only_times_and_column_widths_may_differ() {
    let cases = [
        ("a   12.5 ms   b", "a 7 ms b", true),
        ("27 objects in 1.4 s; more", "27 objects in 12.0 s; more", true),
        ("27 objects", "28 objects", false),
        ("  indented", "indented", false),
        ("1.4 x", "1.5 x", false),
    ];
    for (one, other, same) in cases {
        assert_eq!(masked(one) == masked(other), same, "{one} | {other}");
    }
}

#[test]
fn block_is_returned_with_the_output_of_its_commands() {
    let shown = ["$ printf 'a  1.5 s\\nb\\n'", "a 12.0 s", "b", "$ echo new \\", "    lines", "old"];
    let printed = ["$ printf 'a  1.5 s\\nb\\n'", "a 12.0 s", "b", "$ echo new \\", "    lines", "new lines"];
    let block = Block {
        how: How::Console,
        fence: "```".to_owned(),
        first: 0,
        lines: shown.map(str::to_owned).to_vec(),
    };
    assert_eq!(Reader::new().follow(&block), printed);
}
