//! What pi's files and lines are: by their paths, and as the extensions of pi write them.

use std::path::Path;

use super::Dialect;
use crate::Format;
use crate::model::Placement;

#[test]
fn copies_of_what_subagents_say_are_no_sessions() {
    // As pi-subagents writes them: 0.33.0 and later, before 0.8.4, and beside a subagent's own.
    for path in [
        "--w--/subagent-artifacts/5f31_scout_0_transcript.jsonl",
        "--w--/subagent-artifacts/5f31_scout_0.jsonl",
        "--w--/2026-05-12T01-02-27-000Z_a1/5f31/run-0/subagent-artifacts/77_scout.jsonl",
    ] {
        let path = Path::new(path);
        for dialect in Dialect::ALL {
            let place = dialect.place(path, false);
            assert!(matches!(place, Placement::Ignore(_)), "{}", path.display());
        }
        assert!(Dialect::PI.leaves_out(path.parent().unwrap()).is_some());
    }
    for session in ["--w--/a.jsonl", "--subagent-artifacts--/a.jsonl"] {
        let path = Path::new(session);
        let place = Dialect::PI.place(path, false);
        assert!(matches!(place, Placement::Source { .. }), "{session}");
        assert_eq!(Dialect::PI.leaves_out(path.parent().unwrap()), None);
    }
}
