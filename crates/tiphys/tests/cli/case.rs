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
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};

use tiphys_testkit::fixture;

use crate::world::{Output, World, testdata};

/// Runs all cases of a folder below `testdata/cli`. All are run, so that one failure does not hide another.
pub(crate) fn check_all(topic: &str) {
    check_all_in(topic, World::new);
}

/// The same in worlds that are made in another way.
pub(crate) fn check_all_in(topic: &str, world: fn() -> World) {
    let dir = testdata().join(topic);
    let mut cases: Vec<PathBuf> = fs::read_dir(&dir)
        .unwrap_or_else(|error| panic!("{}: {error}", dir.display()))
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.is_file())
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "{}: no cases", dir.display());
    let failed: Vec<String> = cases.iter().filter_map(|case| failure(case, &world())).collect();
    assert!(failed.is_empty(), "{} of {} cases:\n{}", failed.len(), cases.len(), failed.join("\n"));
}

fn failure(path: &Path, world: &World) -> Option<String> {
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| check(path, world)));
    let panic = result.err()?;
    let message = panic.downcast_ref::<String>().cloned().unwrap_or_default();
    Some(format!("{}: {message}", path.display()))
}

/// One case.
fn check(path: &Path, world: &World) {
    let text = fs::read_to_string(path).expect("the case can be read");
    let case = Case::parse(&text);
    world.copy(&path.with_file_name("world"));
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
