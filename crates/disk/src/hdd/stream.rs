//! What the drive reads on by itself, and the buffer that holds it.

use super::geometry::Geometry;
use super::parameters::ReadAheadParameters;
use crate::device::Extent;
use std::collections::VecDeque;

/// How a read stands to the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// Everything is there.
    Hit,
    /// The head is about to pass over what is missing.
    Join {
        /// When the head reaches the first byte that is missing at the time asked for.
        start_ns: u64,
        /// When the head has passed the last byte.
        end_ns: u64,
    },
    /// The buffer holds the bytes before this one; the head has stopped there.
    Partial {
        /// The first byte that must be read.
        from: u64,
    },
    /// Nothing of it.
    Miss,
}

/// The sequence of bytes that the head is following.
#[derive(Debug, Clone, Copy)]
struct Stream {
    /// First byte of the buffer.
    base: u64,
    /// Time and media time at one point of the stream: they run in step.
    origin_ns: u64,
    origin_media_ns: u64,
    /// Reading stops before this byte.
    limit: u64,
    /// And not before this time, ns; when exactly is worked out when asked.
    runs_until_ns: u64,
    /// One past the last byte that was asked for.
    asked: u64,
    /// What small reads have cost and was not yet paid with a revolution, ns.
    debt_ns: u64,
}

impl Stream {
    fn time_at(&self, media_ns: u64) -> u64 {
        (self.origin_ns + media_ns).saturating_sub(self.origin_media_ns)
    }

    /// Whether the head has reached the limit and stopped.
    #[inline]
    fn has_stopped(&self, geometry: &Geometry, now_ns: u64) -> bool {
        now_ns >= self.runs_until_ns
            && now_ns >= self.time_at(geometry.media_end_ns(self.limit).max(self.origin_media_ns))
    }

    /// The limit is `limit` from now on; until it is reached at least the time
    /// passes that the bytes from `from` on take on the longest track.
    fn set_limit(&mut self, from: u64, limit: u64, ns_per_mib: u64) {
        self.limit = limit;
        self.runs_until_ns = self.origin_ns + (limit.saturating_sub(from) >> 20) * ns_per_mib;
    }
}

/// What a finished segment holds.
#[derive(Debug, Clone, Copy)]
struct Segment {
    start: u64,
    /// It may hold bytes up to here ...
    limit: u64,
    /// ... and does up to this media time, ns.
    end_media_ns: u64,
}

/// The read-ahead buffer: one segment being filled and a few finished ones.
#[derive(Debug, Clone)]
pub struct ReadAhead {
    parameters: ReadAheadParameters,
    stream: Option<Stream>,
    finished: VecDeque<Segment>,
    /// Time of a MiB on the longest track, ns, rounded down.
    ns_per_mib: u64,
    /// What is never read ahead, in order: weak sectors and slow zones are
    /// only read when asked for.
    barriers: Vec<Extent>,
}

impl ReadAhead {
    /// An empty buffer. Nothing of `barriers` is read ahead.
    pub fn new(
        parameters: ReadAheadParameters,
        geometry: &Geometry,
        mut barriers: Vec<Extent>,
    ) -> Self {
        barriers.sort_unstable();
        Self {
            parameters,
            ns_per_mib: (geometry.revolution_ns() << 20) / geometry.track_bytes_max(),
            stream: None,
            finished: VecDeque::new(),
            barriers,
        }
    }

    /// How a read of `start..end`, ready at `now_ns`, stands to the buffer.
    pub fn lookup(&self, geometry: &Geometry, now_ns: u64, start: u64, end: u64) -> Lookup {
        if self.is_barred(start, end) {
            return Lookup::Miss;
        }
        if let Some(stream) = &self.stream
            && start >= stream.base
            && start <= stream.limit
        {
            let found = self.lookup_in(stream, geometry, now_ns, start, end);
            if found != Lookup::Miss {
                return found;
            }
        }
        let mut end_media_ns = None;
        let mut holds = |segment: &Segment| {
            segment.start <= start
                && end <= segment.limit
                && *end_media_ns.get_or_insert_with(|| geometry.media_end_ns(end))
                    <= segment.end_media_ns
                && !self.is_overwritten(geometry, start, segment.end_media_ns)
        };
        if self.finished.iter().any(&mut holds) {
            Lookup::Hit
        } else {
            Lookup::Miss
        }
    }

    /// Whether `byte` had to make room in the buffer before the head came to
    /// media time `end_media_ns`.
    fn is_overwritten(&self, geometry: &Geometry, byte: u64, end_media_ns: u64) -> bool {
        let last = byte.saturating_add(self.parameters.segment_bytes);
        last < geometry.capacity() && geometry.media_ns(last) < end_media_ns
    }

    /// When the head would be at the first byte of a read that waits for it,
    /// if the stream passes there soon enough. Reads that are in the buffer
    /// count as reached at once.
    #[inline]
    pub fn reached_ns(
        &self,
        geometry: &Geometry,
        now_ns: u64,
        start: u64,
        end: u64,
    ) -> Option<u64> {
        let stream = self.stream.as_ref()?;
        if start < stream.base || start > stream.limit || self.is_barred(start, end) {
            return None;
        }
        match self.lookup_in(stream, geometry, now_ns, start, end) {
            Lookup::Hit => Some(now_ns),
            Lookup::Join { start_ns, .. } => Some(start_ns),
            Lookup::Partial { .. } | Lookup::Miss => None,
        }
    }

    fn lookup_in(
        &self,
        stream: &Stream,
        geometry: &Geometry,
        now_ns: u64,
        start: u64,
        end: u64,
    ) -> Lookup {
        if stream.has_stopped(geometry, now_ns) {
            // The head has stopped; the buffer holds base..limit.
            let oldest = stream.limit.saturating_sub(self.parameters.segment_bytes);
            return if start < oldest.min(stream.asked) {
                Lookup::Miss
            } else if end <= stream.limit {
                Lookup::Hit
            } else if start < stream.limit {
                Lookup::Partial { from: stream.limit }
            } else {
                Lookup::Miss
            };
        }
        // Asked for again: is it still there?
        if start < stream.asked {
            let passed_ns = now_ns.saturating_sub(stream.origin_ns);
            let head_media_ns = stream.origin_media_ns + passed_ns;
            if self.is_overwritten(geometry, start, head_media_ns) {
                return Lookup::Miss;
            }
        }
        let end_ns = stream.time_at(geometry.media_end_ns(end));
        if end_ns <= now_ns {
            return Lookup::Hit;
        }
        let start_ns = stream.time_at(geometry.media_ns(start));
        let horizon_ns = self.parameters.horizon_millitracks * geometry.track_ns() / 1000;
        if start_ns <= now_ns + horizon_ns {
            Lookup::Join {
                start_ns: start_ns.max(now_ns),
                end_ns,
            }
        } else {
            Lookup::Miss
        }
    }

    /// A read of `start..end` was served from the stream at `now_ns`: it reads
    /// on. Gives the byte at which it has stopped and should begin again, if
    /// half of the buffer has become free, and whether a revolution was lost.
    pub fn served(&mut self, geometry: &Geometry, now_ns: u64, start: u64, end: u64) -> Served {
        let limit = self.limit_behind(geometry, end);
        let parameters = self.parameters;
        let mut served = Served::default();
        let Some(stream) = &mut self.stream else {
            return served;
        };
        if start < stream.base || end > stream.limit.max(limit) {
            return served;
        }
        if start == stream.asked && end - start < parameters.resume_below {
            stream.debt_ns += parameters.resume_ns;
            if stream.debt_ns >= geometry.revolution_ns() {
                stream.debt_ns -= geometry.revolution_ns();
                stream.origin_ns += geometry.revolution_ns();
                stream.runs_until_ns += geometry.revolution_ns();
                served.lost_revolution = true;
            }
        }
        stream.asked = stream.asked.max(end);
        if limit <= stream.limit {
            return served;
        }
        if !stream.has_stopped(geometry, now_ns) {
            // A lower bound of the time stays one when the limit moves on.
            stream.limit = limit;
        } else if limit - stream.limit >= parameters.segment_bytes / 2 {
            served.resume_at = Some(stream.limit);
        }
        served
    }

    /// The head has passed the last byte before `end`, at media time
    /// `end_media_ns`, at `now_ns`, having read `start..end`; it reads on.
    pub fn begin(
        &mut self,
        geometry: &Geometry,
        now_ns: u64,
        start: u64,
        end: u64,
        end_media_ns: u64,
    ) {
        if self.parameters.segment_bytes == 0 {
            return;
        }
        let (base, debt_ns) = match &self.stream {
            Some(stream) if stream.limit == start => (stream.base, stream.debt_ns),
            Some(stream) => (start, stream.debt_ns),
            None => (start, 0),
        };
        let limit = self.limit_behind(geometry, end);
        let mut stream = Stream {
            base,
            origin_ns: now_ns,
            origin_media_ns: end_media_ns,
            limit,
            runs_until_ns: now_ns,
            asked: end,
            debt_ns,
        };
        stream.set_limit(end, limit, self.ns_per_mib);
        self.stream = Some(stream);
    }

    /// A stopped stream goes on: the head will be over the byte it stopped at
    /// at `start_ns`, of media time `media_ns`.
    pub fn resume(&mut self, geometry: &Geometry, start_ns: u64, media_ns: u64) {
        let Some(mut stream) = self.stream else {
            return;
        };
        let from = stream.limit;
        stream.origin_ns = start_ns;
        stream.origin_media_ns = media_ns;
        let limit = self.limit_behind(geometry, stream.asked);
        stream.set_limit(from, limit, self.ns_per_mib);
        self.stream = Some(stream);
    }

    fn limit_behind(&self, geometry: &Geometry, end: u64) -> u64 {
        let limit = end
            .saturating_add(self.parameters.segment_bytes)
            .min(geometry.capacity());
        let next = self.barriers.partition_point(|barrier| barrier.end <= end);
        self.barriers
            .get(next)
            .map_or(limit, |barrier| limit.min(barrier.start.max(end)))
    }

    /// Whether something of `start..end` is never read ahead.
    fn is_barred(&self, start: u64, end: u64) -> bool {
        let range = Extent { start, end };
        self.barriers.iter().any(|barrier| barrier.overlaps(&range))
    }

    /// The arm is needed elsewhere at `now_ns`. What was read stays in the
    /// buffer. Gives the byte the head is at, if it has left the track on
    /// which the stream began.
    pub fn stop(&mut self, geometry: &Geometry, now_ns: u64) -> Option<u64> {
        let stream = self.stream.take()?;
        let passed_ns = now_ns.saturating_sub(stream.origin_ns);
        let mut end_media_ns = stream.origin_media_ns + passed_ns;
        if now_ns >= stream.runs_until_ns {
            let limit_media_ns = geometry.media_end_ns(stream.limit);
            end_media_ns = end_media_ns.min(limit_media_ns.max(stream.origin_media_ns));
        }
        if self.parameters.segments > 0 {
            if self.finished.len() >= self.parameters.segments {
                self.finished.pop_front();
            }
            self.finished.push_back(Segment {
                start: stream.base,
                limit: stream.limit,
                end_media_ns,
            });
        }
        // Within a small part of a revolution the arm moves by a track at most.
        (passed_ns > geometry.revolution_ns() / 4)
            .then(|| geometry.byte_at(end_media_ns).min(stream.limit))
    }

    /// What was buffered of `start..end` is not true any more.
    pub fn forget(&mut self, start: u64, end: u64) {
        self.finished
            .retain(|segment| end <= segment.start || segment.limit <= start);
        if let Some(stream) = &self.stream
            && stream.base < end
            && start < stream.limit
        {
            self.stream = None;
        }
    }

    /// What begins at `byte` may be read ahead again: it was healed.
    pub fn remove_barrier(&mut self, byte: u64) {
        self.barriers.retain(|barrier| barrier.start != byte);
    }
}

/// What came of a read served from the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Served {
    /// Where a stopped stream should begin again.
    pub resume_at: Option<u64>,
    /// Whether the stream fell back by a revolution.
    pub lost_revolution: bool,
}
