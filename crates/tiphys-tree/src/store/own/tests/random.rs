//! A tree has the content of its archive as long as it is in use, in any order of steps and with any number of threads.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{Failing, Files, archive, found, intake, key, on_disk, open, temporary, unpack};
use crate::{ProcessStore, StoreBounds, Tree};

const BLOCK: u64 = 4096;
const BOUNDS: StoreBounds = StoreBounds { bytes_max: 12 * BLOCK, trees_max: 3 };

/// A step of a thread.
#[derive(Clone, Debug)]
enum Step {
    /// Takes a tree in and uses it, instead of the one at this place.
    Take(Files, usize),
    /// Stops using one.
    Drop(usize),
    /// Takes half of an archive in.
    Fail(Files),
}

fn any_files() -> impl Strategy<Value = Files> {
    let content = prop_oneof![
        4 => prop::sample::select(vec!["", "a", "b", "#!a", "#!b"]).prop_map(str::to_owned),
        2 => (5000..5003_usize).prop_map(|length| "x".repeat(length)),
        1 => (70_000..70_003_usize).prop_map(|length| "y".repeat(length)),
    ];
    prop::collection::btree_map("[ab]{1,2}|[cd]/[ab]", content, 0..7)
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (any_files(), 0..3_usize).prop_map(|(files, place)| Step::Take(files, place)),
        2 => (0..3_usize).prop_map(Step::Drop),
        1 => any_files().prop_map(Step::Fail),
    ]
}

/// The trees that a thread uses, with their content.
#[derive(Default)]
struct Held(BTreeMap<usize, (Tree, Files)>);

impl Held {
    fn step(&mut self, store: &ProcessStore, step: &Step) {
        match step {
            Step::Take(files, place) => {
                let known = store.get(key(files));
                // Without room, or if others fill the store, it is rejected.
                let taken = known.or_else(|| unpack(store.room(0)?, files).ok());
                if let Some(tree) = taken {
                    self.0.insert(*place, (tree, files.clone()));
                }
            }
            Step::Drop(place) => {
                self.0.remove(place);
            }
            Step::Fail(files) => {
                let whole = archive(files);
                if let Some(room) = store.room(0) {
                    let half = &mut Failing(&whole[..whole.len() / 2]);
                    assert!(room.take_in(key(files), half, &intake()).is_err());
                }
            }
        }
        for (tree, files) in self.0.values() {
            assert_eq!(found(tree.root()), *files);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn store_stays_within_its_limits_and_the_trees_in_use(steps in prop::collection::vec(any_step(), 1..25)) {
        let dir = temporary();
        let store = open(&dir, BOUNDS);
        let mut held = Held::default();
        for step in &steps {
            held.step(&store, step);
            let stats = store.stats();
            let in_use: BTreeSet<_> = held.0.values().map(|(tree, _)| tree.root()).collect();
            prop_assert!(stats.bytes <= BOUNDS.bytes_max || in_use.len() == 1, "{stats:?}");
            prop_assert!(stats.trees <= BOUNDS.trees_max as u64, "{stats:?}");
            prop_assert_eq!(on_disk(&store) as u64, stats.trees);
        }
    }

    #[test]
    fn threads_do_not_disturb_each_other(threads in prop::collection::vec(prop::collection::vec(any_step(), 1..15), 2..5)) {
        let dir = temporary();
        let store = &open(&dir, BOUNDS);
        std::thread::scope(|scope| {
            for steps in &threads {
                scope.spawn(move || {
                    let mut held = Held::default();
                    for step in steps {
                        held.step(store, step);
                    }
                });
            }
        });
        let stats = store.stats();
        prop_assert!(stats.bytes <= BOUNDS.bytes_max && stats.trees <= 3, "{stats:?}");
        prop_assert_eq!(on_disk(store) as u64, stats.trees);
    }
}
