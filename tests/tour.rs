//! Is the tour of the README true? Each of its commands runs with `--demo`; the output must be there.

use std::fs;
use std::path::Path;

use crate::sandbox::Sandbox;

/// The commands of the block below `<!-- tour -->`, each with the output that the README shows.
fn tour(readme: &str) -> Vec<(String, String)> {
    let block = readme
        .split_once("<!-- tour -->\n```console\n")
        .and_then(|(_, rest)| rest.split_once("\n```"))
        .map(|(block, _)| block)
        .expect("README.md has a block below <!-- tour -->");
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

#[test]
fn the_tour_of_the_readme_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let home = Sandbox::new();
    let readme = fs::read_to_string(root.join("README.md")).expect("README.md");
    let steps = tour(&readme);
    assert!(steps.len() >= 5, "{} commands", steps.len());
    let mut shown = String::new();
    for (command, _) in &steps {
        let words = words(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let demo: &[&str] = match words.contains(&"--demo") {
            true => &[],
            false => &["--demo"],
        };
        let output = home
            .command(&[demo, &words[..]].concat())
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{command}: {output:?}");
        let space = if command.is_empty() { "" } else { " " };
        shown.push_str(&format!("$ sessionary{space}{command}\n"));
        shown.push_str(String::from_utf8_lossy(&output.stdout).trim_end());
        shown.push_str("\n\n");
    }
    let expected: String = steps
        .iter()
        .map(|(command, output)| {
            let space = if command.is_empty() { "" } else { " " };
            format!("$ sessionary{space}{command}\n{}\n\n", output.trim_end())
        })
        .collect();
    assert!(
        shown == expected,
        "the block below <!-- tour --> should be:\n{shown}"
    );
}
