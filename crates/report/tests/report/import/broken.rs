//! Input that is no document.

use super::{DOCUMENTS, import, notes};
use diskfacts_report::import::{ROWS_MAX, ReadError, read};
use std::io::{self, BufReader, Read};

/// Gives a piece of text again and again, so many bytes in all.
struct Again {
    text: &'static [u8],
    at: usize,
    left: u64,
}

impl Again {
    fn new(text: &'static str, bytes: u64) -> BufReader<Self> {
        BufReader::with_capacity(
            1 << 16,
            Self {
                text: text.as_bytes(),
                at: 0,
                left: bytes,
            },
        )
    }
}

impl Read for Again {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = into.len().min(self.text.len() - self.at);
        let length = length.min(usize::try_from(self.left).unwrap_or(usize::MAX));
        into[..length].copy_from_slice(&self.text[self.at..self.at + length]);
        self.at = (self.at + length) % self.text.len();
        self.left -= length as u64;
        Ok(length)
    }
}

const LINE: &str = "4096 | /dev/sda | O_DIRECT | 58.69 MB/s\n";

#[test]
fn binary_junk_is_refused_at_its_first_nul() {
    let mut bytes = DOCUMENTS[0].as_bytes().to_vec();
    bytes.extend([0x7f, b'E', b'L', b'F', 0, 0]);
    let error = read(bytes.as_slice()).unwrap_err();
    assert!(matches!(error, ReadError::Binary { line: 137 }), "{error}");
    assert!(error.to_string().contains("iconv"), "{error}");
}

#[test]
fn what_gzip_wrote_is_told_as_that() {
    // Its NULs come later, or not in the first line.
    let error = read([0x1f, 0x8b, 8, 8, b'\n', 0].as_slice()).unwrap_err();
    assert!(matches!(error, ReadError::Gzip), "{error}");
    assert!(error.to_string().contains("zcat FILE | diskfacts import -"));
}

#[test]
fn an_empty_document_has_no_rows_and_no_notes() {
    assert_eq!(import("").lines, 0);
    let document = import("\n\nMerely prose.\n");
    assert_eq!(
        (document.lines, document.rows.len(), document.notes.len()),
        (3, 0, 0)
    );
}

#[test]
fn crlf_a_byte_order_mark_and_latin_1_are_read() {
    let windows = format!("\u{feff}{}", DOCUMENTS[3].replace('\n', "\r\n"));
    assert_eq!(import(&windows).rows.len(), 294);
    let first = import(&format!("\u{feff}{LINE}"));
    assert_eq!(first.rows.len(), 1);

    let mut latin: Vec<u8> = b"Messung f\xfcr \xb5s\n".to_vec();
    latin.extend(LINE.as_bytes());
    let document = read(latin.as_slice()).unwrap();
    assert_eq!(document.rows.len(), 1);
    assert_eq!(
        notes(&document)[0],
        "1: This line is not UTF-8; it was read as Latin-1."
    );
}

#[test]
fn a_table_that_is_cut_short_is_told_with_its_line() {
    let document = import(
        "Device: rrqm/s wrqm/s r/s w/s rkB/s wkB/s avgrq-sz avgqu-sz await r_await w_await svctm %util\n\
         sda 0.00 14098.00 0.00 115.00\n",
    );
    assert_eq!(document.rows.len(), 0);
    let said = notes(&document);
    assert!(
        said[1].starts_with("2: A row of a table was not understood, column 30: expected a value for rkB/s, but the line ends"),
        "{said:?}"
    );
    assert_eq!(said[0], "1: A table of iostat begins here and has no row.");
    let cut = DOCUMENTS[0].lines().nth(2).unwrap();
    let said = notes(&import(&cut[..80]));
    assert!(said.is_empty() || said[0].starts_with("1: "), "{said:?}");
    let said = notes(&import(&cut.replace("skip:128 blocks, ", "")));
    assert!(
        said[0].contains("looks like a measurement") && said[0].contains("'skip:'"),
        "{said:?}"
    );
}

#[test]
fn a_line_of_a_gigabyte_and_many_lines_take_no_more_memory_than_their_rows() {
    // Nothing of a line is kept beyond 16 MiB, however long it goes on.
    let document = read(Again::new("no end of line here ", 40 << 20)).unwrap();
    assert_eq!(document.rows.len(), 0);
    assert_eq!(
        notes(&document),
        ["1: This line is longer than 16777216 bytes and was left out."]
    );

    let bytes = LINE.len() as u64 * (ROWS_MAX as u64 + 10);
    let document = read(Again::new(LINE, bytes)).unwrap();
    assert_eq!(document.rows.len(), ROWS_MAX);
    assert_eq!(document.rows_left_out, 10);

    let document = read(Again::new("a rate of 5 MB/s, but whose\n", 1 << 20)).unwrap();
    assert_eq!(document.rows.len(), 0);
    assert!(document.notes.len() <= 1000 && document.notes_left_out > 10_000);
}

#[test]
fn json_that_breaks_off_or_is_none_of_fios_is_told() {
    let document = import("{\n  \"fio version\": \"fio-3.33\",\n  \"jobs\": [\n");
    let said = notes(&document);
    assert!(said[0].contains("breaks off"), "{said:?}");
    let said = notes(&import("{ \"a\": 1 }\n"));
    assert_eq!(said, ["1: This JSON is not fio's, and was not read."]);
    let said = notes(&import(
        "{\n\"fio version\": \"fio-3.33\",\n\"jobs\": 7\n}\n",
    ));
    assert!(
        said[0].starts_with("3: This JSON of fio cannot be read"),
        "{said:?}"
    );
}

#[test]
fn the_number_of_files_that_bonnie_2_00a_prints_is_no_rate() {
    let table = |create: &str, delete: &str| {
        format!(
            "Version 2.00a       ------Sequential Create------ --------Random Create--------\n\
             vm                  -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n\
             files:max:min        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n\
             {:>19} {create}  56 +++++ +++  8192  10  8192  73 +++++ +++ {delete}   9\n",
            "8:1000:100"
        )
    };
    let document = import(&table(" 8192", " 8192"));
    assert_eq!(document.rows.len(), 1);
    let said = notes(&document);
    assert!(
        said.iter()
            .any(|note| note.starts_with("4: This row has the number of files")),
        "{said:?}"
    );
    let run = super::runs_of(&table(" 8192", " 8192")).remove(0);
    assert_eq!(run.trials.len(), 0);
    // One other number, and all of them are rates.
    let run = super::runs_of(&table("15918", " 8192")).remove(0);
    assert_eq!(run.trials.len(), 4);
    assert_eq!(run.trials[0].settings["machine"], "vm");
}
