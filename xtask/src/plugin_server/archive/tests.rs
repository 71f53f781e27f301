use std::io::Read as _;

use flate2::read::GzDecoder;

use super::{BLOCK_BYTES, Contents, Index};

fn contents(files: usize) -> Contents {
    Contents { files, seed: 0, modified: 1_700_000_000, index: Index::Absent }
}

fn unpacked(contents: Contents) -> Vec<u8> {
    let archive = contents.pack().expect("an archive");
    let mut tar = Vec::new();
    GzDecoder::new(&archive.bytes[..]).read_to_end(&mut tar).expect("gzip");
    tar
}

/// Names, kinds and sizes of the entries.
fn entries(tar: &[u8]) -> Vec<(String, char, usize)> {
    let mut entries = Vec::new();
    let mut rest = tar;
    while rest[0] != 0 {
        let (header, after) = rest.split_at(BLOCK_BYTES);
        let text = |from: usize, to: usize| {
            String::from_utf8_lossy(&header[from..to]).trim_end_matches('\0').to_owned()
        };
        let size = usize::from_str_radix(&text(124, 136), 8).expect("an octal size");
        entries.push((text(0, 100), char::from(header[156]), size));
        rest = &after[size.next_multiple_of(BLOCK_BYTES)..];
    }
    assert!(
        rest.len() == 2 * BLOCK_BYTES && rest.iter().all(|byte| *byte == 0),
        "two empty blocks at the end"
    );
    entries
}

#[test]
fn folders_precede_their_files_and_have_no_slash() {
    let tar = unpacked(Contents { index: Index::Checkout(1), ..contents(21) });
    let entries = entries(&tar);
    let named: Vec<(&str, char)> = entries.iter().map(|(name, kind, _)| (name.as_str(), *kind)).collect();
    assert_eq!(
        named[..6],
        [
            (".", '5'),
            (".git", '5'),
            (".git/index", '0'),
            ("apps", '5'),
            ("apps/app-0000", '5'),
            ("apps/app-0000/file-00.yaml", '0')
        ]
    );
    assert_eq!(named[25..], [("apps/app-0001", '5'), ("apps/app-0001/file-00.yaml", '0')]);
}

#[test]
fn a_header_has_the_sum_that_tar_wants() {
    let tar = unpacked(contents(1));
    let mut header = tar[..BLOCK_BYTES].to_vec();
    let sum = String::from_utf8_lossy(&header[148..154]).into_owned();
    header[148..156].fill(b' ');
    let expected: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    assert_eq!(u32::from_str_radix(&sum, 8), Ok(expected));
}

#[test]
fn another_seed_changes_every_file_and_another_time_only_headers() {
    let first = unpacked(contents(40));
    let content = |tar: &[u8]| {
        let mut rest = tar;
        let mut contents = Vec::new();
        for (_, kind, size) in entries(tar) {
            let content = &rest[BLOCK_BYTES..BLOCK_BYTES + size];
            contents.extend((kind == '0').then(|| content.to_vec()));
            rest = &rest[BLOCK_BYTES + size.next_multiple_of(BLOCK_BYTES)..];
        }
        contents
    };
    let later = unpacked(Contents { modified: 1_800_000_000, ..contents(40) });
    assert_ne!(first, later);
    assert_eq!(content(&first), content(&later));
    let other = unpacked(Contents { seed: 1, ..contents(40) });
    for (one, another) in content(&first).iter().zip(content(&other)) {
        assert_ne!(*one, another);
    }
}
