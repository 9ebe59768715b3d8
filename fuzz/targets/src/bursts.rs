//! Stored single requests.

use diskfacts_record::{BurstRequest, PackedBursts};

/// What is read reads back as the same, from bytes and from a document, and no time or place
/// lies beyond 64 bits.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let Ok(packed) = PackedBursts::from_bytes(input) else {
        return;
    };
    let bursts = packed.unpack();
    let again = PackedBursts::from(&bursts);
    assert_eq!(again.unpack(), bursts);
    for burst in &bursts.bursts {
        assert!(burst.requests.is_sorted_by_key(BurstRequest::began_ns));
        for request in &burst.requests {
            assert!(request.began_ns() <= request.issued_ns);
            assert!(request.issued_ns <= request.completed_ns);
            assert!(burst.from_ns.checked_add(request.completed_ns).is_some());
            assert!(request.offset_bytes.checked_add(request.bytes).is_some());
            assert!(request.device < bursts.devices.len());
        }
    }
    let text = serde_json::to_string(&packed).expect("a document");
    let read: PackedBursts = serde_json::from_str(&text).expect("its own document");
    // Names of devices that no request is of are in no document.
    let text_again = serde_json::to_string(&read).expect("a document");
    assert_eq!(text_again, text);
}
