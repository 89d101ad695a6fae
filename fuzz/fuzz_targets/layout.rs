//! See `frisbee_tests::targets::layout`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| frisbee_tests::targets::layout(data));
