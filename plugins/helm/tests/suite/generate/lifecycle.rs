//! Lifecycle of runs: signals, limits, concurrency, clean-up.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags, mkfifoat, open};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, test_kill_process};
use tiphys_testkit::chart_server::{ChartServer, Transport};
use tiphys_testkit::executable::make_executable;
use tiphys_testkit::wait::{PATIENCE, until};

use crate::generate::remotes::{chart, with_dep};
use crate::generate::world::{Answer, Helm, World};

/// A fake helm that writes its process id and never ends.
const ENDLESS: &str = "#!/bin/sh\n[ \"$1\" = version ] && { echo v4.3.1; exit; }\necho $$ > ../../../started\nwhile :; do read -r line < /dev/zero; done\n";

fn with_program(world: World, text: &str) -> World {
    let world = world.file("../program", text);
    let program = world.root().join("../program").display().to_string();
    make_executable(Path::new(&program));
    world.variable("TIPHYS_HELM", &program)
}

/// The process of the fake helm, once it runs.
fn started(world: &World) -> OwnedFd {
    let file = world.root().join("../started");
    let number = until(|| std::fs::read_to_string(&file).ok()?.trim().parse().ok().and_then(Pid::from_raw));
    pidfd_open(number, PidfdFlags::empty()).expect("the process runs")
}

/// Whether a process ends before the deadline.
fn ends(process: &OwnedFd) -> bool {
    let timeout = Timespec::try_from(PATIENCE).expect("the timeout fits");
    poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&timeout)).expect("the process is ours") == 1
}

fn is_gone(pid: Pid) -> bool {
    test_kill_process(pid).is_err()
}

#[test]
fn sigterm_ends_helm_and_leaves_nothing() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let world = with_program(World::probe(), ENDLESS);
        let mut plugin = world.command(Helm::Four, "generate").spawn().unwrap();
        let started = world.root().join("../started");
        let helm =
            until(|| std::fs::read_to_string(&started).ok()?.trim().parse().ok().and_then(Pid::from_raw));
        kill_process(Pid::from_child(&plugin), signal).unwrap();
        let status = plugin.wait().unwrap();
        assert_eq!(status.code(), Some(143));
        until(|| is_gone(helm).then_some(()));
        assert_eq!(world.left(), [""; 0]);
    }
}

/// Sends SIGTERM to a waiting plugin and checks its end. It must not wait any longer.
fn ends_by_sigterm(mut plugin: Child, world: &World) {
    kill_process(Pid::from_child(&plugin), Signal::TERM).expect("the process is ours");
    let asked = Instant::now();
    let status = until(|| plugin.try_wait().expect("the process is ours"));
    assert!(asked.elapsed() < Duration::from_secs(5), "Argo CD would have killed it: {:?}", asked.elapsed());
    assert_eq!(status.code(), Some(143));
    assert_eq!(world.left(), [""; 0]);
}

#[test]
fn sigterm_ends_a_plugin_with_a_blocked_pipe() {
    let world =
        World::chart("{{ range until 20000 }}\n---\nkind: X\nmetadata: {name: \"x{{ . }}\"}\n{{ end }}");
    let mut plugin = world.command(Helm::Four, "generate").stdout(Stdio::piped()).spawn().unwrap();
    let stdout = plugin.stdout.take().unwrap();
    // A pipe holds 64 KiB; then its writer blocks.
    until(|| (rustix::io::ioctl_fionread(&stdout).unwrap() >= 60_000).then_some(()));
    ends_by_sigterm(plugin, &world);
}

#[test]
fn wait_for_the_gate_ends_by_sigterm_or_timeout() {
    let world = World::probe();
    world.generate(Helm::Four);
    let folder = std::fs::read_dir(world.temporary()).unwrap().next().unwrap().unwrap().path();
    let gate = File::options().write(true).open(folder.join("gate")).unwrap();
    gate.lock().unwrap();
    let plugin = world.command(Helm::Four, "generate").spawn().unwrap();
    let open = format!("/proc/{}/fd", plugin.id());
    let is_gate = |file: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_link(file.ok()?.path()).ok().filter(|path| path.ends_with("gate"))
    };
    until(|| std::fs::read_dir(&open).ok()?.find_map(is_gate));
    ends_by_sigterm(plugin, &world);

    let late = world.command(Helm::Four, "generate").env("TIPHYS_HELM_TIMEOUT", "1").output().unwrap();
    let error = String::from_utf8(late.stderr).unwrap();
    assert_eq!(late.status.code(), Some(1));
    assert!(
        error.ends_with("/gate for 1s; end it, or increase TIPHYS_HELM_TIMEOUT\n")
            && error.starts_with("another process has held the lock "),
        "{error}"
    );
}

#[test]
fn sigterm_ends_a_plugin_that_reads_a_pipe() {
    let world = World::probe();
    let path = world.temporary().join("../parameters");
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
    let mut command = world.command(Helm::Four, "generate");
    let plugin = command.env("ARGOCD_APP_PARAMETERS_FILE", &path).spawn().unwrap();
    // The write end opens only after the plugin has opened the other.
    let _written_to_never = until(|| open(&path, OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty()).ok());
    ends_by_sigterm(plugin, &world);
}

#[test]
fn remains_of_a_killed_plugin_are_removed_by_the_next() {
    let world = with_program(World::probe(), ENDLESS).text("values", "secret: x\n");
    let mut plugin = world.command(Helm::Four, "generate").spawn().unwrap();
    let helm = started(&world);
    plugin.kill().unwrap();
    plugin.wait().unwrap();
    assert!(ends(&helm));
    assert_eq!(world.left().len(), 1, "a home");

    let next = world.command(Helm::Four, "generate").env("TIPHYS_HELM", "helm").output().unwrap();

    assert!(next.status.success(), "{next:?}");
    assert_eq!(world.left(), [""; 0]);
}

/// A template that takes hours.
const HOURS: &str =
    "{{ range until 20000 }}{{ range until 20000 }}{{ range until 20000 }}{{ end }}{{ end }}{{ end }}";

/// Helm itself ignores SIGTERM while it renders.
#[test]
fn endless_template_is_ended_at_the_timeout() {
    for helm in Helm::ALL {
        let world = World::chart(HOURS).by_program().variable("TIPHYS_HELM_TIMEOUT", "1");
        let answer = world.generate(helm);
        assert!(
            answer.error().ends_with("failed timeout after 1s; increase TIPHYS_HELM_TIMEOUT"),
            "{}",
            answer.error()
        );
        assert_eq!(world.processes(), [0; 0]);
    }
}

#[test]
fn sigterm_ends_a_helm_that_renders() {
    for helm in Helm::ALL {
        let world = World::chart(HOURS);
        let mut plugin = world.command(helm, "generate").spawn().unwrap();
        // The plugin, and helm in the directory of the chart.
        until(|| (world.processes().len() == 2).then_some(()));
        kill_process(Pid::from_child(&plugin), Signal::TERM).unwrap();
        assert_eq!(plugin.wait().unwrap().code(), Some(143));
        until(|| world.processes().is_empty().then_some(()));
        assert_eq!(world.left(), [""; 0]);
    }
}

/// A fake helm that prints a gigabyte.
const GIGABYTE: &str =
    "#!/bin/sh\n[ \"$1\" = version ] && { echo v4.3.1; exit; }\nhead -c 1073741824 /dev/zero\n";

#[test]
fn gigabyte_of_output_stops_at_the_limit() {
    let answer = with_program(World::probe(), GIGABYTE).generate(Helm::Four);
    assert!(
        answer.error().ends_with("printed more than 104857600 bytes; increase TIPHYS_HELM_OUTPUT_MAX"),
        "{}",
        answer.error()
    );
}

/// Observable steps of a run, in order.
const STEPS: [&str; 6] = ["home", "helm", "index", "chart", "kept", "kustomize"];

/// A run with all features, from an empty cache.
struct LongRun {
    server: ChartServer,
    world: World,
}

impl LongRun {
    fn new() -> Self {
        let server = ChartServer::start(Transport::Plain);
        server.repository("/stable", &[chart("dep", "1.0.0")]);
        let world = with_dep("1.0.0", &format!("{}/stable", server.url()))
            .cached()
            .text("values", "secret: x\n")
            .text("kustomize-dir", "/overlay")
            .file("overlay/kustomization.yaml", "namePrefix: x-\n");
        Self { server, world }
    }

    fn has_come_to(&self, step: &str) -> bool {
        match step {
            "home" => !self.world.left().is_empty(),
            "helm" => self.world.processes().len() > 1,
            "index" => self.server.count("/stable/index.yaml") > 0,
            "chart" => self.server.count("/stable/dep-1.0.0.tgz") > 0,
            "kept" => !self.world.kept().is_empty(),
            // Its directory is created just before it starts.
            "kustomize" => self.world.homes().iter().any(|home| home.join("kustomize").exists()),
            _ => panic!("unknown step {step}"),
        }
    }
}

#[test]
fn run_ended_at_any_step_leaves_no_files_or_processes() {
    for step in STEPS {
        let run = LongRun::new();
        let mut plugin = run.world.command(Helm::Four, "generate").stdout(Stdio::null()).spawn().unwrap();
        until(|| run.has_come_to(step).then_some(()));
        kill_process(Pid::from_child(&plugin), Signal::TERM).unwrap();
        let code = plugin.wait().unwrap().code();
        assert!(matches!(code, Some(143 | 0)), "{step}: {code:?}");
        until(|| run.world.processes().is_empty().then_some(()));
        assert_eq!(run.world.left(), [""; 0], "{step}");
        // The entry is complete or missing.
        run.server.forget();
        assert_eq!(
            run.world.generate(Helm::Four).names(),
            ["ConfigMap/x-app-0.1.0", "ConfigMap/x-dep-1.0.0"],
            "{step}"
        );
        let asked = run.server.count("/stable/dep-1.0.0.tgz");
        assert!(asked <= 1, "{step}: {asked}");
        run.server.forget();
        assert!(run.world.generate(Helm::Four).code == Some(0) && run.server.requests().is_empty(), "{step}");
    }
}

#[test]
fn output_is_limited() {
    let template = "{{ range until 2000 }}\n---\nkind: X\nmetadata: {name: \"x{{ . }}\"}\n{{ end }}";
    for helm in Helm::ALL {
        let world = World::chart(template).by_program().variable("TIPHYS_HELM_OUTPUT_MAX", "1000");
        let answer = world.generate(helm);
        assert!(
            answer.error().ends_with("printed more than 1000 bytes; increase TIPHYS_HELM_OUTPUT_MAX"),
            "{}",
            answer.error()
        );
        assert_eq!(World::chart(template).generate(helm).names().len(), 2000);
    }
}

#[test]
fn setting_must_be_a_number() {
    let answer = World::probe().variable("TIPHYS_HELM_TIMEOUT", "soon").generate(Helm::Four);
    assert_eq!(answer.error(), "TIPHYS_HELM_TIMEOUT is \"soon\"; expected a number of seconds above zero");
}

#[test]
fn unusable_tmpdir_is_reported_with_a_remedy() {
    let answer = World::probe().variable("TMPDIR", "/proc/nowhere").generate(Helm::Four);
    let (beginning, end) =
        ("cannot create /proc/nowhere/tiphys-helm-", ": No such file or directory (os error 2)");
    assert!(answer.error().starts_with(beginning) && answer.error().ends_with(end), "{}", answer.error());
    assert!(answer.error().contains("; set TMPDIR to a writable directory with free space: "));
}

#[test]
fn ten_concurrent_runs_are_independent() {
    let world = World::probe().text("values", "from: inline\n").text("set.v", "1");
    let expected = world.generate(Helm::Four).stdout;
    let running: Vec<_> = (0..10)
        .map(|_| {
            world
                .command(Helm::Four, "generate")
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for plugin in running {
        let answer = Answer::of(plugin.wait_with_output().unwrap(), &world.root());
        assert_eq!((answer.stdout, answer.stderr), (expected.clone(), String::new()));
    }
    assert_eq!(world.left(), [""; 0]);
}

#[test]
fn closed_output_pipe_is_not_a_failure() {
    let template = "{{ range until 20000 }}\n---\nkind: X\nmetadata: {name: \"x{{ . }}\"}\n{{ end }}";
    let world = World::chart(template);
    let mut command = world.command(Helm::Four, "generate");
    let mut plugin = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(plugin.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = plugin.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

/// All files of a repository, with their mtimes.
fn everything(world: &World) -> Vec<(PathBuf, SystemTime, Option<String>)> {
    let mut found = Vec::new();
    let mut waiting = vec![world.root()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).expect("the repository is readable").flatten() {
            let metadata = entry.metadata().expect("the repository is readable");
            if metadata.is_dir() {
                waiting.push(entry.path());
            }
            let text = std::fs::read_to_string(entry.path()).ok();
            found.push((entry.path(), metadata.modified().expect("the repository is readable"), text));
        }
    }
    found.sort();
    found
}

#[test]
fn repository_is_not_written_to() {
    let worlds = || {
        let plain = World::probe().text("values", "a: 1\n");
        let kustomize = World::probe()
            .file("shared/kustomization.yaml", "namePrefix: a-\n")
            .file("overlays/prod/helm-output.yaml", "# stands for what helm prints\n")
            .link("overlays/prod/kustomization.yaml", "../../shared/kustomization.yaml")
            .text("kustomize-dir", "/overlays/prod");
        let dependencies = World::probe()
            .file(
                "charts/probe/Chart.yaml",
                "apiVersion: v2\nname: probe\nversion: 0.1.0\ndependencies:\n- {name: lib, version: 0.1.0, repository: 'file://../lib'}\n",
            )
            .file("shared/lib/Chart.yaml", "apiVersion: v2\nname: lib\nversion: 0.1.0\n")
            .file("shared/charts/.keep", "what is not in git\n")
            .link("charts/lib", "../shared/lib")
            .link("charts/probe/charts", "../../shared/charts");
        [(plain, "seen"), (kustomize, "a-seen"), (dependencies, "seen")]
    };
    for helm in Helm::ALL {
        for (world, name) in worlds() {
            let before = everything(&world);
            let answer = world.generate(helm);
            assert_eq!(answer.names(), [format!("ConfigMap/{name}")]);
            assert_eq!(everything(&world), before);
        }
    }
}

/// The file of the only recorded version.
fn recorded(world: &World) -> PathBuf {
    let base = world.temporary().join(format!("tiphys-helm-{}", rustix::process::getuid().as_raw()));
    let mut files = std::fs::read_dir(base.join("versions")).expect("readable");
    let file = files.next().expect("a version is recorded").expect("readable").path();
    assert!(files.next().is_none());
    file
}

#[test]
fn version_of_helm_is_recorded_except_for_check_and_version() {
    let world = World::chart("kind: X\nmetadata: {name: x}\n").by_program();
    assert_eq!(world.generate(Helm::Four).names(), ["X/x"]);
    let file = recorded(&world);
    let version = std::fs::read_to_string(&file).unwrap();
    assert!(version.starts_with("v4."), "{version}");
    let days_ago = file.metadata().unwrap().modified().unwrap() - Duration::from_hours(24 * 29);
    File::options().write(true).open(&file).unwrap().set_modified(days_ago).unwrap();
    world.generate(Helm::Four);
    let used = file.metadata().unwrap().modified().unwrap();
    assert!(used > days_ago + Duration::from_hours(24 * 28), "the use updates the mtime");
    std::fs::write(&file, "v9.9.9").unwrap();
    let error = world.generate(Helm::Four).error().to_owned();
    assert!(error.contains(" is helm v9.9.9, which is not supported"), "{error}");
    for command in ["check", "version"] {
        std::fs::write(&file, "v9.9.9").unwrap();
        let answer = world.run(Helm::Four, command);
        assert!(answer.code == Some(0) && answer.stdout.contains(&format!("helm: {version} ")), "{answer:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), version, "the record is corrected");
    }
}

#[test]
fn helm_version_is_shared_by_runs_with_different_tmpdirs() {
    let world = World::chart("kind: X\nmetadata: {name: x}\n").by_program();
    let folder = |name: &str| {
        let folder = world.temporary().join("..").canonicalize().unwrap().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder.display().to_string()
    };
    let (caches, first, second) = (folder("caches"), folder("first"), folder("second"));
    let run_in = |temporary: &str| {
        let mut command = world.command(Helm::Four, "generate");
        command.env("XDG_CACHE_HOME", &caches).env("TMPDIR", temporary);
        world.answer(command)
    };
    assert_eq!(run_in(&first).names(), ["X/x"]);
    let versions = Path::new(&caches)
        .join(format!("tiphys-helm/tiphys-helm-{}/versions", rustix::process::getuid().as_raw()));
    let file = std::fs::read_dir(versions).unwrap().next().expect("a version is recorded").unwrap().path();
    std::fs::write(&file, "v9.9.9").unwrap();
    let error = run_in(&second).error().to_owned();
    assert!(error.contains(" is helm v9.9.9, which is not supported"), "{error}");
}

#[test]
fn invalid_recorded_version_is_replaced() {
    let world = World::chart("kind: X\nmetadata: {name: x}\n");
    let good = world.generate(Helm::Four).stdout;
    let file = recorded(&world);
    let version = std::fs::read_to_string(&file).unwrap();
    let elsewhere = world.temporary().join("../elsewhere");
    std::fs::write(&elsewhere, "v3.21.0").unwrap();
    let long = format!("v4.{}", "1".repeat(1000));
    let text = |text: &str| std::fs::write(&file, text).unwrap();
    let cases: [&dyn Fn(); 6] = [
        &|| text(""),
        &|| text("4"),
        &|| text(&long),
        &|| mkfifoat(CWD, &file, Mode::RUSR | Mode::WUSR).unwrap(),
        &|| symlink(&elsewhere, &file).unwrap(),
        &|| std::fs::create_dir_all(file.join("folder")).unwrap(),
    ];
    for make in cases {
        std::fs::remove_file(&file).unwrap();
        make();
        assert_eq!(world.generate(Helm::Four).stdout, good);
        assert!(std::fs::symlink_metadata(&file).unwrap().is_file());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), version);
    }
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "v3.21.0");
}

#[test]
fn home_is_redacted_in_errors_of_helm_version() {
    let world = with_program(World::probe(), "#!/bin/sh\necho \"no ${HOME}x\" >&2\nexit 1\n");
    for command in ["check", "version"] {
        let answer = world.run(Helm::Four, command);
        let output = [answer.stdout, answer.stderr].concat();
        assert!(output.contains("failed exit status 1: no <helm-home>/x"), "{command}: {output}");
    }
}

#[test]
fn version_of_a_script_or_another_name_is_not_recorded() {
    let counting =
        "#!/bin/sh\n[ \"$1\" = version ] && { echo x >> ../../../asked; echo v4.3; exit; }\necho 'kind: X'\n";
    let world = with_program(World::probe(), counting);
    for _ in 0..3 {
        assert_eq!(world.generate(Helm::Four).stdout, "kind: X\n");
    }
    assert_eq!(std::fs::read_to_string(world.root().join("../asked")).unwrap(), "x\nx\nx\n");

    // A version manager is a program to which a link with the name helm leads; a link to helm3 is helm.
    for (file, link, is_recorded) in
        [("manager", "helm", false), ("helm3", "helm", true), ("helm", "shim", true)]
    {
        let world = World::chart("kind: X\nmetadata: {name: x}\n");
        let folder = world.root().join("..");
        std::fs::copy(Helm::Four.program(), folder.join(file)).unwrap();
        make_executable(&folder.join(file));
        symlink(file, folder.join(link)).unwrap();
        let world = world.variable("TIPHYS_HELM", folder.join(link).to_str().unwrap());
        assert_eq!(world.generate(Helm::Four).names(), ["X/x"]);
        let mut bases = world.temporary().read_dir().unwrap().map(|base| base.unwrap().path());
        assert_eq!(bases.any(|base| base.join("versions").exists()), is_recorded, "{link} -> {file}");
    }
}
