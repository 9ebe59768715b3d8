#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| diskfacts_fuzz_targets::mountstats::run(input));
