//! See `frisbee_tests::targets::http2`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| frisbee_tests::targets::http2(data));
