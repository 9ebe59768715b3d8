//! The drawings, one in each file: what is drawn, as plain data made from the record, then how.

mod binary;
pub(crate) mod budget;
mod cells;
pub(crate) mod choice;
pub(crate) mod curves;
pub(crate) mod depth;
mod ends;
mod forest;
pub(crate) mod heat;
pub(crate) mod hosts;
pub(crate) mod layers;
pub(crate) mod matrix;
pub(crate) mod percentiles;
pub(crate) mod ratios;
pub(crate) mod stack;
pub(crate) mod strides;
pub(crate) mod timeline;
pub(crate) mod trend;
pub(crate) mod trials;
pub(crate) mod zones;
