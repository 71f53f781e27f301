//! Archives of `helm package`, and malformed ones.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};
use tiphys_helm_values::HelmVersion::{self, V3, V4};

use super::{CHART, limits, printed};
use crate::{Chart, LoadLimits, assert_as_helm, chain};

/// An entry: type, path, content.
type Entry<'a> = (EntryType, &'a str, &'a [u8]);

const FILE: EntryType = EntryType::Regular;

/// The type of files in archives of the first format. Written as NUL.
const OLD_FILE: EntryType = EntryType::Continuous;

/// Writes entries with any paths.
fn tar(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (kind, path, content) in entries {
        let mut header = Header::new_gnu();
        let name = &mut header.as_old_mut().name;
        name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        if *kind == OLD_FILE {
            header.as_old_mut().linkflag = [0];
        }
        header.set_mode(0o644);
        header.set_size(u64::try_from(content.len()).unwrap());
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn load(archive: &[u8], version: HelmVersion, limits: LoadLimits) -> String {
    let loaded = Chart::of_archive(archive, version, limits);
    loaded.map_or_else(|error| chain(&error), |chart| printed(&chart))
}

/// Calls a function with the entries of archives, and with what is loaded.
fn for_each_case(check: impl Fn(&[Entry<'_>], &str)) {
    let chart = (FILE, "c/Chart.yaml", CHART.as_bytes());
    let inner = gzip(&tar(&[(FILE, "s/Chart.yaml", b"name: s\nversion: 1.0.0\n"), (FILE, "s/in", b"")]));
    let too_large = format!("decompressed chart is larger than the maximum size {}", 100 << 20);
    let outside = "chart illegally contains content outside the base directory: ";
    let outside = [format!("{outside}\"Chart.yaml\""), format!("{outside}\"c//\\x01\"")];
    let cases: [(&[Entry<'_>], &str); 28] = [
        // The order of the archive, whatever the first element is; no rules, no BOM.
        (
            &[
                (FILE, "c/z", b""),
                (FILE, "x/templates/.hidden", b"\xef\xbb\xbf# a"),
                chart,
                (FILE, "c/.helmignore", b"**"),
                (FILE, "/a/b", b""),
                (FILE, "c/./d//e/../f", b""),
            ],
            ".hidden | z .helmignore a/b d/f",
        ),
        (
            &[chart, (FILE, "c/charts/s-1.tgz", &inner), (FILE, "c/charts/s.tgz.prov", b"")],
            " | charts/s.tgz.prov ( | in)",
        ),
        // Windows.
        (&[(FILE, "c\\Chart.yaml", CHART.as_bytes()), (FILE, "c\\templates\\a", b"")], "a | "),
        // Directories. A slash at the end makes one in old archives only.
        (&[chart, (EntryType::Directory, "c/d", b""), (FILE, "c/e/", b"")], " | e"),
        (&[chart, (OLD_FILE, "c/d/", b""), (OLD_FILE, "c/e", b"")], " | e"),
        (&[chart, (EntryType::Directory, "../../d", b"")], " | "),
        // Links become empty files.
        (
            &[
                chart,
                (EntryType::Symlink, "c/link", b""),
                (EntryType::Link, "c/hard", b""),
                (EntryType::Fifo, "c/fifo", b""),
            ],
            " | link hard fifo",
        ),
        (&[chart, (EntryType::Symlink, "c/link", b"x")], &too_large),
        (&[(EntryType::XGlobalHeader, "pax_global_header", b"20 comment=01234567\n"), chart], " | "),
        (&[chart, (FILE, "c//a", b"")], "chart illegally contains absolute paths"),
        (&[chart, (FILE, "c/../a", b"")], "chart illegally references parent directory"),
        (&[chart, (FILE, "c/a/../../b", b"")], "chart illegally references parent directory"),
        (&[chart, (FILE, "c/..a", b"")], "chart illegally references parent directory"),
        (
            &[chart, (FILE, "c/.", b"")],
            "chart illegally contains content outside the base directory: \"c/.\"",
        ),
        (&[chart, (FILE, "c", b"")], "chart illegally contains content outside the base directory: \"c\""),
        (&[(FILE, "Chart.yaml", CHART.as_bytes())], &outside[0]),
        (&[chart, (FILE, "c/C:/a", b"")], "chart contains illegally named files"),
        (&[chart, (FILE, "c\\x:\\a", b"")], "chart contains illegally named files"),
        (&[chart, (FILE, "Chart.yaml/a", b"")], "chart yaml not in base directory"),
        (&[], "no files in chart archive"),
        (&[(EntryType::Directory, "c/", b"")], "no files in chart archive"),
        (&[(FILE, "c/a", b"")], "Chart.yaml file is missing"),
        // Entries of one name are decoded over one another.
        (
            &[chart, (FILE, "c/Chart.yaml", b"version: x")],
            "validation: chart.metadata.version \"x\" is invalid",
        ),
        (
            &[chart, (FILE, "c/charts/s.tgz", &inner[..20])],
            "error unpacking subchart s.tgz in c: unexpected EOF",
        ),
        (
            &[chart, (FILE, "c/charts/s.tgz", b"\x1f\x8b\x08")],
            "error unpacking subchart s.tgz in c: unexpected EOF",
        ),
        (&[chart, (FILE, "c/charts/s.tgz", b"PK")], "error unpacking subchart s.tgz in c: unexpected EOF"),
        (
            &[chart, (FILE, "c/charts/s.tgz", b"name: s\nversion: 1")],
            "error unpacking subchart s.tgz in c: gzip: invalid header",
        ),
        (&[chart, (FILE, "c/b\\d", b"")], " | d"),
    ];
    for (entries, expected) in cases {
        check(entries, expected);
    }
}

#[test]
fn archives_are_read_as_in_helm() {
    for_each_case(|entries, expected| {
        assert_eq!(load(&gzip(&tar(entries)), V4, LoadLimits::new(V4)), expected, "{entries:?}");
    });
}

#[test]
fn real_helm_loads_the_same_archives() {
    let chart = "name: p\nversion: 1.0.0\n".as_bytes();
    for_each_case(|entries, _| {
        assert_as_helm(&[("Chart.yaml", chart), ("charts/x.tgz", &gzip(&tar(entries)))]);
    });
}

#[test]
fn mode_of_a_directory_makes_a_directory() {
    let mut bytes = tar(&[(FILE, "c/d", b""), (FILE, "c/Chart.yaml", CHART.as_bytes())]);
    let mut header = Header::new_gnu();
    header.as_mut_bytes().copy_from_slice(&bytes[..512]);
    header.set_mode(0o40_755);
    header.set_cksum();
    bytes[..512].copy_from_slice(header.as_bytes());
    assert_eq!(load(&gzip(&bytes), V4, LoadLimits::new(V4)), " | ");
    assert_as_helm(&[("Chart.yaml", CHART.as_bytes()), ("charts/x.tgz", &gzip(&bytes))]);
}

#[test]
fn long_paths_are_read_and_other_encodings_rejected() {
    let long = format!("c/{}", "long/".repeat(60));
    let mut builder = Builder::new(Vec::new());
    for (path, content) in [("c/Chart.yaml", CHART), (&format!("{long}a"), "")] {
        let mut header = Header::new_gnu();
        header.set_mode(0o644);
        header.set_size(u64::try_from(content.len()).unwrap());
        builder.append_data(&mut header, path, content.as_bytes()).unwrap();
    }
    let archive = gzip(&builder.into_inner().unwrap());
    assert_eq!(load(&archive, V4, LoadLimits::new(V4)), format!(" | {}a", &long[2..]));

    let mut bytes = tar(&[(FILE, "c/e", b"")]);
    bytes[2] = 0xff;
    let mut header = Header::new_gnu();
    header.as_mut_bytes().copy_from_slice(&bytes[..512]);
    header.set_cksum();
    bytes[..512].copy_from_slice(header.as_bytes());
    assert_eq!(
        load(&gzip(&bytes), V4, LoadLimits::new(V4)),
        "path \"c/\\xff\" is not UTF-8; rename the file"
    );
}

#[test]
fn archive_limits_are_enforced() {
    let chart = (FILE, "c/Chart.yaml", CHART.as_bytes());
    let archive = gzip(&tar(&[chart, (FILE, "c/a", &[b'a'; 1000])]));
    let bytes = u64::try_from(CHART.len()).unwrap() + 1000;
    let too_large = |max: u64| format!("decompressed chart is larger than the maximum size {max}");
    let cases: [(LoadLimits, String); 6] = [
        (limits(V4, |limits| limits.bytes = bytes + 1), " | a".to_owned()),
        // As in Helm, the limit itself is too much.
        (limits(V4, |limits| limits.bytes = bytes), too_large(bytes)),
        (limits(V4, |limits| limits.bytes = 999), too_large(999)),
        (
            limits(V4, |limits| limits.file_bytes = Some(999)),
            "decompressed chart file \"c/a\" is larger than the maximum file size 999".to_owned(),
        ),
        (limits(V4, |limits| limits.entries = 2), " | a".to_owned()),
        (
            limits(V4, |limits| limits.entries = 1),
            "the chart has more than 1 files, including archives; remove some or add them to .helmignore"
                .to_owned(),
        ),
    ];
    for (limits, expected) in cases {
        assert_eq!(load(&archive, V4, limits), expected);
    }
    let large = gzip(&tar(&[chart, (FILE, "c/a", &vec![0; (5 << 20) + 1])]));
    let expected = "decompressed chart file \"c/a\" is larger than the maximum file size 5242880";
    assert_eq!(load(&large, V3, LoadLimits::new(V3)), expected);
    assert_eq!(load(&large, V4, LoadLimits::new(V4)), " | a");
}

/// A directory and its archives share the limit of bytes.
#[test]
fn archives_in_archives_share_the_limits() {
    let subchart =
        gzip(&tar(&[(FILE, "s/Chart.yaml", b"name: s\nversion: 1.0.0\n"), (FILE, "s/a", &[0; 5000])]));
    let chart = (FILE, "c/Chart.yaml", CHART.as_bytes());
    let archive =
        gzip(&tar(&[chart, (FILE, "c/charts/a.tgz", &subchart), (FILE, "c/charts/b.tgz", &subchart)]));
    assert_eq!(load(&archive, V4, limits(V4, |limits| limits.bytes = 12_000)), " |  ( | a) ( | a)");
    assert_eq!(
        load(&archive, V4, limits(V4, |limits| limits.bytes = 8_000)),
        "error unpacking subchart b.tgz in c: decompressed chart is larger than the maximum size 8000"
    );
    assert_eq!(
        load(&archive, V4, limits(V4, |limits| limits.entries = 6)),
        "error unpacking subchart b.tgz in c: the chart has more than 6 files, including archives; remove some or add \
         them to .helmignore"
    );
}

/// Long names and PAX headers use bytes outside of files.
#[test]
fn bombs_end_early() {
    let limit = |limits: &mut LoadLimits| (limits.bytes, limits.entries) = (1_000, 10);
    let zeros = vec![0; 200_000];
    for kind in [EntryType::GNULongName, EntryType::XHeader, EntryType::XGlobalHeader, FILE] {
        let archive = gzip(&tar(&[(kind, "c/x", &zeros), (FILE, "c/Chart.yaml", CHART.as_bytes())]));
        let expected = "decompressed chart is larger than the maximum size 1000";
        assert_eq!(load(&archive, V4, limits(V4, limit)), expected, "{kind:?}");
    }
    // A header that claims more than there is.
    let mut bytes = tar(&[(FILE, "c/x", &zeros[..2_000])]);
    bytes.truncate(600);
    assert_eq!(load(&gzip(&bytes), V4, LoadLimits::new(V4)), "unexpected EOF");
    let expected = "decompressed chart is larger than the maximum size 1000";
    assert_eq!(load(&gzip(&bytes), V4, limits(V4, limit)), expected);
}
