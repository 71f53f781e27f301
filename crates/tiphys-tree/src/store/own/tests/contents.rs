//! Who writes a file, who waits for it, and when it goes.

use std::path::PathBuf;
use std::time::Instant;

use crate::store::own::contents::{Claim, Contents, FileKey, FileNumber, Leaving};
use crate::store::own::kept::Kept;
use crate::store::own::large::Beginning;
use crate::store::seal::{Seal, Times};
use crate::{StoreBounds, TreeKey};

const ROOM: u64 = 4096;

fn key(number: u8) -> FileKey {
    FileKey { digest: [number; 32], executable: false }
}

fn contents(bytes_max: u64) -> Contents {
    Contents::new(StoreBounds { bytes_max, trees_max: 10 })
}

/// Files that leave when something is done.
fn leaving(work: impl FnOnce(&mut Leaving)) -> Vec<FileNumber> {
    let mut leaving = Leaving::default();
    work(&mut leaving);
    leaving.files
}

fn claim(contents: &mut Contents, number: u8) -> Claim {
    let mut leaving = Leaving::default();
    let claim = contents.claim(key(number), 10, &mut leaving);
    assert!(leaving.is_empty());
    claim
}

#[test]
fn the_first_writes_and_others_wait_until_it_is_written() {
    let mut contents = contents(u64::MAX);
    let Claim::Write(first) = claim(&mut contents, 1) else { panic!("nobody has it") };
    assert_eq!(claim(&mut contents, 1), Claim::Wait);
    assert!(matches!(claim(&mut contents, 2), Claim::Write(other) if other != first));
    contents.written(key(1), first);
    assert_eq!(claim(&mut contents, 1), Claim::Known(first));
    assert_eq!(contents.number(key(1)), Some(first));
    assert_eq!(contents.stats().bytes, 2 * ROOM);
}

#[test]
fn what_could_not_be_written_falls_to_the_next_at_another_place() {
    let mut contents = contents(u64::MAX);
    let Claim::Write(first) = claim(&mut contents, 1) else { panic!("nobody has it") };
    claim(&mut contents, 1);
    contents.missing(key(1), first);
    let left = leaving(|leaving| contents.release([key(1)], leaving));
    assert_eq!(left, [], "somebody still needs it");
    let mut second = Claim::Wait;
    assert_eq!(leaving(|leaving| second = contents.claim_again(key(1), leaving)), [first]);
    let Claim::Write(second) = second else { panic!("{second:?}") };
    assert_ne!(first, second);
    contents.written(key(1), first);
    assert_eq!(claim(&mut contents, 1), Claim::Wait, "what is said of its first place comes too late");
    contents.written(key(1), second);
    contents.missing(key(1), first);
    assert_eq!(claim(&mut contents, 1), Claim::Known(second), "it is at its second place");
    assert_eq!(leaving(|leaving| contents.release([key(1); 2], leaving)), []);
    assert_eq!(leaving(|leaving| contents.release([key(1)], leaving)), [second]);
    assert_eq!(contents.stats().bytes, 0);
}

#[test]
fn a_file_goes_with_the_last_who_needs_it() {
    let mut contents = contents(u64::MAX);
    let Claim::Write(place) = claim(&mut contents, 1) else { panic!("nobody has it") };
    contents.written(key(1), place);
    claim(&mut contents, 1);
    assert_eq!(leaving(|leaving| contents.release([key(1)], leaving)), []);
    assert_eq!(leaving(|leaving| contents.release([key(1), key(1), key(3)], leaving)).len(), 1);
    assert_eq!(contents.number(key(1)), None);
}

#[test]
fn a_large_file_is_found_by_its_beginning_until_it_goes() {
    let mut contents = contents(u64::MAX);
    let beginning = Beginning::of(b"begin", 200_000, false);
    assert_ne!(beginning, Beginning::of(b"begin", 200_001, false));
    assert_ne!(beginning, Beginning::of(b"begin", 200_000, true));
    assert_ne!(beginning, Beginning::of(b"Begin", 200_000, false));
    assert_eq!(contents.claim_large(beginning), None);
    let (first, second) = (contents.fresh_number(), contents.fresh_number());
    let write = |contents: &mut Contents, number| {
        leaving(|leaving| contents.claim_written(key(1), 200_000, number, beginning, leaving))
    };
    assert_eq!(write(&mut contents, first), []);
    assert_eq!(write(&mut contents, second), [second], "the first stays");
    assert_eq!(contents.claim_large(beginning), Some((key(1), first)));
    assert_eq!(contents.stats().bytes, 49 * ROOM);
    contents.missing(key(1), first);
    assert_eq!(contents.claim_large(beginning), None);
    let third = contents.fresh_number();
    assert_eq!(write(&mut contents, third), [first], "it takes the place of what is missing");
    assert_eq!(leaving(|leaving| contents.release([key(1); 4], leaving)), [third]);
    assert_eq!(contents.claim_large(beginning), None);
}

fn kept(root: PathBuf) -> Kept {
    let here = tempfile::tempdir().expect("a folder");
    Kept::new(root, Seal::of(here.path(), Times::ModifiedAndChanged).expect("a seal"), 0, Instant::now())
}

#[test]
fn a_spoilt_tree_stays_for_those_who_have_it_and_makes_way_for_a_new_one() {
    let mut contents = contents(u64::MAX);
    let name = TreeKey([7; 32]);
    let mut leaving = Leaving::default();
    let old = contents.keep(name, kept("/old/tree".into()), Vec::new(), ROOM, &mut leaving);
    let again = contents.lend(name).expect("the tree");
    contents.spoil(name, &old);
    assert!(contents.lend(name).is_none());
    let new = contents.keep(name, kept("/new/tree".into()), Vec::new(), ROOM, &mut leaving);
    contents.spoil(name, &old);
    assert!(contents.lend(name).is_some(), "the new one is as it was");
    contents.give_back(name, &new, &mut leaving);
    contents.give_back(name, &old, &mut leaving);
    assert!(leaving.is_empty() && contents.stats().bytes == 2 * ROOM, "somebody has it");
    contents.give_back(name, &again, &mut leaving);
    assert_eq!(leaving, Leaving { trees: vec!["/old/tree".into()], files: vec![] });
    assert_eq!((contents.stats().bytes, contents.stats().evicted), (ROOM, 0));
    contents.give_back(name, &new, &mut leaving);
    contents.evict_all(&mut leaving);
    assert_eq!(leaving.trees, [PathBuf::from("/old/tree"), PathBuf::from("/new/tree")]);
}

#[test]
fn room_is_made_by_what_nobody_uses() {
    let mut contents = contents(3 * ROOM);
    let mut keep = |number: u8| {
        let Claim::Write(place) = claim(&mut contents, number) else { panic!("nobody has it") };
        contents.written(key(number), place);
        let mut leaving = Leaving::default();
        let root = PathBuf::from(format!("/{number}/tree"));
        let kept = contents.keep(TreeKey([number; 32]), kept(root), vec![key(number)], 0, &mut leaving);
        assert!(leaving.is_empty());
        (place, kept)
    };
    let trees = [keep(1), keep(2), keep(3)];
    let first = trees[0].0;
    for (number, (_, kept)) in (1..).zip(&trees) {
        let left = leaving(|leaving| contents.give_back(TreeKey([number; 32]), kept, leaving));
        assert_eq!(left, [], "there is room for three");
    }
    assert!(contents.lend(TreeKey([2; 32])).is_some());
    let mut left = Leaving::default();
    contents.claim(key(4), 10, &mut left);
    assert_eq!(left, Leaving { trees: vec!["/1/tree".into()], files: vec![first] });
    // A file of the tree that would go is needed by somebody else.
    claim(&mut contents, 3);
    let mut left = Leaving::default();
    contents.claim(key(5), 10, &mut left);
    assert_eq!(left, Leaving { trees: vec!["/3/tree".into()], files: vec![] });
    assert_eq!(contents.stats().bytes, 4 * ROOM, "all of it in use");
}
