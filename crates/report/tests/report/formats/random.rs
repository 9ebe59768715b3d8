//! What is printed reads back as the same row, over random values.

use diskfacts_plan::WriteMode;
use diskfacts_report::formats::bonnie::csv::Conditions;
use diskfacts_report::formats::bonnie::text::{self, Look};
use diskfacts_report::formats::bonnie::{Cell, Latency, LatencyUnit, Rate, csv};
use diskfacts_report::formats::{
    dd, hdparm, iostat_linux, iostat_solaris, percent_g, readahead, stride, write_matrix,
};
use proptest::prelude::*;

/// A number with so many decimals.
fn decimal(decimals: u32) -> impl Strategy<Value = f64> {
    (0_u64..1_000_000_000_000).prop_map(move |n| n as f64 / f64::from(10_u32.pow(decimals)))
}

fn name() -> impl Strategy<Value = String> {
    "[A-Za-z_/][A-Za-z0-9_./-]{0,20}"
}

fn mark() -> impl Strategy<Value = dd::DecimalMark> {
    prop_oneof![Just(dd::DecimalMark::Point), Just(dd::DecimalMark::Comma)]
}

fn rate() -> impl Strategy<Value = dd::Rate> {
    let tenths = (0_u32..1000).prop_map(|n| (f64::from(n) / 10.0, 1));
    let whole = (100_u32..=1000).prop_map(|n| (f64::from(n), 0));
    (prop_oneof![tenths, whole], 0_u32..=8).prop_map(|((value, decimals), power)| dd::Rate {
        value,
        decimals,
        power,
    })
}

prop_compose! {
    fn strided()(
        place in prop_oneof![Just(None), Just(Some(stride::Place::Ext)), Just(Some(stride::Place::Raw))],
        op in prop_oneof![Just(stride::Op::Read), Just(stride::Op::Write), Just(stride::Op::Modify)],
        fraction in 1_u64..100_000,
        log2_bytes in 0_u32..64,
        block_size in 1_u64..1 << 40,
        skip_blocks in 1_u64..1 << 40,
        seconds in decimal(2),
        span_mib_per_s in decimal(3),
        real_mib_per_s in decimal(3),
        seeks_per_s in decimal(3),
        suffix in prop_oneof![
            Just(None),
            Just(Some(stride::Suffix::Fixed)),
            Just(Some(stride::Suffix::NotFixed)),
            "/[a-z0-9/ ]{0,20}[a-z]".prop_map(|place| Some(stride::Suffix::At(place))),
        ],
    ) -> stride::Row {
        stride::Row {
            place, op, fraction, total_mib: (1 << log2_bytes) >> 20, log2_bytes, block_size,
            skip_blocks, seconds, span_mib_per_s, real_mib_per_s, seeks_per_s, suffix,
        }
    }
}

fn cell(decimals: u32) -> impl Strategy<Value = Cell> {
    let number = (0_u32..100_000).prop_map(move |n| f64::from(n) / f64::from(10_u32.pow(decimals)));
    prop_oneof![
        Just(Cell::NotMeasured),
        Just(Cell::TooShort),
        number.prop_map(Cell::Measured),
    ]
}

/// A rate without decimals; blank only with its %CP.
fn cells() -> impl Strategy<Value = Rate> {
    prop_oneof![
        Just(Rate::default()),
        (0_u32..100_000, 0_u32..100).prop_map(|(r, c)| Rate::measured(r.into(), c.into())),
        Just(Rate {
            rate: Cell::TooShort,
            cpu_percent: Cell::TooShort
        }),
    ]
}

fn latency() -> impl Strategy<Value = Option<Latency>> {
    let unit = prop_oneof![
        Just(LatencyUnit::Microseconds),
        Just(LatencyUnit::Milliseconds),
        Just(LatencyUnit::Seconds),
    ];
    proptest::option::of((0_u64..100_000, unit).prop_map(|(value, unit)| Latency { value, unit }))
}

proptest! {
    #[test]
    fn a_strided_line(row in strided()) {
        prop_assert_eq!(row.to_string().parse(), Ok(row));
    }

    #[test]
    fn a_strided_line_whose_numbers_are_worked_out(
        row in strided(), operations in 1_u64..1 << 40, hundredths in 1_u32..1_000_000,
    ) {
        let row = stride::Row { seconds: f64::from(hundredths) / 100.0, ..row };
        let printed = row.worked_out(operations).to_string();
        let read: stride::Row = printed.parse().unwrap();
        prop_assert_eq!(read.to_string(), printed);
    }

    #[test]
    fn a_header_of_strided_lines(
        offset0: u64, access: bool, fixed: bool, val: bool,
    ) {
        let header = stride::Header { offset0, access, fixed, val };
        prop_assert_eq!(header.to_string().parse(), Ok(header));
    }

    #[test]
    fn a_summary_of_dd(bytes: u64, ns in 0_u64..1 << 60) {
        let summary = dd::Summary::of(bytes, ns);
        prop_assert_eq!(summary.to_string().parse(), Ok(summary));
    }

    #[test]
    fn a_summary_of_dd_in_the_other_forms(
        bytes in 1024_u64.., nanoseconds in 1_u64..1 << 60, rate in rate(), mark in mark(), both: bool,
    ) {
        let seconds: f64 = percent_g(nanoseconds as f64 / 1e9).parse().unwrap();
        let form = if both { dd::Form::Both } else { dd::Form::Decimal };
        let summary = dd::Summary { bytes, form, seconds, rate: Some(rate), mark };
        let read: dd::Summary = summary.to_string().parse().unwrap();
        // A line without decimals does not say which mark it would have.
        prop_assert_eq!(dd::Summary { mark, ..read }, summary);
        prop_assert_eq!(read.to_string().parse(), Ok(read));
    }

    #[test]
    fn the_rate_of_dd_is_within_half_of_its_last_digit(
        bytes in 1_u64..1 << 50, ns in 1_u64..1 << 50,
    ) {
        let rate = dd::Rate::of(bytes, ns).unwrap();
        let exact = bytes as f64 / (ns as f64 / 1e9);
        let last = 1000_f64.powi(rate.power.cast_signed()) / if rate.decimals == 1 { 10.0 } else { 1.0 };
        prop_assert!((rate.bytes_per_s() - exact).abs() <= last * 0.500_001);
    }

    #[test]
    fn records_of_dd(whole: u64, partial: u64, read: bool) {
        let direction = if read { dd::Direction::In } else { dd::Direction::Out };
        let records = dd::Records { whole, partial, direction };
        prop_assert_eq!(records.to_string().parse(), Ok(records));
    }

    #[test]
    fn a_repeat_of_dd(
        label in proptest::char::range('a', 'z'), rate in proptest::option::of(rate()), mark in mark(),
    ) {
        let row = dd::Repeat { label, rate, mark };
        let read: dd::Repeat = row.to_string().parse().unwrap();
        prop_assert_eq!(dd::Repeat { mark, ..read }, row);
        let told = rate.is_some_and(|rate| rate.decimals > 0);
        prop_assert_eq!(read.mark, if told { mark } else { dd::DecimalMark::Point });
    }

    #[test]
    fn a_line_of_hdparm(
        disk: bool, direct: bool, offset_gib in proptest::option::of(0_u64..100_000),
        mib in 0_u64..1_000_000, seconds in decimal(2), rate in decimal(2), kb: bool,
    ) {
        let row = hdparm::Row {
            timed: if disk { hdparm::Timed::Disk } else { hdparm::Timed::Cached },
            direct,
            offset_gib: offset_gib.filter(|_| disk),
            mib, seconds, rate,
            unit: if kb { hdparm::Unit::Kb } else { hdparm::Unit::Mb },
        };
        prop_assert_eq!(row.to_string().parse(), Ok(row));
    }

    #[test]
    fn a_line_of_the_write_matrix(
        block_size in 1_u64.., target in "[^|\r\n]{0,20}x", rank in 0_usize..21, mib_per_s in decimal(2),
    ) {
        let mode = WriteMode::all().nth(rank).unwrap();
        let row = write_matrix::Row { block_size, target, mode, mib_per_s };
        prop_assert_eq!(row.to_string().parse(), Ok(row));
    }

    #[test]
    fn a_line_of_the_read_ahead_trace(
        pattern in "[a-z0-9]{1,10}", pid: u64, comm in "[^()\r\n]{0,15}", device in (0_u32..4096, 0_u32..1 << 20),
        device_name in "[^()\r\n]{0,15}", inode: u64, file in "[^()\r\n]{0,15}",
        request in (any::<u64>(), any::<u64>()), start_page: u64,
        sizes in (any::<i64>(), any::<i64>(), any::<i64>()), asynchronous: bool,
    ) {
        let row = readahead::Trace {
            pattern, pid, comm, device, device_name, inode, file,
            request_page: request.0, request_pages: request.1, start_page,
            size_pages: sizes.0, async_pages: sizes.1, actual_pages: sizes.2, asynchronous,
        };
        prop_assert_eq!(row.to_string().parse(), Ok(row));
    }

    #[test]
    fn a_line_of_the_read_ahead_table(
        pattern in 0_usize..14, numbers: [Option<u64>; 6],
    ) {
        let pattern = readahead::PATTERNS[pattern];
        let [count, sync_count, eof_count, size_pages, async_pages, actual_pages] = numbers;
        let row = readahead::Statistics {
            pattern, count, sync_count, eof_count, size_pages, async_pages, actual_pages,
        };
        prop_assert_eq!(row.to_string().parse(), Ok(row));
    }

    #[test]
    fn a_row_of_linux_iostat(
        device in name(), which in 0_usize..3, values in proptest::collection::vec(decimal(2), 22),
    ) {
        let columns = [
            iostat_linux::Columns::old(), iostat_linux::Columns::extended(), iostat_linux::Columns::basic(),
        ][which].clone();
        let mut values = values[..columns.names().len()].to_vec();
        if which == 2 {
            // Its sums are whole kilobytes.
            values[4..].iter_mut().for_each(|value| *value = value.trunc());
        }
        let row = iostat_linux::Row { device, values };
        prop_assert_eq!(columns.row(&row.to_string()), Ok(row.clone()));
        prop_assert_eq!(columns.row(&columns.aligned(&row)), Ok(row));
        prop_assert_eq!(columns.aligned_names().parse(), Ok(columns.clone()));
        prop_assert_eq!(columns.to_string().parse(), Ok(columns));
    }

    #[test]
    fn a_row_of_solaris_iostat(
        device in name(), n in proptest::array::uniform8(decimal(1)), percent in (0_u64..=100, 0_u64..=100),
        waits in any::<bool>(),
    ) {
        let row = iostat_solaris::Row {
            reads_per_s: n[0], writes_per_s: n[1], data_read_per_s: n[2], data_written_per_s: n[3],
            wait: waits.then_some(n[4]), actv: n[5], wsvc_t_ms: waits.then_some(n[6]), asvc_t_ms: n[7],
            percent_waiting: waits.then_some(percent.0), percent_busy: percent.1, device,
        };
        prop_assert_eq!(row.to_string().parse(), Ok(row.clone()));
        prop_assert_eq!(row.aligned().parse(), Ok(row));
    }

    #[test]
    fn a_csv_of_bonnie(
        name in "[a-z0-9 ]{0,12}", size in "[0-9]{0,4}[MG]?", seeks in cell(1), seeks_cpu in cell(0),
        io in proptest::array::uniform6((cell(0), cell(0))), files in proptest::array::uniform6((cell(0), cell(0))),
        latencies in proptest::collection::vec(latency(), 12),
    ) {
        let rate = |(rate, cpu_percent)| Rate { rate, cpu_percent };
        let mut row = csv::Row {
            io: io.map(rate),
            files: files.map(rate),
            latencies: latencies.try_into().unwrap(),
            ..csv::Row::of_today()
        };
        row.conditions = Conditions { name, file_size: size, ..row.conditions };
        row.io[5] = rate((seeks, seeks_cpu));
        let printed = row.to_string();
        prop_assert_eq!(printed.split(',').count(), 50);
        let read: csv::Row = printed.parse().unwrap();
        // Seeks from 1000 on are printed without their decimal.
        if row.io[5].rate.value().is_none_or(|seeks| seeks < 1000.0) {
            prop_assert_eq!(&read, &row);
        }
        prop_assert_eq!(read.to_string(), printed);
    }

    #[test]
    fn a_table_of_bonnie(
        name in "[a-z][a-z0-9]{0,8}", size in "[1-9][0-9]{0,3}[MG]", rates in proptest::array::uniform6(cells()),
    ) {
        let line = text::Io { name, size, rates }.line(Look::Lettered);
        let read = text::io(&line);
        if rates.iter().any(|rate| rate.rate != Cell::NotMeasured) {
            // Rates are cut to their letter, so it is the line that is the same.
            prop_assert_eq!(read.unwrap().line(Look::Lettered), line);
        }
    }

    #[test]
    fn a_table_of_bonnie_as_it_is_edited_for_a_page(
        name in "[A-Z][a-z0-9]{0,8}( SSD)?",
        rates in proptest::array::uniform6((0_u32..1_000_000, 0_u32..=400)),
    ) {
        let mut row = text::Io { name, size: String::new(), rates: rates.map(|(r, c)| Rate::measured(r.into(), c.into())) };
        row.rates[5] = Rate::measured(f64::from(rates[5].0) / 10.0, rates[5].1.into());
        prop_assert_eq!(text::io(&row.line(Look::Edited)), Ok(row));
    }

    #[test]
    fn a_table_of_files_of_bonnie(number in "[1-9][0-9]{0,3}(:[0-9]{1,5})?", rates in proptest::array::uniform6(cells())) {
        let row = text::Files { number, rates };
        if rates.iter().any(|rate| rate.rate != Cell::NotMeasured) {
            prop_assert_eq!(text::files(&row.line()), Ok(row));
        }
    }

    #[test]
    fn latencies_below_a_table_of_bonnie(latencies in proptest::array::uniform6(latency())) {
        if latencies.iter().any(Option::is_some) {
            prop_assert_eq!(text::latencies(&text::latency_line(&latencies)), Ok(latencies));
        }
    }
}
