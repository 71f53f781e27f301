//! Beginning and end: signals, bounds, several at once, what is left behind.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags, mkfifoat, open};
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, test_kill_process,
};
use tiphys_testkit::chart_server::{ChartServer, Failure, Transport};
use tiphys_testkit::executable::make_executable;
use tiphys_testkit::wait::{PATIENCE, until};

use crate::remotes::{chart, with_dep};
use crate::world::{Answer, Helm, World};

/// A program in helm's place that says its number and never ends.
const ENDLESS: &str = "#!/bin/sh\n[ \"$1\" = version ] && { echo v4.3.1; exit; }\necho $$ > ../../../started\nwhile :; do read -r line < /dev/zero; done\n";

fn with_program(world: World, text: &str) -> World {
    let world = world.file("../program", text);
    let program = world.root().join("../program").display().to_string();
    make_executable(Path::new(&program));
    world.variable("TIPHYS_HELM", &program)
}

/// The program in helm's place, once it runs.
fn started(world: &World) -> OwnedFd {
    let told = world.root().join("../started");
    let number = until(|| std::fs::read_to_string(&told).ok()?.trim().parse().ok().and_then(Pid::from_raw));
    pidfd_open(number, PidfdFlags::empty()).expect("it runs")
}

/// Whether a process ends in time.
fn ends(process: &OwnedFd) -> bool {
    let timeout = Timespec::try_from(PATIENCE).expect("it is short");
    poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&timeout)).expect("it is ours") == 1
}

fn is_gone(pid: Pid) -> bool {
    test_kill_process(pid).is_err()
}

#[test]
fn helm_ends_and_nothing_is_left_when_the_plugin_is_asked_to_end() {
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

/// Ends a plugin that waits for something, and holds it against what is due. It must not wait any longer.
fn ends_by_sigterm(mut plugin: Child, world: &World) {
    kill_process(Pid::from_child(&plugin), Signal::TERM).expect("the process is ours");
    let asked = Instant::now();
    let status = until(|| plugin.try_wait().expect("the process is ours"));
    assert!(asked.elapsed() < Duration::from_secs(5), "Argo CD would have killed it: {:?}", asked.elapsed());
    assert_eq!(status.code(), Some(143));
    assert_eq!(world.left(), [""; 0]);
}

#[test]
fn a_plugin_whose_output_nobody_reads_ends_when_it_is_asked_to() {
    let world =
        World::chart("{{ range until 20000 }}\n---\nkind: X\nmetadata: {name: \"x{{ . }}\"}\n{{ end }}");
    let mut plugin = world.command(Helm::Four, "generate").stdout(Stdio::piped()).spawn().unwrap();
    let stdout = plugin.stdout.take().unwrap();
    // A pipe takes 64 KiB, and then its writer waits.
    until(|| (rustix::io::ioctl_fionread(&stdout).unwrap() >= 60_000).then_some(()));
    ends_by_sigterm(plugin, &world);
}

#[test]
fn a_plugin_that_waits_for_the_gate_ends_when_it_is_asked_to_and_says_so_when_it_takes_too_long() {
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
    let told = String::from_utf8(late.stderr).unwrap();
    assert_eq!(late.status.code(), Some(1));
    assert!(
        told.ends_with("/gate for 1s; end it, or let TIPHYS_HELM_TIMEOUT wait longer\n")
            && told.starts_with("another process has held the lock "),
        "{told}"
    );
}

#[test]
fn a_plugin_that_waits_for_a_file_ends_when_it_is_asked_to() {
    let world = World::probe();
    let path = world.temporary().join("../parameters");
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
    let mut command = world.command(Helm::Four, "generate");
    let plugin = command.env("ARGOCD_APP_PARAMETERS_FILE", &path).spawn().unwrap();
    // Such an end can be opened only when the plugin has the other.
    let _written_to_never = until(|| open(&path, OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty()).ok());
    ends_by_sigterm(plugin, &world);
}

#[test]
fn what_a_killed_plugin_left_is_removed_by_the_next() {
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

/// Argo CD kills the process group of the plugin, and helm leads one of its own.
#[test]
fn helm_ends_with_a_plugin_that_is_killed_while_a_repository_hangs() {
    for helm in Helm::ALL {
        let server = ChartServer::start(Transport::Plain);
        server.repository("/stable", &[chart("dep", "1.0.0")]);
        server.fail("/stable/dep-1.0.0.tgz", Some(Failure::HangInBody));
        let world = with_dep("1.0.0", &format!("{}/stable", server.url()));
        let mut plugin = world.command(helm, "generate").process_group(0).spawn().unwrap();
        server.wait_for("/stable/dep-1.0.0.tgz");
        let of_plugin = |number: &u32| *number != plugin.id();
        let running: Vec<OwnedFd> = world
            .processes()
            .into_iter()
            .filter(of_plugin)
            .map(|number| Pid::from_raw(i32::try_from(number).unwrap()).unwrap())
            .map(|number| pidfd_open(number, PidfdFlags::empty()).unwrap())
            .collect();
        assert_eq!(running.len(), 1, "helm");
        kill_process_group(Pid::from_child(&plugin), Signal::KILL).unwrap();
        plugin.wait().unwrap();
        assert!(running.iter().all(ends));
        assert_eq!(world.processes(), [0; 0]);
    }
}

/// A template that takes hours.
const HOURS: &str =
    "{{ range until 20000 }}{{ range until 20000 }}{{ range until 20000 }}{{ end }}{{ end }}{{ end }}";

/// Helm itself does not end at SIGTERM while it renders.
#[test]
fn a_template_that_never_ends_is_ended() {
    for helm in Helm::ALL {
        let world = World::chart(HOURS).variable("TIPHYS_HELM_TIMEOUT", "1");
        let answer = world.generate(helm);
        assert!(
            answer.error().ends_with("failed timeout after 1s; TIPHYS_HELM_TIMEOUT gives it more seconds"),
            "{}",
            answer.error()
        );
        assert_eq!(world.processes(), [0; 0]);
    }
}

#[test]
fn a_helm_that_renders_ends_when_the_plugin_is_asked_to_end() {
    for helm in Helm::ALL {
        let world = World::chart(HOURS);
        let mut plugin = world.command(helm, "generate").spawn().unwrap();
        // The plugin, and helm in the folder of the chart.
        until(|| (world.processes().len() == 2).then_some(()));
        kill_process(Pid::from_child(&plugin), Signal::TERM).unwrap();
        assert_eq!(plugin.wait().unwrap().code(), Some(143));
        until(|| world.processes().is_empty().then_some(()));
        assert_eq!(world.left(), [""; 0]);
    }
}

/// A program in helm's place that prints a gigabyte.
const GIGABYTE: &str =
    "#!/bin/sh\n[ \"$1\" = version ] && { echo v4.3.1; exit; }\nhead -c 1073741824 /dev/zero\n";

#[test]
fn a_gigabyte_of_output_is_left_at_the_bound() {
    let answer = with_program(World::probe(), GIGABYTE).generate(Helm::Four);
    assert!(
        answer.error().ends_with("printed more than 104857600 bytes; TIPHYS_HELM_OUTPUT_MAX allows more"),
        "{}",
        answer.error()
    );
}

/// What can be seen of a run from outside, in the order in which it happens.
const STEPS: [&str; 6] = ["home", "helm", "index", "chart", "kept", "kustomize"];

/// A run that does all that runs do, from an empty cache, and whether it has come to a step.
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
            // The folder in which it runs is made just before.
            "kustomize" => self.world.homes().iter().any(|home| home.join("kustomize").exists()),
            _ => panic!("{step} is no step"),
        }
    }
}

#[test]
fn a_run_that_is_ended_at_any_step_leaves_nothing_half_written_and_no_process() {
    for step in STEPS {
        let run = LongRun::new();
        let mut plugin = run.world.command(Helm::Four, "generate").stdout(Stdio::null()).spawn().unwrap();
        until(|| run.has_come_to(step).then_some(()));
        kill_process(Pid::from_child(&plugin), Signal::TERM).unwrap();
        let code = plugin.wait().unwrap().code();
        assert!(matches!(code, Some(143 | 0)), "{step}: {code:?}");
        until(|| run.world.processes().is_empty().then_some(()));
        assert_eq!(run.world.left(), [""; 0], "{step}");
        // What is kept is whole, or nothing is.
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
fn output_is_bounded() {
    let template = "{{ range until 2000 }}\n---\nkind: X\nmetadata: {name: \"x{{ . }}\"}\n{{ end }}";
    for helm in Helm::ALL {
        let world = World::chart(template).variable("TIPHYS_HELM_OUTPUT_MAX", "1000");
        let answer = world.generate(helm);
        assert!(
            answer.error().ends_with("printed more than 1000 bytes; TIPHYS_HELM_OUTPUT_MAX allows more"),
            "{}",
            answer.error()
        );
        assert_eq!(World::chart(template).generate(helm).names().len(), 2000);
    }
}

#[test]
fn settings_that_are_no_numbers_are_refused() {
    let answer = World::probe().variable("TIPHYS_HELM_TIMEOUT", "soon").generate(Helm::Four);
    assert_eq!(answer.error(), "TIPHYS_HELM_TIMEOUT is \"soon\"; a number of seconds above zero is expected");
}

#[test]
fn a_folder_for_temporary_files_that_cannot_be_used_is_named_with_what_to_do() {
    let answer = World::probe().variable("TMPDIR", "/proc/nowhere").generate(Helm::Four);
    let (beginning, end) =
        ("cannot make /proc/nowhere/tiphys-helm-", ": No such file or directory (os error 2)");
    assert!(answer.error().starts_with(beginning) && answer.error().ends_with(end), "{}", answer.error());
    assert!(answer.error().contains("; TMPDIR has to name a folder with room that can be written to: "));
}

#[test]
fn ten_at_once_do_not_disturb_one_another() {
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
fn a_reader_that_goes_away_is_no_failure() {
    let template = "{{ range until 20000 }}\n---\nkind: X\nmetadata: {name: \"x{{ . }}\"}\n{{ end }}";
    let world = World::chart(template);
    let mut command = world.command(Helm::Four, "generate");
    let mut plugin = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(plugin.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = plugin.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

/// What is in a repository, and when each was changed.
fn everything(world: &World) -> Vec<(PathBuf, SystemTime, Option<String>)> {
    let mut found = Vec::new();
    let mut waiting = vec![world.root()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).expect("the repository can be read").flatten() {
            let metadata = entry.metadata().expect("the repository can be read");
            if metadata.is_dir() {
                waiting.push(entry.path());
            }
            let text = std::fs::read_to_string(entry.path()).ok();
            found.push((entry.path(), metadata.modified().expect("the repository can be read"), text));
        }
    }
    found.sort();
    found
}

#[test]
fn the_repository_is_not_written_to() {
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

/// The one version that runs remember.
fn remembered(world: &World) -> PathBuf {
    let base = world.temporary().join(format!("tiphys-helm-{}", rustix::process::getuid().as_raw()));
    let mut files = std::fs::read_dir(base.join("versions")).expect("it can be read");
    let file = files.next().expect("one is remembered").expect("it can be read").path();
    assert!(files.next().is_none());
    file
}

#[test]
fn helm_is_asked_once_for_its_version_and_each_time_by_check_and_version() {
    let world = World::chart("kind: X\nmetadata: {name: x}\n");
    assert_eq!(world.generate(Helm::Four).names(), ["X/x"]);
    let file = remembered(&world);
    let told = std::fs::read_to_string(&file).unwrap();
    assert!(told.starts_with("v4."), "{told}");
    let days_ago = file.metadata().unwrap().modified().unwrap() - Duration::from_hours(24 * 29);
    File::options().write(true).open(&file).unwrap().set_modified(days_ago).unwrap();
    world.generate(Helm::Four);
    let used = file.metadata().unwrap().modified().unwrap();
    assert!(used > days_ago + Duration::from_hours(24 * 28), "the use is noted");
    std::fs::write(&file, "v9.9.9").unwrap();
    let error = world.generate(Helm::Four).error().to_owned();
    assert!(error.contains(" is helm v9.9.9, which is not supported"), "{error}");
    for command in ["check", "version"] {
        std::fs::write(&file, "v9.9.9").unwrap();
        let answer = world.run(Helm::Four, command);
        assert!(answer.code == Some(0) && answer.stdout.contains(&format!("helm: {told} ")), "{answer:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), told, "it is mended");
    }
}

#[test]
fn helm_version_is_remembered_by_runs_with_different_tmpdirs() {
    let world = World::chart("kind: X\nmetadata: {name: x}\n");
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
    let file = std::fs::read_dir(versions).unwrap().next().expect("one is remembered").unwrap().path();
    std::fs::write(&file, "v9.9.9").unwrap();
    let error = run_in(&second).error().to_owned();
    assert!(error.contains(" is helm v9.9.9, which is not supported"), "{error}");
}

#[test]
fn a_remembered_version_that_is_broken_or_no_file_is_asked_anew_and_mended() {
    let world = World::chart("kind: X\nmetadata: {name: x}\n");
    let good = world.generate(Helm::Four).stdout;
    let file = remembered(&world);
    let told = std::fs::read_to_string(&file).unwrap();
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
        assert_eq!(std::fs::read_to_string(&file).unwrap(), told);
    }
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "v3.21.0");
}

#[test]
fn what_helm_says_of_its_home_where_it_has_no_version_is_shown_without_the_folder() {
    let world = with_program(World::probe(), "#!/bin/sh\necho \"no ${HOME}x\" >&2\nexit 1\n");
    for command in ["check", "version"] {
        let answer = world.run(Helm::Four, command);
        let told = [answer.stdout, answer.stderr].concat();
        assert!(told.contains("failed exit status 1: no <helm-home>/x"), "{command}: {told}");
    }
}

#[test]
fn a_script_or_another_name_is_asked_for_its_version_each_time() {
    let counting =
        "#!/bin/sh\n[ \"$1\" = version ] && { echo x >> ../../../asked; echo v4.3; exit; }\necho 'kind: X'\n";
    let world = with_program(World::probe(), counting);
    for _ in 0..3 {
        assert_eq!(world.generate(Helm::Four).stdout, "kind: X\n");
    }
    assert_eq!(std::fs::read_to_string(world.root().join("../asked")).unwrap(), "x\nx\nx\n");

    // A manager of versions is a program of its own, to which a link called helm leads; a link to a helm3 is helm.
    for (file, link, is_remembered) in
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
        assert_eq!(bases.any(|base| base.join("versions").exists()), is_remembered, "{link} -> {file}");
    }
}
