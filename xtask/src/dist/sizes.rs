//! Tables of sizes: the files of a release, and the largest parts of a program.

use std::collections::BTreeMap;
use std::path::Path;

use super::target::Architecture;
use crate::Failure;
use crate::cargo::{output, program};
use crate::files::{entries, size};

/// How many parts of a program are listed.
const PARTS: usize = 15;

/// Returns a line for each file with its size in bytes.
pub(super) fn files(dist: &Path) -> Result<String, Failure> {
    let line = |file: &std::path::PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        Ok(format!("{:>12}  {name}\n", size(file)?))
    };
    entries(dist)?.iter().map(line).collect()
}

/// Returns the largest crates in a program with symbols, by the sizes of their functions and data. Code of generic functions counts for
/// the crate that declares them.
pub(super) fn parts(architecture: Architecture, built: &Path) -> String {
    let name = architecture.name();
    // Sorting leaves out symbols without a size.
    match output(program("nm").args(["--print-size", "--size-sort", "--demangle"]).arg(built)) {
        Ok(symbols) => {
            let crates = crates(&symbols);
            let lines = crates.iter().take(PARTS).map(|(part, size)| format!("{size:>12}  {part}\n"));
            format!("largest parts of the program for {name}, in bytes:\n{}", lines.collect::<String>())
        }
        Err(failure) => format!("parts of the program for {name}: nm of binutils is needed: {failure}\n"),
    }
}

/// Adds up the symbols of each crate, from lines of nm with address, size, type and name. The largest crate is first.
pub(super) fn crates(symbols: &str) -> Vec<(String, u64)> {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    for line in symbols.lines() {
        let mut fields = line.splitn(4, ' ');
        let size = fields.nth(1).and_then(|size| u64::from_str_radix(size, 16).ok());
        if let (Some(size), Some(symbol)) = (size, fields.nth(1)) {
            *sizes.entry(part(symbol)).or_default() += size;
        }
    }
    let mut sizes: Vec<(String, u64)> = sizes.into_iter().collect();
    sizes.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    sizes
}

/// Returns the crate of a symbol: the first name of its path, or of the type in `<TYPE as TRAIT>::function`.
fn part(symbol: &str) -> String {
    let path = symbol.trim_start_matches(['<', '&', '*', '[', '(']);
    let path = ["dyn ", "mut ", "const "].into_iter().fold(path, |path, word| path.trim_start_matches(word));
    match path.split_once("::") {
        Some((name, _)) if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => name.to_owned(),
        _ => "(C, assembly, data without a name)".to_owned(),
    }
}
