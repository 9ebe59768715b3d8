//! The loops around transfers, against calls that stop short wherever they
//! like. The rest of the addon needs Node, and is tested from there.

#[path = "../src/whole.rs"]
mod whole;

use whole::{Stopped, read_whole, write_whole};

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Moves(usize),
    Interrupted,
    Fails,
}

const LENGTH: usize = 12288;
const STEP: usize = 512;

fn interrupted(call: &Call) -> bool {
    *call == Call::Interrupted
}

/// The calls one after the other, and where each began.
fn script(calls: &[Call], starts: &mut Vec<usize>, start: usize) -> Result<usize, Call> {
    let call = calls[starts.len()];
    starts.push(start);
    match call {
        Call::Moves(count) => Ok(count),
        error => Err(error),
    }
}

fn reads(calls: &[Call]) -> (Result<usize, Call>, Vec<usize>) {
    let mut starts = Vec::new();
    let result = read_whole(LENGTH, STEP, interrupted, |start| {
        script(calls, &mut starts, start)
    });
    (result, starts)
}

fn writes(calls: &[Call]) -> (Result<(), Stopped<Call>>, Vec<usize>) {
    let mut starts = Vec::new();
    let result = write_whole(LENGTH, STEP, interrupted, |start| {
        script(calls, &mut starts, start)
    });
    (result, starts)
}

#[test]
fn one_call_that_moves_everything_is_enough() {
    assert_eq!(reads(&[Call::Moves(LENGTH)]), (Ok(LENGTH), vec![0]));
    assert_eq!(writes(&[Call::Moves(LENGTH)]), (Ok(()), vec![0]));
}

#[test]
fn what_stopped_between_two_steps_goes_on_at_the_step_before() {
    let calls = [
        Call::Moves(1000),
        Call::Moves(512),
        Call::Moves(LENGTH - 1024),
    ];
    assert_eq!(reads(&calls), (Ok(LENGTH), vec![0, 512, 1024]));
    assert_eq!(writes(&calls), (Ok(()), vec![0, 512, 1024]));
}

#[test]
fn a_read_ends_where_another_call_brings_nothing_new() {
    for (calls, read, starts) in [
        (&[Call::Moves(0)][..], 0, vec![0]),
        (&[Call::Moves(4096), Call::Moves(0)], 4096, vec![0, 4096]),
        (&[Call::Moves(1000), Call::Moves(488)], 1000, vec![0, 512]),
        // The file was cut meanwhile.
        (&[Call::Moves(1000), Call::Moves(0)], 1000, vec![0, 512]),
        // It grew meanwhile.
        (
            &[Call::Moves(1000), Call::Moves(600), Call::Moves(88)],
            1112,
            vec![0, 512, 1024],
        ),
    ] {
        assert_eq!(reads(calls), (Ok(read), starts), "{calls:?}");
    }
}

#[test]
fn a_write_that_writes_nothing_ends_and_says_so() {
    for (calls, done) in [
        (&[Call::Moves(0)][..], 0),
        (&[Call::Moves(4096), Call::Moves(0)], 4096),
        (&[Call::Moves(1000), Call::Moves(488)], 1000),
    ] {
        let stopped = Stopped { done, why: None };
        assert_eq!(writes(calls).0, Err(stopped), "{calls:?}");
    }
}

#[test]
fn an_interrupted_call_is_made_again_where_it_began() {
    let calls = [
        Call::Interrupted,
        Call::Moves(4096),
        Call::Interrupted,
        Call::Moves(LENGTH - 4096),
    ];
    assert_eq!(reads(&calls), (Ok(LENGTH), vec![0, 0, 4096, 4096]));
    assert_eq!(writes(&calls), (Ok(()), vec![0, 0, 4096, 4096]));
}

#[test]
fn an_error_ends_it_and_a_write_says_how_far_it_came() {
    let calls = [Call::Moves(1000), Call::Fails];
    assert_eq!(reads(&calls).0, Err(Call::Fails));
    let stopped = Stopped {
        done: 1000,
        why: Some(Call::Fails),
    };
    assert_eq!(writes(&calls).0, Err(stopped));
}

#[test]
fn nothing_is_asked_for_nothing() {
    assert_eq!(
        read_whole(0, STEP, interrupted, |_| Err(Call::Fails)),
        Ok(0)
    );
    assert_eq!(
        write_whole(0, STEP, interrupted, |_| Err(Call::Fails)),
        Ok(())
    );
}
