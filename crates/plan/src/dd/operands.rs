//! The operands of `diskfacts dd`: `if=/dev/zero bs=1M count=4k oflag=direct`.

use super::{BLOCK_BYTES_MAX, Count, Dd, FinalSync, Number, StatusLines, number};
use crate::file::nearest;
use thiserror::Error;

/// Why the operands are not those of a copy that can be made here; a sentence
/// without its full stop, with what to type.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct OperandError(pub String);

const OPERANDS: [&str; 10] = [
    "if", "of", "bs", "count", "skip", "seek", "iflag", "oflag", "conv", "status",
];

/// Operands of GNU dd that are refused, and why.
const REFUSED: [(&str, &str); 3] = [
    (
        "ibs",
        "one block size is measured at a time; bs= sets it for both sides",
    ),
    (
        "obs",
        "one block size is measured at a time; bs= sets it for both sides",
    ),
    ("cbs", "data are copied as they are, and not converted"),
];

/// Names of the standard streams. On Linux they are links to what is open already,
/// and a pipe has no other name: opening them again would begin a file anew that the
/// shell has placed (`>>`).
const STANDARD_INPUT: [&str; 4] = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
const STANDARD_OUTPUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

const INPUT_FLAGS: [&str; 7] = [
    "direct",
    "dsync",
    "sync",
    "nocache",
    "fullblock",
    "skip_bytes",
    "count_bytes",
];
const OUTPUT_FLAGS: [&str; 5] = ["direct", "dsync", "sync", "nocache", "seek_bytes"];

/// Flags of GNU dd that are refused, and why.
const REFUSED_FLAGS: [(&str, &str); 10] = [
    (
        "append",
        "writing behind what a file holds measures where that ends; name a new file",
    ),
    ("cio", "Linux has no concurrent I/O mode of that name"),
    ("directory", "a folder can be neither read nor written"),
    (
        "nonblock",
        "what cannot be read yet would count as an error",
    ),
    (
        "noatime",
        "times of access cost nothing that would be measured",
    ),
    (
        "nolinks",
        "it exists on few systems, and Linux is none of them",
    ),
    (
        "noctty",
        "no terminal is opened as one that controls anything",
    ),
    ("nofollow", "name the file itself instead of a link to it"),
    ("binary", "files are not opened as text or binary here"),
    ("text", "files are not opened as text or binary here"),
];

const CONVERSIONS: [&str; 3] = ["fsync", "fdatasync", "notrunc"];

/// Conversions of GNU dd that are refused, and why.
const REFUSED_CONVERSIONS: [(&str, &str); 15] = [
    ("ascii", CONVERTS),
    ("ebcdic", CONVERTS),
    ("ibm", CONVERTS),
    ("block", CONVERTS),
    ("unblock", CONVERTS),
    ("lcase", CONVERTS),
    ("ucase", CONVERTS),
    ("swab", CONVERTS),
    (
        "sync",
        "padding short blocks would be measured; iflag=fullblock reads whole ones",
    ),
    (
        "sparse",
        "blocks that are not written would count as written",
    ),
    (
        "noerror",
        "a figure that goes over errors says nothing of the disk; ddrescue saves data",
    ),
    (
        "excl",
        "an output that exists is refused anyway, unless --destroy-data-on names it",
    ),
    (
        "nocreat",
        "an output that exists is named with --destroy-data-on, and no other is made then",
    ),
    ("noxfer", "that is status=noxfer"),
    ("none", "that is status=none"),
];
const CONVERTS: &str = "data are copied as they are, and not converted";

/// Reads operands in any order; of several that set the same, the last one
/// counts, but flags and conversions add up, as in GNU dd.
///
/// # Errors
/// The first operand that is not understood, or refused, with the reason.
pub fn parse<S: AsRef<str>>(words: &[S]) -> Result<Dd, OperandError> {
    let mut read = Read::default();
    for word in words {
        read.operand(word.as_ref())?;
    }
    read.finish()
}

fn error<T>(message: String) -> Result<T, OperandError> {
    Err(OperandError(message))
}

/// What was read so far.
#[derive(Default)]
struct Read {
    dd: Dd,
    bs: Option<u64>,
    skip: Option<Number>,
    seek: Option<Number>,
    count: Option<Number>,
    skip_bytes: bool,
    seek_bytes: bool,
    count_bytes: bool,
}

impl Read {
    fn operand(&mut self, word: &str) -> Result<(), OperandError> {
        let Some((name, value)) = word.split_once('=') else {
            return error(format!(
                "'{word}' is no operand: dd takes NAME=VALUE, as in if=/dev/zero of=FILE bs=1M \
                 count=1024"
            ));
        };
        if let Some((_, why)) = REFUSED.iter().find(|(known, _)| *known == name) {
            return error(format!("{name}= is not done here: {why}"));
        }
        match name {
            "if" => self.dd.input = file(value, &STANDARD_INPUT),
            "of" => self.dd.output = file(value, &STANDARD_OUTPUT),
            "bs" => self.bs = Some(block_size(value)?),
            // GNU calls these also iseek= and oseek=, since coreutils 9.1.
            "skip" | "iseek" => self.skip = Some(amount(name, value)?),
            "seek" | "oseek" => self.seek = Some(amount(name, value)?),
            "count" => self.count = Some(amount(name, value)?),
            "iflag" => each(value, |flag| self.input_flag(flag))?,
            "oflag" => each(value, |flag| self.output_flag(flag))?,
            "conv" => each(value, |conversion| self.conversion(conversion))?,
            "status" => match value {
                "none" => self.dd.status = StatusLines::None,
                "noxfer" => self.dd.status = StatusLines::Noxfer,
                // Progress is shown on a terminal anyway.
                "progress" => self.dd.status = StatusLines::All,
                _ => {
                    return error(format!(
                        "status={value}: no such level; known are none, noxfer and progress"
                    ));
                }
            },
            _ => {
                let hint = nearest(name, &OPERANDS)
                    .map_or_else(String::new, |near| format!("did you mean {near}=? "));
                return error(format!(
                    "there is no operand '{name}='; {hint}Known are {}=",
                    OPERANDS.join("=, ")
                ));
            }
        }
        Ok(())
    }

    fn input_flag(&mut self, flag: &str) -> Result<(), OperandError> {
        let flags = &mut self.dd.input_flags;
        match flag {
            "direct" => flags.direct = true,
            "dsync" => flags.dsync = true,
            "sync" => flags.sync = true,
            "nocache" => flags.nocache = true,
            "fullblock" => flags.fullblock = true,
            "skip_bytes" => self.skip_bytes = true,
            "count_bytes" => self.count_bytes = true,
            _ => return unknown("iflag", "flag", flag, &INPUT_FLAGS, &REFUSED_FLAGS),
        }
        Ok(())
    }

    fn output_flag(&mut self, flag: &str) -> Result<(), OperandError> {
        let flags = &mut self.dd.output_flags;
        match flag {
            "direct" => flags.direct = true,
            "dsync" => flags.dsync = true,
            "sync" => flags.sync = true,
            "nocache" => flags.nocache = true,
            "seek_bytes" => self.seek_bytes = true,
            "fullblock" => {
                return error("oflag=fullblock: writes are always whole; iflag= has it".into());
            }
            _ => return unknown("oflag", "flag", flag, &OUTPUT_FLAGS, &REFUSED_FLAGS),
        }
        Ok(())
    }

    fn conversion(&mut self, conversion: &str) -> Result<(), OperandError> {
        match conversion {
            // Of both, dd does the more thorough one.
            "fsync" => self.dd.final_sync = FinalSync::Fsync,
            "fdatasync" => {
                if self.dd.final_sync != FinalSync::Fsync {
                    self.dd.final_sync = FinalSync::Fdatasync;
                }
            }
            "notrunc" => self.dd.keeps_length = true,
            _ => {
                let refused = &REFUSED_CONVERSIONS;
                return unknown("conv", "conversion", conversion, &CONVERSIONS, refused);
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Dd, OperandError> {
        let mut dd = self.dd;
        dd.gathers = self.bs.is_none();
        if let Some(bs) = self.bs {
            dd.block_size = bs;
        }
        let bs = dd.block_size;
        dd.skip_bytes = place("skip", self.skip, self.skip_bytes, bs)?;
        dd.seek_bytes = place("seek", self.seek, self.seek_bytes, bs)?;
        dd.count = match self.count {
            Some(count) if self.count_bytes || count.in_bytes => Some(Count::Bytes(count.value)),
            Some(count) => {
                place("count", Some(count), false, bs)?;
                Some(Count::Blocks(count.value))
            }
            None => None,
        };
        for (side, flags) in [("iflag", dd.input_flags), ("oflag", dd.output_flags)] {
            if flags.direct && flags.nocache {
                return error(format!(
                    "{side}=direct,nocache: direct I/O leaves nothing in the page cache to drop; \
                     name one of the two"
                ));
            }
        }
        Ok(dd)
    }
}

/// Each of several words between commas.
fn each(
    value: &str,
    mut take: impl FnMut(&str) -> Result<(), OperandError>,
) -> Result<(), OperandError> {
    value.split(',').try_for_each(&mut take)
}

fn unknown(
    operand: &str,
    what: &str,
    word: &str,
    known: &[&str],
    refused: &[(&str, &str)],
) -> Result<(), OperandError> {
    if let Some((_, why)) = refused.iter().find(|(name, _)| *name == word) {
        return error(format!("{operand}={word} is not done here: {why}"));
    }
    let hint =
        nearest(word, known).map_or_else(String::new, |near| format!("did you mean {near}? "));
    error(format!(
        "{operand}={word}: there is no such {what}; {hint}Known are {}",
        known.join(", ")
    ))
}

fn amount(name: &str, value: &str) -> Result<Number, OperandError> {
    number(value).map_or_else(
        || {
            error(format!(
                "{name}={value}: '{value}' is not a dd number, or is above 2^63 - 1: write 4096, 4k, \
                 1M, 2x512 (binary) or 4kB, 1MB (powers of 1000)"
            ))
        },
        Ok,
    )
}

fn block_size(value: &str) -> Result<u64, OperandError> {
    match amount("bs", value)?.value {
        0 => error(format!(
            "bs={value}: a block of 0 bytes copies nothing; bs=1M is usual"
        )),
        size if size > BLOCK_BYTES_MAX => error(format!(
            "bs={value}: a block is at most 1 GiB here; copy more of them with count="
        )),
        size => Ok(size),
    }
}

/// Bytes of a number of blocks or of bytes.
fn place(
    name: &str,
    given: Option<Number>,
    in_bytes: bool,
    block_size: u64,
) -> Result<u64, OperandError> {
    let Some(number) = given else { return Ok(0) };
    let unit = if in_bytes || number.in_bytes {
        1
    } else {
        block_size
    };
    let bytes = number.value.checked_mul(unit);
    // Offsets of files are signed.
    match bytes.filter(|bytes| i64::try_from(*bytes).is_ok()) {
        Some(bytes) => Ok(bytes),
        None => error(format!(
            "{name}={}: so many blocks of {block_size} bytes are more than any file has, 2^63 - 1 \
             bytes; a B behind the number means bytes instead of blocks",
            number.value
        )),
    }
}

/// The file that an operand names; `None` for a standard stream.
fn file(value: &str, stream: &[&str]) -> Option<String> {
    (!stream.contains(&value)).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Dd {
        let words: Vec<&str> = text.split_whitespace().collect();
        parse(&words).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn refused(text: &str) -> String {
        let words: Vec<&str> = text.split_whitespace().collect();
        match parse(&words) {
            Ok(dd) => panic!("{text} was taken for {dd:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_commands_of_the_seeds_are_understood() {
        let dd = read("if=/dev/zero of=dev_name bs=16k count=655360");
        assert_eq!(dd.input.as_deref(), Some("/dev/zero"));
        assert_eq!(dd.output.as_deref(), Some("dev_name"));
        assert_eq!(
            (dd.block_size, dd.count),
            (16 << 10, Some(Count::Blocks(655_360)))
        );
        assert_eq!(dd.bytes_max(), Some(10 << 30));
        let dd = read("if=/dev/sdb2 of=/dev/null bs=4k count=1M iflag=direct");
        assert!(dd.input_flags.direct && !dd.output_flags.direct);
        assert_eq!(dd.bytes_max(), Some(4 << 30));
    }

    #[test]
    fn the_names_of_the_standard_streams_mean_what_is_open_already() {
        for (input, output) in STANDARD_INPUT.iter().zip(STANDARD_OUTPUT) {
            let dd = read(&format!("if={input} of={output}"));
            assert_eq!((dd.input, dd.output), (None, None), "{input} {output}");
        }
        let crossed = read("if=/dev/stdout of=/dev/stdin");
        assert_eq!(crossed.input.as_deref(), Some("/dev/stdout"));
        assert_eq!(crossed.output.as_deref(), Some("/dev/stdin"));
    }

    #[test]
    fn a_b_and_the_byte_flags_count_bytes() {
        for text in [
            "bs=4k skip=100B seek=200B count=300B",
            "bs=4k skip=100 seek=200 count=300 iflag=skip_bytes,count_bytes oflag=seek_bytes",
        ] {
            let dd = read(text);
            assert_eq!((dd.skip_bytes, dd.seek_bytes), (100, 200), "{text}");
            assert_eq!(dd.count, Some(Count::Bytes(300)), "{text}");
        }
        let dd = read("bs=4k skip=3 seek=2 count=1");
        assert_eq!((dd.skip_bytes, dd.seek_bytes), (12 << 10, 8 << 10));
        // A number in front of the block size that it is multiplied by.
        assert_eq!(read("skip=2 bs=1k").skip_bytes, 2048);
        assert_eq!(read("skip=2").skip_bytes, 1024);
    }

    #[test]
    fn what_is_given_twice_counts_once_and_flags_add_up() {
        let dd = read("bs=1k bs=2k oflag=dsync oflag=direct conv=fsync conv=fdatasync,notrunc");
        assert_eq!(dd.block_size, 2048);
        assert!(dd.output_flags.dsync && dd.output_flags.direct && dd.keeps_length);
        assert_eq!(dd.final_sync, FinalSync::Fsync);
        assert!(!dd.gathers && read("count=1").gathers);
    }

    #[test]
    fn what_cannot_be_done_is_refused_by_name_with_what_to_type() {
        for (text, wanted) in [
            ("if", "NAME=VALUE"),
            ("bs=0", "bs=1M is usual"),
            ("bs=2G", "at most 1 GiB"),
            ("bs=4q", "'4q' is not a dd number"),
            ("count=-1", "is not a dd number"),
            ("blocksize=4k", "there is no operand 'blocksize='"),
            ("cuont=1", "did you mean count=?"),
            ("ibs=4k", "ibs= is not done here"),
            ("conv=swab", "data are copied as they are"),
            ("conv=noerror", "ddrescue"),
            ("conv=fsnyc", "did you mean fsync?"),
            ("oflag=append", "name a new file"),
            ("oflag=fullblock", "iflag= has it"),
            ("iflag=seek_bytes", "there is no such flag"),
            ("oflag=dierct", "did you mean direct?"),
            ("iflag=", "there is no such flag"),
            ("oflag=direct,nocache", "name one of the two"),
            ("status=loud", "none, noxfer and progress"),
            ("seek=9E bs=1k", "is not a dd number"),
            ("seek=4E bs=1k", "more than any file has"),
            ("count=4E bs=1k", "more than any file has"),
        ] {
            let said = refused(text);
            assert!(said.contains(wanted), "{text}: {said}");
        }
    }
}
