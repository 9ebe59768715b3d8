//! `/proc/swaps`: which files and devices are swap (mm/swapfile.c).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::{lines, unescape, words};

/// The paths of all swap areas, in the order of the file.
pub fn parse(text: &[u8]) -> Vec<PathBuf> {
    lines(text)
        .filter_map(|line| words(line).next())
        // The heading is "Filename Type Size Used Priority"; paths are absolute.
        .filter(|name| name.starts_with(b"/"))
        .map(|name| PathBuf::from(OsString::from_vec(unescape(name))))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::parse;

    #[test]
    fn the_heading_is_no_swap_area_and_names_are_unescaped() {
        let text = b"Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n\
            /dev/dm-1                               partition\t999420\t\t0\t\t-2\n\
            /swap\\040file                          file\t\t1048572\t\t0\t\t-3\n";
        assert_eq!(
            parse(text),
            [PathBuf::from("/dev/dm-1"), PathBuf::from("/swap file")]
        );
        assert_eq!(parse(b"Filename Type\n"), Vec::<PathBuf>::new());
    }
}
