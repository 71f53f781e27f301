//! Generates the sets of a store several times in one process, for `cargo xtask bench appset`, and prints a JSON list of the seconds.
//!
//! `cargo bench -p tiphys-service --bench sets -- STORE CACHE COUNT`

#![expect(clippy::print_stdout, reason = "the figures are its output")]
#![expect(clippy::disallowed_methods, reason = "a program of its own reads its environment and the clock")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use tiphys_service::{
    Host, Service, ServiceOptions, SetSelection, StorePath, Workspace, WorkspaceOptions, generate_sets,
};

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo passes `--bench`.
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let [store, cache, count] = &arguments[..] else { return Err("expected STORE CACHE COUNT".into()) };
    let options = ServiceOptions {
        store: vec![StorePath::Path(PathBuf::from(store))],
        cache_dir: Some(PathBuf::from(cache)),
        ..ServiceOptions::default()
    };
    let host = Host {
        variables: ["PATH", "HOME"]
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)))
            .collect::<BTreeMap<_, _>>(),
        executable: std::env::current_exe()?,
        current_dir: std::env::current_dir()?,
        processors: std::thread::available_parallelism()?.get(),
        standard_input: || Box::new(std::io::empty()),
        clock: std::time::SystemTime::now,
    };
    let service = Service::open(options, host)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut seconds = Vec::new();
    for _ in 0..count.parse()? {
        let begun = Instant::now();
        runtime.block_on(async {
            let selection = SetSelection::default();
            let workspace = Workspace::open(&service, WorkspaceOptions::for_sets(&selection))?;
            let generated = generate_sets(&workspace, &selection).await?;
            let sets = &generated.sets;
            if sets.iter().any(|set| set.applications().is_empty()) {
                return Err(Box::<dyn Error>::from("a set has no Application"));
            }
            Ok(())
        })?;
        seconds.push(begun.elapsed().as_secs_f64());
    }
    println!("{seconds:?}");
    Ok(())
}
