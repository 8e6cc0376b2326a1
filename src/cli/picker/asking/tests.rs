use ratatui::crossterm::event::{Event as TerminalEvent, KeyCode, KeyModifiers};
use ratatui::layout::Size;

use super::*;
use crate::picker::message::{Answer, Message};
use crate::picker::state::Focus;
use crate::picker::{Opening, PrintFormat, Purpose};

fn state(purpose: Purpose) -> State {
    let opening = Opening {
        query: String::new(),
        purpose,
        height: None,
        here: None,
    };
    State::new(&opening, Size::new(100, 30))
}

/// A state with these sessions.
fn with(purpose: Purpose, ids: &[&str]) -> State {
    let mut state = state(purpose);
    list(&mut state, ids);
    state
}

fn list(state: &mut State, ids: &[&str]) {
    let tasks = [state.ask_anew()];
    let question = tasks.into_iter().find_map(|task| match task {
        Task::Ask(question) => Some(question),
        _ => None,
    });
    state.take(Message::Answered(Box::new(Answer {
        question: question.expect("a question"),
        rows: ids.iter().map(|id| row(id)).collect(),
        ..Answer::default()
    })));
}

fn row(id: &str) -> Row {
    let mut session = SessionRow::default();
    session.agent = "pi".to_owned();
    session.id = id.to_owned();
    session.path = format!("/s/{id}.jsonl").into();
    session.title = format!("Title of {id}");
    Row {
        session,
        hits: Vec::new(),
        is_here: false,
        is_pinned: false,
    }
}

fn press(state: &mut State, code: KeyCode, modifiers: KeyModifiers) -> Vec<Task> {
    let key = KeyEvent::new(code, modifiers);
    state.take(Message::Terminal(TerminalEvent::Key(key)))
}

fn alt(state: &mut State, letter: char) -> Vec<Task> {
    press(state, KeyCode::Char(letter), KeyModifiers::ALT)
}

fn types(state: &mut State, text: &str) -> Vec<Task> {
    let press = |letter| press(state, KeyCode::Char(letter), KeyModifiers::NONE);
    text.chars().flat_map(press).collect()
}

fn key(state: &mut State, code: KeyCode) -> Vec<Task> {
    press(state, code, KeyModifiers::NONE)
}

fn job(tasks: Vec<Task>) -> Job {
    let mut jobs = tasks.into_iter().filter_map(|task| match task {
        Task::Do(job) => Some(job),
        _ => None,
    });
    jobs.next().expect("a job")
}

fn ids<'a>(sessions: impl IntoIterator<Item = &'a SessionRow>) -> Vec<&'a str> {
    sessions.into_iter().map(|one| &*one.id).collect()
}

fn chosen(tasks: Vec<Task>) -> Choice {
    match tasks.into_iter().next() {
        Some(Task::Leave(Some(choice))) => choice,
        other => panic!("{other:?}"),
    }
}

fn done(state: &mut State, done: JobResult) -> Vec<Task> {
    state.take(Message::Done(Box::new(done)))
}

#[test]
fn what_is_marked_is_pinned_else_what_is_selected() {
    let mut state = with(Purpose::Resume, &["a", "b", "c"]);
    key(&mut state, KeyCode::Down);
    match job(alt(&mut state, 'p')) {
        Job::Pin(sessions) => assert_eq!(sessions, [row("b").key()]),
        other => panic!("{other:?}"),
    }
    key(&mut state, KeyCode::Tab);
    key(&mut state, KeyCode::Tab);
    match job(alt(&mut state, 'p')) {
        Job::Pin(sessions) => assert_eq!(sessions, [row("b").key(), row("c").key()]),
        other => panic!("{other:?}"),
    }
    // Without a session there is nothing to pin.
    assert!(alt(&mut with(Purpose::Resume, &[]), 'p').is_empty());
}

#[test]
fn marks_stay_while_something_else_is_typed() {
    let mut state = with(Purpose::Print(PrintFormat::Id), &["a", "b", "c"]);
    key(&mut state, KeyCode::Down);
    key(&mut state, KeyCode::Tab);
    key(&mut state, KeyCode::Tab);
    list(&mut state, &["c", "d"]);
    assert_eq!(state.marked.len(), 2);
    // Those of the list first, in its order.
    let choice = chosen(key(&mut state, KeyCode::Enter));
    assert_eq!(ids(&choice.sessions), ["c", "b"]);
    // Also where nothing is found.
    list(&mut state, &[]);
    let choice = chosen(key(&mut state, KeyCode::Enter));
    assert_eq!(ids(&choice.sessions), ["b", "c"]);
}

#[test]
fn enter_continues_the_one_selected_and_prints_all_that_is_marked() {
    let mut state = with(Purpose::Resume, &["a", "b", "c"]);
    key(&mut state, KeyCode::Tab);
    key(&mut state, KeyCode::Tab);
    let choice = chosen(key(&mut state, KeyCode::Enter));
    assert_eq!(ids(&choice.sessions), ["c"]);
    state.purpose = Purpose::Print(PrintFormat::Command);
    let choice = chosen(key(&mut state, KeyCode::Enter));
    assert_eq!(ids(&choice.sessions), ["a", "b"]);
    assert!(key(&mut with(Purpose::Resume, &[]), KeyCode::Enter).is_empty());
}

#[test]
fn a_session_is_branched_before_the_picker_goes() {
    let mut state = with(Purpose::Resume, &["a", "b"]);
    match job(press(&mut state, KeyCode::Enter, KeyModifiers::ALT)) {
        Job::Branch(target) => assert_eq!(target.session.id, "a"),
        other => panic!("{other:?}"),
    }
    // Another one is not begun meanwhile, nor is the picker left with something else.
    for modifiers in [KeyModifiers::ALT, KeyModifiers::NONE] {
        assert!(press(&mut state, KeyCode::Enter, modifiers).is_empty());
        assert!(state.notice.is_some());
    }
    // Where it fails, the picker stays and says why.
    let failed = JobResult::NotBranched("no branches".into());
    assert!(done(&mut state, failed).is_empty());
    assert_eq!(state.notice.as_deref(), Some("no branches"));
    // Then it may be tried again.
    let again = job(press(&mut state, KeyCode::Enter, KeyModifiers::ALT));
    assert!(matches!(again, Job::Branch(_)));
    let branched = JobResult::Branched(Box::new(row("new").session));
    let choice = chosen(done(&mut state, branched));
    assert_eq!(ids(&choice.sessions), ["new"]);
    assert_eq!(choice.action, ChosenAction::Accept);
    // To read it nothing is branched.
    let mut state = with(Purpose::Show, &["a", "b"]);
    let choice = chosen(press(&mut state, KeyCode::Enter, KeyModifiers::ALT));
    assert_eq!(choice.action, ChosenAction::ResumeFrom);
}

#[test]
fn a_menu_is_left_or_chosen_from() {
    let mut state = with(Purpose::Resume, &["a", "b"]);
    assert!(alt(&mut state, 'c').is_empty());
    assert!(matches!(&state.dialog, Some(Dialog::Menu(menu)) if menu.title.contains("Title of a")));
    // Keys are the menu's: nothing is typed, and the list stays where it is.
    types(&mut state, "xq");
    key(&mut state, KeyCode::Down);
    assert_eq!((state.line.text(), state.selected), ("", 0));
    match job(key(&mut state, KeyCode::Enter)) {
        Job::Copy(targets, what) => {
            assert_eq!((targets.len(), what), (1, CopyFormat::Id));
        }
        other => panic!("{other:?}"),
    }
    assert!(state.dialog.is_none());
    alt(&mut state, 'c');
    assert!(matches!(
        job(types(&mut state, "M")),
        Job::Copy(_, CopyFormat::Markdown)
    ));
    for leave in [KeyCode::Esc, KeyCode::Char('c')] {
        alt(&mut state, 'a');
        let modifiers = match leave {
            KeyCode::Esc => KeyModifiers::NONE,
            _ => KeyModifiers::CONTROL,
        };
        // The menu goes, the picker stays.
        assert!(press(&mut state, leave, modifiers).is_empty());
        assert!(state.dialog.is_none());
    }
    let mut empty = with(Purpose::Resume, &[]);
    assert!(alt(&mut empty, 'a').is_empty());
    assert!(empty.dialog.is_none() && empty.notice.is_some());
}

#[test]
fn what_the_sessions_agent_does_not_allow_is_not_offered() {
    let offered = |state: &mut State| {
        alt(state, 'a');
        let Some(Dialog::Menu(menu)) = state.dialog.take() else {
            panic!("no menu");
        };
        menu.items
            .iter()
            .map(|item| item.letter())
            .collect::<String>()
    };
    for (agent, host, letters) in [
        ("pi", None, "rlfmht"),
        ("indusagi", None, "rlfmht"),
        ("clido", None, "rfmht"),
        ("pi", Some("laptop"), "fmh"),
        ("claude", None, "mht"),
        ("agentuse", None, "mht"),
    ] {
        let mut state = with(Purpose::Resume, &["a"]);
        state.rows[0].session.agent = agent.to_owned();
        state.rows[0].session.host = host.map(str::to_owned);
        assert_eq!(offered(&mut state), letters, "{agent} {host:?}");
    }
    // Of several it is enough that one allows it, and that one is asked for.
    let mut state = with(Purpose::Resume, &["a", "b"]);
    state.rows[0].session.agent = "claude".to_owned();
    key(&mut state, KeyCode::Tab);
    key(&mut state, KeyCode::Tab);
    assert_eq!(offered(&mut state), "rlfmht");
    alt(&mut state, 'a');
    types(&mut state, "rnew");
    match job(key(&mut state, KeyCode::Enter)) {
        Job::Name { session, .. } => assert_eq!(session.id, "b"),
        other => panic!("{other:?}"),
    }
    assert!(state.dialog.is_none());
}

#[test]
fn an_entry_is_copied_where_one_is_shown() {
    let mut state = with(Purpose::Resume, &["a", "b"]);
    let offered = |state: &mut State| {
        alt(state, 'c');
        let Some(Dialog::Menu(menu)) = state.dialog.take() else {
            panic!("no menu");
        };
        menu.items.contains(&MenuItem::CopyEntry) && menu.items.contains(&MenuItem::CopyAddress)
    };
    assert!(!offered(&mut state));
    state.rows[1].hits = vec![crate::picker::previewer::hit("e5", "prose", "[a]")];
    key(&mut state, KeyCode::Down);
    assert!(offered(&mut state));
    // Of several it is copied of those in which one was found.
    for code in [KeyCode::BackTab, KeyCode::Tab] {
        key(&mut state, code);
    }
    alt(&mut state, 'c');
    match job(types(&mut state, "e")) {
        Job::Copy(targets, CopyFormat::Entry) => {
            let entries: Vec<_> = targets.iter().map(|one| one.entry.as_deref()).collect();
            assert_eq!(entries, [Some("e5")]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_two_items_of_a_menu_have_one_letter() {
    for items in [&COPIES[..], &ACTIONS] {
        let mut letters: Vec<char> = items.iter().map(|item| item.letter()).collect();
        letters.sort_unstable();
        letters.dedup();
        assert_eq!(letters.len(), items.len());
    }
}

#[test]
fn each_of_several_sessions_is_named() {
    let mut state = with(Purpose::Resume, &["a", "b", "c"]);
    state.rows[1].session.name = Some("Old".to_owned());
    key(&mut state, KeyCode::Tab);
    key(&mut state, KeyCode::Tab);
    alt(&mut state, 'a');
    assert!(types(&mut state, "r").is_empty());
    types(&mut state, " First ");
    match job(key(&mut state, KeyCode::Enter)) {
        Job::Name { session, name } => assert_eq!((&*session.id, &*name), ("a", "First")),
        other => panic!("{other:?}"),
    }
    // The next one begins with the name it has; left as it is, nothing is written.
    assert!(matches!(&state.dialog, Some(Dialog::Prompt(prompt)) if prompt.line.text() == "Old"));
    assert!(key(&mut state, KeyCode::Enter).is_empty());
    assert!(state.dialog.is_none());
    // Typing a name is edited as a query is, and pasted into.
    alt(&mut state, 'a');
    types(&mut state, "r");
    state.take(Message::Terminal(TerminalEvent::Paste("two\nwords".into())));
    press(&mut state, KeyCode::Char('w'), KeyModifiers::CONTROL);
    types(&mut state, "x");
    assert!(key(&mut state, KeyCode::Esc).is_empty());
    assert_eq!(state.line.text(), "");
}

#[test]
fn a_name_from_which_a_key_was_left_out_is_not_given_back() {
    let mut state = with(Purpose::Resume, &["a"]);
    state.rows[0].session.name = Some(format!("ghp_{}", redact::MARK));
    alt(&mut state, 'a');
    types(&mut state, "r");
    assert!(matches!(&state.dialog, Some(Dialog::Prompt(prompt)) if prompt.line.text().is_empty()));
    // The line is not what it is called: left as it is, it takes nothing away.
    assert!(key(&mut state, KeyCode::Enter).is_empty());
    assert!(state.notice.is_some());
    alt(&mut state, 'a');
    types(&mut state, "rnew");
    match job(key(&mut state, KeyCode::Enter)) {
        Job::Name { name, .. } => assert_eq!(name, "new"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_label_is_of_what_is_shown_or_of_all_that_is_marked() {
    for (marks, expected) in [(0, vec!["a"]), (1, vec!["a"]), (2, vec!["a", "b"])] {
        let mut state = with(Purpose::Resume, &["a", "b", "c"]);
        for _ in 0..marks {
            key(&mut state, KeyCode::Tab);
        }
        alt(&mut state, 'a');
        types(&mut state, "lgood");
        match job(key(&mut state, KeyCode::Enter)) {
            Job::Label { targets, label } => {
                let of: Vec<&str> = targets.iter().map(|one| &*one.session.id).collect();
                assert_eq!((of, &*label), (expected, "good"));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn nothing_goes_to_the_trash_without_a_yes() {
    let mut state = with(Purpose::Resume, &["a", "b", "c"]);
    for _ in 0..3 {
        key(&mut state, KeyCode::Tab);
    }
    for no in ["n", "x", " ", "t"] {
        alt(&mut state, 'a');
        types(&mut state, "t");
        assert!(matches!(&state.dialog, Some(Dialog::Confirmation(question))
                if question.text == "Move 3 sessions to the trash? y/N"));
        assert!(types(&mut state, no).is_empty(), "{no}");
        assert!(state.dialog.is_none());
    }
    alt(&mut state, 'a');
    types(&mut state, "t");
    assert!(key(&mut state, KeyCode::Enter).is_empty(), "Enter is no");
    alt(&mut state, 'a');
    types(&mut state, "t");
    assert!(press(&mut state, KeyCode::Char('y'), KeyModifiers::CONTROL).is_empty());
    alt(&mut state, 'a');
    match job(types(&mut state, "ty")) {
        Job::Trash(sessions) => assert_eq!(ids(&sessions), ["a", "b", "c"]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn marks_out_of_sight_are_told_and_taken_away() {
    let title = |state: &State| match &state.dialog {
        Some(Dialog::Menu(menu)) => menu.title.clone(),
        Some(Dialog::Confirmation(question)) => question.text.clone(),
        _ => panic!("nothing is asked"),
    };
    let mut state = with(Purpose::Resume, &["a", "b", "c", "d"]);
    for _ in 0..3 {
        key(&mut state, KeyCode::Tab);
    }
    alt(&mut state, 'c');
    assert_eq!(title(&state), "Copy: 3 sessions");
    key(&mut state, KeyCode::Esc);
    list(&mut state, &["d", "c"]);
    alt(&mut state, 'a');
    assert_eq!(title(&state), "Do: 3 sessions, 2 of them not on the screen");
    types(&mut state, "t");
    let question = "Move 3 sessions, 2 of them not on the screen, to the trash? y/N";
    assert_eq!(title(&state), question);
    key(&mut state, KeyCode::Esc);
    // Without any, the selected one is meant again.
    assert!(alt(&mut state, 'm').is_empty() && state.marked.is_empty());
    alt(&mut state, 'c');
    assert_eq!(title(&state), "Copy: “Title of d”");
    key(&mut state, KeyCode::Esc);
    key(&mut state, KeyCode::Tab);
    list(&mut state, &["a"]);
    alt(&mut state, 'a');
    types(&mut state, "t");
    let question = "Move “Title of d”, not on the screen, to the trash? y/N";
    assert_eq!(title(&state), question);
}

#[test]
fn what_is_in_the_trash_is_not_marked_and_can_come_back() {
    let offers_undo = |state: &mut State| {
        alt(state, 'a');
        let offers = matches!(&state.dialog, Some(Dialog::Menu(menu)) if menu.items.contains(&MenuItem::Undo));
        key(state, KeyCode::Esc);
        offers
    };
    let mut state = with(Purpose::Resume, &["a", "b"]);
    assert!(!offers_undo(&mut state));
    key(&mut state, KeyCode::Tab);
    key(&mut state, KeyCode::Tab);
    let gone = vec![row("a").key()];
    let said = "In the trash".to_owned();
    let trashed = |is_any_moved| JobResult::Trashed {
        gone: gone.clone(),
        is_any_moved,
        said: said.clone(),
    };
    // Others have deleted it: nothing of it is in the trash.
    done(&mut state, trashed(false));
    list(&mut state, &["a", "b"]);
    assert!(!offers_undo(&mut state));
    let tasks = done(&mut state, trashed(true));
    assert!(matches!(tasks[..], [Task::Ask(_)]));
    assert!(!state.marked.contains(&row("a").key()) && state.marked.contains(&row("b").key()));
    assert_eq!(offers_undo(&mut state), trashing::CAN_RESTORE);
    if trashing::CAN_RESTORE {
        // What is marked can be acted on wherever it is.
        list(&mut state, &[]);
        assert!(offers_undo(&mut state));
        // Also where no session is left: then nothing else is offered, and nothing done unasked.
        state.marked.forget(&[row("b").key()]);
        list(&mut state, &[]);
        assert!(alt(&mut state, 'a').is_empty());
        assert!(
            matches!(&state.dialog, Some(Dialog::Menu(menu)) if menu.items == [MenuItem::Undo])
        );
        assert!(key(&mut state, KeyCode::Esc).is_empty());
        assert!(alt(&mut state, 'c').is_empty() && state.dialog.is_none());
        alt(&mut state, 'a');
        assert!(matches!(job(types(&mut state, "u")), Job::Restore));
        assert_eq!(state.line.text(), "");
        // As long as something that went before is there.
        for is_any_left in [true, false] {
            let said = "Back".to_owned();
            done(&mut state, JobResult::Restored { is_any_left, said });
            list(&mut state, &["a"]);
            assert_eq!(offers_undo(&mut state), is_any_left);
        }
    }
}

#[test]
fn the_selection_goes_to_a_new_fork_once_it_is_listed() {
    let forked = || JobResult::Forked {
        new: vec![row("new").key()],
        said: "Forked".to_owned(),
    };
    let answered = |state: &mut State, tasks: Vec<Task>, ids: &[&str]| {
        let question = tasks.into_iter().find_map(|task| match task {
            Task::Ask(question) => Some(question),
            _ => None,
        });
        let question = question.expect("a question");
        assert_eq!(question.keep, Some(row("new").key()));
        state.take(Message::Answered(Box::new(Answer {
            question,
            rows: ids.iter().map(|id| row(id)).collect(),
            ..Answer::default()
        })));
        state.row().map(|row| row.session.id.clone())
    };
    let mut state = with(Purpose::Resume, &["a", "b"]);
    let tasks = done(&mut state, forked());
    let selected = answered(&mut state, tasks, &["a", "b", "new"]);
    assert_eq!(selected.as_deref(), Some("new"));
    // Not where somebody has moved since.
    let mut state = with(Purpose::Resume, &["a", "b"]);
    let tasks = done(&mut state, forked());
    key(&mut state, KeyCode::Down);
    let selected = answered(&mut state, tasks, &["a", "b", "new"]);
    assert_eq!(selected.as_deref(), Some("b"));
}

#[test]
fn a_new_fork_that_is_not_listed_is_not_asked_for_again_and_again() {
    let answered = |state: &mut State, tasks: Vec<Task>, ids: &[&str]| {
        let question = tasks.into_iter().find_map(|task| match task {
            Task::Ask(question) => Some(question),
            _ => None,
        })?;
        let keep = question.keep.clone();
        let tasks = state.take(Message::Answered(Box::new(Answer {
            question,
            rows: ids.iter().map(|id| row(id)).collect(),
            has_more: true,
            ..Answer::default()
        })));
        Some((keep, tasks))
    };
    let mut state = with(Purpose::Resume, &["a", "b"]);
    let forked = JobResult::Forked {
        new: vec![row("new").key()],
        said: "Forked".to_owned(),
    };
    let mut tasks = done(&mut state, forked);
    // So many others have come that the selected one is further below.
    for kept in ["new", "a"] {
        let (keep, next) = answered(&mut state, tasks, &["c", "d"]).expect("a question");
        assert_eq!(keep, Some(row(kept).key()));
        tasks = next;
    }
    assert!(answered(&mut state, tasks, &[]).is_none());
    assert!(state.rows.len() == 2 && !state.is_waiting());
}

#[test]
fn who_has_begun_to_read_is_not_taken_to_a_new_fork() {
    let mut state = with(Purpose::Resume, &["a", "b"]);
    let forked = JobResult::Forked {
        new: vec![row("new").key()],
        said: "Forked".to_owned(),
    };
    let tasks = done(&mut state, forked);
    key(&mut state, KeyCode::Right);
    assert_eq!(state.focus, Focus::Preview);
    for task in tasks {
        if let Task::Ask(question) = task {
            state.take(Message::Answered(Box::new(Answer {
                question,
                rows: ["new", "a", "b"].map(row).to_vec(),
                ..Answer::default()
            })));
        }
    }
    assert_eq!(state.row().map(|row| &*row.session.id), Some("a"));
}

#[test]
fn a_stop_answers_nothing() {
    for keys in ["", "a", "c", "ar", "at"] {
        let mut state = with(Purpose::Resume, &["a", "b"]);
        let mut letters = keys.chars();
        if let Some(menu) = letters.next() {
            alt(&mut state, menu);
        }
        types(&mut state, letters.as_str());
        let tasks = press(&mut state, KeyCode::Char('z'), KeyModifiers::CONTROL);
        assert!(matches!(tasks[..], [Task::Suspend]), "{keys}");
        // What was asked still is.
        assert_eq!(state.dialog.is_some(), !keys.is_empty(), "{keys}");
    }
    let mut state = with(Purpose::Resume, &["a"]);
    key(&mut state, KeyCode::F(1));
    let tasks = press(&mut state, KeyCode::Char('z'), KeyModifiers::CONTROL);
    assert!(matches!(tasks[..], [Task::Suspend]));
    assert_eq!(state.focus, Focus::Help);
}

#[test]
fn a_notice_stays_up_to_the_next_key() {
    let mut state = with(Purpose::Resume, &["a"]);
    let tasks = done(&mut state, JobResult::Changed("Its name is x now.".into()));
    assert!(matches!(tasks[..], [Task::Ask(_)]));
    list(&mut state, &["a"]);
    assert_eq!(state.notice.as_deref(), Some("Its name is x now."));
    key(&mut state, KeyCode::Down);
    assert_eq!(state.notice, None);
    let (text, said) = ("id".to_owned(), "Copied".to_owned());
    let tasks = done(&mut state, JobResult::Copied { text, said });
    assert!(matches!(&tasks[..], [Task::Copy(text)] if text == "id"));
}

/// What is asked for while somebody completes.
fn asked(tasks: &[Task]) -> (u64, Option<&str>, &str) {
    let asked = tasks.iter().find_map(|task| match task {
        Task::Complete(request) => Some(request),
        _ => None,
    });
    let asked = asked.expect("a request");
    (asked.number, asked.filter.as_deref(), &asked.typed)
}

fn complete(state: &mut State) -> Vec<Task> {
    press(state, KeyCode::Char(' '), KeyModifiers::CONTROL)
}

fn candidates(state: &mut State, number: u64, all: &[&str]) -> Vec<Task> {
    let candidates = all.iter().map(|one| (*one).to_owned()).collect();
    state.take(Message::Completed(Candidates {
        number,
        words: candidates,
    }))
}

#[test]
fn one_candidate_is_put_in_and_several_are_chosen_from() {
    let mut state = with(Purpose::Resume, &["a"]);
    types(&mut state, "x ag");
    let tasks = complete(&mut state);
    let (number, filter, typed) = asked(&tasks);
    assert_eq!((filter, typed), (None, "ag"));
    // Its values are offered next.
    let tasks = candidates(&mut state, number, &["agent"]);
    assert_eq!(state.line.text(), "x agent:");
    let (number, filter, typed) = asked(&tasks);
    assert_eq!((filter, typed), (Some("agent"), ""));
    assert!(
        tasks
            .iter()
            .any(|task| matches!(task, Task::Ask(question) if question.query == "x agent:"))
    );
    candidates(&mut state, number, &["clido", "pi", "pindusagi"]);
    key(&mut state, KeyCode::Tab);
    key(&mut state, KeyCode::Down);
    key(&mut state, KeyCode::BackTab);
    let tasks = key(&mut state, KeyCode::Enter);
    assert_eq!(state.line.text(), "x agent:pi ");
    assert!(matches!(&tasks[..], [Task::Ask(_)]));
    assert!(state.completion.is_none());
}

#[test]
fn typing_goes_on_while_candidates_are_offered() {
    let mut state = with(Purpose::Resume, &["a", "b"]);
    let tasks = complete(&mut state);
    let first = asked(&tasks).0;
    // Typed before there is an answer: that one is of another word.
    let tasks = types(&mut state, "a");
    let second = asked(&tasks).0;
    candidates(&mut state, first, &["zzz"]);
    assert!(
        state
            .completion
            .as_ref()
            .is_some_and(|now| now.candidates.is_empty())
    );
    candidates(&mut state, second, &["agent", "name", "label"]);
    // What does not fit any more goes at once; the list moves only once there are none.
    let tasks = types(&mut state, "g");
    assert_eq!(asked(&tasks).2, "ag");
    assert!(
        state
            .completion
            .as_ref()
            .is_some_and(|now| now.candidates == ["agent"])
    );
    candidates(&mut state, second + 1, &["agent"]);
    assert_eq!(
        state.line.text(),
        "ag",
        "nothing is put in while somebody types"
    );
    // A blank begins another word.
    types(&mut state, " ");
    assert!(state.completion.is_none());
    // Esc closes the list, and then leaves.
    let tasks = complete(&mut state);
    let number = asked(&tasks).0;
    candidates(&mut state, number, &["agent", "model"]);
    assert!(key(&mut state, KeyCode::Esc).is_empty());
    assert!(matches!(
        key(&mut state, KeyCode::Esc)[..],
        [Task::Leave(None)]
    ));
    // Nothing is known: nothing is offered, and the keys are the list's again.
    let tasks = complete(&mut state);
    let number = asked(&tasks).0;
    candidates(&mut state, number, &[]);
    list(&mut state, &["a", "b"]);
    key(&mut state, KeyCode::Down);
    assert_eq!(state.selected, 1);
}

#[test]
fn the_help_scrolls_where_it_does_not_fit() {
    let mut state = with(Purpose::Resume, &["a", "b"]);
    key(&mut state, KeyCode::F(1));
    // It fits: any key goes back.
    key(&mut state, KeyCode::Down);
    assert_eq!((state.focus, state.selected), (Focus::List, 0));
    state.take(Message::Terminal(TerminalEvent::Resize(60, 12)));
    key(&mut state, KeyCode::F(1));
    key(&mut state, KeyCode::Down);
    key(&mut state, KeyCode::PageDown);
    assert_eq!((state.focus, state.help_top), (Focus::Help, 11));
    key(&mut state, KeyCode::End);
    let end = state.help_top;
    key(&mut state, KeyCode::Down);
    assert_eq!(state.help_top, end);
    key(&mut state, KeyCode::Char('q'));
    assert_eq!((state.focus, state.line.text()), (Focus::List, ""));
}
