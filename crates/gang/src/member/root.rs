//! What the root decides: the next trial, its start, and whether it counts.

use super::trial::{Running, Step};
use super::{Ending, Member, Phase};
use crate::link::Link;
use crate::objections::{name_of_rank, names};
use crate::settings::{LATE_PER_MILLE_MAX, SLACK_PATHS};
use crate::wire::{Message, Window};
use crate::work::{Judged, Planned, Schedule, Trial, Work};

pub(super) struct Root<S> {
    schedule: S,
    pub(super) judged: Vec<Judged>,
    /// The trial that is measured, or was.
    planned: Option<(Trial, Planned)>,
    /// Whether it is to be repeated.
    repeat: bool,
    /// Whether it was repeated because a host was late.
    was_late: bool,
}

impl<S: Schedule> Root<S> {
    pub(super) fn new(schedule: S) -> Self {
        Self {
            schedule,
            judged: Vec::new(),
            planned: None,
            repeat: false,
            was_late: false,
        }
    }

    /// A trial in which a host was lost is void, and repeated each time: there are not more losses
    /// than hosts.
    pub(super) fn lost_in(&mut self, running: Running, void: String) {
        self.repeat = true;
        self.judged.push(Judged {
            at_ns: running.agreed.map(|agreed| agreed.at_ns),
            trial: running.trial,
            void: Some(void),
            summary: Vec::new(),
            windows: Vec::new(),
        });
    }

    fn judge(&mut self, judged: Judged) {
        // Once: who is late twice is so for a reason that stays.
        self.repeat = judged.void.is_some() && !self.was_late;
        self.was_late |= self.repeat;
        self.judged.push(judged);
    }

    fn next(&mut self) -> Option<Trial> {
        let trial = match self.planned.take() {
            Some((trial, planned)) if std::mem::take(&mut self.repeat) => {
                let trial = Trial {
                    attempt: trial.attempt.saturating_add(1),
                    ..trial
                };
                self.planned = Some((trial.clone(), planned));
                trial
            }
            last => {
                self.was_late = false;
                let planned = self.schedule.next(&self.judged)?;
                let trial = Trial {
                    number: last.map_or(0, |(trial, _)| trial.number + 1),
                    attempt: 0,
                    order: planned.order.clone(),
                };
                self.planned = Some((trial.clone(), planned));
                trial
            }
        };
        Some(trial)
    }
}

impl<W: Work, S: Schedule> Member<W, S> {
    /// The next trial, or the end.
    pub(super) fn begin_next(&mut self, link: &mut Link<'_>) {
        let Some(trial) = self.root.next() else {
            self.end_group(link, None);
            return;
        };
        let prepare = Message::Prepare {
            trial: trial.number,
            attempt: trial.attempt,
            order: trial.order.clone(),
        };
        self.pass_down(link, &prepare);
        self.phase = Phase::Trial(Box::new(Running::new(trial, self.overdue_ns)));
    }

    /// It is over for everybody.
    pub(super) fn end_group(&mut self, link: &mut Link<'_>, why: Option<String>) {
        let end = Message::End { why: why.clone() };
        let below = self.children();
        let has_place = self.tree.present().contains(&self.rank);
        // Those that are lost may be there again. A root that has no place itself has nobody below.
        let mut told: Vec<usize> = (1..self.size).collect();
        told.retain(|rank| !has_place || below.contains(rank) || self.lost.contains_key(rank));
        told.retain(|rank| self.liveness.reachable(*rank));
        link.send_all(self.epoch, &told, &end);
        self.ends_with_all = true;
        self.end(link.now_ns(), why.map_or(Ending::Over, Ending::Stopped));
    }

    /// All are prepared and know their clocks: the moment.
    pub(super) fn agree_on_start(&mut self, link: &mut Link<'_>, path_ns: u64) -> Message {
        let (_, planned) = self.root.planned.as_ref().expect("a trial is running");
        let slack = self
            .settings
            .slack_min_ns
            .max(path_ns.saturating_mul(SLACK_PATHS));
        let at_ns = link.now_ns().saturating_add_unsigned(slack);
        Message::Go {
            at_ns,
            stop_ns: planned
                .lasts_ns
                .map(|lasts| at_ns.saturating_add_unsigned(lasts)),
            seed: planned.seed,
        }
    }

    /// All summaries are here.
    pub(super) fn judge(&mut self, link: &mut Link<'_>) {
        let Phase::Trial(mut running) = std::mem::replace(&mut self.phase, Phase::Between) else {
            unreachable!("only a trial is judged")
        };
        let agreed = running.agreed.expect("it was measured");
        running.windows.sort_by_key(|window| window.rank);
        let end_ns = agreed
            .stop_ns
            .or_else(|| running.windows.iter().map(|window| window.end_ns).max())
            .unwrap_or(agreed.at_ns);
        let void = self.late(&running.windows, agreed.at_ns, end_ns);
        self.pass_down(link, &Message::Judged { void: void.clone() });
        let clock = running.clock().expect("both readings are there");
        self.work.judged(&running.trial, void.as_deref(), &clock);
        self.root.judge(Judged {
            trial: running.trial,
            void,
            at_ns: Some(agreed.at_ns),
            summary: running.summary,
            windows: running.windows,
        });
        self.begin_next(link);
    }

    /// Who began so late that the hosts did not measure at one moment.
    fn late(&self, windows: &[Window], at_ns: i64, end_ns: i64) -> Option<String> {
        let lasted = end_ns.abs_diff(at_ns);
        let late_ns_max = lasted / 1000 * LATE_PER_MILLE_MAX;
        let late =
            |window: &&Window| window.start_ns.saturating_sub(at_ns) > late_ns_max.cast_signed();
        let hosts: Vec<String> = windows
            .iter()
            .filter(late)
            .map(|window| {
                let by = window.start_ns.saturating_sub(at_ns);
                let host = name_of_rank(&self.cards, window.rank as usize);
                format!("{host} by {:.1} ms", by as f64 / 1e6)
            })
            .collect();
        (!hosts.is_empty()).then(|| {
            format!(
                "started late: {} (1 % of this trial is {:.1} ms)",
                names(&hosts),
                late_ns_max as f64 / 1e6
            )
        })
    }

    /// The agreed moment came from above, or was made here.
    pub(super) fn take_go(&mut self, link: &mut Link<'_>, go: &Message) {
        self.pass_down(link, go);
        let (
            Phase::Trial(running),
            Message::Go {
                at_ns,
                stop_ns,
                seed,
            },
        ) = (&mut self.phase, go)
        else {
            unreachable!("the start of a trial")
        };
        let clock = running.clock().expect("the clock was compared before");
        let local = crate::work::Go {
            at_ns: clock.to_local(*at_ns),
            stop_ns: stop_ns.map(|stop| clock.to_local(stop)),
            agreed_ns: *at_ns,
            seed: *seed,
        };
        running.overdue_ns = local
            .stop_ns
            .map(|stop| stop.saturating_add(self.settings.overdue_after_ns));
        running.agreed = Some(super::trial::Agreed {
            at_ns: *at_ns,
            stop_ns: *stop_ns,
        });
        running.step = Step::Measuring;
        self.work.run(&local);
    }
}
