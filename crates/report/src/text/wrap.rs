//! Breaking text into lines, by the columns that it takes.

use unicode_width::UnicodeWidthStr;

/// Columns that a text takes on a terminal (UAX #11).
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// As much of a text as fits into so many columns.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut taken = 0;
    for c in text.chars() {
        taken += columns(c.encode_utf8(&mut [0; 4]));
        if taken > width {
            break;
        }
        out.push(c);
    }
    out
}

/// Blank at which no line is broken.
const UNBROKEN: char = '\u{a0}';

/// A few words that [`wrap`] leaves on one line, as `scheduler mq-deadline`.
pub(crate) fn together(words: &str) -> String {
    const SHORT: usize = 24;
    if columns(words) > SHORT {
        return words.to_owned();
    }
    words.replace(' ', &UNBROKEN.to_string())
}

/// `text` in lines of at most `width` columns. Breaks are at spaces, but not
/// between a number and its unit, nor within a command in backticks; what is
/// wider than a line stands on a line of its own. There is always a line, an empty one for an empty text.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    wrap_from(text, width, width)
}

/// As [`wrap`], with `first` columns on the first line.
pub(crate) fn wrap_from(text: &str, first: usize, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut room = first;
    let mut used = 0;
    for piece in pieces(text) {
        let wide = columns(&piece);
        let last = lines.len() - 1;
        if used == 0 {
            lines[last] = piece;
            used = wide;
        } else if used + 1 + wide <= room {
            lines[last].push(' ');
            lines[last].push_str(&piece);
            used += 1 + wide;
        } else {
            lines.push(piece);
            room = width;
            used = wide;
        }
    }
    for line in &mut lines {
        *line = line.replace(UNBROKEN, " ");
    }
    lines
}

/// The words of a text; a number and its unit, and a command in backticks, are
/// one each.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let ticks = |text: &str| text.bytes().filter(|byte| *byte == b'`').count();
    let all = ticks(text);
    // Backticks up to here, to know which of them open and which close.
    let mut before = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let in_command = before % 2 == 1 && before < all;
        before += ticks(word);
        match pieces.last_mut() {
            Some(last)
                if in_command
                    || (last.ends_with(|c: char| c.is_ascii_digit()) && is_unit(word)) =>
            {
                last.push(' ');
                last.push_str(word);
            }
            _ => pieces.push(word.to_owned()),
        }
    }
    pieces
}

fn is_unit(word: &str) -> bool {
    const UNITS: [&str; 20] = [
        "%", "B", "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "TB", "MB/s", "MiB/s", "GiB/s",
        "IOPS", "ns", "us", "µs", "ms", "s", "min",
    ];
    UNITS.contains(&word.trim_end_matches([',', '.', ';', ':', ')']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_full_and_not_too_long() {
        assert_eq!(wrap("aaa bb c dddd", 6), ["aaa bb", "c dddd"]);
        assert_eq!(wrap("", 6), [""]);
        assert_eq!(wrap("a  b", 6), ["a b"]);
    }

    #[test]
    fn the_first_line_may_have_less_room_or_more() {
        assert_eq!(wrap_from("aaa bb c dddd", 3, 6), ["aaa", "bb c", "dddd"]);
        assert_eq!(wrap_from("aaa bb c dddd", 8, 6), ["aaa bb c", "dddd"]);
        assert_eq!(wrap_from("aaa bb", 0, 6), ["aaa", "bb"]);
    }

    #[test]
    fn a_long_word_is_not_broken() {
        assert_eq!(
            wrap("see /a/very/long/path now", 8),
            ["see", "/a/very/long/path", "now"]
        );
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        assert_eq!(wrap("took 12 ms, it", 8), ["took", "12 ms,", "it"]);
    }

    #[test]
    fn what_is_to_stay_together_does_and_is_printed_with_blanks() {
        let text = format!("ssd, {}, x", together("scheduler none"));
        assert_eq!(wrap(&text, 16), ["ssd,", "scheduler none,", "x"]);
        let long = "a description of more words than that";
        assert_eq!(together(long), long);
    }

    #[test]
    fn a_command_is_not_broken() {
        assert_eq!(
            wrap("Now type `df -h /srv`, or `df`.", 16),
            ["Now type", "`df -h /srv`, or", "`df`."]
        );
        // One that is not closed is none.
        assert_eq!(wrap("it`s not one", 6), ["it`s", "not", "one"]);
    }

    #[test]
    fn wide_characters_count_twice_and_combining_ones_not() {
        assert_eq!(wrap("磁盘 磁盘", 8), ["磁盘", "磁盘"]);
        assert_eq!(wrap("磁盘 磁盘", 9), ["磁盘 磁盘"]);
        assert_eq!(
            wrap("e\u{301}e\u{301} e\u{301}", 4),
            ["e\u{301}e\u{301} e\u{301}"]
        );
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_only_a_piece_alone_is_too_wide(text in "[a-z0-9 %.,磁]{0,80}", width in 1_usize..30) {
            let lines = wrap(&text, width);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&lines.join(" ")), words(&text));
            for line in lines {
                prop_assert!(columns(&line) <= width || pieces(&line).len() == 1, "{}", line);
            }
        }
    }
}
