//! GNU dd's lines.

use diskfacts_report::formats::dd::{DecimalMark, Rate, Records, Repeat, Summary};

#[test]
fn numbers_are_rounded_as_coreutils_rounds_them() {
    // Printed by dd of coreutils 9.1, except for the last, whose seconds are
    // whole and which is then counted in integers.
    for (bytes, ns, line) in [
        (
            104_857_600,
            2_597_040,
            "104857600 bytes (105 MB, 100 MiB) copied, 0.00259704 s, 40.4 GB/s",
        ),
        (100, 32_469, "100 bytes copied, 3.2469e-05 s, 3.1 MB/s"),
        (
            1000,
            29_133,
            "1000 bytes (1.0 kB) copied, 2.9133e-05 s, 34.3 MB/s",
        ),
        (1, 28_021, "1 byte copied, 2.8021e-05 s, 35.7 kB/s"),
        (
            17_179_869_184,
            117_620_000_000,
            "17179869184 bytes (17 GB, 16 GiB) copied, 117.62 s, 146 MB/s",
        ),
        (
            1024,
            1_000_000_000,
            "1024 bytes (1.0 kB, 1.0 KiB) copied, 1 s, 1.0 kB/s",
        ),
        (
            59_000_000,
            1_000_000_000,
            "59000000 bytes (59 MB, 56 MiB) copied, 1 s, 59 MB/s",
        ),
        (0, 1_234, "0 bytes copied, 1.234e-06 s, 0.0 kB/s"),
    ] {
        let summary = Summary::of(bytes, ns);
        assert_eq!(summary.to_string(), line);
        assert_eq!(line.parse(), Ok(summary));
    }
    assert_eq!(
        Summary::of(5, 0).to_string(),
        "5 bytes copied, 0 s, Infinity B/s"
    );
}

#[test]
fn the_three_forms_and_the_decimal_comma_are_read() {
    for (line, seconds, rate) in [
        (
            "17179869184 bytes (17 GB) copied, 117.62 s, 146 MB/s",
            117.62,
            146e6,
        ),
        (
            "17179869184 bytes (17 GB, 16 GiB) copied, 117.62 s, 146 MB/s",
            117.62,
            146e6,
        ),
        (
            "20971520000 bytes (21 GB) copied, 177,742 s, 118 MB/s",
            177.742,
            118e6,
        ),
        (
            "1100 bytes (1,1 kB, 1,1 KiB) copied, 0,5 s, 2,2 kB/s",
            0.5,
            2200.0,
        ),
        ("512 bytes copied, 1.5 s, 0.3 kB/s", 1.5, 300.0),
    ] {
        let summary: Summary = line.parse().unwrap();
        assert!((summary.seconds - seconds).abs() < 1e-12, "{line}");
        let read = summary.rate.unwrap().bytes_per_s();
        assert!((read - rate).abs() < 1e-6, "{line}: {read}");
        assert_eq!(summary.to_string(), line);
    }
}

#[test]
fn a_summary_that_breaks_off_says_where() {
    let error = "17179869184 bytes (17 GB) copied, 117.62".parse::<Summary>();
    assert_eq!(
        error.unwrap_err().to_string(),
        "column 41: expected 's', but the line ends"
    );
    assert!("records in".parse::<Records>().is_err());
    assert_eq!(
        "3+1 records in".parse::<Records>().unwrap().to_string(),
        "3+1 records in"
    );
}

#[test]
fn a_repeat_without_its_number_is_read_as_missing() {
    let missing: Repeat = "c) MB/s".parse().unwrap();
    assert_eq!((missing.label, missing.rate), ('c', None));
    let dotted: Repeat = "b) 80.8 MB/s".parse().unwrap();
    assert_eq!(dotted.mark, DecimalMark::Point);
    assert_eq!(dotted.rate.map(|rate| rate.decimals), Some(1));
    assert!("prose) 80.8 MB/s".parse::<Repeat>().is_err());
    assert!("b) many MB/s".parse::<Repeat>().is_err());
}

#[test]
fn a_rate_just_below_a_unit_is_not_carried_where_dd_does_not() {
    // 999.96 MB/s is printed as 1000 MB/s by the floating-point branch of
    // human.c, and as 1.0 GB/s by the integer one.
    let rate = Rate::of(2_999_880_000, 3_000_000_001).unwrap();
    assert_eq!(rate.with(DecimalMark::Point), "1000 MB/s");
    let rate = Rate::of(999_960_000, 1_000_000_000).unwrap();
    assert_eq!(rate.with(DecimalMark::Point), "1.0 GB/s");
}
