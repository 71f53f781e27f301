#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tiphys_fuzz::run("chart_template", bytes));
