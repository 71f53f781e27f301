//! Differences as a comment on a pull request: what happens to the applications, then one collapsible section per application, within a size
//! limit.

mod overview;

use std::collections::HashMap;

use tiphys_engine::diff::{Change, ObjectDiff};
use tiphys_service::listed;

use self::overview::{Overview, Row};
use super::{ApplicationDiff, Presence, Sides, base_warnings, title, total, unified};
use crate::args::DiffOutputArgs;
use crate::error::{self, ServiceError};
use crate::terminal::{message, one_line};

/// Bytes that are reserved for the names of omitted objects.
const REST_BYTES_MAX: usize = 1_000;

/// Bytes that are reserved for the note that something is omitted.
const INCOMPLETE_BYTES_MAX: usize = 80;

/// Maximum bytes of the error of a comparison that failed as a whole, for each value of `--max-bytes`.
const ERROR_BYTES_MAX: usize = 1_800;

/// Lines of context that show the whole object.
const ALL_LINES: usize = 1_000_000;

/// The kind whose values are masked.
const SECRET_KIND: &str = "Secret";

/// Maximum bytes of a name in headings.
const NAME_BYTES_MAX: usize = 200;

/// Formats the comment: at most `--max-bytes`, with every fence and section closed. Omitted objects are counted and, if they fit, named.
pub(super) fn text(applications: &[ApplicationDiff], sides: &Sides, args: &DiffOutputArgs) -> String {
    let overview = Overview::new(applications, sides);
    let heading = heading(&overview, applications, sides);
    let mut comment = Comment {
        room: args.max_bytes().saturating_sub(REST_BYTES_MAX + INCOMPLETE_BYTES_MAX + heading.len()),
        not_shown: Vec::new(),
    };
    let mut warnings = sides.sets.warnings.clone();
    warnings.extend(super::warning_lines(applications.iter().flat_map(|one| &one.warnings)));
    warnings.extend(base_warnings(applications, sides).map(|warning| format!("warning: {warning}")));
    let not_rendered = not_rendered(sides.not_rendered, applications.len());
    // Deletions and failures get room first, wherever they stand.
    let deletions = comment.sentences(&overview, Row::is_urgent);
    let failures = comment.failures(applications);
    let errors = comment.lines("Errors", &sides.sets.errors);
    let changes = comment.sentences(&overview, |row| !row.is_urgent());
    let table = comment.table(&overview);
    let not_rendered = comment.fitting("", vec![Item::new(not_rendered, "a note".to_owned())], "");
    let notes = comment.lines("Notes", &warnings);
    let mut text = [deletions, changes, table, not_rendered, errors, notes, failures].concat();
    for same in with_same_changes(applications) {
        text.push_str(&comment.differences(&same, sides, args.context_lines));
    }
    comment.finish(heading, &text)
}

/// Formats the comment of a comparison that failed as a whole.
pub(super) fn failure(error: &str) -> String {
    let mut error = message(error);
    if error.len() > ERROR_BYTES_MAX {
        error.truncate(error.floor_char_boundary(ERROR_BYTES_MAX));
        error.push('…');
    }
    let fence = fence(std::slice::from_ref(&error));
    format!("### Manifests: not compared\n\n{fence}text\n{error}\n{fence}\n")
}

/// Returns the applications that differ in their order, those with the same changes together.
fn with_same_changes(applications: &[ApplicationDiff]) -> Vec<Vec<&ApplicationDiff>> {
    let mut groups: Vec<Vec<&ApplicationDiff>> = Vec::new();
    let mut known: HashMap<Vec<(String, String)>, usize> = HashMap::new();
    for one in applications.iter().filter(|one| one.differs()) {
        let changed = |object: &ObjectDiff| {
            // Added and removed objects differ in their names, and different values of Secrets look alike.
            let is_comparable =
                matches!(object.change, Change::Changed { .. }) && object.key.kind != SECRET_KIND;
            is_comparable.then(|| (object.key.kind.clone(), changed_fields(&object.change)))
        };
        let key: Option<Vec<_>> = one.objects().iter().map(changed).collect();
        let index = match key.filter(|key| !key.is_empty() && one.presence == Presence::Both) {
            Some(key) => *known.entry(key).or_insert(groups.len()),
            None => groups.len(),
        };
        match groups.get_mut(index) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

/// Returns the changed lines, each after the lines of the fields that it is in.
fn changed_fields(change: &Change) -> String {
    let text = change.hunks(ALL_LINES);
    let mut above: Vec<(usize, &str)> = Vec::new();
    let mut changed = String::new();
    for line in text.lines().filter(|line| !line.starts_with("@@")) {
        let (mark, field) = line.split_at_checked(1).unwrap_or(("", line));
        let indentation = field.len() - field.trim_start().len();
        above.retain(|(of_field, _)| *of_field < indentation);
        if mark != " " {
            changed.extend(above.iter().flat_map(|(_, field)| [*field, "\n"]).chain([line, "\n"]));
        }
        above.push((indentation, field));
    }
    changed
}

/// A part of a comment that is shown or omitted as a whole.
struct Item {
    text: String,
    /// Names at the end of the comment if it is omitted.
    names: Vec<String>,
}

/// The room in a comment below its heading.
struct Comment {
    /// Bytes that are left.
    room: usize,
    not_shown: Vec<String>,
}

impl Item {
    fn new(text: String, name: String) -> Self {
        Self { text, names: vec![name] }
    }
}

impl Comment {
    /// Returns a block with the items that fit; empty if there are none.
    fn fitting(&mut self, begin: &str, items: Vec<Item>, end: &str) -> String {
        let mut room = self.room.saturating_sub(begin.len() + end.len());
        let mut shown = String::new();
        for item in items {
            if item.text.len() <= room {
                room -= item.text.len();
                shown.push_str(&item.text);
            } else {
                self.not_shown.extend(item.names);
            }
        }
        if shown.is_empty() {
            return shown;
        }
        self.room = room;
        [begin, &shown, end].concat()
    }

    /// Returns the sentences about some applications.
    fn sentences(&mut self, overview: &Overview, is_wanted: impl Fn(&Row) -> bool) -> String {
        let rows = overview.rows.iter().filter(|row| is_wanted(row));
        let item = |row: &Row| Some(Item::new(format!("\n{}\n", row.sentence.as_ref()?), row.name.clone()));
        self.fitting("", rows.filter_map(item).collect(), "")
    }

    /// Returns the table of applications. Those that are created or changed leave at least half of the room to the differences.
    fn table(&mut self, overview: &Overview) -> String {
        let mut table = String::new();
        let mut omitted = 0;
        for row in &overview.rows {
            let line = if table.is_empty() { format!("{}{}", Row::TABLE, row.line()) } else { row.line() };
            let bytes_max = if row.is_urgent() { self.room } else { self.room / 2 };
            if omitted == 0 && table.len() + line.len() <= bytes_max {
                table.push_str(&line);
            } else {
                omitted += 1;
            }
        }
        self.room -= table.len();
        if omitted > 0 {
            let rows = if omitted == 1 { "1 row".to_owned() } else { format!("{omitted} rows") };
            self.not_shown.push(format!("{rows} of the table"));
        }
        table
    }

    /// Returns a block of messages.
    fn lines(&mut self, title: &str, lines: &[String]) -> String {
        let lines: Vec<String> = lines.iter().map(|line| message(line)).collect();
        let fence = fence(&lines);
        let items = lines.into_iter().map(|line| Item::new(format!("{line}\n"), line)).collect();
        self.fitting(&format!("\n{title}:\n\n{fence}text\n"), items, &format!("{fence}\n"))
    }

    /// Returns a section with as many differences as fit of applications with the same changed lines. Those of the first are shown.
    fn differences(&mut self, same: &[&ApplicationDiff], sides: &Sides, context_lines: usize) -> String {
        let Some(one) = same.first() else { return String::new() };
        let (name, objects) = title(one);
        let patches: Vec<String> =
            one.objects().iter().map(|object| unified::patch(object, sides, context_lines)).collect();
        let fence = fence(&patches);
        let summary = match same {
            [_] => format!("{}: {objects}", html(&name)),
            _ => {
                format!("{}: the same change in {} applications, {objects} in each", html(&name), same.len())
            }
        };
        let others = match &same[1..] {
            [] => String::new(),
            others => format!("The same lines change in {}.\n\n", names(others)),
        };
        let items = one.objects().iter().zip(patches).map(|(object, text)| {
            let object = unified::object_name(&object.key);
            let names = same.iter().map(|one| format!("{object} of {}", one.full_name())).collect();
            Item { text, names }
        });
        let begin = format!("\n<details>\n<summary>{summary}</summary>\n\n{others}{fence}diff\n");
        self.fitting(&begin, items.collect(), &format!("{fence}\n\n</details>\n"))
    }

    /// Returns a section with the applications that could not be compared, those with one cause together.
    fn failures(&mut self, applications: &[ApplicationDiff]) -> String {
        let failures: Vec<&ServiceError> =
            applications.iter().filter_map(|one| one.result.as_ref().err()).collect();
        let groups = error::grouped(failures.iter().copied());
        let causes: Vec<String> =
            groups.iter().map(|group| format!("{}\n", message(&error::group_text(group)))).collect();
        let fence = fence(&causes);
        let count = if failures.len() == 1 {
            "1 application".to_owned()
        } else {
            format!("{} applications", failures.len())
        };
        let items = causes.into_iter().zip(&groups).map(|(cause, group)| {
            let names: Vec<String> = error::names(group).map(str::to_owned).collect();
            let name = match names.as_slice() {
                [] => "a failure".to_owned(),
                names => format!("the failure of {}", listed(names)),
            };
            Item::new(cause, name)
        });
        let begin = format!("\n<details>\n<summary>{count} not compared</summary>\n\n{fence}text\n");
        self.fitting(&begin, items.collect(), &format!("{fence}\n\n</details>\n"))
    }

    /// Returns the comment below the heading. The heading says whether something is omitted, and the end names it.
    fn finish(self, heading: String, text: &str) -> String {
        let Some((first, others)) = self.not_shown.split_first() else { return heading + text };
        let count = self.not_shown.len();
        let heading = format!("{heading}\n**Incomplete: {count} omitted, see the end.**\n");
        let mut rest = format!("\nOmitted, the comment is full ({}): {}", self.not_shown.len(), code(first));
        for (index, name) in others.iter().enumerate() {
            let name = code(name);
            let more = format!(" and {} more", others.len() - index);
            if rest.len() + name.len() + more.len() + 4 > REST_BYTES_MAX {
                rest.push_str(&more);
                break;
            }
            rest.push_str(", ");
            rest.push_str(&name);
        }
        rest.push_str(".\n");
        heading + text + &rest
    }
}

fn heading(overview: &Overview, applications: &[ApplicationDiff], sides: &Sides) -> String {
    let differ = applications.iter().filter(|one| one.differs()).count();
    let counts = total(applications);
    let objects = if counts.differ() { unified::summary(counts) + ", " } else { String::new() };
    format!(
        "### Manifests: {}{}\n\nFrom {} to {}: applications that differ: {differ} of {}; objects: {objects}{} equal.\n",
        overview.headline(),
        super::ignored_lines(applications),
        code(&sides.before),
        code(&sides.after),
        applications.len(),
        counts.equal
    )
}

/// Returns how many applications were not rendered, and why their manifests count as equal.
fn not_rendered(number: usize, all: usize) -> String {
    let noun = if all == 1 { "application" } else { "applications" };
    let (verb, they) = if number == 1 { ("was", "it is") } else { ("were", "they are") };
    match number {
        0 => String::new(),
        _ => format!(
            "\n{number} of {all} {noun} {verb} not rendered: the content of everything that {they} made from is the same on both sides \
             (`docs/ci.md` of tiphys, *What an application is made from*).\n"
        ),
    }
}

/// The names of applications as code, the first eight and the number of the others.
fn names(applications: &[&ApplicationDiff]) -> String {
    /// Names that are listed.
    const NAMES_MAX: usize = 8;
    let listed = applications.iter().take(NAMES_MAX).map(|one| html(&one.full_name()));
    let listed = listed.collect::<Vec<_>>().join(", ");
    match applications.len().saturating_sub(NAMES_MAX) {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}

/// A fence longer than any run of backticks in these strings, so that no line of them closes it.
fn fence(texts: &[String]) -> String {
    let runs = texts.iter().flat_map(|text| text.split(|c| c != '`')).map(str::len);
    "`".repeat(runs.max().unwrap_or(0).max(2) + 1)
}

/// A name as code in HTML. Markdown inside HTML is still interpreted, so every special character is a numeric reference, including `@` and
/// `#` (mentions) and `:` and `.` (links).
fn html(name: &str) -> String {
    let mut text = "<code>".to_owned();
    for c in short(&one_line(name)).chars() {
        if c.is_ascii_punctuation() && !matches!(c, '/' | '-' | '(' | ')') || c == '\u{a0}' {
            text.extend(["&#", &u32::from(c).to_string(), ";"]);
        } else {
            text.push(c);
        }
    }
    text.push_str("</code>");
    text
}

/// A name as code.
fn code(name: &str) -> String {
    format!("`{}`", short(&one_line(name)).replace('`', "'"))
}

fn short(name: &str) -> &str {
    &name[..name.floor_char_boundary(NAME_BYTES_MAX)]
}
