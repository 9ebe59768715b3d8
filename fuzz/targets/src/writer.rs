//! Which process makes a run, from `/proc/PID/stat` and the boot's id.

use diskfacts_store::Writer;

/// The input is both texts, parted by the first NUL. What is read, printed as
/// the kernel prints it, is read as the same.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let mut parts = input.splitn(2, |byte| *byte == 0);
    let stat = parts.next().unwrap_or_default();
    let boot_id = parts.next().unwrap_or_default();
    if let Some(writer) = Writer::parse(stat, boot_id) {
        let fields_3_to_21 = "S 1 1 1 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 1 0";
        let stat = format!(
            "{} (a (name) ) {fields_3_to_21} {} 0",
            writer.pid, writer.start_ticks
        );
        let again = Writer::parse(stat.as_bytes(), writer.boot_id.as_bytes());
        assert_eq!(again, Some(writer));
    }
}
