//! See `frisbee_tests::targets::shared_memory`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| frisbee_tests::targets::shared_memory(data));
