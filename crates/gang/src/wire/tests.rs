use super::*;
use proptest::prelude::*;

/// One of each kind.
pub(crate) fn every_message() -> Vec<Message> {
    let details = Details {
        plan: vec![7; 32],
        boot_id: "1b1c".to_owned(),
        device: Some("xfs:8d3e".to_owned()),
        objections: vec!["/dev/sdb1 is mounted at /data".to_owned()],
    };
    let program = || "diskfacts 0.1.0".to_owned();
    vec![
        Message::Hello {
            cards: vec![
                Card::new(3, program(), "c3".to_owned(), details),
                Card::of_another_version(4, 9, "c4", b"what only version 9 can read"),
            ],
        },
        Message::Refused {
            objections: vec!["c3: no".to_owned(), String::new()],
        },
        Message::Alive {
            root_silent_ms: 12,
            waiting_for: vec![3, 4],
        },
        Message::Prepare {
            trial: 2,
            attempt: 1,
            order: b"random-read".to_vec(),
        },
        Message::Ready,
        Message::Ping { sequence: 15 },
        Message::Pong {
            sequence: 15,
            local_ns: -5,
        },
        Message::Clock {
            sequence: 3,
            ahead_ns: -1_000_000_000_000,
            bound_ns: 8000,
            path_ns: 16_000,
        },
        Message::Synced { path_ns: 1 },
        Message::Go {
            at_ns: 50_000_000,
            stop_ns: Some(60_050_000_000),
            seed: u64::MAX,
        },
        Message::Go {
            at_ns: 1,
            stop_ns: None,
            seed: 0,
        },
        Message::Finished,
        Message::Gathered {
            summary: vec![0, 255],
            windows: vec![Window {
                rank: 1,
                start_ns: -1,
                end_ns: 1,
                bound_ns: 2,
            }],
        },
        Message::Judged {
            void: Some("c3 was late".to_owned()),
        },
        Message::Lost {
            rank: 1,
            why: "silent".to_owned(),
        },
        Message::Roster {
            lost: vec![(1, "silent".to_owned())],
        },
        Message::End { why: None },
        Message::Stop {
            rank: 3,
            why: "Ctrl-C".to_owned(),
        },
    ]
}

#[test]
fn every_message_is_read_as_it_was_written() {
    for message in every_message() {
        let frame = encode(5, &message);
        assert_eq!(decode(&frame), Ok(Frame::Known { epoch: 5, message }));
    }
}

/// Frames of an older body teach the fuzzer nothing but that they are refused.
#[test]
fn the_frames_that_fuzzing_begins_with_are_of_this_version_and_of_each_kind() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/gang_frame");
    let files = std::fs::read_dir(folder).expect("the corpus");
    let mut kinds: Vec<u8> = Vec::new();
    for file in files {
        let path = file.expect("a file").path();
        let frame = std::fs::read(&path).expect("a frame");
        let is_of_this_version = frame.get(4..6) == Some(&PROTOCOL.to_le_bytes());
        assert!(is_of_this_version, "{}", path.display());
        let Ok(Frame::Known { message, .. }) = decode(&frame) else {
            panic!("{}", path.display());
        };
        kinds.push(message.kind());
    }
    for message in every_message() {
        assert!(kinds.contains(&message.kind()), "{message:?}");
    }
}

#[test]
fn a_frame_that_is_cut_short_or_too_long_is_refused_at_a_place_in_it() {
    for message in every_message() {
        let whole = encode(1, &message);
        for length in 0..whole.len() {
            let mut cut = whole[..length].to_vec();
            assert!(decode(&cut).is_err(), "{message:?} cut at {length}");
            // And with a length that fits.
            if length >= 4 {
                let claimed = u32::try_from(length - 4).unwrap();
                cut[..4].copy_from_slice(&claimed.to_le_bytes());
                let error = decode(&cut).expect_err("something is missing");
                assert!(error.at <= length, "{error:?} of {length} bytes");
            }
        }
        let mut long = whole.clone();
        long.push(0);
        assert!(decode(&long).is_err(), "{message:?} and a byte");
    }
}

#[test]
fn a_count_alone_allocates_nothing() {
    let mut frame = encode(0, &Message::Refused { objections: vec![] });
    let end = frame.len();
    frame[end - 4..].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = decode(&frame).expect_err("four thousand million objections");
    assert_eq!(error.what, "a list has more items than the frame has bytes");
}

#[test]
fn other_versions_are_told_apart_but_their_hello_is_read() {
    for message in every_message() {
        let mut frame = encode(0, &message);
        frame[4..6].copy_from_slice(&77_u16.to_le_bytes());
        match message {
            Message::Hello { .. } | Message::Refused { .. } => {
                assert_eq!(decode(&frame), Ok(Frame::Known { epoch: 0, message }));
            }
            _ => assert_eq!(decode(&frame), Ok(Frame::Foreign { protocol: 77 })),
        }
    }
}

#[test]
fn a_long_text_is_cut_between_two_characters_and_can_be_read() {
    let why = Some("ä".repeat(3000));
    let frame = encode(0, &Message::End { why });
    let Ok(Frame::Known { message, .. }) = decode(&frame) else {
        panic!("it is a frame");
    };
    let why = Some("ä".repeat(2048));
    assert_eq!(message, Message::End { why });
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(mut bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        // Random bytes hardly ever have the right length; half of the cases are given it.
        if bytes.len() >= 11 && bytes[10] & 1 == 0 {
            let length = u32::try_from(bytes.len() - 4).unwrap();
            bytes[..4].copy_from_slice(&length.to_le_bytes());
            bytes[4..6].copy_from_slice(&PROTOCOL.to_le_bytes());
            bytes[6] %= 18;
        }
        match decode(&bytes) {
            Ok(Frame::Known { epoch, message }) => {
                let again = encode(epoch, &message);
                prop_assert_eq!(decode(&again), Ok(Frame::Known { epoch, message }));
            }
            Ok(Frame::Foreign { protocol }) => prop_assert_ne!(protocol, PROTOCOL),
            Err(error) => prop_assert!(error.at <= bytes.len()),
        }
    }
}
