//! A simulated computer: made once for a run, it does one trial after the
//! other, and its disk and its page cache remember the trials before.

use super::access::{Access, Role};
use super::baton::batons;
use super::engine::{Sim, SimClock};
use super::kernel::{self, KernelError};
use super::machine::{CONTEXTS, Machine, Outside};
use super::neighbour::Neighbour;
use super::plant::{DirectOpen, Plant};
use super::streams::{Cast, Going, Way, broken, run};
use super::traits::Traits;
use super::witness::{self, Reading};
use crate::beside::add_up as add_up_beside;
use crate::clock::Timescale;
use crate::engine::SyncEach;
use crate::error::TrialError;
use crate::outcome::{Conditions, TrialOutcome, add_up};
use crate::part::parts;
use crate::pick::sync_each;
use crate::trial::{BESIDE_PART, Progress};
use diskfacts_disk::host::{Host, HostParameters};
use diskfacts_disk::profile::{Profile, build_below_host};
use diskfacts_disk::{Device, Extent};
use diskfacts_plan::rng::Rng;
use diskfacts_plan::{CacheMode, EngineChoice, IoContext, SyncMode, Workload};
use diskfacts_record::evidence::SettingInForce;
use diskfacts_record::run::{ExtentMethod, Extents};
use diskfacts_record::{Evidence, Unseen};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The seed of the neighbour, apart from those of the disk's own parts.
const NEIGHBOUR_PART: u64 = 0x006e_6569_6768_626f;

/// A computer with one disk.
pub struct Computer {
    /// Absent when a trial broke it.
    machine: Option<Box<Machine>>,
    name: String,
    traits: Traits,
    plant: Plant,
    /// Its settings when it was made.
    parameters: HostParameters,
    size_bytes: u64,
    sector: u64,
}

impl Computer {
    /// A computer with the disk of a profile, whose choices (how far its
    /// spindles have turned, when a neighbour comes) `seed` determines, and with
    /// the flaws of `plant`.
    pub fn new(profile: &Profile, seed: u64, plant: Plant) -> Self {
        let traits = Traits::of(profile);
        let mut parameters = profile.host_or_default();
        if let Some(memory) = plant.memory {
            parameters.memory = memory;
        }
        let disk = build_below_host(profile, seed);
        let (size_bytes, sector) = (disk.capacity(), disk.logical_sector());
        let mut host = Host::new(parameters, disk).with_limits(plant.block);
        if let Some(journal) = plant.journal {
            host = host.with_journal(journal);
        }
        if plant.one_descriptor {
            host = host.with_one_descriptor();
        }
        // The kernel sends no flush to a disk that has nothing to lose.
        if plant.drops_flushes || !traits.is_volatile {
            host = host.without_flushes();
        }
        let neighbour = plant.neighbour.map(|parameters| {
            let seed = Rng::for_part(seed, NEIGHBOUR_PART).next_u64();
            Neighbour::new(parameters, seed)
        });
        Self {
            machine: Some(Machine::new(host, neighbour, plant.stop_at_ns)),
            name: profile.name.clone(),
            traits,
            plant,
            parameters,
            size_bytes,
            sector,
        }
    }

    /// Whether from now on the evidence of a trial has what read-ahead decided, as that
    /// of a real host has when it is asked for.
    pub fn observe_read_ahead(&mut self, whether: bool) {
        if let Some(machine) = &mut self.machine {
            machine.host.tell_read_ahead(whether);
        }
    }

    /// Whether from now on the evidence of a trial has single requests, as that of a real
    /// host has when its requests are followed.
    pub fn observe_requests(&mut self, whether: bool) {
        if let Some(machine) = &mut self.machine {
            machine.keep_bursts(whether);
        }
    }

    /// Bytes of the disk.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// What offsets and lengths of direct I/O must be multiples of, bytes.
    pub fn sector_bytes(&self) -> u64 {
        self.sector
    }

    /// Virtual nanoseconds since it was made; 0 when it is broken.
    pub fn now_ns(&self) -> u64 {
        self.machine.as_ref().map_or(0, |machine| machine.now_ns())
    }

    /// How the file lies that is measured; absent where it is the whole disk.
    pub fn extents(&self) -> Option<Extents> {
        self.plant.hole.map(|hole| Extents {
            span_bytes: self.size_bytes,
            hole_bytes: hole.len(),
            unwritten_bytes: Some(0),
            shared_bytes: Some(0),
            encoded_bytes: Some(0),
            inline_bytes: Some(0),
            extents: Some(1),
            method: ExtentMethod::Fiemap,
        })
    }

    /// Whether its kernel can be set to this, by the names of a plan file.
    ///
    /// # Errors
    /// The first setting that a simulated host does not have, or not with this value.
    pub fn check_kernel(&self, settings: &BTreeMap<String, String>) -> Result<(), KernelError> {
        kernel::under(self.parameters, self.plant.block, settings).map(|_| ())
    }

    /// Sets its kernel to this, and all else as it was made: what trials from now on
    /// find. Says what is in force of what was asked for.
    ///
    /// # Errors
    /// As [`check_kernel`](Self::check_kernel); nothing is changed then.
    pub fn set_kernel(
        &mut self,
        settings: &BTreeMap<String, String>,
    ) -> Result<Vec<SettingInForce>, KernelError> {
        let before = (self.parameters, self.plant.block);
        let now = kernel::under(before.0, before.1, settings)?;
        if let Some(machine) = &mut self.machine {
            machine.host.tune(now.0, now.1);
        }
        Ok(kernel::in_force(&self.name, &before, &now, settings))
    }

    /// Runs one trial, with the page cache brought into the state that the
    /// workload asks for.
    ///
    /// # Errors
    /// When it cannot be done on a simulated disk (the null engine measures real
    /// time), no block fits, or a thread could not be started.
    pub fn run_trial(
        &mut self,
        workload: &Workload,
        seed: u64,
        progress: &Progress,
    ) -> Result<(TrialOutcome, Evidence), TrialError> {
        let of_trial = self.cast(workload, seed, Role::Trial)?;
        let beside = workload.beside.as_deref().map(|beside| {
            let seed = Rng::for_part(seed, BESIDE_PART).next_u64();
            self.cast(beside, seed, Role::Beside)
        });
        let beside = beside.transpose()?;
        let over = Arc::new(AtomicBool::new(false));
        let beside_progress = Progress {
            stop: Arc::clone(&over),
            ..Progress::default()
        };
        let going = Going::new(of_trial.parts.len(), &over);
        // First what runs beside, so that it has begun when the trial begins.
        let mut players = Vec::new();
        if let Some(beside) = &beside {
            players.extend(beside.players(&beside_progress, None));
        }
        let beside_count = players.len();
        players.extend(of_trial.players(progress, Some(&going)));
        let open: Vec<Access> = players.iter().map(|player| player.access).collect();

        let span = self.span(workload);
        let mut machine = self.machine.take().ok_or_else(broken)?;
        let outside = Outside {
            stop: Arc::clone(&progress.stop),
            virtual_ns: Arc::clone(&progress.virtual_ns),
        };
        machine.begin_trial(&open, outside);
        let casts = [Some(&of_trial), beside.as_ref()];
        let unprepared: Vec<Unseen> = casts
            .into_iter()
            .flatten()
            .filter_map(|cast| {
                let span = self.span(cast.workload);
                prepare(&mut machine, cast.workload.cache, span)
            })
            .collect();
        machine.open_window();
        let before = Reading::take(&machine, span);

        let (records, returned) = run(machine, &players);
        let machine = self.machine.insert(returned.ok_or_else(broken)?);
        let after = Reading::take(machine, span);
        let mut beside_records = records?;
        let records = beside_records.split_off(beside_count);
        let mut outcome = add_up(
            workload,
            &of_trial.way.fallbacks,
            Conditions {
                scale: Timescale::NANOSECONDS,
                clock: "virtual",
                drift_ppm: Some(self.plant.clock_ppm as f64),
                user_ns: Some(machine.processor.user_ns),
                system_ns: Some(machine.processor.system_ns),
            },
            records.into_iter().collect::<Result<_, _>>()?,
        );
        let processor = self.plant.processor;
        if let Some(processor) = processor {
            outcome.busiest_thread = Some(processor.busiest_thread);
        }
        let mut evidence = witness::evidence(
            machine,
            (&before, &after),
            span,
            &self.name,
            &outcome,
            &self.plant,
        );
        evidence.unseen.extend(unprepared);
        evidence.bursts = machine.take_bursts(&self.name);
        if let Some(beside) = &beside {
            let records = beside_records.into_iter().collect();
            let did = add_up_beside(Timescale::NANOSECONDS, beside.workload.operation, records);
            evidence.beside = Some(witness::beside(machine, &did));
            outcome.beside = Some(did);
        }
        Ok((outcome, evidence))
    }

    /// The streams of a workload, and how each is open.
    fn cast<'w>(
        &self,
        workload: &'w Workload,
        seed: u64,
        role: Role,
    ) -> Result<Cast<'w>, TrialError> {
        let way = self.way(workload)?;
        let parts = parts(workload, (way.depth, 1), self.size_bytes, seed)?;
        let access = Access {
            role,
            ..self.access(workload, &way)
        };
        Ok(Cast {
            workload,
            way,
            parts,
            access,
        })
    }

    /// The engine of a single stream on this computer, which is then that
    /// stream's alone.
    ///
    /// # Errors
    /// As [`run_trial`](Self::run_trial).
    pub fn into_engine(mut self, workload: &Workload) -> Result<Sim, TrialError> {
        let way = self.way(workload)?;
        let mut machine = self.machine.take().ok_or_else(broken)?;
        let access = self.access(workload, &way);
        machine.begin_trial(&[access], Outside::default());
        let (mut batons, _home, starter) = batons(1);
        starter.start(machine);
        let baton = batons.pop().ok_or_else(broken)?;
        way.engine(baton)
    }

    fn span(&self, workload: &Workload) -> Extent {
        let left = self.size_bytes.saturating_sub(workload.offset);
        let len = workload.span.unwrap_or(u64::MAX).min(left);
        Extent {
            start: workload.offset,
            end: workload.offset.saturating_add(len),
        }
    }

    /// What the host does for a workload.
    fn way(&self, workload: &Workload) -> Result<Way, TrialError> {
        let depth = match workload.engine {
            EngineChoice::Null => {
                return Err(TrialError::Engine(
                    "engine = \"null\" measures what the measuring costs on this machine, in real \
                     time; a simulated disk has none"
                        .to_owned(),
                ));
            }
            EngineChoice::Mmap => {
                return Err(TrialError::Engine(
                    "engine = \"mmap\" works in the memory of this machine, and a simulated disk has \
                     no content that could be mapped; use engine = \"auto\""
                        .to_owned(),
                ));
            }
            EngineChoice::Sync => 1,
            EngineChoice::Auto | EngineChoice::IoUring => workload.queue_depth,
        };
        if workload.pool.is_some_and(|pool| pool.threads > CONTEXTS) {
            return Err(TrialError::Engine(format!(
                "threads: a simulated host has at most {CONTEXTS} for a stream"
            )));
        }
        let asked = [("iopoll", workload.iopoll), ("sqpoll", workload.sqpoll)];
        let asked = asked.into_iter().filter(|(_, asked)| *asked);
        let (mut features, mut fallbacks) = (Vec::new(), Vec::new());
        if let Some(pool) = workload.pool {
            features.push(format!("{}-threads", pool.threads));
            features.push(
                match pool.io_context {
                    IoContext::Separate => "io-context-separate",
                    IoContext::Shared => "io-context-shared",
                }
                .to_owned(),
            );
        }
        for (feature, _) in asked {
            if self.plant.refuses_polling {
                fallbacks.push(format!(
                    "{feature} is not used: the simulated kernel refuses to poll"
                ));
            } else {
                features.push(feature.to_owned());
            }
        }
        let mut cost = self.plant.cost;
        if let Some(fresh) = self.plant.fresh_memory {
            cost.system_ns += fresh.cost_ns(self.now_ns());
        }
        let wants_direct = workload.cache == CacheMode::Direct;
        let refused = wants_direct && self.plant.direct == DirectOpen::Refused;
        Ok(Way {
            depth,
            in_flight_max: self.plant.in_flight_max.unwrap_or(depth).min(depth),
            clock: SimClock {
                ppm: self.plant.clock_ppm,
            },
            cost,
            features,
            fallbacks,
            direct: wants_direct && !refused,
            direct_refused: refused
                .then(|| "opening the simulated file with O_DIRECT gave EINVAL".to_owned()),
        })
    }

    /// How the host opens the file: what follows a write is what the kernel
    /// does (`blk_insert_flush`, block/blk-flush.c: a write that is to be
    /// durable is forced to the medium where the disk can, else a flush follows
    /// it; nothing at all where the disk has nothing to lose).
    fn access(&self, workload: &Workload, way: &Way) -> Access {
        let direct = way.direct && self.plant.direct != DirectOpen::Ignored;
        let durable = matches!(workload.sync, SyncMode::ODsync | SyncMode::OSync);
        let forced = durable && (!direct || (self.traits.is_volatile && self.traits.has_fua));
        Access {
            block: workload.block_size,
            modify: workload.operation.modifies(),
            direct,
            flush_each: sync_each(workload.sync) != SyncEach::None || (durable && !forced),
            fua: forced,
            reads_in: self.plant.reads_in.unwrap_or(1).max(1),
            hole: self.plant.hole,
            call_ns: self.parameters.call_ns,
            contexts: match workload.pool {
                Some(pool) if pool.io_context == IoContext::Separate => pool.threads,
                _ => 1,
            },
            role: Role::Trial,
        }
    }
}

/// Brings the page cache into the state that a workload asks for, and the disk
/// to rest: what an earlier trial left in its cache must not be written at the
/// expense of this one. Says what did not work.
fn prepare(machine: &mut Machine, cache: CacheMode, span: Extent) -> Option<Unseen> {
    let (what, result) = match cache {
        CacheMode::Warm => ("warm page cache", machine.warm(span)),
        CacheMode::Cold => ("cold page cache", machine.drop_cache(span)),
        CacheMode::Buffered | CacheMode::Direct => {
            ("write-back of earlier trials", machine.settle())
        }
    };
    // What fails now will fail in the trial, where it is counted.
    result.err().map(|error| Unseen {
        what: what.to_owned(),
        why: format!("preparing it failed: {error}"),
    })
}
