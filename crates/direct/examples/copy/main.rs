//! `cargo run --example copy -- FROM TO`

mod copy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let paths: Vec<_> = std::env::args_os().skip(1).collect();
    let [from, to] = paths.as_slice() else {
        eprintln!("usage: copy FROM TO");
        return ExitCode::from(2);
    };
    match copy::copy(from.as_ref(), to.as_ref()) {
        Ok(bytes) => {
            println!("{bytes} bytes");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("copy: {error:#}");
            ExitCode::FAILURE
        }
    }
}
