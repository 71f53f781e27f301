//! The web page checked by axe-core: the number is that of the behaviour in `testdata/rules/web-page.md`.

use serde_json::{Value, json};

use crate::browser::Tab;
use crate::page::SHOP;
use crate::page_kinds::{self, KINDS};

/// axe-core 4.14.1, for tests only.
const AXE: &str = include_str!("../../testdata/page/axe.min.js");

/// Returns the violations of WCAG 2.2 A and AA with the first element of each.
const VIOLATIONS: &str = "axe.run(document, {
    runOnly: {type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']},
    rules: {'target-size': {enabled: true}},
    resultTypes: ['violations'],
}).then(({ violations }) => violations.map(({ id, nodes }) =>
    `${id} (${nodes.length}): ${nodes[0].html.slice(0, 200)} ${nodes[0].failureSummary}`))";

/// The media features of each appearance.
const APPEARANCES: [&[(&str, &str)]; 3] = [
    &[("prefers-color-scheme", "light"), ("forced-colors", "none")],
    &[("prefers-color-scheme", "dark"), ("forced-colors", "none")],
    &[("prefers-color-scheme", "light"), ("forced-colors", "active")],
];

/// Widths in CSS pixels: a laptop, and a telephone or a zoom of 400 %.
const WIDTHS: [u32; 2] = [1280, 320];

/// Checks the present page in all appearances and widths.
fn check(tab: &mut Tab, state: &str, found: &mut Vec<String>) {
    tab.eval(&format!("'axe' in window || void eval?.({})", json!(AXE)));
    for width in WIDTHS {
        tab.size(width, 800);
        let needed = tab.eval("scrollTo(0, 0); document.documentElement.scrollWidth").as_u64().unwrap_or(0);
        if needed > u64::from(width) {
            found.push(format!("{state}, {width} px: needs {needed} px"));
        }
        for media in APPEARANCES {
            tab.media(media);
            let violations = tab.eval(VIOLATIONS);
            let violations = violations.as_array().into_iter().flatten().filter_map(Value::as_str);
            found.extend(violations.map(|violation| format!("{state}, {width} px, {media:?}: {violation}")));
        }
    }
    tab.media(APPEARANCES[0]);
    tab.size(WIDTHS[0], 800);
}

/// Enters a value, and presses a button of the bar.
fn review(tab: &mut Tab, name: &str, value: &str) {
    tab.fill(name, value);
    tab.eval("document.querySelector('.bar button.main').click()");
}

#[test]
fn behaviour_34_pages_have_no_violations_of_wcag() {
    let page = page_kinds::serve("[{name: limits, map: {cpu: '2'}}, {name: colour, string: red}]");
    let mut tab = Tab::open(&page);
    let mut found = Vec::new();
    for (state, path) in [
        ("list", "/applications".to_owned()),
        ("parameters of a chart", SHOP.to_owned()),
        ("parameters of each kind", KINDS.to_owned()),
        ("manifests", format!("{SHOP}/manifests")),
        ("difference", format!("{SHOP}/difference")),
        ("sources", format!("{SHOP}/sources")),
        ("message", "/applications/argocd/none".to_owned()),
    ] {
        tab.go(&path);
        check(&mut tab, state, &mut found);
    }
    tab.go(SHOP);
    review(&mut tab, "/set.replicas", "3x");
    tab.wait("document.querySelector('#problems') !== null");
    check(&mut tab, "invalid value", &mut found);
    review(&mut tab, "/set.replicas", "7");
    tab.wait("document.querySelector('#review') !== null");
    check(&mut tab, "review", &mut found);
    assert!(found.is_empty(), "{}", found.join("\n"));
    tab.eval("void document.querySelector('main').append(document.createElement('input'))");
    check(&mut tab, "an input without a label", &mut found);
    assert!(found.iter().all(|found| found.contains(": label (1)")) && found.len() == 6, "{found:?}");
}
