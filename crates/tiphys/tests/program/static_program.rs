//! The static program runs in images of every kind: one file that needs only a kernel.

use std::env::consts::ARCH;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;
use tiphys_testkit::executable::make_executable;
use tiphys_testkit::workspace_root;

/// The content of the Application's repository. The empty root has no other program, so the plugin's command is tiphys itself.
const MANIFEST: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: alone\n";

const REPOSITORY: &str = "https://git.example.org/team/apps.git";

#[test]
fn static_program_needs_no_loader_and_no_library() {
    let kinds = segment_kinds(&fs::read(static_program()).expect("the program was built"));
    assert!(kinds.contains(&LOADED), "segments: {kinds:?}");
    assert!(!kinds.contains(&LOADER), "needs a loader: {kinds:?}");
}

#[test]
fn static_program_renders_in_an_empty_root() {
    let root = EmptyRoot::new();
    let Some(mut command) = root.command() else { return assert_that_no_root_can_be_changed() };
    let output = finish(command.args(["version", "-o", "json"]));
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let version: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the output is JSON");
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn plugin_server_renders_in_an_empty_root() {
    let root = EmptyRoot::new();
    let Some(mut command) = root.command() else { return assert_that_no_root_can_be_changed() };
    let plugin = format!(
        "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {{name: alone}}
spec:
  generate:
    command: [/tiphys]
    args: [render, --store, /applications, --repo, {REPOSITORY}=., --config, cacheDir=/tmp/cache, --config, tracking=none]
"
    );
    let directory = application("{directory: {}, path: .}");
    // Containers have the device; here it is an empty file.
    root.write("dev/null", "")
        .write("config/plugin.yaml", &plugin)
        .write("applications/alone.yaml", &directory);
    let mut server = Server::start(
        command
            .env("ARGOCD_BINARY_NAME", "argocd-cmp-server")
            .args(["--config-dir-path=/config", "--plugin-sockets=/sockets"]),
    );
    server.wait_until_it_serves();

    let client = tempfile::tempdir().expect("a temporary folder");
    write(client.path(), "store/alone.yaml", &application("{plugin: {name: alone}, path: .}"));
    write(client.path(), "repo/alone.yaml", MANIFEST);
    let output = finish(program(env!("CARGO_BIN_EXE_tiphys")).current_dir(client.path()).args([
        "render",
        "--store=store",
        &format!("--repo={REPOSITORY}=repo"),
        "--config=cacheDir=cache",
        "--config=tracking=none",
        &format!("--config=pluginSockets={}", root.path("sockets").display()),
    ]));
    assert_eq!((text(&output.stdout), text(&output.stderr)), (MANIFEST, ""));
    assert_eq!(output.status.code(), Some(0));
}

fn application(source: &str) -> String {
    let source = source.replacen('{', &format!("{{repoURL: {REPOSITORY}, "), 1);
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: alone}}\nspec: {{source: {source}, destination: {{}}}}\n"
    )
}

/// A directory with the program, a directory for temporary files, and the files of a test.
struct EmptyRoot(TempDir);

impl EmptyRoot {
    fn new() -> Self {
        let root = Self(tempfile::tempdir().expect("a temporary folder"));
        for folder in ["tmp", "sockets"] {
            fs::create_dir(root.path(folder)).expect("the folder can be made");
        }
        fs::copy(static_program(), root.path("tiphys")).expect("the program can be copied");
        make_executable(&root.path("tiphys"));
        root
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, content: &str) -> &Self {
        write(self.0.path(), path, content);
        self
    }

    /// A command that runs the program in this root, or `None` if neither root nor a user namespace may change the root.
    fn command(&self) -> Option<Command> {
        [&["chroot"][..], &["unshare", "--map-root-user", "chroot"]].into_iter().find_map(|changer| {
            let changed = || {
                let mut command = program(changer[0]);
                command.args(&changer[1..]).arg(self.0.path()).arg("/tiphys");
                command
            };
            finish(changed().arg("--help")).status.success().then(changed)
        })
    }
}

/// Asserts that the system forbids it and that the program itself works.
fn assert_that_no_root_can_be_changed() {
    let refused = finish(program("unshare").args(["--map-root-user", "chroot", "/", "true"]));
    assert!(!refused.status.success(), "{} does not start in an empty root", static_program().display());
}

/// A server that is killed at the end of the test.
struct Server(Child);

impl Server {
    fn start(command: &mut Command) -> Self {
        Self(command.spawn().expect("the server starts"))
    }

    fn wait_until_it_serves(&mut self) {
        let log = BufReader::new(self.0.stderr.take().expect("stderr"));
        let mut told = String::new();
        for line in log.lines() {
            let line = line.expect("the log is text");
            if line.contains("serving on") {
                return;
            }
            told.push_str(&line);
        }
        panic!("the server has ended: {told}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Returns the static program: the tested one in the gate, else one that `cargo xtask build --dev` builds.
fn static_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if cfg!(target_env = "musl") {
            return env!("CARGO_BIN_EXE_tiphys").into();
        }
        let triple = format!("{ARCH}-unknown-linux-musl");
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .parent()
            .expect("cargo gives tests a folder in its target folder");
        let mut cargo = program(env!("CARGO"));
        cargo.args([
            "build",
            "--quiet",
            "--locked",
            "--package",
            "tiphys",
            "--target",
            &triple,
            "--target-dir",
        ]);
        let output = finish(cargo.arg(target).current_dir(workspace_root()));
        let told = text(&output.stderr);
        assert!(
            output.status.success(),
            "run `cargo xtask build --dev`, which installs what is missing: {told}"
        );
        target.join(triple).join("debug/tiphys")
    })
}

#[expect(clippy::disallowed_methods, reason = "the test runs programs")]
fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn finish(command: &mut Command) -> Output {
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("programs print UTF-8")
}

fn write(folder: &Path, path: &str, content: &str) {
    let place = folder.join(path);
    fs::create_dir_all(place.parent().expect("a file has a folder")).expect("the folder can be made");
    fs::write(&place, content).expect("the file can be written");
}

/// Types of segments: loaded content, and the requested loader (`PT_LOAD` and `PT_INTERP` of elf(5)).
const LOADED: u32 = 1;
const LOADER: u32 = 3;

/// The types of all segments of a 64-bit little-endian executable. Its header locates their table (elf(5)).
fn segment_kinds(program: &[u8]) -> Vec<u32> {
    let number = |at: usize, bytes: usize| {
        program[at..at + bytes].iter().rev().fold(0_usize, |number, byte| number << 8 | usize::from(*byte))
    };
    assert_eq!(&program[..6], b"\x7fELF\x02\x01", "a 64-bit little-endian executable");
    let (table, size, count) = (number(0x20, 8), number(0x36, 2), number(0x38, 2));
    (0..count).map(|index| u32::try_from(number(table + index * size, 4)).expect("four bytes")).collect()
}
