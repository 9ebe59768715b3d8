//! What is read of a fleet's files: each run once, and of the runs those that somebody chose.

mod left_out;
mod machines;
mod made;
mod many_files;
mod many_rows;
mod newest;
mod peers_of_a_host;
mod rewritten;
