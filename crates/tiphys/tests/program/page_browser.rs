//! The web page in a browser: the numbers are those of the behaviours in `testdata/rules/web-page.md`.

use std::fmt::Write as _;

use serde_json::json;

use crate::browser::Tab;
use crate::page::{Page, SHOP};
use crate::page_kinds::{self, GENERATE, KINDS, PARAMETERS};

/// The value of the element with the focus, with its name.
const FOCUSED: &str = "document.activeElement.name + '=' + document.activeElement.value";

/// Focuses the first element of a selector, and presses a key.
fn press_on(tab: &mut Tab, selector: &str, key: &str) {
    tab.eval(&format!("document.querySelector({}).focus()", json!(selector)));
    tab.press(&[key]);
}

/// Whether the text of an element contains another text.
fn has(selector: &str, text: &str) -> String {
    format!("document.querySelector({})?.textContent.includes({}) === true", json!(selector), json!(text))
}

#[test]
fn behaviour_33_a_value_is_found_changed_reviewed_and_saved_by_keys() {
    let page = Page::of_sample(&[]);
    let mut tab = Tab::open(&page);
    tab.go("/applications");
    tab.press(&["/"]);
    tab.enter("shop");
    tab.press(&["Enter"]);
    tab.wait("location.search === '?q=shop' && document.readyState === 'complete'");
    tab.tab_to("e.matches('tbody th a') && e.textContent === 'argocd/shop'");
    tab.press(&["Enter"]);
    tab.wait(&format!(
        "location.pathname === '{SHOP}' && document.querySelector('#preview .empty') !== null"
    ));
    tab.press(&["/"]);
    tab.enter("replicas");
    tab.wait(&has("#shown", "1 of 17 parameters"));
    tab.tab_to("e.name === '/set.replicas'");
    tab.enter("7");
    tab.wait(&has("#preview", "+  replicas: 7"));
    assert_eq!(tab.eval(FOCUSED), "/set.replicas=7", "the preview takes no focus");
    let chain = "e.matches('.chain > summary') && e.closest('.row').dataset.name === 'replicas'";
    tab.tab_to(chain);
    tab.press(&["Enter"]);
    tab.wait("document.activeElement.parentElement.open === true");
    tab.press(&["Escape"]);
    tab.wait("document.activeElement.parentElement.open === false");
    assert_eq!(tab.eval(&format!("(e => {chain})(document.activeElement)")), true);
    tab.tab_to("e.matches('.bar button.main')");
    tab.press(&["Enter"]);
    tab.wait("document.querySelector('#review') !== null");
    tab.tab_to("e.id === 'save'");
    tab.press(&["Enter"]);
    tab.wait(&has(".notice.good", "Saved applications/shop.yaml"));
    assert!(page.read("applications/shop.yaml").contains("        replicas: 7\n"));
}

#[test]
fn behaviour_12_rows_of_a_list_keep_the_focus() {
    let page = page_kinds::serve("[]");
    let mut tab = Tab::open(&page);
    tab.go(KINDS);
    let rows = "[...document.querySelectorAll('[name^=\"/hosts/\"]')].map((one) => one.value).join(' ')";
    let expect = |tab: &mut Tab, values: &str, focused: &str| {
        tab.wait(&format!("{rows} === {} && {FOCUSED} === {}", json!(values), json!(focused)));
    };
    press_on(&mut tab, "[value='add:/hosts']", "Enter");
    expect(&mut tab, "a.example.com b.example.com ", "/hosts/2=");
    tab.enter("c");
    tab.press(&["Alt+ArrowUp"]);
    expect(&mut tab, "a.example.com c b.example.com", "/hosts/1=c");
    assert_eq!(tab.eval("document.activeElement.getAttribute('aria-label')"), "hosts, item 2 of 3");
    tab.press(&["Alt+ArrowDown"]);
    expect(&mut tab, "a.example.com b.example.com c", "/hosts/2=c");
    press_on(&mut tab, "[value='duplicate:/hosts/0']", "Enter");
    expect(&mut tab, "a.example.com a.example.com b.example.com c", "/hosts/1=a.example.com");
    press_on(&mut tab, "[value='down:/hosts/1']", " ");
    expect(&mut tab, "a.example.com b.example.com a.example.com c", "op=down:/hosts/2");
    press_on(&mut tab, "[value='remove:/hosts/3']", "Enter");
    expect(&mut tab, "a.example.com b.example.com a.example.com", "/hosts/2=a.example.com");
    assert_eq!(tab.eval("document.querySelector('#live').textContent"), "hosts: 3 items");
    press_on(&mut tab, "[value='remove:/hosts/0']", "Enter");
    expect(&mut tab, "b.example.com a.example.com", "/hosts/0=b.example.com");
    press_on(&mut tab, "[value='remove:/hosts/0']", "Enter");
    expect(&mut tab, "a.example.com", "/hosts/0=a.example.com");
    press_on(&mut tab, "[value='remove:/hosts/0']", "Enter");
    expect(&mut tab, "", "op=add:/hosts");
}

#[test]
fn behaviour_15_yaml_that_is_typed_survives_other_tabs() {
    let page = Page::of_sample(&[]);
    page.write("charts/shop/values.yaml", &(page.read("charts/shop/values.yaml") + "affinity: {}\n"));
    let mut tab = Tab::open(&page);
    tab.go(SHOP);
    tab.wait("document.querySelector('#preview .empty') !== null");
    tab.fill("/set.affinity", "cpu: 1\nmemory: [");
    let problem = has("[data-name=affinity] .problem", "line 2");
    tab.wait(&problem);
    press_on(&mut tab, ".tabs a[href$='/manifests']", "Enter");
    tab.wait("location.pathname.endsWith('/manifests') && document.readyState === 'complete'");
    press_on(&mut tab, ".tabs a", "Enter");
    tab.wait(&format!("location.pathname === '{SHOP}' && {problem}"));
    assert_eq!(tab.eval("document.getElementsByName('/set.affinity')[0].value"), "cpu: 1\nmemory: [");
}

#[test]
fn behaviour_18_reset_works_by_keys_and_after_discard() {
    let page = Page::of_sample(&[]);
    let mut tab = Tab::open(&page);
    tab.go(SHOP);
    let reset = "document.querySelector('[data-name=\"image.tag\"] [name^=\"state:\"]')?.value === 'reset'";
    for _ in 0..2 {
        tab.wait("document.querySelector('#preview .empty') !== null");
        press_on(&mut tab, "[value='reset:/set.image.tag']", "Enter");
        tab.wait(&format!("{reset} && document.activeElement.matches('.state') && document.querySelector('#count').textContent === '1'"));
        press_on(&mut tab, "#discard", "Enter");
        tab.wait("document.getElementsByName('/set.image.tag')[0]?.value === '1.4.0' && document.querySelector('#bar')?.hidden === true");
    }
    tab.wait("document.querySelector('#preview .empty') !== null");
    press_on(&mut tab, "[value='reset:']", "Enter");
    tab.wait(&format!("{reset} && document.querySelector('#count').textContent === '3' && document.activeElement.matches('.state')"));
    press_on(&mut tab, ".bar button.main", "Enter");
    tab.wait("document.querySelector('#review') !== null");
    tab.wait(&has(".command", "tiphys params unset"));
}

#[test]
fn behaviours_18_and_20_undo_restores_a_row_and_its_problem_in_place() {
    let page = page_kinds::serve("[]");
    let mut tab = Tab::open(&page);
    tab.go(KINDS);
    tab.wait("document.querySelector('#preview .empty') !== null");
    let summary = "document.querySelector('#summary section').innerText.replace(/\\s+/g, ' ')";
    let listed = "1 invalid replicas: a value is required, and there is no default";
    assert_eq!(tab.eval(summary), listed);
    assert_eq!(tab.eval("document.activeElement === document.body"), true, "the summary takes no focus");
    tab.tab_to("e.name === '/replicas'");
    tab.enter("7");
    tab.wait("document.querySelector('#summary section').checkVisibility() === false");
    tab.press(&["Tab"]);
    assert_eq!(tab.eval("document.activeElement.value"), "undo:/replicas");
    tab.press(&["Enter"]);
    tab.wait(&format!(
        "{FOCUSED} === '/replicas=' && document.querySelector('#bar').hidden && {summary} === {}",
        json!(listed)
    ));
    assert_eq!(tab.eval("document.querySelectorAll('.undo').length"), 0);
    tab.fill("new-value", "red");
    tab.wait(&has("#new-note .problem", "a name is required"));
    assert_eq!(tab.eval("document.querySelector('#new').ariaInvalid"), "true");
    press_on(&mut tab, "[value='undo:new']", "Enter");
    tab.wait(&format!("{FOCUSED} === 'new-name=' && document.querySelector('#bar').hidden"));
}

#[test]
fn behaviours_3_and_4_two_thousand_values_are_filtered_in_place() {
    let world = page_kinds::world(PARAMETERS, GENERATE, "[]");
    let mut values = String::new();
    for group in 0..20 {
        writeln!(values, "group{group}:").expect("a string");
        for number in 0..100 {
            writeln!(values, "  value{number}: text-{group}-{number}").expect("a string");
        }
    }
    world.write("sample/charts/shop/values.yaml", &values);
    let page = page_kinds::serve_world(world);
    let mut tab = Tab::open(&page);
    tab.go(SHOP);
    let total =
        tab.eval("document.querySelectorAll('#rows [data-group] .row').length").as_u64().expect("a number");
    assert!(total >= 2000, "{total}");
    tab.eval("window.kept = document.querySelector('[name=\"/set.group19.value99\"]')");
    tab.press(&["/"]);
    tab.enter("TEXT-19-99");
    tab.wait(&has("#shown", &format!("1 of {total} parameters")));
    tab.wait("new URL(location.href).searchParams.get('q') === 'TEXT-19-99'");
    assert_eq!(tab.eval("document.querySelector('#shown').getAttribute('role')"), "status");
    let shown =
        "[...document.querySelectorAll('#rows [data-group] .row')].filter((one) => one.checkVisibility())";
    assert_eq!(tab.eval(&format!("{shown}.map((one) => one.dataset.name).join()")), "group19.value99");
    assert_eq!(tab.eval("window.kept.isConnected"), true, "in place");
    tab.reload();
    tab.wait("!('kept' in window) && document.querySelector('#preview .empty') !== null");
    assert_eq!(tab.eval(&format!("{shown}.length")), 1);
    press_on(&mut tab, "[name=set]", " ");
    tab.wait(&has("#shown", &format!("0 of {total} parameters")));
    let buttons =
        tab.eval("document.querySelectorAll('#rows .row button[name=op]:not([type=button])').length");
    assert!(buttons.as_u64() < Some(100), "{buttons} loaded buttons submit, which takes seconds");
    tab.wait("new URL(location.href).searchParams.get('set') === '1'");
}

#[test]
fn behaviours_21_and_24_an_older_preview_is_dropped_and_ends() {
    let world = page_kinds::world(PARAMETERS, GENERATE, "[]");
    let pipe = world.pipe("pipe");
    let hold = format!(
        "if [ \"$PARAM_TITLE\" = slow ]; then\n  exec 3>'{}'\n  echo started >&3\n  setsid sleep 1000 &\n  wait\nfi\n{GENERATE}",
        world.path("pipe").display()
    );
    world.write("sample/plugins/kinds/plugin.yaml", &page_kinds::plugin(PARAMETERS, &hold));
    let page = page_kinds::serve_world(world);
    let mut tab = Tab::open(&page);
    tab.go(KINDS);
    tab.tab_to("e.name === '/title'");
    tab.enter("slow");
    assert_eq!(pipe.line(), "started");
    assert_eq!(tab.eval("document.querySelector('#preview').getAttribute('aria-busy')"), "true");
    tab.press(&["Shift+Tab", "Tab"]);
    tab.enter("fast");
    tab.wait(&has("#preview", "+  title: fast"));
    assert_eq!(tab.eval(FOCUSED), "/title=fast");
    pipe.ends();
}

#[test]
fn behaviour_24_a_page_names_what_it_waits_for_and_can_be_cancelled() {
    let (page, pipe) = page_kinds::serve_holding();
    let mut tab = Tab::open(&page);
    tab.go(KINDS);
    tab.fill("/title", "slow");
    assert_eq!([pipe.line(), pipe.line()], ["started", "started"], "the saved and the unsaved values");
    let working = "document.querySelector('#working').innerText";
    tab.wait(&format!("/^rendering and comparing \\d+ s Cancel$/.test({working})"));
    press_on(&mut tab, "#working button", "Enter");
    pipe.ends();
    assert_eq!(tab.eval("document.querySelector('#working').hidden"), true);
    assert_eq!(tab.eval(&has("#preview", "Cancelled.")), true);
    // Chromium answers no expressions while it loads a page.
    tab.eval(
        "new MutationObserver(() => {
            const working = document.querySelector('#working');
            if (!working.checkVisibility()) return;
            window.waited = working.innerText;
            working.querySelector('button').click();
        }).observe(document.querySelector('#working'), {attributes: true, childList: true, subtree: true})",
    );
    press_on(&mut tab, &format!("a[href='{KINDS}/manifests']"), "Enter");
    assert_eq!(tab.eval("/^[a-z ]+ \\d+ s Cancel$/.test(window.waited)"), true, "the page stays");
    assert_eq!(tab.eval("document.querySelector('#working').hidden"), true);
}

#[test]
fn behaviour_25_lines_are_shown_side_by_side_if_chosen() {
    let page = Page::of_sample(&[]);
    let mut tab = Tab::open(&page);
    let review = |tab: &mut Tab| {
        tab.go(SHOP);
        tab.fill("/set.replicas", "7");
        tab.eval("document.querySelector('.bar button.main').click()");
        tab.wait("document.querySelector('#review') !== null");
        tab.loaded();
    };
    let left =
        "(selector => document.querySelector(`.object .pair > ${selector}`).getBoundingClientRect().left)";
    let is_split = format!("{left}('.plus') > {left}('.minus') + 100");
    review(&mut tab);
    assert_eq!(tab.eval(&is_split), false);
    assert_eq!(
        tab.eval("document.querySelector('.object .pair').textContent"),
        "-  replicas: 3\n+  replicas: 7\n"
    );
    press_on(&mut tab, "#split", " ");
    tab.wait(&is_split);
    review(&mut tab);
    tab.wait(&is_split);
    tab.size(800, 800);
    tab.wait(&format!("!({is_split})"));
    let fold = "document.querySelector('.object .fold')";
    assert_eq!(tab.eval(&format!("{fold}.open")), false);
    press_on(&mut tab, ".object .fold > summary", "Enter");
    tab.wait(&format!("{fold}.open && {fold}.textContent.includes('kind: Deployment')"));
    tab.eval("document.activeElement.blur()");
    tab.press(&["n"]);
    tab.wait("document.activeElement.matches('.object > summary')");
}

#[test]
fn behaviour_31_unsaved_values_survive_reloads_and_changes_of_files() {
    let page = Page::of_sample(&[]);
    let mut tab = Tab::open(&page);
    tab.go(SHOP);
    tab.tab_to("e.name === '/set.image.tag'");
    tab.enter("2.0.0");
    tab.reload();
    assert_eq!(tab.answer_dialog(false), "beforeunload");
    assert_eq!(tab.eval(FOCUSED), "/set.image.tag=2.0.0", "the page stays");
    tab.eval("window.before = true");
    tab.reload();
    assert_eq!(tab.answer_dialog(true), "beforeunload");
    let row = "document.querySelector('[data-name=\"image.tag\"]')";
    tab.wait(&format!("!('before' in window) && {row}?.matches('.changed') === true"));
    let value = format!("{row}.querySelector('input:not([type=hidden])').value");
    assert_eq!(tab.eval(&value), "2.0.0", "the draft is restored");
    tab.wait(&has("#preview", "2.0.0"));
    let file = page.read("applications/shop.yaml");
    page.write("applications/shop.yaml", &file.replace("1.4.0", "1.4.1"));
    tab.wait("document.querySelector('#moved').hidden === false");
    let mark = "[data-name=\"image.tag\"] .note > .problem.conflict";
    tab.wait(&has(mark, "Changed in the files meanwhile. Yours is kept."));
    assert_eq!(tab.eval(&value), "2.0.0", "the field is not changed");
    press_on(&mut tab, "#moved a", "Enter");
    tab.wait(&format!(
        "{row}?.textContent.includes('Changed in the files meanwhile. Yours is kept.') === true"
    ));
    assert_eq!(tab.eval(&value), "2.0.0");
}
