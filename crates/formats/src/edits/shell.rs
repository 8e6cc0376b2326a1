//! Which programs does a command run, with which words? Read as POSIX shells read it, as far as it
//! says that by itself: what the shell would put in the place of a variable, a pattern or another
//! command is not known, and a word with such a thing is not plain.

use std::sync::Arc;

/// A program that a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The program and what it is given, without quotes. Redirections are not among them.
    pub words: Vec<String>,
    /// The words are all that they seem to be: the shell puts nothing in the place of any.
    pub is_plain: bool,
    /// The files that it writes to instead of its output, those whose names are plain.
    pub writes: Vec<String>,
    /// The document that stands in the command and is its input: `<<`.
    pub document: Option<Arc<Document>>,
    /// The folder that `cd` named before; relative to that in which the whole command runs. `None`:
    /// nobody knows.
    pub folder: Option<Arc<str>>,
    /// What follows it.
    pub end: End,
}

/// A document that stands in a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its lines.
    pub text: String,
    /// The shell puts nothing in the place of anything in it.
    pub is_literal: bool,
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
    // Many commands may have the same folder and the same document.
    let mut folder: Option<Arc<str>> = Some(Arc::default());
    let mut piped: Option<Arc<Document>> = None;
    for command in &mut commands {
        command.folder.clone_from(&folder);
        let given = piped.take();
        command.document = command.document.take().or(given);
        if command.end == End::Pipe && command.writes.is_empty() {
            piped = command.prints();
        }
        let program = command.program();
        let before = &command.words[..command.words.len() - program.len()];
        let words: Vec<&str> = program.iter().map(String::as_str).collect();
        match &*words {
            ["cd", to] if command.is_plain && *to != "-" && before.iter().all(|of| of == "{") => {
                folder = folder.map(|folder| joined(&folder, to).into());
            }
            // Where it goes nobody knows.
            ["cd" | "pushd" | "popd", ..] => folder = None,
            _ => {}
        }
        folder = folder.filter(|folder| folder.len() <= LONGEST_FOLDER);
    }
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
        _ if to.starts_with(['/', '\\']) || to.get(1..2) == Some(":") => to.to_owned(),
        folder => format!("{}/{to}", folder.trim_end_matches('/')),
    }
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
        }
    }

    /// What one of these programs is given, by whatever path it is called. Another program may start
    /// it: `timeout 20 apply_patch`.
    pub fn given_to(&self, programs: &[&str]) -> Option<&[String]> {
        const STARTERS: [&str; 9] = [
            "command", "doas", "env", "exec", "nice", "nohup", "sudo", "timeout", "xargs",
        ];
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
        const BEFORE: [&str; 11] = [
            "{", "}", "(", "!", "if", "then", "elif", "else", "do", "while", "time",
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
}

impl SimpleCommand {
    /// What it prints, of programs that print what they are given.
    fn prints(&self) -> Option<Arc<Document>> {
        let (name, given) = self.program().split_first()?;
        let is_option = |word: &&String| matches!(word.as_str(), "-n" | "-e" | "-E" | "--");
        let text = match name.as_str() {
            "cat" if given.iter().all(|word| word == "-") => return self.document.clone(),
            "tee" => return self.document.clone(),
            "echo" => {
                let options = given.iter().take_while(is_option).count();
                given[options..].join(" ").replace("\\n", "\n") + "\n"
            }
            "printf" => given.join("\n").replace("\\n", "\n") + "\n",
            _ => return None,
        };
        let is_literal = self.is_plain;
        Some(Arc::new(Document { text, is_literal }))
    }

    /// The patch that it applies, where it is known in which folder.
    fn patch(&self) -> Option<ShellPatch> {
        let given = self.given_to(&["apply_patch", "applypatch"])?;
        let text = match given {
            [patch] if self.is_plain => patch.clone(),
            _ => self.document.as_ref()?.text.clone(),
        };
        let folder = self.folder.as_deref()?.to_owned();
        Some(ShellPatch { text, folder })
    }

    /// The files that it fills with a text that stands in the command, and that text.
    pub fn fills(&self) -> Option<(Vec<&str>, Arc<Document>)> {
        let mut files: Vec<&str> = self.writes.iter().map(String::as_str).collect();
        if let [name, given @ ..] = self.program()
            && name == "tee"
            && self.is_plain
        {
            let given = given.iter().map(String::as_str);
            files.extend(given.filter(|word| !word.starts_with('-')));
        }
        let text = self.prints().filter(|_| !files.is_empty())?;
        Some((files, text))
    }
}

/// A patch that a command applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellPatch {
    pub text: String,
    /// The folder that `cd` named before; relative to that in which the whole command runs.
    pub folder: String,
}

/// The patches that a command applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellPatches {
    /// In its order.
    pub patches: Vec<ShellPatch>,
    /// Where the command has not failed, none of them has.
    pub fails_with_them: bool,
}

/// The patches that a command gives to `apply_patch`.
pub(crate) fn patches(command: &str) -> ShellPatches {
    let mut found = ShellPatches {
        patches: Vec::new(),
        fails_with_them: true,
    };
    // The words of a call, put together: the second one is the patch.
    let joined = command.strip_prefix("apply_patch ").map(str::trim_start);
    if let Some(text) = joined.filter(|text| text.starts_with("*** Begin Patch")) {
        let text = text.to_owned();
        let folder = String::new();
        found.patches.push(ShellPatch { text, folder });
        return found;
    }
    let mut before = End::Next;
    for command in simple_commands(command) {
        let patch = command.patch();
        let is_first = found.patches.is_empty() && patch.is_some();
        found.patches.extend(patch);
        let goes_on = found.patches.is_empty() || matches!(command.end, End::And | End::Last);
        found.fails_with_them &= goes_on && !(is_first && before == End::Or);
        before = command.end;
    }
    found
}

/// What the word is that is read.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Word,
    /// The file that the output goes to.
    Output,
    /// Any other file.
    Input,
    /// How a document ends, and whether the tabs before its lines are left out.
    Delimiter(bool),
}

struct Awaited {
    delimiter: String,
    without_tabs: bool,
    is_literal: bool,
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
        }
    }

    /// Reads all of it; of a command within another one what is before its closing bracket.
    fn read(&mut self) {
        let mut open = 0_usize;
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
                ')' if open == 0 && self.depth > 0 => break,
                '(' | ')' => {
                    self.end_word();
                    self.now.is_plain = false;
                    open = match sign {
                        '(' => open + 1,
                        _ => open.saturating_sub(1),
                    };
                }
                '*' | '?' | '[' | '{' | '!' => self.push_open(sign),
                '~' if self.word.is_none() => self.push_open(sign),
                sign => self.push(sign),
            }
        }
        self.end_command(End::Last);
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
            let mut inner = Shell::of(self.left.clone(), self.depth + 1);
            inner.read();
            self.left = inner.left;
        }
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
        self.take_number();
        let is_document = self.takes('<');
        self.place = match is_document {
            true if self.takes('<') => Place::Input,
            true => Place::Delimiter(self.takes('-')),
            false => Place::Input,
        };
        if !is_document && !self.takes('&') {
            self.takes('>');
        }
    }

    /// `>` and what begins so.
    fn output(&mut self) {
        let number = self.take_number();
        let is_output = number.is_none_or(|number| number == "1");
        if self.takes('>') || !self.takes('|') {
            let is_number = |sign: &char| sign.is_ascii_digit() || *sign == '-';
            if self.takes('&') && self.left.peek().is_some_and(is_number) {
                self.place = Place::Input;
                return;
            }
        }
        self.place = match is_output {
            true => Place::Output,
            false => Place::Input,
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
                // By themselves they stand for nothing else.
                self.now.is_plain &= is_plain || matches!(&*word, "{" | "!");
                self.now.words.push(word);
            }
            Place::Output if is_plain => self.now.writes.push(word),
            Place::Output | Place::Input => {}
            Place::Delimiter(without_tabs) => self.documents.push(Awaited {
                delimiter: word,
                without_tabs,
                is_literal: is_quoted,
                of: None,
            }),
        }
    }

    fn end_command(&mut self, end: End) {
        self.end_word();
        self.place = Place::Word;
        let is_empty = self.now.words.is_empty() && self.now.writes.is_empty();
        if is_empty && self.now.is_plain {
            return;
        }
        let mut ended = std::mem::replace(&mut self.now, SimpleCommand::empty());
        ended.end = end;
        // Those before the first of these are of commands that have ended.
        let open = self.documents.iter_mut().rev();
        for awaited in open.take_while(|awaited| awaited.of.is_none()) {
            awaited.of = Some(self.commands.len());
        }
        self.commands.push(ended);
    }

    /// Reads the documents that begin on the line that has ended.
    fn read_documents(&mut self) {
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
            if let Some(command) = command {
                let is_literal = awaited.is_literal;
                command.document = Some(Arc::new(Document { text, is_literal }));
            }
        }
    }
}
