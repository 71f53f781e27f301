//! Differences as a unified diff.

use tiphys_engine::ObjectKey;
use tiphys_engine::diff::{Counts, ObjectDiff};
use tiphys_process::escape_text;

use super::{ApplicationDiff, NotCompared, Presence, Sides, not_compared_lines, setting_lines, title, total};
use crate::terminal::one_line;

/// Whether to use terminal colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colours {
    /// For a terminal.
    Shown,
    /// Plain text.
    None,
}

/// The missing side of an added or removed object, as in other patch tools.
const ABSENT: &str = "/dev/null";

/// Formats the differences of all applications, each below its name if there are several.
pub(super) fn text(
    applications: &[ApplicationDiff],
    sides: &Sides,
    context_lines: usize,
    colours: Colours,
) -> String {
    let mut text = String::new();
    for one in applications.iter().filter(|one| one.differs()) {
        let has_heading = applications.len() > 1 || one.objects().is_empty();
        if has_heading && (one.settings.is_empty() || !one.objects().is_empty()) {
            let (name, objects) = title(one);
            let heading = one_line(&format!("# {name}: {objects}"));
            text.push_str(&colours.painted(&heading, BOLD));
        }
        for line in setting_lines(one) {
            text.push_str(&colours.painted(&one_line(&format!("# {line}")), BOLD));
        }
        for object in one.objects() {
            let (before, after) = headings(object, sides);
            text.push_str(&colours.painted(&before, BOLD));
            text.push_str(&colours.painted(&after, BOLD));
            for line in object.change.hunks(context_lines).lines() {
                text.push_str(&colours.painted(line, colour_of(line)));
            }
        }
    }
    for line in not_compared_lines(applications, sides) {
        text.push_str(&colours.painted(&one_line(&format!("# {line}")), BOLD));
    }
    text
}

/// Formats the difference of one object with its heading.
pub(super) fn patch(object: &ObjectDiff, sides: &Sides, context_lines: usize) -> String {
    let (before, after) = headings(object, sides);
    format!("{before}\n{after}\n{}", escape_text(&object.change.hunks(context_lines)))
}

/// The headings above an object's hunks.
fn headings(object: &ObjectDiff, sides: &Sides) -> (String, String) {
    let name = object_name(&object.key);
    let side = |called: &str, there: bool| {
        if there { one_line(&format!("{called}: {name}")) } else { ABSENT.to_owned() }
    };
    (
        format!("--- {}", side(&sides.before, object.change.before().is_some())),
        format!("+++ {}", side(&sides.after, object.change.after().is_some())),
    )
}

/// `apps/Deployment shop/web`; an empty group and an empty namespace are omitted.
pub(super) fn object_name(key: &ObjectKey) -> String {
    let group = if key.group.is_empty() { String::new() } else { format!("{}/", key.group) };
    let namespace = if key.namespace.is_empty() { String::new() } else { format!("{}/", key.namespace) };
    format!("{group}{} {namespace}{}", key.kind, key.name)
}

/// A summary with failures: `1 added, 2 changed`, `no differences`, `1 application added` (without objects),
/// `1 application not compared, nothing else differs`, `2 application sets not compared, nothing else differs`.
pub(super) fn headline(applications: &[ApplicationDiff], not_compared: NotCompared) -> String {
    let counts = total(applications);
    let counted = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {many}")),
    };
    let failures = [
        counted(not_compared.applications, "application not compared", "applications not compared"),
        counted(not_compared.sets, "application set not compared", "application sets not compared"),
    ];
    let empty = |presence| {
        let empty = applications.iter().filter(|one| one.presence == presence && one.objects().is_empty());
        empty.filter(|one| one.differs()).count()
    };
    let empty = [
        counted(empty(Presence::Added), "application added", "applications added"),
        counted(empty(Presence::Removed), "application removed", "applications removed"),
    ];
    let settings = applications.iter().filter(|one| one.differs()).map(|one| one.settings.len()).sum();
    let settings = counted(settings, "setting of an application changed", "settings of applications changed");
    let objects = counts.differ().then(|| summary(counts));
    let parts = objects.into_iter().chain(empty.into_iter().flatten()).chain(settings);
    let differences: Vec<String> = parts.collect();
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    match (&differences[..], &failures[..]) {
        ([], []) => summary(counts),
        ([], failures) => format!("{}, nothing else differs", failures.join(", ")),
        (differences, failures) => [differences, failures].concat().join(", "),
    }
}

/// `1 added, 2 changed`, or `no differences`.
pub(super) fn summary(counts: Counts) -> String {
    if !counts.differ() {
        return "no differences".to_owned();
    }
    let parts = [(counts.added, "added"), (counts.removed, "removed"), (counts.changed, "changed")];
    let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    parts.collect::<Vec<_>>().join(", ")
}

/// Terminal code for bold text. The other colours are those of git.
const BOLD: &str = "1";

/// The colour of a line: removed red, added green, positions cyan.
fn colour_of(line: &str) -> &'static str {
    match line.as_bytes().first() {
        Some(b'@') => "36",
        Some(b'-') => "31",
        Some(b'+') => "32",
        _ => "",
    }
}

impl Colours {
    /// Adds the colour to an escaped line.
    fn painted(self, line: &str, colour: &str) -> String {
        let line = escape_text(line);
        match self {
            Self::Shown if !colour.is_empty() => format!("\x1b[{colour}m{line}\x1b[0m\n"),
            _ => format!("{line}\n"),
        }
    }
}
