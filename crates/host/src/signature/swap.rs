//! Marks of swap areas and hibernated systems: the last ten bytes of the first
//! page, whose size depends on the machine that made them.
//!
//! Source: kernel, `include/linux/swap.h` (`union swap_header`),
//! `kernel/power/swap.c` (`S1SUSPEND`).

use super::SignatureKind::Swap;
use super::magic::Magic;

const SOURCE: &str = "kernel: include/linux/swap.h, kernel/power/swap.c";

const fn mark(name: &'static str, page: u64, bytes: &'static [u8]) -> Magic {
    Magic::at(Swap, name, page - 10, bytes, SOURCE).named(1024 + 28, 16)
}

const fn hibernated(page: u64, bytes: &'static [u8]) -> Magic {
    Magic::at(Swap, "hibernated system", page - 10, bytes, SOURCE)
}

pub(super) const MAGICS: &[Magic] = &[
    mark("Linux", 4096, b"SWAPSPACE2"),
    mark("Linux", 8192, b"SWAPSPACE2"),
    mark("Linux", 16384, b"SWAPSPACE2"),
    mark("Linux", 32768, b"SWAPSPACE2"),
    mark("Linux", 65536, b"SWAPSPACE2"),
    mark("old Linux", 4096, b"SWAP-SPACE"),
    mark("old Linux", 8192, b"SWAP-SPACE"),
    mark("old Linux", 16384, b"SWAP-SPACE"),
    mark("old Linux", 32768, b"SWAP-SPACE"),
    mark("old Linux", 65536, b"SWAP-SPACE"),
    hibernated(4096, b"S1SUSPEND"),
    hibernated(4096, b"S2SUSPEND"),
    hibernated(4096, b"ULSUSPEND"),
    hibernated(4096, b"LINHIB0001"),
    hibernated(8192, b"S1SUSPEND"),
    hibernated(16384, b"S1SUSPEND"),
    hibernated(16384, b"LINHIB0001"),
    hibernated(65536, b"S1SUSPEND"),
    hibernated(65536, b"LINHIB0001"),
];
