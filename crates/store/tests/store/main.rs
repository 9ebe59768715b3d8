//! The store as the rest of diskfacts sees it: files, processes, runs.

mod child;
mod figures;
mod intake;
mod labels;
mod older;
mod places;
mod processes;
mod round_trip;
mod runs;
mod sample;
