//! How does a row become a line of CSV? As RFC 4180 says, with NULL told from an empty text.

use std::io::{self, Write};

use serde_json::Value;

use super::text::inert_lines;

/// Writes one line, ended as the RFC asks. NULL is nothing, an empty text is `""`.
pub fn line(out: &mut dyn Write, values: impl Iterator<Item = Value>) -> io::Result<()> {
    for (number, value) in values.enumerate() {
        if number > 0 {
            out.write_all(b",")?;
        }
        match value {
            Value::Null => {}
            Value::String(text) => field(out, &text)?,
            other => field(out, &other.to_string())?,
        }
    }
    out.write_all(b"\r\n")
}

/// A text from a session for a spreadsheet, which makes no formula of it: before what would begin
/// one stands `'`. Nothing in it acts on a terminal.
pub fn text(text: &str) -> Value {
    let text = inert_lines(text);
    let begins_formula = text.starts_with(['=', '+', '-', '@', '\t']);
    Value::from(format!("{}{text}", if begins_formula { "'" } else { "" }))
}

fn field(out: &mut dyn Write, text: &str) -> io::Result<()> {
    if text.is_empty() || text.contains([',', '"', '\r', '\n']) {
        write!(out, "\"{}\"", text.replace('"', "\"\""))
    } else {
        out.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn quotes_only_where_needed() -> io::Result<()> {
        let mut out = Vec::new();
        let values = json!([1, null, "", "a b", "a,b", "say \"so\"", "x\r\ny", 0.5, -7]);
        line(&mut out, values.as_array().into_iter().flatten().cloned())?;
        assert_eq!(
            String::from_utf8_lossy(&out),
            "1,,\"\",a b,\"a,b\",\"say \"\"so\"\"\",\"x\r\ny\",0.5,-7\r\n"
        );
        Ok(())
    }
}
