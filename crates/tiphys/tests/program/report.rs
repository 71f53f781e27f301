//! The report of `diff -o html` in a browser.

use std::fmt::Write as _;
use std::fs;

use serde_json::json;

use crate::browser::Tab;
use crate::world::{TIPHYS, URL, World};

/// Applications with this number of added `ConfigMap`s, compared with an empty cluster. Each has its number in its name and a script in its data.
fn report(applications: &[(&str, usize)]) -> World {
    let world = World::new();
    for (name, objects) in applications {
        let application = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\nspec:\n  \
             source: {{repoURL: {URL}, path: {name}}}\n  destination: {{namespace: shop, server: https://kubernetes.default.svc}}\n"
        );
        world.write(&format!("store/{name}.yaml"), &application);
        let mut manifests = String::new();
        for number in 0..*objects {
            let object = json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("{name}-{number}")},
                "data": {"evil": "</pre><img src=x onerror='window.ran = 1'><script>window.ran = 1</script>", "text": format!("Of-{number}.")},
            });
            writeln!(manifests, "{object}\n---").expect("a string");
        }
        world.write(&format!("repo/{name}/all.yaml"), &manifests);
    }
    world.write("live/other.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: other}}");
    let repository = format!("{URL}=repo");
    let mut diff = world.command(TIPHYS);
    diff.args(["diff", "--store", "store", "--repo", &repository, "--cluster-state", "live", "-o", "html"]);
    let output = world.finish(diff);
    assert_eq!(output.code, 1, "{}", output.stderr);
    fs::write(world.path("report.html"), output.stdout).expect("the report is written");
    world
}

/// The number of objects that are displayed.
const SHOWN: &str = "[...document.querySelectorAll('.object')].filter((one) => one.checkVisibility()).length";

/// Searches, and returns how many objects are displayed.
fn search(tab: &mut Tab, text: &str) -> u64 {
    tab.fill("search", text);
    tab.eval(SHOWN).as_u64().expect("a number")
}

#[test]
fn report_is_searchable_and_runs_only_its_script() {
    let world = report(&[("shop", 3), ("billing", 9_997)]);
    let mut tab = Tab::of_files(&world);
    tab.go("report.html");
    assert_eq!(tab.eval(SHOWN), 10_000);
    for (text, objects) in
        [("configmap shop/billing-77", 111), ("of-2.", 2), ("argocd/shop", 3), ("absent", 0), ("", 10_000)]
    {
        assert_eq!(search(&mut tab, text), objects, "{text}");
    }
    assert_eq!(search(&mut tab, "SHOP-1"), 1);
    assert_eq!(tab.eval("document.querySelector('#shown').textContent"), "1 of 10000 objects");
    assert_eq!(tab.eval("document.querySelectorAll('.panel:not([hidden])').length"), 1);
    tab.eval("document.querySelector('.panel:not([hidden]) > summary').click()");
    assert_eq!(tab.eval(SHOWN), 0);
    assert_eq!(tab.eval("'ran' in window"), false);
    assert_eq!(tab.eval("document.querySelectorAll('img').length"), 0);
    assert_eq!(tab.eval("performance.getEntriesByType('resource').length"), 0);
    assert_eq!(tab.eval("fetch('report.html').then(() => 'loaded', () => 'refused')"), "refused");
}
