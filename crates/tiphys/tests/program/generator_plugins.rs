//! `appset plugin serve` and `appset plugin call`.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use tiphys_testkit::generator_plugin;

use crate::running::{Pipe, Running};
use crate::world::{Output, TIPHYS, World};

const TEAMS: &str = "- team: shop\n  replicas: 2\n- team: web\n";

const UNCHECKED: [&str; 2] = [
    "finding: a request with a wrong token gets an answer; expected status 401 or 403",
    "finding: a request without a token gets an answer; expected status 401 or 403",
];

/// A running `appset plugin serve`.
struct Served {
    running: Running,
    log: Pipe,
    /// `http://127.0.0.1:PORT`.
    url: String,
}

impl Served {
    fn start(world: &World, args: &[&str]) -> Self {
        let all = [&["appset", "plugin", "serve", "--listen=127.0.0.1:0"], args].concat();
        let mut running = world.start(&all);
        let log = running.stderr();
        let line = log.line();
        let url = line.strip_prefix("serving on ").and_then(|rest| rest.strip_suffix(" until ^C"));
        Self { url: url.unwrap_or_else(|| panic!("no address: {line}")).to_owned(), running, log }
    }

    fn call(&self, world: &World, args: &[&str]) -> Output {
        world.run(&[&["appset", "plugin", "call", &self.url], args].concat())
    }
}

fn world() -> World {
    let world = World::empty();
    world.write("teams.yaml", TEAMS).write("token", "s3cr3t\n").write("other", "other");
    world
}

fn output(code: i32, stdout: &str, stderr: &[&str]) -> Output {
    let stderr = stderr.iter().flat_map(|line| [line, "\n"]).collect();
    Output { code, stdout: stdout.to_owned(), stderr }
}

#[test]
fn both_contracts_are_served_and_called() {
    let world = world();
    let served = Served::start(&world, &["--from=teams.yaml", "--token-file=token"]);
    let sets = "- replicas: 2\n  team: shop\n- team: web\n";
    for contract in ["shipped", "proposal"] {
        let called = served.call(&world, &["--token-file=token", "--contract", contract]);
        assert_eq!(called, output(0, sets, &[]), "{contract}");
    }
    let called = served.call(&world, &["--token-file=token", "-o", "json"]);
    assert_eq!(
        called.stdout.split_whitespace().collect::<String>(),
        r#"[{"replicas":2,"team":"shop"},{"team":"web"}]"#
    );
    let refused = "finding: error listing params: error get api 'web': API error with status code 401: expected the header `Authorization: Bearer TOKEN` with the token of this server";
    let called = served.call(&world, &["--token-file=other", "--name=web"]);
    assert_eq!(called, output(1, "", &[refused]));
    let called = served.call(&world, &["--name=web"]);
    assert_eq!(called, output(1, "", &[&format!("{refused}; name the token with --token-file")]));
    served.running.signal(&world, "TERM");
    assert_eq!(served.running.finish(&world), output(0, "", &[]));
    served.log.ends();
    let called = world.run(&["appset", "plugin", "call", &served.url]);
    assert_eq!((called.code, called.stdout.as_str()), (3, ""));
    assert!(called.stderr.contains("connect: connection refused"), "{}", called.stderr);
}

#[test]
fn bare_list_and_missing_token_check_are_findings() {
    let world = world();
    world.write("teams.json", r#"[{"generator": 1, "n": 1000000}]"#);
    let served = Served::start(&world, &["--from=teams.json", "--no-token", "--bare-list"]);
    let bare = "finding: error listing params: error get api 'example': json: cannot unmarshal array into Go value of type plugin.ServiceResponse: \
                [{\"generator\":1,\"n\":1000000}]\\n; a service that answers with a list needs `contract: bare-list` in its ConfigMap; \
                Argo CD rejects it and expects {\"output\":{\"parameters\":[…]}}";
    let of_set = [
        "finding: parameter set 1: key \"generator\" is replaced by the input of the generator",
        "finding: parameter set 1: the number \"n\" prints with an exponent, such as 1e+06; answer a string",
    ];
    let found = [&[bare][..], &of_set, &UNCHECKED].concat();
    assert_eq!(served.call(&world, &[]), output(1, "- generator: 1\n  'n': 1000000\n", &found));
}

#[test]
fn command_and_recorded_answers_see_the_request() {
    let world = world();
    world
        .write("input.yaml", "env: prod\n")
        .write("answer.sh", "#!/bin/sh\necho \"$1 ${TIPHYS_PLUGIN_TOKEN-none}\" >&2\nread -r body\necho \"[$body]\"\n[ \"$1\" = ok ]\n");
    let served = Served::start(&world, &["--no-token", "--", "./answer.sh", "ok"]);
    let input = ["--input=input.yaml", "--name=web"];
    let sets = "- applicationSetName: web\n  input:\n    parameters:\n      env: prod\n";
    assert_eq!(served.call(&world, &input), output(1, sets, &UNCHECKED));

    let mut command = world.command(TIPHYS);
    command.env("TIPHYS_PLUGIN_TOKEN", "s3cr3t").args([
        "appset",
        "plugin",
        "serve",
        "--listen=127.0.0.1:0",
        "--",
        "./answer.sh",
        "no",
    ]);
    let mut failing = Running::of(command);
    let log = failing.stderr();
    let url = log.rest_of_line_with("serving on ");
    let url = url.strip_suffix(" until ^C").expect("an address");
    let failed = "finding: error listing params: error get api 'example': API error with status code 500: `./answer.sh no`: failed with exit status 1: no none";
    assert_eq!(world.run(&["appset", "plugin", "call", url, "--token-file=token"]), output(1, "", &[failed]));

    world.write(
        "answers.yaml",
        "answers:\n- {generator: plugin, match: {configMap: x, body: {input: {parameters: {env: prod}}}}, parameters: [{team: shop}]}\n",
    );
    let recorded = Served::start(&world, &["--from=answers.yaml", "--token-file=token"]);
    let token = "--token-file=token";
    assert_eq!(recorded.call(&world, &[token, "--input=input.yaml"]), output(0, "- team: shop\n", &[]));
    let called = recorded.call(&world, &[token]);
    assert!(
        called.stderr.contains("status code 500: no recorded answer fits; add the entry"),
        "{}",
        called.stderr
    );
}

#[test]
fn arguments_of_server_are_checked() {
    let world = world();
    world.write("wrong.yaml", "a: 1\n").write("empty", "\n");
    let cases: [(&[&str], &str); 6] = [
        (
            &["--from=teams.yaml"],
            "expected a token: name its file with --token-file, set TIPHYS_PLUGIN_TOKEN, or serve without one with --no-token",
        ),
        (
            &["--from=teams.yaml", "--token-file=empty"],
            "--token-file empty: a token must be one line of printable ASCII characters",
        ),
        (
            &["--from=teams.yaml", "--no-token", "--listen=0.0.0.0:0"],
            "--no-token: other machines can reach --listen; serve them with a token",
        ),
        (
            &["--from=wrong.yaml", "--no-token"],
            "wrong.yaml: expected a list of objects, or an object with a list `answers`",
        ),
        (&["--no-token"], "the following required arguments were not provided"),
        (&["--from=teams.yaml", "--", "true"], "cannot be used with"),
    ];
    for (args, message) in cases {
        let failed = world.run(&[&["appset", "plugin", "serve"], args].concat());
        assert_eq!((failed.code, failed.stdout.as_str()), (2, ""), "{args:?}");
        assert!(
            failed.stderr.starts_with("error: ") && failed.stderr.contains(message),
            "{args:?}: {}",
            failed.stderr
        );
    }
}

#[test]
fn interrupted_server_ends_its_command() {
    let world = world();
    let pipe = world.pipe("pipe");
    let script = format!("exec 3> {}; echo started >&3; sleep 1000 & wait", world.path("pipe").display());
    let served = Served::start(&world, &["--no-token", "--", "sh", "-c", &script]);
    let mut client =
        TcpStream::connect(served.url.trim_start_matches("http://")).expect("the server listens");
    let body = r#"{"applicationSetName":"a","input":{}}"#;
    write!(
        client,
        "POST /api/v1/getparams.execute HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("the request can be sent");
    assert_eq!(pipe.line(), "started");
    served.running.signal(&world, "INT");
    assert_eq!(served.running.finish(&world), output(0, "", &[]));
    let mut answer = String::new();
    client.read_to_string(&mut answer).expect("an answer comes");
    assert!(
        answer.starts_with("HTTP/1.1 503 ") && answer.ends_with("{\"message\":\"the server is stopping\"}\n"),
        "{answer}"
    );
    pipe.ends();
}

/// A set with a plugin, the ConfigMap with its address, and the Secret with its token.
fn store(url: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: teams, namespace: argocd}}
spec:
  goTemplate: true
  goTemplateOptions: [missingkey=error]
  generators:
    - plugin: {{configMapRef: {{name: teams}}, input: {{parameters: {{env: prod}}}}}}
  template:
    metadata: {{name: '{{{{ .team }}}}'}}
    spec:
      project: default
      source: {{repoURL: https://git.example.org/team/apps.git, path: '{{{{ .team }}}}'}}
      destination: {{namespace: '{{{{ .namespace }}}}', server: https://kubernetes.default.svc}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: teams, namespace: argocd}}
data: {{baseUrl: '{url}', token: $teams-plugin:token}}
---
apiVersion: v1
kind: Secret
metadata: {{name: teams-plugin, namespace: argocd, labels: {{app.kubernetes.io/part-of: argocd}}}}
stringData: {{token: s3cr3t}}
"
    )
}

#[test]
fn example_plugins_answer_calls_and_sets() {
    let world = world();
    world.write("input.yaml", "env: prod\n").write("wrong.yaml", "env: 5\n");
    let mut found = world.command("sh");
    found.args(["-c", "command -v python3"]);
    assert_eq!(world.finish(found).code, 0, "python3 is not on PATH: install Python 3.10 or later");
    let python = generator_plugin::python();
    let rust = generator_plugin::rust();
    let [python, rust] = [&python, &rust].map(|path| path.to_str().expect("the path is UTF-8"));
    for words in [&["python3", python][..], &[rust]] {
        let mut command = world.command(words[0]);
        command.args(&words[1..]).args(["token", "127.0.0.1:0"]);
        let mut running = Running::of(command);
        let url = running.stderr().rest_of_line_with("serving on ");
        let call = |args: &[&str]| world.run(&[&["appset", "plugin", "call", &url], args].concat());
        let sets = "- namespace: shop-prod\n  team: shop\n- namespace: web-prod\n  team: web\n";
        assert_eq!(call(&["--token-file=token", "--input=input.yaml"]), output(0, sets, &[]), "{words:?}");
        let failed = call(&["--token-file=token", "--input=wrong.yaml"]);
        let message = "status code 400: input.parameters.env: expected one of prod, test";
        assert!(failed.code == 1 && failed.stderr.contains(message), "{words:?}: {failed:?}");
        world.write("store/teams.yaml", &store(&url));
        let generated = world.run(&["appset", "generate", "--store=store", "-o=wide"]);
        assert_eq!((generated.code, generated.stderr.as_str()), (0, ""), "{words:?}");
        let rows: Vec<Vec<&str>> =
            generated.stdout.lines().skip(1).map(|line| line.split_whitespace().take(3).collect()).collect();
        let cluster = "https://kubernetes.default.svc";
        assert_eq!(rows, [["argocd/shop", cluster, "shop-prod"], ["argocd/web", cluster, "web-prod"]]);
    }
}
