//! What does claudex find below `$HOME`? A line of JSON for each session, for the program above.

use std::collections::HashMap;
use std::path::PathBuf;

use claudex::api::{Claudex, ClaudexConfig, Filter};
use serde_json::json;

fn main() -> anyhow::Result<()> {
    let state = std::env::args_os().nth(1).map(PathBuf::from);
    let mut claudex = Claudex::with_config(ClaudexConfig {
        state_dir: state,
        ..ClaudexConfig::default()
    })?;
    claudex.sync_now()?;
    let all = 1_000_000;
    let mut tokens = HashMap::new();
    for row in claudex.costs_per_session(None, Filter::default(), all)? {
        let sums = [
            row.input_tokens,
            row.output_tokens,
            row.cache_read_tokens,
            row.cache_creation_tokens,
        ];
        tokens.insert((row.provider, row.session_id), sums);
    }
    for session in claudex.sessions(None, None, Filter::default(), all)? {
        let key = (session.provider.clone(), session.session_id.clone());
        let line = json!({
            "agent": session.provider,
            "id": session.session_id,
            "path": session.file_path,
            "tokens": tokens.get(&key),
        });
        println!("{line}");
    }
    Ok(())
}
