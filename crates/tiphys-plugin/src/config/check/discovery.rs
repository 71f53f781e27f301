//! Findings about discovery rules: ignored, missing or invalid.

use tiphys_go::glob::go_match;
use tiphys_yaml::Node;

use super::{Findings, PluginFile, Rule, nearest};

pub(super) fn check(document: &Node, file: &PluginFile, findings: &mut Findings<'_>) {
    let command = file.discover_find.command.as_ref().is_some_and(|words| !words.is_empty());
    // The order in which Argo CD evaluates the rules.
    let rules = [
        ("fileName", &["spec", "discover", "fileName"][..], !file.discover_file_name.is_empty()),
        ("find.glob", &["spec", "discover", "find", "glob"][..], !file.discover_find_glob.is_empty()),
        ("find.command", &["spec", "discover", "find", "command"][..], command),
    ];
    let mut set = rules.iter().filter(|(_, _, set)| *set);
    match set.next() {
        None => {
            let message = "no discovery rule is set, so the plugin is used only by Applications that name it";
            findings.add(Rule::NoDiscovery, Some(nearest(document, &["spec", "discover"]).position), message);
        }
        Some((winner, ..)) => {
            for (name, path, _) in set {
                let message = format!(
                    "discover.{name} is ignored: only the first rule counts, which is discover.{winner}"
                );
                findings.add(Rule::SeveralDiscoveryRules, Some(nearest(document, path).position), message);
            }
        }
    }
    if !file.discover_file_name.is_empty() {
        check_file_name(document, &file.discover_file_name, findings);
    }
    if !file.discover_find_glob.is_empty() {
        check_find_glob(document, &file.discover_find_glob, findings);
    }
}

fn check_file_name(document: &Node, pattern: &str, findings: &mut Findings<'_>) {
    let position = Some(nearest(document, &["spec", "discover", "fileName"]).position);
    // A pattern is matched segment by segment.
    if pattern.split('/').any(|segment| go_match(segment.as_bytes(), b"").is_err()) {
        let message = format!("syntax error in the pattern `{pattern}`; a literal `[` is written `\\[`");
        findings.add(Rule::GlobSyntax, position, message);
    } else if pattern.contains("**") || (pattern.contains('{') && pattern.contains('}')) {
        let message =
            "in fileName `**` is the same as `*`, and `{` is a literal character; `find.glob` has both";
        findings.add(Rule::FileNamePattern, position, message);
    }
}

fn check_find_glob(document: &Node, pattern: &str, findings: &mut Findings<'_>) {
    let position = Some(nearest(document, &["spec", "discover", "find", "glob"]).position);
    if !pattern.contains(['*', '{']) {
        let message = "a pattern without `*` and `{` is a literal path; if it does not exist, Argo CD's request fails instead of \
                       not matching; use `fileName`";
        findings.add(Rule::LiteralGlob, position, message);
    } else if let Some(range) = reversed_range(pattern) {
        let message = format!("the range `{range}` in the pattern `{pattern}` is reversed");
        findings.add(Rule::GlobSyntax, position, message);
    }
}

/// Returns the first range within `[…]` that ends before it begins. zglob uses classes in regular expressions, which reject it.
fn reversed_range(pattern: &str) -> Option<String> {
    let mut rest = pattern;
    while let Some(start) = rest.find('[') {
        let class = &rest[start + 1..];
        let end = class.find(']')?;
        let chars: Vec<char> = class[..end].chars().collect();
        let mut index = 0;
        while index + 2 < chars.len() {
            if chars[index + 1] == '-' {
                if chars[index] > chars[index + 2] {
                    return Some(chars[index..index + 3].iter().collect());
                }
                index += 3;
            } else {
                index += 1;
            }
        }
        rest = &class[end + 1..];
    }
    None
}
