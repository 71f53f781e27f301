//! Differences as a comment on a pull request: one collapsible section per application, within a size limit.

use tiphys_engine::diff::Comparison;

use super::{ApplicationDiff, NotCompared, Sides, equal, title, total, unified};
use crate::args::DiffOutputArgs;
use crate::error;
use crate::terminal::{message, one_line};

/// Bytes that are reserved for the names of omitted objects.
const REST_BYTES_MAX: usize = 1_000;

/// Maximum bytes of a name in headings.
const NAME_BYTES_MAX: usize = 200;

/// Formats the comment: at most `--max-bytes`, with every fence and section closed. Omitted objects are counted and, if they fit, named.
pub(super) fn text(applications: &[ApplicationDiff], sides: &Sides, args: &DiffOutputArgs) -> String {
    let mut comment = Comment {
        text: heading(applications, sides),
        bytes_max: args.max_bytes().saturating_sub(REST_BYTES_MAX),
        not_shown: Vec::new(),
    };
    comment.notes(&sides.sets.lines);
    for one in applications {
        match &one.result {
            Ok(comparison) => comment.differences(one, comparison, sides, args.context_lines),
            Err(failure) => comment.failure(one, &error::shown(failure)),
        }
    }
    comment.finish()
}

struct Comment {
    text: String,
    bytes_max: usize,
    not_shown: Vec<String>,
}

impl Comment {
    /// Adds notes about application sets.
    fn notes(&mut self, notes: &[String]) {
        if notes.is_empty() {
            return;
        }
        let lines: Vec<String> = notes.iter().map(|note| format!("{}\n", message(note))).collect();
        let fence = fence(&lines);
        let block = format!("\nApplication sets:\n\n{fence}text\n{}{fence}\n", lines.concat());
        if block.len() <= self.room() {
            self.text.push_str(&block);
        } else {
            self.not_shown.push("notes about application sets".to_owned());
        }
    }

    /// Adds a section with as many differences of an application as fit.
    fn differences(
        &mut self,
        one: &ApplicationDiff,
        comparison: &Comparison,
        sides: &Sides,
        context_lines: usize,
    ) {
        if !one.differs() {
            return;
        }
        let (name, objects) = title(one);
        if comparison.objects.is_empty() {
            self.line(&name, &objects);
            return;
        }
        let patches: Vec<String> =
            comparison.objects.iter().map(|object| unified::patch(object, sides, context_lines)).collect();
        let fence = fence(&patches);
        let begin = format!("\n<details>\n<summary>{}: {objects}</summary>\n\n{fence}diff\n", html(&name));
        let end = format!("{fence}\n\n</details>\n");
        let mut room = self.room().saturating_sub(begin.len() + end.len());
        let mut shown = String::new();
        for (object, patch) in comparison.objects.iter().zip(&patches) {
            if patch.len() <= room {
                room -= patch.len();
                shown.push_str(patch);
            } else {
                self.not_shown.push(format!("{} of {}", unified::object_name(&object.key), one.full_name()));
            }
        }
        if !shown.is_empty() {
            self.text.push_str(&begin);
            self.text.push_str(&shown);
            self.text.push_str(&end);
        }
    }

    /// Adds a line for an application without objects that exists on one side only.
    fn line(&mut self, name: &str, objects: &str) {
        let line = format!("\n{}: {objects}\n", html(name));
        if line.len() <= self.room() {
            self.text.push_str(&line);
        } else {
            self.not_shown.push(name.to_owned());
        }
    }

    /// Adds a line for an application that could not be compared.
    fn failure(&mut self, one: &ApplicationDiff, failure: &str) {
        let message = format!("{}\n", message(failure));
        let fence = fence(std::slice::from_ref(&message));
        let name = html(&one.full_name());
        let block = format!("\n{name} failed:\n\n{fence}text\n{message}{fence}\n");
        if block.len() <= self.room() {
            self.text.push_str(&block);
        } else {
            self.not_shown.push(format!("why {} failed", one.full_name()));
        }
    }

    fn room(&self) -> usize {
        self.bytes_max.saturating_sub(self.text.len())
    }

    /// Adds the names of omitted objects.
    fn finish(mut self) -> String {
        let Some((first, others)) = self.not_shown.split_first() else { return self.text };
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
        self.text.push_str(&rest);
        self.text
    }
}

fn heading(applications: &[ApplicationDiff], sides: &Sides) -> String {
    let differ = applications.iter().filter(|one| one.differs()).count();
    let counts = total(applications);
    let trusted = not_rendered(sides.not_rendered, applications.len());
    format!(
        "### Manifests: {}\n\nFrom {} to {}: applications that differ: {differ} of {}; {}.\n{trusted}",
        unified::headline(counts, NotCompared::of(applications, sides)),
        code(&sides.before),
        code(&sides.after),
        applications.len(),
        equal(counts)
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
