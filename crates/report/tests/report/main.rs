//! The views as their users see them: text by snapshots, JSON by its schema.

mod classic;
mod copying;
mod documents;
mod every_fact;
mod export;
mod fixtures;
mod fleet;
mod formats;
mod html;
mod import;
mod live;
mod over_time;
mod plus_minus;
mod schema;
mod strided_lines;
mod summary;
mod text;
mod watch;
