//! Whatever is taken in, in whatever order and by however many threads: a tree has what its archive has as long as it is held.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{Failing, Files, archive, found, intake, on_disk, open, temporary};
use crate::{ProcessStore, StoreBounds, Tree, TreeKey};

const BLOCK: u64 = 4096;
const BOUNDS: StoreBounds = StoreBounds { bytes_max: 12 * BLOCK, trees_max: 3 };

/// What a thread does.
#[derive(Clone, Debug)]
enum Step {
    /// Takes a tree in and holds it, in the place of one that it held.
    Take(Files, usize),
    /// Lets one go.
    Drop(usize),
    /// Asks again for one that it had.
    Get(usize),
    /// Takes half of an archive in.
    Fail(Files),
}

fn any_files() -> impl Strategy<Value = Files> {
    let content = prop_oneof![
        4 => prop::sample::select(vec!["", "a", "b", "#!a", "#!b"]).prop_map(str::to_owned),
        2 => (5000..5003_usize).prop_map(|length| "x".repeat(length)),
        // Large ones, equal up to some byte.
        1 => prop::sample::select(vec![0, 131_072, 199_999]).prop_map(|at| {
            let mut text = "y".repeat(200_000);
            text.replace_range(at..=at, "z");
            text
        }),
    ];
    prop::collection::btree_map("[ab]{1,2}|[cd]/[ab]", content, 0..7)
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (any_files(), 0..3_usize).prop_map(|(files, place)| Step::Take(files, place)),
        2 => (0..3_usize).prop_map(Step::Drop),
        1 => (0..3_usize).prop_map(Step::Get),
        1 => any_files().prop_map(Step::Fail),
    ]
}

/// A thread's trees, with what is to be in them.
#[derive(Default)]
struct Held {
    trees: BTreeMap<usize, (Tree, Files)>,
    known: BTreeMap<usize, (TreeKey, Files)>,
}

impl Held {
    fn step(&mut self, store: &ProcessStore, step: &Step) {
        match step {
            Step::Take(files, place) => {
                let tree = store.take_in(&mut &archive(files)[..], &intake()).expect("taken in");
                self.known.insert(*place, (tree.key(), files.clone()));
                self.trees.insert(*place, (tree, files.clone()));
            }
            Step::Drop(place) => {
                self.trees.remove(place);
            }
            Step::Get(place) => {
                if let Some((key, files)) = self.known.get(place)
                    && let Some(tree) = store.get(*key)
                {
                    self.trees.insert(*place, (tree, files.clone()));
                }
            }
            Step::Fail(files) => {
                let whole = archive(files);
                assert!(store.take_in(&mut Failing(&whole[..whole.len() / 2]), &intake()).is_err());
            }
        }
        for (tree, files) in self.trees.values() {
            assert_eq!(found(tree.root()), *files);
        }
    }

    /// Bytes of the trees that are held, as the store counts them.
    fn bytes(&self) -> u64 {
        let mut files = BTreeSet::new();
        let mut trees = BTreeMap::new();
        for (tree, content) in self.trees.values() {
            let folders: BTreeSet<_> =
                content.keys().filter_map(|path| path.split_once('/')).map(|(folder, _)| folder).collect();
            trees.insert(
                tree.key().0,
                256 * (content.len() + folders.len()) as u64 + BLOCK * (folders.len() as u64 + 1),
            );
            files.extend(content.values());
        }
        let room = |text: &&String| (text.len() as u64).div_ceil(BLOCK).max(1) * BLOCK;
        trees.into_values().sum::<u64>() + files.iter().map(room).sum::<u64>()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_store_has_no_more_than_its_bound_and_what_is_in_use(steps in prop::collection::vec(any_step(), 1..25)) {
        let dir = temporary();
        let store = open(&dir, BOUNDS);
        let mut held = Held::default();
        for step in &steps {
            held.step(&store, step);
            let stats = store.stats();
            prop_assert!(stats.bytes <= BOUNDS.bytes_max + held.bytes(), "{stats:?}, {}", held.bytes());
            prop_assert!(stats.trees <= (BOUNDS.trees_max + held.trees.len()) as u64);
            prop_assert_eq!(on_disk(&store).1 as u64, stats.trees);
            prop_assert_eq!(on_disk(&store).0 as u64, stats.files);
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
        prop_assert_eq!(on_disk(store), (usize::try_from(stats.files).expect("few"), usize::try_from(stats.trees).expect("few")));
    }
}
