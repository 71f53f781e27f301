//! Measures taking in archives: `cargo bench -p tiphys-tree -- [DIRECTORY] [--few]`, preferably on a memory file system. `--few` measures
//! only small archives.

#![expect(clippy::print_stdout, reason = "the figures are its output")]

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, Header};
use tiphys_tree::archive::{self, ArchiveLimits, Intake};
use tiphys_tree::{Modes, ProcessStore, Store, StoreBounds, StoreOptions, Tree, TreeKey, TreeLimits};

/// Files of the measured tree, in folders of [`FILES_PER_FOLDER`].
const FILES: usize = 10_000;
/// Files of the small tree.
const FEW_FILES: usize = 100;
const FILES_PER_FOLDER: usize = 20;
const FILE_BYTES: usize = 2_570;
/// Bytes of a file that no other file has.
const NOISE_BYTES: usize = 420;
const ROUNDS: u32 = 25;
/// Rounds with few files, which are quick.
const FEW_FILES_ROUNDS: u32 = 400;
/// Between calls with few files.
const PAUSE: Duration = Duration::from_millis(4);
/// Linux counts processor time in these.
const TICKS_PER_SECOND: f64 = 100.0;
/// As Argo CD packs.
const LEVEL: u32 = 6;

/// An archive of so many files; `time` is in the headers, `salt` in every file.
fn packed(files: usize, time: u64, salt: &str) -> Vec<u8> {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::new(LEVEL)));
    for number in 0..files {
        let folder =
            format!("team-{:02}/app-{:03}", number / FILES_PER_FOLDER / 25, number / FILES_PER_FOLDER);
        let mut header = Header::new_ustar();
        header.set_mtime(time);
        header.set_mode(0o755);
        header.set_size(0);
        if number % FILES_PER_FOLDER == 0 {
            header.set_entry_type(tar::EntryType::Directory);
            builder.append_data(&mut header, &folder, &b""[..]).expect("a folder");
        }
        let mut text = Vec::with_capacity(FILE_BYTES);
        let mut noise = blake3::Hasher::new().update(format!("{salt}{number}").as_bytes()).finalize_xof();
        text.resize(NOISE_BYTES, 0);
        noise.fill(&mut text);
        for line in 0.. {
            text.extend_from_slice(format!("  key-{line}: the value of line {line}\n").as_bytes());
            if text.len() >= FILE_BYTES {
                break;
            }
        }
        text.truncate(FILE_BYTES);
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, format!("{folder}/file-{number}.yaml"), &text[..]).expect("a file");
    }
    builder.into_inner().and_then(GzEncoder::finish).expect("an archive")
}

/// Minimum, median and maximum in milliseconds. The minimum is least affected by other load.
fn figures(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |index: usize| times.get(index).copied().unwrap_or_default().as_secs_f64() * 1e3;
    format!("{:.1} / {:.1} / {:.1}", at(0), at(times.len() / 2), at(times.len().saturating_sub(1)))
}

/// CPU time of all threads of this process so far. Less affected by other load than the elapsed time.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / TICKS_PER_SECOND
}

fn store(folder: &Path) -> ProcessStore {
    let limits = TreeLimits::DEFAULT;
    let options = StoreOptions { dir: folder.join("store"), runs_dir: folder.join("runs"), limits };
    let bounds = StoreBounds { bytes_max: 1 << 30, trees_max: 100 };
    Store::of_this_process(options, bounds).expect("a store")
}

fn take(store: &ProcessStore, archive: &[u8], intake: &Intake<'_>) -> Tree {
    let key = TreeKey::of_archive(*blake3::hash(archive).as_bytes(), intake.modes);
    let room = store.room(0).expect("the store is large");
    room.take_in(key, &mut &archive[..], intake).expect("taken")
}

fn main() {
    let few_only = std::env::args().any(|argument| argument == "--few");
    let parent = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let parent = parent.map_or_else(|| PathBuf::from("/dev/shm"), PathBuf::from);
    let folder = tempfile::TempDir::new_in(parent).expect("a folder");
    println!("files of {FILE_BYTES} bytes; least / median / greatest, in milliseconds");
    println!("{:40} {:24} processor time", "", "elapsed");
    let cpu = Cell::new(0.0);
    let limits = ArchiveLimits { packed_bytes_max: 1 << 30, entries_max: 1 << 20, bytes_max: 1 << 32 };
    let intake = Intake { modes: Modes::Plain, limits, stop: &|| false };
    let measure_rounds = |rounds: u32, name: &str, work: &mut dyn FnMut() -> Duration| {
        let times = (0..rounds).map(|_| work()).collect();
        println!("{name:40} {:24} {:.1}", figures(times), cpu.take() * 1e3 / f64::from(rounds));
    };
    let measure = |name: &str, work: &mut dyn FnMut() -> Duration| measure_rounds(ROUNDS, name, work);
    let timed = |work: &mut dyn FnMut()| {
        let (begin, before) = (Instant::now(), cpu_seconds());
        work();
        cpu.set(cpu.get() + cpu_seconds() - before);
        begin.elapsed()
    };
    let few: Vec<_> =
        (0..=FEW_FILES_ROUNDS).map(|round| packed(FEW_FILES, 1, &format!("few-{round} "))).collect();
    let small_trees = store(folder.path());
    let mut unseen = few.iter();
    let mut take_few = || {
        let archive = unseen.next().expect("as many as rounds");
        drop(take(&small_trees, archive, &intake));
    };
    take_few();
    measure_rounds(FEW_FILES_ROUNDS, &format!("take in {FEW_FILES} files, never seen"), &mut || {
        // Work that follows a call gets the time that it has between calls.
        let called = Instant::now();
        while called.elapsed() < PAUSE {
            std::hint::spin_loop();
        }
        timed(&mut take_few)
    });
    if few_only {
        return;
    }
    let (first, other) = (packed(FILES, 1, ""), packed(FILES, 1, "x"));
    println!("{FILES} files, {} bytes packed, {ROUNDS} rounds", first.len());
    measure("list", &mut || timed(&mut || drop(archive::list(&mut &first[..], &intake).expect("listed"))));
    measure("take in, never seen", &mut || {
        let store = store(folder.path());
        timed(&mut || drop(take(&store, &first, &intake)))
    });
    measure("remove it", &mut || {
        let store = store(folder.path());
        drop(take(&store, &first, &intake));
        let mut store = Some(store);
        timed(&mut || drop(store.take()))
    });
    let warm = store(folder.path());
    drop(take(&warm, &first, &intake));
    let key = TreeKey::of_archive(*blake3::hash(&first).as_bytes(), intake.modes);
    measure("find it", &mut || timed(&mut || drop(warm.get(key).expect("it is unchanged"))));
    println!("{:?}", warm.stats());
    measure("16 at once, never seen", &mut || {
        let store = store(folder.path());
        timed(&mut || {
            std::thread::scope(|scope| {
                for _ in 0..16 {
                    scope.spawn(|| drop(take(&store, &other, &intake)));
                }
            });
        })
    });
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default());
    }
}
