//! The full screen of `--live`: what is known now, drawn into the cells of a terminal.
//!
//! A view says what is shown, as lines for so many columns and rows; [`draw`] puts them
//! between a title and a line of keys. Nothing here knows a terminal, a key or a clock.
//! Colours only repeat what characters say, and are those 16 that every terminal shows in
//! shades that its user can read.

mod claims;
mod course;
mod devices;
mod help;
mod layout;
mod line;
mod requests;
mod run;
mod stages;

pub use claims::Known;
pub use course::{Course, Moment};
pub use devices::{DeviceNow, DevicesView, Followed};
pub use line::Line;
pub use requests::RequestsView;
pub use run::{RunView, Running};
pub use stages::StageNow;

use super::heading;
use super::look::{Look, Style};
use diskfacts_record::Stack;
use ratatui_core::buffer::Buffer;

/// The least that anything is drawn into, columns and rows.
const LEAST: (usize, usize) = (40, 8);

/// What a screen shows.
pub trait View {
    /// What it is of, and what stands at the right end of the same row.
    fn title(&self) -> (String, String);
    /// At most so many rows of at most so many columns.
    fn body(&self, look: &Look, width: usize, height: usize) -> Vec<Line>;
    /// What the key `q` does: `ends and stores`.
    fn quits(&self) -> &'static str;
    /// What its parts mean, a paragraph each.
    fn help(&self) -> &'static [&'static str];
}

/// What is shown around every view.
#[derive(Debug, Clone, Copy, Default)]
pub struct Around<'a> {
    /// Whether the view stands still.
    pub is_paused: bool,
    /// Whether the meaning of it all is shown in place of the view.
    pub has_help: bool,
    /// The last thing that was said.
    pub message: Option<&'a str>,
}

/// Draws a view over all of a buffer.
pub fn draw(view: &dyn View, around: &Around<'_>, look: &Look, buffer: &mut Buffer) {
    let area = *buffer.area();
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    if width < LEAST.0 || height < LEAST.1 {
        let text = format!("at least {} x {}", LEAST.0, LEAST.1);
        let lines = [Line::plain("too small:"), Line::plain(&text)];
        for (row, line) in (area.y..area.bottom()).zip(&lines) {
            line.draw(look, buffer, row);
        }
        return;
    }
    let message = around.message.map(|text| Line::of(Style::Doubtful, text));
    let rows = height - 2 - usize::from(message.is_some());
    let mut body = if around.has_help {
        help::lines(view.help(), view.quits(), look, width, rows)
    } else {
        view.body(look, width, rows)
    };
    body.resize_with(rows, Line::default);
    let (title, right) = view.title();
    let right = if around.is_paused {
        format!("PAUSED  {right}")
    } else {
        right
    };
    let title = Line::ends(look, Style::Heading, &title, &right, width);
    let keys = [
        format!("q {}", view.quits()),
        if around.is_paused {
            "p goes on"
        } else {
            "p pauses"
        }
        .to_owned(),
        if around.has_help { "? back" } else { "? help" }.to_owned(),
    ];
    let keys = Line::of(Style::Minor, &keys.join("   "));
    let all = [title].into_iter().chain(body).chain(message).chain([keys]);
    for (row, line) in (area.y..area.bottom()).zip(all) {
        line.draw(look, buffer, row);
    }
}

/// What a run is of: `/srv: ext4 on vda1 on vda`; of what has no stack the target alone.
pub fn title(target: &str, stack: &Stack, look: &Look) -> String {
    let target = look.clean(target);
    if stack.devices.is_empty() && stack.filesystem.is_none() {
        return target.into_owned();
    }
    format!("{target}: {}", heading::stack(stack))
}
