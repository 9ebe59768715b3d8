//! Windows' `STORAGE_DEVICE_DESCRIPTOR`.

use directio::parse::storage_descriptor::parse;

/// Texts are trimmed and not empty.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let descriptor = parse(input);
    for text in [descriptor.model, descriptor.serial_number]
        .into_iter()
        .flatten()
    {
        assert!(!text.is_empty());
        assert_eq!(text.trim(), text);
    }
}
