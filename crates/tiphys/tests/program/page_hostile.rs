//! The web page with input that others chose to break it.

use serde_json::{Value, json};

use crate::browser::Tab;
use crate::http::{assert_has, field};
use crate::page::{Page, SHOP, encoded, row};
use crate::page_kinds::{self, GENERATE, KINDS, PARAMETERS, application};
use crate::world::World;

/// Ends elements, runs a script, turns the direction of text around, and has control characters.
const EVIL: &str = "</textarea></title></script><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>\" \u{202e}\u{1}\u{1b}[2J";

/// Returns the faults of a page, whatever its strings are.
const SOUND: &str = "(() => {
    const count = (selector) => document.querySelectorAll(selector).length;
    if ('ran' in window) return 'a script ran';
    if (count('main') !== 1 || count('body > *') < 2) return 'the page is broken';
    if (count('script') > 2 || count('img') > 0) return 'elements were added';
    const code = document.querySelector('main code');
    if (code && getComputedStyle(code).unicodeBidi !== 'isolate') return 'the direction of text is not isolated';
    return '';
})()";

/// Every string that a plugin, an Application or a URL can choose.
fn evil_page() -> Page {
    let parameters = json!([
        {"name": EVIL, "title": EVIL, "tooltip": EVIL, "string": EVIL},
        {"name": "lines", "string": format!("{EVIL}\n{EVIL}")},
        {"name": "choice", "choices": [EVIL, "other"], "string": EVIL},
        {"name": "list", "collectionType": "array", "array": [EVIL]},
        {"name": "map", "collectionType": "map", "map": {EVIL: EVIL}},
        {"name": "number", "itemType": "number", "required": true},
    ]);
    let set = json!([
        {"name": EVIL, "string": format!("{EVIL}!")},
        {"name": "unknown <b>", "string": EVIL},
        {"name": "number", "string": EVIL},
    ]);
    let evil: String = EVIL.replace('\'', "'\\''").chars().filter(|char| !char.is_control()).collect();
    let generate = format!(
        "echo '{evil}' >&2\ncat <<'EOF'\n{}\nEOF",
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "evil", "labels": {"a": EVIL}}, "data": {"evil": EVIL},
        })
    );
    let world = page_kinds::world(&parameters.to_string(), &generate, &set.to_string());
    let other = application("other", "[]").replace("path: kinds", &format!("path: {}", json!(EVIL)));
    let other = other.replace("project: default", &format!("project: {}", json!(EVIL)));
    let other = other.replace("namespace: kinds", &format!("namespace: {}", json!(EVIL)));
    world.write("sample/applications/other.yaml", &other);
    page_kinds::serve_world(world)
}

#[test]
fn hostile_strings_run_no_script_and_break_no_page() {
    let page = evil_page();
    let mut tab = Tab::open(&page);
    let encoded = encoded(EVIL);
    for path in [
        "/applications".to_owned(),
        format!("/applications?q={encoded}&project={encoded}"),
        format!("/applications/argocd/{encoded}"),
        "/applications/argocd/other".to_owned(),
        "/applications/argocd/other/manifests".to_owned(),
        format!("{KINDS}/manifests"),
        format!("{KINDS}/difference?base={encoded}"),
        format!("{KINDS}/sources"),
        format!("{KINDS}?saved={encoded}&q={encoded}&group={encoded}"),
        KINDS.to_owned(),
    ] {
        tab.go(&path);
        assert_eq!(tab.eval(SOUND), "", "{path}");
    }
    let names =
        tab.eval("[...document.querySelectorAll('#rows [data-group] .row')].map((row) => row.dataset.name)");
    assert!(
        names.as_array().is_some_and(|names| names.contains(&json!(EVIL))),
        "{names} {}",
        tab.eval("document.body.innerText")
    );
    let text = "document.querySelector('[name=\"/lines\"]').value";
    assert_eq!(tab.eval(text), format!("{EVIL}\n{EVIL}"));
    tab.fill("/lines", &format!("{EVIL}{EVIL}"));
    tab.wait("document.querySelector('#preview').children.length > 0 && !document.querySelector('#preview').matches('[aria-busy]')");
    assert_eq!(tab.eval(SOUND), "", "preview");
    tab.fill("new-name", EVIL);
    tab.eval("document.querySelector('.bar button.main').click()");
    tab.wait("location.pathname.endsWith('/review') && document.readyState === 'complete'");
    assert_eq!(tab.eval(SOUND), "", "review");
}

#[test]
fn invisible_characters_are_marked_except_in_fields() {
    let page = page_kinds::serve(r#"[{name: title, string: "a\u202eb"}]"#);
    let shown = page.get(KINDS).body;
    assert_has(
        row(&shown, "title"),
        &[
            "value=\"a\u{202e}b\"",
            "<p>Has invisible characters: U+202E</p>",
            "<code class=\"value\">a<mark>[U+202E]</mark>b</code>",
        ],
    );
    let review = page.post(&format!("{KINDS}/review"), &[("/title", "a\u{200b}\u{ad}b")]);
    assert_has(
        &review.body,
        &[
            "name=\"/title\" value=\"a\u{200b}\u{ad}b\"",
            "<ins>a<mark>[U+200B]</mark><mark>[U+00AD]</mark>b</ins>",
            "$&#39;title=a\\u200b\\u00adb&#39;",
        ],
    );
    let manifests = page.get(&format!("{KINDS}/manifests")).body;
    assert_has(&manifests, &["a<mark>[U+202E]</mark>b"]);
    for body in [&review.body, &manifests] {
        assert!(
            !body.replace("value=\"a\u{200b}\u{ad}b\"", "").contains(['\u{202e}', '\u{200b}', '\u{ad}']),
            "{body}"
        );
    }
}

#[test]
fn large_value_is_answered_and_kept() {
    let page = page_kinds::serve("[]");
    let large = "x".repeat(1 << 20);
    let shown = page.post(KINDS, &[("/title", large.as_str()), ("op", "check")]);
    assert_eq!(shown.status, 200);
    assert_has(row(&shown.body, "title"), &[&format!("value=\"{large}\"")]);
    let review = page.post(&format!("{KINDS}/review"), &[("/title", &large)]);
    assert_has(&review.body, &["It does not render"]);
}

#[test]
fn twenty_thousand_parameters_are_shown_and_saved() {
    let names: Vec<Value> =
        (0..20_000).map(|number| json!({"name": format!("group.p{number}"), "string": "a"})).collect();
    let world = page_kinds::world(&Value::from(names).to_string(), GENERATE, "[]");
    let page = page_kinds::serve_world(world);
    let shown = page.get(&format!("{KINDS}?q=p19999"));
    assert_eq!(shown.status, 200);
    assert_has(&shown.body, &["1 of 20000 parameters", "name=\"/group.p19999\""]);
    assert_eq!(page.get(KINDS).body.matches("<div class=\"row\" id=\"p").count(), 20_000);
    let review = page.post(&format!("{KINDS}/review"), &[("/group.p19999", "b")]);
    assert_has(&review.body, &["Review 1 change", "<ins>b</ins>"]);
}

#[test]
fn plugin_that_hangs_keeps_set_values_visible() {
    let world = page_kinds::world(PARAMETERS, GENERATE, "[{name: title, string: mine}]");
    let hangs = "    dynamic: {command: [sh, -c, 'while :; do wait; done']}\n";
    let plugin = page_kinds::plugin(PARAMETERS, GENERATE) + hangs;
    world.write("sample/plugins/kinds/plugin.yaml", &plugin);
    let page = Page::serve(world, &["--plugins", "plugins", "--limit", "plugin-timeout=1"]);
    let shown = page.get(KINDS);
    assert_eq!(shown.status, 200);
    assert_has(&shown.body, &["The plugin could not announce its parameters", "plugin-timeout"]);
    assert_has(row(&shown.body, "title"), &["value=\"mine\""]);
}

#[test]
fn file_that_is_lost_or_broken_before_saving_is_reported() {
    for broken in [None, Some("kind: ["), Some("kind: ConfigMap\n")] {
        let page = Page::of_sample(&[]);
        let change = ("/set.replicas", "7");
        let review = page.post(&format!("{SHOP}/review"), &[change]);
        let digest = field(&review.body, "digest");
        let path = page.world.path("sample/applications/shop.yaml");
        match broken {
            None => std::fs::remove_file(&path).expect("the file can be removed"),
            Some(text) => page.write("applications/shop.yaml", text),
        }
        let saved = page.post(&format!("{SHOP}/save"), &[change, ("digest", &digest)]);
        assert!([404, 409, 422].contains(&saved.status), "{broken:?}: {} {}", saved.status, saved.body);
        assert_has(&saved.body, &["<h1>This did not work</h1>", "shop"]);
        assert_eq!(std::fs::read_to_string(&path).ok().as_deref(), broken, "nothing was written");
    }
}

/// An Application whose chart puts a value of a Secret into a `ConfigMap`, its project, and the cluster.
const OF_SECRET: &str = "apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: team, namespace: argocd}
spec:
  sourceRepos: ['*']
  destinations: [{server: '*', namespace: '*'}]
  namespaceReadOnlyAllowlist: [{kind: Secret, namespace: infra, name: keys}]
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: secret, namespace: argocd}
spec:
  project: team
  destination: {server: https://kubernetes.default.svc, namespace: web}
  source:
    repoURL: https://git.example.com/platform/sample.git
    path: charts/secret
    helm:
      dynamicParameters:
      - {name: password, resourceRef: {kind: Secret, namespace: infra, name: keys, path: .data.a}, decode: base64}
";

#[test]
fn values_of_secrets_reach_no_page() {
    let world = World::empty().with_programs(&["kustomize", "helm"].map(tiphys_testkit::tools::program));
    assert_eq!(world.run(&["init", "--example", "sample"]).code, 0);
    world
        .write("sample/applications/secret.yaml", OF_SECRET)
        .write("sample/charts/secret/Chart.yaml", "apiVersion: v2\nname: secret\nversion: 1.0.0\n")
        .write("sample/charts/secret/values.yaml", "password: ''\ntitle: old\n")
        .write(
            "sample/charts/secret/templates/a.yaml",
            "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata:\n  url: 'user:{{ .Values.password }}@{{ .Values.title }}'\n  base64: {{ b64enc .Values.password }}\n",
        )
        .write(
            "state/keys.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: keys, namespace: infra}\ndata: {a: aHVudGVyLTIyMg==}\n",
        );
    let state = world.path("state").display().to_string();
    let page = Page::serve(world, &["--cluster-state", &state]);
    let path = "/applications/argocd/secret";
    let change = [("/set.title", "new")];
    let shown = [
        page.get(path),
        page.get(&format!("{path}/manifests")),
        page.get(&format!("/api/v1{path}/manifests")),
        page.post(&format!("{path}/preview"), &change),
        page.post(&format!("{path}/review"), &change),
    ];
    for answer in &shown {
        assert_eq!(answer.status, 200, "{}", answer.body);
        for secret in ["hunter", "aHVudGVyLTIyMg"] {
            assert!(!answer.body.contains(secret), "{}", answer.body);
        }
    }
    for answer in &shown[1..] {
        assert_has(&answer.body, &["user:++++++++@", "++++++++=="]);
    }
    assert_has(&shown[4].body, &["+  url: user:++++++++@new"]);
}
