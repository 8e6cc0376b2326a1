use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use sessionary::model::SessionRow;

use super::*;
use crate::picker::copy::CopyFormat;

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

/// What titles alone tell, before the answer.
fn titles(question: &Question, ids: &[&str]) -> Message {
    let Message::Answered(mut titles) = answer(question, ids) else {
        panic!("it is an answer");
    };
    titles.is_provisional = true;
    Message::Answered(titles)
}

/// The same answer, where there are so many sessions in all.
fn of_all(answer: Message, total: usize) -> Message {
    let Message::Answered(mut answer) = answer else {
        panic!("it is an answer");
    };
    answer.total = total as u64;
    answer.has_more = answer.rows.len() < total;
    Message::Answered(answer)
}

/// The first of so many sessions.
fn first_of(number: usize) -> Vec<String> {
    (0..number).map(|number| number.to_string()).collect()
}

fn borrowed(ids: &[String]) -> Vec<&str> {
    ids.iter().map(String::as_str).collect()
}

/// The session with which the picker is left.
fn leaves(tasks: Vec<Task>) -> Option<String> {
    tasks.into_iter().find_map(|task| match task {
        Task::Leave(choice) => choice.map(|choice| choice.sessions[0].id.clone()),
        _ => None,
    })
}

/// The session of which a branch is made.
fn branches(tasks: Vec<Task>) -> Option<String> {
    tasks.into_iter().find_map(|task| match task {
        Task::Do(Job::Branch(target)) => Some(target.session.id),
        _ => None,
    })
}

fn selected(state: &State) -> &str {
    state.row().map_or("", |row| &row.session.id)
}

const ABC: [&str; 3] = ["a", "b", "c"];

#[test]
fn there_is_no_session_only_where_none_was_listed() {
    let mut state = state();
    let complete = |question: &Question, not_found: &[&str]| {
        Message::Answered(Box::new(Answer {
            question: question.clone(),
            complete: true,
            not_found: not_found.iter().map(|&said| said.to_owned()).collect(),
            ..Answer::default()
        }))
    };
    // Nothing was found; how many there are was not asked yet.
    let question = type_in(&mut state, "nothing");
    state.take(complete(&question, &[]));
    assert!(!state.finds_no_session());
    let question = asked(vec![state.ask_anew()]);
    state.take(complete(&question, &["Looked in ~"]));
    assert!(state.finds_no_session());
}

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
    let enter = |state: &mut State| press(state, KeyCode::Enter, KeyModifiers::NONE);
    let mut state = state();
    let question = asked(state.take(Message::Begin));
    assert_eq!(leaves(enter(&mut state)), None);
    let chosen = leaves(state.take(answer(&question, &ABC)));
    assert_eq!(chosen.as_deref(), Some("a"));
    // Titles alone do not tell the best.
    let question = type_in(&mut state, "linker");
    assert_eq!(leaves(enter(&mut state)), None);
    assert_eq!(leaves(state.take(titles(&question, &["c"]))), None);
    let chosen = leaves(state.take(answer(&question, &["b"])));
    assert_eq!(chosen.as_deref(), Some("b"));
    // Whoever has chosen among what is seen has that.
    let question = type_in(&mut state, "x");
    state.take(titles(&question, &ABC));
    press(&mut state, KeyCode::Down, KeyModifiers::NONE);
    assert_eq!(leaves(enter(&mut state)).as_deref(), Some("b"));
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
    state.take(titles(&question, &["c", "b"]));
    assert_eq!(selected(&state), "c");
    state.take(answer(&question, &ABC));
    assert_eq!(selected(&state), "a");
}

#[test]
fn what_titles_tell_is_taken_as_long_as_nothing_better_is_there() {
    let mut state = state();
    let titles = |question: &Question| titles(question, &["c"]);
    let question = type_in(&mut state, "linker");
    assert_eq!(question.reason, Reason::Typed);
    state.take(titles(&question));
    assert_eq!(selected(&state), "c");
    state.take(answer(&question, &ABC));
    assert_eq!(selected(&state), "a");
    // The same is asked again, because the index has changed.
    let again = asked(state.take(Message::News(News::Changed)));
    assert_eq!(again.reason, Reason::Changed);
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
    state.take(answer(&question, &borrowed(&first_of(40))));
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

#[test]
fn what_is_done_with_a_session_waits_for_the_list_of_what_is_typed() {
    let mut state = state();
    let question = asked(state.take(Message::Begin));
    state.take(answer(&question, &["old", "older"]));
    let (none, alt) = (KeyModifiers::NONE, KeyModifiers::ALT);
    let question = type_in(&mut state, "title");
    press(&mut state, KeyCode::Down, none);
    assert_eq!(leaves(press(&mut state, KeyCode::Enter, none)), None);
    assert!(selected(&state) == "old" && state.is_waiting());
    let chosen = leaves(state.take(answer(&question, &ABC)));
    assert_eq!((chosen.as_deref(), state.is_waiting()), (Some("b"), false));
    let question = type_in(&mut state, "1");
    assert_eq!(branches(press(&mut state, KeyCode::Enter, alt)), None);
    let branched = branches(state.take(answer(&question, &["c"])));
    assert_eq!(branched.as_deref(), Some("c"));
    let question = type_in(&mut state, "2");
    for _ in 0..2 {
        press(&mut state, KeyCode::Tab, none);
    }
    assert!(state.marked.is_empty());
    state.take(answer(&question, &ABC));
    assert_eq!((selected(&state), state.marked.len()), ("c", 2));
    let question = type_in(&mut state, "3");
    assert!(press(&mut state, KeyCode::Char('p'), alt).is_empty());
    let tasks = state.take(answer(&question, &ABC));
    assert!(matches!(&tasks[..], [Task::Do(Job::Pin(keys))] if keys.len() == 2));
    let question = type_in(&mut state, "4");
    press(&mut state, KeyCode::Char('c'), alt);
    assert!(state.dialog.is_none());
    state.take(answer(&question, &ABC));
    assert!(matches!(&state.dialog, Some(Dialog::Menu(menu)) if menu.targets.len() == 2));
}

#[test]
fn another_key_takes_back_what_waits() {
    let (none, alt) = (KeyModifiers::NONE, KeyModifiers::ALT);
    let mut state = state();
    // Of several that choose, the last is meant.
    let question = type_in(&mut state, "t");
    press(&mut state, KeyCode::Down, none);
    press(&mut state, KeyCode::Enter, alt);
    press(&mut state, KeyCode::Enter, none);
    assert_eq!(
        leaves(state.take(answer(&question, &ABC))).as_deref(),
        Some("b")
    );
    // What is typed then is meant for the query.
    type_in(&mut state, "i");
    press(&mut state, KeyCode::Enter, none);
    let question = type_in(&mut state, "t");
    assert_eq!(question.query, "tit");
    assert!(leaves(state.take(answer(&question, &ABC))).is_none());
    assert_eq!(selected(&state), "a");
    // What titles have found is seen, and can be moved in.
    let question = type_in(&mut state, "l");
    press(&mut state, KeyCode::Enter, none);
    state.take(titles(&question, &ABC));
    press(&mut state, KeyCode::Down, none);
    assert!(selected(&state) == "b" && !state.is_waiting());
    assert!(leaves(state.take(answer(&question, &ABC))).is_none());
    assert_eq!(selected(&state), "b");
}

#[test]
fn the_last_of_all_is_gone_to_wherever_it_is() {
    let (none, control) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
    let mut state = state();
    let question = asked(state.take(Message::Begin));
    let (some, all) = (first_of(11), first_of(59));
    state.take(of_all(answer(&question, &borrowed(&some)), 59));
    let question = asked(press(&mut state, KeyCode::End, control));
    assert!(question.rows >= 59 && selected(&state) == "0");
    press(&mut state, KeyCode::Up, none);
    assert_eq!(leaves(press(&mut state, KeyCode::Enter, none)), None);
    let chosen = leaves(state.take(answer(&question, &borrowed(&all))));
    assert_eq!(chosen.as_deref(), Some("57"));
}

#[test]
fn a_larger_screen_is_filled() {
    let mut state = state();
    let question = asked(state.take(Message::Begin));
    let (some, more) = (first_of(11), first_of(36));
    state.take(of_all(answer(&question, &borrowed(&some)), 59));
    let taller = |height| Message::Terminal(TerminalEvent::Resize(50, height));
    let question = asked(state.take(taller(72)));
    assert_eq!(question.rows, 36);
    // It is larger again, before the answer is there.
    assert!(state.take(taller(90)).is_empty());
    let tasks = state.take(of_all(answer(&question, &borrowed(&more)), 59));
    assert!(asked(tasks).rows > 44);
}

#[test]
fn a_session_that_went_down_is_looked_for() {
    let down = |state: &mut State| drop(press(state, KeyCode::Down, KeyModifiers::NONE));
    let mut state = state();
    let question = asked(state.take(Message::Begin));
    state.take(of_all(answer(&question, &ABC), 30));
    let again = asked(state.take(Message::News(News::Changed)));
    assert_eq!(again.keep, state.row().map(Row::key));
    // The selection has moved since that was asked: it is looked for where it stands now.
    down(&mut state);
    let newer = ["n1", "n2", "a"];
    let further = asked(state.take(of_all(answer(&again, &newer), 30)));
    assert_eq!(further.keep, state.row().map(Row::key));
    assert_eq!(selected(&state), "b");
    // There are as many rows as it took.
    let further = Question {
        rows: 12,
        ..further
    };
    let listed = ["n1", "n2", "a", "b", "c"];
    state.take(of_all(answer(&further, &listed), 30));
    assert_eq!((selected(&state), state.selected), ("b", 3));
    // So many rows are asked for from then on.
    assert_eq!(asked(state.take(Message::News(News::Changed))).rows, 12);
}

#[test]
fn a_question_is_answered_though_the_index_changes_all_the_time() {
    let changed = || Message::News(News::Changed);
    let mut state = state();
    let question = type_in(&mut state, "/slow/");
    for _ in 0..3 {
        assert!(state.take(changed()).is_empty());
    }
    let again = asked(state.take(answer(&question, &ABC)));
    assert_eq!((selected(&state), again.reason), ("a", Reason::Changed));
    // That one is not called off either.
    assert!(state.take(changed()).is_empty());
    let again = asked(state.take(answer(&again, &["a", "d"])));
    assert_eq!(state.rows.len(), 2);
    assert!(
        state.take(answer(&again, &ABC)).is_empty(),
        "nothing is new"
    );
}

#[test]
fn keys_behind_one_that_opens_a_menu_are_meant_for_the_menu() {
    let alt = KeyModifiers::ALT;
    let types = |state: &mut State, text: &str| {
        for letter in text.chars() {
            assert!(press(state, KeyCode::Char(letter), KeyModifiers::NONE).is_empty());
        }
    };
    let mut state = state();
    let question = type_in(&mut state, "title");
    press(&mut state, KeyCode::Char('c'), alt);
    types(&mut state, "i");
    assert_eq!(state.line.text(), "title");
    let tasks = state.take(answer(&question, &ABC));
    assert!(matches!(&tasks[..], [Task::Do(Job::Copy(of, CopyFormat::Id))] if of.len() == 1));
    // Esc takes it back, and does not leave.
    let question = type_in(&mut state, "1");
    press(&mut state, KeyCode::Char('a'), alt);
    assert!(press(&mut state, KeyCode::Esc, KeyModifiers::NONE).is_empty());
    state.take(answer(&question, &ABC));
    assert!(state.dialog.is_none());
    // What goes to the trash is seen before.
    let question = type_in(&mut state, "2");
    press(&mut state, KeyCode::Char('a'), alt);
    types(&mut state, "ty");
    assert!(state.take(answer(&question, &ABC)).is_empty());
    assert!(matches!(state.dialog, Some(Dialog::Confirmation(_))));
}

#[test]
fn a_key_that_waited_goes_to_what_has_the_keys_by_then() {
    let none = KeyModifiers::NONE;
    let mut state = state();
    let question = type_in(&mut state, "title");
    press(&mut state, KeyCode::Char('c'), KeyModifiers::ALT);
    // It copies; then the help is opened, and closed.
    press(&mut state, KeyCode::Char('i'), none);
    for _ in 0..2 {
        press(&mut state, KeyCode::F(1), none);
    }
    state.take(answer(&question, &ABC));
    assert_eq!(state.focus, Focus::List);
}
