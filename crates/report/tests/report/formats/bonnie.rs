//! bonnie++'s tables and CSV, as the program printed them.

use diskfacts_report::formats::bonnie::csv::Row;
use diskfacts_report::formats::bonnie::text::{
    self, IO_TITLE, Look, files_title, is_files_columns, is_io_columns, latency_line,
};
use diskfacts_report::formats::bonnie::{Cell, Latency, LatencyUnit, Rate};

/// bonnie++ 2.00a -s 64:64k -r 16 -n 1:2000:1000:2 -c 2, in a file system in memory.
const PRINTED: &str = "\
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
otherbox  64M:64k:2  797k  57 +++++ +++ +++++ +++ 1409k  62 +++++ +++ +++++ +++
Latency               113ms    8056us    8049us   71387us      36us   44055us
Version 2.00a       ------Sequential Create------ --------Random Create--------
otherbox            -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
      1:2000:1000/2 +++++ +++ +++++ +++  1024   1 +++++ +++ +++++ +++  1024   2
Latency              8113us    4063us    8025us    8236us    4057us    8019us
";

/// bonnie++ 2.00a -s 32 -n 0 -f: without the tests by characters.
const WITHOUT_CHARACTERS: &str =
    "vm              32M           +++++ +++ +++++ +++           +++++ +++ 170.3   8";

const CSV: &str = "1.98,2.00a,otherbox,2,1795281297,64M,,8192,5,797,57,+++++,+++,+++++,+++,1409,\
                   62,+++++,+++,+++++,+++,1,2000,1000,,2,+++++,+++,+++++,+++,362,1,+++++,+++,\
                   +++++,+++,423,2,113ms,8056us,8049us,71387us,36us,44055us,8113us,4063us,8025us,\
                   8236us,4057us,8019us";

#[test]
fn tables_print_as_the_program_prints_them() {
    let lines: Vec<&str> = PRINTED.lines().collect();
    assert!(is_io_columns(lines[2]) && is_files_columns(lines[7]));
    let io = text::io(lines[3]).unwrap();
    assert_eq!(
        (io.name.as_str(), io.size.as_str()),
        ("otherbox", "64M:64k:2")
    );
    assert_eq!(io.rates[0], Rate::measured(797.0, 57.0));
    assert_eq!(io.rates[1].rate, Cell::TooShort);
    let files = text::files(lines[8]).unwrap();
    assert_eq!(files.number, "1:2000:1000/2");
    let latencies = [lines[4], lines[9]].map(|line| text::latencies(line).unwrap());
    assert_eq!(latencies[0][0].map(Latency::ns), Some(113_000_000));
    let printed = format!(
        "{IO_TITLE}{}\n{}\n{}{}\n{}\n",
        io.line(Look::Lettered),
        latency_line(&latencies[0]),
        files_title(&io.name),
        files.line(),
        latency_line(&latencies[1])
    );
    assert_eq!(printed, PRINTED);
}

#[test]
fn tests_that_were_not_made_are_blanks() {
    let io = text::io(WITHOUT_CHARACTERS).unwrap();
    assert_eq!(io.size, "32M");
    assert_eq!(io.rates[0], Rate::default());
    assert_eq!(io.rates[3], Rate::default());
    assert_eq!(io.rates[5], Rate::measured(170.3, 8.0));
    assert_eq!(io.line(Look::Lettered), WITHOUT_CHARACTERS);
    let latencies = "Latency                       13128us    4059us              4064us   36200us";
    let read = text::latencies(latencies).unwrap();
    assert_eq!(read[0], None);
    assert_eq!(read[5].map(Latency::ns), Some(36_200_000));
    assert_eq!(latency_line(&read), latencies);
}

#[test]
fn rates_have_the_letters_of_the_program() {
    for (kib, letters) in [
        (9999.9, "9999k"),
        (10_240.0, "10.0m"),
        (121_856.0, " 119m"),
        (1_258_291.2, " 1.2g"),
    ] {
        let rates = [Rate::measured(kib, 1.0); 6];
        let line = text::Io {
            name: "m".into(),
            size: "2G".into(),
            rates,
        };
        let line = line.line(Look::Lettered);
        assert_eq!(&line[20..25], letters);
        let again = text::io(&line).unwrap();
        assert_eq!(again.line(Look::Lettered), line);
    }
}

#[test]
fn the_csv_has_fifty_fields_and_prints_as_it_stands() {
    let row: Row = CSV.parse().unwrap();
    assert_eq!(CSV.split(',').count(), 50);
    assert_eq!(row.to_string(), CSV);
    assert_eq!(row.conditions.max_size, "2000");
    assert_eq!(row.files[2], Rate::measured(362.0, 1.0));
    assert_eq!(
        row.latencies[0].map(|l| l.unit),
        Some(LatencyUnit::Milliseconds)
    );
}

#[test]
fn the_csv_of_older_versions_is_read() {
    let old = "srv,2G,800,92,108776,14,103820,11,3276,76,606148,23,170.3,8,16,1001,99,+++++,+++,\
               3000,97,1100,99,5000,98,2000,90";
    let row: Row = old.parse().unwrap();
    assert_eq!(
        (
            row.conditions.name.as_str(),
            row.conditions.file_size.as_str()
        ),
        ("srv", "2G")
    );
    assert_eq!(row.io[5], Rate::measured(170.3, 8.0));
    assert_eq!(row.files[5], Rate::measured(2000.0, 90.0));
    let without_seeks = CSV.replacen(",8192,5,", ",", 1);
    let row: Row = without_seeks
        .replacen("1.98,2.00a", "1.96,1.96", 1)
        .parse()
        .unwrap();
    assert_eq!(row.io[0], Rate::measured(797.0, 57.0));
    assert_eq!(row.conditions.num_files, "1");
}

#[test]
fn a_csv_that_breaks_off_is_not_read() {
    let cut = CSV.rsplit_once(',').unwrap().0;
    let error = cut.parse::<Row>().unwrap_err().to_string();
    assert!(error.contains("found '49 fields'"), "{error}");
    let error = CSV.replace(",797,", ",fast,").parse::<Row>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "column 46: expected a rate, found 'fast'"
    );
}

#[test]
fn a_table_of_1_96_is_read_by_its_words() {
    let line = "localhost        2G   491  93 108776  14 103820  11  3276  76 606148  23 170.3   8";
    let io = text::io(line).unwrap();
    assert_eq!((io.name.as_str(), io.size.as_str()), ("localhost", "2G"));
    assert_eq!(io.rates[1], Rate::measured(108_776.0, 14.0));
    assert!(text::io("Raid6 800 92 108776").is_err());
    assert!(text::files("many 1 2 3 4 5 6 7 8 9 10 11 12").is_err());
}
