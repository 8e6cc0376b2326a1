//! Every event of every agent below a home folder: `cargo run --example events -- ~`.
use std::path::PathBuf;

use sessionary_formats::{AGENTS, FORMATS, entries, session_files};

fn main() -> std::io::Result<()> {
    let home = PathBuf::from(std::env::args().nth(1).expect("a home folder"));
    for agent in AGENTS {
        let format = *FORMATS
            .iter()
            .find(|one| one.name() == agent.format)
            .expect("its format");
        for folder in agent.sessions {
            let root = home.join(agent.dir_default).join(folder);
            for file in session_files(format, &root).unwrap_or_default() {
                for entry in entries(format, &root, &file)? {
                    let (role, said) = (entry.facts.role, entry.passages);
                    let text: String = said.into_iter().flat_map(|one| one.pieces).collect();
                    println!("{}\t{}\t{role:?}\t{text:?}", agent.name, file.display());
                }
            }
        }
    }
    Ok(())
}
