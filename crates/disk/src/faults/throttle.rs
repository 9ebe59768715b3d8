//! A device that holds requests back: when it has become hot, or when a bucket
//! of credits is empty.

use crate::completion::{Breakdown, Completion};
use crate::device::{self, Device, Extent};
use crate::fixed;
use crate::relay::{Relay, earlier};
use crate::request::{Kind, Request};
use crate::statistics::Statistics;
use std::collections::VecDeque;

/// A cloud volume's limits: a bucket that fills at the base rate, and may be
/// emptied at the burst rate (the scheme of Amazon EBS gp2 volumes: AWS,
/// "Amazon EBS volume types").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreditParameters {
    /// Operations per second that the bucket gains, at least 1.
    pub base_iops: u64,
    /// Operations per second while there are credits, at least `base_iops`.
    pub burst_iops: u64,
    /// Operations that the bucket holds, at least 1; it starts full.
    pub bucket: u64,
    /// An operation of more bytes than this counts as several.
    pub io_unit: u64,
    /// Limit of the throughput, bytes/s.
    pub bytes_per_s: u64,
}

/// Heat, in bytes written or read: each adds its size, and it cools at a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeatParameters {
    /// Cooling, bytes/s: what the device can do for ever.
    pub cools_bytes_per_s: u64,
    /// Above this much heat it throttles, bytes.
    pub limit: u64,
    /// Until it has cooled to this much, bytes.
    pub resume: u64,
    /// Its rate meanwhile, bytes/s.
    pub throttled_bytes_per_s: u64,
}

/// Why a device holds requests back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThrottleParameters {
    /// A bucket of credits.
    Credit(CreditParameters),
    /// Temperature.
    Heat(HeatParameters),
}

/// The state of a limit.
#[derive(Debug, Clone, Copy)]
enum Limit {
    Credit {
        parameters: CreditParameters,
        /// Credits, in ns of the base rate: an operation costs 10^9 / base.
        filled_ns: u64,
    },
    Heat {
        parameters: HeatParameters,
        heat: u64,
        is_throttling: bool,
    },
}

/// A device behind a limit; requests wait for it in order.
pub struct Throttled {
    limit: Limit,
    inner: Box<dyn Device>,
    relay: Relay,
    waiting: VecDeque<(u64, Request)>,
    /// No request passes before, ns.
    next_ns: u64,
    /// When the limit was brought up to date, ns.
    updated_ns: u64,
    arrived: Vec<Completion>,
}

impl Throttled {
    /// Puts a limit in front of `inner`.
    pub fn new(parameters: ThrottleParameters, inner: Box<dyn Device>) -> Self {
        let limit = match parameters {
            ThrottleParameters::Credit(parameters) => Limit::Credit {
                parameters,
                filled_ns: parameters.bucket * (1_000_000_000 / parameters.base_iops),
            },
            ThrottleParameters::Heat(parameters) => Limit::Heat {
                parameters,
                heat: 0,
                is_throttling: false,
            },
        };
        Self {
            limit,
            inner,
            relay: Relay::default(),
            waiting: VecDeque::new(),
            next_ns: 0,
            updated_ns: 0,
            arrived: Vec::new(),
        }
    }

    /// Operations that can be done at the burst rate before the base rate
    /// holds; `None` where the limit is heat.
    pub fn credits(&self) -> Option<u64> {
        match self.limit {
            Limit::Credit {
                parameters,
                filled_ns,
            } => Some(filled_ns / (1_000_000_000 / parameters.base_iops)),
            Limit::Heat { .. } => None,
        }
    }

    /// Lets the bucket fill, or the device cool.
    fn update(&mut self, now_ns: u64) {
        let passed_ns = now_ns.saturating_sub(self.updated_ns);
        self.updated_ns = self.updated_ns.max(now_ns);
        match &mut self.limit {
            Limit::Credit {
                parameters,
                filled_ns,
            } => {
                let full_ns = parameters.bucket * (1_000_000_000 / parameters.base_iops);
                *filled_ns = filled_ns.saturating_add(passed_ns).min(full_ns);
            }
            Limit::Heat {
                parameters,
                heat,
                is_throttling,
            } => {
                let cooled = fixed::ns_to_bytes(passed_ns, parameters.cools_bytes_per_s);
                *heat = heat.saturating_sub(cooled);
                if *heat <= parameters.resume {
                    *is_throttling = false;
                }
            }
        }
    }

    /// When the first of the waiting requests may pass.
    fn due_ns(&self) -> Option<u64> {
        let (asked_ns, request) = self.waiting.front()?;
        let due_ns = self.next_ns.max(*asked_ns);
        let Limit::Credit {
            parameters,
            filled_ns,
        } = &self.limit
        else {
            return Some(due_ns);
        };
        let price_ns = operations(parameters, request) * (1_000_000_000 / parameters.base_iops);
        // A request larger than the bucket passes when the bucket is full.
        let full_ns = parameters.bucket * (1_000_000_000 / parameters.base_iops);
        let missing_ns = price_ns.min(full_ns).saturating_sub(*filled_ns);
        Some(due_ns.max(self.updated_ns + missing_ns))
    }

    fn pass_due(&mut self, now_ns: u64) {
        while self.due_ns().is_some_and(|due_ns| due_ns <= now_ns)
            && let Some((asked_ns, request)) = self.waiting.pop_front()
        {
            self.update(now_ns);
            let spacing_ns = match &mut self.limit {
                Limit::Credit {
                    parameters,
                    filled_ns,
                } => {
                    let operations = operations(parameters, &request);
                    let price_ns = operations * (1_000_000_000 / parameters.base_iops);
                    *filled_ns = filled_ns.saturating_sub(price_ns);
                    let bytes_ns = fixed::bytes_to_ns(request.len, parameters.bytes_per_s);
                    bytes_ns.max(operations * 1_000_000_000 / parameters.burst_iops)
                }
                Limit::Heat {
                    parameters,
                    heat,
                    is_throttling,
                } => {
                    *heat += request.len;
                    *is_throttling |= *heat > parameters.limit;
                    if *is_throttling {
                        fixed::bytes_to_ns(request.len, parameters.throttled_bytes_per_s)
                    } else {
                        0
                    }
                }
            };
            // The limiter's clock does not run ahead of what it let pass, so
            // that the rate holds on average and not only at best.
            let began_ns = self.next_ns.max(asked_ns);
            self.next_ns = began_ns + spacing_ns;
            let held_ns = now_ns - asked_ns;
            let before = Breakdown {
                throttle_ns: held_ns,
                ..Breakdown::nothing()
            };
            let below = self.relay.pass(now_ns, &request, asked_ns, before);
            self.inner.submit(now_ns, &below);
        }
    }
}

fn operations(parameters: &CreditParameters, request: &Request) -> u64 {
    if request.kind == Kind::Flush {
        return 0;
    }
    request.len.div_ceil(parameters.io_unit).max(1)
}

impl Device for Throttled {
    fn submit(&mut self, now_ns: u64, request: &Request) {
        self.relay.begin(now_ns);
        if let Err(error) = device::check(request, self.capacity(), self.logical_sector()) {
            self.relay
                .answer(request, now_ns, Breakdown::nothing(), Err(error));
            return;
        }
        self.update(now_ns);
        self.waiting.push_back((now_ns, *request));
        self.pass_due(now_ns);
    }

    fn next_event(&self) -> Option<u64> {
        let above_ns = earlier(self.relay.next_ns(), self.due_ns());
        earlier(above_ns, self.inner.next_event())
    }

    fn advance(&mut self, to_ns: u64, out: &mut Vec<Completion>) {
        while let Some(now_ns) = self.next_event()
            && now_ns <= to_ns
        {
            let mut arrived = std::mem::take(&mut self.arrived);
            self.inner.advance(now_ns, &mut arrived);
            for below in arrived.drain(..) {
                let passed = self.relay.take(&below);
                self.relay.complete(&passed, &below, &Breakdown::nothing());
            }
            self.arrived = arrived;
            self.update(now_ns);
            self.pass_due(now_ns);
            self.relay.emit(now_ns, out);
        }
    }

    fn capacity(&self) -> u64 {
        self.inner.capacity()
    }

    fn logical_sector(&self) -> u64 {
        self.inner.logical_sector()
    }

    fn queue_depth_limit(&self) -> u32 {
        self.inner.queue_depth_limit()
    }

    fn statistics(&self, now_ns: u64) -> Statistics {
        self.relay.statistics(now_ns)
    }

    fn volatile(&self) -> Vec<Extent> {
        self.inner.volatile()
    }

    fn members(&self) -> Vec<&dyn Device> {
        vec![&*self.inner]
    }
}
