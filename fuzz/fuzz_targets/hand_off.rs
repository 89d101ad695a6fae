//! See `frisbee_tests::targets::hand_off`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| frisbee_tests::targets::hand_off(data));
