//! Archives: what goes in comes out, and what must not come out.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;

use super::{ArchiveError, pack, unpack};
use crate::{Modes, RepoPath, Store, StoreOptions, Tree, TreeLimits};

const LIMITS: TreeLimits = TreeLimits { entries_max: 100, bytes_max: 1 << 20 };

/// What is below a directory: path, and `dir`, a mode with a text, or a link's target.
type Listing = BTreeMap<String, String>;

fn listing(root: &Path) -> Listing {
    let mut found = Listing::new();
    let mut todo = vec![root.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).expect("a folder") {
            let path = entry.expect("an entry").path();
            let metadata = path.symlink_metadata().expect("an entry");
            let name = path.strip_prefix(root).expect("below").to_str().expect("UTF-8").to_owned();
            let what = if metadata.is_dir() {
                todo.push(path);
                "dir".to_owned()
            } else if metadata.is_symlink() {
                format!("-> {}", fs::read_link(&path).expect("a link").display())
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
    entries.map(|(path, what)| (path.to_owned(), what.to_owned())).into()
}

fn unpacked(archive: &[u8], modes: Modes, limits: TreeLimits) -> (TempDir, Result<Tree, ArchiveError>) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let options = StoreOptions { dir: dir.path().join("s"), runs_dir: dir.path().join("r"), limits };
    let store = Store::open(options).expect("the store opens");
    let mut answer = Ok(());
    let tree = store.write_by_content(b"", |writer| {
        writer.set_modes(modes);
        answer = unpack(&mut &archive[..], writer);
        Ok::<_, crate::StoreError>(())
    });
    let tree = answer.and_then(|()| match tree {
        Ok(tree) => Ok(tree),
        Err(crate::StoreError::Write(error)) => Err(ArchiveError::Write(error)),
        Err(error) => Err(ArchiveError::malformed(format!("the store failed: {error}"))),
    });
    (dir, tree)
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

/// An archive of these entries: type, name, link target, content. Names are written as they are.
fn archive(entries: &[(EntryType, &str, &str, &str)]) -> Vec<u8> {
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

const FILE: EntryType = EntryType::Regular;
const LINK: EntryType = EntryType::Symlink;
const DIR: EntryType = EntryType::Directory;

#[test]
fn an_archive_lists_as_argo_cd_would_write_it() {
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
fn an_archive_of_gnu_tar_unpacks_without_what_argo_cd_leaves_out() {
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
        if let Some(hard) = found.remove("hard") {
            found.insert("file".to_owned(), hard);
        }
        let mut wanted = wanted.clone();
        if !found.contains_key("file") {
            wanted.remove("file");
        }
        assert_eq!(found, wanted, "{format}");
    }
}

#[test]
fn executable_bits_are_dropped_unless_they_are_preserved() {
    let archive = archive(&[(FILE, "run", "", "x")]);
    assert_eq!(listed(&archive, Modes::Plain), expected([("run", "644 x")]));
    assert_eq!(listed(&archive, Modes::Preserved), expected([("run", "755 x")]));
}

#[test]
fn entries_that_are_no_files_directories_or_links_are_left_out() {
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
fn a_path_is_taken_below_the_root() {
    let archive = archive(&[(FILE, "/etc/passwd", "", "x"), (FILE, "a/../b", "", "y"), (DIR, "/c/", "", "")]);
    let wanted = expected([("b", "644 y"), ("c", "dir"), ("etc", "dir"), ("etc/passwd", "644 x")]);
    assert_eq!(listed(&archive, Modes::Plain), wanted);
}

#[test]
fn a_path_that_leads_out_is_refused() {
    for name in ["..", "../a", "a/../../b", "/../a", "a/.."] {
        assert_eq!(
            refused(&archive(&[(FILE, name, "", "x")])),
            format!("illegal filepath in archive: {name}")
        );
    }
}

#[test]
fn a_link_out_or_to_the_root_is_refused() {
    for target in ["..", "../x/..", "../../etc", "x/../../../etc"] {
        assert_eq!(
            refused(&archive(&[(LINK, "d/l", target, "")])),
            "illegal filepath in symlink: d/l",
            "{target}"
        );
    }
}

#[test]
fn a_link_out_through_another_link_is_refused() {
    let archive =
        archive(&[(DIR, "a/b/c", "", ""), (LINK, "x", "a/b", ""), (LINK, "a/b/z", "../../x/../../..", "")]);
    assert_eq!(refused(&archive), "illegal filepath in symlink: a/b/z");
    let archive = self::archive(&[
        (LINK, "d/e/x", "../../f", ""),
        (LINK, "d/e/y", "x/../../g", ""),
        (DIR, "f", "", ""),
    ]);
    assert_eq!(refused(&archive), "repository contains out-of-bounds symlinks. file: d/e/y");
}

#[test]
fn an_absolute_link_is_taken_below_its_directory() {
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
fn an_archive_beyond_the_bounds_is_refused() {
    let archive = archive(&[(FILE, "a", "", "12345"), (FILE, "b", "", "12345")]);
    let answer = |limits| unpacked(&archive, Modes::Plain, limits).1.map_err(|error| error.to_string()).err();
    assert_eq!(answer(TreeLimits { entries_max: 2, bytes_max: 10 }), None);
    assert_eq!(
        answer(TreeLimits { entries_max: 1, bytes_max: 10 }).as_deref(),
        Some("the tree has more than 1 entries; see --tree-entries-max")
    );
    assert_eq!(
        answer(TreeLimits { entries_max: 2, bytes_max: 9 }).as_deref(),
        Some("the tree has more than 9 bytes; see --tree-bytes-max")
    );
}

#[test]
fn an_extended_header_of_absurd_size_is_refused_before_it_is_read() {
    let text = "x".repeat(1024 * 1024 + 1);
    let wanted = "error while iterating on tar reader: an extended header has more than 1048576 bytes";
    for kind in [EntryType::XHeader, EntryType::GNULongName, EntryType::GNULongLink] {
        assert_eq!(refused(&archive(&[(kind, "x", "", &text), (FILE, "a", "", "")])), wanted);
    }
}

#[test]
fn what_is_no_archive_is_refused() {
    assert_eq!(refused(b"this is no archive of any kind"), "error reading file: invalid gzip header");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&[b'x'; 1024]).expect("written");
    let no_tar = gzip.finish().expect("an archive");
    assert!(refused(&no_tar).starts_with("error while iterating on tar reader: "), "{}", refused(&no_tar));
    assert!(listed(&archive(&[]), Modes::Plain).is_empty(), "an empty archive is an empty tree");
}

#[test]
fn an_archive_that_is_cut_short_is_refused() {
    // Noise, so that a cut in the archive is a cut in the file.
    let noise: String = (0..2000_u32).map(|number| blake3::hash(&number.to_le_bytes()).to_string()).collect();
    let whole = archive(&[(FILE, "a", "", &noise)]);
    let message = refused(&whole[..whole.len() / 2]);
    assert!(message.starts_with("error writing tgz file: "), "{message}");
}

#[test]
fn a_file_that_is_shorter_than_its_header_says_is_refused() {
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
fn what_cannot_be_packed_names_the_path() {
    let error = pack(Path::new("/nonexistent/tree"), &mut io::sink()).expect_err("missing");
    assert_eq!(error.to_string(), "cannot read /nonexistent/tree: No such file or directory (os error 2)");
}

fn any_tree() -> impl Strategy<Value = BTreeMap<String, Option<(String, bool)>>> {
    let name = "[a-c]{1,2}|ü|n{101}|m{60}";
    let path = prop::collection::vec(name, 1..5).prop_map(|names| names.join("/"));
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
                let path = RepoPath::new(path).expect("a path");
                // Entries below a file clash, which is another test's matter.
                let _clash = match file {
                    Some((text, executable)) => writer.file(&path, *executable, text.as_bytes()),
                    None => writer.link(&path, &format!("{}-gone", path.file_name().unwrap_or_default())),
                };
            }
            Ok::<_, crate::StoreError>(())
        });
        let tree = tree.expect("a tree");
        let archive = packed(tree.root());
        let again = store.write_by_content(b"", |writer| unpack(&mut &archive[..], writer).map_err(Into::<Failure>::into));
        let again = again.expect("unpacked");
        prop_assert_eq!(listing(tree.root()), listing(again.root()));
        prop_assert_eq!(tree.key(), again.key());
    }
}

#[derive(Debug)]
struct Failure(#[expect(dead_code, reason = "shown by a failing test")] String);

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        Self(error.to_string())
    }
}

impl From<crate::StoreError> for Failure {
    fn from(error: crate::StoreError) -> Self {
        Self(error.to_string())
    }
}
