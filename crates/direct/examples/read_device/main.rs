//! `cargo run --example read_device -- /dev/sdb` as root; any file will do.

mod read_device;

use std::path::Path;
use std::process::ExitCode;

use directio::{OpenOptions, geometry};

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: read_device DEVICE");
        return ExitCode::from(2);
    };
    let path: &Path = path.as_ref();
    // A file has no geometry; then there is nothing to say of it.
    let device = OpenOptions::new().read(true).open(path);
    if let Ok(device) = device.and_then(|opened| geometry(&opened)) {
        println!(
            "{} of {} bytes in sectors of {}",
            device.model.as_deref().unwrap_or("a device"),
            device.size,
            device.logical_sector_size
        );
    }
    match read_device::read(path) {
        Ok((bytes, sum)) => {
            println!("{bytes} bytes, Adler-32 {sum:08x}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("read_device: {error:#}");
            ExitCode::FAILURE
        }
    }
}
