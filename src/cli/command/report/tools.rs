//! Which tools were called, and how often did they fail?

use std::io;

use serde_json::{Value, json};
use sessionary::index::SpendingScope;
use sessionary::model::{ToolReport, ToolUse};
use sessionary::{Config, Index};

use super::{BAR, ReportArgs};
use crate::background::afterwards;
use crate::command::{answerable, open, page, say_pending};
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::csv;
use crate::output::spool::Spool;
use crate::output::style::Tone;
use crate::output::table::{Column, Table};
use crate::output::text::plain_line;
use crate::output::time::{duration, number};

pub fn run(
    args: &ReportArgs,
    scope: &SpendingScope,
    config: &Config,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    if args.html {
        let none = "--html shows what was spent, and --by tool what was called";
        return Err(Failure::usage(none).hint("--csv and --json have the tools"));
    }
    let mut index: Index = answerable(open(config, screen)?)?;
    let mut report = index.ask(|snapshot| snapshot.tool_use(scope))?;
    for tool in &mut report.tools {
        tool.tool = tool.tool.take().map(|name| screen.masked(name));
    }
    let is_found = report.total.calls > 0;
    if screen.json {
        screen.json(&report)?;
    } else if args.csv {
        let mut out = Spool::default();
        as_csv(&report, &mut out)?;
        out.print()?;
    } else if is_found {
        page(table(&report, screen).into(), &mut index, screen)?;
    }
    say_pending(screen, &index, report.complete, None);
    if !is_found && !screen.json {
        screen.say("No tool was called in this range.");
    }
    screen.say_redacted();
    afterwards(&mut index, screen);
    Ok(Outcome::of(is_found))
}

fn table(report: &ToolReport, screen: &Screen) -> String {
    let mut table = Table::new(&[
        Column::long("TOOL"),
        Column::number("SESSIONS"),
        Column::number("CALLS"),
        Column::number("FAILED").where_any(),
        Column::number("ERROR RATE").where_any(),
        Column::number("MEAN TIME").where_any(),
        Column::bar(),
    ]);
    let most = report.tools.iter().map(|tool| tool.calls).max();
    for tool in &report.tools {
        let share = tool.calls as f64 / most.unwrap_or(1).max(1) as f64;
        let bar = "▇".repeat((share * BAR as f64).round() as usize);
        let called = tool.tool.as_deref().map(plain_line);
        let called = called.unwrap_or_else(|| "(not recorded)".to_owned());
        table.row(cells(tool, called, bar));
    }
    if report.tools.len() > 1 {
        table.row(cells(&report.total, "all".to_owned(), String::new()));
    }
    table.render(screen.style, screen.width)
}

fn cells(tool: &ToolUse, called: String, bar: String) -> Vec<(Tone, String)> {
    let plain = |text: String| (Tone::Plain, text);
    let failed = match tool.errors {
        0 => String::new(),
        some => number(some),
    };
    vec![
        (Tone::Strong, called),
        plain(number(tool.sessions)),
        plain(number(tool.calls)),
        plain(failed),
        (Tone::Quiet, share_failed(tool)),
        (Tone::Quiet, tool.mean_ms.map(duration).unwrap_or_default()),
        (Tone::Name, bar),
    ]
}

/// Which part of the calls failed of which that is known.
fn share_failed(tool: &ToolUse) -> String {
    match (tool.errors, tool.answered) {
        (0, _) | (_, 0) => String::new(),
        (errors, answered) => format!("{:.1} %", 100.0 * errors as f64 / answered as f64),
    }
}

fn as_csv(report: &ToolReport, out: &mut dyn io::Write) -> io::Result<()> {
    let names = ["tool", "sessions", "calls", "answered", "errors", "mean_ms"];
    csv::line(out, names.into_iter().map(Value::from))?;
    for tool in &report.tools {
        let values = [
            json!(tool.tool.as_deref().map(csv::text)),
            json!(tool.sessions),
            json!(tool.calls),
            json!(tool.answered),
            json!(tool.errors),
            json!(tool.mean_ms),
        ];
        csv::line(out, values.into_iter())?;
    }
    Ok(())
}
