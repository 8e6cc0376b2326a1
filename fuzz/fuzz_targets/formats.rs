//! See `tests/fuzzing/targets.rs`.
#![no_main]
#![allow(dead_code)]

#[path = "../../tests/fuzzing/reference.rs"]
mod reference;
#[path = "../../tests/fuzzing/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::formats(bytes));
