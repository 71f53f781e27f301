//! The web page over HTTP: the numbers are those of the behaviours in `testdata/rules/web-page.md`.

use std::process::Command;

use serde_json::{Value, json};
use tiphys_testkit::wait::until;

use crate::http::{self, Answer, assert_has, field};
use crate::page_kinds::{self, KINDS};
use crate::running::{Pipe, Running};
use crate::world::{TIPHYS, World};

/// The Application of the sample repository with a chart.
pub(crate) const SHOP: &str = "/applications/argocd/shop";

/// The beginning of the line with the first address.
const PREFIX: &str = "the page is at http://";

/// The arguments of a server on any port.
const SERVE: [&str; 3] = ["serve", "--listen", "127.0.0.1:0"];

/// `tiphys serve` on the sample repository, and a browser that it has admitted.
pub(crate) struct Page {
    pub(crate) world: World,
    _running: Running,
    _log: Pipe,
    /// `127.0.0.1:PORT`.
    pub(crate) address: String,
    /// The path and query of the first address.
    pub(crate) first: String,
    pub(crate) cookie: String,
}

impl Page {
    /// Serves the sample repository.
    pub(crate) fn of_sample(args: &[&str]) -> Self {
        let world = World::empty().with_programs(&["kustomize", "helm"].map(tiphys_testkit::tools::program));
        assert_eq!(world.run(&["init", "--example", "sample"]).code, 0);
        Self::serve(world, args)
    }

    /// Serves the repository in the directory `sample`. Temporary files are outside of it.
    pub(crate) fn serve(world: World, args: &[&str]) -> Self {
        let mut command = in_repository(&world);
        command.args(SERVE).args(args);
        Self::of(world, command)
    }

    /// Serves by a command that runs the program.
    fn of(world: World, command: Command) -> Self {
        let mut running = Running::of(command);
        let log = running.stderr();
        let line = log.line();
        let (address, cookie) = http::admitted(&line, PREFIX);
        let first = line[PREFIX.len() + address.len()..].trim_end_matches(" until ^C").to_owned();
        Self { world, _running: running, _log: log, address, first, cookie }
    }

    /// Reads a file of the repository.
    pub(crate) fn read(&self, path: &str) -> String {
        self.world.read(&format!("sample/{path}"))
    }

    /// Writes a file of the repository.
    pub(crate) fn write(&self, path: &str, text: &str) {
        self.world.write(&format!("sample/{path}"), text);
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        let headers = [format!("Host: {}", self.address), format!("Cookie: {}", self.cookie)];
        http::send(&self.address, &format!("GET {path}"), &headers.each_ref().map(String::as_str), "")
    }

    /// Posts a form with its token, as a browser without scripts does.
    pub(crate) fn post(&self, path: &str, form: &[(&str, &str)]) -> Answer {
        let token = self.token();
        let mut body = format!("csrf={token}");
        for (name, value) in form {
            body.extend(["&", &encoded(name), "=", &encoded(value)]);
        }
        self.send("POST", path, "application/x-www-form-urlencoded", &[], &body)
    }

    /// The token of forms, which each response of the API has.
    fn token(&self) -> String {
        let head = self.get("/api/v1/applications").head;
        let token = head.split("x-csrf-token: ").nth(1).and_then(|rest| rest.lines().next());
        token.expect("a token").to_owned()
    }

    /// Sends a JSON document to the API.
    pub(crate) fn post_json(&self, path: &str, document: &Value) -> Answer {
        let token = self.token();
        let header = format!("X-CSRF-Token: {token}");
        self.send("POST", path, "application/json", &[&header], &document.to_string())
    }

    pub(crate) fn send(&self, method: &str, path: &str, kind: &str, more: &[&str], body: &str) -> Answer {
        let headers = [
            format!("Host: {}", self.address),
            format!("Cookie: {}", self.cookie),
            format!("Origin: http://{}", self.address),
            format!("Content-Type: {kind}"),
            format!("Content-Length: {}", body.len()),
        ];
        let headers: Vec<&str> = headers.iter().map(String::as_str).chain(more.iter().copied()).collect();
        http::send(&self.address, &format!("{method} {path}"), &headers, body)
    }
}

/// The program in the repository.
fn in_repository(world: &World) -> Command {
    let mut command = world.command(TIPHYS);
    command.current_dir(world.path("sample"));
    command
}

pub(crate) fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat()
}

/// The row of a parameter.
pub(crate) fn row<'a>(html: &'a str, name: &str) -> &'a str {
    let start =
        html.find(&format!("data-name=\"{name}\"")).unwrap_or_else(|| panic!("no row {name}:\n{html}"));
    let end = html[start..].find("<div class=\"row").map_or(html.len(), |end| start + end);
    &html[start..end]
}

#[test]
fn list_shows_applications_and_filters_them() {
    let page = Page::of_sample(&[]);
    let list = page.get("/applications");
    assert_eq!(list.status, 200);
    assert_has(
        &list.body,
        &[
            "<a href=\"/applications/argocd/shop\">argocd/shop</a>",
            "argocd/guestbook",
            "2 set",
            "not looked at yet",
            "1–3 of 3",
        ],
    );
    let filtered = page.get("/applications?plugin=helm").body;
    assert!(filtered.contains("argocd/shop") && !filtered.contains("argocd/guestbook"), "{filtered}");
    assert_has(&page.get("/applications?q=nothing").body, &["No application matches the filter"]);
    let missing = page.get("/applications/argocd/none");
    assert_eq!(missing.status, 404);
    assert_has(&missing.body, &["<nav aria-label=\"Main\">", "<a href=\"/applications\">Back</a>"]);
    assert_eq!(page.get(&format!("{SHOP}/manifests")).status, 200);
    assert_has(&page.get("/applications?state=renders").body, &["renders · 2 objects", "1–1 of 1"]);
}

#[test]
fn application_without_a_namespace_has_all_pages() {
    let page = Page::of_sample(&[]);
    let before = page.read("applications/shop.yaml").replace("  namespace: argocd\n", "");
    page.write("applications/shop.yaml", &before);
    until(|| {
        page.get("/applications").body.contains("<a href=\"/applications/-/shop\">shop</a>").then_some(())
    });
    let shop = "/applications/-/shop";
    for path in ["", "/manifests", "/difference", "/sources"] {
        assert_has(&page.get(&format!("{shop}{path}")).body, &[&format!("<a href=\"{shop}/manifests\"")]);
    }
    let change = [("/set.replicas", "7")];
    let review = page.post(&format!("{shop}/review"), &change).body;
    assert_has(&review, &[&format!("action=\"{shop}/save\""), " shop set.replicas=7"]);
    let saved = page.post(&format!("{shop}/save"), &[change[0], ("digest", &field(&review, "digest"))]);
    assert_eq!(saved.status, 303, "{}", saved.body);
    assert_eq!(page.get("/api/v1/applications/-/shop/parameters").status, 200);
}

#[test]
fn behaviours_1_and_2_a_row_has_its_value_its_origin_and_all_layers() {
    let page = Page::of_sample(&[]);
    let shop = page.get(SHOP).body;
    assert_has(
        row(&shop, "image.tag"),
        &[
            "value=\"1.4.0\"",
            "<span class=\"badge here\">inline</span> <code>applications/shop.yaml:22</code>",
            "<strong>chart default</strong> <code>charts/shop/values.yaml:",
        ],
    );
    assert_has(row(&shop, "replicas"), &["class=\"number\"", "<span class=\"badge file\">value-file</span>"]);
}

#[test]
fn behaviour_3_filter_and_toggles_are_in_the_url() {
    let page = Page::of_sample(&[]);
    let found = page.get(&format!("{SHOP}?q=REGISTRY")).body;
    assert!(
        found.contains("data-name=\"image.repository\"") && !found.contains("data-name=\"replicas\""),
        "{found}"
    );
    assert_has(&found, &["1 of 17 parameters"]);
    let set = page.get(&format!("{SHOP}?set=1")).body;
    assert!(
        set.contains("data-name=\"image.tag\"") && !set.contains("data-name=\"image.repository\""),
        "{set}"
    );
    assert!(!page.get(&format!("{SHOP}?group=image")).body.contains("data-name=\"replicas\""));
}

#[test]
fn behaviour_10_invalid_number_stays_with_its_problem() {
    let page = Page::of_sample(&[]);
    let answer = page.post(&format!("{SHOP}/review"), &[("/set.replicas", "3x"), ("op", "review")]);
    assert_eq!(answer.status, 422);
    assert_has(row(&answer.body, "replicas"), &["value=\"3x\"", "aria-invalid=\"true\"", "decimal number"]);
    assert_has(&answer.body, &["<h2 id=\"problems\">1 invalid</h2>"]);
}

#[test]
fn behaviours_22_23_and_35_a_change_is_reviewed_and_saved_without_scripts() {
    let page = Page::of_sample(&[]);
    let before = page.read("applications/shop.yaml");
    let change = [("/set.image.tag", "1.10"), ("/set.replicas", "7")];
    let review = page.post(&format!("{SHOP}/review"), &change);
    assert_eq!(review.status, 200);
    assert_has(
        &review.body,
        &[
            "<h1>Review 2 changes</h1>",
            "<del>1.4.0 (./applications/shop.yaml:22)</del> → <ins>1.10</ins>",
            "+          tag: &#34;1.10&#34;   # changes with every release",
            "+  replicas: 7",
            "tiphys params set --write-to effective argocd/shop set.replicas=7 set.image.tag=1.10",
        ],
    );
    assert_eq!(page.read("applications/shop.yaml"), before, "a review writes nothing");
    let digest = field(&review.body, "digest");
    let with = |digest| [&change[..], &[("write-to", "values"), ("digest", digest)]].concat();
    // The file moves between review and save.
    page.write("applications/shop.yaml", &before.replace("1.4.0", "1.4.1"));
    let moved = page.post(&format!("{SHOP}/save"), &with(digest.as_str()));
    assert_eq!(moved.status, 409);
    assert_has(&moved.body, &["Changed since the review", "<del>1.4.1 "]);
    assert!(page.read("applications/shop.yaml").contains("1.4.1"), "nothing was saved");
    let digest = field(&moved.body, "digest");
    let saved = page.post(&format!("{SHOP}/save"), &with(digest.as_str()));
    assert_eq!(saved.status, 303);
    let after = before.replace("\"1.4.0\"", "\"1.10\"") + "        replicas: 7\n";
    assert_eq!(page.read("applications/shop.yaml"), after, "every other byte is kept");
}

#[test]
fn effect_of_changing_an_override_file_is_rendered() {
    let page = Page::of_sample(&[]);
    let file = "charts/shop/.argocd-source-shop.yaml";
    page.write(file, "helm:\n  parameters:\n  - {name: replicas, value: \"5\"}\n");
    let change = [("/set.replicas", "7"), ("write-to", "override")];
    let review = page.post(&format!("{SHOP}/review"), &change);
    assert_has(&review.body, &["-  replicas: 5", "+  replicas: 7"]);
    let digest = field(&review.body, "digest");
    let saved = page.post(&format!("{SHOP}/save"), &[&change[..], &[("digest", digest.as_str())]].concat());
    assert_eq!(saved.status, 303);
    let written = page.read(file);
    assert!(written.contains("value: \"7\"") && !written.contains("value: \"5\""), "{written}");
}

#[test]
fn behaviour_23_changed_manifests_are_reviewed_again() {
    let page = Page::of_sample(&[]);
    let change = ("/set.replicas", "7");
    let review = page.post(&format!("{SHOP}/review"), &[change]);
    let form = [change, ("write-to", "effective"), ("digest", &field(&review.body, "digest"))];
    let added = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: added}\n";
    page.write("charts/shop/templates/added.yaml", added);
    let moved = page.post(&format!("{SHOP}/save"), &form);
    assert_eq!(moved.status, 409, "an object that does not differ is new");
    let form = [change, ("write-to", "effective"), ("digest", &field(&moved.body, "digest"))];
    assert_eq!(page.post(&format!("{SHOP}/save"), &form).status, 303);
}

#[test]
fn refused_values_stay_in_the_form() {
    let page = page_kinds::serve("[]");
    let change = [("/title", "kept"), ("state:/replicas", "null")];
    let refused = page.post(&format!("{KINDS}/review"), &change);
    assert_eq!(refused.status, 422);
    assert_has(&refused.body, &["These values are refused", "the value is null", "value=\"kept\""]);
}

#[test]
fn change_of_what_has_gone_is_refused() {
    let page = Page::of_sample(&[]);
    let gone = [("was:/set.gone", "00000000"), ("/set.gone", "1"), ("/set.replicas", "7")];
    let answer = page.post(&format!("{SHOP}/review"), &gone);
    assert_has(&answer.body, &["gone: the parameter has gone since the page was loaded"]);
    let answer = page.post(&format!("{SHOP}/review"), &[("source", "2"), ("/set.replicas", "7")]);
    assert_eq!(answer.status, 409);
    assert_has(&answer.body, &["The Application has no source 2 any more"]);
}

#[test]
fn preview_shows_the_effect_of_unsaved_values() {
    let page = Page::of_sample(&[]);
    let preview = page.post(&format!("{SHOP}/preview"), &[("/set.replicas", "7")]);
    assert_eq!(preview.status, 200);
    assert_has(&preview.body, &["Effect of 1 unsaved value", "-  replicas: 3", "+  replicas: 7"]);
    assert!(!preview.body.contains("<html"), "a part of the page");
    let refused = page.post(&format!("{SHOP}/preview"), &[("/set.replicas", "x")]);
    assert_has(&refused.body, &["decimal number"]);
}

#[test]
fn full_disk_at_save_leaves_the_file_as_it_was() {
    let world = World::empty().with_programs(&["kustomize", "helm"].map(tiphys_testkit::tools::program));
    assert_eq!(world.run(&["init", "--example", "sample"]).code, 0);
    let mut probe = world.command("unshare");
    if world
        .finish({
            probe.args(["--map-root-user", "--mount", "true"]);
            probe
        })
        .code
        != 0
    {
        return; // Mounting is not permitted here.
    }
    // The applications are in a file system that is full.
    let mount = "cp -r applications files && mount -t tmpfs -o size=64k none applications && cp -r files/. applications \
        && { cat /dev/zero >applications/filler 2>/dev/null; rm -r files; exec \"$0\" \"$@\"; }";
    let mut command = world.command("unshare");
    command
        .current_dir(world.path("sample"))
        .args(["--map-root-user", "--mount", "sh", "-c", mount, TIPHYS])
        .args(SERVE);
    let page = Page::of(world, command);
    let change = ("/set.replicas", "7");
    let review = page.post(&format!("{SHOP}/review"), &[change]);
    assert_eq!(review.status, 200, "{}", review.body);
    let form = [change, ("write-to", "effective"), ("digest", &field(&review.body, "digest"))];
    let saved = page.post(&format!("{SHOP}/save"), &form);
    assert_has(&saved.body, &["No space left on device"]);
    assert_has(row(&page.get(SHOP).body, "replicas"), &["value=\"3\""]);
    let names = page.get("/api/v1/applications").body;
    assert_has(&names, &["argocd/shop"]);
    assert!(names.contains("\"errors\":[]"), "no rest of the file: {names}");
}

#[test]
fn behaviour_30_read_only_page_saves_nothing() {
    let page = Page::of_sample(&["--read-only"]);
    let before = page.read("applications/shop.yaml");
    let review = page.post(&format!("{SHOP}/review"), &[("/set.replicas", "7")]);
    assert_has(&review.body, &["this page is read-only", "+  replicas: 7", " disabled>Save"]);
    let digest = field(&review.body, "digest");
    let refused = page.post(&format!("{SHOP}/save"), &[("/set.replicas", "7"), ("digest", &digest)]);
    assert_eq!(refused.status, 422);
    assert_eq!(page.read("applications/shop.yaml"), before);
}

#[test]
fn api_answers_what_the_pages_show() {
    let page = Page::of_sample(&[]);
    let read = |path: &str| -> Value {
        let answer = page.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).expect("JSON")
    };
    let document = read("/api/v1/openapi.json");
    let paths: Vec<&String> = document["paths"].as_object().expect("paths").keys().collect();
    let application = "/api/v1/applications/{namespace}/{name}";
    let mut expected = vec!["/api/v1/applications".to_owned()];
    expected.extend(
        ["difference", "manifests", "parameters", "review", "save"]
            .map(|last| format!("{application}/{last}")),
    );
    assert_eq!(paths, expected.iter().collect::<Vec<_>>());
    let shop = "/api/v1/applications/argocd/shop";
    // The API and the command line print the same documents.
    let mut command = in_repository(&page.world);
    command.args(["params", "list", "argocd/shop", "-o", "json"]);
    let printed = |command: Command| -> Value {
        serde_json::from_str(&page.world.finish(command).stdout).expect("JSON")
    };
    let listed = printed(command);
    let mut parameters = read(&format!("{shop}/parameters"))["parameters"].clone();
    for parameter in parameters.as_array_mut().expect("a list") {
        assert!(parameter.as_object_mut().expect("an object").remove("layers").is_some());
    }
    assert_eq!(parameters, listed);
    assert_eq!(read("/api/v1/applications")["applications"][2]["setParameters"], 2);
    assert_eq!(read(&format!("{shop}/manifests"))["manifests"][0]["kind"], "Service");
    let change = json!({"edits": [{"name": "set.replicas", "change": {"text": "7"}}]});
    let review = page.post_json(&format!("{shop}/review"), &change);
    let review: Value = serde_json::from_str(&review.body).expect("JSON");
    assert_eq!(review["changes"][0]["after"], "7");
    let mut command = in_repository(&page.world);
    command.args(["params", "diff", "argocd/shop", "set.replicas=7", "-o", "json"]);
    let (mut expected, mut difference) = (printed(command)[0].clone(), review["difference"].clone());
    let patch = |document: &mut Value| {
        document["objects"][0].as_object_mut().and_then(|object| object.remove("patch"))
    };
    assert!(patch(&mut expected).is_some() && patch(&mut difference).is_some());
    assert_eq!(difference, expected);
    let save = json!({"edits": change["edits"], "digest": review["digest"]});
    let saved = page.post_json(&format!("{shop}/save"), &save);
    assert_eq!((saved.status, saved.body.as_str()), (200, r#"{"files":["applications/shop.yaml"]}"#));
    let again = page.post_json(&format!("{shop}/save"), &save);
    assert_eq!(again.status, 409);
}

#[test]
fn change_of_a_file_reaches_the_page_and_the_stream() {
    let page = Page::of_sample(&[]);
    assert_has(row(&page.get(SHOP).body, "image.tag"), &["value=\"1.4.0\""]);
    let mut stream = http::connect(&page.address);
    let request =
        format!("GET /events HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n", page.address, page.cookie);
    std::io::Write::write_all(&mut stream, request.as_bytes()).expect("the request can be sent");
    let mut lines =
        std::io::BufRead::lines(std::io::BufReader::new(stream)).map(|line| line.expect("a line"));
    // Only changes of files have an id.
    let mut next_event = || lines.find(|line| line.starts_with("id: ")).expect("an event");
    let first = next_event();
    let before = page.read("applications/shop.yaml");
    page.write("applications/shop.yaml", &before.replace("1.4.0", "1.4.1"));
    assert_ne!(next_event(), first);
    assert_has(row(&page.get(SHOP).body, "image.tag"), &["value=\"1.4.1\""]);
}
