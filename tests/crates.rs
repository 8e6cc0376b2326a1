//! Do dependencies point one way? formats ← sessions ← index ← command: each crate knows only those
//! before it, and who needs no more compiles no database, no full-text engine and no command line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use toml::Table;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What a crate depends on, whatever the system, and whether only by a feature.
fn dependencies(manifest: &str) -> BTreeMap<String, bool> {
    let manifest: Table = read(manifest).parse().unwrap();
    let systems = manifest.get("target").and_then(|all| all.as_table());
    let tables = systems.into_iter().flat_map(Table::values);
    let tables = tables.filter_map(|system| system.get("dependencies"));
    let tables = tables.chain(manifest.get("dependencies"));
    let all = tables.flat_map(|table| table.as_table().unwrap());
    let is_optional = |of: &toml::Value| {
        of.get("optional")
            .is_some_and(|is| is.as_bool() == Some(true))
    };
    all.map(|(name, of)| (name.clone(), is_optional(of)))
        .collect()
}

/// All that is compiled for a crate, and for its tests.
fn compiled_for(name: &str) -> BTreeSet<String> {
    let lock: Table = read("Cargo.lock").parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    let mut known = BTreeSet::new();
    let mut next = vec![name.to_owned()];
    while let Some(name) = next.pop() {
        if !known.insert(name.clone()) {
            continue;
        }
        // Of several versions all are taken.
        for package in packages
            .iter()
            .filter(|of| of["name"].as_str() == Some(&name))
        {
            let needs = package.get("dependencies").and_then(|all| all.as_array());
            let names = needs.into_iter().flatten().filter_map(|need| need.as_str());
            next.extend(names.filter_map(|need| Some(need.split(' ').next()?.to_owned())));
        }
    }
    known
}

#[test]
fn formats_and_sessions_know_nothing_above_them() {
    let ours = |manifest| -> Vec<String> {
        let all = dependencies(manifest).into_keys();
        all.filter(|name| name.starts_with("sessionary")).collect()
    };
    assert_eq!(ours("crates/formats/Cargo.toml"), [""; 0]);
    assert_eq!(ours("crates/sessions/Cargo.toml"), ["sessionary-formats"]);
    let index = ["sessionary-formats", "sessionary-sessions"];
    assert_eq!(ours("Cargo.toml"), index);

    let heavy = [
        "libsqlite3-sys",
        "rusqlite",
        "tantivy",
        "notify",
        "clap",
        "indicatif",
        "trash",
    ];
    let whole = compiled_for("sessionary");
    assert!(heavy.iter().all(|name| whole.contains(*name)), "{whole:?}");
    for name in ["sessionary-formats", "sessionary-sessions"] {
        let compiled = compiled_for(name);
        assert!(compiled.contains("serde_json"), "{name}: {compiled:?}");
        let found: Vec<_> = heavy.iter().filter(|of| compiled.contains(**of)).collect();
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}

/// A dependency of the command alone stands behind the feature `command`.
#[test]
fn the_library_needs_each_of_its_dependencies() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut library = String::new();
    for file in walkdir::WalkDir::new(&source).into_iter().flatten() {
        let is_code = file.path().extension().is_some_and(|of| of == "rs");
        if is_code && !file.path().starts_with(source.join("cli")) {
            library += &fs::read_to_string(file.path()).unwrap();
        }
    }
    let all = dependencies("Cargo.toml").into_iter();
    let always = all.filter(|(_, is_optional)| !is_optional);
    let names: Vec<String> = always.map(|(name, _)| name.replace('-', "_")).collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let used = [format!("{name}::"), format!("use {name} ")];
        let is_used = used.iter().any(|used| library.contains(used));
        assert!(is_used, "{name} is the command's alone");
    }
}

/// A package lacks nothing that is compiled into the program.
#[test]
fn what_is_compiled_in_is_packed() {
    let manifest: Table = read("Cargo.toml").parse().unwrap();
    let included = manifest["package"]["include"].as_array().unwrap().iter();
    let included: Vec<&str> = included.map(|path| path.as_str().unwrap()).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .canonicalize()
        .unwrap();
    let mut found = BTreeSet::new();
    for file in walkdir::WalkDir::new(root.join("src"))
        .into_iter()
        .flatten()
    {
        let Ok(code) = fs::read_to_string(file.path()) else {
            continue;
        };
        for literal in code.split("include_str!(").skip(1) {
            let path = literal.trim_start().strip_prefix('"').unwrap();
            let path = path.split('"').next().unwrap();
            let path = file.path().with_file_name(path).canonicalize().unwrap();
            found.insert(path.strip_prefix(&root).unwrap().to_owned());
        }
    }
    assert!(found.len() > 10, "{found:?}");
    // These are compiled by documentation tests alone.
    for path in found.iter().filter(|path| !path.starts_with("docs")) {
        let is_packed = |folder: &&str| path.starts_with(folder.trim_start_matches('/'));
        assert!(included.iter().any(is_packed), "{}", path.display());
    }
}
