//! SCSI vital product data page 0x80: the unit's serial number (SPC-4, 7.8.14).

use super::device_text;

/// The serial number of an `INQUIRY` answer for page 0x80, or of the file
/// `vpd_pg80` in Linux's sysfs; `None` when the bytes are another page or hold
/// only blanks.
///
/// Byte 1 is the page's code, bytes 2 and 3 its length, big-endian; the text
/// follows. A device that gives fewer bytes than it says is believed as far as
/// it goes.
pub fn parse(page: &[u8]) -> Option<String> {
    let [_device_type, 0x80, high, low, text @ ..] = page else {
        return None;
    };
    let length = usize::from(u16::from_be_bytes([*high, *low])).min(text.len());
    device_text(&text[..length])
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_serial_number_is_trimmed() {
        let page = b"\x00\x80\x00\x14     WD-WCC4N1234567 ";
        assert_eq!(parse(page).as_deref(), Some("WD-WCC4N1234567"));
    }

    #[test]
    fn a_longer_length_than_there_are_bytes_is_cut() {
        assert_eq!(parse(b"\x00\x80\xff\xffAB").as_deref(), Some("AB"));
    }

    #[test]
    fn another_page_an_empty_one_and_blanks_are_no_serial_number() {
        assert_eq!(parse(b"\x00\x83\x00\x02AB"), None);
        assert_eq!(parse(b"\x00\x80\x00\x00"), None);
        assert_eq!(parse(b"\x00\x80\x00\x04    "), None);
        assert_eq!(parse(b"\x00\x80"), None);
    }
}
