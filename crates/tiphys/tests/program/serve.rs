//! `plugin check --serve` over HTTP.

use std::io::Write as _;
use std::net::{Shutdown, TcpStream};

use crate::browser::Tab;
use crate::http::{self, Answer, assert_has, field};
use crate::running::{Pipe, Running};
use crate::world::{Output, World};

const STATIC: &str = r#"apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {name: shop}
spec:
  discover: {fileName: "*"}
  generate: {command: [sh, -c, "true"]}
  parameters:
    static:
    - {name: title, title: Title, tooltip: Shown in the tab., string: "a\nb"}
    - {name: replicas, itemType: number, required: true}
    - {name: debug, itemType: boolean, string: "false"}
    - {name: theme, choices: [light, dark]}
    - {name: hosts, collectionType: array}
    - {name: limits, collectionType: map, map: {cpu: "1"}}
"#;

/// A plugin whose dynamic command is this script, without static announcements.
fn dynamic(script: &str) -> String {
    let indented = script.replace('\n', "\n        ");
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {{name: shop}}
spec:
  discover: {{fileName: \"*\"}}
  generate: {{command: [sh, -c, \"true\"]}}
  parameters:
    dynamic:
      command: [sh, -c]
      args:
      - |
        {indented}
"
    )
}

/// A running `plugin check --serve` of the plugin `shop` for the directory `repo`.
struct Served {
    world: World,
    running: Running,
    _log: Pipe,
    /// `127.0.0.1:PORT`.
    address: String,
    cookie: String,
}

impl Served {
    fn start(plugin: &str, args: &[&str]) -> Self {
        let world = World::empty();
        world.write("shop/plugin.yaml", plugin).write("repo/file", "");
        Self::start_in(world, args)
    }

    fn start_in(world: World, args: &[&str]) -> Self {
        let all =
            [&["plugin", "check", "shop", "--in=repo", "--config=passEnv=PIPE", "--serve"], args].concat();
        let mut running = world.start_with("PIPE", &world.path("pipe"), &all);
        let log = running.stderr();
        let (address, cookie) = http::admitted(&log.line(), "the form is at http://");
        Self { world, running, _log: log, address, cookie }
    }

    fn connect(&self) -> TcpStream {
        http::connect(&self.address)
    }

    fn send(&self, first: &str, headers: &[&str], body: &str) -> Answer {
        http::send(&self.address, first, headers, body)
    }

    fn get(&self, path: &str) -> Answer {
        let cookie = format!("Cookie: {}", self.cookie);
        self.send(&format!("GET {path}"), &[&format!("Host: {}", self.address), &cookie], "")
    }

    /// Posts a form with the token of the page. `token` is that of an earlier page.
    fn post(&self, token: &str, body: &str) -> Answer {
        let body = format!("csrf={token}&{body}");
        let headers = [
            format!("Host: {}", self.address),
            format!("Cookie: {}", self.cookie),
            "Sec-Fetch-Site: same-origin".to_owned(),
            "Content-Type: application/x-www-form-urlencoded".to_owned(),
            format!("Content-Length: {}", body.len()),
        ];
        self.send("POST /", &headers.each_ref().map(String::as_str), &body)
    }

    /// Sends a request for the page.
    fn request(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        write!(stream, "GET / HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n", self.address, self.cookie)
    }

    /// The token of the form that is shown.
    fn token(&self) -> String {
        field(&self.get("/").body, "csrf")
    }

    /// Ends the program like `^C`.
    fn interrupt(self) -> (World, Output) {
        self.running.signal(&self.world, "INT");
        let output = self.running.finish(&self.world);
        (self.world, output)
    }
}

fn ended() -> Output {
    // The line with the address has been read from standard error.
    Output { code: 0, stdout: String::new(), stderr: String::new() }
}

#[test]
fn page_has_a_control_for_each_kind_of_parameter() {
    let served = Served::start(STATIC, &["127.0.0.1:0", "--param", "replicas=9007199254740993"]);
    let page = served.get("/");
    assert_eq!(page.status, 200);
    assert_has(
        &page.body,
        &[
            "<h1>Plugin <code>shop</code></h1>",
            "No findings",
            "name=\"/title\" rows=\"3\"",
            "Shown in the tab.",
            r#"name="/replicas" value="9007199254740993""#,
            r#"name="/debug" value="" checked> inherit (false)"#,
            r#"<option value="dark">dark</option>"#,
            r#"value="add:/hosts""#,
            r#"name="/limits/0/key" value="cpu""#,
        ],
    );
    assert_has(
        &page.head,
        &[
            "content-type: text/html; charset=utf-8",
            "content-security-policy: default-src 'none'; script-src 'nonce-",
            "x-content-type-options: nosniff",
            "cache-control: no-store",
        ],
    );
    let style = served.get("/assets/style.css");
    assert_eq!(style.status, 200);
    assert_has(&style.head, &["content-type: text/css", "x-content-type-options: nosniff"]);
    assert_eq!(served.get("/favicon.ico").status, 404);
    let (world, output) = served.interrupt();
    assert_eq!(output, ended());
    assert_eq!(world.left_behind(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn reload_shows_the_changed_plugin() {
    let served = Served::start(STATIC, &[]);
    assert!(!served.get("/").body.contains("Colour"));
    served.world.write("shop/plugin.yaml", &STATIC.replace("name: theme", "name: theme, title: Colour"));
    assert_has(&served.get("/").body, &[r#"<p class="title">Colour</p>"#]);
    served.world.write("shop/plugin.yaml", "kind: [");
    let broken = served.get("/");
    assert_eq!(broken.status, 500);
    assert_has(&broken.body, &["No form: reading the plugin failed", "invalid-yaml", "shop/plugin.yaml:1:"]);
    std::fs::remove_file(served.world.path("shop/plugin.yaml")).expect("remove_file");
    assert_has(&served.get("/").body, &["cannot read shop/plugin.yaml"]);
    served.world.write("shop/plugin.yaml", STATIC);
    assert_eq!(served.get("/").status, 200);
}

#[test]
fn entered_values_are_kept_checked_and_shown_as_commands() {
    let served = Served::start(STATIC, &[]);
    let token = served.token();
    let wrong = served.post(
        &token,
        "/title=++it%27s%0D%0A&/replicas=3x&/debug=&/theme=dark&rows:/hosts=1&/hosts/0=a&rows:/limits=1&op=check",
    );
    assert_eq!(wrong.status, 422);
    assert_has(
        &wrong.body,
        &[
            "<h2 id=\"problems\">1 invalid</h2>",
            ">replicas: the value has to be a decimal number",
            "\n  it&#39;s\n</textarea>",
            r#"value="3x""#,
            r#"<option value="dark" selected>"#,
        ],
    );
    let row = served.post(&token, "/replicas=3&rows:/hosts=1&/hosts/0=a&op=add:/hosts");
    assert_eq!(row.status, 200);
    assert_has(&row.body, &[r#"name="/hosts/0" value="a""#, r#"name="/hosts/1" value="""#]);
    let right = served.post(
        &token,
        "/title=++it%27s%0D%0A&/replicas=9007199254740993&/debug=true&/theme=&rows:/hosts=1&/hosts/0=a&op=check",
    );
    assert_eq!(right.status, 200);
    let command = "tiphys params set APP &#39;title=  it&#39;\\&#39;&#39;s\n&#39; replicas=9007199254740993 debug=true \
                   &#39;hosts:=[&#34;a&#34;]&#39;</pre>";
    assert_has(&right.body, &["The values fit", command]);
}

#[test]
fn values_are_changed_and_checked_in_a_browser() {
    let served = Served::start(STATIC, &[]);
    let mut tab = Tab::admitted(&served.world, &served.address, &served.cookie);
    tab.go("/");
    tab.fill("/replicas", "x");
    tab.wait("document.querySelector('#count').textContent === '1'");
    tab.eval("document.querySelector('[value=\"add:/hosts\"]').click()");
    tab.wait("document.querySelector('[name=\"/hosts/0\"]') !== null");
    tab.fill("/hosts/0", "a.example.com");
    let answered = "window.asked === undefined && document.readyState === 'complete'";
    tab.eval("window.asked = true; document.querySelector('.bar button.main').click()");
    tab.wait(answered);
    assert_eq!(tab.eval("document.querySelector('#problems').textContent"), "1 invalid");
    tab.fill("/replicas", "3");
    tab.eval("window.asked = true; document.getElementsByName('/replicas')[0].focus()");
    tab.press(&["Enter"]);
    tab.wait(answered);
    let command = "tiphys params set APP replicas=3 'hosts:=[\"a.example.com\"]'";
    assert_eq!(tab.eval("document.querySelector('.command').textContent"), command);
    assert_eq!(tab.eval("document.querySelector('#count').textContent"), "2");
    tab.fill("q", "theme");
    tab.wait("document.querySelector('#shown').textContent === '3 of 6 parameters'");
    let requested = "performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname)";
    let requested = format!("{requested}.filter((path) => !path.startsWith('/assets/')).join()");
    assert_eq!(tab.eval(&requested), "", "a trial has no stream");
    assert_eq!(tab.eval("document.querySelectorAll('.banner').length"), 0);
    tab.eval("document.activeElement.blur()");
    tab.press(&["g", "a"]);
    assert_eq!(tab.eval("location.pathname"), "/");
}

#[test]
fn failing_announcement_is_shown_with_the_set_values() {
    let plugin = dynamic("echo no moon >&2; exit 7");
    let served = Served::start(&plugin, &["0", "--param=phase=full <b>"]);
    let page = served.get("/");
    assert_eq!(page.status, 500);
    assert_has(
        &page.body,
        &[
            "No form: the announcement failed",
            "exit status 7: no moon",
            "announcement-failed",
            "<code>phase</code>: <code>&#34;full &#60;b&#62;&#34;</code>",
        ],
    );
    assert!(!page.body.contains("<label"), "{}", page.body);
}

#[test]
fn cross_site_requests_are_refused_and_run_nothing() {
    let served = Served::start(&dynamic("touch \"$PIPE\"; echo []"), &[]);
    let host = format!("Host: {}", served.address);
    let form = "Content-Type: application/x-www-form-urlencoded";
    let cases: [(&str, &[&str], u16); 11] = [
        ("GET /", &["Host: evil.example"], 403),
        ("GET /", &[&host, "Origin: http://evil.example"], 403),
        ("GET /", &[&host, "Referer: http://evil.example/page"], 403),
        ("GET /assets/style.css", &["Host: evil.example"], 403),
        ("GET /", &[&host, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: image"], 403),
        ("POST /", &[&host, form, "Content-Length: 0", "Sec-Fetch-Site: cross-site"], 403),
        ("POST /", &[&host, form, "Content-Length: 0", "Origin: http://evil.example"], 403),
        ("POST /", &[&host, form, "Content-Length: 0"], 403),
        ("POST /", &["Host: evil.example", form, "Content-Length: 0", "Sec-Fetch-Site: same-origin"], 403),
        (
            "POST /",
            &[&host, "Content-Type: text/plain", "Content-Length: 0", "Sec-Fetch-Site: same-origin"],
            415,
        ),
        ("DELETE /", &[&host, "Sec-Fetch-Site: same-origin"], 405),
    ];
    for (first, headers, status) in cases {
        let cookie = format!("Cookie: {}", served.cookie);
        let answer = served.send(first, &[headers, &[&cookie]].concat(), "");
        assert_eq!(answer.status, status, "{first} {headers:?}");
        assert_has(&answer.head, &["content-security-policy: default-src 'none'"]);
    }
    assert!(!served.world.path("pipe").exists(), "the plugin did not run");
    assert_eq!(served.get("/").status, 200);
    assert!(served.world.path("pipe").exists(), "the plugin ran");
}

#[test]
fn size_of_a_posted_form_is_limited() {
    let served = Served::start(STATIC, &[]);
    let headers = [
        format!("Host: {}", served.address),
        format!("Cookie: {}", served.cookie),
        "Sec-Fetch-Site: same-origin".to_owned(),
        "Content-Type: application/x-www-form-urlencoded".to_owned(),
        format!("Content-Length: {}", (8 << 20) + 1),
    ];
    let refused = served.send("POST /", &headers.each_ref().map(String::as_str), "");
    assert_eq!(refused.status, 413);
    assert_has(&refused.body, &["more than 8388608 bytes"]);
    let token = served.token();
    let start = "&op=check&/title=";
    let largest =
        format!("op=check&/title={}", "x".repeat((8 << 20) - token.len() - "csrf=".len() - start.len()));
    assert_eq!(served.post(&token, &largest).status, 200, "the largest form is read");
}

/// Holds the pipe open, reports its start, and waits, with a child in another process group.
const HOLDER: &str = "exec 3> \"$PIPE\"\necho started >&3\nsetsid sleep 1000 &\nwait";

#[test]
fn announcement_ends_when_the_browser_disconnects() {
    let world = World::empty();
    world.write("shop/plugin.yaml", &dynamic(HOLDER)).write("repo/file", "");
    let pipe = world.pipe("pipe");
    let served = Served::start_in(world, &[]);
    let mut browser = served.connect();
    served.request(&mut browser).expect("the request can be sent");
    assert_eq!(pipe.line(), "started");
    browser.shutdown(Shutdown::Both).expect("the connection can be closed");
    drop(browser);
    pipe.ends();
    served.world.write("shop/plugin.yaml", STATIC);
    assert_eq!(served.get("/").status, 200, "the next one is answered");
}

#[test]
fn interrupted_server_ends_announcements() {
    let world = World::empty();
    world.write("shop/plugin.yaml", &dynamic(HOLDER)).write("repo/file", "");
    let pipe = world.pipe("pipe");
    let served = Served::start_in(world, &[]);
    let mut browser = served.connect();
    served.request(&mut browser).expect("the request can be sent");
    assert_eq!(pipe.line(), "started");
    // An idle connection, as browsers open in advance.
    let idle = served.connect();
    let (world, output) = served.interrupt();
    assert_eq!(output, ended());
    pipe.ends();
    assert_eq!(world.left_behind(), Vec::<std::path::PathBuf>::new());
    drop(idle);
}

#[test]
fn port_in_use_is_named() {
    let served = Served::start(STATIC, &[]);
    let address = served.address.as_str();
    let output = served.world.run(&["plugin", "check", "shop", "--in=repo", "--serve", address]);
    assert_eq!((output.code, output.stdout.as_str()), (2, ""));
    assert!(
        output.stderr.starts_with(&format!("error: --serve: cannot listen on {address}: ")),
        "{}",
        output.stderr
    );
}
