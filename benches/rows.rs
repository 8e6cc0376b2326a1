//! How is a measurement judged and printed? One row an operation: floor, target, measured, verdict.

use serde_json::{Value, json};

use crate::process::Cost;

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Ms,
    /// Megabytes (10^6 bytes).
    Mb,
    /// Bytes.
    Bytes,
    /// A ratio.
    Ratio,
}

/// One line of the table.
#[derive(Debug, Clone)]
pub struct Row {
    /// What was done.
    pub operation: String,
    /// What the figure counts.
    pub unit: Unit,
    /// The figure of the prototypes, scaled to this corpus.
    pub floor: Option<f64>,
    /// The figure to reach, scaled to this corpus; `None` for what is only shown beside.
    pub target: Option<f64>,
    /// The figure of this run; `None` when it could not be measured, `note` says why.
    pub measured: Option<f64>,
    /// By how much longer this machine takes than the one that the target was set on.
    pub machine: f64,
    /// The processes that were run for it.
    pub costs: Vec<Cost>,
    /// What a reader must know of this row.
    pub note: String,
}

/// How a measured figure stands to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// At or below the target.
    Pass,
    /// Above it.
    Miss,
    /// More than twice the target.
    Fail,
    /// There is no target, or no figure.
    None,
}

impl Verdict {
    /// As printed.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "PASS",
            Verdict::Miss => "MISS",
            Verdict::Fail => "FAIL",
            Verdict::None => "",
        }
    }
}

impl Row {
    /// A row without a target, measured by the median wall time of `costs`.
    pub fn beside(operation: impl Into<String>, costs: Vec<Cost>) -> Row {
        let measured = median(
            costs
                .iter()
                .map(|cost| cost.wall.as_secs_f64() * 1e3)
                .collect(),
        );
        Row {
            operation: operation.into(),
            unit: Unit::Ms,
            floor: None,
            target: None,
            measured,
            machine: 1.0,
            costs,
            note: String::new(),
        }
    }

    /// A row with a floor and a target for its median wall time.
    pub fn wall(operation: impl Into<String>, floor: f64, target: f64, costs: Vec<Cost>) -> Row {
        Row {
            floor: Some(floor),
            target: Some(target),
            ..Row::beside(operation, costs)
        }
    }

    /// A row whose figure is not a wall time.
    pub fn figure(
        operation: impl Into<String>,
        unit: Unit,
        floor: f64,
        target: f64,
        measured: Option<f64>,
    ) -> Row {
        Row {
            operation: operation.into(),
            unit,
            floor: Some(floor),
            target: Some(target),
            measured,
            machine: 1.0,
            costs: Vec::new(),
            note: String::new(),
        }
    }

    /// The same row with a target and the figure that is held against it.
    pub fn to(mut self, target: f64, measured: Option<f64>) -> Row {
        self.target = Some(target);
        self.measured = measured;
        self
    }

    /// The same row, its target that of a machine which takes so much longer.
    pub fn on(mut self, machine: f64) -> Row {
        self.machine = machine;
        self
    }

    /// The target on this machine.
    fn here(&self) -> Option<f64> {
        self.target.map(|target| target * self.machine)
    }

    /// The same row with a remark.
    pub fn note(mut self, note: impl Into<String>) -> Row {
        self.note = note.into();
        self
    }

    /// The same row, showing what these processes cost.
    pub fn of(mut self, costs: &[Cost]) -> Row {
        self.costs = costs.to_vec();
        self
    }

    /// PASS, MISS or FAIL.
    pub fn verdict(&self) -> Verdict {
        match (self.measured, self.here()) {
            (Some(measured), Some(target)) if measured <= target => Verdict::Pass,
            (Some(measured), Some(target)) if measured <= 2.0 * target => Verdict::Miss,
            (Some(_), Some(_)) => Verdict::Fail,
            _ => Verdict::None,
        }
    }

    fn column(&self, of: impl Fn(&Cost) -> Option<f64>) -> Option<f64> {
        median(self.costs.iter().filter_map(of).collect())
    }

    /// The median, where it is known.
    pub fn wall_ms(&self) -> Option<f64> {
        self.column(|cost| Some(cost.wall.as_secs_f64() * 1e3))
    }

    /// The median, where it is known.
    pub fn cpu_ms(&self) -> Option<f64> {
        self.column(|cost| Some(cost.cpu.as_secs_f64() * 1e3))
            .filter(|cpu| *cpu > 0.0)
    }

    fn read_mb(&self) -> Option<f64> {
        self.column(|cost| cost.read.map(|bytes| bytes as f64 / 1e6))
    }

    /// The median, where it is known.
    pub fn rss_mb(&self) -> Option<f64> {
        self.column(|cost| Some(cost.peak_rss as f64 / 1e6))
            .filter(|rss| *rss > 0.0)
    }

    /// The row as JSON, with plain numbers.
    pub fn json(&self) -> Value {
        let unit = match self.unit {
            Unit::Ms => "ms",
            Unit::Mb => "MB",
            Unit::Bytes => "bytes",
            Unit::Ratio => "ratio",
        };
        json!({
            "operation": self.operation, "unit": unit, "floor": self.floor, "target": self.target, "machine": self.machine,
            "measured": self.measured, "verdict": self.verdict().name(), "runs": self.costs.len(),
            "wall_ms": self.wall_ms(), "cpu_ms": self.cpu_ms(), "read_mb": self.read_mb(), "peak_rss_mb": self.rss_mb(),
            "note": self.note,
        })
    }
}

/// The median; `None` of nothing.
pub fn median(mut figures: Vec<f64>) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    let middle = figures.len() / 2;
    match figures.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(figures[middle]),
        _ => Some((figures[middle - 1] + figures[middle]) / 2.0),
    }
}

/// Prints the aligned table.
pub fn print(rows: &[Row]) {
    let head = [
        "operation",
        "floor",
        "target",
        "here",
        "measured",
        "",
        "wall ms",
        "CPU ms",
        "read MB",
        "RSS MB",
        "runs",
    ];
    let mut lines = vec![head.map(String::from)];
    for row in rows {
        let figure = |figure: Option<f64>| {
            figure.map_or("-".into(), |figure| format_figure(figure, row.unit))
        };
        let plain = |figure: Option<f64>| figure.map_or("-".into(), round);
        lines.push([
            row.operation.clone(),
            figure(row.floor),
            figure(row.target),
            figure(row.here()),
            figure(row.measured),
            row.verdict().name().into(),
            plain(row.wall_ms()),
            plain(row.cpu_ms()),
            plain(row.read_mb()),
            plain(row.rss_mb()),
            row.costs.len().to_string(),
        ]);
    }
    let widths: Vec<usize> = (0..head.len())
        .map(|at| lines.iter().map(|line| line[at].len()).max().unwrap_or(0))
        .collect();
    for (number, line) in lines.iter().enumerate() {
        let mut text = format!("{:<width$}", line[0], width = widths[0]);
        for (cell, width) in line.iter().zip(&widths).skip(1) {
            text.push_str(&format!("  {cell:>width$}"));
        }
        println!("{}", text.trim_end());
        if number == 0 {
            println!(
                "{}",
                "-".repeat(widths.iter().sum::<usize>() + 2 * (widths.len() - 1))
            );
        }
    }
    for row in rows.iter().filter(|row| !row.note.is_empty()) {
        println!("  {}: {}", row.operation, row.note);
    }
}

fn format_figure(figure: f64, unit: Unit) -> String {
    match unit {
        Unit::Ms => format!("{} ms", round(figure)),
        Unit::Mb => format!("{} MB", round(figure)),
        Unit::Bytes => format!("{figure:.0} B"),
        Unit::Ratio => format!("{figure:.3}"),
    }
}

/// Three significant digits, as many as a shared machine deserves.
fn round(figure: f64) -> String {
    match figure.abs() {
        size if size >= 100.0 => format!("{figure:.0}"),
        size if size >= 10.0 => format!("{figure:.1}"),
        _ => format!("{figure:.2}"),
    }
}
