use super::*;
use crate::histogram::DecodeError;
use proptest::prelude::*;

fn request(queued_ns: u64, took_ns: u64) -> BurstRequest {
    BurstRequest {
        device: 0,
        operation: RequestKind::Read,
        offset_bytes: queued_ns * 512,
        bytes: 4096,
        queued_ns: Some(queued_ns),
        issued_ns: queued_ns + 1,
        completed_ns: queued_ns + took_ns,
        ours: Some(true),
        failed: false,
    }
}

/// One request every 10 ns from 1000 on, each of 5 ns but for the slow ones.
fn kept(number: u64, slow: &[(u64, u64)]) -> Bursts {
    let mut keeper = BurstKeeper::default();
    for i in 0..number {
        let took = slow.iter().find(|(at, _)| *at == i);
        keeper.completed(request(1000 + 10 * i, took.map_or(5, |(_, took)| *took)));
    }
    keeper
        .finish(900, vec!["sda".to_owned()])
        .expect("requests")
}

const MAX: u64 = BurstKeeper::REQUESTS_MAX as u64;

/// Number of the first request of a burst of [`kept`], and how many it has.
fn place(burst: &Burst) -> (u64, u64) {
    assert_eq!(burst.requests[0].began_ns(), 0);
    ((burst.from_ns - 100) / 10, burst.requests.len() as u64)
}

#[test]
fn the_first_requests_are_kept_and_those_around_the_slowest_behind_them() {
    let few = kept(3, &[(1, 9)]);
    assert_eq!(few.bursts.len(), 1);
    assert_eq!(
        (few.bursts[0].of, place(&few.bursts[0])),
        (BurstOf::First, (0, 3))
    );

    // The slowest of all is in the first burst; of the others the second one counts.
    let many = kept(10_000, &[(5, 9), (2_000, 7), (5_000, 8), (7_000, 8)]);
    let [first, slowest] = &many.bursts[..] else {
        panic!("two: {}", many.bursts.len());
    };
    assert_eq!(place(first), (0, MAX));
    assert_eq!(
        (slowest.of, place(slowest)),
        (BurstOf::Slowest, (5_000 - MAX / 2, MAX))
    );
    assert_eq!(slowest.requests[BurstKeeper::REQUESTS_MAX / 2].took_ns(), 8);
}

#[test]
fn no_burst_reaches_over_a_pause() {
    let mut keeper = BurstKeeper::default();
    keeper.pause();
    keeper.completed(request(10, 5));
    keeper.pause();
    for at in [100, 110] {
        keeper.completed(request(at, 6));
    }
    keeper.completed(request(120, 7));
    keeper.pause();
    keeper.completed(request(1000, 5));
    let kept = keeper.finish(0, vec!["sda".to_owned()]).expect("requests");
    let lengths: Vec<_> = kept
        .bursts
        .iter()
        .map(|b| (b.from_ns, b.requests.len()))
        .collect();
    assert_eq!(lengths, [(10, 1), (100, 3)]);
    assert_eq!(BurstKeeper::default().finish(0, Vec::new()), None);
}

fn any_request() -> impl Strategy<Value = (u64, BurstRequest)> {
    let times = (
        0..1_000_000_u64,
        0..100_000_u64,
        0..1_u64 << 40,
        0..1_u64 << 50,
    );
    let kinds = prop::sample::select(vec![
        RequestKind::Read,
        RequestKind::Write,
        RequestKind::Discard,
        RequestKind::Flush,
        RequestKind::Other,
    ]);
    let what = (
        0..2_usize,
        kinds,
        prop_oneof![0..3_u64, any::<u64>().prop_map(|n| n >> 12)],
    );
    let how = (any::<bool>(), any::<Option<bool>>(), any::<bool>());
    (times, what, how).prop_map(|((step, queued, device_ns, at), what, how)| {
        let request = BurstRequest {
            device: what.0,
            operation: what.1,
            offset_bytes: at * 512,
            bytes: what.2 * 512,
            queued_ns: how.0.then_some(0),
            issued_ns: if how.0 { queued } else { 0 },
            completed_ns: device_ns,
            ours: how.1,
            failed: how.2,
        };
        (step, request)
    })
}

prop_compose! {
    fn any_bursts()(
        of in prop::collection::vec((any::<u32>(), prop::collection::vec(any_request(), 0..40)), 0..3),
    ) -> Bursts {
        let bursts = of.into_iter().map(|(from_ns, requests)| {
            let mut began_ns = 0;
            let requests = requests.into_iter().map(|(step, request)| {
                began_ns += step;
                let issued_ns = began_ns + request.issued_ns;
                BurstRequest {
                    queued_ns: request.queued_ns.map(|_| began_ns),
                    issued_ns,
                    completed_ns: issued_ns + request.completed_ns,
                    ..request
                }
            });
            Burst {
                of: if from_ns % 2 == 0 { BurstOf::First } else { BurstOf::Slowest },
                from_ns: u64::from(from_ns),
                requests: requests.collect(),
            }
        });
        Bursts { devices: vec!["sda".to_owned(), "nvme0n1".to_owned()], bursts: bursts.collect() }
    }
}

/// The same, with each device named where it first occurs, as a document has them.
fn by_name(bursts: &Bursts) -> Vec<(String, BurstRequest)> {
    let requests = bursts.bursts.iter().flat_map(|burst| &burst.requests);
    requests
        .map(|request| {
            let name = bursts.devices[request.device].clone();
            (
                name,
                BurstRequest {
                    device: 0,
                    ..*request
                },
            )
        })
        .collect()
}

proptest! {
    #[test]
    fn the_stored_form_and_the_document_read_back(bursts in any_bursts()) {
        let packed = PackedBursts::from(&bursts);
        prop_assert_eq!(PackedBursts::from_bytes(packed.as_bytes()).map(|p| p.unpack()), Ok(bursts.clone()));
        let text = serde_json::to_string(&packed).expect("a document");
        let read: PackedBursts = serde_json::from_str(&text).expect("its own document");
        prop_assert_eq!(by_name(&read.unpack()), by_name(&bursts));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bursts in any_bursts(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = PackedBursts::from(&bursts).as_bytes().to_vec();
        let at = at.index(bytes.len());
        prop_assert!(PackedBursts::from_bytes(&bytes[..at]).is_err(), "cut at {}", at);
        bytes[at] = byte;
        if let Ok(read) = PackedBursts::from_bytes(&bytes) {
            let again = PackedBursts::from(&read.unpack());
            prop_assert_eq!(again.unpack(), read.unpack());
        }
    }
}

#[test]
fn the_stored_form_never_changes() {
    // Written by version 1; a later version must read it as the same.
    let bursts = Bursts {
        devices: vec!["sda".to_owned()],
        bursts: vec![Burst {
            of: BurstOf::Slowest,
            from_ns: 300,
            requests: vec![
                BurstRequest {
                    offset_bytes: 512,
                    ..request(0, 9)
                },
                BurstRequest {
                    queued_ns: None,
                    issued_ns: 2,
                    completed_ns: 4,
                    ours: None,
                    failed: true,
                    offset_bytes: 0,
                    ..request(0, 9)
                },
            ],
        }],
    };
    let bytes = [
        1,
        1,
        3,
        115,
        100,
        97,
        1,
        1,
        172,
        2,
        2, // sda, one burst, the slowest, 300 ns, two requests
        0b0011_1000,
        0,
        1,
        8,
        2,
        8, // ours, queued: 0, 1 ns in the queue, 8 at the device, at 1, 8 sectors
        0b1100_0000,
        2,
        2,
        17, // failed: after 2 ns, 2 at the device, 9 sectors back
    ];
    assert_eq!(PackedBursts::from(&bursts).as_bytes(), bytes);
    assert_eq!(
        PackedBursts::from_bytes(&bytes).map(|read| read.unpack()),
        Ok(bursts)
    );
    let mut newer = bytes;
    newer[0] = 2;
    assert_eq!(
        PackedBursts::from_bytes(&newer),
        Err(DecodeError::Version(2))
    );
}

#[test]
fn a_document_whose_requests_cannot_be_is_refused_with_the_reason() {
    let document = |change: (&str, &str)| {
        let good = r#"[{"of": "first", "from_ns": 5, "requests": [
            {"device": "sda", "operation": "read", "offset_bytes": 512, "bytes": 512,
             "queued_ns": 0, "issued_ns": 3, "completed_ns": 7, "ours": null, "failed": false}]}]"#;
        assert!(good.contains(change.0));
        serde_json::from_str::<PackedBursts>(&good.replace(change.0, change.1))
    };
    assert!(document(("512", "1024")).is_ok());
    for (from, to, said) in [
        (r#""bytes": 512"#, r#""bytes": 100"#, "whole sectors"),
        (r#""completed_ns": 7"#, r#""completed_ns": 2"#, "order"),
        (
            r#""offset_bytes": 512"#,
            r#""offset_bytes": 18446744073709551104"#,
            "64 bits",
        ),
        (r#""read""#, r#""steal""#, "steal"),
    ] {
        let error = document((from, to)).expect_err(to).to_string();
        assert!(error.contains(said), "{error}");
    }
}
