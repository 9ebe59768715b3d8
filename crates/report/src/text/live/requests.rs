//! The screen of `diskfacts watch --live`.

use super::super::look::{Look, Style};
use super::super::watch;
use super::layout::{Wanted, rows};
use super::line::Line;
use super::{Course, View};
use diskfacts_record::evidence::BlockLayer;

/// Rows of the course of a device: a title, its rate, some of latencies, what they are of.
const COURSE: Wanted = Wanted {
    least: 5,
    enough: 9,
    most: 18,
};

/// What the block layer does with the requests of some devices.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestsView {
    /// The devices.
    pub what: String,
    /// The time of day.
    pub at: String,
    /// The last part; absent before the first ended.
    pub part: Option<BlockLayer>,
    /// The requests of each device over time, with their times at the device.
    pub courses: Vec<(String, Course)>,
}

impl View for RequestsView {
    fn title(&self) -> (String, String) {
        (format!("diskfacts watch: {}", self.what), self.at.clone())
    }

    fn body(&self, look: &Look, width: usize, height: usize) -> Vec<Line> {
        let Some(part) = &self.part else {
            return vec![Line::of(Style::Minor, "Following the first requests.")];
        };
        let table = watch::table(
            part,
            &Look {
                width,
                colour: false,
                ..*look
            },
        );
        let mut lines: Vec<Line> = table.lines().map(Line::plain).collect();
        let busy: Vec<&(String, Course)> = self
            .courses
            .iter()
            .filter(|(_, course)| course.last().is_some())
            .collect();
        let [for_table, for_courses] = rows(
            height,
            [
                Wanted::all_of(lines.len(), 3),
                Wanted {
                    least: COURSE.least.min(COURSE.least * busy.len()),
                    enough: COURSE.enough * busy.len(),
                    most: COURSE.most * busy.len(),
                },
            ],
        );
        lines.truncate(for_table);
        // As many devices as have room, the topmost first.
        let drawn = (for_courses / COURSE.least).min(busy.len());
        for (name, course) in busy.iter().take(drawn) {
            let title = format!("{name}: requests per second, and their time at the device");
            lines.push(Line::of(Style::Heading, &title));
            lines.extend(course.lines(look, width, for_courses / drawn - 1));
        }
        lines
    }

    fn quits(&self) -> &'static str {
        "ends"
    }

    fn help(&self) -> &'static [&'static str] {
        &[
            "The table: requests of the last interval; queued: from being made to being given to \
             the device; at the device: from there to completion.",
            "Below: requests per second over time, and their time at the device, a column for \
             each interval: {shades} of the requests any, and from 1, 10 and 50 % on.",
            "At the end all of it is printed, with whole distributions.",
        ]
    }
}
