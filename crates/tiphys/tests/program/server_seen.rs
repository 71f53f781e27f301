//! The plugin server's log of commands, and the pages about its metrics and options.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tiphys_testkit::wait::until;

use crate::running::Running;
use crate::server_life::{event, get, render, server, serving, world};
use crate::world::{TIPHYS, URL, World};

/// A plugin that prints a warning and an object.
const WARNS: &str = "echo 'hot today' >&2\necho '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}'";

/// A string that occurs in values only.
const CANARY: &str = "canary-7f3a";

/// A world whose application and plugin have secret values.
fn world_with_values() -> World {
    let world = world(WARNS);
    let application = world.read("store/web.yaml").replace(
        "{name: holder}",
        &format!(
            "{{name: holder, env: [{{name: TOKEN, value: {CANARY}}}], parameters: [{{name: password, string: {CANARY}}}]}}"
        ),
    );
    let plugin =
        world.read("plugins/holder/plugin.yaml").replace("spec: {", "spec: {init: {command: [\"true\"]}, ");
    world.write("store/web.yaml", &application).write("plugins/holder/plugin.yaml", &plugin);
    world
}

#[test]
fn log_has_each_command_with_standard_error_and_no_value() {
    let world = world_with_values();
    let pipe = world.pipe("pipe");
    let mut command = server(&world, &["--loglevel=trace"]);
    command.env("VAULT_TOKEN", CANARY);
    let (running, log) = serving(command);
    let rendered = render(&world).finish(&world);
    assert_eq!((rendered.code, rendered.stderr.as_str()), (0, ""));
    pipe.ends();
    running.signal(&world, "TERM");
    let lines = log.rest();
    assert_eq!(running.finish(&world).code, 0);
    let told: Vec<Value> = lines
        .iter()
        .map(|line| event(line))
        .filter(|event| event["msg"].as_str().is_some_and(|text| text.starts_with("Plugin command ")))
        .map(|event| json!([event["level"], event["msg"], event["command"], event["stderr"]]))
        .collect();
    let expected = [
        json!(["warning", "Plugin command returned zero output", "true", ""]),
        json!(["info", "Plugin command successful", "holder.sh", "hot today"]),
    ];
    assert_eq!(told, expected);
    let telling: Vec<&String> = lines.iter().filter(|line| line.contains(CANARY)).collect();
    assert_eq!(telling, Vec::<&String>::new());
}

#[test]
fn commands_of_plugins_are_not_logged_to_users() {
    let world = world_with_values();
    let pipe = world.pipe("pipe");
    let repo = format!("--repo={URL}=repo");
    let mut command = world.command(TIPHYS);
    command.env("PIPE", world.path("pipe"));
    command.args([
        "render",
        "-vvv",
        "--config=passEnv=PIPE",
        "--store=store",
        "--plugins=plugins/holder",
        &repo,
    ]);
    let rendered = world.finish(command);
    pipe.ends();
    assert_eq!(rendered.code, 0, "{}", rendered.stderr);
    assert!(!rendered.stderr.contains("Plugin command "), "{}", rendered.stderr);
    assert!(!rendered.stderr.contains(CANARY), "{}", rendered.stderr);
}

/// A process of the same user could write into the output of other commands and read the server's variables. The plugin's launcher runs it
/// in namespaces that prevent it.
#[test]
fn plugin_cannot_inspect_processes_of_the_server() {
    let looks = "launcher=$PPID
server=$(sed -n 's/^PPid:[^0-9]*//p' /proc/$launcher/status)
for process in $launcher $server; do
    for path in fd/1 exe cwd; do readlink /proc/$process/$path >/dev/null && seen=\"$seen $path\"; done
    [ -z \"$(head -c 1 /proc/$process/environ | tr -d '\\0')\" ] || seen=\"$seen environ\"
done
readlink /proc/$$/exe >/dev/null && own=yes
echo \"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {seen: '$seen', own: '$own'}}\"";
    for view in ["auto", "copy"] {
        let world = world(looks);
        let pipe = world.pipe("pipe");
        let of_view = format!("--config=privateView={view}");
        // Root with CAP_SYS_PTRACE can inspect everything, and CAP_PERFMON gives access to the variables.
        let script = "[ $(id -u) != 0 ] || set -- setpriv --bounding-set=-sys_ptrace,-sys_admin,-perfmon --inh-caps=-all \"$@\"; exec \"$@\"";
        let mut command = world.command("sh");
        command.args(["-c", script, "sh", TIPHYS]).args(server(&world, &[&of_view]).get_args());
        command.env("PIPE", world.path("pipe"));
        let (running, _log) = serving(command);
        let rendered = render(&world).finish(&world);
        assert_eq!((rendered.code, rendered.stderr.as_str()), (0, ""), "{view}");
        assert!(rendered.stdout.contains("\n  own: 'yes'\n  seen: ''\n"), "{view}: {}", rendered.stdout);
        pipe.ends();
        running.signal(&world, "TERM");
        assert_eq!(running.finish(&world).code, 0, "{view}");
    }
}

/// A server whose standard error is closed serves calls.
#[test]
fn calls_are_answered_without_standard_error() {
    for closed in ["at the start", "later"] {
        let world = world(WARNS);
        let pipe = world.pipe("pipe");
        let (reader, writer) = std::io::pipe().expect("there are pipes");
        let command = if closed == "later" {
            let mut command = server(&world, &["--loglevel=trace"]);
            command.stderr(writer);
            command
        } else {
            let mut command = world.command("sh");
            command.args(["-c", "exec \"$0\" \"$@\" 2>&-", TIPHYS]).args(server(&world, &[]).get_args());
            command.env("PIPE", world.path("pipe")).stderr(writer);
            command
        };
        let running = Running::of(command);
        if closed == "later" {
            let mut lines = BufReader::new(reader).lines().map_while(Result::ok);
            assert!(lines.any(|line| line.contains("serving on")), "no \"serving on\"");
        } else {
            world.serves("sockets/holder.sock");
        }
        let rendered = render(&world).finish(&world);
        assert_eq!((rendered.code, rendered.stderr.as_str()), (0, ""), "closed {closed}");
        assert!(rendered.stdout.contains("name: a\n"), "closed {closed}: {}", rendered.stdout);
        pipe.ends();
        running.signal(&world, "TERM");
        assert_eq!(running.finish(&world).code, 0, "closed {closed}");
    }
}

/// Runs the following command as process 1 of a PID namespace with its own `/proc`. All processes end with it.
const AS_PROCESS_1: [&str; 5] = ["--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];

/// Finds the process with this command line, in the format of `/proc`.
fn process_of(command_line: &str) -> Option<PathBuf> {
    let mut processes = fs::read_dir("/proc").expect("there is /proc").filter_map(Result::ok);
    let process = processes.find(|process| {
        fs::read(process.path().join("cmdline")).is_ok_and(|found| found == command_line.as_bytes())
    });
    process.map(|process| process.path())
}

#[test]
fn as_process_1_the_server_reaps_orphans() {
    let world = world("");
    let mut probe = world.command("unshare");
    probe.args(AS_PROCESS_1).arg("true");
    if world.finish(probe).code != 0 {
        // A system without user namespaces cannot run this.
        return;
    }
    let told = world.pipe("told");
    let mut mkfifo = world.command("mkfifo");
    mkfifo.arg("go");
    assert_eq!(world.finish(mkfifo).code, 0);
    // The orphan becomes a child of the server.
    let orphan = format!("echo here > told; read -r go < {}", world.path("go").display());
    let script = format!("sh -c '{orphan}' & exec \"$0\" \"$@\"");
    let mut command = world.command("unshare");
    command.args(AS_PROCESS_1).args(["sh", "-c", &script, TIPHYS]).args(server(&world, &[]).get_args());
    let (_running, _log) = serving(command);
    assert_eq!(told.line(), "here");
    let process = process_of(&format!("sh\0-c\0{orphan}\0")).expect("orphan");
    fs::write(world.path("go"), "go\n").expect("write");
    // A zombie has a directory in /proc.
    until(|| (!process.exists()).then_some(()));
}

/// Names of metrics in backticks on the page.
fn metrics_of_the_page() -> BTreeSet<String> {
    let page =
        fs::read_to_string(workspace().join("docs/serving-a-plugin.md")).expect("the page can be read");
    let words = page.split('`').skip(1).step_by(2).filter(|word| word.starts_with("tiphys_cmp_"));
    words.map(str::to_owned).collect()
}

#[test]
fn page_names_exactly_the_existing_metrics() {
    let world = world(WARNS);
    let pipe = world.pipe("pipe");
    let mut running = Running::of(server(&world, &["--metrics-address=0"]));
    let log = running.stderr();
    let address = log.rest_of_line_with("metrics are on http://");
    let address = address.split('/').next().expect("an address");
    log.line_with("serving on");
    // A metric with a label appears with its first value.
    assert_eq!(render(&world).finish(&world).code, 0);
    pipe.ends();
    let (_, text) = get(address, "/metrics");
    running.signal(&world, "TERM");
    assert_eq!(running.finish(&world).code, 0);
    // In OpenMetrics, some samples have a suffix.
    let named = |(name, kind): (&str, &str)| match kind {
        "counter" => format!("{name}_total"),
        "info" => format!("{name}_info"),
        _ => name.to_owned(),
    };
    let families = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let scraped: BTreeSet<String> = families.map(named).collect();
    assert_eq!(metrics_of_the_page(), scraped);
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Collects all source files below a directory except tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        if path.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Names in the last column of the page's table of fixed bounds.
fn bounds_of_the_page() -> BTreeSet<String> {
    let page =
        fs::read_to_string(workspace().join("docs/serving-a-plugin.md")).expect("the page can be read");
    let (_, table) = page.split_once("### Fixed bounds").expect("the page has the table");
    let (table, _) = table.split_once("\n## ").expect("a section follows");
    let columns = table.lines().filter_map(|line| line.strip_suffix(" |")?.rsplit_once(" | "));
    let words = columns.flat_map(|(_, last)| last.split('`').skip(1).step_by(2));
    words.map(str::to_owned).collect()
}

/// Limits without an option: constants of one module, in code that callers reach.
fn fixed_bounds() -> BTreeSet<String> {
    let crates = workspace().join("crates");
    let mut files = Vec::new();
    sources(&crates.join("tiphys-cmp/src"), &mut files);
    sources(&crates.join("tiphys/src/commands/cmp_server"), &mut files);
    // Limits of the client, and values of a standard.
    files.retain(|file| {
        !["client.rs", "archives.rs", "connection/authority.rs"].iter().any(|end| file.ends_with(end))
    });
    let mut found = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("the file can be read");
        let constants = text.lines().filter_map(|line| {
            let line = line.strip_prefix("pub(super) ").unwrap_or(line);
            line.strip_prefix("const ")?.split_once(':')
        });
        found.extend(constants.map(|(name, _)| name.to_owned()).filter(|name| name.ends_with("_MAX")));
    }
    found
}

#[test]
fn page_names_every_limit_without_an_option() {
    let named = bounds_of_the_page();
    let found = fixed_bounds();
    assert!(found.len() > 10, "{found:?}");
    assert_eq!(found.difference(&named).collect::<Vec<_>>(), Vec::<&String>::new());
    // The page also lists windows and pauses.
    let others: Vec<&String> = named.difference(&found).collect();
    let expected =
        ["CONNECTION_WINDOW_BYTES", "PAUSE_MIN", "PING_INTERVAL", "PING_TIMEOUT", "STREAM_WINDOW_BYTES"];
    assert_eq!(others, expected);
}

/// Options that a source file names in a string. Comments are skipped. Options of other programs are included.
fn options_in_texts(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in source.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for (index, _) in line.match_indices("--") {
            let name: String =
                line[index + 2..].chars().take_while(|&c| c.is_ascii_lowercase() || c == '-').collect();
            if name.starts_with(|first: char| first.is_ascii_lowercase()) {
                found.insert(format!("--{name}"));
            }
        }
    }
    found
}

#[test]
fn options_in_server_messages_are_in_its_help() {
    let help = World::empty().run(&["cmp-server", "--help"]).stdout;
    let words: BTreeSet<&str> = help.split(|c: char| !(c.is_ascii_lowercase() || c == '-')).collect();
    let mut named = BTreeSet::new();
    for name in ["tiphys-cmp", "tiphys-tree", "tiphys-plugin", "tiphys-process"] {
        let mut files = Vec::new();
        sources(&workspace().join("crates").join(name).join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).expect("the file can be read");
            named.extend(options_in_texts(&text));
        }
    }
    // Options of xargs, which `plugin check` knows.
    for foreign in ["--null", "--delimiter"] {
        assert!(named.remove(foreign), "{foreign} does not occur; remove it from the list");
    }
    let missing: Vec<&String> = named.iter().filter(|name| !words.contains(name.as_str())).collect();
    assert_eq!(missing, Vec::<&String>::new());
}
