//! The first step: what this call may not do is refused before anything is opened.
//! It makes nothing, so there is nothing to undo; what dead runs left changed is put
//! back first, so that everything after it looks at the machine as it is meant to be.

use super::together::Start;
use super::{Request, cache_proof, drawn, memory, settings};
use crate::exit::Failure;
use crate::target;
use diskfacts_plan::Plan;
use diskfacts_record::together::Rank;
use jiff::Timestamp;
use std::time::Instant;

/// The seed of a run on a simulated disk that was given none: such a run is the
/// same every time.
const SIMULATED_SEED: u64 = 1;

/// A call that is not wrong, as far as that can be told without its target.
pub(super) struct Accepted<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) began: Instant,
    pub(super) started: Timestamp,
    pub(super) seed: u64,
    /// The plan, with the page cache kept out as the call asks.
    pub(super) plan: Plan,
    /// When it starts with other hosts, if it does.
    pub(super) start: Option<Start>,
    /// What dead runs had left.
    pub(super) notes: Vec<String>,
}

impl<'a> Accepted<'a> {
    /// `rank` is this host's among those that a launcher started.
    pub(super) fn of(request: &'a Request<'a>, rank: Option<Rank>) -> Result<Self, Failure> {
        let began = Instant::now();
        let started = Timestamp::now();
        let simulated = target::simulated::name(request.target).is_some();
        let seed = request.seed.unwrap_or_else(|| {
            if simulated {
                SIMULATED_SEED
            } else {
                drawn(started)
            }
        });
        let start = {
            let group = request.membership.group.as_deref();
            let (plan, seed) = (&request.plan, request.seed);
            Start::of(request.start, group, plan, seed, started, rank)?
        };
        if simulated && start.is_some() {
            return Err(Failure::wrong_call(
                "--start-at and --together are for real storage: a simulated disk has a time of its own, in which \
                 no other host is",
            ));
        }
        if !simulated {
            memory::refuse_too_little(&request.plan)?;
        }
        let notes = settings::look_first(&request.plan, simulated, request.cache_proof)?;
        Ok(Self {
            request,
            began,
            started,
            seed,
            start,
            plan: cache_proof::applied(&request.plan, request.cache_proof)?,
            notes,
        })
    }
}
