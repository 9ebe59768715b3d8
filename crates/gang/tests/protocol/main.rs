//! The protocol in virtual time, under every delay, drift, death and disagreement.

mod agreement;
mod clocks;
mod group;
mod loss;
mod merging;
