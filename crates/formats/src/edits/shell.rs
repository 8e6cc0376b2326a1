//! Which programs does a command run, with which words? Read as POSIX shells read it, as far as it
//! says that by itself: what the shell would put in the place of a variable, a pattern or another
//! command is not known, and a word with such a thing is not plain.

mod course;
mod given;
mod groups;
mod patches;

use std::collections::HashSet;
use std::sync::Arc;

pub use course::Document;
use given::STARTERS;
pub(crate) use given::{command_line, given};
pub(crate) use patches::{ShellPatch, ShellPatches, patches, touched};

/// A program that a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The program and what it is given, without quotes. Redirections are not among them.
    pub words: Vec<String>,
    /// The words are all that they seem to be: the shell puts nothing in the place of any.
    pub is_plain: bool,
    /// The files that it writes to instead of its output, those whose names are plain.
    pub writes: Vec<String>,
    /// The document that stands in the command and is its input: `<<`, `<<<`, or `<` of a file
    /// that the program right before it wrote.
    pub document: Option<Arc<Document>>,
    /// The folder that `cd` named before; relative to that in which the whole command runs. `None`:
    /// nobody knows.
    pub folder: Option<Arc<str>>,
    /// What follows it.
    pub end: End,
    /// The file that is its input; empty where its name is not plain.
    reads: Option<String>,
    /// It writes behind what is in a file.
    appends: bool,
    /// It says where what it prints goes.
    is_redirected: bool,
    /// That is said behind brackets, of all that is in them.
    is_of_brackets: bool,
    /// How many brackets of `( … )` open right before it.
    pub opens: usize,
    /// How many of them close right behind it.
    pub closes: usize,
    /// A function is named in it: `name()`.
    names_function: bool,
    /// What follows it is not what follows its end: it is in the background, or in a function.
    hides: bool,
    /// The programs that run before it, because it is given what they print: `$( … )`, `<( … )`.
    substituted: Vec<SimpleCommand>,
}

/// What follows a program within a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Nothing.
    Last,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
    /// Another one, whatever became of this.
    Next,
    /// `&`
    Background,
}

/// No folder is named by more bytes.
const LONGEST_FOLDER: usize = 4096;

/// Commands within commands are read to this depth.
const MOST_DEPTH: usize = 32;

/// The programs that a command runs, in its order.
pub fn simple_commands(command: &str) -> Vec<SimpleCommand> {
    let mut shell = Shell::new(command, 0);
    shell.read();
    let mut commands = shell.commands;
    if let Some(last) = commands.last_mut().filter(|last| last.end == End::Next) {
        last.end = End::Last;
    }
    course::follow(&mut commands, Some(Arc::default()), &mut HashSet::new());
    groups::share_files(&mut commands);
    commands
}

/// The folder that is named in the one in which a call runs, where that is said.
pub(crate) fn below(workdir: Option<&str>, folder: &str) -> Option<String> {
    match (workdir, folder) {
        (workdir, "") => workdir.map(str::to_owned),
        (workdir, folder) => Some(joined(workdir.unwrap_or_default(), folder)),
    }
}

/// A folder that is named in another one.
pub(crate) fn joined(folder: &str, to: &str) -> String {
    match folder {
        "" => to.to_owned(),
        _ if is_absolute(to) => to.to_owned(),
        folder => format!("{}/{to}", folder.trim_end_matches('/')),
    }
}

/// Whether a path means the same in every folder.
pub(crate) fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || path.get(1..2) == Some(":")
}

impl SimpleCommand {
    fn empty() -> Self {
        Self {
            words: Vec::new(),
            is_plain: true,
            writes: Vec::new(),
            document: None,
            folder: None,
            end: End::Last,
            reads: None,
            appends: false,
            is_redirected: false,
            is_of_brackets: false,
            opens: 0,
            closes: 0,
            names_function: false,
            hides: false,
            substituted: Vec::new(),
        }
    }

    /// What one of these programs is given, by whatever path it is called. Another program may
    /// start it: `timeout 20 apply_patch`.
    pub fn given_to(&self, programs: &[&str]) -> Option<&[String]> {
        let words = self.program();
        let is = |word: &String, names: &[&str]| {
            let name = word.rsplit('/').next();
            name.is_some_and(|name| names.contains(&name))
        };
        let is_started = is(words.first()?, &STARTERS);
        let mut programs_at = words.iter().take(if is_started { words.len() } else { 1 });
        let at = programs_at.position(|word| is(word, programs))?;
        Some(&words[at + 1..])
    }

    /// The program and what it is given, without what the shell reads before it: `then`, `X=1`.
    pub fn program(&self) -> &[String] {
        const BEFORE: [&str; 12] = [
            "{", "}", "(", "!", "if", "then", "elif", "else", "do", "while", "until", "time",
        ];
        let is_before = |word: &&String| {
            let set = word.split_once('=').is_some_and(|(name, _)| {
                let is_name = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
                !name.is_empty() && name.chars().all(is_name)
            });
            set || BEFORE.contains(&word.as_str())
        };
        let before = self.words.iter().take_while(is_before).count();
        &self.words[before..]
    }

    /// What the shell reads before the program.
    fn leading(&self) -> &[String] {
        &self.words[..self.words.len() - self.program().len()]
    }
}

/// What the word is that is read.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Word,
    /// The file that the output goes to.
    Output,
    /// The file that the input comes from.
    Source,
    /// The input itself.
    Text,
    /// Any other file.
    Other,
    /// How a document ends, whether the tabs before its lines are left out, and whether it is the
    /// input.
    Delimiter(bool, bool),
}

struct Awaited {
    delimiter: String,
    without_tabs: bool,
    is_literal: bool,
    is_input: bool,
    /// Of which command; `None`: of the one that is read.
    of: Option<usize>,
}

struct Shell<'t> {
    left: std::iter::Peekable<std::str::Chars<'t>>,
    depth: usize,
    commands: Vec<SimpleCommand>,
    now: SimpleCommand,
    word: Option<String>,
    is_plain: bool,
    is_quoted: bool,
    place: Place,
    documents: Vec<Awaited>,
    /// Which of these is the input of the command that is read.
    input_at: Option<usize>,
    /// The brackets that are open, and whether each is of `( … )` around programs.
    brackets: Vec<bool>,
}

impl<'t> Shell<'t> {
    fn new(text: &'t str, depth: usize) -> Self {
        Self::of(text.chars().peekable(), depth)
    }

    fn of(left: std::iter::Peekable<std::str::Chars<'t>>, depth: usize) -> Self {
        Self {
            left,
            depth,
            commands: Vec::new(),
            now: SimpleCommand::empty(),
            word: None,
            is_plain: true,
            is_quoted: false,
            place: Place::Word,
            documents: Vec::new(),
            input_at: None,
            brackets: Vec::new(),
        }
    }

    /// Reads all of it; of a command within another one what is before its closing bracket.
    fn read(&mut self) {
        while let Some(sign) = self.left.next() {
            match sign {
                '\\' => self.escaped(),
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '$' => self.dollar(),
                '`' => self.backquoted(),
                '#' if self.word.is_none() => self.comment(),
                '<' => self.input(),
                '>' => self.output(),
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' => {
                    self.end_command(End::Next);
                    self.read_documents();
                }
                ';' => self.end_command(End::Next),
                '|' if self.takes('|') => self.end_command(End::Or),
                '|' => {
                    self.takes('&');
                    self.end_command(End::Pipe);
                }
                '&' if self.takes('&') => self.end_command(End::And),
                '&' if self.takes('>') => self.output(),
                '&' => self.end_command(End::Background),
                ')' if self.brackets.is_empty() && self.depth > 0 => break,
                '(' => self.open_bracket(),
                ')' => self.close_bracket(),
                '*' | '?' | '[' | '{' | '!' => self.push_open(sign),
                '~' if self.word.is_none() => self.push_open(sign),
                sign => self.push(sign),
            }
        }
        self.end_command(End::Last);
    }

    /// A bracket around programs stands where one of them may begin.
    fn open_bracket(&mut self) {
        self.end_word();
        let now = &self.now;
        let is_begun = !now.words.is_empty() || !now.writes.is_empty() || now.closes > 0;
        let is_sum = self.left.peek() == Some(&'(');
        let is_around = !is_begun && self.place == Place::Word && !is_sum;
        self.brackets.push(is_around);
        // Behind `name()` its body begins.
        self.now.hides |= self.now.names_function;
        while self.takes(' ') {}
        let name = self.now.words.last().filter(|name| !name.ends_with('='));
        self.now.names_function |= name.is_some() && self.left.peek() == Some(&')');
        match is_around {
            true => self.now.opens += 1,
            false => self.now.is_plain = false,
        }
    }

    fn close_bracket(&mut self) {
        self.end_word();
        if self.brackets.pop() != Some(true) {
            self.now.is_plain = false;
            return;
        }
        let is_begun = !self.now.words.is_empty() || !self.now.writes.is_empty();
        if !is_begun && self.now.opens > 0 {
            // There is nothing in it.
            self.now.opens -= 1;
            self.now.is_plain = false;
            return;
        }
        // What follows the bracket follows the last program in it.
        if !is_begun && let Some(last) = self.commands.pop() {
            self.now = last;
            self.now.hides |= self.now.end == End::Background;
        }
        self.now.closes += 1;
    }

    fn takes(&mut self, sign: char) -> bool {
        self.left.next_if_eq(&sign).is_some()
    }

    fn push(&mut self, sign: char) {
        self.word.get_or_insert_default().push(sign);
    }

    /// What the shell may put something else in the place of.
    fn push_open(&mut self, sign: char) {
        self.push(sign);
        self.is_plain = false;
    }

    fn escaped(&mut self) {
        match self.left.next() {
            // The line goes on.
            Some('\n') => {}
            Some(sign) => {
                self.is_quoted = true;
                self.push(sign);
            }
            None => self.is_plain = false,
        }
    }

    fn single_quoted(&mut self) {
        self.is_quoted = true;
        self.word.get_or_insert_default();
        loop {
            match self.left.next() {
                Some('\'') => return,
                Some(sign) => self.push(sign),
                None => {
                    self.is_plain = false;
                    return;
                }
            }
        }
    }

    fn double_quoted(&mut self) {
        self.is_quoted = true;
        self.word.get_or_insert_default();
        loop {
            match self.left.next() {
                Some('"') => return,
                Some('\\') => match self.left.next() {
                    Some('\n') => {}
                    Some(sign @ ('$' | '`' | '"' | '\\')) => self.push(sign),
                    sign => {
                        self.push('\\');
                        sign.into_iter().for_each(|sign| self.push(sign));
                    }
                },
                Some('$') => self.dollar(),
                Some('`') => self.backquoted(),
                Some(sign) => self.push(sign),
                None => {
                    self.is_plain = false;
                    return;
                }
            }
        }
    }

    fn dollar(&mut self) {
        self.push_open('$');
        if self.depth < MOST_DEPTH && self.takes('(') {
            if self.takes('(') {
                return self.skip_sum();
            }
            self.substitute();
        }
    }

    /// Reads the programs within `$( … )` and `<( … )`.
    fn substitute(&mut self) {
        let mut inner = Shell::of(self.left.clone(), self.depth + 1);
        inner.read();
        self.left = inner.left;
        self.now.substituted.append(&mut inner.commands);
    }

    /// What is computed: to the bracket that ends it.
    fn skip_sum(&mut self) {
        let mut open = 2_usize;
        for sign in self.left.by_ref() {
            match sign {
                '(' => open += 1,
                ')' => open -= 1,
                _ => {}
            }
            if open == 0 {
                return;
            }
        }
    }

    fn backquoted(&mut self) {
        self.push_open('`');
        while let Some(sign) = self.left.next() {
            match sign {
                '`' => return,
                '\\' => drop(self.left.next()),
                _ => {}
            }
        }
    }

    fn comment(&mut self) {
        while self.left.next_if(|sign| *sign != '\n').is_some() {}
    }

    /// `<` and what begins so.
    fn input(&mut self) {
        let number = self.take_number();
        if self.depth < MOST_DEPTH && self.takes('(') {
            self.push_open('<');
            return self.substitute();
        }
        let is_input = number.is_none_or(|number| number == "0");
        self.place = if self.takes('<') {
            match self.takes('<') {
                true if is_input => Place::Text,
                true => Place::Other,
                false => Place::Delimiter(self.takes('-'), is_input),
            }
        } else if self.takes('&') {
            if is_input {
                self.read_from(Some(String::new()));
            }
            Place::Other
        } else if self.takes('>') || !is_input {
            Place::Other
        } else {
            Place::Source
        };
    }

    /// `>` and what begins so.
    fn output(&mut self) {
        let number = self.take_number();
        let is_output = number.is_none_or(|number| number == "1");
        let is_of_brackets = is_output && self.now.closes > 0;
        // What it says of itself within them counts.
        let is_told = is_output && !(is_of_brackets && self.now.is_redirected);
        self.now.is_of_brackets |= is_of_brackets;
        self.now.is_redirected |= is_output;
        let appends = self.takes('>');
        if appends || !self.takes('|') {
            let is_number = |sign: &char| sign.is_ascii_digit() || *sign == '-';
            if self.takes('&') && self.left.peek().is_some_and(is_number) {
                self.place = Place::Other;
                return;
            }
        }
        self.now.appends |= is_output && appends;
        self.place = match is_told {
            true => Place::Output,
            false => Place::Other,
        };
    }

    /// The number right before a redirection, which is no word.
    fn take_number(&mut self) -> Option<String> {
        let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
        match &self.word {
            Some(word) if is_number(word) && !self.is_quoted && !word.is_empty() => {
                self.word.take()
            }
            _ => {
                self.end_word();
                None
            }
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        let is_plain = std::mem::replace(&mut self.is_plain, true);
        let is_quoted = std::mem::take(&mut self.is_quoted);
        match std::mem::replace(&mut self.place, Place::Word) {
            Place::Word => {
                // By themselves they stand for nothing else. Behind a bracket there is no word: it
                // closes the pattern of a `case`.
                self.now.is_plain &= is_plain || matches!(&*word, "{" | "!");
                self.now.is_plain &= self.now.closes == 0;
                self.now.hides |= self.now.closes > 0;
                self.now.words.push(word);
            }
            Place::Output if is_plain => self.now.writes.push(word),
            Place::Output | Place::Other => {}
            Place::Source => {
                self.read_from(Some(if is_plain { word } else { String::new() }));
            }
            Place::Text => {
                let (text, is_literal) = (word + "\n", is_plain);
                if self.read_from(None) {
                    self.now.document = Some(Arc::new(Document { text, is_literal }));
                }
            }
            Place::Delimiter(without_tabs, is_input) => {
                let is_input = is_input && self.read_from(None);
                self.input_at = is_input.then_some(self.documents.len()).or(self.input_at);
                self.documents.push(Awaited {
                    delimiter: word,
                    without_tabs,
                    is_literal: is_quoted,
                    is_input,
                    of: None,
                });
            }
        }
    }

    /// Takes its input from a file, or from a document, instead of from what was named before. What
    /// stands behind a bracket changes nothing where the input is named within.
    fn read_from(&mut self, file: Option<String>) -> bool {
        let now = &mut self.now;
        let is_named = now.reads.is_some() || now.document.is_some() || self.input_at.is_some();
        if now.closes > 0 && is_named {
            return false;
        }
        let before = self.input_at.take();
        if let Some(before) = before.and_then(|at| self.documents.get_mut(at)) {
            before.is_input = false;
        }
        (now.reads, now.document) = (file, None);
        true
    }

    fn end_command(&mut self, end: End) {
        self.end_word();
        self.place = Place::Word;
        let is_empty = self.now.words.is_empty() && self.now.writes.is_empty();
        if is_empty && self.now.is_plain {
            (self.now.reads, self.now.document) = (None, None);
            return;
        }
        let mut ended = std::mem::replace(&mut self.now, SimpleCommand::empty());
        (ended.end, self.input_at) = (end, None);
        ended.names_function |= ended.program().first().is_some_and(|of| of == "function");
        ended.hides |= ended.names_function && !ended.words.iter().any(|word| word == "{");
        // Those before the first of these are of commands that have ended.
        let open = self.documents.iter_mut().rev();
        for awaited in open.take_while(|awaited| awaited.of.is_none()) {
            awaited.of = Some(self.commands.len());
        }
        self.commands.push(ended);
    }

    /// Reads the documents that begin on the line that has ended.
    fn read_documents(&mut self) {
        self.input_at = None;
        for awaited in std::mem::take(&mut self.documents) {
            let mut text = String::new();
            loop {
                let mut line = String::new();
                let is_last = loop {
                    match self.left.next() {
                        Some('\n') => break false,
                        Some(sign) => line.push(sign),
                        None => break true,
                    }
                };
                let line = match awaited.without_tabs {
                    true => line.trim_start_matches('\t'),
                    false => &*line,
                };
                if line == awaited.delimiter || is_last && line.is_empty() {
                    break;
                }
                text.extend([line, "\n"]);
                if is_last {
                    break;
                }
            }
            let command = awaited.of.and_then(|of| self.commands.get_mut(of));
            if let Some(command) = command.filter(|_| awaited.is_input) {
                let is_literal = awaited.is_literal;
                command.document = Some(Arc::new(Document { text, is_literal }));
            }
        }
    }
}
