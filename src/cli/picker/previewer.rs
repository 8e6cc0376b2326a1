//! What does the session say on which the selection stands?

use std::sync::Arc;
use std::sync::mpsc::Sender;

use ratatui::text::Line;
use sessionary::index::{Highlighter, ShowScope};
use sessionary::model::Mask;
use sessionary::syntax::{self, Now};
use sessionary::{Config, Error, Freshness, Index};

use super::latest::Latest;
use super::message::{Message, Preview, PreviewRequest};
use super::{may_panic, start_thread};
use crate::output::Screen;
use crate::output::text::plain_lines;
use crate::output::wrap;

/// Entries read before and after the one that is looked for.
const AROUND: usize = 30;

/// Reads sessions back until no more are asked for.
pub fn start(
    requests: &Arc<Latest<PreviewRequest>>,
    config: &Config,
    screen: &Screen,
    tell: &Sender<Message>,
) {
    let (requests, tell) = (Arc::clone(requests), tell.clone());
    let (config, mask) = (config.clone(), screen.mask());
    start_thread("picker-reads", move || {
        let mut index = None;
        while let Some((request, cancel)) = requests.take() {
            may_panic("picker-reads");
            let opened = match index.take() {
                Some(index) => Ok(index),
                None => Index::open(&config, Freshness::AsCommitted),
            };
            let read = opened.and_then(|opened| {
                let read = read(&request, &opened, mask);
                index = Some(opened);
                read
            });
            let preview = read.unwrap_or_else(|error| {
                index = None;
                said(&error)
            });
            let preview = Message::Previewed(Box::new(Preview {
                number: request.number,
                ..preview
            }));
            if cancel.is_cancelled() {
                continue;
            }
            if tell.send(preview).is_err() {
                return;
            }
        }
    });
}

fn said(error: &Error) -> Preview {
    Preview {
        lines: vec![Line::raw(error.to_string())],
        ..Preview::default()
    }
}

fn read(request: &PreviewRequest, index: &Index, mask: Option<Mask>) -> Result<Preview, Error> {
    let scope = ShowScope {
        entry: request.entry.clone(),
        context: AROUND,
        mask,
        ..ShowScope::default()
    };
    let transcript = index.show(&request.session, &scope)?;
    let query = syntax::parse_as_typed(&request.query, Now::utc(0));
    let highlighter = Highlighter::new(&query);
    let mut preview = Preview::default();
    for entry in &transcript.entries {
        preview
            .entries
            .push((preview.lines.len(), entry.id.clone()));
        if transcript.focus.as_ref() == Some(&entry.id) {
            preview.focus = preview.lines.len();
        }
        let who = entry.role.clone().unwrap_or_else(|| entry.kind.clone());
        preview.lines.push(Line::raw(format!("── {who}")));
        for (class, pieces) in &entry.text {
            for piece in pieces {
                for line in plain_lines(piece).lines() {
                    let marked = highlighter
                        .as_ref()
                        .is_some_and(|found| !found.marks(*class, line).is_empty());
                    if marked {
                        preview.matches.push(preview.lines.len());
                    }
                    let pieces = wrap::pieces(line, usize::from(request.width.max(10)));
                    for (_, range) in pieces {
                        preview.lines.push(Line::raw(line[range].to_owned()));
                    }
                }
            }
        }
    }
    Ok(preview)
}
