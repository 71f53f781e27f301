//! Any bytes are taken in as an archive or refused: what is taken in is what was listed, nothing leads out of it, nothing is written
//! beside it, the store keeps to its bounds, and packing a tree again gives the same one.

use std::cell::Cell;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;
use tiphys_tree::archive::{self, ArchiveError, ArchiveLimits, Intake};
use tiphys_tree::glob::{Folder, Listing};
use tiphys_tree::{
    Entries, EntryKind, EntryPath, Final, Modes, ProcessStore, Store, StoreBounds, StoreOptions, Tree,
    TreeKey, TreeLimits, WriteError,
};

/// Bounds that inputs of a few KiB get to.
const LIMITS: ArchiveLimits =
    ArchiveLimits { packed_bytes_max: 64 * 1024, entries_max: 100, bytes_max: 256 * 1024 };
/// Trees that the store keeps, so that some go.
const TREES_MAX: usize = 4;
/// Bytes of a header and of the units that contents are filled up to.
const BLOCK_BYTES: usize = 512;
/// Where a header has its checksum: six octal digits, a NUL, a space.
const CHECKSUM: std::ops::Range<usize> = 148..156;
/// Where a header says how long the content is: octal digits.
const SIZE: std::ops::Range<usize> = 124..136;

thread_local! {
    static WORLD: World = World::new();
}

/// The bytes are the archive.
pub(crate) fn gzip_body(bytes: &[u8]) {
    WORLD.with(|world| world.check(bytes));
}

/// The bytes are a tar. Checksums of headers are made right, since hardly a changed one would be read otherwise.
pub(crate) fn tar_body(bytes: &[u8]) {
    let mut tar = bytes.to_vec();
    mend_checksums(&mut tar);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
    gzip.write_all(&tar).expect("memory takes everything");
    let gzip = gzip.finish().expect("memory takes everything");
    WORLD.with(|world| world.check(&gzip));
}

pub(crate) fn mend_checksums(tar: &mut [u8]) {
    let mut rest = tar;
    while rest.len() >= BLOCK_BYTES {
        let (header, behind) = rest.split_at_mut(BLOCK_BYTES);
        if header.iter().all(|byte| *byte == 0) {
            return;
        }
        header[CHECKSUM].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let size = header[SIZE].iter().filter(|byte| (b'0'..=b'7').contains(*byte));
        let size = size.fold(0_usize, |size, digit| size.saturating_mul(8) + usize::from(digit - b'0'));
        let content = size.div_ceil(BLOCK_BYTES).saturating_mul(BLOCK_BYTES);
        let length = behind.len();
        rest = &mut behind[content.min(length)..];
    }
}

/// A store in a temporary folder in which nothing else is.
struct World {
    dir: TempDir,
    store: ProcessStore,
    /// Number of trees so far.
    trees: Cell<u64>,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let options = StoreOptions {
            dir: dir.path().join("store"),
            runs_dir: dir.path().join("runs"),
            limits: TreeLimits { entries_max: LIMITS.entries_max, bytes_max: LIMITS.bytes_max },
        };
        let bounds = StoreBounds { bytes_max: LIMITS.bytes_max, trees_max: TREES_MAX };
        let store = Store::of_this_process(options, bounds).expect("the store opens");
        Self { dir, store, trees: Cell::new(0) }
    }

    fn check(&self, archive: &[u8]) {
        let intake = Intake { modes: Modes::Preserved, limits: LIMITS, stop: &|| false };
        let listed = archive::list(&mut &archive[..], &intake);
        let taken = self.take_in(archive, &intake);
        match (listed, taken) {
            (Ok(entries), Ok(tree)) => {
                same(&entries, &Folder::new(tree.root(), LIMITS.entries_max), &EntryPath::default());
                assert!(self.store.get(tree.key()).is_some(), "it is unchanged");
                self.same_when_packed(tree);
            }
            (Ok(_), Err(error)) => {
                assert!(is_of_the_file_system(&error), "listed, but not taken in: {error}");
            }
            (Err(error), Ok(_)) => panic!("taken in, but not listed: {error}"),
            (Err(listed), Err(taken)) => {
                let same = listed.to_string() == taken.to_string();
                assert!(
                    same || is_of_the_file_system(&listed) || is_of_the_file_system(&taken),
                    "{listed}, and {taken}"
                );
            }
        }
        let stats = self.store.stats();
        let bounded = stats.trees <= TREES_MAX as u64 && stats.bytes <= LIMITS.bytes_max;
        assert!(bounded, "no tree is in use, and the store has {stats:?}");
        let mut beside: Vec<_> = fs::read_dir(self.dir.path())
            .expect("the folder is there")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        beside.sort();
        assert!(beside.iter().all(|name| name == "runs" || name == "store"), "{beside:?}");
    }

    /// Unpacks an archive as another tree.
    fn take_in(&self, archive: &[u8], intake: &Intake<'_>) -> Result<Tree, ArchiveError> {
        let number = self.trees.get() + 1;
        self.trees.set(number);
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_le_bytes());
        let room = self.store.room(0).expect("no tree is in use");
        room.take_in(TreeKey(key), &mut &archive[..], intake)
    }

    fn same_when_packed(&self, tree: Tree) {
        let mut packed = Vec::new();
        archive::pack(tree.root(), &mut packed).expect("a tree can be packed");
        drop(tree);
        let limits = ArchiveLimits { packed_bytes_max: u64::MAX, ..LIMITS };
        let intake = Intake { modes: Modes::Preserved, limits, stop: &|| false };
        let again = self.take_in(&packed, &intake).expect("what was packed is taken in");
        let mut packed_again = Vec::new();
        archive::pack(again.root(), &mut packed_again).expect("a tree can be packed");
        assert!(packed_again == packed, "a tree that was packed is the same tree");
    }
}

/// A path that is too long for the file system below the store's folder need not be too long for a tree.
fn is_of_the_file_system(error: &ArchiveError) -> bool {
    matches!(error, ArchiveError::Write(WriteError::Io { .. }) | ArchiveError::Store(_))
}

/// Whether a directory has the same in memory and on disk, and nothing in it leads out.
fn same(entries: &Entries, disk: &Folder<'_>, directory: &EntryPath<'_>) {
    let list = |side: &dyn Listing| {
        let mut found = Vec::new();
        side.list(directory.as_bytes(), &mut |name, kind| found.push((name.to_vec(), kind)))
            .expect("a directory can be listed");
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    };
    let found = list(entries);
    assert_eq!(found, list(disk), "in {directory}");
    for (name, kind) in found {
        let path = directory.join(&name).expect("a name is a name");
        match kind {
            EntryKind::Directory => same(entries, disk, &path),
            EntryKind::Link => {
                let lead = |side: &dyn Listing| side.kind(path.as_bytes(), Final::Follow).ok();
                assert_eq!(lead(entries), lead(disk), "the link {path}");
                assert_inside(disk.root(), &path);
            }
            EntryKind::File => {}
        }
    }
}

fn assert_inside(root: &Path, link: &EntryPath<'_>) {
    if let Ok(real) = link.below(root).canonicalize() {
        let root = root.canonicalize().expect("the root is there");
        assert!(real.starts_with(&root), "{link} leads to {}", real.display());
    }
}
