//! The lines of other programs: what stands in the documents that the project
//! starts from, and what is printed and read again.

mod bonnie;
mod dd;
mod documents;
mod iostat;
mod random;
