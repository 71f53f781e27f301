//! Excerpts of templates.

use std::fmt::Write as _;
use std::path::Path;

use tiphys_tree::{RepoPath, read_bounded, resolve};

use super::message::TemplatePlace;

/// The directory of a chart's templates. No other file is printed: values may be secrets.
const TEMPLATES: &str = "templates";

/// Maximum size of a template in bytes: helm's limit of one file of a chart.
const TEMPLATE_BYTES_MAX: u64 = 5 << 20;

/// Maximum characters of a line.
const LINE_CHARS_MAX: usize = 200;

/// Returns the line of a template in a chart's directory, with the lines before and after it and their numbers, indented. `None` if the file does not
/// exist: the chart is packed, or has another name than its directory.
pub(super) fn around(chart: &Path, place: &TemplatePlace<'_>) -> Option<String> {
    let line = place.line?;
    let path = RepoPath::new(place.path).ok()?;
    if !place.path.split('/').any(|part| part == TEMPLATES) {
        return None;
    }
    let text = read_bounded(&resolve(chart, &path).ok()?, TEMPLATE_BYTES_MAX).ok()??;
    excerpt(&String::from_utf8_lossy(&text), line)
}

fn excerpt(text: &str, line: usize) -> Option<String> {
    let first = line.saturating_sub(1).max(1);
    let shown: Vec<(usize, &str)> = (1..).zip(text.lines()).skip(first - 1).take(line + 2 - first).collect();
    let digits = (line + 1).to_string().len();
    let mut excerpt = String::new();
    for &(number, text) in &shown {
        let mark = if number == line { '>' } else { ' ' };
        let text: String = text.trim_end().chars().take(LINE_CHARS_MAX).collect();
        let _ = writeln!(excerpt, "{}", format!(" {mark} {number:>digits$} | {text}").trim_end());
    }
    excerpt.truncate(excerpt.trim_end().len());
    shown.iter().any(|(number, _)| *number == line).then_some(excerpt)
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn excerpt_has_the_lines_before_and_after() {
        let cases = [
            (2, Some("   1 | a\n > 2 |  b\n   3 |")),
            (1, Some(" > 1 | a\n   2 |  b")),
            (4, Some("   3 |\n > 4 | d")),
            (5, None),
        ];
        for (line, expected) in cases {
            assert_eq!(excerpt("a\n b\n\nd\n", line).as_deref(), expected, "{line}");
        }
    }
}
