//! `cargo run --example log -- FILE [RECORD...]` appends, and prints all records.

mod log;

use std::process::ExitCode;

use directio::Error;
use log::Log;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((path, records)) = arguments.split_first() else {
        eprintln!("usage: log FILE [RECORD...]");
        return ExitCode::from(2);
    };
    let all = || -> Result<Vec<Vec<u8>>, Error> {
        let (mut log, mut there) = Log::open(path.as_ref())?;
        for record in records {
            log.append(record.as_bytes())?;
            there.push(record.clone().into_bytes());
        }
        Ok(there)
    };
    match all() {
        Ok(there) => {
            for record in there {
                println!("{}", String::from_utf8_lossy(&record));
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("log: {error:#}");
            ExitCode::FAILURE
        }
    }
}
