//! The store as the rest of diskfacts sees it: files, processes, runs.

mod child;
mod places;
mod processes;
mod round_trip;
mod runs;
mod sample;
