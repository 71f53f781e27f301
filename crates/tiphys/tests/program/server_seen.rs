//! The plugin server as it is seen from outside: what its log says of commands, what pages say of its metrics, what messages say of its
//! options.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tiphys_testkit::wait::until;

use crate::running::Running;
use crate::server_life::{event, get, render, server, serving, world};
use crate::world::{TIPHYS, URL, World};

/// What a plugin does that warns of something and prints an object.
const WARNS: &str = "echo 'hot today' >&2\necho '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}'";

/// A text that is in values only.
const CANARY: &str = "canary-7f3a";

/// A world whose application and plugin have values that nobody may read in a log.
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
fn the_log_tells_of_each_command_with_its_standard_error_and_of_no_value() {
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
fn people_are_not_told_of_each_command() {
    let world = world_with_values();
    let pipe = world.pipe("pipe");
    let repo = format!("--repo={URL}=repo");
    let mut command = world.command(TIPHYS);
    command.env("PIPE", world.path("pipe"));
    command.args(["render", "-vvv", "--pass-env=PIPE", "--store=store", "--plugins=plugins/holder", &repo]);
    let rendered = world.finish(command);
    pipe.ends();
    assert_eq!(rendered.code, 0, "{}", rendered.stderr);
    assert!(!rendered.stderr.contains("Plugin command "), "{}", rendered.stderr);
    assert!(!rendered.stderr.contains(CANARY), "{}", rendered.stderr);
}

/// A process of the same user could put lines into the output of other commands, and read the server's variables. The plugin's own launcher
/// stands between it and the server.
#[test]
fn a_plugin_looks_into_no_process_of_the_server() {
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
        let of_view = format!("--private-view={view}");
        // Root with the right to trace sees all, and one with the right to look at performance the variables.
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

/// A server whose log nobody can read serves all the same.
#[test]
fn without_standard_error_calls_are_answered() {
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
            assert!(lines.any(|line| line.contains("serving on")), "it serves");
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

/// Runs what follows as process 1, with a `/proc` of its own; its end is the end of all.
const AS_PROCESS_1: [&str; 5] = ["--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];

/// The process that has this command line, in the form of the kernel.
fn process_of(command_line: &str) -> Option<PathBuf> {
    let mut processes = fs::read_dir("/proc").expect("there is /proc").filter_map(Result::ok);
    let process = processes.find(|process| {
        fs::read(process.path().join("cmdline")).is_ok_and(|found| found == command_line.as_bytes())
    });
    process.map(|process| process.path())
}

#[test]
fn as_process_1_the_server_reaps_what_others_left_to_it() {
    let world = world("");
    let mut probe = world.command("unshare");
    probe.args(AS_PROCESS_1).arg("true");
    if world.finish(probe).code != 0 {
        // Only a machine on which nobody may make such a namespace has no answer.
        return;
    }
    let told = world.pipe("told");
    let mut mkfifo = world.command("mkfifo");
    mkfifo.arg("go");
    assert_eq!(world.finish(mkfifo).code, 0);
    // The server gets a child that it has not started.
    let orphan = format!("echo here > told; read -r go < {}", world.path("go").display());
    let script = format!("sh -c '{orphan}' & exec \"$0\" \"$@\"");
    let mut command = world.command("unshare");
    command.args(AS_PROCESS_1).args(["sh", "-c", &script, TIPHYS]).args(server(&world, &[]).get_args());
    let (_running, _log) = serving(command);
    assert_eq!(told.line(), "here");
    let process = process_of(&format!("sh\0-c\0{orphan}\0")).expect("it runs");
    fs::write(world.path("go"), "go\n").expect("it reads");
    // A zombie has its folder, too.
    until(|| (!process.exists()).then_some(()));
}

/// Words in backticks that are names of metrics.
fn metrics_of_the_page() -> BTreeSet<String> {
    let page = fs::read_to_string(workspace().join("docs/serving-a-plugin.md")).expect("the page is there");
    let words = page.split('`').skip(1).step_by(2).filter(|word| word.starts_with("tiphys_cmp_"));
    words.map(str::to_owned).collect()
}

#[test]
fn the_page_names_every_metric_and_no_other() {
    let world = world(WARNS);
    let pipe = world.pipe("pipe");
    let mut running = Running::of(server(&world, &["--metrics-address=0"]));
    let log = running.stderr();
    let address = log.rest_of_line_with("metrics are on http://");
    let address = address.split('/').next().expect("an address");
    log.line_with("serving on");
    // What is counted by a label comes with its first one.
    assert_eq!(render(&world).finish(&world).code, 0);
    pipe.ends();
    let (_, text) = get(address, "/metrics");
    running.signal(&world, "TERM");
    assert_eq!(running.finish(&world).code, 0);
    // In OpenMetrics, some samples are called otherwise than what they belong to.
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

/// All source files below a folder but those of tests.
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
    let page = fs::read_to_string(workspace().join("docs/serving-a-plugin.md")).expect("the page is there");
    let (_, table) = page.split_once("### Fixed bounds").expect("the page has the table");
    let (table, _) = table.split_once("\n## ").expect("a section follows");
    let columns = table.lines().filter_map(|line| line.strip_suffix(" |")?.rsplit_once(" | "));
    let words = columns.flat_map(|(_, last)| last.split('`').skip(1).step_by(2));
    words.map(str::to_owned).collect()
}

/// Bounds that nobody outside can set: constants of one module, in code that callers reach.
fn fixed_bounds() -> BTreeSet<String> {
    let crates = workspace().join("crates");
    let mut files = vec![crates.join("tiphys/src/telemetry/traces.rs")];
    sources(&crates.join("tiphys-cmp/src"), &mut files);
    sources(&crates.join("tiphys/src/commands/cmp_server"), &mut files);
    // Of the client, and the numbers of a standard.
    files.retain(|file| !file.ends_with("client.rs") && !file.ends_with("connection/authority.rs"));
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
fn the_page_names_every_bound_that_has_no_option() {
    let named = bounds_of_the_page();
    let found = fixed_bounds();
    assert!(found.len() > 10, "{found:?}");
    assert_eq!(found.difference(&named).collect::<Vec<_>>(), Vec::<&String>::new());
    // The others are windows and pauses, which are no bounds by name.
    let others: Vec<&String> = named.difference(&found).collect();
    let expected = [
        "BATCH_DELAY",
        "CONNECTION_WINDOW_BYTES",
        "PAUSE_MIN",
        "PING_INTERVAL",
        "PING_TIMEOUT",
        "STREAM_WINDOW_BYTES",
    ];
    assert_eq!(others, expected);
}

/// Options that a source file refers to: by name in a string, or by their limit, as in `Limit::JOBS`. Comments are left out. Arguments of
/// other programs are included.
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
        for limit in line.split("Limit::").skip(1) {
            let name: String = limit.chars().take_while(|&c| c.is_ascii_uppercase() || c == '_').collect();
            found.extend((!name.is_empty()).then(|| format!("--{}", name.to_lowercase().replace('_', "-"))));
        }
    }
    found
}

#[test]
fn every_option_that_a_message_of_the_server_names_is_in_its_help() {
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
    // Arguments of xargs that `plugin check` knows.
    for foreign in ["--null", "--delimiter"] {
        assert!(named.remove(foreign), "{foreign} need not be left out any more");
    }
    for known in ["--jobs", "--upload-stall-max", "--packed-bytes-max"] {
        assert!(named.contains(known), "{known} is in a message");
    }
    let missing: Vec<&String> = named.iter().filter(|name| !words.contains(name.as_str())).collect();
    assert_eq!(missing, Vec::<&String>::new());
}
