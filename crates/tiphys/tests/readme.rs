//! What README.md and the guide for plugin authors show is what happens.
//!
//! A line `<!-- tested: HOW -->` before a fenced block says how it is tested:
//!
//! | HOW | the block |
//! |---|---|
//! | `file PATH` | is written to that file, executable if it begins with `#!` |
//! | `console` | has commands behind `$ `, each followed by what it prints |
//! | `server` | has one command, which runs until the document ends |
//! | `demo` | is a part of what `cargo xtask demo` prints |
//!
//! Blocks are run one after the other in a folder with copies of `examples` and `plugins`. Times and the widths of columns may differ.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;
use tiphys_testkit::{git::Repository, tools, workspace_root};

/// The repository that the Applications of the example store name.
const EXAMPLES_URL: &str = "https://git.example.com/platform/apps.git";

#[test]
fn the_readme_shows_what_happens() {
    check_document("README.md");
}

#[test]
fn the_guide_for_plugin_authors_shows_what_happens() {
    check_document("docs/writing-a-plugin.md");
}

#[test]
fn an_output_without_a_mark_is_refused_and_so_is_a_mark_without_a_block() {
    let cases = [
        ("```console\n$ ls\n```\n", "1: a block of output without a line that says how it is tested"),
        ("<!-- tested: console -->\n\ntext\n", "1: no block follows"),
        ("<!-- tested: somehow -->\n```sh\n```\n", "1: tested somehow"),
        ("<!-- tested: console -->\n```console\n$ ls\n", "2: the block has no end"),
    ];
    for (document, problem) in cases {
        assert_eq!(blocks(document).err().as_deref(), Some(problem), "{document}");
    }
}

#[test]
fn only_times_and_widths_of_columns_may_differ() {
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

fn check_document(path: &str) {
    let text = fs::read_to_string(workspace_root().join(path)).expect("the document can be read");
    let blocks = blocks(&text).unwrap_or_else(|problem| panic!("{path}:{problem}"));
    assert!(blocks.iter().any(|block| block.how == How::Console), "{path} shows what commands print");
    let mut reader = Reader::new();
    for block in blocks {
        reader.follow(path, &block);
    }
}

#[derive(Debug, PartialEq, Eq)]
enum How {
    File(String),
    Console,
    Server,
    Demo,
}

/// A fenced block that is tested.
#[derive(Debug)]
struct Block {
    how: How,
    /// Of the block's first line, from 1.
    line: usize,
    lines: Vec<String>,
}

/// The tested blocks of a document; an error begins with a line's number.
fn blocks(document: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    let mut lines = document.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        let mark = line.strip_prefix("<!-- tested: ").and_then(|rest| rest.strip_suffix(" -->"));
        let (fence, number, how) = match mark {
            None => (line, number, None),
            Some(mark) => {
                let how = match (mark, mark.strip_prefix("file ")) {
                    (_, Some(path)) => How::File(path.to_owned()),
                    ("console", _) => How::Console,
                    ("server", _) => How::Server,
                    ("demo", _) => How::Demo,
                    _ => return Err(format!("{number}: tested {mark}")),
                };
                let next = lines.next().filter(|(line, _)| line.starts_with("```"));
                let (fence, begin) = next.ok_or(format!("{number}: no block follows"))?;
                (fence, begin, Some(how))
            }
        };
        if !fence.starts_with("```") {
            continue;
        }
        let mut body = Vec::new();
        loop {
            match lines.next() {
                Some(("```", _)) => break,
                Some((line, _)) => body.push(line.to_owned()),
                None => return Err(format!("{number}: the block has no end")),
            }
        }
        match how {
            Some(how) => blocks.push(Block { how, line: number + 1, lines: body }),
            None if fence == "```console" => {
                return Err(format!("{number}: a block of output without a line that says how it is tested"));
            }
            None => {}
        }
    }
    Ok(blocks)
}

/// Somebody who does what a document says, in a checkout in which the demo was run.
struct Reader {
    place: TempDir,
    servers: Vec<Server>,
}

impl Reader {
    fn new() -> Self {
        let place = tempfile::tempdir().expect("a temporary folder");
        let root = workspace_root();
        for folder in ["examples", "plugins"] {
            copy(&root.join(folder), &place.path().join(folder));
        }
        let demo = Repository::init(place.path().join("target/demo/repository"));
        demo.git(&["remote", "add", "origin", EXAMPLES_URL]);
        copy(&root.join("examples/repository"), demo.dir());
        demo.commit("Everything");
        billing(&place.path().join("my-checkout"));
        Self { place, servers: Vec::new() }
    }

    fn follow(&mut self, path: &str, block: &Block) {
        let begin = format!("{path}:{}", block.line);
        match &block.how {
            How::File(file) => self.write(file, &block.lines),
            How::Console => self.check(&begin, &block.lines),
            How::Server => {
                let line = block.lines.join("\n");
                self.serve(
                    line.strip_prefix("$ ").unwrap_or_else(|| panic!("{begin}: a command begins with $")),
                );
            }
            How::Demo => {
                let shown: Vec<String> = block.lines.iter().map(|line| masked(line)).collect();
                let printed: Vec<String> = demo().lines().map(masked).collect();
                let found = printed.windows(shown.len()).any(|lines| lines == shown);
                assert!(found, "{begin}: the demo prints something else:\n{}", printed.join("\n"));
            }
        }
    }

    fn write(&self, file: &str, lines: &[String]) {
        let file = self.place.path().join(file);
        fs::create_dir_all(file.parent().expect("a file is in a folder")).expect("the folder can be made");
        fs::write(&file, lines.join("\n") + "\n").expect("the file can be written");
        if lines[0].starts_with("#!") {
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("the mode can be set");
        }
    }

    /// Runs the commands of a block, and compares what they print.
    fn check(&self, begin: &str, lines: &[String]) {
        let mut folder = self.place.path().to_path_buf();
        let mut lines = lines.iter().peekable();
        while let Some(line) = lines.next() {
            let mut command = line
                .strip_prefix("$ ")
                .unwrap_or_else(|| panic!("{begin}: a command begins with $: {line}"))
                .to_owned();
            while command.ends_with('\\') {
                command.push('\n');
                command
                    .push_str(lines.next().unwrap_or_else(|| panic!("{begin}: the command ends: {command}")));
            }
            let mut shown = Vec::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
                shown.push(masked(line));
            }
            if let Some(to) = command.strip_prefix("cd ") {
                folder.push(to);
                continue;
            }
            let output =
                self.command(&format!("{command} 2>&1"), &folder).output().expect("the shell starts");
            let printed = String::from_utf8_lossy(&output.stdout).replace(&self.inside(), "");
            let printed: Vec<String> = printed.lines().map(masked).collect();
            let begin = format!("{begin}: {command}");
            assert_eq!(printed.join("\n"), shown.join("\n"), "{begin}");
            let failed = printed.iter().any(|line| line.starts_with("error: "));
            assert_eq!(failed, !output.status.success(), "{begin}: {}", output.status);
        }
    }

    /// Starts a server, and waits until it says that it serves.
    fn serve(&mut self, command: &str) {
        let mut process = self.command(&format!("exec {command}"), self.place.path());
        let process = process.stderr(Stdio::piped()).spawn().expect("the shell starts");
        self.servers.push(Server(process));
        let stderr =
            self.servers.last_mut().and_then(|server| server.0.stderr.take()).expect("stderr is a pipe");
        let mut said = String::new();
        for line in BufReader::new(stderr).lines() {
            said.push_str(&line.expect("the server's log is text"));
            if said.contains("serving on") {
                return;
            }
        }
        panic!("{command} ended: {said}");
    }

    /// A shell with the variables that the documents tell to set, and nothing of the user's settings.
    #[expect(clippy::disallowed_methods, reason = "the commands are run as readers run them")]
    fn command(&self, line: &str, folder: &Path) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_tiphys")).parent().expect("a program is in a folder");
        let mut path = program.as_os_str().to_owned();
        path.push(":");
        path.push(tools::search_path());
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(folder).env_clear();
        command.env("PATH", path).env("HOME", self.place.path().join("home"));
        command.env("TIPHYS_PLUGINS", format!("{0}plugins:{0}examples/plugins", self.inside()));
        command.stdin(Stdio::null());
        command
    }

    /// The beginning of absolute paths in the folder.
    fn inside(&self) -> String {
        format!("{}/", self.place.path().display())
    }
}

/// A process that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended already needs no killing.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// What `cargo xtask demo` prints, with the program that is tested here.
#[expect(clippy::disallowed_methods, reason = "the demo is run as readers run it")]
fn demo() -> String {
    // The tools would be built in the middle of the test.
    drop(tools::search_path());
    let Output { status, stdout, stderr } = Command::new(env!("CARGO"))
        .args(["run", "--locked", "--quiet", "--package", "xtask", "--", "demo", "--program"])
        .arg(env!("CARGO_BIN_EXE_tiphys"))
        .current_dir(workspace_root())
        .output()
        .expect("cargo starts");
    let stdout = String::from_utf8_lossy(&stdout).into_owned();
    assert!(status.success(), "{status}\n{stdout}{}", String::from_utf8_lossy(&stderr));
    stdout
}

/// A checkout of the reader's own: an Application, and what it deploys.
fn billing(folder: &Path) {
    let repository = Repository::init(folder);
    repository.git(&["remote", "add", "origin", "https://git.example.com/billing/deploy.git"]);
    repository.write(
        "applications/billing.yaml",
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: billing
  namespace: argocd
spec:
  project: default
  destination:
    server: https://kubernetes.default.svc
    namespace: billing
  source:
    repoURL: https://git.example.com/billing/deploy.git
    targetRevision: main
    path: billing
    kustomize:
      namePrefix: eu-
",
    );
    repository.write("billing/kustomization.yaml", "resources: [deployment.yaml, service.yaml]\n");
    repository.write("billing/service.yaml", "apiVersion: v1\nkind: Service\nmetadata:\n  name: billing\n");
    // Not committed yet, as with anything that somebody is just writing.
    repository.commit("Everything but the deployment");
    repository.write(
        "billing/deployment.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: billing\n",
    );
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let old: PathBuf = entry.expect("the folder can be read").path();
        let new = to.join(old.file_name().expect("an entry has a name"));
        if old.is_dir() {
            copy(&old, &new);
        } else {
            fs::copy(&old, &new).expect("the file can be copied");
        }
    }
}

/// A line without what differs from run to run: numbers before `ms` and `s`, and how many blanks are between columns.
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
