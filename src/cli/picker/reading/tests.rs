use std::path::PathBuf;

use ratatui::crossterm::event::{Event, KeyCode, KeyModifiers};
use ratatui::layout::Size;
use ratatui::text::Line;
use sessionary::index::TreeFilter;
use sessionary::model::SessionRow;

use super::super::actions::{Job, JobResult, Target};
use super::*;
use crate::news::News;
use crate::picker::Opening;
use crate::picker::choice::{Choice, ChosenAction, Purpose};
use crate::picker::message::{Answer, Message, Preview, PreviewContent, PreviewPart, Row};
use crate::picker::pane::Block;
use crate::picker::previewer::hit;
use crate::picker::tree::TreeLine;

/// Columns and lines; the list is 54 columns wide.
const SIZE: Size = Size {
    width: 120,
    height: 24,
};

fn press(state: &mut State, code: KeyCode) -> Vec<Task> {
    press_with(state, code, KeyModifiers::NONE)
}

fn press_with(state: &mut State, code: KeyCode, held: KeyModifiers) -> Vec<Task> {
    state.take(Message::Terminal(Event::Key(KeyEvent::new(code, held))))
}

fn mouse(state: &mut State, kind: MouseEventKind, column: u16, row: u16) -> Vec<Task> {
    state.take(Message::Terminal(Event::Mouse(MouseEvent {
        kind,
        column,
        row,
        modifiers: KeyModifiers::NONE,
    })))
}

fn requested(tasks: Vec<Task>) -> Option<PreviewRequest> {
    let mut requests = tasks.into_iter().filter_map(|task| match task {
        Task::Preview(request) => Some(*request),
        _ => None,
    });
    requests.next_back()
}

/// From where a branch is made that goes on.
fn branched(tasks: Vec<Task>) -> Option<Target> {
    tasks.into_iter().find_map(|task| match task {
        Task::Do(Job::Branch(target)) => Some(*target),
        _ => None,
    })
}

/// That branch cannot be made.
fn fails(state: &mut State) {
    let failed = JobResult::NotBranched(String::new());
    state.take(Message::Done(Box::new(failed)));
}

fn chosen(tasks: Vec<Task>) -> Option<Choice> {
    let mut choices = tasks.into_iter().filter_map(|task| match task {
        Task::Leave(choice) => choice,
        _ => None,
    });
    choices.next_back()
}

fn part(tasks: Vec<Task>) -> Option<PreviewPart> {
    requested(tasks).map(|request| request.part)
}

/// Ten entries of three lines, of which the sixth was found.
fn opened(number: u64) -> Message {
    let blocks = (0..10).map(|position| Block {
        position,
        place: u32::try_from(position).unwrap_or_default(),
        entry: format!("e{position}"),
        lines: vec![Line::raw(format!("entry {position}")); 3],
        matches: vec![1],
        best: Some(1),
    });
    Message::Previewed(Box::new(Preview {
        number,
        content: PreviewContent::Opened {
            length: 10,
            blocks: blocks.collect(),
            position: 5,
            line: 1,
            is_provisional: false,
        },
    }))
}

/// The list with two sessions, and the first one in the preview.
fn state() -> State {
    let opening = Opening {
        query: "a".to_owned(),
        purpose: Purpose::Resume,
        height: None,
        here: None,
    };
    let mut state = State::new(&opening, SIZE);
    let asked = state
        .take(Message::Begin)
        .into_iter()
        .find_map(|task| match task {
            Task::Ask(question) => Some(question),
            _ => None,
        });
    let rows = ["one", "two"].map(|id| {
        let mut session = SessionRow::default();
        (session.id, session.path) = (id.to_owned(), PathBuf::from(id));
        Row {
            session,
            hits: vec![hit("e5", "prose", "[a]")],
            is_here: false,
            is_pinned: false,
        }
    });
    let tasks = state.take(Message::Answered(Box::new(Answer {
        question: asked.unwrap_or_default(),
        rows: rows.into(),
        ..Answer::default()
    })));
    let request = requested(tasks).expect("it is read");
    assert_eq!(request.through.as_deref(), Some("e5"));
    state.take(opened(request.number));
    state
}

/// The tree of the first session.
fn with_tree() -> State {
    let mut state = state();
    press(&mut state, KeyCode::Right);
    let request = requested(press(&mut state, KeyCode::Char('t'))).expect("the tree");
    assert_eq!(request.part, PreviewPart::Tree(TreeFilter::Default));
    let rows = ["e0", "e5", "x6", "e9"].map(|entry| TreeLine {
        entry: entry.to_owned(),
        is_leaf: entry == "e9",
        parts: Vec::new(),
    });
    state.take(Message::Previewed(Box::new(Preview {
        number: request.number,
        content: PreviewContent::Tree(rows.into()),
    })));
    assert_eq!(state.focus, Focus::Tree);
    state
}

fn selected(state: &State) -> String {
    let tree = state.pane.tree.as_ref();
    tree.and_then(|tree| tree.selected_entry())
        .unwrap_or_default()
}

#[test]
fn the_preview_is_entered_at_the_end_of_the_query_and_left_by_two_keys() {
    let mut state = state();
    press(&mut state, KeyCode::Left);
    press(&mut state, KeyCode::Right);
    assert_eq!(state.focus, Focus::List);
    press(&mut state, KeyCode::Right);
    assert_eq!(state.focus, Focus::Preview);
    for back in [KeyCode::Esc, KeyCode::Left] {
        assert!(press(&mut state, back).is_empty());
        assert_eq!(state.focus, Focus::List);
        press(&mut state, KeyCode::Right);
    }
    // There letters are no query.
    assert!(press(&mut state, KeyCode::Char('x')).is_empty());
    assert_eq!(state.line.text(), "a");
    let left = press_with(&mut state, KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert!(matches!(left[..], [Task::Leave(None)]));
}

#[test]
fn it_cannot_be_entered_where_there_is_none_and_is_left_where_it_goes() {
    let mut state = state();
    press(&mut state, KeyCode::Right);
    state.take(Message::Terminal(Event::Resize(50, 20)));
    assert_eq!(state.focus, Focus::List);
    press(&mut state, KeyCode::Right);
    assert_eq!(state.focus, Focus::List);
    let again = state.take(Message::Terminal(Event::Resize(120, 24)));
    assert_eq!(part(again), Some(PreviewPart::Through));
}

#[test]
fn keys_move_to_an_entry_and_it_is_taken() {
    let mut state = state();
    let entry = |state: &mut State, code| {
        press(state, code);
        state.pane.entry().unwrap_or_default()
    };
    press(&mut state, KeyCode::Right);
    assert_eq!(entry(&mut state, KeyCode::Char('n')), "e6");
    assert_eq!(entry(&mut state, KeyCode::Char('N')), "e5");
    assert_eq!(entry(&mut state, KeyCode::Char('N')), "e4");
    assert_eq!(entry(&mut state, KeyCode::Home), "e0");
    assert_eq!(entry(&mut state, KeyCode::Down), "e0");
    assert_eq!(entry(&mut state, KeyCode::End), "e9");
    for _ in 0..3 {
        press(&mut state, KeyCode::Up);
    }
    // As far as the text can be moved; then to its beginning.
    assert_eq!(entry(&mut state, KeyCode::PageUp), "e7");
    assert_eq!(entry(&mut state, KeyCode::PageUp), "e0");
    for _ in 0..3 {
        press(&mut state, KeyCode::Down);
    }
    let from = branched(press_with(&mut state, KeyCode::Enter, KeyModifiers::ALT));
    let from = from.expect("a branch");
    assert_eq!(
        (from.entry.as_deref(), &*from.session.id),
        (Some("e1"), "one")
    );
    fails(&mut state);
    let all = chosen(press(&mut state, KeyCode::Enter)).expect("a choice");
    assert_eq!(all.action, ChosenAction::Accept);
    // It is what is shown, wherever the keys are.
    press(&mut state, KeyCode::Esc);
    let from = branched(press_with(&mut state, KeyCode::Enter, KeyModifiers::ALT));
    assert_eq!(from.and_then(|from| from.entry).as_deref(), Some("e1"));
    fails(&mut state);
    press(&mut state, KeyCode::Down);
    let from = branched(press_with(&mut state, KeyCode::Enter, KeyModifiers::ALT));
    assert_eq!(from.and_then(|from| from.entry).as_deref(), Some("e5"));
}

#[test]
fn another_leaf_is_picked_in_the_tree() {
    let mut state = with_tree();
    assert_eq!(selected(&state), "e5");
    press(&mut state, KeyCode::Down);
    let request = requested(press(&mut state, KeyCode::Enter)).expect("that branch");
    assert_eq!(request.through.as_deref(), Some("x6"));
    assert_eq!(
        (request.part, state.focus),
        (PreviewPart::Through, Focus::Preview)
    );
    assert!(state.pane.tree.is_none());
}

#[test]
fn the_tree_is_walked_through_and_left() {
    let mut state = with_tree();
    for (key, entry) in [
        (KeyCode::Home, "e0"),
        (KeyCode::Up, "e0"),
        (KeyCode::End, "e9"),
        (KeyCode::Down, "e9"),
        (KeyCode::PageUp, "e0"),
        (KeyCode::PageDown, "e9"),
        (KeyCode::Up, "x6"),
    ] {
        press(&mut state, key);
        assert_eq!(selected(&state), entry, "{key:?}");
    }
    let from = branched(press_with(&mut state, KeyCode::Enter, KeyModifiers::ALT));
    assert_eq!(from.and_then(|from| from.entry).as_deref(), Some("x6"));
    // What it showed before may say more by now.
    let place = part(press(&mut state, KeyCode::Esc));
    assert_eq!(
        (place, state.focus),
        (Some(PreviewPart::Place(5)), Focus::Preview)
    );
    assert!(state.pane.tree.is_none());
}

#[test]
fn f_shows_other_entries_of_the_tree_and_stays_at_the_same() {
    let mut state = with_tree();
    press(&mut state, KeyCode::End);
    let request = requested(press(&mut state, KeyCode::Char('f'))).expect("others");
    assert_eq!(request.part, PreviewPart::Tree(TreeFilter::NoTools));
    assert!(state.pane.tree.as_ref().is_some_and(|tree| !tree.is_read));
    let rows = ["e0", "e9", "e10"].map(|entry| TreeLine {
        entry: entry.to_owned(),
        ..TreeLine::default()
    });
    state.take(Message::Previewed(Box::new(Preview {
        number: request.number,
        content: PreviewContent::Tree(rows.into()),
    })));
    assert_eq!(selected(&state), "e9");
    let mut filters = vec![TreeFilter::NoTools];
    for _ in 0..4 {
        let part = part(press(&mut state, KeyCode::Char('f')));
        let Some(PreviewPart::Tree(filter)) = part else {
            panic!("{part:?}");
        };
        assert!(!filters.contains(&filter));
        filters.push(filter);
    }
    assert_eq!(filters[4], TreeFilter::Default);
}

#[test]
fn a_tree_without_an_entry_to_choose_leads_back() {
    let mut state = state();
    press(&mut state, KeyCode::Right);
    press(&mut state, KeyCode::Char('t'));
    // It is not read yet.
    assert_eq!(
        part(press(&mut state, KeyCode::Enter)),
        Some(PreviewPart::Place(5))
    );
    assert_eq!(state.focus, Focus::Preview);
}

#[test]
fn the_mouse_does_what_it_points_at() {
    let mut state = state();
    let click = MouseEventKind::Down(MouseButton::Left);
    mouse(&mut state, click, 80, 5);
    assert_eq!(state.focus, Focus::Preview);
    let seen = |state: &State| {
        let first = state.pane.seen().next();
        first.map(|seen| seen.line.to_string()).unwrap_or_default()
    };
    assert_eq!(seen(&state), "entry 2");
    mouse(&mut state, MouseEventKind::ScrollUp, 80, 5);
    assert_eq!(seen(&state), "entry 1");
    let request = requested(mouse(&mut state, click, 10, 3)).expect("the other one");
    assert_eq!((state.selected, state.focus), (1, Focus::List));
    assert_eq!(request.session.id, "two");
    mouse(&mut state, MouseEventKind::ScrollUp, 10, 3);
    assert_eq!(state.selected, 0);
    // Where nothing is, nothing happens.
    mouse(&mut state, click, 10, 12);
    assert_eq!((state.selected, state.focus), (0, Focus::List));
}

#[test]
fn a_second_click_at_once_does_what_enter_does() {
    let click = |state: &mut State, row| {
        let down = MouseEventKind::Down(MouseButton::Left);
        chosen(mouse(state, down, 10, row)).map(|choice| choice.sessions[0].id.clone())
    };
    let mut state = state();
    assert_eq!(click(&mut state, 3), None);
    assert_eq!(click(&mut state, 3).as_deref(), Some("two"));
    // On another session it is a first one, and where the first was long ago.
    assert_eq!(click(&mut state, 1), None);
    assert_eq!(click(&mut state, 3), None);
    let (session, at) = state.clicked.take().expect("it was clicked");
    state.clicked = at.checked_sub(DOUBLE_CLICK).map(|at| (session, at));
    assert_eq!(click(&mut state, 3), None);
    assert_eq!(click(&mut state, 3).as_deref(), Some("two"));
}

#[test]
fn what_was_said_goes_with_a_click_or_a_paste_too() {
    let mut state = state();
    state.notice = Some("It is no longer pinned.".to_owned());
    mouse(&mut state, MouseEventKind::Moved, 10, 3);
    assert!(state.notice.is_some());
    mouse(&mut state, MouseEventKind::Down(MouseButton::Left), 10, 3);
    assert_eq!(state.notice, None);
    state.notice = Some("It is no longer pinned.".to_owned());
    state.take(Message::Terminal(Event::Paste("query".to_owned())));
    assert_eq!(state.notice, None);
}

#[test]
fn the_preview_scrolls_while_the_list_has_the_keys() {
    let mut state = state();
    let seen = |state: &State| {
        let first = state.pane.seen().next();
        first.map(|seen| seen.line.to_string()).unwrap_or_default()
    };
    let before = seen(&state);
    for _ in 0..3 {
        press_with(&mut state, KeyCode::Up, KeyModifiers::SHIFT);
    }
    assert_ne!(seen(&state), before);
    assert_eq!((state.selected, state.focus), (0, Focus::List));
    for _ in 0..3 {
        press_with(&mut state, KeyCode::Down, KeyModifiers::SHIFT);
    }
    assert_eq!(seen(&state), before);
}

#[test]
fn all_is_drawn_anew_whatever_has_the_keys() {
    let redraws = |state: &mut State| {
        let tasks = press_with(state, KeyCode::Char('l'), KeyModifiers::CONTROL);
        matches!(tasks[..], [Task::Redraw])
    };
    for before in [None, Some(KeyCode::Right), Some(KeyCode::F(1))] {
        let mut state = state();
        if let Some(key) = before {
            press(&mut state, key);
        }
        let focus = state.focus;
        assert!(redraws(&mut state), "{before:?}");
        assert_eq!(state.focus, focus);
    }
    let mut state = state();
    press_with(&mut state, KeyCode::Char('a'), KeyModifiers::ALT);
    assert!(redraws(&mut state) && state.dialog.is_some());
}

#[test]
fn the_mouse_points_at_rows_of_the_tree_too() {
    let mut state = with_tree();
    let click = MouseEventKind::Down(MouseButton::Left);
    // The title stands on the first line, below the query.
    for (line, entry) in [(2, "e0"), (4, "x6"), (1, "x6"), (9, "x6")] {
        mouse(&mut state, click, 80, line);
        assert_eq!(selected(&state), entry, "{line}");
    }
    mouse(&mut state, MouseEventKind::ScrollDown, 80, 4);
    assert_eq!(selected(&state), "e9");
}

#[test]
fn keys_meant_for_a_session_that_is_gone_are_not_the_next_ones() {
    for keys in [&[KeyCode::Right][..], &[KeyCode::Right, KeyCode::Char('t')]] {
        let mut state = state();
        keys.iter().for_each(|key| drop(press(&mut state, *key)));
        let tasks = state.take(Message::News(News::Changed));
        let question = tasks.into_iter().find_map(|task| match task {
            Task::Ask(question) => Some(question),
            _ => None,
        });
        let rows = state.rows[1..].to_vec();
        let tasks = state.take(Message::Answered(Box::new(Answer {
            question: question.unwrap_or_default(),
            rows,
            ..Answer::default()
        })));
        assert_eq!(state.focus, Focus::List, "{keys:?}");
        assert!(state.pane.tree.is_none() && state.notice.is_some());
        // What stands in its place is shown, and nothing else is done to it.
        let request = requested(tasks).expect("it is read");
        assert_eq!(request.session.id, "two");
    }
}

#[test]
fn the_wheel_leads_from_a_tree_to_the_text_of_another_session() {
    let mut state = with_tree();
    let request = requested(mouse(&mut state, MouseEventKind::ScrollDown, 10, 3));
    let request = request.expect("the other one");
    assert_eq!(
        (&*request.session.id, request.part),
        ("two", PreviewPart::Through)
    );
    assert_eq!((state.selected, state.focus), (1, Focus::Preview));
    state.take(opened(request.number));
    press(&mut state, KeyCode::Char('n'));
    assert_eq!(state.pane.entry().as_deref(), Some("e6"));
}

#[test]
fn what_goes_while_the_help_is_open_has_no_keys_afterwards() {
    for keys in [&[KeyCode::Right][..], &[KeyCode::Right, KeyCode::Char('t')]] {
        let mut state = state();
        keys.iter().for_each(|key| drop(press(&mut state, *key)));
        press(&mut state, KeyCode::F(1));
        state.take(Message::Terminal(Event::Resize(50, 20)));
        assert_eq!(state.focus, Focus::Help);
        press(&mut state, KeyCode::Esc);
        assert_eq!(state.focus, Focus::List);
        press(&mut state, KeyCode::Char('b'));
        assert_eq!(state.line.text(), "ab");
    }
}

#[test]
fn what_is_pasted_into_a_text_is_no_query() {
    let mut state = state();
    press(&mut state, KeyCode::Right);
    let pasted = Message::Terminal(Event::Paste("words".to_owned()));
    assert!(state.take(pasted).is_empty());
    assert_eq!((state.line.text(), state.focus), ("a", Focus::Preview));
}
