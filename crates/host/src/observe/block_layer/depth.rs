//! How many requests were in the device, over time.

/// Counts requests in and out, and how long each number lasted.
///
/// Requests that were there when the window opened are known only when they come
/// out. So what is followed is the difference to their number, and that is added at
/// the end.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Depth {
    last_ns: u64,
    /// Number in the device less that when the window opened.
    now: i64,
    most: i64,
    /// `now` times nanoseconds, added up.
    area: i128,
    /// Number when the window opened.
    before: i64,
    /// Of the bursts that are over: number times nanoseconds, nanoseconds, and the most.
    over: (i128, u64, u64),
}

impl Depth {
    fn change(&mut self, time_ns: u64, by: i64) {
        // Events that were being written while others were read may be older.
        let time_ns = time_ns.max(self.last_ns);
        self.area += i128::from(self.now) * i128::from(time_ns - self.last_ns);
        self.last_ns = time_ns;
        self.now += by;
        self.most = self.most.max(self.now);
    }

    pub(super) fn enter(&mut self, time_ns: u64) {
        self.change(time_ns, 1);
    }

    pub(super) fn leave(&mut self, time_ns: u64) {
        self.change(time_ns, -1);
    }

    /// One leaves that was there before the window opened.
    pub(super) fn leave_from_before(&mut self, time_ns: u64) {
        self.before += 1;
        self.change(time_ns, -1);
    }

    /// The part of the window until then. What is in the device goes on into the next
    /// part, in which it is known.
    pub(super) fn part(&mut self, until_ns: u64) -> Self {
        self.change(until_ns, 0);
        let now = self.before + self.now;
        let next = Self {
            last_ns: self.last_ns,
            now,
            most: now,
            ..Self::default()
        };
        std::mem::replace(self, next)
    }

    /// What was seen from `from_ns` to `until_ns` counts; nobody sees what enters and
    /// leaves until the next change.
    pub(super) fn burst(&mut self, from_ns: u64, until_ns: u64) {
        self.change(until_ns, 0);
        let (area, length_ns, most) = self.over;
        let length = until_ns.saturating_sub(from_ns);
        // No less than 0: what leaves entered, or was there before.
        let most_here = u64::try_from(self.before + self.most).unwrap_or(0);
        let area_here = self.area + i128::from(self.before) * i128::from(length);
        *self = Self {
            last_ns: self.last_ns,
            over: (area + area_here, length_ns + length, most.max(most_here)),
            ..Self::default()
        };
    }

    /// Mean over the bursts, and the most at one time.
    pub(super) fn over(&self) -> (f64, u64) {
        let (area, length_ns, most) = self.over;
        let mean = if length_ns == 0 {
            0.0
        } else {
            area as f64 / length_ns as f64
        };
        (mean, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(mut depth: Depth, from_ns: u64, until_ns: u64) -> (f64, u64) {
        depth.burst(from_ns, until_ns);
        depth.over()
    }

    #[test]
    fn the_mean_is_weighted_by_time() {
        let mut depth = Depth::default();
        depth.enter(1100);
        depth.enter(1200);
        depth.leave(1300);
        depth.leave(1700);
        // 100 of one, 100 of two, 400 of one, of 1000.
        assert_eq!(over(depth, 1000, 2000), (0.7, 2));
    }

    #[test]
    fn parts_of_a_window_have_what_went_on_from_the_one_before() {
        let mut depth = Depth::default();
        depth.leave_from_before(50);
        depth.enter(60);
        // One for 50, one for 40.
        assert_eq!(over(depth.part(100), 0, 100), (0.9, 1));
        depth.enter(110);
        depth.leave(150);
        // One for 10, two for 40, one for 50.
        assert_eq!(over(depth.part(200), 100, 200), (1.4, 2));
        // One more was there all the time, as its end tells.
        depth.leave_from_before(250);
        assert_eq!(over(depth.part(300), 200, 300), (1.5, 2));
        assert_eq!(over(depth, 300, 400), (1.0, 1));
    }

    #[test]
    fn requests_from_before_the_window_count_from_its_start() {
        let mut depth = Depth::default();
        depth.leave_from_before(50);
        depth.enter(60);
        depth.leave_from_before(80);
        // Two for 50, one for 10, two for 20, one for 20.
        assert_eq!(over(depth, 0, 100), (1.7, 2));
    }

    #[test]
    fn bursts_count_by_their_lengths_and_the_time_between_them_not_at_all() {
        let mut depth = Depth::default();
        depth.enter(20);
        // 80 of one.
        depth.burst(0, 100);
        // That one went unseen, and three others came, of which two are seen to leave.
        depth.leave_from_before(910);
        depth.leave_from_before(930);
        depth.enter(940);
        depth.burst(900, 1000);
        // 10 of two, 20 of one, 60 of one.
        assert_eq!(depth.over(), ((80.0 + 20.0 + 20.0 + 60.0) / 200.0, 2));
        // A burst in which nothing happens.
        depth.burst(2000, 2200);
        assert_eq!(depth.over(), (180.0 / 400.0, 2));
    }
}
