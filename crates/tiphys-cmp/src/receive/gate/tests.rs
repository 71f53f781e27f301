use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tempfile::TempDir;
use tiphys_tree::{RepoPath, Store, StoreError, StoreOptions, Tree, TreeKey, TreeLimits};
use tokio::time::timeout;

use super::{Admission, Checksum, Gate, KNOWN_MAX, State};

/// Longer than any intended wait. Time is paused, so it costs nothing.
const LONG: Duration = Duration::from_hours(1);

fn checksum(number: u16) -> Checksum {
    let mut bytes = [0; 32];
    bytes[..2].copy_from_slice(&number.to_be_bytes());
    Checksum(bytes)
}

fn tree(dir: &TempDir) -> Tree {
    let limits = TreeLimits { entries_max: 10, bytes_max: 1000 };
    let options = StoreOptions { dir: dir.path().join("trees"), runs_dir: dir.path().join("runs"), limits };
    let store = Store::open(options).expect("the store opens");
    let path = RepoPath::new("file").expect("a path inside");
    let tree = store.write_by_content(b"", |writer| -> Result<(), StoreError> {
        writer.file(&path, false, b"x").map_err(StoreError::from)
    });
    tree.expect("the tree is written")
}

async fn nothing(_: TreeKey) -> Option<Tree> {
    None
}

async fn turn(gate: &Arc<Gate>, checksum: Checksum) -> super::Turn {
    match gate.enter(checksum, nothing).await {
        Admission::Unpack(turn) => turn,
        Admission::Known(tree) => panic!("{tree:?} was found"),
    }
}

#[test]
fn checksum_is_64_lower_case_digits() {
    let good = "00ff".repeat(16);
    let mut bytes = [0; 32];
    bytes.iter_mut().skip(1).step_by(2).for_each(|byte| *byte = 0xff);
    assert_eq!(Checksum::parse(&good), Some(Checksum(bytes)));
    let longer = format!("{good}00");
    let upper = good.to_uppercase();
    for bad in ["", "0", &good[1..], &good[2..], &longer, &upper, &"0g".repeat(32), &"é".repeat(32)] {
        assert_eq!(Checksum::parse(bad), None, "{bad}");
    }
}

#[tokio::test(start_paused = true)]
async fn follower_gets_the_verified_tree() {
    let dir = TempDir::new().expect("a temporary directory");
    let tree = tree(&dir);
    let gate = Arc::new(Gate::default());
    let first = turn(&gate, checksum(1)).await;
    let find = async |key| (key == tree.key()).then(|| tree.clone());
    let follow = gate.enter(checksum(1), find);
    let lead = async { first.verified(tree.key()) };
    let (follower, ()) = tokio::join!(follow, lead);
    assert!(matches!(follower, Admission::Known(_)), "{follower:?}");
    assert!(gate.lock().unpacking.is_empty());
}

#[tokio::test(start_paused = true)]
async fn after_a_failure_one_follower_unpacks() {
    let gate = Arc::new(Gate::default());
    let first = turn(&gate, checksum(1)).await;
    let (mut second, mut third) = (Box::pin(turn(&gate, checksum(1))), Box::pin(turn(&gate, checksum(1))));
    let moment = Duration::from_millis(1);
    assert!(timeout(moment, &mut second).await.is_err() && timeout(moment, &mut third).await.is_err());
    drop(first);
    let second = timeout(moment, second).await.expect("it is the second's turn");
    assert!(second.lock.is_some());
    assert!(timeout(moment, &mut third).await.is_err(), "the third waits for the second");
    drop(second);
    drop(third.await);
    assert!(gate.lock().unpacking.is_empty());
}

#[tokio::test(start_paused = true)]
async fn followers_wait_only_for_an_upload_with_progress() {
    let gate = Arc::new(Gate::default());
    let first = turn(&gate, checksum(1)).await;
    let beside = timeout(LONG, turn(&gate, checksum(1))).await.expect("it does not wait for ever");
    assert!(beside.lock.is_none());
    let busy = async {
        for _ in 0..10 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            first.progress().step();
        }
        drop(first);
    };
    let follow = turn(&gate, checksum(1));
    let ((), follower) = tokio::join!(busy, follow);
    assert!(follower.lock.is_some(), "it waited until the first was done");
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_slot_suspends_the_progress_check() {
    let gate = Arc::new(Gate::default());
    let first = turn(&gate, checksum(1)).await;
    let excused = first.progress().excused();
    let mut follow = Box::pin(turn(&gate, checksum(1)));
    assert!(timeout(LONG, &mut follow).await.is_err(), "it waits as long as the first does");
    drop(excused);
    let follower = timeout(LONG, follow).await.expect("the first has its place and does nothing");
    assert!(follower.lock.is_none());
}

#[tokio::test(start_paused = true)]
async fn other_checksums_do_not_wait() {
    let gate = Arc::new(Gate::default());
    let _first = turn(&gate, checksum(1)).await;
    let other = timeout(Duration::from_millis(1), turn(&gate, checksum(2))).await;
    assert!(other.expect("at once").lock.is_some());
}

#[test]
fn least_recently_used_checksum_is_forgotten() {
    let mut state = State::default();
    let max = u16::try_from(KNOWN_MAX).expect("a small number");
    for number in 0..max {
        state.remember(checksum(number), TreeKey([0; 32]));
    }
    assert!(state.used(checksum(0)).is_some());
    state.remember(checksum(max), TreeKey([0; 32]));
    assert_eq!(state.known.len(), KNOWN_MAX);
    assert!(state.used(checksum(0)).is_some() && state.used(checksum(1)).is_none());
}

#[tokio::test(start_paused = true)]
async fn lookups_of_one_checksum_are_sequential() {
    let dir = TempDir::new().expect("a temporary directory");
    let tree = tree(&dir);
    let gate = Arc::new(Gate::default());
    turn(&gate, checksum(1)).await.verified(tree.key());
    let (looking, most) = (Cell::new(0), Cell::new(0));
    let find = async |_| {
        looking.set(looking.get() + 1);
        most.set(looking.get().max(most.get()));
        tokio::time::sleep(Duration::from_millis(10)).await;
        looking.set(looking.get() - 1);
        Some(tree.clone())
    };
    let passes = join_all((0..3).map(|_| gate.enter(checksum(1), find))).await;
    assert!(passes.iter().all(|pass| matches!(pass, Admission::Known(_))), "{passes:?}");
    assert_eq!(most.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn missing_tree_is_forgotten_and_unpacked_once() {
    let dir = TempDir::new().expect("a temporary directory");
    let gate = Arc::new(Gate::default());
    turn(&gate, checksum(1)).await.verified(tree(&dir).key());
    let first = turn(&gate, checksum(1)).await;
    assert!(gate.lock().known.is_empty());
    let second = timeout(Duration::from_millis(1), turn(&gate, checksum(1))).await;
    assert!(second.is_err(), "it waits for the first");
    drop(first);
}
