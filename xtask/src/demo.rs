//! `cargo xtask demo`: the main use case in one command, on a machine with Rust, Go, git and a C compiler.
//!
//! Builds the program, installs the tools, makes a git repository of `examples`, renders the Applications of `examples/store` from
//! it, shows which plugin rendered each, sets parameters in a copy of the store, and writes a plugin. It fails if a step fails, or if
//! the examples no longer show all features. It writes only to `target/demo`, and ignores the user's settings.

mod expectation;
mod native;
mod people;
mod program;
mod repository;
mod row;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use crate::cargo::CommandLine;
use crate::{Failure, install, tools};
use program::Program;
use row::Row;

/// The repository that the Applications of the example store name.
const REPOSITORY_URL: &str = "https://git.example.com/platform/apps.git";

/// The Applications.
const STORE: &str = "examples/store";

/// Folder of all that the demo writes, below the workspace's root.
const PLACE: &str = "target/demo";

/// The application whose parameters are listed: its plugin announces static ones, and dynamic ones of a chart inside a kustomization.
const SHOWN_APPLICATION: &str = "monitoring";

/// Arguments of `cargo xtask demo`.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Options {
    /// Run this tiphys instead of building the release one
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
}

/// Runs the demo; another one at the same time waits for this one.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let place = root.join(PLACE);
    fs::create_dir_all(&place).map_err(|error| Failure::at(&place, error))?;
    let lock_file = place.join("lock");
    let lock = File::create(&lock_file).map_err(|error| Failure::at(&lock_file, error))?;
    lock.lock().map_err(|error| Failure::at(&lock_file, error))?;

    println!("==> a repository of the examples, in {PLACE}/repository");
    let revisions = repository::make(root, &place)?;
    println!("==> the tools: helm, kustomize, yq and jq");
    tools::run(root, &tools::Options::only(tools::Purpose::Plugins))?;
    let program = Program::new(root, &place, program_file(root, options)?);

    println!("==> tiphys render");
    let begin = Instant::now();
    let rows = rendered(&place, &root.join(STORE), &program, &[])?;
    let seconds = begin.elapsed().as_secs_f64();
    let rows = with_announcements(rows, &program)?;
    println!("\n{}", row::table(&rows));
    println!("{}; the manifests are in {PLACE}/manifests\n", row::summary(&rows, seconds));
    println!("$ tiphys params list {SHOWN_APPLICATION}");
    print!("{}", program.run(&["params", "list", SHOWN_APPLICATION])?);
    let broken = expectation::broken(&rows, &revisions);
    if !broken.is_empty() {
        return Err(Failure::new(format!(
            "the demo does not show what it is there for:\n  {}",
            broken.join("\n  ")
        )));
    }
    println!("\n==> parameters are set in a copy of the store, {PLACE}/store");
    people::set_parameters(root, &program)?;
    println!("\n==> native Helm Applications, on charts of the size that people have, in {}", native::FOLDER);
    native::run(root, &program)?;
    println!("\n==> a plugin is written");
    people::write_a_plugin(root, &program)?;
    println!("\n{}", next_steps(root, program.folder()));
    Ok(())
}

/// The program that was named, else the release one, built now. The program of the plugin `helm` is beside it.
fn program_file(root: &Path, options: &Options) -> Result<PathBuf, Failure> {
    if let Some(file) = &options.program {
        return std::path::absolute(file).map_err(|error| Failure::at(file, error));
    }
    println!("==> the program");
    CommandLine::cargo(&[
        "build",
        "--release",
        "--locked",
        "--package",
        "tiphys",
        "--package",
        "tiphys-helm",
    ])
    .run(root)?;
    Ok(install::target_folder(root)?.join("release/tiphys"))
}

/// Renders all Applications of a store into files, and gives what became of each source.
fn rendered(place: &Path, store: &Path, program: &Program, options: &[&str]) -> Result<Vec<Row>, Failure> {
    let (report, manifests) = (place.join("report.json"), place.join("manifests"));
    for old in [&report, &manifests] {
        repository::remove(old)?;
    }
    let files = ["render", "--report", &text(&report), "--output-dir", &text(&manifests)];
    program.run(&[&files[..], options].concat())?;
    let text = fs::read_to_string(&report).map_err(|error| Failure::at(&report, error))?;
    row::read(&text, &row::Store::read(store)?)
}

/// Asks for the announcements of all applications at once: a plugin's script waits more than it computes.
fn with_announcements(mut rows: Vec<Row>, program: &Program) -> Result<Vec<Row>, Failure> {
    let mut names: Vec<String> = rows.iter().map(|row| row.application.clone()).collect();
    names.dedup();
    let lists: Vec<Result<String, Failure>> = thread::scope(|scope| {
        let asked: Vec<_> = names
            .iter()
            .map(|name| scope.spawn(move || program.run(&["params", "list", name, "-o", "json"])))
            .collect();
        asked
            .into_iter()
            .map(|one| one.join().unwrap_or_else(|_| Err(Failure::new("a thread of the demo ended early"))))
            .collect()
    });
    for (name, list) in names.iter().zip(lists) {
        row::add_announcements(&mut rows, name, &list?)?;
    }
    Ok(rows)
}

fn next_steps(root: &Path, program_folder: &Path) -> String {
    let folder = match program_folder.strip_prefix(root) {
        Ok(inside) => format!("$PWD/{}", inside.display()),
        Err(_) => program_folder.display().to_string(),
    };
    format!(
        "Try next:
  export PATH=\"{folder}:$PWD/target/tools/bin:$PATH\"
  export TIPHYS_PLUGINS=\"$PWD/plugins:$PWD/examples/plugins\"
  tiphys params list shop -o wide --store {STORE} --repo {PLACE}/repository
  tiphys render marker-shop --store {STORE} --repo {PLACE}/repository"
    )
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
