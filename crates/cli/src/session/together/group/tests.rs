//! How this host ends, and what it leaves.

use super::*;
use diskfacts_gang::{SeatWork, Trial, Work};

/// A group whose other side the test plays.
fn group(signals: &Signals) -> (LaunchedGroup, SeatWork, Sender<News>) {
    let stops = Stops {
        trial: signals.stop_trial(),
        all: signals.stop_filling(),
    };
    let (seat, work) = seat_with(Box::new(|into, _| Ok(into)), stops);
    let (tell, news) = channel();
    let group = LaunchedGroup {
        seat,
        rank: Rank { rank: 0, of: 2 },
        several_per_host: false,
        signals: signals.clone(),
        lost: Arc::default(),
        news,
        introduce: channel().0,
        release: None,
        thread: None,
        meeting: None,
        step: Step::Between,
        ahead: None,
        ending: None,
        with_all: false,
        made: None,
    };
    (group, work, tell)
}

#[test]
fn what_this_host_fails_with_is_no_matter_of_who_hears_of_it_first() {
    let signals = Signals::default();
    let (mut group, mut work, _tell) = group(&signals);
    let other = std::thread::spawn(move || {
        while !work.idle() {
            std::thread::yield_now();
        }
        work.prepare(&Trial {
            number: 0,
            attempt: 0,
            order: Vec::new(),
        });
        while work.prepared().is_pending() {
            std::thread::yield_now();
        }
        // What fails at the root ends the group, here before the session goes on.
        work.ended();
        work.cancel();
    });
    let failure = group.fails_with(Failure::wrong_call("no room"));
    other.join().expect("the group ends");
    assert!(signals.is_called_off());
    assert_eq!(failure.sentence(), "no room");
}

#[test]
fn what_the_end_of_the_group_has_called_off_fails_with_that_end() {
    let signals = Signals::default();
    let (mut group, mut work, tell) = group(&signals);
    work.ended();
    drop(work);
    let ending = Ending::Stopped("c1: Ctrl-C".to_owned());
    let ended = News::Ended {
        ending,
        with_all: true,
    };
    assert!(tell.send(ended).is_ok());
    let failure = group.fails_with(Failure::failed("filling was stopped"));
    assert_eq!(failure.sentence(), "c1: Ctrl-C");
}

#[test]
fn a_file_stays_only_where_this_host_ends_before_the_others() {
    let signals = Signals::default();
    let (mut group, _work, _tell) = group(&signals);
    let left = || Ending::Left("the others went on without this host".to_owned());
    for (ending, with_all, stays) in [
        (left(), false, true),
        // It was taken for lost, or could not go on, and has waited for the end.
        (left(), true, false),
        (Ending::Over, true, false),
        (Ending::Stopped("c1: Ctrl-C".to_owned()), true, false),
    ] {
        group.hears_of_end(ending.clone(), with_all);
        assert_eq!(group.others_go_on(), stays, "{ending:?} {with_all}");
    }
}
