//! See `frisbee_tests::targets::tensor`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| frisbee_tests::targets::tensor(data));
