//! Every event of every agent below a home folder and a data folder:
//! `cargo run --example events -- ~ ~/.local/share`.
use std::path::PathBuf;

use sessionary_formats::{AGENTS, FORMATS, format_named, read_file, session_files};

fn main() -> std::io::Result<()> {
    let mut given = std::env::args().skip(1).map(PathBuf::from);
    let mut folder = || given.next().expect("a home folder and a data folder");
    let (home, data) = (folder(), folder());
    for agent in AGENTS {
        let folders = agent.folders(&home, &data).into_iter();
        for (root, format) in folders.filter(|(root, _)| root.is_dir()) {
            let format = format_named(FORMATS, format).expect("one");
            let found = session_files(format, &root)?;
            for (folder, why) in found.unread {
                eprintln!("{}: {why}", root.join(folder).display());
            }
            for file in found.files {
                let read = read_file(format, &root, &file)?;
                for entry in read.entries {
                    let (id, role, said) = (&read.session.id, entry.facts.role, entry.passages);
                    let text: String = said.into_iter().flat_map(|one| one.pieces).collect();
                    println!("{}\t{id}\t{role:?}\t{text:?}", agent.name);
                }
            }
        }
    }
    Ok(())
}
