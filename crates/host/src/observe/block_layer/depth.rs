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

    /// Mean over the window, and the most at one time.
    pub(super) fn finish(mut self, from_ns: u64, until_ns: u64) -> (f64, u64) {
        self.change(until_ns, 0);
        let length = until_ns.saturating_sub(from_ns);
        let mean = if length == 0 {
            0.0
        } else {
            self.area as f64 / length as f64
        };
        // No less than 0: what leaves entered, or was there before.
        let most = u64::try_from(self.before + self.most).unwrap_or(0);
        (self.before as f64 + mean, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_weighted_by_time() {
        let mut depth = Depth::default();
        depth.enter(1100);
        depth.enter(1200);
        depth.leave(1300);
        depth.leave(1700);
        // 100 of one, 100 of two, 400 of one, of 1000.
        assert_eq!(depth.finish(1000, 2000), (0.7, 2));
    }

    #[test]
    fn requests_from_before_the_window_count_from_its_start() {
        let mut depth = Depth::default();
        depth.leave_from_before(50);
        depth.enter(60);
        depth.leave_from_before(80);
        // Two for 50, one for 10, two for 20, one for 20.
        assert_eq!(depth.finish(0, 100), (1.7, 2));
    }
}
