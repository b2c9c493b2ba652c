#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| e2e_tests::fuzz::values(data).unwrap());
