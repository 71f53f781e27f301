//! Requests of the web page that take long, differences, and Applications that others own: the numbers are those of the behaviours in
//! `testdata/rules/web-page.md`.

use std::io::Write as _;
use std::net::Shutdown;

use tiphys_testkit::wait::until;

use crate::http::{self, assert_has, field};
use crate::page::{Page, SHOP, row};
use crate::page_kinds::{self, GENERATE, KINDS, PARAMETERS};

#[test]
fn behaviour_24_rendering_ends_when_the_browser_disconnects() {
    let (page, pipe) = page_kinds::serve_holding();
    let mut browser = http::connect(&page.address);
    let (address, cookie) = (&page.address, &page.cookie);
    write!(browser, "GET {KINDS}/manifests HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\r\n")
        .expect("the request can be sent");
    assert_eq!(pipe.line(), "started");
    assert_eq!(page.get(KINDS).status, 200, "other pages are served meanwhile");
    browser.shutdown(Shutdown::Both).expect("the connection can be closed");
    drop(browser);
    pipe.ends();
}

#[test]
fn behaviour_25_difference_has_counts_prefixes_and_redacted_secrets() {
    let secret = format!(
        r#"{GENERATE}
printf -- '---\nkind: Secret\napiVersion: v1\nmetadata: {{name: keys}}\nstringData:\n  key: "%s"\n' "$PARAM_TITLE"
printf -- '---\nkind: ConfigMap\napiVersion: v1\nmetadata: {{name: chart, labels: {{helm.sh/chart: "%s"}}}}\n' "$PARAM_TITLE"
printf -- '---\nkind: ConfigMap\napiVersion: v1\nmetadata: {{name: "new%s"}}\n' "$PARAM_TITLE"
printf -- '---\nkind: ConfigMap\napiVersion: v1\nmetadata: {{name: equal}}\n'"#
    );
    let page = page_kinds::serve_world(page_kinds::world(PARAMETERS, &secret, "[]"));
    let review = page.post(&format!("{KINDS}/review"), &[("/title", "hidden-value")]).body;
    let manifests = review.split("<h2>Manifests</h2>").nth(1).expect("the manifests");
    assert_has(
        manifests,
        &[
            "1 added, 1 removed, 3 changed, 1 equal.",
            "<details class=\"object\" open>\n<summary><span class=\"change changed\">changed</span> <code>ConfigMap kinds</code></summary>",
            "<div class=\"pair\"><div class=\"minus\">-  title: &#39;&#39;\n</div><div class=\"plus\">+  title: hidden-value\n</div></div>",
            "<code>Secret keys</code>",
            "<details class=\"object\">\n<summary><span class=\"change changed\">changed</span> <code>ConfigMap chart</code> \
             <span class=\"change\">only labels of versions and checksums differ</span>",
        ],
    );
    let keys =
        manifests.split("<code>Secret keys</code>").nth(1).and_then(|rest| rest.split("</details>").next());
    assert!(!keys.expect("the Secret").contains("hidden-value"), "{manifests}");
}

#[test]
fn failure_has_its_place_and_excerpt_on_every_page() {
    let page = Page::of_sample(&[]);
    let fails = "kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: {{ required \"a name is needed\" .Values.absent }}\n";
    assert_has(
        &page.get(SHOP).body,
        &["<span class=\"chip \">not looked at yet</span>", "<span class=\"chip here\">"],
    );
    page.write("charts/shop/templates/broken.yaml", fails);
    let cause =
        ["a name is needed", "templates/broken.yaml", "required &#34;a name is needed&#34; .Values.absent"];
    let why = "<a href=\"/applications/argocd/shop/manifests\">See why</a>";
    until(|| {
        let manifests = page.get(&format!("{SHOP}/manifests"));
        // A change that is noticed after this answer makes its result unknown again.
        let overview = page.get(SHOP).body;
        let is_known = overview.contains("<span class=\"chip bad\">fails</span>");
        (manifests.status == 422 && is_known).then(|| {
            assert_has(&manifests.body, &cause);
            assert_has(&overview, &[why]);
        })
    });
    let change = [("/set.replicas", "7")];
    let pages = [
        page.get(&format!("{SHOP}/difference")),
        page.get(&format!("{SHOP}/sources?resolve=1")),
        page.post(&format!("{SHOP}/preview"), &change),
        page.post(&format!("{SHOP}/review"), &change),
    ];
    for answer in pages {
        assert_has(&answer.body, &cause);
    }
}

#[test]
fn equal_inputs_are_not_rendered_for_the_difference() {
    let page = Page::of_sample(&[]);
    let difference = page.get(&format!("{SHOP}/difference")).body;
    assert_has(&difference, &["Not rendered: its inputs are equal."]);
    assert!(!difference.contains("No object differs"), "{difference}");
}

#[test]
fn sources_have_all_repositories_and_the_rendered_revisions() {
    let world = page_kinds::world(PARAMETERS, GENERATE, "[]");
    let application = page_kinds::application("kinds", "[{name: replicas, string: '3'}]");
    let (head, source) = application.split_once("  source:\n").expect("a source");
    let source = source.trim_start();
    let files = "  sources:\n  - {repoURL: https://git.example.com/platform/files.git, targetRevision: main, ref: files}\n";
    world.write("sample/applications/kinds.yaml", &format!("{head}{files}  - {source}\n"));
    let page = page_kinds::serve_world(world);
    let sources = format!("{KINDS}/sources");
    let shown = page.get(&sources).body;
    assert_has(
        &shown,
        &[
            "<code>https://git.example.com/platform/files.git</code>",
            "files only <code>$files</code>",
            "<a href=\"/applications/argocd/kinds/sources?resolve=1\">Resolve</a>",
        ],
    );
    let resolved = page.get(&format!("{sources}?resolve=1"));
    assert_eq!(resolved.status, 200, "{}", resolved.body);
    assert_has(&resolved.body, &["<span class=\"chip good\">renders · 1 object</span>"]);
    assert!(!page.get(&sources).body.contains("Resolve</a>"), "the revision is known");
    assert_eq!(page.get(&format!("{KINDS}?source=2")).status, 200);
    for source in ["1", "99", "x"] {
        let missing = page.get(&format!("{KINDS}?source={source}"));
        assert_eq!(missing.status, 404);
        assert_has(&missing.body, &["<a href=\"/applications/argocd/kinds\">Back</a>"]);
    }
}

/// A set that generates the Application `made`.
const SET: &str = "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: previews, namespace: argocd}
spec:
  goTemplate: true
  generators:
  - list: {elements: [{title: first}]}
  template:
    metadata: {name: made}
    spec:
      project: default
      destination: {server: https://kubernetes.default.svc, namespace: kinds}
      source:
        repoURL: https://git.example.com/platform/sample.git
        path: kinds
        plugin: {name: kinds, parameters: [{name: title, string: '{{.title}}'}]}
";

#[test]
fn behaviour_27_application_of_a_set_names_its_owner_and_place() {
    let world = page_kinds::world(PARAMETERS, GENERATE, "[]");
    world.write("sample/applications/previews.yaml", SET);
    let page = page_kinds::serve_world(world);
    let made = "/applications/argocd/made";
    let shown = page.get(made).body;
    assert_has(
        &shown,
        &[
            "is generated by application set argocd/previews (./applications/previews.yaml:9:5)",
            "Owner: ApplicationSet <code>argocd/previews</code> in <code>applications/previews.yaml:9</code>",
        ],
    );
    assert_has(row(&shown, "title"), &["value=\"first\""]);
    let change = [("/title", "second")];
    let review = page.post(&format!("{made}/review"), &change).body;
    assert_has(&review, &["<code>kinds/.argocd-source-made.yaml</code>", "+  title: second"]);
    let refused = page.post(&format!("{made}/review"), &[change[0], ("write-to", "application")]).body;
    assert_has(&refused, &["generated by", "id=\"save\" disabled"]);
    let saved = page.post(&format!("{made}/save"), &[change[0], ("digest", &field(&review, "digest"))]);
    assert_eq!(saved.status, 303, "{}", saved.body);
    assert_has(&page.read("kinds/.argocd-source-made.yaml"), &["second"]);
    assert_eq!(page.read("applications/previews.yaml"), SET);
}

#[test]
fn behaviour_27_owner_that_the_document_names_is_linked() {
    let tracked = |owner: &str| {
        format!(
            "annotations: {{argocd.argoproj.io/tracking-id: '{owner}:argoproj.io/Application:argocd/NAME'}}"
        )
    };
    let referred = |kind: &str, name: &str| {
        format!("ownerReferences: [{{apiVersion: argoproj.io/v1alpha1, kind: {kind}, name: {name}}}]")
    };
    let link = |name: &str, file: &str| {
        format!(
            "<p>Owner: Application <a href=\"/applications/{name}\">{name}</a> in <code>applications/{file}:1</code></p>"
        )
    };
    let set = "<p>Owner: ApplicationSet <code>argocd/previews</code> in <code>applications/previews.yaml:1</code></p>";
    let cases = [
        (tracked("shop"), link("argocd/shop", "shop.yaml")),
        (tracked("team_all"), link("team/all", "all.yaml")),
        (tracked("all"), "<p>Owner: Application <code>all</code></p>".to_owned()),
        (referred("Application", "shop"), link("argocd/shop", "shop.yaml")),
        (referred("ApplicationSet", "previews"), set.to_owned()),
    ];
    let world = page_kinds::world(PARAMETERS, GENERATE, "[]");
    world.write("sample/applications/previews.yaml", SET);
    let write = |name: &str, namespace: &str, metadata: &str| {
        let metadata = format!("namespace: {namespace}, {}", metadata.replace("NAME", name));
        let application = page_kinds::application(name, "[]").replace("namespace: argocd", &metadata);
        world.write(&format!("sample/applications/{name}.yaml"), &application);
    };
    write("all", "team", "");
    for (number, (metadata, _)) in cases.iter().enumerate() {
        write(&format!("child{number}"), "argocd", metadata);
    }
    let page = page_kinds::serve_world(world);
    for (number, (_, expected)) in cases.iter().enumerate() {
        let shown = page.get(&format!("/applications/argocd/child{number}")).body;
        assert_has(&shown, &[expected, "which overwrites changes of the Application"]);
    }
}
