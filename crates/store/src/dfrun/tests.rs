//! Files as they are written, and as nobody should write them.

use super::*;
use crate::kept::{Kept, KeptTrial, Parcel};
use diskfacts_record::evidence::RequestKind;
use diskfacts_record::trial::Histograms as Counted;
use diskfacts_record::{Burst, BurstOf, BurstRequest, Bursts, LatencyOverTime};
use flate2::write::GzEncoder;
use std::io::{Read, Write};

const RUN: &str = include_str!("../../tests/store/sample/run.json");
const TRIAL: &str = include_str!("../../tests/store/sample/trial.json");

/// JSON in one line.
fn compact(text: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    value.to_string()
}

/// A request.
fn bursts(bytes: u64) -> Bursts {
    Bursts {
        devices: vec!["sda".to_owned()],
        bursts: vec![Burst {
            of: BurstOf::First,
            from_ns: 3,
            requests: vec![BurstRequest {
                device: 0,
                operation: RequestKind::Read,
                offset_bytes: 0,
                bytes: bytes * 512,
                queued_ns: None,
                issued_ns: 0,
                completed_ns: 5,
                ours: None,
                failed: false,
            }],
        }],
    }
}

/// A run with two trials, with a key that no diskfacts of today knows.
fn kept(id: &str) -> Kept {
    let mut run: serde_json::Value = serde_json::from_str(RUN).unwrap();
    run["run"]["id"] = id.into();
    run["key of tomorrow"] = 7.into();
    let trial = |order: u64| {
        let mut trial: serde_json::Value = serde_json::from_str(TRIAL).unwrap();
        trial["order"] = order.into();
        let mut counted = Counted::default();
        counted.read.record(order * 1000);
        if order == 2 {
            counted.service = Some(counted.read.clone());
        }
        KeptTrial {
            document: trial.to_string(),
            histograms: (&counted).into(),
            latency_over_time: (order == 1).then(|| {
                let mut over_time = LatencyOverTime::new(20);
                let row = over_time.reach(5);
                over_time.count_at(row, false, 7, order);
                (&over_time).into()
            }),
            bursts: (order == 2).then(|| (&bursts(order)).into()),
        }
    };
    Kept {
        id: id.to_owned(),
        schema: 1,
        labels: Labels {
            name: Some("nightly".into()),
            note: Some("after the firmware:\nslower".into()),
            tags: ["ci".into()].into(),
        },
        writer: Some(Writer {
            pid: 7,
            boot_id: "0d4ca65c".into(),
            start_ticks: 9,
            namespace: Some(0xEFFF_FFFC),
        }),
        document: run.to_string(),
        trials: vec![trial(1), trial(2)],
    }
}

fn file(runs: &[Kept]) -> Vec<u8> {
    let of = u32::try_from(runs.len()).unwrap();
    let mut bytes = Vec::new();
    for (number, kept) in (1..).zip(runs) {
        write(&mut bytes, kept, (number, of)).unwrap();
    }
    bytes
}

fn read(bytes: &[u8]) -> Result<Vec<Kept>, Error> {
    let parcels = Reader::new(bytes).map(|parcel| parcel.map(|Parcel { kept, .. }| kept));
    parcels.collect()
}

/// A member with these lines.
fn packed(lines: &[&str]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for line in lines {
        packed.write_all(line.as_bytes()).unwrap();
        packed.write_all(b"\n").unwrap();
    }
    packed.finish().unwrap()
}

/// The lines of a file of one run.
fn lines(bytes: &[u8]) -> Vec<String> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes)
        .read_to_string(&mut text)
        .unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn what_is_read_is_what_was_written_to_the_last_key() {
    let runs = [kept("a-1"), kept("a-2"), kept("a-3")];
    let bytes = file(&runs);
    assert_eq!(read(&bytes).unwrap(), runs);
    assert_eq!(file(&runs), bytes, "the same runs are the same bytes");
    let first = Reader::new(&bytes[..]).next().unwrap().unwrap();
    assert_eq!(first.run.trials.len(), 2);
    assert_eq!(first.run.trials[1].histograms, runs[0].trials[1].histograms);
    assert_eq!(first.run.run.labels, runs[0].labels);
}

#[test]
fn files_can_stand_behind_each_other() {
    let mut bytes = file(&[kept("a-1"), kept("a-2")]);
    bytes.extend(file(&[kept("b-1")]));
    let ids: Vec<String> = read(&bytes)
        .unwrap()
        .into_iter()
        .map(|kept| kept.id)
        .collect();
    assert_eq!(ids, ["a-1", "a-2", "b-1"]);
}

#[test]
fn a_line_end_in_a_document_is_a_space() {
    let mut run = kept("a-1");
    run.document = run.document.replacen('{', "{\n", 1);
    let read = read(&file(&[run.clone()])).unwrap();
    assert_eq!(read[0].document, run.document.replace('\n', " "));
}

#[test]
fn a_file_that_is_cut_short_anywhere_is_refused_and_never_half_taken() {
    let bytes = file(&[kept("a-1"), kept("a-2")]);
    let border = file(&[kept("a-1"), kept("a-2")][..1]).len();
    for length in 0..bytes.len() {
        let error = read(&bytes[..length]).unwrap_err();
        // Before the end of the first line nothing tells that it is ours.
        match error {
            Error::NotOurs => assert!(length < 600, "{length}"),
            error => assert!(matches!(error, Error::CutShort), "{length}: {error:?}"),
        }
    }
    // Between two runs nothing is torn, and one is missing. The first of two is as long as one.
    assert!(matches!(read(&bytes[..border]), Err(Error::CutShort)));
}

#[test]
fn no_byte_of_a_file_can_be_another_unseen() {
    let run = kept("a-1");
    let bytes = file(std::slice::from_ref(&run));
    for at in 0..bytes.len() {
        let mut other = bytes.clone();
        other[at] ^= 0x10;
        match read(&other) {
            Err(_) => {}
            // The moment and the system that gzip notes, and the bits that fill its last byte.
            Ok(read) => assert!(read == [run.clone()], "byte {at}"),
        }
    }
}

#[test]
fn what_is_not_ours_or_newer_is_told_from_what_is_damaged() {
    let not_ours: [Vec<u8>; 6] = [
        Vec::new(),
        b"102 MB/s\n".to_vec(),
        b"SQLite format 3\0".to_vec(),
        packed(&["{\"jobs\": []}"]),
        packed(&["102 MB/s"]),
        packed(&[&"x".repeat(1 << 20)]),
    ];
    for bytes in &not_ours {
        assert!(
            matches!(read(bytes), Err(Error::NotOurs)),
            "{:?}",
            read(bytes)
        );
    }
    let newer = packed(&["{\"dfrun\": 7, \"something\": \"else\"}"]);
    let error = read(&newer).unwrap_err();
    assert!(matches!(error, Error::Newer { found: 7 }), "{error:?}");
    assert!(error.to_string().contains("version 7") && error.to_string().contains("up to 1"));
    // Behind a run there is a run or nothing.
    let mut behind = file(&[kept("a-1")]);
    behind.extend(packed(&["{\"jobs\": []}"]));
    assert!(matches!(read(&behind), Err(Error::Damaged { .. })));
    let mut behind = file(&[kept("a-1")]);
    behind.extend(b"trailing");
    assert!(matches!(read(&behind), Err(Error::Damaged { .. })));
}

#[test]
fn what_only_a_hostile_file_says_is_refused_with_the_reason() {
    let good = lines(&file(&[kept("a-1")]));
    let line = |number: usize, from: &str, to: &str| -> Vec<u8> {
        let mut lines = good.clone();
        assert!(lines[number].contains(from), "{from} in {}", lines[number]);
        lines[number] = lines[number].replacen(from, to, 1);
        packed(&lines.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let all: Vec<&str> = good.iter().map(String::as_str).collect();
    for (bytes, said) in [
        (line(0, "\"id\":\"a-1\"", "\"id\":\"../a\""), "id of a run"),
        (line(0, "\"id\":\"a-1\"", "\"id\":\"\""), "id of a run"),
        (line(0, "\"id\":\"a-1\"", "\"id\":\"b-1\""), "another one"),
        (
            line(0, "\"name\":\"nightly\"", "\"name\":\"last\""),
            "is called",
        ),
        (
            line(0, "\"tags\":[\"ci\"]", "\"tags\":[\"a b\"]"),
            "is called",
        ),
        (
            line(
                1,
                "\"notes\":[]}",
                "\"notes\":[],\"membership\":{\"group\":\"a b\"}}",
            ),
            "belongs to",
        ),
        (
            line(0, "\"schema\":1", "\"schema\":99"),
            "schema version 99",
        ),
        (line(0, "\"schema\":1", "\"schema\":0"), "another one"),
        (line(0, "\"number\":1", "\"number\":2"), "not what follows"),
        (line(0, "\"of\":1", "\"of\":0"), "not what follows"),
        (line(0, "\"of\":1", "\"of\":2"), "cut short"),
        (line(0, "\"trials\":2", "\"trials\":1"), "more behind it"),
        (line(0, "\"trials\":2", "\"trials\":3"), "trial 3"),
        (
            line(0, "\"trials\":2", "\"trials\":18446744073709551615"),
            "trial 3",
        ),
        (line(0, "\"labels\"", "\"Labels\""), "head of a run"),
        (line(1, "\"trials\":[]", "\"trials\":7"), "description"),
        (
            line(
                1,
                "\"trials\":[]",
                &format!("\"trials\":[{}]", compact(TRIAL)),
            ),
            "trials in its description",
        ),
        (line(1, "{", "["), "description"),
        (line(2, "\"read\":\"", "\"read\":\"!"), "trial 1"),
        (line(2, "\"read\":\"", "\"read\":\"AAAA"), "trial 1"),
        (
            line(2, "\"order\":1", "\"order\":2"),
            "two trials in one place",
        ),
        (
            line(2, "\"order\":1", "\"order\":0"),
            "two trials in one place",
        ),
        (line(3, "\"stage\":", "\"Stage\":"), "trial 2"),
        (packed(&all[..2]), "trial 1"),
        (packed(&all[..1]), "description"),
    ] {
        let error = read(&bytes).unwrap_err();
        assert!(error.to_string().contains(said), "{said}: {error}");
    }
    assert_eq!(read(&packed(&all)).unwrap(), [kept("a-1")]);
}

#[test]
fn a_few_packed_bytes_do_not_fill_the_memory() {
    let good = lines(&file(&[kept("a-1")]));
    // A line that never ends, a gigabyte of it in a megabyte.
    let mut bomb = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    bomb.write_all(good[0].as_bytes()).unwrap();
    bomb.write_all(b"\n").unwrap();
    let spaces = vec![b' '; 1 << 20];
    for _ in 0..100 {
        bomb.write_all(&spaces).unwrap();
    }
    let error = read(&bomb.finish().unwrap()).unwrap_err();
    let Error::TooLarge { what, bytes_max } = error else {
        panic!("{error:?}");
    };
    assert!(
        what.contains("description") && bytes_max == DOCUMENT_BYTES_MAX,
        "{what}"
    );
}

/// Each run is within its limit, and there are as many as one likes.
#[test]
fn many_runs_do_not_fill_the_memory_of_who_keeps_them_all() {
    let bytes = file(&[kept("a-1")]);
    let of_one: usize = lines(&bytes).iter().map(|line| line.len() + 1).sum();
    let of_one = of_one as u64;
    // As `cat` puts files behind each other.
    let many = bytes.repeat(5);
    let taken = |bytes_max: u64| {
        let mut reader = Reader::new(&many[..]);
        let mut taken = usize::from(reader.next().unwrap().is_ok());
        reader.limit(bytes_max);
        loop {
            match reader.next() {
                Some(Ok(_)) => taken += 1,
                Some(Err(Error::TooMany { bytes_max: said })) => {
                    assert_eq!(said, bytes_max);
                    assert!(reader.next().is_none());
                    return (taken, false);
                }
                Some(Err(error)) => panic!("{error}"),
                None => return (taken, true),
            }
        }
    };
    assert_eq!(taken(5 * of_one), (5, true));
    assert_eq!(taken(5 * of_one - 1), (4, false));
    assert_eq!(taken(2 * of_one), (2, false));
    assert_eq!(taken(0), (1, false));
    let error = Error::TooMany {
        bytes_max: RUNS_BYTES_MAX,
    };
    assert!(error.to_string().contains("512 MiB together"), "{error}");
}

#[test]
fn what_no_reader_would_take_is_not_written() {
    let mut run = kept("a-1");
    run.document = format!("{}{}", " ".repeat(64 << 20), run.document);
    let error = write(std::io::sink(), &run, (1, 1)).unwrap_err();
    assert!(error.to_string().contains("more than 64 MiB"), "{error}");
}

#[test]
fn what_a_medium_says_is_kept() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the cable"))
        }
    }
    let error = Reader::new(std::io::BufReader::new(Broken)).next().unwrap();
    assert!(matches!(error, Err(Error::Io(error)) if error.to_string() == "the cable"));
}
