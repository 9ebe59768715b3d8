//! iostat's lines, of two systems.

use diskfacts_report::formats::iostat_linux::Columns;
use diskfacts_report::formats::iostat_solaris;

#[test]
fn the_columns_of_today_are_read_as_those_of_old() {
    let names = "Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     \
                 wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await \
                 dareq-sz     f/s f_await  aqu-sz  %util";
    let columns: Columns = names.parse().unwrap();
    assert_eq!(columns.names().len(), 22);
    let row = columns
        .row(
            "loop0          415.22  13801.18     0.07   0.02    0.13    33.24  107.32  13204.54  \
             1251.71  92.10    0.90   123.04    0.05   2539.54     0.00   0.00    0.34 51284.60    \
             9.38    1.00    0.16   2.09",
        )
        .unwrap();
    assert_eq!(row.device, "loop0");
    assert_eq!(columns.value(&row, "r/s"), Some(415.22));
    assert_eq!(columns.value(&row, "aqu-sz"), Some(0.16));
    assert_eq!(columns.value(&row, "svctm"), None);
}

#[test]
fn a_row_with_a_value_too_few_names_the_column() {
    let columns = Columns::old();
    let error = columns.row("sda 0.00 1.00").unwrap_err();
    assert_eq!(
        error.to_string(),
        "column 14: expected a value for r/s, but the line ends"
    );
    assert!(columns.row("sda 0 0 0 0 0 0 0 0 0 0 0 0 0 0").is_err());
    assert!("Device: of my choice".parse::<Columns>().is_err());
    assert!("Device:".parse::<Columns>().is_err());
    assert!("Device: r/s r/s".parse::<Columns>().is_err());
}

#[test]
fn a_comma_locale_is_read() {
    let columns: Columns = "Device r/s w/s".parse().unwrap();
    let row = columns.row("sda 1,50 2,00").unwrap();
    assert_eq!(row.values, [1.5, 2.0]);
}

#[test]
fn solaris_counts_in_kilobytes_without_its_option() {
    let names = "    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device";
    assert_eq!(
        iostat_solaris::Unit::of_columns(names),
        Some(iostat_solaris::Unit::Kib)
    );
    let row: Result<iostat_solaris::Row, _> = "0.0 1.0 0.0 1.0 0.0 0.9 0.0 0.3 3 c0t0d0".parse();
    assert!(row.is_err());
}
