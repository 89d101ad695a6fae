//! See `frisbee_tests::targets::two_way`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| frisbee_tests::targets::two_way(data));
