//! A running plugin server, started as the sidecar of Argo CD starts it, and its grpc-go client.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tiphys_testkit::wait::until;

use super::archive::Upload;

/// The name that makes our program a plugin server.
const PROGRAM_NAME: &str = "argocd-cmp-server";

/// The deadline that a server receives with a call.
const CALL_TIMEOUT: Duration = Duration::from_secs(90);

/// Linux counts processor time in these.
const TICKS_PER_SECOND: f64 = 100.0;

const KIBIBYTES_PER_MEBIBYTE: f64 = 1024.0;

/// A running server. It is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    client: Child,
    socket: PathBuf,
    /// Calls, one line each, and their outcomes.
    pipes: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
}

/// The resources of a server with its descendants.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    /// Also of those that ended and were waited for.
    pub(crate) processor_ms: f64,
    /// Shared memory counts once.
    pub(crate) resident_mebibytes: f64,
    /// The peak of the server's own process.
    pub(crate) peak_mebibytes: f64,
}

/// Copies a program into a directory under the name that makes it a plugin server.
pub(crate) fn named(program: &str, folder: &Path) -> PathBuf {
    let place = folder.join(PROGRAM_NAME);
    fs::create_dir_all(folder).expect("a directory");
    fs::copy(program, &place).expect("the program can be copied");
    place
}

impl Server {
    /// Starts a server with empty directories below `folder`, and waits until it answers. Its plugin prints one small object.
    pub(crate) fn start(program: &Path, client: &Path, folder: &Path) -> Self {
        fs::remove_dir_all(folder).ok();
        for name in ["config", "sockets", "work", "home"] {
            fs::create_dir_all(folder.join(name)).expect("a directory");
        }
        let printed = folder.join("printed.yaml");
        fs::write(&printed, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: measured\n")
            .expect("written");
        let plugin = json!({
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "ConfigManagementPlugin",
            "metadata": {"name": "measured"},
            "spec": {"generate": {"command": ["cat", printed]}},
        });
        fs::write(folder.join("config/plugin.yaml"), plugin.to_string()).expect("written");
        let process = Command::new(program)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder.join("home"))
            .env("ARGOCD_PLUGINSOCKFILEPATH", folder.join("sockets"))
            .env("ARGOCD_CMP_WORKDIR", folder.join("work"))
            .arg("--config-dir-path")
            .arg(folder.join("config"))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.join("log")).expect("a log"))
            .spawn()
            .expect("the server starts");
        let mut client = Command::new(client)
            .arg("--calls")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let pipes = client.stdin.take().zip(client.stdout.take().map(BufReader::new)).expect("pipes");
        let socket = folder.join("sockets/measured.sock");
        let server = Self { process, client, socket, pipes: Mutex::new(pipes) };
        until(|| {
            let has_answered =
                || server.call(&json!({"Method": "CheckPluginConfiguration"}), 1)[0]["Code"] == 0;
            (server.socket.exists() && has_answered()).then_some(())
        });
        server
    }

    /// Calls `GenerateManifest` this many times at once, and returns the milliseconds until all have ended.
    pub(crate) fn generate(&self, upload: &Upload, count: usize) -> f64 {
        let timeout = u64::try_from(CALL_TIMEOUT.as_nanos()).expect("a short time");
        let call = json!({
            "Method": "GenerateManifest",
            "Archive": upload.file,
            "Checksum": upload.checksum,
            "Env": ["ARGOCD_APP_NAME=bench"],
            "Timeout": timeout,
        });
        let begun = Instant::now();
        let outcomes = self.call(&call, count);
        let elapsed = begun.elapsed();
        for outcome in &outcomes {
            assert!(outcome["Code"] == 0 && outcome["Bytes"] != 0, "the server did not answer: {outcome}");
        }
        let ended = outcomes[0]["Ended"].as_u64().map_or(elapsed, Duration::from_nanos);
        (if count == 1 { ended } else { elapsed }).as_secs_f64() * 1e3
    }

    /// Reads the resources from `/proc`.
    pub(crate) fn look(&self) -> Look {
        let id = self.process.id();
        let mut look = look(id);
        look.peak_mebibytes = mebibytes(&format!("/proc/{id}/status"), "VmHWM:");
        look
    }

    fn call(&self, call: &Value, count: usize) -> Vec<Value> {
        let mut line = call.clone();
        line["Socket"] = json!(self.socket);
        line["Count"] = json!(count);
        let mut pipes = self.pipes.lock().expect("one call at a time");
        writeln!(pipes.0, "{line}").expect("the client reads");
        let mut answer = String::new();
        pipes.1.read_line(&mut answer).expect("the client answers");
        serde_json::from_str(&answer).expect("a list of outcomes")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for child in [&mut self.client, &mut self.process] {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// Sums the resources of a process and its descendants. One that has ended counts nothing.
fn look(id: u32) -> Look {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The name may contain spaces and parentheses. Fields 14 to 17 of proc_pid_stat(5) follow the eleven after it.
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ').skip(11).take(4);
    let ticks: f64 = fields.filter_map(|field| field.parse::<f64>().ok()).sum();
    let mut sum = Look {
        processor_ms: ticks * 1e3 / TICKS_PER_SECOND,
        resident_mebibytes: mebibytes(&format!("/proc/{id}/smaps_rollup"), "Pss:"),
        ..Look::default()
    };
    for task in fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|child| child.parse().ok()).map(look) {
            sum.processor_ms += child.processor_ms;
            sum.resident_mebibytes += child.resident_mebibytes;
        }
    }
    sum
}

/// The number of kibibytes on a line of a file in `/proc`, in MiB.
fn mebibytes(file: &str, name: &str) -> f64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    value.unwrap_or_default() / KIBIBYTES_PER_MEBIBYTE
}
