//! `render --watch` with a real API server: from the change of an object to the start of the plugin, and the memory of watched objects.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use tiphys_testkit::wait::until;

use super::super::data::plugin_file;
use super::super::figures::{MS, Sheet, Target, float, milliseconds};
use super::super::sample::User;
use super::{APPLICATIONS, Bench, OBJECTS, REFERENCES, application, words};
use crate::plugin_server::process::proportional_bytes;
use crate::{Failure, files};

/// The namespace of the watched objects, in which no other case creates any.
const WATCHED: &str = "watched";

/// Objects of the command with which memory is compared. It has as many applications, references and connections.
const FEW_OBJECTS: usize = 20;

/// Targets: the start of a render after the change of an object, and the values of all applications, in milliseconds.
const START_MAX: Target = Target::AtMost(200.0);
const RESOLUTION_MAX: Target = Target::AtMost(1_000.0);

/// Each run of the plugin adds a line to a file.
const SPEC: &str = "  generate:\n    command: [sh, -c, 'echo started >> \"$STARTED\"; echo \"{apiVersion: v1, kind: ConfigMap, metadata: \
                    {name: a}}\"']\n";

/// Measures a command that watches.
pub(super) fn watch(bench: &Bench, sheet: &mut Sheet<'_>) -> Result<(), Failure> {
    let folder = bench.starter.folder();
    files::write(&folder.join("plugins/started/plugin.yaml"), plugin_file("started", SPEC))?;
    bench.server.create("/api/v1/namespaces", &json!({"metadata": {"name": WATCHED}}));
    let maps = format!("/api/v1/namespaces/{WATCHED}/configmaps");
    for index in 0..OBJECTS {
        bench.server.create(&maps, &object(index, 0));
    }
    let object_bytes = float(bench.server.read(&format!("{maps}/o0")).to_string().len() as u64);
    for name in ["watch", "watch-few"] {
        files::write(&folder.join(name).join("repo/a.yaml"), "a: b\n")?;
    }
    let all = bench.store("watch", &applications(OBJECTS))?;
    let few = bench.store("watch-few", &applications(FEW_OBJECTS))?;
    let mut changes = 0;
    let mut change = |index: usize| {
        changes += 1;
        let begin = Instant::now();
        bench.server.replace(&format!("{maps}/o{index}"), &object(index, changes));
        begin
    };
    // Figures of the run to warm up are dropped.
    let runs = bench.starter.repeated(|_| {
        let mut figures = Vec::new();
        let watching_few = Watching::start(bench, &few)?;
        watching_few.is_idle();
        let few_bytes = proportional_bytes(watching_few.child.id());
        drop(watching_few);

        let watching = Watching::start(bench, &all)?;
        let count = watching.started();
        // Two or three applications refer to this object, and all to the first one.
        let begin = change(1);
        watching.waits_for(count + 1);
        figures.push((
            "from the change of an object to the start of a render",
            MS,
            elapsed(begin),
            Some(START_MAX),
        ));
        watching.is_idle();
        let bytes = proportional_bytes(watching.child.id()).saturating_sub(few_bytes);
        let per_object = float(bytes) / float((OBJECTS - FEW_OBJECTS) as u64) - object_bytes;
        figures.push((
            "memory per watched object over its JSON",
            "bytes",
            per_object,
            Some(Target::AtMost(4096.0)),
        ));

        let requests = bench.server.recorded().len();
        let count = watching.started();
        let begin = change(0);
        watching.waits_for(count + 1);
        let what = "all values resolved again, to the start of the first render";
        figures.push((what, MS, elapsed(begin), Some(RESOLUTION_MAX)));
        watching.waits_for(count + APPLICATIONS);
        figures.push(("all 1,000 applications rendered again", MS, elapsed(begin), None));
        let requests = float((bench.server.recorded().len() - requests) as u64);
        figures.push((
            "requests of resolving and rendering all again",
            "",
            requests,
            Some(Target::AtMost(0.0)),
        ));
        Ok(figures)
    })?;
    for (what, unit, value, target) in runs.into_iter().flatten() {
        sheet.record(what, unit, value).target = target;
    }
    Ok(())
}

fn elapsed(begin: Instant) -> f64 {
    milliseconds(begin.elapsed())
}

/// An object with a value of 500 characters that no other change has.
fn object(index: usize, change: usize) -> serde_json::Value {
    json!({"metadata": {"name": format!("o{index}")}, "data": {"k": format!("{change:0>500}")}})
}

/// Returns the applications, all with the first object and with others in turn.
fn applications(objects: usize) -> String {
    let mut applications = String::new();
    for index in 0..APPLICATIONS {
        let mut references = String::new();
        for parameter in 0..REFERENCES {
            let object = match parameter {
                0 => 0,
                _ => 1 + (index * (REFERENCES - 1) + parameter - 1) % (objects - 1),
            };
            let _infallible = writeln!(
                references,
                "      - {{name: p{parameter}, resourceRef: {{kind: ConfigMap, namespace: {WATCHED}, name: o{object}, path: .data.k}}}}"
            );
        }
        let plugin = format!("    plugin:\n      name: started\n      dynamicParameters:\n{references}");
        applications += &application(&format!("a{index}"), ".", &plugin);
    }
    applications
}

/// A command that watches. It ends when this is dropped.
struct Watching {
    child: Child,
    started: PathBuf,
}

impl Watching {
    /// Starts the command and waits until it watches.
    fn start(bench: &Bench, store: &[String]) -> Result<Self, Failure> {
        let folder = bench.starter.folder();
        let (started, messages) = (folder.join("started"), folder.join("messages"));
        files::write(&started, "")?;
        let stderr = File::create(&messages).map_err(|error| Failure::at(&messages, error))?;
        let mut command = bench.starter.command(&bench.starter.program, User::Own);
        command.args(words(&["render", "--watch", "--output-dir=out", "--pass-env=STARTED"])).args(store);
        command.arg(bench.live()).env("STARTED", &started).stderr(stderr);
        let child = command.spawn().map_err(|error| Failure::at(&bench.starter.program, error))?;
        let mut watching = Self { child, started };
        let is_watching = until(|| {
            let text = fs::read_to_string(&messages).unwrap_or_default();
            let has_ended = watching.child.try_wait().is_ok_and(|status| status.is_some());
            if has_ended { Some(Err(text)) } else { text.contains("watching: ").then_some(Ok(())) }
        });
        is_watching.map_err(|text| Failure::new(format!("render --watch ended: {}", text.trim_end())))?;
        Ok(watching)
    }

    /// Returns the number of plugin runs that have started.
    fn started(&self) -> usize {
        fs::read_to_string(&self.started).unwrap_or_default().lines().count()
    }

    fn waits_for(&self, count: usize) {
        until(|| (self.started() >= count).then_some(()));
    }

    /// Waits until the command uses no processor time for a while.
    fn is_idle(&self) {
        const QUIET: Duration = Duration::from_millis(500);
        let stat = format!("/proc/{}/stat", self.child.id());
        let mut last = (String::new(), Instant::now());
        until(|| {
            let now = fs::read_to_string(&stat).unwrap_or_default();
            if now != last.0 {
                last = (now, Instant::now());
            }
            (last.1.elapsed() > QUIET).then_some(())
        });
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        if let Ok(id) = i32::try_from(self.child.id()) {
            // It may have ended.
            let _ended = kill(Pid::from_raw(id), Signal::SIGTERM);
        }
        drop(self.child.wait());
    }
}
