//! Claims of files: writing, waiting and removal.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::store::own::contents::{
    Beginning, Claim, Contents, FileKey, FileNumber, Full, IntakeNumber, Leaving, WhenFull,
};
use crate::store::own::kept::Kept;
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

fn claim_by(contents: &mut Contents, number: u8, leaving: &mut Leaving) -> Claim {
    let intake = contents.begin(0, WhenFull::Exceed);
    let claim = contents.claim(intake, key(number), 10, leaving).expect("it may exceed the limit");
    contents.end(intake);
    claim
}

fn claim(contents: &mut Contents, number: u8) -> Claim {
    let mut leaving = Leaving::default();
    let claim = claim_by(contents, number, &mut leaving);
    assert!(leaving.is_empty());
    claim
}

#[test]
fn first_user_writes_a_file_and_others_wait() {
    let mut contents = contents(u64::MAX);
    let Claim::Write(first) = claim(&mut contents, 1) else { panic!("it is new") };
    assert_eq!(claim(&mut contents, 1), Claim::Wait);
    assert!(matches!(claim(&mut contents, 2), Claim::Write(other) if other != first));
    contents.written(key(1), first);
    assert_eq!(claim(&mut contents, 1), Claim::Known(first));
    assert_eq!(contents.number(key(1)), Some(first));
    assert_eq!(contents.stats().bytes, 2 * ROOM);
}

#[test]
fn failed_file_is_written_by_the_next_user() {
    let mut contents = contents(u64::MAX);
    let Claim::Write(first) = claim(&mut contents, 1) else { panic!("it is new") };
    claim(&mut contents, 1);
    contents.missing(key(1), first);
    let left = leaving(|leaving| contents.release([key(1)], leaving));
    assert_eq!(left, [], "it is still in use");
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
fn file_is_removed_with_its_last_user() {
    let mut contents = contents(u64::MAX);
    let Claim::Write(place) = claim(&mut contents, 1) else { panic!("it is new") };
    contents.written(key(1), place);
    claim(&mut contents, 1);
    assert_eq!(leaving(|leaving| contents.release([key(1)], leaving)), []);
    assert_eq!(leaving(|leaving| contents.release([key(1), key(1), key(3)], leaving)).len(), 1);
    assert_eq!(contents.number(key(1)), None);
}

#[test]
fn large_file_is_found_by_its_beginning() {
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
fn damaged_tree_stays_for_its_users_and_is_replaced() {
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
    assert!(leaving.is_empty() && contents.stats().bytes == 2 * ROOM, "it is in use");
    contents.give_back(name, &again, &mut leaving);
    assert_eq!(leaving, Leaving { trees: vec!["/old/tree".into()], files: vec![] });
    assert_eq!((contents.stats().bytes, contents.stats().evicted), (ROOM, 0));
    contents.give_back(name, &new, &mut leaving);
    contents.evict_all(&mut leaving);
    assert_eq!(leaving.trees, [PathBuf::from("/old/tree"), PathBuf::from("/new/tree")]);
}

#[test]
fn unused_trees_are_evicted_for_room() {
    let mut contents = contents(3 * ROOM);
    let mut keep = |number: u8| {
        let Claim::Write(place) = claim(&mut contents, number) else { panic!("it is new") };
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
    claim_by(&mut contents, 4, &mut left);
    assert_eq!(left, Leaving { trees: vec!["/1/tree".into()], files: vec![first] });
    // Another archive needs a file of the tree to be evicted.
    claim(&mut contents, 3);
    let mut left = Leaving::default();
    claim_by(&mut contents, 5, &mut left);
    assert_eq!(left, Leaving { trees: vec!["/3/tree".into()], files: vec![] });
    assert_eq!(contents.stats().bytes, 4 * ROOM, "all of it in use");
}

/// Takes a tree of one file in, and returns it with its file and names counted.
fn take(contents: &mut Contents, number: u8, left: &mut Leaving) -> Result<Arc<Kept>, Full> {
    let intake = contents.begin_if_fits(0).expect("there is room");
    let taken = claim_and_keep(contents, intake, number, left);
    contents.end(intake);
    taken
}

fn claim_and_keep(
    contents: &mut Contents,
    intake: IntakeNumber,
    number: u8,
    left: &mut Leaving,
) -> Result<Arc<Kept>, Full> {
    contents.claim(intake, key(number), 10, left)?;
    if let Err(full) = contents.grow(intake, ROOM, left) {
        contents.release([key(number)], left);
        return Err(full);
    }
    let room = contents.take_grown(intake);
    let root = PathBuf::from(format!("/{number}/tree"));
    Ok(contents.keep(TreeKey([number; 32]), kept(root), vec![key(number)], room, left))
}

#[test]
fn archives_begin_if_they_fit() {
    let mut contents = contents(10 * ROOM);
    let mut left = Leaving::default();
    let alone = contents.begin_if_fits(1000 * ROOM).expect("nothing else is in use");
    assert_eq!(contents.begin_if_fits(0), None, "the limit is announced");
    contents.end(alone);
    let held = take(&mut contents, 1, &mut left).expect("there is room");
    assert_eq!(contents.begin_if_fits(9 * ROOM), None, "two blocks are in use");
    let other = contents.begin_if_fits(5 * ROOM).expect("it fits");
    assert_eq!(contents.begin_if_fits(4 * ROOM), None, "five more are announced");
    contents.grow(other, 4 * ROOM, &mut left).expect("there is room");
    assert_eq!(contents.begin_if_fits(4 * ROOM), None, "what was written counts once");
    let third = contents.begin_if_fits(3 * ROOM).expect("it fits");
    contents.end(third);
    contents.end(other);
    assert_eq!(contents.stats().bytes, 2 * ROOM);
    contents.give_back(TreeKey([1; 32]), &held, &mut left);
    assert!(contents.begin_if_fits(1000 * ROOM).is_some(), "the tree is unused");
    assert!(left.is_empty(), "nothing is evicted before something is written");
}

#[test]
fn shared_files_of_unused_trees_count_as_used() {
    let mut contents = contents(10 * ROOM);
    let mut left = Leaving::default();
    let unused = take(&mut contents, 1, &mut left).expect("there is room");
    contents.give_back(TreeKey([1; 32]), &unused, &mut left);
    let held = contents.begin_if_fits(0).expect("there is room");
    contents.claim(held, key(1), 10, &mut left).expect("it is there");
    contents.grow(held, 6 * ROOM, &mut left).expect("there is room");
    assert_eq!(contents.stats().bytes, 8 * ROOM);
    assert_eq!(contents.begin_if_fits(4 * ROOM), None, "seven are in use");
    assert!(contents.begin_if_fits(3 * ROOM).is_some());
}

#[test]
fn archives_that_outgrow_the_limit_are_rejected() {
    let mut contents = contents(4 * ROOM);
    let mut left = Leaving::default();
    let unused = take(&mut contents, 1, &mut left).expect("there is room");
    contents.give_back(TreeKey([1; 32]), &unused, &mut left);
    let held = take(&mut contents, 2, &mut left).expect("there is room");
    let growing = contents.begin_if_fits(0).expect("there is room");
    assert!(left.is_empty());
    contents.grow(growing, 2 * ROOM, &mut left).expect("an unused tree makes room");
    assert_eq!(left.trees, [PathBuf::from("/1/tree")]);
    let full = Err(Full { max: 4 * ROOM });
    assert_eq!(contents.grow(growing, ROOM, &mut left), full);
    assert_eq!(contents.claim(growing, key(3), 10, &mut left), Err(Full { max: 4 * ROOM }));
    assert_eq!(contents.stats().bytes, 4 * ROOM, "what was refused is not counted");
    contents.give_back(TreeKey([2; 32]), &held, &mut left);
    contents.grow(growing, 100 * ROOM, &mut left).expect("nothing else is in use");
    let seen = contents.times_freed();
    assert_eq!(contents.begin_if_fits(0), None, "it has more than the limit");
    contents.end(growing);
    assert_ne!(contents.times_freed(), seen);
    assert_eq!(contents.stats().bytes, 0);
}
