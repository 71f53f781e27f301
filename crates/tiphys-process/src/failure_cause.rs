//! Causes in the standard error of failed commands, which built-in plugins print and tiphys reads.
//!
//! ```text
//! note: what the plugin printed before
//!
//! chart web: templates/web.yaml:2:3: a host is needed
//!
//!    1 | metadata:
//!  > 2 |   name: {{ required "a host is needed" .Values.host }}
//!
//! details:
//! failed to execute helm template command: …
//! ```
//!
//! The last paragraph before the line `details:` is the cause, unless it is indented: then it is an excerpt of a file, and the one before is
//! the cause. A plugin server returns standard error after its own words, as Argo CD's does.

/// The line after the cause and the excerpt.
const DETAILS: &str = "\n\ndetails:\n";

/// Separates paragraphs.
const PARAGRAPH: &str = "\n\n";

/// The cause of a failed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureCause<'a> {
    /// The object that failed and the reason, usually one line.
    pub text: &'a str,
    /// Lines of the file that failed.
    pub excerpt: Option<&'a str>,
}

impl<'a> FailureCause<'a> {
    /// Returns the standard error of a command that fails with these details. It begins with an empty line: what was printed before is another
    /// paragraph.
    pub fn with_details(&self, details: &str) -> String {
        let excerpt = self.excerpt.map(|excerpt| format!("{PARAGRAPH}{excerpt}")).unwrap_or_default();
        format!("\n{}{excerpt}{DETAILS}{details}", self.text)
    }

    /// Parses the standard error of a command; `None` if it has no details, and so no cause apart from them.
    pub fn of_stderr(stderr: &'a str) -> Option<Self> {
        let (head, _) = stderr.trim_start_matches('\n').split_once(DETAILS)?;
        let last = |text: &'a str| text.rsplit_once(PARAGRAPH).unwrap_or(("", text));
        let (before, text) = last(head);
        Some(if text.starts_with(' ') {
            Self { text: last(before).1, excerpt: Some(text) }
        } else {
            Self { text, excerpt: None }
        })
    }

    /// Removes the cause and the excerpt from a message with the standard error: the details remain.
    pub fn removed_from(&self, message: &str) -> String {
        let parts = message.split_once(DETAILS).and_then(|(head, details)| {
            let (before, _) = head.split_once(self.text)?;
            Some(format!("{before}{details}"))
        });
        parts.unwrap_or_else(|| message.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::FailureCause;

    #[test]
    fn cause_is_the_last_paragraph_before_the_details() {
        let excerpt = Some("   1 | a\n > 2 | b");
        let cases = [
            ("why\n\ndetails:\nall", Some(("why", None))),
            ("note: x\n\nwhy\n\ndetails:\nall\n\ndetails:\nmore", Some(("why", None))),
            ("why\n\n   1 | a\n > 2 | b\n\ndetails:\nall", Some(("why", excerpt))),
            ("note: x\n\nwhy\nso\n\n   1 | a\n > 2 | b\n\ndetails:\nall", Some(("why\nso", excerpt))),
            ("why", None),
            ("why\ndetails:\nall", None),
        ];
        for (stderr, expected) in cases {
            let expected = expected.map(|(text, excerpt)| FailureCause { text, excerpt });
            assert_eq!(FailureCause::of_stderr(stderr), expected, "{stderr}");
        }
    }

    #[test]
    fn cause_is_read_as_it_is_written() {
        for excerpt in [None, Some("   1 | a\n > 2 | b")] {
            let cause = FailureCause { text: "why\nso", excerpt };
            let written = cause.with_details("all\n\ndetails:\nmore");
            for before in ["", "note: x\n"] {
                let stderr = format!("{before}{written}");
                assert_eq!(FailureCause::of_stderr(&stderr), Some(cause));
                assert_eq!(cause.removed_from(&stderr), format!("{before}\nall\n\ndetails:\nmore"));
            }
        }
    }

    #[test]
    fn details_are_the_message_without_the_cause() {
        let message = "plugin: failed: why\n\n > 1 | a\n\ndetails:\nall";
        let cause = FailureCause::of_stderr("why\n\n > 1 | a\n\ndetails:\nall").expect("a cause");
        assert_eq!(cause.removed_from(message), "plugin: failed: all");
        assert_eq!(cause.removed_from("something else"), "something else");
    }
}
