//! Packing and unpacking, and archives that must be rejected.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;

use super::read::names_bytes_max;
use super::{ArchiveError, ArchiveLimits, Intake, Part, list, pack, unpack};
use crate::{
    EntryPath, Modes, ProcessStore, Store, StoreBounds, StoreOptions, StoreStats, Tree, TreeKey, TreeLimits,
};

const LIMITS: TreeLimits = TreeLimits { entries_max: 100, bytes_max: 1 << 20 };

/// Entries below a directory: path, and `dir`, a mode with the content, or a link's target.
type Listing = BTreeMap<Vec<u8>, String>;

fn listing(root: &Path) -> Listing {
    let mut found = Listing::new();
    let mut todo = vec![root.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).expect("a folder") {
            let path = entry.expect("an entry").path();
            let metadata = path.symlink_metadata().expect("an entry");
            let name = path.strip_prefix(root).expect("below").as_os_str().as_bytes().to_vec();
            let what = if metadata.is_dir() {
                todo.push(path);
                "dir".to_owned()
            } else if metadata.is_symlink() {
                format!(
                    "-> {}",
                    crate::path::shown(fs::read_link(&path).expect("a link").as_os_str().as_bytes())
                )
            } else {
                let mode = metadata.permissions().mode() & 0o777;
                format!("{mode:o} {}", fs::read_to_string(&path).expect("a text"))
            };
            found.insert(name, what);
        }
    }
    found
}

fn expected<const N: usize>(entries: [(&str, &str); N]) -> Listing {
    entries.map(|(path, what)| (path.into(), what.to_owned())).into()
}

/// Returns the tree of an archive in a store. A list of it has the same names or the same error.
fn unpacked(archive: &[u8], modes: Modes, limits: TreeLimits) -> (TempDir, Result<Tree, ArchiveError>) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let store = store_of_one_process(&dir);
    let intake = intake(modes, limits);
    let tree = take(&store, archive, &intake);
    let names = list(&mut &archive[..], &intake);
    match (&tree, names) {
        (Ok(tree), Ok(names)) => assert_eq!(listing(tree.root()).len(), names.len()),
        (Err(error), Err(listing)) => {
            assert_eq!(error.to_string(), listing.to_string());
            assert_eq!(store.stats(), StoreStats::default(), "nothing stays behind");
        }
        (tree, names) => panic!("they differ: {tree:?}, {names:?}"),
    }
    (dir, tree)
}

fn store_of_one_process(dir: &TempDir) -> ProcessStore {
    let options = StoreOptions {
        dir: dir.path().join("own"),
        runs_dir: dir.path().join("own-runs"),
        limits: TreeLimits { entries_max: u64::MAX, bytes_max: u64::MAX },
    };
    let bounds = StoreBounds { bytes_max: u64::MAX, trees_max: usize::MAX };
    Store::of_this_process(options, bounds).expect("the store opens")
}

fn take(store: &ProcessStore, archive: &[u8], intake: &Intake<'_>) -> Result<Tree, ArchiveError> {
    let room = store.room(0).expect("there is room");
    room.take_in(TreeKey([1; 32]), &mut &archive[..], intake)
}

fn intake(modes: Modes, TreeLimits { entries_max, bytes_max }: TreeLimits) -> Intake<'static> {
    let limits = ArchiveLimits { packed_bytes_max: u64::MAX, entries_max, bytes_max };
    Intake { modes, limits, stop: &|| false }
}

fn listed(archive: &[u8], modes: Modes) -> Listing {
    let (_dir, tree) = unpacked(archive, modes, LIMITS);
    listing(tree.expect("unpacked").root())
}

fn refused(archive: &[u8]) -> String {
    unpacked(archive, Modes::Plain, LIMITS).1.expect_err("refused").to_string()
}

fn packed(root: &Path) -> Vec<u8> {
    let mut archive = Vec::new();
    pack(root, &mut archive).expect("packed");
    archive
}

/// An entry of an archive: type, name, link target, content. Names are written as they are.
type TestEntry<'a> = (EntryType, &'a str, &'a str, &'a str);

/// An archive of these entries.
fn archive(entries: &[TestEntry<'_>]) -> Vec<u8> {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (kind, name, target, content) in entries {
        let mut header = Header::new_ustar();
        header.set_entry_type(*kind);
        header.set_mode(0o755);
        header.set_size(content.len() as u64);
        let fields = header.as_ustar_mut().expect("USTAR");
        fields.name[..name.len()].copy_from_slice(name.as_bytes());
        fields.linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_cksum();
        builder.append(&header, content.as_bytes()).expect("an entry");
    }
    builder.into_inner().and_then(GzEncoder::finish).expect("an archive")
}

/// Where an archive has an entry's name and target.
#[derive(Clone, Copy)]
enum Named {
    InItsHeader,
    ByAnExtendedHeader,
}

/// The same whose name and target need not be text.
type BytesEntry<'a> = (EntryType, &'a [u8], &'a [u8], &'a str, Named);

fn archive_of_bytes(entries: &[BytesEntry<'_>]) -> Vec<u8> {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (kind, name, target, content, named) in entries {
        let mut header = Header::new_ustar();
        header.set_entry_type(*kind);
        header.set_mode(0o755);
        header.set_size(content.len() as u64);
        let fields = header.as_ustar_mut().expect("USTAR");
        match named {
            Named::InItsHeader => {
                fields.name[..name.len()].copy_from_slice(name);
                fields.linkname[..target.len()].copy_from_slice(target);
            }
            Named::ByAnExtendedHeader => {
                builder.append_pax_extensions([("path", *name), ("linkpath", *target)]).expect("a header");
            }
        }
        header.set_cksum();
        builder.append(&header, content.as_bytes()).expect("an entry");
    }
    builder.into_inner().and_then(GzEncoder::finish).expect("an archive")
}

const FILE: EntryType = EntryType::Regular;
const LINK: EntryType = EntryType::Symlink;
const DIR: EntryType = EntryType::Directory;

#[test]
fn archive_lists_like_one_of_argo_cd() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let long = "n".repeat(120);
    fs::create_dir_all(dir.path().join("b/empty")).expect("folders");
    fs::write(dir.path().join("b.txt"), "text").expect("a file");
    fs::write(dir.path().join("a"), "").expect("a file");
    fs::write(dir.path().join(&long), "").expect("a file");
    fs::write(dir.path().join("ü"), "").expect("a file");
    symlink("../a", dir.path().join("b/link")).expect("a link");
    let socket = UnixListener::bind(dir.path().join("socket")).expect("a socket");
    let first = packed(dir.path());
    let mut names = Vec::new();
    let mut tar = tar::Archive::new(GzDecoder::new(&first[..]));
    for entry in tar.entries().expect("entries") {
        let entry = entry.expect("an entry");
        let header = entry.header();
        assert_eq!((header.mtime().ok(), header.uid().ok(), header.gid().ok()), (Some(0), Some(0), Some(0)));
        assert_eq!(header.as_ustar().expect("USTAR").uname, [0; 32]);
        names.push((
            char::from(header.entry_type().as_byte()),
            String::from_utf8_lossy(&entry.path_bytes()).into_owned(),
        ));
    }
    let names: Vec<_> = names.iter().map(|(kind, name)| (*kind, name.as_str())).collect();
    let wanted = [
        ('5', "."),
        ('0', "a"),
        ('5', "b"),
        ('5', "b/empty"),
        ('2', "b/link"),
        ('0', "b.txt"),
        ('0', &long),
        ('0', "ü"),
    ];
    assert_eq!(names, wanted);
    drop(socket);
    fs::File::open(dir.path().join("a"))
        .and_then(|file| file.set_modified(std::time::UNIX_EPOCH))
        .expect("another time");
    assert_eq!(packed(dir.path()), first, "times do not count");
}

#[test]
fn directory_of_an_archive_becomes_a_tree() {
    let part_of = |entries: &[TestEntry<'_>], part| {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let runs_dir = dir.path().join("runs");
        let options = StoreOptions { dir: dir.path().join("store"), runs_dir, limits: LIMITS };
        let (store, bytes) = (Store::open(options).expect("the store opens"), archive(entries));
        let mut count = 0;
        let tree = store.get_or_write(TreeKey([0; 32]), |writer| {
            count = unpack(&mut &bytes[..], &intake(Modes::Plain, LIMITS), part, writer)?;
            Ok::<(), ArchiveError>(())
        });
        tree.map(|tree| (listing(tree.root()), count)).map_err(|error| error.to_string())
    };
    let one: &[TestEntry<'_>] = &[(DIR, ".", "", ""), (DIR, "web/", "", ""), (FILE, "web/a/b", "", "x")];
    let below = || (expected([("a", "dir"), ("a/b", "644 x")]), 1);
    assert_eq!(part_of(one, Part::OnlyFolder), Ok(below()));
    assert_eq!(part_of(one, Part::Folder("web")), Ok(below()));
    assert_eq!(part_of(one, Part::Folder("we")), Ok((expected([]), 0)));
    let whole = expected([("web", "dir"), ("web/a", "dir"), ("web/a/b", "644 x")]);
    assert_eq!(part_of(one, Part::Whole), Ok((whole, 1)));

    let several = "it has more than one folder at its top".to_owned();
    for other in [(DIR, "empty/", "", ""), (FILE, "file", "", "x"), (FILE, "web2/a", "", "x")] {
        let two = [one, &[other]].concat();
        assert_eq!(part_of(&two, Part::OnlyFolder), Err(several.clone()), "{other:?}");
        assert_eq!(part_of(&two, Part::Folder("web")), Ok(below()), "{other:?}");
    }
    assert_eq!(part_of(&[(FILE, "file", "", "x")], Part::OnlyFolder), Ok((expected([]), 0)));
}

#[test]
fn gnu_tar_lists_our_archive() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (root, file) = (dir.path().join("root"), dir.path().join("archive.tar.gz"));
    let long = ["d".repeat(90), "e".repeat(90), "ü".repeat(70)].join("/");
    fs::create_dir_all(root.join(&long).parent().expect("a parent")).expect("folders");
    fs::write(root.join(&long), "text").expect("a file");
    symlink(&long, root.join("link")).expect("a link");
    fs::write(&file, packed(&root)).expect("the archive");
    #[expect(clippy::disallowed_methods, reason = "the other program is what is tested against")]
    let output = std::process::Command::new("tar")
        .args(["--quoting-style=literal", "-tzf"])
        .arg(&file)
        .output()
        .expect("tar runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let parents = [&long[..90], &long[..181]];
    let wanted = format!(".\n{}\n{}\n{long}\nlink\n", parents[0], parents[1]);
    assert_eq!(text, wanted);
}

#[test]
fn gnu_tar_archive_unpacks_like_in_argo_cd() {
    let long = "n".repeat(120);
    let wanted = expected([
        ("empty", "dir"),
        ("file", "644 text\n"),
        ("link", "-> file"),
        ("longlink", &format!("-> {long}/{long}")),
        (&long, "dir"),
        (&format!("{long}/{long}"), "644 x\n"),
        ("run", "755 #!/bin/sh\n"),
        ("ü", "644 ü\n"),
    ]);
    for format in ["gnu", "posix"] {
        let path = format!("{}/testdata/gnu-tar-{format}.tar.gz", env!("CARGO_MANIFEST_DIR"));
        let mut found = listed(&fs::read(path).expect("the archive"), Modes::Preserved);
        // The second name of a file is a hard link, which is left out; which of the two names is the file is tar's choice.
        if let Some(hard) = found.remove(&b"hard"[..]) {
            found.insert(b"file".to_vec(), hard);
        }
        let mut wanted = wanted.clone();
        if !found.contains_key(&b"file"[..]) {
            wanted.remove(&b"file"[..]);
        }
        assert_eq!(found, wanted, "{format}");
    }
}

#[test]
fn executable_bits_are_dropped_unless_preserved() {
    let archive = archive(&[(FILE, "run", "", "x")]);
    assert_eq!(listed(&archive, Modes::Plain), expected([("run", "644 x")]));
    assert_eq!(listed(&archive, Modes::Preserved), expected([("run", "755 x")]));
}

#[test]
fn special_entries_are_ignored() {
    let archive = archive(&[
        (DIR, ".", "", ""),
        (DIR, "./", "", ""),
        (FILE, "a", "", "x"),
        (EntryType::Link, "hard", "a", ""),
        (EntryType::Fifo, "pipe", "", ""),
        (EntryType::Char, "device", "", ""),
        (EntryType::Block, "block", "", ""),
        (EntryType::XGlobalHeader, "global", "", "11 comment=x\n"),
        (FILE, "d/b", "", "y"),
    ]);
    assert_eq!(listed(&archive, Modes::Plain), expected([("a", "644 x"), ("d", "dir"), ("d/b", "644 y")]));
}

#[test]
fn path_is_relative_to_the_root() {
    let archive = archive(&[
        (FILE, "/etc/passwd", "", "x"),
        (FILE, "a/../b", "", "y"),
        (DIR, "/c/", "", ""),
        (FILE, "/../d", "", "z"),
        (DIR, "a/..", "", ""),
        (FILE, "/", "", "left out"),
    ]);
    let wanted =
        expected([("b", "644 y"), ("c", "dir"), ("d", "644 z"), ("etc", "dir"), ("etc/passwd", "644 x")]);
    assert_eq!(listed(&archive, Modes::Plain), wanted);
}

#[test]
fn path_that_leads_out_is_rejected() {
    for (kind, name, expected) in [
        (FILE, "..", r#"error creating file "..": openat .."#),
        (FILE, "../a", "error creating nested folders: mkdirat .."),
        (FILE, "a/../../b/c", "error creating nested folders: mkdirat ../b"),
        (DIR, "../a/b", "error creating nested folders: mkdirat ../a/b"),
        (LINK, "../../a", r#"error checking symlink parent "..": statat .."#),
        (LINK, "..", "error creating symlink: symlinkat .."),
    ] {
        let expected = format!("{expected}: path escapes from parent");
        assert_eq!(refused(&archive(&[(kind, name, "x", "")])), expected, "{kind:?} {name}");
    }
}

#[test]
fn link_that_leads_out_is_rejected() {
    for (target, lead) in
        [("../..", ".."), ("../../etc", "../etc"), ("x/../../../etc", "../etc"), ("../x/../../y", "../y")]
    {
        let expected =
            format!("error checking symlink {lead:?} target: statat {lead}: path escapes from parent");
        assert_eq!(refused(&archive(&[(LINK, "d/l", target, "")])), expected, "{target}");
    }
}

#[test]
fn link_to_the_root_or_without_target_is_accepted() {
    let archive = archive(&[
        (LINK, "d/up", "..", ""),
        (LINK, "d/around", "../x/..", ""),
        (LINK, "d/here", "", ""),
        (LINK, "self", ".", ""),
        (LINK, "top", "/", ""),
        (FILE, "f", "", "x"),
    ]);
    let wanted = expected([
        ("d", "dir"),
        ("d/around", "-> .."),
        ("d/here", "-> ."),
        ("d/up", "-> .."),
        ("f", "644 x"),
        ("self", "-> ."),
        ("top", "-> ."),
    ]);
    assert_eq!(listed(&archive, Modes::Plain), wanted);
}

#[test]
fn link_in_a_link_is_rejected() {
    let archive = archive(&[(LINK, "d/up", "..", ""), (LINK, "d/up/escape/x", "../secret", "")]);
    assert_eq!(refused(&archive), r#"illegal symlink parent directory "d/up" for "d/up/escape/x""#);
}

#[test]
fn non_utf8_names_and_targets_are_kept() {
    let tree = archive_of_bytes(&[
        (DIR, b"d\xff", b"", "", Named::InItsHeader),
        (FILE, b"d\xff/caf\xe9.yaml", b"", "Latin-1", Named::InItsHeader),
        (FILE, b"d\xff/caf\xe8.yaml", b"", "another", Named::ByAnExtendedHeader),
        (
            FILE,
            "d\u{fffd}/caf\u{fffd}.yaml".as_bytes(),
            b"",
            "what a text would make of it",
            Named::InItsHeader,
        ),
        (LINK, b"l\xfe", b"d\xff/caf\xe9.yaml", "", Named::InItsHeader),
        (LINK, b"m", b"./l\xfe", "", Named::ByAnExtendedHeader),
    ]);
    let (_dir, tree) = unpacked(&tree, Modes::Plain, LIMITS);
    let tree = tree.expect("taken in");
    let read = |path: &[u8]| fs::read_to_string(tree.root().join(OsStr::from_bytes(path))).expect("a file");
    assert_eq!(read(b"d\xff/caf\xe9.yaml"), "Latin-1");
    assert_eq!(read(b"d\xff/caf\xe8.yaml"), "another");
    assert_eq!(read("d\u{fffd}/caf\u{fffd}.yaml".as_bytes()), "what a text would make of it");
    assert_eq!(read(b"m"), "Latin-1");
    let target = fs::read_link(tree.root().join(OsStr::from_bytes(b"l\xfe"))).expect("a link");
    assert_eq!(target.as_os_str().as_bytes(), b"d\xff/caf\xe9.yaml");
    assert_eq!(listing(tree.root()).len(), 7, "and nothing else");
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let copy = tree.copy_below(elsewhere.path(), "copy").expect("copied");
    assert_eq!(listing(&copy), listing(tree.root()));
}

#[test]
fn names_that_differ_in_one_byte_make_different_trees() {
    let tree = |name: &[u8], target: &[u8]| {
        let archive = archive_of_bytes(&[
            (FILE, name, b"", "x", Named::InItsHeader),
            (LINK, b"link", target, "", Named::InItsHeader),
        ]);
        listed(&archive, Modes::Plain)
    };
    let trees = [
        tree(b"caf\xe9", b"caf\xe9"),
        tree(b"caf\xe8", b"caf\xe9"),
        tree(b"caf\xe9", b"caf\xe8"),
        tree("caf\u{fffd}".as_bytes(), b"caf\xe9"),
    ];
    let different: HashSet<&Listing> = trees.iter().collect();
    assert_eq!(different.len(), trees.len());
}

#[test]
fn errors_about_non_utf8_names_have_escapes() {
    for (entries, expected) in [
        (
            &[(FILE, &b"../caf\xe9"[..], &b""[..], "", Named::InItsHeader)][..],
            "error creating nested folders: mkdirat ..: path escapes from parent",
        ),
        (
            &[(LINK, b"l", b"../\xe9", "", Named::InItsHeader)],
            r#"error checking symlink "../\xE9" target: statat "../\xE9": path escapes from parent"#,
        ),
        (
            &[
                (FILE, b"caf\xe9", b"", "", Named::InItsHeader),
                (FILE, b"caf\xe9/\\", b"", "", Named::InItsHeader),
            ],
            r#""caf\xE9" clashes with another entry"#,
        ),
    ] {
        assert_eq!(refused(&archive_of_bytes(entries)), expected);
    }
}

#[test]
fn link_does_not_lead_out_through_another_link() {
    let archive = archive(&[
        (LINK, "d/e/x", "../../f", ""),
        (LINK, "d/e/y", "x/../../g", ""),
        (LINK, "d/e/z", "x/../../../../g", ""),
        (DIR, "f", "", ""),
    ]);
    let expected = r#"error checking symlink "../g" target: statat ../g: path escapes from parent"#;
    assert_eq!(refused(&archive), expected);
    let archive = self::archive(&[(LINK, "d/e/x", "../../f", ""), (LINK, "d/e/y", "x/../../g", "")]);
    let wanted =
        self::expected([("d", "dir"), ("d/e", "dir"), ("d/e/x", "-> ../../f"), ("d/e/y", "-> ../g")]);
    assert_eq!(listed(&archive, Modes::Plain), wanted);
}

#[test]
fn absolute_link_is_relative_to_its_directory() {
    let archive = archive(&[(LINK, "d/l", "/etc/passwd", ""), (LINK, "d/m", "../gone", "")]);
    let wanted = expected([("d", "dir"), ("d/l", "-> etc/passwd"), ("d/m", "-> ../gone")]);
    assert_eq!(listed(&archive, Modes::Plain), wanted);
}

#[test]
fn nothing_is_written_through_a_link() {
    let archive = archive(&[(LINK, "l", "d", ""), (DIR, "d", "", ""), (FILE, "l/x", "", "x")]);
    assert_eq!(refused(&archive), "l clashes with another entry");
}

#[test]
fn archive_above_the_limits_is_rejected() {
    let archive = archive(&[(FILE, "a", "", "12345"), (FILE, "b", "", "12345")]);
    let answer = |limits| unpacked(&archive, Modes::Plain, limits).1.map_err(|error| error.to_string()).err();
    assert_eq!(answer(TreeLimits { entries_max: 2, bytes_max: 10 }), None);
    assert_eq!(
        answer(TreeLimits { entries_max: 1, bytes_max: 10 }).as_deref(),
        Some("the tree has more than 1 entries")
    );
    assert_eq!(
        answer(TreeLimits { entries_max: 2, bytes_max: 9 }).as_deref(),
        Some("the tree has more than 9 bytes")
    );
}

#[test]
fn duplicate_path_is_rejected() {
    let entries: [(&str, &[TestEntry<'_>]); 6] = [
        ("a", &[(FILE, "a", "", "x"), (FILE, "a", "", "y")]),
        ("a", &[(FILE, "a", "", "x"), (FILE, "b/../a", "", "y")]),
        ("l", &[(LINK, "l", "a", ""), (DIR, "l", "", "")]),
        ("l", &[(LINK, "l", "a", ""), (FILE, "l/x", "", "")]),
        ("f", &[(FILE, "f", "", ""), (FILE, "f/x", "", "")]),
        ("d", &[(FILE, "d/x", "", ""), (LINK, "d", "a", "")]),
    ];
    for (path, entries) in entries {
        assert_eq!(refused(&archive(entries)), format!("{path} clashes with another entry"));
    }
    let twice = archive(&[(DIR, "d", "", ""), (DIR, "d", "", ""), (FILE, "d/x", "", "")]);
    assert_eq!(listed(&twice, Modes::Plain).len(), 2, "a directory may");
}

#[test]
fn ignored_entries_count() {
    let fifos = [(EntryType::Fifo, "p", "", ""); 101];
    assert_eq!(refused(&archive(&fifos)), "the tree has more than 100 entries");
    let text = "x".repeat(1 << 20);
    let hidden = archive(&[(EntryType::Link, "h", "a", &text), (FILE, "a", "", "1")]);
    assert_eq!(refused(&hidden), "the tree has more than 1048576 bytes");
}

#[test]
fn extended_headers_of_an_entry_are_limited() {
    let long = (EntryType::GNULongName, "x", "", "name");
    let mut entries = vec![long; 8];
    entries.push((FILE, "a", "", "1"));
    assert_eq!(listed(&archive(&entries), Modes::Plain), expected([("name", "644 1")]));
    entries.push(long);
    entries.extend([long; 8]);
    let wanted = "error while iterating on tar reader: an entry has more than 8 extended headers";
    assert_eq!(refused(&archive(&entries)), wanted);
}

/// Counts what is read of it.
struct Counting<R> {
    inner: R,
    read: u64,
}

impl<R: io::Read> io::Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read += read as u64;
        Ok(read)
    }
}

/// The header of an entry, as it is in a tar.
fn header(kind: EntryType, name: &str, size: u64) -> Vec<u8> {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_path(name).expect("a short name");
    header.set_mode(0o644);
    header.set_size(size);
    header.set_cksum();
    header.as_bytes().to_vec()
}

fn gzip(tar: &mut dyn io::Read) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    io::copy(tar, &mut gzip).expect("packed");
    gzip.finish().expect("an archive")
}

#[test]
fn endless_decompression_stops_at_the_limit() {
    let zeros = || io::repeat(0).take(20 << 20);
    let entries = header(DIR, ".", 0).repeat(20_000);
    let named: Vec<u8> = (0..20_000).flat_map(|n| header(FILE, &format!("f{n}"), 0)).collect();
    let skipped = header(EntryType::Fifo, "p", 20 << 20);
    let cases: [(&str, Vec<u8>, u64); 4] = [
        // An honest header of one huge file.
        ("file", gzip(&mut header(FILE, "a", 20 << 20).chain(zeros())), 100_000),
        // Bytes that belong to something that is left out.
        ("left out", gzip(&mut skipped.chain(zeros())), 100_000),
        ("entries", gzip(&mut &named[..]), 100_000),
        ("no names", gzip(&mut &entries[..]), 100_000),
    ];
    for (name, archive, read_max) in cases {
        let mut counting = Counting { inner: &archive[..], read: 0 };
        let answer = list(&mut counting, &intake(Modes::Plain, LIMITS));
        assert!(answer.is_err(), "{name}");
        assert!(counting.read <= read_max, "{name}: {} of {} bytes read", counting.read, archive.len());
    }
    // Bytes after the end of the tar are read, not inflated.
    let mut tar = [0; 1024].as_slice().chain(zeros());
    let answer = list(&mut &gzip(&mut tar)[..], &intake(Modes::Plain, LIMITS));
    assert!(answer.expect("an empty archive").is_empty());
}

#[test]
fn compressed_limit_is_enforced_at_any_byte() {
    let noise: String = (0..3000_u32).map(|number| blake3::hash(&number.to_le_bytes()).to_string()).collect();
    let mut archive = archive(&[(FILE, "a", "", &noise)]);
    let answer = |archive: &[u8], packed_bytes_max| {
        let mut intake = intake(Modes::Plain, LIMITS);
        intake.limits.packed_bytes_max = packed_bytes_max;
        list(&mut &archive[..], &intake).map(|entries| entries.len()).map_err(|error| error.to_string())
    };
    let bytes = archive.len() as u64;
    assert_eq!(answer(&archive, bytes), Ok(1));
    for max in [0, 1, bytes / 2, bytes - 1] {
        let wanted = format!("the archive has more than {max} bytes");
        assert_eq!(answer(&archive, max), Err(wanted));
    }
    archive.extend_from_slice(b"behind the end");
    let wanted = format!("the archive has more than {} bytes", bytes + 13);
    assert_eq!(answer(&archive, bytes + 14), Ok(1));
    assert_eq!(answer(&archive, bytes + 13), Err(wanted));
}

#[test]
fn stop_is_checked_for_every_entry_and_piece() {
    let named: Vec<u8> = (0..1000).flat_map(|n| header(FILE, &format!("f{n}"), 0)).collect();
    let many = gzip(&mut &named[..]);
    let large = gzip(&mut header(FILE, "a", 10 << 20).chain(io::repeat(0).take(10 << 20)));
    let limits = TreeLimits { entries_max: 10_000, bytes_max: 1 << 30 };
    for (archive, asked_min) in [(many, 1000), (large, 80)] {
        let asked = AtomicU64::new(0);
        let mut intake = intake(Modes::Plain, limits);
        let count = || {
            asked.fetch_add(1, Ordering::SeqCst);
            false
        };
        intake.stop = &count;
        list(&mut &archive[..], &intake).expect("it was not stopped");
        let whole = asked.swap(0, Ordering::SeqCst);
        assert!(whole >= asked_min, "asked {whole} times");
        let stop = || asked.fetch_add(1, Ordering::SeqCst) >= 49;
        let intake = Intake { stop: &stop, ..intake };
        let answer = list(&mut &archive[..], &intake);
        assert!(matches!(answer, Err(ArchiveError::Stopped)), "{answer:?}");
        assert_eq!(asked.into_inner(), 50, "not asked again");
    }
}

#[test]
fn sender_error_is_returned_unchanged() {
    struct Broken;
    impl io::Read for Broken {
        fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::new(io::ErrorKind::InvalidData, "file checksum validation error"))
        }
    }
    let archive = archive(&[(FILE, "a", "", "1")]);
    for end in [0, 5, archive.len() / 2, archive.len()] {
        let answer = list(&mut archive[..end].chain(Broken), &intake(Modes::Plain, LIMITS));
        let Err(ArchiveError::Io(error)) = answer else { panic!("{answer:?}") };
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert_eq!(error.to_string(), "file checksum validation error");
    }
}

#[test]
fn oversized_extended_header_is_rejected_unread() {
    let text = "x".repeat(1024 * 1024 + 1);
    let wanted = "error while iterating on tar reader: an extended header has more than 1048576 bytes";
    for kind in [EntryType::XHeader, EntryType::GNULongName, EntryType::GNULongLink] {
        assert_eq!(refused(&archive(&[(kind, "x", "", &text), (FILE, "a", "", "")])), wanted);
    }
}

#[test]
fn names_of_an_archive_are_limited_together() {
    let refused = |paths: &mut dyn Iterator<Item = String>| {
        let mut tar = Builder::new(Vec::new());
        for path in paths {
            let mut header = Header::new_gnu();
            header.set_size(0);
            header.set_mode(0o644);
            tar.append_data(&mut header, path, io::empty()).expect("an entry");
        }
        let packed = gzip(&mut &*tar.into_inner().expect("an archive"));
        let answer = list(&mut &*packed, &intake(Modes::Plain, TreeLimits::DEFAULT));
        answer.map(|entries| entries.len()).map_err(|error| error.to_string())
    };
    let long = vec!["x".repeat(200); 18].join("/");
    let few = refused(&mut (0..1000).map(|number| format!("{long}/{number}")));
    assert_eq!(few, Ok(1000 + 18));
    let too_long =
        "the names in the archive have more than 67108864 bytes; shorten paths, or leave files out";
    let many = refused(&mut (0..10_000).map(|number| format!("{long}/{number}")));
    assert_eq!(many, Err(too_long.to_owned()));
    // Each of these names 1,800 folders, whose paths are longer together than the archive.
    let deep = refused(&mut (0..60).map(|number| format!("{number}/{}", vec!["y"; 1800].join("/"))));
    assert_eq!(deep, Err(too_long.to_owned()));
}

#[test]
fn non_archive_is_rejected() {
    assert_eq!(refused(b"this is not an archive"), "error reading file: invalid gzip header");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&[b'x'; 1024]).expect("written");
    let no_tar = gzip.finish().expect("an archive");
    assert!(refused(&no_tar).starts_with("error while iterating on tar reader: "), "{}", refused(&no_tar));
    assert!(listed(&archive(&[]), Modes::Plain).is_empty(), "an empty archive is an empty tree");
}

#[test]
fn truncated_archive_is_rejected() {
    // Noise, so that a cut in the archive is a cut in the file.
    let noise: String = (0..2000_u32).map(|number| blake3::hash(&number.to_le_bytes()).to_string()).collect();
    let whole = archive(&[(FILE, "a", "", &noise)]);
    let message = refused(&whole[..whole.len() / 2]);
    assert!(message.starts_with("error writing tgz file: "), "{message}");
}

#[test]
fn file_shorter_than_its_header_is_rejected() {
    let mut tar = Vec::new();
    GzDecoder::new(&archive(&[(FILE, "a", "", &"x".repeat(1000))])[..])
        .read_to_end(&mut tar)
        .expect("unzipped");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&tar[..512 + 300]).expect("the header and a part of the file");
    let message = refused(&gzip.finish().expect("an archive"));
    assert_eq!(message, "error writing tgz file: unexpected EOF");
}

#[test]
fn archive_that_ends_in_padding_is_rejected() {
    let mut tar = Vec::new();
    GzDecoder::new(&archive(&[(FILE, "a", "", &"x".repeat(1000))])[..])
        .read_to_end(&mut tar)
        .expect("unzipped");
    for left in [1000, 1010] {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&tar[..512 + left]).expect("the header and the file");
        let message = refused(&gzip.finish().expect("an archive"));
        assert!(message.starts_with("error while iterating on tar reader: "), "{left}: {message}");
    }
}

#[test]
fn unpackable_entry_is_named() {
    let error = pack(Path::new("/nonexistent/tree"), &mut io::sink()).expect_err("missing");
    assert_eq!(error.to_string(), "cannot read /nonexistent/tree: No such file or directory (os error 2)");
}

fn any_tree() -> impl Strategy<Value = BTreeMap<Vec<u8>, Option<(String, bool)>>> {
    let name = prop_oneof![
        "[a-c]{1,2}|ü|n{101}|m{60}".prop_map(String::into_bytes),
        Just(b"\xfc".to_vec()),
        Just(b"\xc3".to_vec())
    ];
    let path = prop::collection::vec(name, 1..5).prop_map(|names| names.join(&b'/'));
    prop::collection::btree_map(path, prop::option::of(("[a-z\n]{0,600}", any::<bool>())), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_packed_tree_unpacks_to_the_same_tree(entries in any_tree()) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let options = StoreOptions { dir: dir.path().join("s"), runs_dir: dir.path().join("r"), limits: LIMITS };
        let store = Store::open(options).expect("the store opens");
        let tree = store.write_by_content(b"", |writer| {
            for (path, file) in &entries {
                let path = EntryPath::new(path).expect("a path");
                // Entries below a file clash, which is another test's matter.
                let _clash = match file {
                    Some((text, executable)) => writer.file(&path, *executable, text.as_bytes()),
                    None => writer.link(&path, [path.file_name().unwrap_or_default(), b"-gone"].concat()),
                };
            }
            Ok::<_, crate::StoreError>(())
        });
        let tree = tree.expect("a tree");
        let archive = packed(tree.root());
        let other = store_of_one_process(&dir);
        let again = take(&other, &archive, &intake(Modes::Preserved, LIMITS)).expect("unpacked");
        prop_assert_eq!(listing(tree.root()), listing(again.root()));
    }
}

#[test]
fn name_limit_grows_with_the_entry_limit() {
    const MIB: u64 = 1 << 20;
    for (entries_max, expected) in
        [(0, 64 * MIB), (MIB, 64 * MIB), (2 * MIB, 128 * MIB), (u64::MAX, u64::MAX)]
    {
        assert_eq!(names_bytes_max(entries_max), expected, "{entries_max}");
    }
}
