//! Which views can be asked, and what are their columns?

use serde::Serialize;
use sessionary::model::SCHEMA_VERSION;
use sessionary::{CONTRACT_VERSION, Error, Index};

use crate::failure::Failure;
use crate::output::Screen;
use crate::output::fields::nearest;
use crate::output::style::Tone;

/// Every column of every view of the contract.
const COLUMNS: &str = "SELECT v.name, c.name FROM sqlite_schema v JOIN pragma_table_info(v.name) c
    WHERE v.type = 'view' AND substr(v.name, 1, 1) <> '_' ORDER BY v.name, c.cid";

/// A view of the contract.
#[derive(Debug, Serialize)]
struct View {
    name: String,
    columns: Vec<String>,
}

/// What `sql --schema --json` prints.
#[derive(Serialize)]
struct Schema {
    schema_version: u32,
    contract: u32,
    views: Vec<View>,
}

fn views(index: &Index) -> Result<Vec<View>, Error> {
    let mut views: Vec<View> = Vec::new();
    for row in index.sql(COLUMNS, &[])?.rows {
        let [Some(view), Some(column)] = [0, 1].map(|at| row.get(at).and_then(|v| v.as_str()))
        else {
            continue;
        };
        match views.last_mut().filter(|last| last.name == view) {
            Some(last) => last.columns.push(column.to_owned()),
            None => views.push(View {
                name: view.to_owned(),
                columns: vec![column.to_owned()],
            }),
        }
    }
    Ok(views)
}

/// Prints every view with its columns.
pub fn print(index: &mut Index, screen: &Screen) -> Result<(), Failure> {
    let views = views(index)?;
    if screen.json {
        return screen.json(&Schema {
            schema_version: SCHEMA_VERSION,
            contract: CONTRACT_VERSION,
            views,
        });
    }
    let lines = views.iter().map(|view| {
        let name = screen.style.paint(Tone::Strong, &view.name);
        format!("{name}({})\n", view.columns.join(", "))
    });
    crate::command::page(lines.collect::<String>().into(), index, screen)
}

/// The failure of a query, with the name that may have been meant where it has one that does not
/// exist.
pub fn with_nearest(failure: Failure, query: &str, index: &Index) -> Failure {
    let said = failure.message();
    if !said.contains("no such ") {
        return failure;
    }
    let unknown = |kind: &str| {
        let (_, rest) = said.split_once(kind)?;
        rest.split([',', ' ']).next().map(str::to_owned)
    };
    let Ok(views) = views(index) else {
        return failure;
    };
    let near = if let Some(column) = unknown("no such column: ") {
        let query = query.to_ascii_lowercase();
        let words: Vec<&str> = query
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .collect();
        let is_asked = |view: &&View| words.contains(&view.name.as_str());
        let asked = views.iter().filter(is_asked);
        let columns: Vec<&str> = asked
            .flat_map(|view| view.columns.iter().map(String::as_str))
            .collect();
        // Without the name of its table.
        let column = column.rsplit('.').next().unwrap_or_default();
        nearest(column, &columns).map(str::to_owned)
    } else if let Some(table) = unknown("no such table: ") {
        let names: Vec<&str> = views.iter().map(|view| view.name.as_str()).collect();
        nearest(&table, &names).map(str::to_owned)
    } else {
        return failure;
    };
    let failure = match near {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure,
    };
    failure.hint("`sessionary sql --schema` lists every view and column")
}
