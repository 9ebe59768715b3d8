//! What the root orders of all hosts, as the bytes of a trial of the protocol.
//!
//! Besides the trials of the agreement there are two steps that measure nothing: runs are
//! gathered at the root, and hosts part when the root has printed what they come to. So no
//! process ends before, which would make the launcher end the others.

use super::Called;

/// One order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ordered {
    pub(super) order: Order,
    pub(super) called: Called,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// A trial of the agreement: its index.
    Trial(usize),
    /// The run of each host, as a file of runs.
    Gather,
    /// Nothing more.
    Part,
}

impl Ordered {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let order = match self.order {
            Order::Trial(index) => index.to_string(),
            Order::Gather => "gather".to_owned(),
            Order::Part => "part".to_owned(),
        };
        let Called {
            group,
            start,
            origin_ns,
        } = &self.called;
        format!("{order}\n{origin_ns}\n{start}\n{group}").into_bytes()
    }

    /// `None` of what is no order.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = str::from_utf8(bytes).ok()?;
        let mut lines = text.splitn(4, '\n');
        let order = match lines.next()? {
            "gather" => Order::Gather,
            "part" => Order::Part,
            index => Order::Trial(index.parse().ok()?),
        };
        let origin_ns = lines.next()?.parse().ok()?;
        let start = lines.next()?;
        // Both stand in the record of a run as they are.
        start.parse::<jiff::Timestamp>().ok()?;
        let group = diskfacts_record::membership::group(lines.next()?).ok()?;
        Some(Self {
            order,
            called: Called {
                group,
                start: start.to_owned(),
                origin_ns,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called() -> Called {
        Called {
            group: "n42".to_owned(),
            start: "2026-11-27T13:00:00Z".to_owned(),
            origin_ns: -5,
        }
    }

    #[test]
    fn an_order_is_read_as_it_was_written() {
        for order in [
            Order::Trial(0),
            Order::Trial(71),
            Order::Gather,
            Order::Part,
        ] {
            let ordered = Ordered {
                order,
                called: called(),
            };
            assert_eq!(Ordered::parse(&ordered.to_bytes()), Some(ordered));
        }
    }

    #[test]
    fn what_is_no_order_is_none() {
        for text in [
            "",
            "0",
            "0\n-5",
            "0\n-5\n2026-11-27T13:00:00Z",
            "-1\n-5\n2026-11-27T13:00:00Z\nn42",
            "stop\n-5\n2026-11-27T13:00:00Z\nn42",
            "0\nx\n2026-11-27T13:00:00Z\nn42",
            "0\n-5\nnow\nn42",
            "0\n-5\n2026-11-27T13:00:00Z\ntwo\nlines",
        ] {
            assert_eq!(Ordered::parse(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(Ordered::parse(&[0xff, 0xfe]), None);
    }
}
