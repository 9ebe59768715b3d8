//! All 624 rows of the documents equal the tables, value for value.

use super::tables::{Row as Expected, table};
use super::{DOCUMENTS, import, notes};
use diskfacts_report::formats::bonnie::Cell;
use diskfacts_report::formats::stride::{Place, Suffix};
use diskfacts_report::import::{Document, Format, Measured, Row};

macro_rules! data {
    ($name:literal) => {
        table(include_str!(concat!(
            "../../../../disk/data/",
            $name,
            ".csv"
        )))
    };
}

fn of(document: &Document, format: Format) -> Vec<&Row> {
    document
        .rows
        .iter()
        .filter(|row| row.format == format)
        .collect()
}

fn setting<'a>(row: &'a Row, name: &str) -> &'a str {
    row.settings.get(name).map_or("", String::as_str)
}

/// Each row with its row of the table; there are as many, on the same lines.
fn paired(rows: Vec<&Row>, expected: Vec<Expected>) -> Vec<(&Row, Expected)> {
    let lines: Vec<u64> = rows.iter().map(|row| row.line).collect();
    let wanted: Vec<u64> = expected.iter().map(Expected::line).collect();
    assert_eq!(lines, wanted);
    rows.into_iter().zip(expected).collect()
}

#[test]
fn the_documents_have_624_rows() {
    let counts = DOCUMENTS.map(|text| import(text).rows.len());
    assert_eq!(counts, [65, 245, 9, 294, 11]);
    assert_eq!(counts.iter().sum::<usize>(), 624);
}

#[test]
fn strided_lines_equal_their_table() {
    let document = import(DOCUMENTS[0]);
    for (row, expected) in paired(of(&document, Format::Stride), data!("000_strided")) {
        let Measured::Strided(line) = &row.measured else {
            panic!("{row:?}")
        };
        let place = match line.place {
            None => "",
            Some(Place::Ext) => "ext",
            Some(Place::Raw) => "raw",
        };
        assert_eq!(place, expected.text("target"));
        assert_eq!(line.op.word(), expected.text("op"));
        expected.is("fraction_denom", line.fraction as f64);
        expected.is("total_MiB", line.total_mib as f64);
        expected.is("pow2", line.log2_bytes.into());
        expected.is("bs", line.block_size as f64);
        expected.is("skip_blocks", line.skip_blocks as f64);
        expected.is("secs", line.seconds);
        expected.is("span_MiBps", line.span_mib_per_s);
        expected.is("real_MiBps", line.real_mib_per_s);
        expected.is("seeks_per_s", line.seeks_per_s);
        expected.is("n_ops", line.operations() as f64);
        let suffix = match &line.suffix {
            None => "",
            Some(Suffix::Fixed) => "fixed",
            Some(Suffix::NotFixed) => "not fixed",
            Some(Suffix::At(place)) => place,
        };
        assert_eq!(suffix, expected.text("note"));
        let under_header = row.settings.contains_key("offset0");
        assert_eq!(under_header, !expected.text("flags").is_empty());
        if under_header {
            let flags = ["offset0", "access", "fixed", "val"]
                .map(|name| format!("{name}:{}", setting(row, name)));
            assert_eq!(flags.join(", "), expected.text("flags"));
        }
    }
}

#[test]
fn lines_of_dd_equal_their_table() {
    let document = import(DOCUMENTS[0]);
    for (row, expected) in paired(of(&document, Format::Dd), data!("000_dd")) {
        let Measured::Summary(summary) = &row.measured else {
            panic!("{row:?}")
        };
        expected.is("bytes", summary.bytes as f64);
        expected.is("secs", summary.seconds);
        expected.is(
            "MBps_1e6_reported",
            summary.rate.unwrap().bytes_per_s() / 1e6,
        );
        assert_eq!(setting(row, "bs"), expected.text("bs"));
        assert_eq!(setting(row, "count"), expected.text("count"));
        let direct = setting(row, "iflag") == "direct" || setting(row, "oflag") == "direct";
        assert_eq!(u8::from(direct).to_string(), expected.text("direct"));
        let (op, target) = match setting(row, "if") {
            "" => (setting(row, "operation"), setting(row, "target")),
            source => ("read", source),
        };
        assert_eq!(target, expected.text("target"));
        assert!(expected.text("op").starts_with(op) && !op.is_empty());
    }
}

#[test]
fn repeats_of_streams_equal_their_table() {
    let document = import(DOCUMENTS[1]);
    let mut rows = of(&document, Format::Dd);
    let local = rows.remove(0);
    let expected = data!("001_local_md0").remove(0);
    let Measured::Summary(summary) = &local.measured else {
        panic!("{local:?}")
    };
    assert_eq!(local.line, expected.line());
    expected.is("bytes", summary.bytes as f64);
    expected.is("secs", summary.seconds);
    expected.is("MBps_reported", summary.rate.unwrap().bytes_per_s() / 1e6);
    assert_eq!(setting(local, "of"), "/dev/md0");

    for (row, expected) in paired(rows, data!("001_streams")) {
        let Measured::Repeat(repeat) = &row.measured else {
            panic!("{row:?}")
        };
        assert_eq!(repeat.label.to_string(), expected.text("run"));
        match repeat.rate {
            Some(rate) => expected.is("MBps_1e6", rate.value),
            None => assert_eq!(expected.text("MBps_1e6"), ""),
        }
        let printed = row.text.split([' ']).nth(1).unwrap();
        assert_eq!(printed.trim_end_matches("MB/s"), expected.text("raw_text"));
        assert_eq!(setting(row, "io_context"), expected.text("io_context"));
        assert_eq!(setting(row, "read_ahead_by"), expected.text("ra_algorithm"));
        assert_eq!(setting(row, "scheduler"), expected.text("scheduler"));
        let size = match expected.text("ra_source") {
            "default" => "default".to_owned(),
            _ => format!("{}K", expected.text("ra_KiB")),
        };
        assert_eq!(setting(row, "read_ahead"), size);
        let dual = row.settings.contains_key("beside");
        assert_eq!(dual, expected.text("mode") == "dual", "line {}", row.line);
        assert_eq!(setting(row, "if"), "/dev/sdb");
        assert_eq!(setting(row, "bs"), "64K");
    }
}

#[test]
fn read_ahead_equals_its_tables() {
    let document = import(DOCUMENTS[1]);
    let (trace, table): (Vec<&Row>, Vec<&Row>) = of(&document, Format::Readahead)
        .into_iter()
        .partition(|row| matches!(row.measured, Measured::Trace(_)));
    for (row, expected) in paired(trace, data!("001_ra_trace")) {
        let Measured::Trace(line) = &row.measured else {
            panic!("{row:?}")
        };
        assert_eq!(line.pattern, expected.text("pattern"));
        assert_eq!(line.comm, expected.text("comm"));
        let device = format!("{:02x}:{:02x}", line.device.0, line.device.1);
        assert_eq!(device, expected.text("dev"));
        assert_eq!(line.device_name, expected.text("devname"));
        assert_eq!(line.file, expected.text("file"));
        expected.is("pid", line.pid as f64);
        expected.is("ino", line.inode as f64);
        expected.is("req_off_pages", line.request_page as f64);
        expected.is("req_pages", line.request_pages as f64);
        expected.is("ra_start", line.start_page as f64);
        expected.is("ra_size", line.size_pages as f64);
        expected.is("ra_async_size", line.async_pages as f64);
        expected.is("async", f64::from(u8::from(line.asynchronous)));
        expected.is("actual", line.actual_pages as f64);
    }
    for (row, expected) in paired(table, data!("001_ra_stats")) {
        let Measured::Statistics(line) = &row.measured else {
            panic!("{row:?}")
        };
        assert_eq!(line.pattern, expected.text("pattern"));
        let names = [
            "count",
            "sync_count",
            "eof_count",
            "size",
            "async_size",
            "actual",
        ];
        for (name, number) in names.into_iter().zip(line.numbers()) {
            expected.is(name, number.expect("the kernel of 2009 knew all") as f64);
        }
    }
}

#[test]
fn figures_of_running_text_equal_their_tables() {
    let document = import(DOCUMENTS[1]);
    for (row, expected) in paired(of(&document, Format::Text), data!("001_quoted_numbers")) {
        let Measured::Quoted(value, unit) = &row.measured else {
            panic!("{row:?}")
        };
        expected.is("value", *value);
        assert_eq!(unit, expected.text("unit"));
    }
    let document = import(DOCUMENTS[4]);
    for (row, expected) in paired(of(&document, Format::Text), data!("004_text")) {
        let Measured::Claim(rate) = row.measured else {
            panic!("{row:?}")
        };
        match rate {
            Some(rate) => expected.is("MBps", rate),
            None => assert_eq!(expected.text("MBps"), "(depends)"),
        }
        assert_eq!(setting(row, "path"), expected.text("path"));
        assert_eq!(setting(row, "bs"), expected.text("bs"));
        let with = match expected.text("cache") {
            "" => "",
            "write-cache on" => "drive write-cache enabled",
            "write-cache off" => "drive write-cache disabled",
            _ => "some tweak on storage settings",
        };
        assert_eq!(setting(row, "with"), with);
        let internal = expected.text("device").contains("internal");
        assert_eq!(setting(row, "on").contains("internal"), internal);
    }
}

#[test]
fn bonnie_and_hdparm_equal_their_tables() {
    let document = import(DOCUMENTS[2]);
    for (row, expected) in paired(of(&document, Format::Bonnie), data!("002_bonnie")) {
        let Measured::BonnieIo(line, None) = &row.measured else {
            panic!("{row:?}")
        };
        assert_eq!(line.name, expected.text("volume"));
        let tests = ["putc", "putblk", "rewrite", "getc", "getblk", "seeks"];
        for (rate, test) in line.rates.iter().zip(tests) {
            let (Cell::Measured(value), Cell::Measured(cpu)) = (rate.rate, rate.cpu_percent) else {
                panic!("{line:?}")
            };
            let unit = if test == "seeks" { "ps" } else { "Kps" };
            expected.is(&format!("{test}_{unit}"), value);
            expected.is(&format!("{test}_cpu"), cpu);
        }
    }
    for (row, expected) in paired(of(&document, Format::Hdparm), data!("002_hdparm")) {
        let Measured::Hdparm(line) = &row.measured else {
            panic!("{row:?}")
        };
        expected.is("MBps", line.rate);
        assert_eq!(setting(row, "layout"), expected.text("raid"));
        let volume = setting(row, "volume").trim_start_matches("The ");
        assert_eq!(volume, expected.text("volume"));
    }
}

#[test]
fn the_write_matrix_equals_its_table() {
    let document = import(DOCUMENTS[3]);
    for (row, expected) in paired(of(&document, Format::WriteMatrix), data!("003_matrix")) {
        let Measured::WriteMatrix(line) = &row.measured else {
            panic!("{row:?}")
        };
        expected.is("bs", line.block_size as f64);
        expected.is("MiBps", line.mib_per_s);
        assert_eq!(line.target, expected.text("device"));
        assert_eq!(line.mode.to_string(), expected.text("label"));
    }
}

#[test]
fn iostat_equals_its_tables() {
    let document = import(DOCUMENTS[4]);
    for (row, expected) in paired(
        of(&document, Format::IostatLinux),
        data!("004_iostat_linux"),
    ) {
        let Measured::IostatLinux(columns, line) = &row.measured else {
            panic!("{row:?}")
        };
        assert_eq!(line.device, expected.text("device"));
        for name in columns.names() {
            let column = name.replace(['/', '-'], "_").replace('%', "");
            expected.is(&column, columns.value(line, name).unwrap());
        }
    }
    let solaris = of(&document, Format::IostatSolaris);
    for (row, expected) in paired(solaris, data!("004_iostat_solaris")) {
        let Measured::IostatSolaris(_, line) = &row.measured else {
            panic!("{row:?}")
        };
        assert_eq!(line.device, expected.text("device"));
        expected.is("r_s", line.reads_per_s);
        expected.is("w_s", line.writes_per_s);
        expected.is("Mr_s", line.data_read_per_s);
        expected.is("Mw_s", line.data_written_per_s);
        expected.is("wait", line.wait.unwrap());
        expected.is("actv", line.actv);
        expected.is("wsvc_t_ms", line.wsvc_t_ms.unwrap());
        expected.is("asvc_t_ms", line.asvc_t_ms);
        expected.is("pct_w", line.percent_waiting.unwrap() as f64);
        expected.is("pct_b", line.percent_busy as f64);
    }
    let conditions: Vec<String> = document.rows[..5]
        .iter()
        .map(|row| {
            format!(
                "{} {} {}",
                setting(row, "system"),
                setting(row, "path"),
                setting(row, "bs")
            )
        })
        .collect();
    let expected = [
        "solaris block 16k",
        "linux block 16k",
        "solaris raw 16k",
        "linux raw 8k",
        "  16k",
    ];
    assert_eq!(conditions, expected);
}

#[test]
fn the_oddities_of_each_document_are_notes() {
    let all = DOCUMENTS.map(|text| notes(&import(text)));
    for (document, said) in [
        (0, "3: MB of strided lines are 2^20 bytes."),
        (0, "11: MB of dd are 10^6 bytes."),
        (
            1,
            "171: From here on 176 numbers have a decimal comma, and 2 a point.",
        ),
        (
            1,
            "306: This number has a decimal point, unlike most others here.",
        ),
        (
            1,
            "463: This number has a decimal point, unlike most others here.",
        ),
        (
            1,
            "400: The number is missing here; the row is kept without it.",
        ),
        (1, "17: The decimals of this line stand behind a comma."),
        (
            1,
            "17: The text calls this rate a read throughput, and the command beside it writes: it \
             was read as a rate of writing.",
        ),
        (
            4,
            "16: The numbers disagree: 115.0 requests per second of 1325.4 ms each keep 152.4 of \
             them in the queue and the device (Little's law), and the row says 140.9.",
        ),
        (2, "25: MB of hdparm are 2^20 bytes."),
        (2, "38: K of bonnie++ are 2^10 bytes."),
        (3, "272: MB of this benchmark are 2^20 bytes."),
        (
            3,
            "281: The first synced mode has 0.44 MB/s, the others with this block size 0.47: it may \
             have met a drive that was not at work yet.",
        ),
        (
            4,
            "36: There are words in the place of a figure here: 'depends on OS, LUN disk layout, \
             raid level etc.'.",
        ),
    ] {
        assert!(
            all[document].iter().any(|note| note == said),
            "{said}: {:#?}",
            all[document]
        );
    }
    // Every strided line agrees with itself, lines 45 to 48 too.
    assert!(
        !all[0].iter().any(|note| note.contains("disagree")),
        "{:#?}",
        all[0]
    );
}
