//! A session that waits in its own thread, and the group that polls it.

use diskfacts_gang::{
    Cancelled, ClockModel, Go, Outcome, Reading, SeatWork, Stops, Trial, Verdict, Work, seat,
    seat_with,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread;

fn trial(number: u32) -> Trial {
    Trial {
        number,
        attempt: 0,
        order: Vec::new(),
    }
}

fn clock() -> ClockModel {
    ClockModel {
        before: Reading::of_root(0),
        after: None,
    }
}

const GO: Go = Go {
    at_ns: 5,
    stop_ns: Some(7),
    agreed_ns: 105,
    seed: 1,
};

fn outcome() -> Outcome {
    Outcome {
        start_ns: 5,
        end_ns: 7,
        summary: vec![1],
    }
}

fn until<T>(mut poll: impl FnMut() -> Poll<T>) -> T {
    loop {
        if let Poll::Ready(value) = poll() {
            return value;
        }
        thread::yield_now();
    }
}

fn until_idle(work: &mut SeatWork) {
    while !work.idle() {
        thread::yield_now();
    }
}

#[test]
fn a_session_goes_through_its_trials_in_straight_lines() {
    let (mut own, mut work) = seat(Box::new(|into, _| Ok(into)));
    let session = thread::spawn(move || {
        let mut seen = Vec::new();
        while let Some(trial) = own.next_trial() {
            assert_eq!(own.ready(Ok(())), Ok(GO));
            seen.push((trial.number, own.finished(Ok(outcome()))));
        }
        seen
    });
    for number in 0..2 {
        until_idle(&mut work);
        work.prepare(&trial(number));
        assert!(!work.idle(), "it prepares");
        assert_eq!(until(|| work.prepared()), Ok(()));
        assert_eq!(work.finished(), Poll::Pending, "nobody told it to start");
        work.run(&GO);
        assert_eq!(until(|| work.finished()), Ok(outcome()));
        let void = (number == 1).then_some("late");
        work.judged(&trial(number), void, &clock());
    }
    drop(work);
    let verdict = |void: Option<&str>| {
        Ok(Verdict {
            void: void.map(str::to_owned),
            clock: clock(),
        })
    };
    let seen = session.join().expect("the session ends with the group");
    assert_eq!(seen, [(0, verdict(None)), (1, verdict(Some("late")))]);
}

#[test]
fn a_cancelled_session_is_idle_when_it_asks_again_and_starts_afresh() {
    let (mut own, mut work) = seat(Box::new(|into, _| Ok(into)));
    let session = thread::spawn(move || {
        let first = own.next_trial().map(|trial| trial.number);
        let cancelled = own.ready(Ok(()));
        let flag = own.is_cancelled();
        let second = own.next_trial().map(|trial| trial.number);
        (
            first,
            cancelled,
            flag,
            second,
            own.is_cancelled(),
            own.ready(Ok(())),
        )
    });
    until_idle(&mut work);
    work.prepare(&trial(0));
    // What it said of the first trial is not taken for the second one.
    work.cancel();
    until_idle(&mut work);
    work.prepare(&trial(1));
    assert_eq!(until(|| work.prepared()), Ok(()));
    work.run(&GO);
    let seen = session.join().expect("the session ends");
    assert_eq!(
        seen,
        (Some(0), Err(Cancelled), true, Some(1), false, Ok(GO))
    );
}

#[test]
fn threads_that_measure_see_that_a_trial_is_void_and_those_that_fill_that_the_group_has_ended() {
    let stops = Stops::default();
    let is_set = |flag: &AtomicBool| flag.load(Ordering::SeqCst);
    let (_own, mut work) = seat_with(Box::new(|into, _| Ok(into)), stops.clone());
    work.prepare(&trial(0));
    assert!(!is_set(&stops.trial) && !is_set(&stops.all));
    work.cancel();
    assert!(is_set(&stops.trial), "it is void");
    assert!(
        !is_set(&stops.all),
        "what is filled is filled for the next one"
    );
    work.prepare(&trial(1));
    assert!(!is_set(&stops.trial));
    work.ended();
    assert!(is_set(&stops.trial) && is_set(&stops.all));
}

#[test]
fn a_session_that_is_gone_is_an_error_and_no_wait() {
    let (own, mut work) = seat(Box::new(|into, _| Ok(into)));
    drop(own);
    assert!(work.idle(), "nothing of it runs");
    work.prepare(&trial(0));
    let error = "its measuring session has ended".to_owned();
    assert_eq!(work.prepared(), Poll::Ready(Err(error)));
    work.cancel();
    assert!(work.idle(), "nobody waits for it for ever");
}

#[test]
fn a_session_that_leaves_says_why_once() {
    let (own, mut work) = seat(Box::new(|into, _| Ok(into)));
    assert_eq!(work.leaves(), None);
    own.leave("interrupted".to_owned());
    assert_eq!(work.leaves(), Some("interrupted".to_owned()));
    assert_eq!(work.leaves(), None);
}

#[test]
fn a_session_that_stops_the_group_says_why_once() {
    let (own, mut work) = seat(Box::new(|into, _| Ok(into)));
    assert_eq!(work.stops(), None);
    let stopper = own.stopper();
    stopper.stop_group("Ctrl-C".to_owned());
    assert_eq!(work.leaves(), None, "it does not go alone");
    assert_eq!(work.stops(), Some("Ctrl-C".to_owned()));
    assert_eq!(work.stops(), None);
    drop(own);
    assert!(work.idle(), "whoever may stop it is no session");
}
