use clap::Parser;
use serde_json::{Map, Value, json};
use tiphys_engine::diff::{Comparison, compare};
use tiphys_engine::{Deletion, Manifest};
use tiphys_service::{UnknownSet, Warning};
use tiphys_store::SetId;

use super::{ApplicationDiff, ChangedSetting, Presence, Sides, html, json, markdown, unified};
use crate::args::{Arguments, Command, DiffOutputArgs};
use crate::error::ServiceError;

fn output_args(args: &[&str]) -> DiffOutputArgs {
    let arguments = Arguments::try_parse_from([&["tiphys", "diff"], args].concat()).expect("valid arguments");
    match arguments.command {
        Command::Diff(args) => args.shown,
        other => panic!("{other:?}"),
    }
}

fn sides() -> Sides {
    Sides::new("live", "rendered")
}

fn config_map(name: &str, value: &str) -> Manifest {
    let object =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": value}});
    match object {
        Value::Object(object) => Manifest::new(object),
        _ => Manifest::new(Map::new()),
    }
}

fn application(name: &str, result: Result<Comparison, ServiceError>) -> ApplicationDiff {
    ApplicationDiff {
        namespace: "argocd".to_owned(),
        name: name.to_owned(),
        presence: Presence::Both,
        deletion: Deletion::Cascading,
        settings: Vec::new(),
        warnings: Vec::new(),
        base_error: None,
        result,
    }
}

/// An application with this number of changed objects, each with this number of changed lines.
fn changed(name: &str, objects: usize, lines: usize) -> ApplicationDiff {
    let side = |text: &str| -> Vec<Manifest> {
        let value = format!("{text}\n").repeat(lines);
        (0..objects).map(|number| config_map(&format!("{name}-{number}"), &value)).collect()
    };
    application(name, Ok(compare(&side("old ```` text"), &side("new"))))
}

/// Whether all fences (`CommonMark`) and all sections outside of them are closed.
fn is_closed(text: &str) -> bool {
    let mut fence: Option<usize> = None;
    let mut folds = 0;
    for line in text.lines() {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let rest = &line[indent..];
        let run = rest.len() - rest.trim_start_matches('`').len();
        match fence {
            None if run >= 3 && indent < 4 => fence = Some(run),
            Some(open) if run >= open && indent < 4 && rest[run..].trim().is_empty() => fence = None,
            None if line == "<details>" => folds += 1,
            None if line == "</details>" => folds -= 1,
            _ => {}
        }
    }
    fence.is_none() && folds == 0
}

#[test]
fn differences_contain_no_ci_commands() {
    let side = |text: &str| vec![config_map("x", &format!("{text}\n::add-mask::a\n##vso[b]\u{202e}\n"))];
    let applications = [application("app", Ok(compare(&side("old"), &side("new"))))];
    for text in [
        unified::text(&applications, &sides(), 3, unified::Colours::None),
        markdown::text(&applications, &sides(), &output_args(&[])),
    ] {
        assert!(text.contains(r"\u{3a}:add-mask::a"), "{text}");
        assert!(text.contains(r"\u{23}#vso[b]\u{202e}"), "{text}");
        assert!(!text.lines().any(|line| line.trim_start().starts_with("::")), "{text}");
    }
    let report = html::text(&applications, &sides(), 3).expect("a report");
    assert!(report.contains(r"\u{23}#vso[b]<mark>[U+202E]</mark>"), "{report}");
    assert!(!report.lines().any(|line| line.trim_start().starts_with("::")), "{report}");
}

#[test]
fn comment_fits_and_is_always_closed() {
    let applications: Vec<ApplicationDiff> = (0..12)
        .map(|number| match number % 4 {
            0 => application(&format!("equal-{number}"), Ok(Comparison::default())),
            1 => application(
                &format!("failed-{number}"),
                Err(ServiceError::rendering("line\n```\n<b>".repeat(20))),
            ),
            _ => changed(&format!("changed-{number}"), number, number * 3),
        })
        .collect();
    let mut last = 0;
    for bytes_max in (2_000..40_000).step_by(997) {
        let args = output_args(&[&format!("--max-bytes={bytes_max}")]);
        let text = markdown::text(&applications, &sides(), &args);
        assert!(text.len() <= bytes_max, "{} of {bytes_max}", text.len());
        assert!(is_closed(&text), "{bytes_max}: {text}");
        last = text.len();
    }
    assert!(last > 20_000, "the limit is used: {last}");
}

#[test]
fn comment_begins_with_what_happens_to_applications() {
    let objects = |names: &[&str]| names.iter().map(|name| config_map(name, "x")).collect::<Vec<_>>();
    let removed = |name: &str, deletion| ApplicationDiff {
        presence: Presence::Removed,
        deletion,
        ..application(name, Ok(compare(&objects(&["a", "b"]), &[])))
    };
    let created = |name: &str| ApplicationDiff {
        presence: Presence::Added,
        ..application(name, Ok(compare(&[], &objects(&["a"]))))
    };
    let applications = [
        changed("changed", 3, 1),
        created("created"),
        created("new"),
        application("equal", Ok(Comparison::default())),
        application("failed", Err(ServiceError::rendering("no"))),
        removed("gone", Deletion::Cascading),
        removed("kept", Deletion::NonCascading),
        removed("old", Deletion::Cascading),
    ];
    let mut sides = Sides { renamed: vec![("argocd/old".to_owned(), "argocd/new".to_owned())], ..sides() };
    let set = SetId { namespace: "argocd".to_owned(), name: "teams".to_owned() };
    sides.sets.not_compared.push(UnknownSet { set, reason: "left out".to_owned() });
    let text = markdown::text(&applications, &sides, &output_args(&[]));
    let top: Vec<&str> = text.lines().take_while(|line| *line != "<details>").collect();
    let expected = "\
### Manifests: **2 applications deleted**, 1 created, 1 changed, 1 renamed, 1 not compared, 1 application set not compared

From `live` to `rendered`: applications that differ: 6 of 8; objects: 2 added, 6 removed, 3 changed, 0 equal.

**<code>argocd/gone</code> is deleted**: its 2 objects are deleted with it.

**<code>argocd/kept</code> is deleted**: its 2 objects stay in the cluster, since it has no finalizer `resources-finalizer.argocd.argoproj.io`.

**<code>argocd/old</code> is renamed to <code>argocd/new</code>**, so Argo CD deletes the first: its 2 objects are deleted with it.

| application | what happens | objects added | changed | removed |
|---|---|---:|---:|---:|
| <code>argocd/gone</code> | **deleted** | 0 | 0 | 2 |
| <code>argocd/kept</code> | **deleted** | 0 | 0 | 2 |
| <code>argocd/old</code> → <code>argocd/new</code> | **renamed** | 1 | 0 | 2 |
| <code>argocd/failed</code> | not compared | ? | ? | ? |
| <code>ApplicationSet argocd/teams</code> | not compared | ? | ? | ? |
| <code>argocd/created</code> | created | 1 | 0 | 0 |
| <code>argocd/changed</code> | changed | 0 | 3 | 0 |
";
    assert_eq!(top.join("\n"), expected);
    let list: Vec<Value> = serde_json::from_str(&json::text(&applications, &sides, 3)).expect("a list");
    let renamed = list.iter().filter(|one| one["renamedFrom"].is_string() || one["renamedTo"].is_string());
    let renamed: Vec<Value> = renamed
        .map(|one| json!([one["application"], one["change"], one["renamedFrom"], one["renamedTo"]]))
        .collect();
    let expected_json = json!([["new", "added", "argocd/old", null], ["old", "removed", null, "argocd/new"]]);
    assert_eq!(Value::Array(renamed), expected_json);
    let full = markdown::text(&applications, &sides, &output_args(&["--max-bytes=2500"]));
    for line in expected.lines().filter(|line| line.starts_with("**")) {
        assert!(full.contains(line), "{line} {full}");
    }
}

#[test]
fn deletions_and_failures_are_omitted_last() {
    let gone = |name: &str, deletion| ApplicationDiff {
        presence: Presence::Removed,
        deletion,
        ..application(name, Ok(compare(&[config_map("a", "x")], &[])))
    };
    let mut applications: Vec<ApplicationDiff> =
        (0..40).map(|number| changed(&format!("changed-{number}"), 1, 1)).collect();
    for one in &mut applications {
        one.settings =
            vec![ChangedSetting { field: "spec.project", before: None, after: Some("b".to_owned()) }];
        one.warnings.push(Warning::from("a warning ".repeat(50)));
    }
    applications.push(application("failed", Err(ServiceError::rendering("the cause ".repeat(20)))));
    applications.push(gone("gone", Deletion::Cascading));
    applications.push(gone("kept", Deletion::NotPermitted));
    let mut sides = sides();
    sides.sets.errors.push("error: application set teams: failed".to_owned());
    let text = markdown::text(&applications, &sides, &output_args(&["--max-bytes=2300"]));
    for shown in [
        "### Manifests: **1 application deleted**, 1 kept by its set, 40 changed, 1 not compared",
        "**<code>argocd/gone</code> is deleted**: its only object is deleted with it.",
        "**<code>argocd/kept</code> is kept by its set**: its ApplicationSet does not generate it any more, and has a policy that does not permit to delete it, so its only object stays, too.",
        "the cause the cause",
        "error: application set teams: failed",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    assert!(text.contains("**Incomplete: ") && !text.contains("a warning"), "{text}");
    assert!(text.len() <= 2_300 && is_closed(&text), "{text}");
}

#[test]
fn comment_of_a_failure_is_short_and_closed() {
    for error in ["error: no".to_owned(), "é``` line\n".repeat(500)] {
        let text = markdown::failure(&error);
        assert!(text.starts_with("### Manifests: not compared\n\n```"), "{text}");
        assert!(text.len() <= 2_000 && is_closed(&text), "{text}");
    }
}

#[test]
fn objects_omitted_from_a_comment_are_counted_and_named() {
    let applications = [changed("large", 1, 2_000), changed("small", 1, 1), changed("many", 90, 400)];
    let text = markdown::text(&applications, &sides(), &output_args(&["--max-bytes=4000"]));
    let rest = text.lines().last().expect("no lines");
    assert!(
        rest.starts_with("Omitted, the comment is full (91): `ConfigMap large-0 of argocd/large`, "),
        "{rest}"
    );
    let named = rest.matches("` ").count() + rest.matches("`,").count();
    assert!(rest.ends_with(&format!(" and {} more.", 91 - named)), "{named}: {rest}");
    assert!(
        text.contains("<summary><code>argocd/small</code>: 1 changed</summary>\n\n`````diff\n"),
        "{text}"
    );
    assert!(!text.contains("<summary><code>argocd/large</code>"), "{text}");
}

#[test]
fn failure_in_a_comment_does_not_close_its_fence() {
    let failed = application("a", Err(ServiceError::rendering("</details>\n```\n# heading")));
    let text = markdown::text(&[failed], &sides(), &output_args(&[]));
    let block = "<summary>1 application not compared</summary>\n\n````text\n</details>\n  ```\n  # heading\n````\n\n</details>\n";
    assert!(text.contains(block), "{text}");
}

#[test]
fn names_in_a_comment_are_escaped() {
    let tags = ("</summary>`x`\n\u{1b}&", "&#60;/summary&#62;&#96;x&#96;&#92;n&#92;u&#123;1b&#125;&#38;");
    let markdown = (
        "![](http://x)[approved](y)@org **b** #1",
        "&#33;&#91;&#93;(http&#58;//x)&#91;approved&#93;(y)&#64;org &#42;&#42;b&#42;&#42; &#35;1",
    );
    for (name, shown) in [tags, markdown] {
        let added =
            ApplicationDiff { presence: Presence::Added, ..application(name, Ok(Comparison::default())) };
        for (application, expected) in [
            (changed(name, 1, 1), format!("\n<summary><code>argocd/{shown}</code>: 1 changed</summary>\n")),
            (added, format!("\n| <code>argocd/{shown}</code> | created | 0 | 0 | 0 |\n")),
        ] {
            let text = markdown::text(&[application], &sides(), &output_args(&[]));
            assert!(text.contains(&expected), "{expected} {text}");
        }
    }
}

#[test]
fn colours_surround_lines_and_removed_lines_are_no_headings() {
    let application =
        application("a", Ok(compare(&[config_map("a", "\n-- x\n")], &[config_map("a", "\n++ y\n")])));
    let text = unified::text(std::slice::from_ref(&application), &sides(), 0, unified::Colours::Shown);
    let expected = "\u{1b}[1m--- live: ConfigMap a\u{1b}[0m\n\u{1b}[1m+++ rendered: ConfigMap a\u{1b}[0m\n\u{1b}[36m@@ -5 +5 @@\u{1b}[0m\n\u{1b}[31m-    -- x\u{1b}[0m\n\u{1b}[32m+    ++ y\u{1b}[0m\n";
    assert_eq!(text, expected);
    let plain = unified::text(&[application], &sides(), 0, unified::Colours::None);
    assert_eq!(
        plain,
        "--- live: ConfigMap a\n+++ rendered: ConfigMap a\n@@ -5 +5 @@\n-    -- x\n+    ++ y\n"
    );
}

#[test]
fn escaping_keeps_style_and_script_of_a_report() {
    let report = tiphys_web::DifferenceReport::default().to_html().expect("a report");
    assert_eq!(tiphys_process::escape_text(&report), report);
}
