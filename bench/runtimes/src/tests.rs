//! The small mode: each reads what is there, into buffers of this project's crate.

use crate::contenders::CONTENDERS;
use crate::make_file;

#[test]
fn each_way_to_read_reads_the_right_blocks() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = make_file(folder.path()).expect("the folder takes direct I/O");
    for contender in &CONTENDERS {
        for &depth in contender.depths {
            println!("{} at {depth}", contender.name);
            let ns = (contender.run)(&path, depth, 40);
            assert!(ns > 0);
        }
    }
}
