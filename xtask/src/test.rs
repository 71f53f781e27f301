//! `cargo xtask test`: the one gate. It runs the same steps in the same order on every machine, and stops at the first failure.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use crate::build::{self, LinkingOption};
use crate::cargo::{cargo, program, run as run_program};
use crate::{Failure, book, e2e, files, tidy, tools};

/// Which steps to run.
#[derive(Args, Debug, Default)]
pub(crate) struct Options {
    /// Run this step alone
    #[arg(long, value_name = "STEP", conflicts_with = "from")]
    only: Option<Step>,
    /// Start at this step
    #[arg(long, value_name = "STEP")]
    from: Option<Step>,
}

/// The steps of the gate in order: fast ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Step {
    /// rustfmt has nothing to change
    Format,
    /// clippy has no findings
    Clippy,
    /// The invariants of ARCHITECTURE.md are met
    Tidy,
    /// The scripts that measure can be read
    Bench,
    /// The tools for tests are installed
    Tools,
    /// The book builds
    Book,
    /// All tests pass; on Linux with static programs, as they are released
    Tests,
    /// A grpc-go client, like Argo CD's, works with the plugin server
    E2e,
    /// The documentation builds, and all its links are valid
    Docs,
    /// Prints the share of equal recorded answers of other programs
    Reports,
}

/// Runs the gate.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let begin = Instant::now();
    for step in options.steps() {
        let name = step.name();
        println!("==> {name}");
        let step_begin = Instant::now();
        let result = step.run(root);
        let time = seconds(step_begin.elapsed());
        if let Err(failure) = result {
            return Err(Failure::new(format!(
                "{failure}\n\nstep {name} failed after {time}; repeat it with: cargo xtask test --only {name}"
            )));
        }
        println!("    {name}: passed in {time}");
    }
    println!("everything passed in {}", seconds(begin.elapsed()));
    Ok(())
}

impl Options {
    fn steps(&self) -> Vec<Step> {
        let first = self.only.or(self.from).unwrap_or(Step::Format);
        let last = self.only.unwrap_or(Step::Reports);
        Step::value_variants().iter().copied().filter(|step| (first..=last).contains(step)).collect()
    }
}

impl Step {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    fn run(self, root: &Path) -> Result<(), Failure> {
        match self {
            Step::Format => run_program(&mut cargo(root, &["fmt", "--all", "--check"])),
            Step::Clippy => {
                let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
                run_program(&mut cargo(root, &arguments))
            }
            Step::Tidy => tidy::run(root, &tidy::Options::default()),
            Step::Bench => run_program(program("python3").args(["bench/run.py", "--list"]).current_dir(root)),
            Step::Tools => tools::run(root, &tools::Options::default()),
            Step::Book => book::run(root),
            Step::Tests => {
                // Reports of an earlier run are outdated.
                files::remove(&root.join("target/oracles"))?;
                let triple = build::provide_target(root, LinkingOption::default().get())?;
                let target = triple.iter().flat_map(|triple| ["--target", triple]);
                let arguments: Vec<&str> = ["test", "--workspace"].into_iter().chain(target).collect();
                run_program(&mut cargo(root, &arguments))
            }
            // The program that the tests have built.
            Step::E2e => e2e::run(root, &e2e::Options::of_server(build::dev_program(root)?)),
            Step::Docs => run_program(
                cargo(root, &["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"),
            ),
            Step::Reports => {
                print!("{}", reports(root)?);
                Ok(())
            }
        }
    }
}

/// Returns the reports of the oracle tests, sorted by name and indented.
fn reports(root: &Path) -> Result<String, Failure> {
    let paths = files::entries(&root.join("target/oracles")).unwrap_or_default();
    let mut text = String::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "txt")) {
        text.extend(files::read(path)?.lines().flat_map(|line| ["    ", line, "\n"]));
    }
    if text.is_empty() {
        return Err(Failure::new("target/oracles: no reports of oracle tests; run the step tests first"));
    }
    Ok(text)
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
