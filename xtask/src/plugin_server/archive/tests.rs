use std::io::Read as _;

use flate2::read::GzDecoder;
use tar::Archive;

use super::Contents;

/// Names and contents of the entries; the content of a directory is empty.
fn entries(contents: Contents) -> Vec<(String, Vec<u8>)> {
    let packed = contents.pack().unwrap();
    let mut archive = Archive::new(GzDecoder::new(&packed[..]));
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        (String::from_utf8(entry.path_bytes().into_owned()).unwrap(), content)
    });
    entries.collect()
}

#[test]
fn directories_precede_their_files() {
    let names: Vec<String> =
        entries(Contents { index: Some(1), ..Contents::of(21) }).into_iter().map(|(name, _)| name).collect();
    let first = [".", ".git", ".git/index", "apps", "apps/app-0000", "apps/app-0000/file-00.yaml"];
    assert_eq!(names[..6], first);
    assert_eq!(names[25..], ["apps/app-0001", "apps/app-0001/file-00.yaml"]);
}

#[test]
fn seed_changes_every_file_and_time_changes_none() {
    let (first, later) = (Contents::of(40), Contents { modified: 1_800_000_000, ..Contents::of(40) });
    assert_ne!(first.pack().unwrap(), later.pack().unwrap());
    assert_eq!(entries(first), entries(later));
    let other = entries(Contents { seed: 1, ..first });
    for ((name, one), (_, another)) in entries(first).iter().zip(other) {
        assert!(one.is_empty() || *one != another, "{name}");
    }
}
