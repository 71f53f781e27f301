//! `docs/plugin-rules.md` explains every rule of `plugin check` with tested examples.
//!
//! The section of a rule contains its level, a bad and a good example. An example consists of one or more blocks: `yaml` is a part of a
//! plugin's file, completed here (a whole file begins with `apiVersion`); `json` is the output of the dynamic command.

use std::collections::BTreeMap;
use std::fs;

use tiphys_plugin::config::check::{Finding, ProgramState, Rule, check, check_announced};
use tiphys_plugin::config::read;
use tiphys_testkit::workspace_root;

/// A rule's section.
#[derive(Debug, Default)]
struct Section {
    text: String,
    bad: Vec<Block>,
    good: Vec<Block>,
}

/// A fenced block: its language and its lines.
#[derive(Debug)]
struct Block {
    language: String,
    text: String,
}

fn sections() -> BTreeMap<String, Section> {
    let page = fs::read_to_string(workspace_root().join("docs/plugin-rules.md")).expect("the page is there");
    let mut sections: BTreeMap<String, Section> = BTreeMap::new();
    for part in page.split("\n### ").skip(1) {
        // The heading of the next group ends a section.
        let part = part.split("\n## ").next().unwrap_or_default();
        let (name, text) = part.split_once('\n').expect("a section has text");
        let (text, examples) =
            text.split_once("\nBad:\n").unwrap_or_else(|| panic!("{name}: no bad example"));
        let (bad, good) =
            examples.split_once("\nGood:\n").unwrap_or_else(|| panic!("{name}: no good example"));
        let section = Section { text: text.to_owned(), bad: blocks(bad), good: blocks(good) };
        assert!(!section.bad.is_empty() && !section.good.is_empty(), "{name}: an example has a block");
        assert!(sections.insert(name.to_owned(), section).is_none(), "{name} has two sections");
    }
    sections
}

fn blocks(text: &str) -> Vec<Block> {
    let fences: Vec<&str> = text.split("```").collect();
    fences
        .chunks_exact(2)
        .map(|pair| {
            let (language, text) = pair[1].split_once('\n').expect("a block has lines");
            Block { language: language.to_owned(), text: text.to_owned() }
        })
        .collect()
}

/// Completes the part of a file in an example.
fn whole_file(part: &str) -> String {
    if part.starts_with("apiVersion") {
        return part.to_owned();
    }
    let mut text = "apiVersion: argoproj.io/v1alpha1\nkind: ConfigManagementPlugin\n".to_owned();
    if !part.contains("metadata:") {
        text.push_str("metadata:\n  name: page\n");
    }
    text.push_str(part);
    if !part.contains("spec:") {
        text.push_str("spec:\n");
    }
    for (key, line) in [
        ("\n  generate:", "  generate: {command: [page-generate.sh]}\n"),
        ("\n  discover:", "  discover: {fileName: page.md}\n"),
    ] {
        if !part.contains(key) {
            text.push_str(line);
        }
    }
    text
}

fn findings(example: &[Block]) -> Vec<Finding> {
    let block = |language: &str| example.iter().find(|block| block.language == language);
    let file = whole_file(block("yaml").map(|block| block.text.as_str()).unwrap_or_default());
    let mut report = check(file.as_bytes(), "plugin.yaml", &|_| ProgramState::Found);
    if let Some(dynamic) = block("json") {
        let config = read(file.as_bytes()).expect("the file can be served");
        check_announced(&config, "plugin.yaml", Some(dynamic.text.as_bytes()), &mut report);
    }
    report.findings
}

#[test]
fn rules_and_sections_correspond() {
    let documented: Vec<String> = sections().into_keys().collect();
    let mut rules: Vec<String> = Rule::ALL.iter().map(|rule| rule.name().to_owned()).collect();
    rules.sort();
    assert_eq!(documented, rules);
}

#[test]
fn sections_begin_with_the_level_of_their_rule() {
    let sections = sections();
    for rule in Rule::ALL {
        let level = rule.level().name();
        let begin = format!("\n**{}{}.** ", level[..1].to_uppercase(), &level[1..]);
        assert!(sections[rule.name()].text.starts_with(&begin), "{}: {begin}", rule.name());
    }
}

#[test]
fn bad_examples_violate_their_rule_and_good_ones_none() {
    for (name, section) in sections() {
        // Scripts are not executed here.
        if section.bad.iter().any(|block| block.language == "sh") {
            continue;
        }
        let bad = findings(&section.bad);
        assert!(bad.iter().any(|finding| finding.rule.name() == name), "{name}: {bad:?}");
        let good = findings(&section.good);
        assert!(good.is_empty(), "{name}: {good:?}");
    }
}

#[test]
fn finding_links_to_the_heading_of_its_rule() {
    for rule in Rule::ALL {
        let page = rule.page();
        let (file, anchor) = page.split_once('#').expect("the link has an anchor");
        let text = fs::read_to_string(workspace_root().join(file)).expect("the page is there");
        assert!(text.lines().any(|line| line.trim_start_matches('#') == format!(" {anchor}")), "{page}");
    }
}
