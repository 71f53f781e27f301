//! A case in one file: a script, the files it meets, and what it prints.
//!
//! ```text
//! # What the case shows.
//! tiphys render app
//! -- store/app.yaml --
//! kind: Application
//! -- stdout --
//! -- stderr --
//! error: …
//! -- exit 2 --
//! ```
//!
//! The script is run by `sh` in a [`World`](crate::world::World), with the files of the topic's folder `world` if it has one; some topics
//! have the Helm plugin and helm at hand. The parts from `-- stdout --` on are the expectation; `UPDATE=1` writes
//! them. A part has every line up to the next heading; `\u{…}` in a file's content stands for that character.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use tiphys_testkit::fixture;

use crate::world::{Output, World};

/// Runs a case. Fails if its output differs or a process of it left a file behind.
pub(crate) fn check(path: &Path, world: &World) {
    let text = fs::read_to_string(path).expect("the case can be read");
    let case = Case::parse(&text);
    for (name, content) in &case.files {
        world.write(name, &unescaped(content));
    }
    let mut command = world.command("sh");
    command.args(["-c", case.script]);
    let output = world.finish(command);
    fixture::compare(path, &case.with(&output));
    assert_eq!(world.left_behind(), Vec::<PathBuf>::new(), "nothing is left behind");
}

struct Case<'a> {
    script: &'a str,
    files: Vec<(&'a str, &'a str)>,
    /// Everything before the expectation.
    given: &'a str,
}

impl<'a> Case<'a> {
    fn parse(text: &'a str) -> Self {
        let given = text.find("-- stdout --\n").map_or(text, |end| &text[..end]);
        let mut headings = Vec::new();
        let mut position = 0;
        for line in given.split_inclusive('\n') {
            if let Some(name) = line.trim_end().strip_prefix("-- ").and_then(|rest| rest.strip_suffix(" --"))
            {
                headings.push((name, position, position + line.len()));
            }
            position += line.len();
        }
        let starts = headings.iter().skip(1).map(|(_, start, _)| *start).chain([given.len()]);
        let files = headings.iter().zip(starts).map(|((name, _, from), to)| (*name, &given[*from..to]));
        Self {
            script: headings.first().map_or(given, |(_, start, _)| &given[..*start]),
            files: files.collect(),
            given,
        }
    }

    /// The case with this as its expectation.
    fn with(&self, output: &Output) -> String {
        let Output { code, stdout, stderr } = output;
        format!(
            "{}-- stdout --\n{}-- stderr --\n{}-- exit {code} --\n",
            self.given,
            lines(stdout),
            lines(stderr)
        )
    }
}

/// The text as whole lines, with characters that an editor would not show written as escapes.
fn lines(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        if c.is_control() && c != '\n' {
            write!(shown, "\\u{{{:x}}}", u32::from(c)).expect("writing to a string does not fail");
        } else {
            shown.push(c);
        }
    }
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push_str("\\\n");
    }
    shown
}

fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\u{") {
        let (digits, after) = after.split_once('}').expect("an escape ends");
        let number = u32::from_str_radix(digits, 16).expect("an escape has hexadecimal digits");
        plain.push_str(before);
        plain.push(char::from_u32(number).expect("an escape is a character"));
        rest = after;
    }
    plain.push_str(rest);
    plain
}
