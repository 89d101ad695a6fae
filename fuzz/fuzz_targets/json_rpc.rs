//! See `frisbee_tests::targets::json_rpc`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| frisbee_tests::targets::json_rpc(data));
