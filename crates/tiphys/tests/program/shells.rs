//! Completion in real shells on a terminal: typed keys including Tabs, and the resulting words.
//!
//! `script` provides the terminal. A shell that is not installed is reported on standard error.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use crate::running::Running;
use crate::world::{URL, World};

/// A shell, its command, and its first input.
struct Shell {
    name: &'static str,
    command: &'static str,
    setup: &'static str,
    /// Additional cases.
    more: &'static [Case],
}

const BASH: Shell = Shell {
    name: "bash",
    command: "bash --norc --noprofile -i",
    setup: "PS1=; bind 'set enable-bracketed-paste off'; source ./completion.bash",
    // A typed dollar sign followed by a parenthesis of a name would be a command substitution.
    more: &[("render \"$\t\"", &["render", "$"])],
};

const ZSH: Shell = Shell {
    name: "zsh",
    command: "zsh -f -i",
    setup: "PS1=; autoload -Uz compinit; compinit -D -u; bindkey -e; source ./completion.zsh",
    more: &[("render \"$\t\"", &["render", "$"])],
};

const FISH: Shell = Shell {
    name: "fish",
    command: "fish --no-config -i",
    setup: "function fish_prompt; end; source ./completion.fish",
    more: &[],
};

const PLUGIN: &str = r#"apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata:
  name: shop
spec:
  parameters:
    static:
    - name: title
    - name: "a:b c"
    - name: "$(touch ran-name)"
      string: "`touch ran-value`"
    - name: size
      choices: [small, very large, "it's"]
    - name: debug
      itemType: boolean
  generate:
    command: ["true"]
"#;

/// The typed keys, and the arguments that the command gets.
type Case = (&'static str, &'static [&'static str]);

/// Cases of every shell.
const CASES: [Case; 20] = [
    ("par\t", &["params"]),
    ("params ge\tx", &["params", "get", "x"]),
    ("render --config trac\t", &["render", "--config", "tracking="]),
    ("render --config=tracking=annotation+\t", &["render", "--config=tracking=annotation+label"]),
    ("render ap\t", &["render", "api"]),
    ("render ap\tw\t", &["render", "api", "web"]),
    ("render --store=sto\t", &["render", "--store=store/"]),
    ("render --store ot\tot\t", &["render", "--store", "other store/other-app.yaml"]),
    ("render --store other\\ store ot\t", &["render", "--store", "other store", "other"]),
    ("render -l te\t", &["render", "-l", "team=blue"]),
    ("render \\$\t", &["render", "$(touch ran-app)"]),
    ("render '$(\t", &["render", "$(touch ran-app)"]),
    ("params get web ti\t", &["params", "get", "web", "title"]),
    ("params get web a\t", &["params", "get", "web", "a:b c"]),
    ("params get web a:\t", &["params", "get", "web", "a:b c"]),
    ("params get web 'a:\t", &["params", "get", "web", "a:b c"]),
    (
        "plugin generate plugins/shop --param siz\tve\t",
        &["plugin", "generate", "plugins/shop", "--param", "size=very large"],
    ),
    (
        "plugin generate plugins/shop --param size=it\t",
        &["plugin", "generate", "plugins/shop", "--param", "size=it's"],
    ),
    (
        "plugin generate plugins/shop --param debug=t\t",
        &["plugin", "generate", "plugins/shop", "--param", "debug=true"],
    ),
    (
        "plugin generate plugins/shop --param \\$\t\t",
        &["plugin", "generate", "plugins/shop", "--param", "$(touch ran-name)=`touch ran-value`"],
    ),
];

fn application(name: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: '{name}', labels: {{team: blue}}}}\n\
         spec: {{source: {{repoURL: {URL}, path: plain, plugin: {{name: shop}}}}, destination: {{namespace: shop}}}}\n"
    )
}

/// Types all cases into one shell, and compares the resulting arguments.
fn check(shell: &Shell) {
    let world = World::new();
    let mut which = world.command("sh");
    which.args(["-c", &format!("command -v {} && command -v script", shell.name)]);
    if world.finish(which).code != 0 {
        // Tests capture `eprintln`, but not this.
        writeln!(std::io::stderr(), "not tested: completion in {}, which is not installed", shell.name)
            .expect("stderr can be written to");
        return;
    }
    for (file, name) in [("web", "web"), ("api", "api"), ("evil", "$(touch ran-app)")] {
        world.write(&format!("store/{file}.yaml"), &application(name));
    }
    world
        .write("other store/other-app.yaml", &application("other"))
        .write("plugins/shop/plugin.yaml", PLUGIN);
    let script = world.run(&["completion", shell.name]).stdout;
    world.write(&format!("completion.{}", shell.name), &script);
    let mut command = world.command("script");
    command
        .args(["-qec", shell.command, "/dev/null"])
        .envs([
            ("TERM", "dumb"),
            ("TIPHYS_STORE", "store"),
            ("TIPHYS_PLUGINS", "plugins"),
            ("LC_ALL", "C.UTF-8"),
        ])
        .stdin(Stdio::piped());
    let mut running = Running::of(command);
    let (mut keyboard, screen) = (running.stdin(), running.stdout());
    let mut enter = |keys: &str, number: usize| {
        // The terminal echoes the typed keys, with the quotes.
        writeln!(keyboard, "{keys}; echo typed''-{number}.").expect("the keys can be typed");
        screen.line_with(&format!("typed-{number}."));
    };
    enter(shell.setup, 0);
    let cases: Vec<&Case> = CASES.iter().chain(shell.more).collect();
    for (number, (keys, _)) in (1..).zip(&cases) {
        // Replaces the command by one that records its arguments.
        enter(&format!("tiphys {keys}\u{1}printf '<%s>' \u{5} >>words; echo >>words"), number);
    }
    let words = fs::read_to_string(world.path("words")).unwrap_or_default();
    let found: Vec<&str> = words.lines().collect();
    let expected: Vec<String> =
        cases.iter().map(|(_, words)| format!("<tiphys><{}>", words.join("><"))).collect();
    assert_eq!(found, expected, "{}", shell.name);
    for ran in ["ran-app", "ran-name", "ran-value"] {
        assert!(!world.path(ran).exists(), "{}: {ran}: a name was run", shell.name);
    }
}

#[test]
fn bash_completes_words() {
    check(&BASH);
}

#[test]
fn zsh_completes_words() {
    check(&ZSH);
}

#[test]
fn fish_completes_words() {
    check(&FISH);
}
