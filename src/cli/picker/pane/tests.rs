use ratatui::text::Line;

use super::stretch::MOST;
use super::*;
use crate::picker::previewer::hit;

const SIZE: Size = Size {
    width: 40,
    height: 9,
};

/// An entry of three lines, one of them empty. The second one of every tenth entry is a match.
fn block(position: usize) -> Block {
    let is_match = position % 10 == 3;
    Block {
        position,
        place: u32::try_from(position + 100).expect("a small number"),
        entry: format!("e{position}"),
        lines: [format!("head {position}"), format!("text {position}")]
            .into_iter()
            .map(Line::raw)
            .chain([Line::default()])
            .collect(),
        matches: is_match.then_some(1).into_iter().collect(),
        best: is_match.then_some(1),
    }
}

fn row(bytes: u64, entry: Option<&str>) -> Row {
    let mut session = SessionRow::default();
    (session.id, session.path, session.bytes) = ("s".to_owned(), "/s".into(), bytes);
    Row {
        session,
        hits: entry
            .map(|entry| hit(entry, "prose", "[a]"))
            .into_iter()
            .collect(),
        is_here: false,
        is_pinned: false,
    }
}

/// Answers as the thread does that reads a branch of so many entries.
fn answer(request: &PreviewRequest, length: usize) -> Preview {
    let number = |entry: &String| entry[1..].parse::<usize>().expect("a number");
    let around = |position: Option<usize>, line: Option<usize>| {
        let at = position.unwrap_or(length);
        let blocks = at.saturating_sub(6)..length.min(at + 6);
        let line = line.or_else(|| block(at).best).unwrap_or(0);
        PreviewContent::Opened {
            length,
            blocks: blocks.map(block).collect(),
            position: position.unwrap_or(length - 1),
            line: if position.is_none() { 9 } else { line },
            is_provisional: false,
        }
    };
    let content = match &request.part {
        PreviewPart::Through => around(request.through.as_ref().map(number), None),
        PreviewPart::Start => around(Some(0), None),
        PreviewPart::End => around(None, None),
        PreviewPart::Place(place) => around(Some(*place as usize - 100), None),
        PreviewPart::Entries(part) => PreviewContent::More(part.clone().map(block).collect()),
        PreviewPart::Match { from, direction } => {
            let is_match = |at: &usize| at % 10 == 3;
            let found = match direction {
                Direction::Down => (from + 1..length).find(is_match),
                Direction::Up => (0..*from).rev().find(is_match),
            };
            found.map_or(PreviewContent::NoMatch, |at| around(Some(at), Some(1)))
        }
        PreviewPart::Tree(_) => PreviewContent::Tree(Vec::new()),
    };
    Preview {
        number: request.number,
        content,
    }
}

/// The pane, and the thread that reads for it.
struct Reader {
    pane: Pane,
    length: usize,
    /// What was asked for.
    asked: Vec<PreviewPart>,
}

impl Reader {
    /// On a branch of so many entries, at the end of it or at this one.
    fn new(length: usize, entry: Option<&str>) -> Self {
        let mut reader = Self {
            pane: Pane::default(),
            length,
            asked: Vec::new(),
        };
        reader.look(1, entry);
        reader
    }

    fn look(&mut self, bytes: u64, entry: Option<&str>) {
        self.with(|pane| pane.look(&row(bytes, entry), "a", SIZE));
    }

    fn with(&mut self, act: impl FnOnce(&mut Pane) -> Option<PreviewRequest>) {
        if let Some(request) = act(&mut self.pane) {
            let answer = answer(&request, self.length);
            self.asked.push(request.part);
            assert!(self.pane.take(answer));
        }
    }

    /// The first line in sight, the one where the reader stands, and which of them that is.
    fn stands(&self) -> (String, String, usize) {
        let seen: Vec<VisibleLine<'_>> = self.pane.seen().collect();
        let at = seen.iter().position(|seen| seen.is_here).expect("a place");
        for seen in &seen {
            let is_of_it = seen.line.to_string().ends_with(&self.at_entry());
            assert!(seen.is_of_entry || !is_of_it);
        }
        (seen[0].line.to_string(), seen[at].line.to_string(), at)
    }

    fn at_entry(&self) -> String {
        let entry = self.pane.entry().expect("an entry");
        format!(" {}", &entry[1..])
    }
}

fn lines(top: &str, at: &str, row: usize) -> (String, String, usize) {
    (top.to_owned(), at.to_owned(), row)
}

#[test]
fn a_match_stands_at_a_third_of_the_height_and_an_end_at_the_bottom() {
    let found = Reader::new(1000, Some("e503"));
    assert_eq!(found.stands(), lines("text 502", "text 503", 3));
    let end = Reader::new(1000, None);
    assert_eq!(end.stands(), lines("head 997", "", 8));
    // Where there is nothing above it, it stands higher.
    let begin = Reader::new(1000, Some("e0"));
    assert_eq!(begin.stands(), lines("head 0", "head 0", 0));
    let short = Reader::new(2, None);
    assert_eq!(short.stands(), lines("head 0", "", 5));
}

#[test]
fn only_what_is_near_is_read_and_nothing_twice() {
    let mut reader = Reader::new(1000, Some("e503"));
    for _ in 0..200 {
        reader.with(|pane| pane.scroll(1));
    }
    assert_eq!(reader.stands(), lines("head 569", "head 570", 3));
    let parts: Vec<&PreviewPart> = reader.asked.iter().skip(1).collect();
    let (first, second) = (
        PreviewPart::Entries(509..539),
        PreviewPart::Entries(539..569),
    );
    assert_eq!(parts, [&first, &second, &PreviewPart::Entries(569..599)]);
    for _ in 0..90 {
        reader.with(|pane| pane.page(-1));
    }
    assert_eq!(reader.stands().0, "head 329");
    let before = reader.asked.iter().skip(4);
    let before: Vec<&PreviewPart> = before.collect();
    assert_eq!(before[0], &PreviewPart::Entries(467..497));
    let mut read = before.windows(2).map(|two| match two {
        [PreviewPart::Entries(one), PreviewPart::Entries(next)] => next.end == one.start,
        _ => false,
    });
    assert!(read.all(|follows| follows), "{before:?}");
    assert!(reader.pane.stretch.expect("it is read").blocks.len() <= MOST);
}

#[test]
fn what_was_left_far_behind_is_read_again() {
    let mut reader = Reader::new(2000, Some("e3"));
    for _ in 0..600 {
        reader.with(|pane| pane.page(1));
    }
    let stretch = reader.pane.stretch.as_ref().expect("it is read");
    assert!(stretch.blocks.len() <= MOST && stretch.blocks[0].position > 1000);
    let (top, at, _) = reader.stands();
    for _ in 0..300 {
        reader.with(|pane| pane.page(-1));
    }
    for _ in 0..300 {
        reader.with(|pane| pane.page(1));
    }
    let again = reader.stands();
    assert_eq!((again.0, again.1), (top, at));
}

#[test]
fn a_text_that_is_all_in_sight_is_walked_through() {
    let mut reader = Reader::new(2, None);
    for _ in 0..3 {
        reader.with(|pane| pane.scroll(-1));
    }
    assert_eq!(reader.pane.entry().as_deref(), Some("e0"));
    assert_eq!(reader.stands(), lines("head 0", "", 2));
    for _ in 0..30 {
        reader.with(|pane| pane.scroll(-1));
    }
    assert_eq!(reader.stands(), lines("head 0", "head 0", 0));
    for _ in 0..30 {
        reader.with(|pane| pane.scroll(1));
    }
    assert_eq!(reader.stands(), lines("head 0", "", 5));
    assert_eq!(reader.asked, [PreviewPart::Through]);
}

#[test]
fn every_line_can_be_stood_on() {
    let mut reader = Reader::new(40, None);
    reader.with(Pane::first);
    let mut met = vec![reader.stands().1];
    for _ in 0..200 {
        reader.with(|pane| pane.scroll(1));
        met.push(reader.stands().1);
    }
    for entry in 0..40 {
        assert!(met.contains(&format!("head {entry}")), "{entry}");
    }
    assert_eq!(reader.stands(), lines("head 37", "", 8));
}

#[test]
fn ends_are_gone_to_without_what_lies_between() {
    let mut reader = Reader::new(1000, Some("e503"));
    reader.with(Pane::last);
    assert_eq!(reader.stands(), lines("head 997", "", 8));
    reader.with(Pane::last);
    reader.with(Pane::first);
    assert_eq!(reader.stands(), lines("head 0", "head 0", 0));
    reader.with(Pane::first);
    assert_eq!(reader.asked[1..], [PreviewPart::End, PreviewPart::Start]);
}

#[test]
fn the_next_match_is_gone_to_wherever_it_is() {
    let mut reader = Reader::new(40, Some("e13"));
    let went = |reader: &mut Reader, direction| {
        reader.with(|pane| pane.go_to_match(direction));
        reader.pane.entry().unwrap_or_default()
    };
    assert_eq!(went(&mut reader, Direction::Down), "e23");
    assert_eq!(reader.stands().1, "text 23");
    assert_eq!(went(&mut reader, Direction::Down), "e33");
    assert_eq!(reader.pane.note, None);
    assert_eq!(went(&mut reader, Direction::Down), "e33");
    assert_eq!(reader.pane.note.as_deref(), Some("no more matches"));
    let back = [23, 13, 3, 3].map(|entry| format!("e{entry}"));
    for entry in back {
        assert_eq!(went(&mut reader, Direction::Up), entry);
    }
    assert_eq!(reader.pane.note.as_deref(), Some("no more matches"));
    let further = |from, direction| PreviewPart::Match { from, direction };
    assert_eq!(reader.asked[1], further(18, Direction::Down));
    // What was read already is not asked for.
    reader.with(|pane| pane.scroll(-1));
    let asked = reader.asked.len();
    assert_eq!(went(&mut reader, Direction::Down), "e3");
    assert_eq!(reader.asked.len(), asked);
}

#[test]
fn the_same_key_does_not_begin_a_search_again() {
    let mut reader = Reader::new(40, Some("e13"));
    let pane = &mut reader.pane;
    let first = pane.go_to_match(Direction::Down).expect("a search");
    assert!(pane.go_to_match(Direction::Down).is_none());
    // The other way is another search, and what was looked for before is not waited for.
    let second = pane.go_to_match(Direction::Up).expect("another one");
    assert!(!pane.take(answer(&first, 40)) && pane.take(answer(&second, 40)));
    assert_eq!(pane.entry().as_deref(), Some("e3"));
}

#[test]
fn a_search_comes_to_its_end_while_the_session_grows() {
    let mut reader = Reader::new(40, Some("e13"));
    let pane = &mut reader.pane;
    let search = pane.go_to_match(Direction::Down).expect("a search");
    assert!(pane.look(&row(2, Some("e13")), "a", SIZE).is_none());
    assert!(pane.take(answer(&search, 40)));
    assert_eq!(pane.entry().as_deref(), Some("e23"));
    // Then what has come meanwhile is read.
    let again = pane.look(&row(2, Some("e13")), "a", SIZE);
    assert_eq!(
        again.map(|request| request.part),
        Some(PreviewPart::Place(123))
    );
    let tree = pane.open_tree().expect("the tree");
    assert!(pane.look(&row(3, Some("e13")), "a", SIZE).is_none());
    assert!(pane.take(answer(&tree, 40)));
    let again = pane.look(&row(3, Some("e13")), "a", SIZE);
    assert_eq!(again.map(|request| request.part), Some(tree.part));
}

#[test]
fn it_stays_where_it_is_while_only_the_index_changes() {
    let mut reader = Reader::new(1000, Some("e503"));
    reader.with(|pane| pane.scroll(2));
    let stands = reader.stands();
    reader.look(1, Some("e503"));
    // Another hit may be the best one now.
    reader.look(1, Some("e9"));
    assert_eq!(reader.stands(), stands);
    assert_eq!(reader.asked.len(), 1);
    // Another query looks for something else.
    let other = reader.pane.look(&row(1, Some("e9")), "b", SIZE);
    assert_eq!(
        other.map(|request| request.part),
        Some(PreviewPart::Through)
    );
}

#[test]
fn what_a_title_found_is_looked_at_where_its_text_was_found() {
    let mut reader = Reader::new(1000, None);
    reader.look(1, Some("e503"));
    assert_eq!(reader.stands().1, "text 503");
}

#[test]
fn a_session_that_grows_is_followed_from_its_end_alone() {
    let mut reader = Reader::new(1000, None);
    reader.length = 1001;
    reader.look(2, None);
    assert_eq!(reader.stands(), lines("head 998", "", 8));
    reader.with(|pane| pane.scroll(-1));
    let stands = reader.stands();
    reader.length = 1002;
    reader.look(3, None);
    assert_eq!(reader.stands(), stands);
    let more = PreviewPart::Entries(965..995);
    assert_eq!(
        reader.asked[1..],
        [PreviewPart::End, more, PreviewPart::Place(1100)]
    );
    // So it is in the middle.
    let mut reader = Reader::new(1000, Some("e503"));
    reader.with(|pane| pane.scroll(-2));
    let stands = reader.stands();
    reader.length = 1001;
    reader.look(2, Some("e503"));
    assert_eq!(reader.stands(), stands);
}

#[test]
fn another_width_leaves_somebody_at_the_same_match() {
    let mut reader = Reader::new(1000, Some("e503"));
    let wide = Size::new(60, 9);
    let request = reader.pane.look(&row(1, Some("e503")), "a", wide);
    let request = request.expect("it is written out again");
    assert_eq!(request.size, wide);
    let mut answer = answer(&request, 1000);
    if let PreviewContent::Opened { blocks, .. } = &mut answer.content {
        for block in blocks.iter_mut().filter(|block| block.position == 503) {
            block.lines.insert(0, Line::raw("one more"));
            block.matches = vec![2];
        }
    }
    reader.pane.take(answer);
    assert_eq!(reader.stands().1, "text 503");
}

#[test]
fn an_entry_is_chosen_by_going_to_it() {
    let mut reader = Reader::new(1000, Some("e503"));
    let key = row(1, None).key();
    assert_eq!(reader.pane.chosen_entry(&key), None);
    for _ in 0..3 {
        reader.with(|pane| pane.scroll(1));
    }
    assert_eq!(reader.pane.chosen_entry(&key).as_deref(), Some("e504"));
    // What was gone to stays chosen when the text is read anew.
    reader.with(|pane| pane.go_to_match(Direction::Down));
    reader.look(2, Some("e503"));
    assert_eq!(reader.pane.chosen_entry(&key).as_deref(), Some("e513"));
    let other = ("/other".into(), "s".to_owned());
    assert_eq!(reader.pane.chosen_entry(&other), None);
    reader.pane.close();
    assert_eq!(reader.pane.chosen_entry(&key), None);
}

#[test]
fn what_is_shown_of_another_session_has_no_keys() {
    let mut reader = Reader::new(1000, Some("e503"));
    let mut other = row(1, None);
    other.session.id = "other".to_owned();
    let request = reader.pane.look(&other, "a", SIZE).expect("it is read");
    assert!(reader.pane.scroll(1).is_none() && reader.pane.entry().is_none());
    let failed = Preview {
        number: request.number,
        content: PreviewContent::Failed("why".to_owned()),
    };
    assert!(reader.pane.take(failed));
    // Of what is not shown nothing is left on the screen.
    assert_eq!(reader.pane.seen().count(), 0);
    assert_eq!(reader.pane.note.as_deref(), Some("why"));
}

#[test]
fn in_a_first_look_nobody_goes_anywhere() {
    let mut pane = Pane::default();
    let request = pane.look(&row(1, Some("e503")), "a", SIZE);
    let request = request.expect("it is read");
    let mut first = answer(&request, 1000);
    if let PreviewContent::Opened { is_provisional, .. } = &mut first.content {
        *is_provisional = true;
    }
    assert!(pane.take(first));
    assert_eq!(pane.seen().count(), usize::from(SIZE.height));
    assert!(pane.scroll(1).is_none() && pane.last().is_none() && pane.entry().is_none());
    // All of it follows.
    assert!(pane.take(answer(&request, 1000)));
    assert_eq!(pane.entry().as_deref(), Some("e503"));
    assert!(pane.last().is_some());
}

#[test]
fn an_entry_chosen_in_the_tree_stays_chosen_while_its_branch_is_read() {
    let mut reader = Reader::new(1000, Some("e503"));
    let key = row(1, None).key();
    let tree = reader.pane.open_tree().expect("the tree");
    let rows = ["e4", "e5"].map(|entry| tree::TreeLine {
        entry: entry.to_owned(),
        is_leaf: entry == "e5",
        parts: Vec::new(),
    });
    assert!(reader.pane.take(Preview {
        number: tree.number,
        content: PreviewContent::Tree(rows.into()),
    }));
    let chosen = |pane: &Pane| pane.chosen_entry(&key).unwrap_or_default();
    let request = reader.pane.choose_branch().expect("that branch");
    assert_eq!(chosen(&reader.pane), "e5");
    // It grows meanwhile: what was chosen is asked for again.
    let request = match reader.pane.look(&row(2, Some("e503")), "a", SIZE) {
        Some(again) => {
            assert_eq!(again.part, request.part);
            again
        }
        None => panic!("it is read again"),
    };
    let mut first = answer(&request, 1000);
    if let PreviewContent::Opened { is_provisional, .. } = &mut first.content {
        *is_provisional = true;
    }
    assert!(reader.pane.take(first));
    assert_eq!(chosen(&reader.pane), "e5");
    assert!(reader.pane.take(answer(&request, 1000)));
    assert_eq!(chosen(&reader.pane), "e5");
    for _ in 0..6 {
        reader.with(|pane| pane.scroll(1));
    }
    assert_eq!(chosen(&reader.pane), "e7");
}
