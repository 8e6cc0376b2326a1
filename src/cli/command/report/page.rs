//! How does a report become one HTML page that loads nothing and runs nothing?

use super::{Answer, called, shares, title};
use crate::output::Screen;
use crate::output::html::escaped;
use crate::output::time::{money, number};

/// Bars are drawn in a box of this width; the page scales it.
const WIDTH: f64 = 100.0;

pub fn page(answer: &Answer<'_>, left_out: Option<&str>, screen: &Screen) -> String {
    let by = title(answer.by).to_lowercase();
    let total = answer.total.spent;
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"sessionary {}\">\n\
         <title>Spent by {by}</title>\n<style>\n{}</style>\n</head>\n<body>\n<h1>Spent by {by}</h1>\n",
        env!("CARGO_PKG_VERSION"),
        include_str!("page.css"),
    );
    let mut head = vec![
        ("sessions", number(total.sessions)),
        ("answers", number(total.answers)),
        ("tokens", total.tokens.total.map(number).unwrap_or_default()),
        ("cost", total.cost.map(money).unwrap_or_default()),
    ];
    let estimated = answer.total.cost_estimated.map(money);
    head.push(("estimated", estimated.unwrap_or_default()));
    out.push_str("<dl>\n");
    for (name, value) in head.iter().filter(|(_, value)| !value.is_empty()) {
        out.push_str(&format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n"));
    }
    out.push_str(&format!(
        "</dl>\n<table>\n<thead><tr><th>{by}</th><th></th><th>sessions</th><th>answers</th>\
         <th>tokens</th><th>cost</th><th>estimated</th></tr></thead>\n<tbody>\n"
    ));
    for (row, share) in shares(answer) {
        let numbers = [
            number(row.spent.sessions),
            number(row.spent.answers),
            row.spent.tokens.total.map(number).unwrap_or_default(),
            row.spent.cost.map(money).unwrap_or_default(),
            row.cost_estimated.map(money).unwrap_or_default(),
        ];
        out.push_str(&format!(
            "<tr><th>{}</th><td><svg viewBox=\"0 0 {WIDTH} 6\" preserveAspectRatio=\"none\">\
             <rect width=\"{:.2}\" height=\"6\"/></svg></td>",
            escaped(&called(row, answer.by, screen)),
            share * WIDTH,
        ));
        for number in numbers {
            out.push_str(&format!("<td>{number}</td>"));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n");
    if let Some(left_out) = left_out {
        let left_out = escaped(left_out);
        out.push_str(&format!("<p>Cost is what agents record. {left_out}</p>\n"));
    }
    out.push_str("</body>\n</html>\n");
    out
}
