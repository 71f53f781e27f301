use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, mpsc};
use std::thread;

use super::Once;

#[test]
fn one_of_those_who_ask_at_once_is_answered_for_all() {
    for answer in [Ok("yes"), Err("no")] {
        let (once, asked, all) = (Once::<_, _, &str>::default(), AtomicUsize::new(0), Barrier::new(4));
        let told = thread::scope(|scope| {
            let ask = || {
                all.wait();
                once.get("question", || {
                    asked.fetch_add(1, Ordering::Relaxed);
                    answer
                })
            };
            let waiting = [(); 4].map(|()| scope.spawn(ask));
            waiting.map(|thread| thread.join().expect("nobody panics").map_err(|error| *error))
        });
        assert_eq!((told, asked.into_inner()), ([answer; 4], 1));
    }
}

#[test]
fn nobody_waits_for_the_answer_to_another_question() {
    let once = Once::<_, _, ()>::default();
    let (release, hold) = mpsc::channel::<()>();
    let (begin, begun) = mpsc::channel();
    thread::scope(|scope| {
        let once = &once;
        scope.spawn(move || {
            once.get("slow", || {
                begin.send(()).expect("it is waited for");
                hold.recv().expect("it is released");
                Ok("late")
            })
        });
        begun.recv().expect("the slow one is asked");
        assert_eq!(once.get("quick", || Ok("soon")).expect("an answer"), "soon");
        release.send(()).expect("it waits");
    });
    assert_eq!(once.get("slow", || Err(())).expect("an answer"), "late");
}
