//! Finds charts, and what they are rendered with.

use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_chart::ChartFile;

/// A chart with values.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) chart: PathBuf,
    pub(crate) values: Values,
}

/// The values of a case.
#[derive(Debug)]
pub(crate) enum Values {
    Defaults,
    File(PathBuf),
    /// The defaults with changes that follow from a seed.
    Changed(u64),
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.chart.display())?;
        match &self.values {
            Values::Defaults => Ok(()),
            Values::File(path) => write!(f, " {}", path.file_name().unwrap_or_default().display()),
            Values::Changed(seed) => write!(f, " seed {seed}"),
        }
    }
}

/// Returns all cases of the charts below folders. A chart within another one is a case of that only.
pub(crate) fn cases(roots: &[PathBuf], seeds: Range<u64>) -> Vec<Case> {
    let mut charts = Vec::new();
    for root in roots {
        find(root, &mut charts);
    }
    charts.sort();
    let of_chart = |chart: &PathBuf| {
        let mut all = vec![Values::Defaults];
        let files = fs::read_dir(chart.join("ci")).into_iter().flatten().flatten();
        let files = files.map(|entry| entry.path());
        let mut files: Vec<PathBuf> =
            files.filter(|path| path.to_string_lossy().ends_with("-values.yaml")).collect();
        files.sort();
        all.extend(files.into_iter().map(Values::File));
        // Without defaults, there is nothing to change.
        if chart.join("values.yaml").is_file() {
            all.extend(seeds.clone().map(Values::Changed));
        }
        all.into_iter().map(|values| Case { chart: chart.clone(), values }).collect::<Vec<_>>()
    };
    charts.iter().flat_map(of_chart).collect()
}

fn find(folder: &Path, charts: &mut Vec<PathBuf>) {
    if folder.join("Chart.yaml").is_file() {
        charts.push(folder.to_path_buf());
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find(&entry.path(), charts);
        }
    }
}

/// Reads the files of a chart, and follows links as Helm does.
pub(crate) fn read(chart: &Path) -> Vec<ChartFile> {
    let mut files = Vec::new();
    read_below(chart, "", &mut files);
    files
}

fn read_below(folder: &Path, prefix: &str, files: &mut Vec<ChartFile>) {
    for entry in fs::read_dir(folder).expect("a directory").flatten() {
        let name = entry.file_name().into_string().expect("UTF-8");
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        if entry.path().is_dir() {
            read_below(&entry.path(), &path, files);
        } else if let Ok(bytes) = fs::read(entry.path()) {
            files.push(ChartFile { path, bytes: Arc::from(bytes) });
        }
    }
}
