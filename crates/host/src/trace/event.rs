//! An event, who takes it, and what was lost.

use super::bursts::Burst;
use super::error::TraceError;
use crate::parse::trace::format::{EventFormat, Field};

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// When, nanoseconds by the clock of its buffer.
    pub time_ns: u64,
    /// The processor that it happened on.
    pub cpu: u32,
    /// Its fields; an [`EventFormat`] says where they lie.
    pub data: &'a [u8],
}

impl Event<'_> {
    /// Which kind of event it is: the `ID` of its format. `None` for fewer than two
    /// bytes, which no kernel writes.
    #[inline]
    pub fn id(&self) -> Option<u16> {
        let bytes = self.data.first_chunk()?;
        Some(u16::from_ne_bytes(*bytes))
    }
}

/// Events of one processor that were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The processor.
    pub cpu: u32,
    /// The first event after the gap happened then; the lost ones before.
    pub before_ns: u64,
    /// How many; `None` when that is not known.
    pub events: Option<u64>,
}

/// Who is given events, in order of time.
///
/// Every `FnMut(&Event)` is one; it does not hear of gaps.
pub trait Consumer {
    /// Takes an event. None is older than the one before, but for what
    /// [`Losses::late`] counts.
    fn event(&mut self, event: &Event<'_>);

    /// Events of one processor were lost before the one that comes next from it.
    fn lost(&mut self, gap: Gap) {
        let _ = gap;
    }

    /// A time of recording is over, and all of its events were given. What happens
    /// until the next event, nobody sees.
    fn burst(&mut self, burst: Burst) {
        let _ = burst;
    }
}

impl<F: FnMut(&Event<'_>)> Consumer for F {
    fn event(&mut self, event: &Event<'_>) {
        self(event);
    }
}

/// What was lost between the kernel and the consumer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Losses {
    /// Events that the kernel counted as lost, by processor; without those that lost
    /// none.
    pub by_cpu: Vec<(u32, u64)>,
    /// Pages that were not understood, of which the rest was left out; the first
    /// reason stands in `damage`.
    pub damaged_pages: u64,
    /// Why the first of them was not.
    pub damage: Option<String>,
    /// Events that came to the consumer after younger ones: they were being written
    /// while the others were read.
    pub late: u64,
}

impl Losses {
    /// Events that are known to be lost.
    pub fn total(&self) -> u64 {
        self.by_cpu.iter().map(|(_, lost)| lost).sum()
    }

    /// Whether the consumer had all events, in order.
    pub fn is_none(&self) -> bool {
        self.total() == 0 && self.damaged_pages == 0 && self.late == 0
    }
}

impl EventFormat {
    /// A field that one cannot do without: of 1, 2, 4 or 8 bytes if it is an integer.
    ///
    /// # Errors
    /// [`TraceError::NoField`].
    pub fn required(&self, name: &str) -> Result<Field, TraceError> {
        self.field(name).ok_or_else(|| TraceError::NoField {
            event: self.name.clone(),
            field: name.to_owned(),
        })
    }
}

/// A device in the fields `dev` and `s_dev` of events: the kernel's own `dev_t`, with
/// the minor number in the low 20 bits (kernel, `include/linux/kdev_t.h`).
pub fn device_number(major: u32, minor: u32) -> u64 {
    u64::from(major) << 20 | u64::from(minor)
}

/// A filter for events whose field has one of these values: `dev == 8 || dev == 16`.
/// Without values it lets nothing through.
pub fn any_of(field: &str, values: impl IntoIterator<Item = u64>) -> String {
    let terms: Vec<String> = values
        .into_iter()
        .map(|value| format!("{field} == {value}"))
        .collect();
    if terms.is_empty() {
        // True of no value.
        return format!("{field} == 0 && {field} == 1");
    }
    terms.join(" || ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_names_every_device_and_one_of_none_lets_nothing_through() {
        let devices = [device_number(7, 0), device_number(254, 3)];
        assert_eq!(any_of("dev", devices), "dev == 7340032 || dev == 266338307");
        assert_eq!(any_of("dev", []), "dev == 0 && dev == 1");
    }
}
