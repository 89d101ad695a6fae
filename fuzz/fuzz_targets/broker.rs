//! See `frisbee_tests::targets::broker`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| frisbee_tests::targets::broker(data));
