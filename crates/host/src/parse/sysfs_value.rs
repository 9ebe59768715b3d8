//! Values of single attributes in sysfs.
//!
//! Source: kernel, `Documentation/ABI/stable/sysfs-block`.

use diskfacts_record::Zoned;

/// The schedulers of `queue/scheduler`, the one in use first in the pair:
/// `none [mq-deadline] kyber` gives `mq-deadline` and all three. Kernels
/// without a choice print one bare name, which is then the one in use.
pub fn parse_scheduler(text: &str) -> (Option<String>, Vec<String>) {
    let mut current = None;
    let mut all = Vec::new();
    for word in text.split_ascii_whitespace() {
        let name = match word
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            Some(chosen) => {
                current = Some(chosen.to_owned());
                chosen
            }
            None => word,
        };
        all.push(name.to_owned());
    }
    if current.is_none()
        && let [only] = all.as_slice()
    {
        current = Some(only.clone());
    }
    (current, all)
}

/// How a device takes writes, from `queue/zoned`: `none`, `host-aware` or
/// `host-managed`. Any other word is an error: it may be a kind that cannot be
/// written at random places either.
///
/// # Errors
/// The word that is none of these.
pub fn parse_zoned(text: &str) -> Result<Option<Zoned>, String> {
    match text.trim() {
        "none" => Ok(None),
        "host-aware" => Ok(Some(Zoned::HostAware)),
        "host-managed" => Ok(Some(Zoned::HostManaged)),
        other => Err(format!("`{other}` is none of the known kinds of zones")),
    }
}

/// The type of a device-mapper device, from its `dm/uuid`: the prefix that its
/// maker put there, in small letters. `LVM-...` is `lvm`, `CRYPT-LUKS2-...` is
/// `crypt`, `mpath-...` is `mpath`, `part1-mpath-...` is `part`.
pub fn parse_dm_uuid(uuid: &str) -> Option<String> {
    let prefix = uuid.split('-').next()?;
    let prefix = prefix.trim_end_matches(|character: char| character.is_ascii_digit());
    (!prefix.is_empty()).then(|| prefix.to_ascii_lowercase())
}

/// The serial number in a SCSI vital product data page 0x80 (`vpd_pg80`): four
/// bytes of heading, the last two of them the length, then ASCII.
///
/// Source: SPC-5, section 7.7.18, Unit Serial Number VPD page.
pub fn parse_vpd_serial(page: &[u8]) -> Option<String> {
    let [_, 0x80, high, low, serial @ ..] = page else {
        return None;
    };
    let length = usize::from(u16::from_be_bytes([*high, *low]));
    let serial = serial.get(..length).unwrap_or(serial);
    let text: String = String::from_utf8_lossy(serial)
        .chars()
        .filter(|character| !character.is_control())
        .collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Revolutions per minute in the vital product data of a SCSI or ATA disk, page 0xb1;
/// `None` where the drive states none, or does not turn.
///
/// Sources: SBC-4, 6.6.2 (block device characteristics: medium rotation rate, bytes 4 and
/// 5; 0 is not reported, 1 does not rotate, 0x401 to 0xfffe are revolutions per minute). Of
/// ATA disks the kernel makes the page from word 217 of IDENTIFY DEVICE
/// (`ata_scsiop_inq_b1` in drivers/ata/libata-scsi.c); it is shown since Linux 5.17.
pub fn parse_vpd_rpm(page: &[u8]) -> Option<u32> {
    let [_, 0xb1, _, _, high, low, ..] = page else {
        return None;
    };
    let rate = u16::from_be_bytes([*high, *low]);
    (0x401..=0xfffe).contains(&rate).then_some(u32::from(rate))
}

/// `8:1` as major and minor.
pub fn parse_device_number(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
