//! One `RenderService`, 10,000 requests over 50 repositories whose branches move: memory, descriptors and disk must stay flat.
//!
//! `cargo bench -p tiphys-render --bench service [-- DIRECTORY]`; the directory should be on a memory file system.

#![expect(clippy::print_stdout, reason = "the figures are its output")]

#[path = "../tests/service/request.rs"]
mod request;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use tiphys_plugin::Catalogue;
use tiphys_render::RenderService;
use tiphys_source::{SourceOptions, SourceService};
use tiphys_testkit::git::{self, Repository};
use tiphys_tree::{Store, StoreBounds, StoreOptions, TreeLimits};

use request::{application, request};

const REPOSITORIES: usize = 50;
const REQUESTS: usize = 10_000;
/// A branch moves once in so many requests.
const REQUESTS_PER_PUSH: usize = 5;
const REQUESTS_PER_ROW: usize = 1_000;
const TREES_MAX: usize = 100;

fn main() -> io::Result<()> {
    // Cargo passes `--bench`.
    let parent = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).map(PathBuf::from);
    let dir = tempfile::tempdir_in(parent.unwrap_or_else(|| PathBuf::from("/tmp")))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(dir.path()))
}

async fn run(dir: &Path) -> io::Result<()> {
    let repositories: Vec<Repository> = (0..REPOSITORIES)
        .map(|number| {
            let repository = Repository::init(dir.join(format!("repositories/{number}")));
            push(&repository, 0);
            repository
        })
        .collect();
    let service = service(dir);
    println!("requests  ms/request  RSS MiB  descriptors  disk MiB  files");
    let mut begun = Instant::now();
    for number in 1..=REQUESTS {
        let repository = &repositories[number % REPOSITORIES];
        if number % REQUESTS_PER_PUSH == 0 {
            push(repository, number);
        }
        let rendered = service.render(&application(&repository.url()), request(Duration::ZERO)).await;
        rendered.map_err(io::Error::other)?;
        if number % REQUESTS_PER_ROW == 0 {
            let (bytes, files) = usage(&[&dir.join("cache"), &dir.join("store"), &dir.join("runs")])?;
            println!(
                "{number:8}  {:10.2}  {:7.1}  {:11}  {:8.1}  {files:5}",
                // Milliseconds of one of a thousand requests.
                begun.elapsed().as_secs_f64(),
                f64::from(resident_kib()?) / 1024.0,
                fs::read_dir("/proc/self/fd")?.count(),
                f64::from(u32::try_from(bytes / 1024).unwrap_or(u32::MAX)) / 1024.0,
            );
            begun = Instant::now();
        }
    }
    Ok(())
}

fn service(dir: &Path) -> RenderService {
    let options =
        StoreOptions { dir: dir.join("store"), runs_dir: dir.join("runs"), limits: TreeLimits::DEFAULT };
    let bounds = StoreBounds { bytes_max: 1 << 30, trees_max: TREES_MAX };
    let store = Store::of_this_process(options, bounds).expect("the store opens");
    let options = SourceOptions::new(dir.join("cache"), git::environment(dir));
    RenderService::new(SourceService::new(store.shared(), options), Catalogue::default())
}

fn push(repository: &Repository, value: usize) {
    for number in 0..20 {
        let object = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": format!("map-{number}")},
            "data": {"value": (value * usize::from(number == 0)).to_string(), "text": "x".repeat(1000)},
        });
        repository.write(&format!("app/{number}.json"), &object.to_string());
    }
    repository.commit("next");
}

fn resident_kib() -> io::Result<u32> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    number.ok_or_else(|| io::Error::other("/proc/self/status has no VmRSS"))
}

/// Bytes on disk and number of files below some directories. Links of one file count once.
fn usage(directories: &[&Path]) -> io::Result<(u64, usize)> {
    let mut waiting: Vec<PathBuf> = directories.iter().map(|path| path.to_path_buf()).collect();
    let mut inodes = HashMap::new();
    while let Some(path) = waiting.pop() {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        inodes.insert(metadata.ino(), metadata.blocks() * 512);
        if metadata.is_dir() {
            waiting.extend(fs::read_dir(&path)?.flatten().map(|entry| entry.path()));
        }
    }
    Ok((inodes.values().sum(), inodes.len()))
}
