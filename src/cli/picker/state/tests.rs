use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use sessionary::model::SessionRow;

use super::*;

fn state() -> State {
    let opening = Opening {
        query: String::new(),
        purpose: Purpose::Resume,
        height: None,
        here: None,
    };
    // Ten rows and no preview.
    State::new(&opening, Size::new(50, 22))
}

fn press(state: &mut State, code: KeyCode, modifiers: KeyModifiers) -> Vec<Task> {
    let key = KeyEvent::new(code, modifiers);
    state.take(Message::Terminal(TerminalEvent::Key(key)))
}

fn type_in(state: &mut State, text: &str) -> Question {
    let tasks = text
        .chars()
        .map(|letter| press(state, KeyCode::Char(letter), KeyModifiers::NONE));
    asked(tasks.last().unwrap_or_default())
}

fn asked(tasks: Vec<Task>) -> Question {
    let mut questions = tasks.into_iter().filter_map(|task| match task {
        Task::Ask(question) => Some(question),
        _ => None,
    });
    questions.next().unwrap_or_default()
}

fn answer(question: &Question, ids: &[&str]) -> Message {
    let rows = ids.iter().map(|id| {
        let mut session = SessionRow::default();
        (session.id, session.path) = ((*id).to_owned(), id.into());
        Row {
            session,
            hits: Vec::new(),
            is_here: false,
            is_pinned: false,
        }
    });
    Message::Answered(Box::new(Answer {
        question: question.clone(),
        rows: rows.collect(),
        total: ids.len() as u64,
        ..Answer::default()
    }))
}

fn selected(state: &State) -> &str {
    state.row().map_or("", |row| &row.session.id)
}

const ABC: [&str; 3] = ["a", "b", "c"];

#[test]
fn an_answer_that_was_overtaken_changes_nothing() {
    let mut state = state();
    let first = type_in(&mut state, "li");
    let second = type_in(&mut state, "n");
    assert_eq!((&*first.query, &*second.query), ("li", "lin"));
    state.take(answer(&first, &ABC));
    assert!(!state.is_answered() && state.rows.is_empty());
    state.take(answer(&second, &["b"]));
    assert_eq!(selected(&state), "b");
}

#[test]
fn the_selection_stays_on_its_session_while_the_index_changes() {
    let mut state = state();
    let question = asked(state.take(Message::Begin));
    state.take(answer(&question, &ABC));
    press(&mut state, KeyCode::Down, KeyModifiers::NONE);
    press(&mut state, KeyCode::Tab, KeyModifiers::NONE);
    press(&mut state, KeyCode::Up, KeyModifiers::NONE);
    assert_eq!((selected(&state), state.marked.len()), ("b", 1));
    let again = asked(state.take(Message::News(News::Changed)));
    state.take(answer(&again, &["new", "a", "b", "c"]));
    assert_eq!((selected(&state), state.selected), ("b", 2));
    // It is gone: its place is kept.
    let again = asked(state.take(Message::News(News::Changed)));
    state.take(answer(&again, &["new", "a"]));
    assert_eq!(selected(&state), "a");
    // Another query begins at its best.
    let other = type_in(&mut state, "xy");
    state.take(answer(&other, &ABC));
    assert_eq!(selected(&state), "a");
}

#[test]
fn enter_means_what_was_typed_before_it() {
    let leaves = |tasks: Vec<Task>| {
        let mut tasks = tasks.into_iter();
        tasks.find_map(|task| match task {
            Task::Leave(choice) => choice.map(|choice| choice.sessions[0].id.clone()),
            _ => None,
        })
    };
    let enter = |state: &mut State| press(state, KeyCode::Enter, KeyModifiers::NONE);
    let mut state = state();
    let question = asked(state.take(Message::Begin));
    assert_eq!(leaves(enter(&mut state)), None);
    let chosen = leaves(state.take(answer(&question, &ABC)));
    assert_eq!(chosen.as_deref(), Some("a"));
    // Titles alone do not tell the best.
    let question = type_in(&mut state, "linker");
    assert_eq!(leaves(enter(&mut state)), None);
    if let Message::Answered(mut titles) = answer(&question, &["c"]) {
        titles.is_provisional = true;
        assert_eq!(leaves(state.take(Message::Answered(titles))), None);
    }
    let again = asked(state.take(Message::News(News::Changed)));
    assert_eq!(leaves(state.take(answer(&question, &["c"]))), None);
    let chosen = leaves(state.take(answer(&again, &["b"])));
    assert_eq!(chosen.as_deref(), Some("b"));
    // Whoever has chosen among what is seen has that.
    state.take(answer(&again, &ABC));
    type_in(&mut state, "x");
    press(&mut state, KeyCode::Down, KeyModifiers::NONE);
    assert_eq!(leaves(enter(&mut state)).as_deref(), Some("c"));
    // Any other key takes it back, and where nothing is found nothing is chosen.
    let question = type_in(&mut state, "y");
    assert_eq!(leaves(enter(&mut state)), None);
    press(&mut state, KeyCode::Left, KeyModifiers::NONE);
    assert_eq!(leaves(state.take(answer(&question, &ABC))), None);
    let question = type_in(&mut state, "z");
    assert_eq!(leaves(enter(&mut state)), None);
    assert_eq!(leaves(state.take(answer(&question, &[]))), None);
    assert_eq!(leaves(state.take(answer(&question, &ABC))), None);
}

#[test]
fn what_titles_tell_gives_way_to_the_best() {
    let mut state = state();
    let question = type_in(&mut state, "linker");
    let Message::Answered(mut titles) = answer(&question, &["c", "b"]) else {
        return;
    };
    titles.is_provisional = true;
    state.take(Message::Answered(titles));
    assert_eq!(selected(&state), "c");
    state.take(answer(&question, &ABC));
    assert_eq!(selected(&state), "a");
}

#[test]
fn what_titles_tell_is_taken_as_long_as_nothing_better_is_there() {
    let mut state = state();
    let titles = |question: &Question| match answer(question, &["c"]) {
        Message::Answered(mut titles) => {
            titles.is_provisional = true;
            Message::Answered(titles)
        }
        other => other,
    };
    let question = type_in(&mut state, "linker");
    assert!(question.is_new);
    // The same is asked again, because the index has changed.
    let again = asked(state.take(Message::News(News::Changed)));
    assert!(!again.is_new);
    state.take(titles(&question));
    assert_eq!(selected(&state), "c");
    state.take(answer(&again, &ABC));
    assert_eq!(selected(&state), "a");
    for late in [&question, &again] {
        state.take(titles(late));
        assert_eq!(selected(&state), "a");
    }
    // What was typed before is another question.
    type_in(&mut state, "s");
    state.take(titles(&question));
    assert_eq!(selected(&state), "a");
}

#[test]
fn the_selection_is_always_seen() {
    let mut state = state();
    let question = asked(state.take(Message::Begin));
    let ids: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    state.take(answer(&question, &ids));
    for (key, at) in [
        (KeyCode::PageDown, 10),
        (KeyCode::PageDown, 20),
        (KeyCode::Up, 19),
        (KeyCode::PageUp, 9),
        (KeyCode::PageUp, 0),
    ] {
        press(&mut state, key, KeyModifiers::NONE);
        assert_eq!(state.selected, at, "{key:?}");
        assert!((state.top..state.top + 10).contains(&at), "{}", state.top);
    }
    press(&mut state, KeyCode::End, KeyModifiers::CONTROL);
    assert_eq!((state.selected, state.top), (39, 30));
    state.take(Message::Terminal(TerminalEvent::Resize(50, 12)));
    assert_eq!((state.selected, state.top), (39, 35));
}

#[test]
fn what_is_marked_is_chosen_in_the_order_of_the_list() {
    let mut state = state();
    state.purpose = Purpose::Print(crate::picker::PrintFormat::Id);
    let question = asked(state.take(Message::Begin));
    state.take(answer(&question, &ABC));
    press(&mut state, KeyCode::Down, KeyModifiers::NONE);
    press(&mut state, KeyCode::BackTab, KeyModifiers::NONE);
    press(&mut state, KeyCode::Tab, KeyModifiers::NONE);
    let tasks = press(&mut state, KeyCode::Enter, KeyModifiers::NONE);
    let [Task::Leave(Some(choice))] = &tasks[..] else {
        panic!("{tasks:?}");
    };
    let chosen: Vec<&str> = choice.sessions.iter().map(|row| &*row.id).collect();
    assert_eq!(chosen, ["a", "b"]);
    assert!(matches!(
        press(&mut state, KeyCode::Esc, KeyModifiers::NONE)[..],
        [Task::Leave(None)]
    ));
}
