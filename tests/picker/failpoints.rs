//! What becomes of the terminal when the picker panics?

use super::home;
use super::pty::Pty;

#[test]
fn a_panic_in_any_thread_is_told_on_a_terminal_that_is_as_it_was() {
    let home = home();
    for (place, typed) in [
        ("picker-draws=3*off->panic(drawn wrongly)", "li"),
        ("picker-asks=1*off->panic(asked wrongly)", "l"),
        ("picker-reads=1*off->panic(read wrongly)", "\x1b[B"),
    ] {
        for arguments in [&["pick"][..], &["pick", "--height", "40%"]] {
            if place.contains("reads") && arguments.len() > 1 {
                // There is no preview.
                continue;
            }
            let pty = Pty::new(100, 30);
            let before = pty.condition();
            let mut command = home.command(arguments);
            command.env("FAILPOINTS", place);
            let mut program = pty.start(&command);
            pty.until_shown("Linker error in CI");
            pty.keys(typed);
            pty.keys(typed);
            let code = program.code();
            pty.until_shown("wrongly");
            assert!(matches!(code, Some(2 | 101)), "{place}: {code:?}");
            assert!(pty.text().contains("panicked at"), "{}", pty.text());
            assert!(pty.condition().is_like_but_for_text(&before), "{place}");
            assert!(!pty.text().contains("Linker"), "{}", pty.text());
        }
    }
}
