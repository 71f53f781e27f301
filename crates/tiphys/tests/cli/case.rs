//! A case in one file: a script, its input files, and the expected output.
//!
//! ```text
//! # What the case tests.
//! tiphys render app
//! -- store/app.yaml --
//! kind: Application
//! -- stdout --
//! -- stderr --
//! error: …
//! -- exit 2 --
//! ```
//!
//! `sh` runs the script in a [`World`](crate::world::World), with the files of the topic's directory `world` if it exists. Some topics have
//! the Helm plugin and helm. The parts from `-- stdout --` on are the expected output; `UPDATE=1` writes them. A part contains the lines up
//! to the next heading. `\u{…}` in a file's content stands for that character.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use tiphys_testkit::fixture;

use crate::world::{Output, World};

/// Runs a case. Panics if its output differs or one of its processes left a file behind.
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
    /// The part before the expected output.
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

    /// Returns the case with this output as the expected one.
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

/// Returns the text with a final newline and with invisible characters escaped.
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
