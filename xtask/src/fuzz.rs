//! `cargo xtask fuzz`: runs the fuzz targets in `fuzz`, guided by coverage.
//!
//! It needs a nightly compiler and cargo-fuzz, so it is not part of the gate. `cargo test -p tiphys-fuzz` runs the same bodies with the
//! stable compiler. Inputs that reach new code are stored in `target/fuzz`; the next run starts with them.

use std::path::Path;

use clap::Args;

use crate::cargo::{program, run as run_program};
use crate::{Failure, files};

/// The start of a `cargo fuzz` call, with the toolchain that supports the fuzzer's flags.
const CARGO_FUZZ: [&str; 7] = ["run", "nightly", "cargo", "fuzz", "run", "--target-dir", "target/fuzz/build"];
/// Seconds after which an input counts as a hang.
const INPUT_SECONDS_MAX: u32 = 10;
/// Maximum size of an input in bytes. All limits in the bodies are smaller, so larger inputs reach no new code.
const INPUT_BYTES_MAX: u32 = 16 * 1024;

/// Which targets to run, and for how long.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Run these targets, by the names of their folders in `fuzz/corpus`; all if none is named
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Seconds for each target, those for building not among them
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
}

/// Runs the targets in turn, and stops at the first finding.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let sources = files::entries(&root.join("fuzz/fuzz_targets"))?;
    let all: Vec<_> =
        sources.iter().filter_map(|file| file.file_stem()?.to_str()).map(str::to_owned).collect();
    for target in if options.targets.is_empty() { &all } else { &options.targets } {
        if !all.contains(target) {
            let known = all.join(", ");
            return Err(Failure::new(format!("unknown fuzz target {target:?}; the targets are {known}")));
        }
        println!("==> {target}, {} s", options.seconds);
        let found = format!("target/fuzz/corpus/{target}");
        let failures = format!("target/fuzz/failures/{target}");
        for folder in [&found, &failures] {
            files::create_directory(&root.join(folder))?;
        }
        let mut fuzz = program("rustup");
        // The fuzzer writes new inputs to the first directory and reads the seeds, too.
        fuzz.args(CARGO_FUZZ).arg(target).arg(found).arg(format!("fuzz/corpus/{target}")).arg("--");
        fuzz.arg(format!("-artifact_prefix={failures}/"))
            .arg(format!("-max_total_time={}", options.seconds))
            .arg(format!("-timeout={INPUT_SECONDS_MAX}"))
            .arg(format!("-max_len={INPUT_BYTES_MAX}"))
            .arg("-print_final_stats=1")
            // Separate from the gate's build directory, because it is another compiler.
            .env_remove("CARGO_TARGET_DIR")
            .current_dir(root);
        run_program(&mut fuzz).map_err(|failure| {
            Failure::new(format!(
                "{failure}\nIf it has found an input, that is in {failures}; repeat it with:\n  rustup {} {target} FILE\n\
                 When the cause is fixed, the input becomes a seed in fuzz/corpus/{target}.\n\
                 Fuzzing needs: rustup toolchain install nightly; cargo install cargo-fuzz --locked",
                CARGO_FUZZ.join(" ")
            ))
        })?;
    }
    Ok(())
}
