//! Processor time per operation beside the standard library and rustix by hand,
//! in alternation.
//!
//! `cargo bench -p directio --bench beside` prints medians, and ratios to the row
//! "by hand" with their lower and upper quartile; `-- --folder /mnt/disk` works
//! there. `cargo test` runs a few operations to see that it works.
//!
//! Processor time, and not time: what a program pays for a call is what differs
//! here, and what the device takes does not.

#[cfg(target_os = "linux")]
mod linux;

fn main() {
    #[cfg(target_os = "linux")]
    linux::main();
    #[cfg(not(target_os = "linux"))]
    println!("this benchmark opens with O_DIRECT by hand, as Linux has it");
}
