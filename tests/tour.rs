//! Is what the documents show true? Each command below a `<!-- tour -->` runs on the home in
//! `fixtures/tour`; the output must be what stands below it.

use std::fs;

use crate::documents;
use crate::sandbox::Sandbox;

/// The commands of every block below `<!-- tour -->`, each with the output that the document shows.
fn tour(document: &str) -> Vec<(String, String)> {
    let blocks = document.split("<!-- tour -->\n```console\n").skip(1);
    blocks
        .map(|rest| rest.split_once("\n```").expect("the end of a block").0)
        .flat_map(steps)
        .collect()
}

/// The commands of one block.
fn steps(block: &str) -> Vec<(String, String)> {
    let mut steps: Vec<(String, String)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ sessionary"), steps.last_mut()) {
            (Some(arguments), _) => steps.push((arguments.trim().to_owned(), String::new())),
            (None, Some((_, output))) => {
                output.push_str(line);
                output.push('\n');
            }
            (None, None) => panic!("output before the first command: {line}"),
        }
    }
    steps
}

/// The words of a command, as a shell splits these.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for character in command.chars() {
        match (character, quote) {
            ('"' | '\'', None) => quote = Some(character),
            (_, Some(open)) if open == character => quote = None,
            (' ', None) => words.push(String::new()),
            _ => words.last_mut().expect("a word").push(character),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The home of the tour, with the folder that the sessions are about.
fn home() -> Sandbox {
    let home = Sandbox::new();
    let from = documents::project().join("fixtures/tour");
    for entry in walkdir::WalkDir::new(&from) {
        let entry = entry.expect("a fixture");
        if !entry.file_type().is_file() {
            continue;
        }
        let below = entry.path().strip_prefix(&from).expect("below it");
        let text = fs::read_to_string(entry.path()).expect("text");
        let path = home.write(&below.display().to_string(), &text);
        if below.starts_with("clido") {
            home.touch(&path, 1_767_355_200); // 2026-01-02T12:00:00Z
        }
    }
    fs::create_dir_all(home.home.join("code/app")).expect("its folder");
    home
}

#[test]
fn what_the_documents_show_is_true() {
    let mut commands = 0;
    for document in documents::documents() {
        let steps = tour(&documents::text(&document));
        if steps.is_empty() {
            continue;
        }
        commands += steps.len();
        let home = home();
        let cwd = home.home.join("code/app");
        let (mut shown, mut expected) = (String::new(), String::new());
        for (command, output) in &steps {
            let words = words(command);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let ran = home
                .command(&words)
                .current_dir(&cwd)
                .output()
                .expect("it runs");
            assert!(ran.status.success(), "{command}: {ran:?}");
            let space = if command.is_empty() { "" } else { " " };
            let printed = String::from_utf8_lossy(&ran.stdout);
            shown.push_str(&format!("$ sessionary{space}{command}\n"));
            shown.push_str(&format!("{}\n\n", printed.trim_end()));
            expected.push_str(&format!("$ sessionary{space}{command}\n"));
            expected.push_str(&format!("{}\n\n", output.trim_end()));
        }
        assert!(
            shown == expected,
            "the blocks of {document} below <!-- tour --> should be:\n{shown}"
        );
    }
    assert!(commands >= 5, "{commands} commands");
}
