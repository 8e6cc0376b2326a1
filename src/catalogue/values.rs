//! Which values do entries have that filters name? Told from all rows: for answers that found
//! nothing.

use super::error::Error;
use super::open::Catalogue;

/// What entries have one of, or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterColumn {
    /// A role.
    Role,
    /// A kind.
    Kind,
    /// Tools.
    Tool,
    /// How it ended.
    Stop,
}

impl Catalogue {
    /// Every value that entries of these roots have, each once.
    pub fn values(&self, roots: &[i64], of: FilterColumn) -> Result<Vec<String>, Error> {
        let (column, table) = match of {
            FilterColumn::Role => ("role", "_entries"),
            FilterColumn::Kind => ("kind", "_entries"),
            FilterColumn::Tool => ("tool", "_calls"),
            FilterColumn::Stop => ("stop_reason", "_entries"),
        };
        let roots: Vec<String> = roots.iter().map(i64::to_string).collect();
        let query = format!(
            "SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL
               AND key >> 24 IN (SELECT session FROM _sessions WHERE root IN ({}))",
            roots.join(", ")
        );
        self.all(&query, [], |row| row.get(0))
    }
}
