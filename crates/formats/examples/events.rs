//! Every event of every agent below a home folder: `cargo run --example events -- ~`.
use std::path::PathBuf;

use sessionary_formats::{AGENTS, FORMATS, entries, session_files};

fn main() -> std::io::Result<()> {
    let home = PathBuf::from(std::env::args().nth(1).expect("a home folder"));
    for agent in AGENTS {
        let mut formats = FORMATS.iter().copied();
        let format = formats.find(|one| one.name() == agent.format).expect("one");
        let roots = agent.sessions.iter();
        let roots = roots.map(|folder| home.join(agent.dir_default).join(folder));
        for root in roots.filter(|root| root.is_dir()) {
            let found = session_files(format, &root)?;
            for (folder, why) in found.unread {
                eprintln!("{}: {why}", root.join(folder).display());
            }
            for file in found.files {
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
