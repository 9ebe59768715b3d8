//! What the root orders of all hosts, as the bytes of a trial of the protocol.
//!
//! Besides the trials of the agreement there are steps that measure nothing. Before them, where
//! hosts share files, these are made and opened, and all are filled; what a host has against
//! going on ends it for all. Behind them runs are gathered at the root, and hosts part when the
//! root has printed what they come to. So no process ends before, which would make the launcher
//! end the others.

use super::Called;

/// An order stands in one line, and no sentence has this in it.
const IN_PLACE_OF_NEWLINE: &str = "\u{1}";

/// One order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ordered {
    pub(super) order: Order,
    pub(super) called: Called,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Order {
    /// Files that hosts share are made and opened.
    Open,
    /// All of them have been filled.
    Filled,
    /// What some host has against going on, each a sentence.
    Refused(Vec<String>),
    /// A trial of the agreement: its index.
    Trial(usize),
    /// The run of each host, as a file of runs.
    Gather,
    /// Nothing more.
    Part,
}

impl Ordered {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let order = match &self.order {
            Order::Open => "open".to_owned(),
            Order::Filled => "filled".to_owned(),
            Order::Refused(objections) => {
                format!(
                    "refused {}",
                    objections.join("\0").replace('\n', IN_PLACE_OF_NEWLINE)
                )
            }
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
            "open" => Order::Open,
            "filled" => Order::Filled,
            "gather" => Order::Gather,
            "part" => Order::Part,
            other => match other.strip_prefix("refused ") {
                Some(objections) => {
                    let objections = objections.replace(IN_PLACE_OF_NEWLINE, "\n");
                    Order::Refused(objections.split('\0').map(str::to_owned).collect())
                }
                None => Order::Trial(other.parse().ok()?),
            },
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
            Order::Open,
            Order::Filled,
            Order::Refused(vec!["c1: no\nroom".to_owned(), "c2: no".to_owned()]),
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
            "refused\n-5\n2026-11-27T13:00:00Z\nn42",
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
