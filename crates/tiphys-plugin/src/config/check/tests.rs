use super::{Level, ProgramState, Rule, check};

/// The rules of the findings for a file with this `generate` and discovery, in order.
fn rules_of_command(generate: &str) -> Vec<&'static str> {
    let text = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ConfigManagementPlugin\nmetadata: {{name: p}}\nspec:\n  \
         discover: {{fileName: x}}\n  generate: {generate}\n"
    );
    check(text.as_bytes(), "plugin.yaml", &|_| ProgramState::Found)
        .findings
        .iter()
        .map(|finding| finding.rule.name())
        .collect()
}

#[test]
fn script_follows_the_c_option_of_a_shell() {
    let cases: &[(&str, &[&str])] = &[
        (r#"{command: [sh, -c, "a\nb"]}"#, &["embedded-script"]),
        (r#"{command: [sh], args: [-c, "a\nb"]}"#, &["embedded-script"]),
        (r#"{command: [sh, -c], args: ["a\nb"]}"#, &["embedded-script"]),
        (r#"{command: [/usr/bin/bash, -e, -o, pipefail, -xc, "a\nb"]}"#, &["embedded-script"]),
        (r#"{command: [sh, -c, "a\n"]}"#, &[]),
        (r#"{command: [python3, -c, "a\nb"]}"#, &[]),
        (r#"{command: [sh, /script.sh, "a\nb"]}"#, &[]),
        ("{command: [sh, -c]}", &[]),
    ];
    for (generate, expected) in cases {
        assert_eq!(&rules_of_command(generate), expected, "{generate}");
    }
}

#[test]
fn eval_and_xargs_are_found_only_as_commands() {
    let cases: &[(&str, &[&str])] = &[
        ("eval $x", &["eval-in-script"]),
        ("a && A=b eval $x", &["eval-in-script"]),
        ("while eval $x; do b; done", &["eval-in-script"]),
        ("x=$(eval $y)", &["eval-in-script"]),
        ("yq eval . a.yaml", &[]),
        ("echo eval", &[]),
        ("echo a # ; eval b", &[]),
        (r"echo a\\; eval", &[]),
        ("jq -r '.a | eval'", &[]),
        (r#"echo \"a; eval b\""#, &[]),
        ("echo $X | xargs helm", &["xargs-in-script"]),
        ("echo $X | xargs -n1 helm", &["xargs-in-script"]),
        ("a | xargs -0 helm", &[]),
        ("a | xargs --null helm", &[]),
        (r"a | xargs -d '\\n' helm", &[]),
        ("echo xargs", &[]),
    ];
    for (script, expected) in cases {
        assert_eq!(&rules_of_command(&format!("{{command: [sh, -c, \"{script}\"]}}")), expected, "{script}");
    }
}

#[test]
fn rule_names_are_unique_and_kebab_case() {
    let names: std::collections::BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(names.len(), Rule::ALL.len());
    assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')), "{names:?}");
}

#[test]
fn valid_file_has_only_warnings() {
    let warnings_only =
        b"kind: ConfigManagementPlugin\nmetadata: {name: p}\nspec: {generate: {command: [g]}}\n";
    let report = check(warnings_only, "plugin.yaml", &|_| ProgramState::Found);
    assert!(
        !report.findings.is_empty()
            && report.findings.iter().all(|finding| finding.rule.level() == Level::Warning)
    );
}
