#[test]
fn a() {}
mod words;
