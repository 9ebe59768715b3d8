//! A limiter: what is the same whatever stage it is said of.

use super::candidate::Candidate;
use super::subject::Subject;
use diskfacts_plan::CacheMode;
use diskfacts_record::Spent;

/// One limiter.
#[derive(Debug, Clone, Copy)]
pub struct Limiter {
    /// Its name, as in [`Limit::limiter`](diskfacts_record::Limit::limiter): `rotation`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What it speaks of.
    pub(crate) claims: Claims,
    /// Parts of an operation's time in which it cannot lie, so that it accounts for no more
    /// than the others have together, whatever its own arithmetic says. Two limiters may both
    /// be consistent with a rate; where the time went decides between them. What waits in a
    /// scheduler is not the journal's, though more journal makes it wait longer; and while a
    /// group's limit holds operations back, no device is silent.
    pub(crate) not_in: &'static [Spent],
    /// What has to be so of a stage before it is looked at.
    pub(crate) needs: &'static [Need],
    /// What would show it to be wrong, a sentence, unless it is another for the stage.
    pub(crate) refuted_by: &'static str,
    /// What its experiment asks, and what which answer means, unless it is another.
    pub(crate) question: &'static str,
    /// What to do about it, a sentence or more, unless that is another.
    pub(crate) remedy: &'static str,
    /// What it says of a stage; `None` when it does not hold, or when the evidence
    /// for it is missing.
    pub(crate) find: fn(&Subject<'_>) -> Option<Candidate>,
}

/// What a limiter speaks of; of which devices and when it may is decided in
/// [`device_physics`](crate::device_physics).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claims {
    /// What a drive is made of: platters, arms, flash, its own links.
    Hardware,
    /// A device of any kind that is busy.
    BusyDevice,
    /// Anything else.
    Anything,
}

/// What has to be so of a stage for a limiter to be asked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Need {
    /// The run was measured, and is not read from a document.
    NoDocument,
    /// Blocks of the target are moved, and not files made or asked for.
    Blocks,
    /// Nothing is written.
    OnlyReads,
    /// Nothing is read.
    OnlyWrites,
    /// Something is written.
    Written,
    /// [`Subject::reaches_device`].
    Device,
    /// Memory of the host served less than half of the bytes.
    FromDisk,
    /// No rate was asked for.
    Closed,
    /// Nothing was to run beside it, which has a part of the device's time.
    Alone,
    /// Direct I/O was asked for.
    Direct,
    /// All of it went through the page cache.
    Buffered,
    /// Each write is synced.
    EachSynced,
    /// All disks are known to rotate.
    Platter,
    /// Not all disks are known to rotate.
    NoPlatter,
    /// The disks may rotate.
    MayRotate,
}

impl Need {
    fn is_met(self, subject: &Subject<'_>) -> bool {
        let workload = subject.workload();
        match self {
            Self::NoDocument => !subject.imported(),
            Self::Blocks => subject.moves_blocks(),
            Self::OnlyReads => subject.only_reads(),
            Self::OnlyWrites => subject.only_writes(),
            Self::Written => workload.operation.writes(),
            Self::Device => subject.reaches_device(),
            Self::FromDisk => subject.memory_share() < 0.5,
            Self::Closed => workload.rate.is_none(),
            Self::Alone => workload.beside.is_none(),
            Self::Direct => workload.cache == CacheMode::Direct,
            Self::Buffered => subject.direct() == Some(false),
            Self::EachSynced => workload.sync.each_write(),
            Self::Platter => subject.rotates() == Some(true),
            Self::NoPlatter => subject.rotates() != Some(true),
            Self::MayRotate => subject.rotates() != Some(false),
        }
    }
}

impl Limiter {
    /// What the threads did themselves, and waited for with the devices done. Waiting in front
    /// of a device that is full is the device's. What nothing explains may be anybody's.
    const OF_THREADS: &[Spent] = &[
        Spent::User,
        Spent::Kernel,
        Spent::Processor,
        Spent::Blocked,
        Spent::Completion,
    ];

    /// A limiter of anything, of which nothing is said yet.
    pub(crate) const ANY: Self = Self {
        name: "",
        about: "",
        claims: Claims::Anything,
        not_in: &[],
        needs: &[],
        refuted_by: "",
        question: "",
        remedy: "",
        find: |_| None,
    };

    /// One that lies behind all that the threads do.
    pub(super) const BEHIND_THREADS: Self = Self {
        not_in: Self::OF_THREADS,
        ..Self::ANY
    };

    /// One of a device that is busy.
    pub(super) const OF_BUSY_DEVICE: Self = Self {
        claims: Claims::BusyDevice,
        ..Self::BEHIND_THREADS
    };

    /// One of what a drive is made of.
    pub(crate) const OF_HARDWARE: Self = Self {
        claims: Claims::Hardware,
        ..Self::BEHIND_THREADS
    };

    /// What it says of a stage.
    pub(crate) fn candidate(&self, subject: &Subject<'_>) -> Option<Candidate> {
        let all_met = self.needs.iter().all(|need| need.is_met(subject));
        all_met.then(|| (self.find)(subject)).flatten()
    }

    /// Whether it says something of a stage.
    pub(crate) fn speaks_of(&self, subject: &Subject<'_>) -> bool {
        self.candidate(subject).is_some()
    }

    /// Share of a stage's time that it can account for at most, by the parts of the time.
    pub(crate) fn share_at_most(&self, subject: &Subject<'_>) -> f64 {
        let Some(budget) = subject.figures.budget.as_ref() else {
            return 1.0;
        };
        let elsewhere = budget.parts.iter();
        let elsewhere = elsewhere.filter(|one| self.not_in.contains(&one.part));
        let elsewhere_ns: f64 = elsewhere.map(|one| one.mean_ns).sum();
        (1.0 - elsewhere_ns / budget.latency_ns).clamp(0.0, 1.0)
    }
}
