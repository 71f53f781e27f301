//! Runs the examples of README.md and of the pages of `docs`.
//!
//! A line `<!-- tested: HOW -->` before a fenced block states how to test it:
//!
//! | HOW | the block |
//! |---|---|
//! | `file PATH` | is written to that file, executable if it begins with `#!` |
//! | `part PATH` | is a part of that file of the repository |
//! | `console` | has commands after `$ `, each followed by its output |
//! | `continued` | the same, in the directory where the block before ended |
//! | `server` | has one command, which runs until the end of the document |
//! | `demo` | is a part of the output of `cargo xtask demo`; options may follow |
//!
//! Every `console` block needs such a line. The blocks of a document run in order in a directory with copies of `examples` and `plugins`;
//! documents are independent. Times and widths of columns may differ. Ports 4355 and 4356
//! stand for free ones.
//!
//! `UPDATE=1` writes the output of the commands into the documents, `DOCUMENT=docs/parameters.md` selects one of them.

mod document;
mod place;
mod reader;
mod schema;
mod yaml;

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use tiphys_testkit::{fixture, workspace_root};

use crate::docs::reader::Reader;

#[test]
fn documents_show_the_output_of_their_commands() {
    let documents = documents();
    assert!(!documents.is_empty(), "no such document");
    let (waiting, failed) = (Mutex::new(documents.into_iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(path) = waiting.lock().expect("not poisoned").next() else { return };
                    if let Err(panic) = catch_unwind(|| check(&path)) {
                        let message = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                        failed.lock().expect("not poisoned").push(format!("{path}: {message}"));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("not poisoned");
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// Runs a document, and compares it with the actual output.
fn check(path: &str) {
    let file = workspace_root().join(path);
    let text = fs::read_to_string(&file).expect("the document can be read");
    let blocks = document::blocks(&text).unwrap_or_else(|problem| panic!("line {problem}"));
    if blocks.is_empty() {
        return;
    }
    let mut reader = Reader::new();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut problems = Vec::new();
    let printed: Vec<_> = blocks.iter().map(|block| reader.follow(block)).collect();
    // From the end, so that the positions of earlier blocks stay valid.
    for (block, printed) in
        blocks.iter().zip(printed).rev().filter(|(block, printed)| *printed != block.lines)
    {
        let (shown, really) = (block.lines.join("\n"), printed.join("\n"));
        problems.push(format!(
            "the block of line {} shows\n{shown}\n--- but the output is:\n{really}",
            block.first
        ));
        lines.splice(block.first..block.first + block.lines.len(), printed);
    }
    if problems.is_empty() {
        return;
    }
    assert!(fixture::is_updating(), "{}\nUPDATE=1 writes it", problems.join("\n"));
    fixture::compare(&file, &(lines.join("\n") + "\n"));
}

/// README.md and every page of `docs`, or only `DOCUMENT`.
#[expect(clippy::disallowed_methods, reason = "DOCUMENT selects a document")]
fn documents() -> Vec<String> {
    let mut documents = vec!["README.md".to_owned()];
    pages("docs", &mut documents);
    if let Ok(chosen) = std::env::var("DOCUMENT") {
        documents.retain(|path| *path == chosen);
    }
    documents
}

fn pages(folder: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(workspace_root().join(folder)).expect("the folder can be read") {
        let entry = entry.expect("the folder can be read");
        let path = format!("{folder}/{}", entry.file_name().display());
        if entry.path().is_dir() {
            pages(&path, found);
        } else if Path::new(&path).extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}
