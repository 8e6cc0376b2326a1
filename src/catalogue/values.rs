//! Which values do entries have that filters name? Told from all rows: for answers that found nothing.

use super::open::{Catalogue, Error};

/// What entries have one of, or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Valued {
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
    /// Every value, each once.
    pub fn values(&self, of: Valued) -> Result<Vec<String>, Error> {
        let query = match of {
            Valued::Role => "SELECT DISTINCT role FROM _entries WHERE role IS NOT NULL",
            Valued::Kind => "SELECT DISTINCT kind FROM _entries",
            Valued::Tool => "SELECT DISTINCT tool FROM _calls WHERE tool IS NOT NULL",
            Valued::Stop => {
                "SELECT DISTINCT stop_reason FROM _entries WHERE stop_reason IS NOT NULL"
            }
        };
        let mut values = Vec::new();
        self.each(query, |row| {
            values.push(row.get(0)?);
            Ok(())
        })?;
        Ok(values)
    }
}
