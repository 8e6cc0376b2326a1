//! In which folder does each program of a command run, and which text that stands in the command
//! is its input? Where one of several is possible, none is named.

use std::collections::HashSet;
use std::sync::Arc;

use super::{End, LONGEST_FOLDER, SimpleCommand, is_absolute, joined};

/// A document that stands in a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its lines.
    pub text: String,
    /// The shell puts nothing in the place of anything in it.
    pub is_literal: bool,
}

type Folder = Option<Arc<str>>;

/// Tells programs that run one after the other, the first one in this folder, where they run and
/// what they are given. Many may have the same folder and the same document. The answer: where the
/// programs behind them run is not known.
pub(super) fn follow(
    commands: &mut [SimpleCommand],
    folder: Folder,
    functions: &mut HashSet<String>,
) -> bool {
    let mut course = Course::new(folder);
    std::mem::swap(&mut course.functions, functions);
    for at in 0..commands.len() {
        let gives_up = commands[at].end == End::Or && gives_up(&commands[at + 1..]);
        let command = &mut commands[at];
        course.enter(command);
        if course.is_lost {
            course.folder = None;
        }
        command.folder.clone_from(&course.folder);
        let folder = course.folder.clone();
        course.is_lost |= follow(&mut command.substituted, folder, &mut course.functions);
        course.give(command);
        course.go(command, gives_up);
        course.leave(command);
    }
    std::mem::swap(&mut course.functions, functions);
    // A bracket behind a pattern was read as the end of all.
    course.is_lost || course.cases > 0
}

/// Whether nothing runs behind what comes next: `exit 1`, `{ echo no; exit 1; }`.
fn gives_up(next: &[SimpleCommand]) -> bool {
    const MOST: usize = 8;
    let is = |command: &SimpleCommand, names: [&str; 2]| {
        let program = command.program().first();
        program.is_some_and(|program| names.contains(&program.as_str()))
    };
    for (at, command) in next.iter().take(MOST).enumerate() {
        let is_exit = is(command, ["exit", "return"]);
        if command.opens > 0 || command.closes > 0 || command.names_function {
            return false;
        }
        let leading = command.leading();
        if at == 0 && leading.is_empty() {
            return is_exit && !matches!(command.end, End::Pipe | End::Background);
        }
        let begins = usize::from(at == 0);
        if leading.iter().filter(|word| *word == "{").count() != begins || leading.len() != begins {
            return false;
        }
        if is_exit {
            // Behind a pipe it would end that part of the pipe alone.
            let is_end = |next: &SimpleCommand| {
                let is_closed = next.words.first().is_some_and(|word| word == "}");
                is_closed && !matches!(next.end, End::Pipe | End::Background)
            };
            return command.end == End::Next && next.get(at + 1).is_some_and(is_end);
        }
        match command.end {
            End::Next => {}
            End::And if is(command, ["echo", "printf"]) => {}
            _ => return false,
        }
    }
    false
}

impl SimpleCommand {
    /// What it may run, each with what it is given: where the pattern of a `case`, the name of a
    /// function or another program may stand before it, any of its words.
    pub(super) fn may_run(&self) -> impl Iterator<Item = &[String]> {
        let words = self.program();
        let is_open = |word: &String| {
            word.starts_with('-')
                || matches!(&**word, "builtin" | "command" | "coproc" | "function")
        };
        let all = !self.is_plain || words.first().is_some_and(is_open);
        let most = if all { words.len() } else { 1 };
        (0..words.len().min(most)).map(|at| &words[at..])
    }

    /// What it prints, of programs that print what they are given.
    pub(super) fn prints(&self) -> Option<Arc<Document>> {
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

/// What of a shell is known between two programs.
struct Course {
    /// Where the next one runs.
    folder: Folder,
    /// Where the first of those ran that `&&` and `||` join.
    begun_in: Folder,
    /// What one of these may have done to the others.
    doubt: Doubt,
    /// What stands before the next one.
    before: End,
    /// What it stands in.
    around: Vec<Around>,
    /// How many loops are among that, within the innermost subshell.
    loops: usize,
    /// How many `case` have no `esac` yet.
    cases: usize,
    /// Where the next ones run is not known any more.
    is_lost: bool,
    /// What may be the name of a function.
    functions: HashSet<String>,
    /// What it is given by the one before it.
    piped: Option<Arc<Document>>,
    /// The file that the one before it wrote, and all that is in it.
    file: Option<(String, Arc<Document>)>,
}

/// Programs that belong together, and what was known before them.
struct Around {
    kind: Kind,
    folder: Folder,
    begun_in: Folder,
    doubt: Doubt,
    loops: usize,
    cases: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    No,
    /// It asks something, and may say no.
    Asked,
    /// A `cd` comes after that.
    Unsure,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// `( … )`: what they do to the folder ends with them.
    Subshell,
    /// They may run again.
    Loop,
    /// They run when they are called.
    Function,
    /// Any others, which may not run at all.
    Other,
}

impl Course {
    fn new(folder: Folder) -> Self {
        Self {
            begun_in: folder.clone(),
            folder,
            doubt: Doubt::No,
            before: End::Next,
            around: Vec::new(),
            loops: 0,
            cases: 0,
            is_lost: false,
            functions: HashSet::new(),
            piped: None,
            file: None,
        }
    }

    /// Reads what stands before a program.
    fn enter(&mut self, command: &SimpleCommand) {
        for _ in 0..command.opens {
            self.open(Kind::Subshell);
        }
        let first = |words: &[String]| words.first().is_some_and(|word| word == "case");
        self.cases += command.may_run().filter(|words| first(words)).count();
        if command.names_function {
            // The name stands before `{`, perhaps behind a pattern.
            let names = command.words.iter().take_while(|word| *word != "{");
            self.functions.extend(names.cloned());
            self.is_lost |= command.hides;
        }
        for (at, word) in command.words.iter().enumerate() {
            match word.as_str() {
                "if" | "case" | "select" | "{" => self.open(Kind::Other),
                "while" | "until" | "for" => self.open(Kind::Loop),
                "then" | "do" | "!" | "time" => {}
                "else" | "elif" => self.other_branch(),
                "fi" | "done" | "}" => self.close(),
                "esac" => {
                    self.cases = self.cases.saturating_sub(1);
                    self.close();
                }
                // `name() {`, `function name {`
                word => {
                    let mut near = command.words[at..].iter().skip(1).take(2);
                    let may_be = !command.is_plain || word == "function";
                    if may_be && near.any(|word| word == "{") {
                        self.open(Kind::Function);
                    }
                    return;
                }
            }
        }
    }

    fn open(&mut self, kind: Kind) {
        self.around.push(Around {
            kind,
            folder: self.folder.clone(),
            begun_in: self.begun_in.clone(),
            doubt: self.doubt,
            loops: self.loops,
            cases: self.cases,
        });
        match kind {
            Kind::Subshell => self.loops = 0,
            Kind::Loop => self.loops += 1,
            Kind::Function => self.folder = None,
            Kind::Other => {}
        }
        self.before = End::Next;
        self.begin();
    }

    /// Programs begin that `&&` and `||` join.
    fn begin(&mut self) {
        self.doubt = Doubt::No;
        self.begun_in.clone_from(&self.folder);
    }

    /// What comes is run where the programs before it are not.
    fn other_branch(&mut self) {
        self.file = None;
        if self
            .around
            .last()
            .is_some_and(|of| of.folder != self.folder)
        {
            self.folder = None;
        }
        self.begin();
    }

    /// The innermost of what is no subshell ends.
    fn close(&mut self) {
        self.file = None;
        let Some(of) = self.around.pop_if(|of| of.kind != Kind::Subshell) else {
            return;
        };
        match of.kind {
            Kind::Function => self.folder = of.folder,
            _ if of.folder != self.folder => self.folder = None,
            _ => {}
        }
        (self.begun_in, self.loops) = (of.begun_in, of.loops);
        self.doubt = of.doubt.max(Doubt::Asked);
    }

    /// Gives a program the document that another one prints or wrote.
    fn give(&mut self, command: &mut SimpleCommand) {
        let given = self.piped.take();
        let read = command.reads.as_deref().and_then(|file| self.path(file));
        let read = read.zip(self.file.as_ref());
        let read = read.and_then(|(path, (file, text))| (path == *file).then(|| Arc::clone(text)));
        let given = if command.reads.is_some() { read } else { given };
        // `cd` leaves its input to those behind it.
        let is_cd = command.program().first().is_some_and(|of| of == "cd");
        if is_cd && command.opens > 0 && command.closes == 0 {
            self.piped.clone_from(&given);
        }
        command.document = command.document.take().or(given);
        if command.end == End::Pipe && command.writes.is_empty() {
            self.piped = command.prints();
        }
    }

    /// The path of a file, as it is named from where the command runs.
    fn path(&self, file: &str) -> Option<String> {
        match &self.folder {
            _ if is_absolute(file) => Some(file.to_owned()),
            Some(folder) => Some(joined(folder, file)),
            None => None,
        }
    }

    /// Goes where a program goes.
    fn go(&mut self, command: &SimpleCommand, gives_up: bool) {
        // The others may say no.
        const SURE: [&str; 8] = [":", "cd", "echo", "export", "printf", "pwd", "set", "true"];
        let before = command.leading();
        let words: Vec<&str> = command.program().iter().map(String::as_str).collect();
        match &*words {
            ["cd", to]
                if command.is_plain
                    && *to != "-"
                    && before.iter().all(|of| of == "{")
                    && !self.functions.contains("cd") =>
            {
                self.change_to(to, command.end, gives_up);
            }
            // Where it goes nobody knows.
            _ if self.may_leave_by(command) => self.folder = None,
            words => {
                let is_sure = match words {
                    ["mkdir", given @ ..] => given.iter().any(|word| word.starts_with("-p")),
                    words => words.first().is_some_and(|name| SURE.contains(name)),
                };
                let asks = !is_sure || !command.writes.is_empty();
                if self.doubt == Doubt::No && (asks || before.iter().any(|word| word == "!")) {
                    self.doubt = Doubt::Asked;
                }
            }
        }
        let folder = self.folder.take();
        self.folder = folder.filter(|folder| folder.len() <= LONGEST_FOLDER);
        self.file = self.written(command);
    }

    /// Whether the folder may be another one behind it.
    fn may_leave_by(&self, command: &SimpleCommand) -> bool {
        let mut all = command.may_run().enumerate();
        all.any(|(at, words)| match words[0].as_str() {
            "cd" | "pushd" | "popd" | "eval" | "source" => true,
            "." => at == 0 || command.is_plain,
            name => self.functions.contains(name),
        })
    }

    fn change_to(&mut self, to: &str, end: End, gives_up: bool) {
        // It runs in a shell of its own.
        if end == End::Pipe {
            return;
        }
        let is_certain = !matches!(self.before, End::Or | End::Pipe)
            && (end != End::Or || gives_up)
            && self.loops == 0
            && self.cases == 0;
        if self.doubt == Doubt::Asked {
            self.doubt = Doubt::Unsure;
        }
        let to = self.path(to).filter(|_| is_certain);
        self.folder = to.map(Arc::from);
    }

    /// The file that holds nothing but what a program wrote, where that was certainly done before
    /// the next program runs.
    fn written(&mut self, command: &SimpleCommand) -> Option<(String, Arc<Document>)> {
        let is_done = match command.end {
            _ if command.closes > 0 => false,
            End::And => matches!(self.before, End::And | End::Next | End::Background),
            End::Next => matches!(self.before, End::Next | End::Background),
            _ => false,
        };
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        match (&*words, &*command.writes) {
            (["cd", _], []) => self.file.take(),
            (["cat"] | ["cat", "-"], [file]) if is_done && !command.appends => {
                self.path(file).zip(command.document.clone())
            }
            _ => None,
        }
    }

    /// Reads what stands behind a program.
    fn leave(&mut self, command: &mut SimpleCommand) {
        self.before = command.end;
        for _ in 0..command.closes {
            let mut of = self.around.pop();
            while of.as_ref().is_some_and(|of| of.kind != Kind::Subshell) {
                of = self.around.pop();
            }
            if let Some(of) = of {
                // A bracket behind a pattern was read as its end.
                self.is_lost |= of.cases < self.cases;
                // The file behind it is named from where it opens.
                if command.is_of_brackets && of.folder != command.folder {
                    command.writes.clear();
                }
                (self.folder, self.begun_in) = (of.folder, of.begun_in);
                (self.doubt, self.loops) = (of.doubt.max(Doubt::Asked), of.loops);
            }
        }
        // Behind the pattern `(a)` of a `case`.
        if command.closes > 0 && !command.is_plain && self.may_leave_by(command) {
            self.folder = None;
        }
        match command.end {
            End::Background => self.folder.clone_from(&self.begun_in),
            End::Next | End::Last if self.doubt == Doubt::Unsure => self.folder = None,
            _ => {}
        }
        if matches!(command.end, End::Background | End::Next | End::Last) {
            self.begin();
        }
    }
}
