//! In which folder does each program of a command run, and which text that stands in the command
//! is its input? Where one of several is possible, none is named.

use std::sync::Arc;

use super::{Document, End, LONGEST_FOLDER, SimpleCommand, is_absolute, joined};

type Folder = Option<Arc<str>>;

/// Tells programs that run one after the other, the first one in this folder, where they run and
/// what they are given. Many may have the same folder and the same document.
pub(super) fn follow(commands: &mut [SimpleCommand], folder: Folder) {
    let mut course = Course::new(folder);
    let mut left = commands.iter_mut().peekable();
    while let Some(command) = left.next() {
        let gives_up = left.peek().is_some_and(|next| gives_up(next));
        course.enter(command);
        command.folder.clone_from(&course.folder);
        follow(&mut command.substituted, course.folder.clone());
        course.give(command);
        course.go(command, gives_up);
        course.leave(command);
    }
}

/// Whether nothing runs behind it.
fn gives_up(command: &SimpleCommand) -> bool {
    let program = command.program().first();
    command.opens == 0 && program.is_some_and(|program| matches!(&**program, "exit" | "return"))
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
}

#[derive(Clone, Copy, PartialEq)]
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
            piped: None,
            file: None,
        }
    }

    /// Reads what stands before a program.
    fn enter(&mut self, command: &SimpleCommand) {
        for _ in 0..command.opens {
            self.open(Kind::Subshell);
        }
        for (at, word) in command.words.iter().enumerate() {
            match word.as_str() {
                "if" | "case" | "select" | "{" => self.open(Kind::Other),
                "while" | "until" | "for" => self.open(Kind::Loop),
                "then" | "do" | "!" | "time" => {}
                "else" | "elif" => self.other_branch(),
                "fi" | "done" | "esac" | "}" => self.close(),
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
        (self.begun_in, self.doubt, self.loops) = (of.begun_in, of.doubt, of.loops);
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
        const ASKING: [&str; 9] = [
            "[", "[[", "cmp", "command", "diff", "false", "grep", "test", "which",
        ];
        let before = command.leading();
        let words: Vec<&str> = command.program().iter().map(String::as_str).collect();
        match &*words {
            ["cd", to] if command.is_plain && *to != "-" && before.iter().all(|of| of == "{") => {
                self.change_to(to, command.end, gives_up);
            }
            // Where it goes nobody knows.
            ["cd" | "pushd" | "popd", ..] => self.folder = None,
            // The pattern of a `case` may stand before it.
            words if !command.is_plain && words.contains(&"cd") => self.folder = None,
            words => {
                let asks = words.first().is_some_and(|name| ASKING.contains(name));
                if self.doubt == Doubt::No && (asks || before.iter().any(|word| word == "!")) {
                    self.doubt = Doubt::Asked;
                }
            }
        }
        let folder = self.folder.take();
        self.folder = folder.filter(|folder| folder.len() <= LONGEST_FOLDER);
        self.file = self.written(command);
    }

    fn change_to(&mut self, to: &str, end: End, gives_up: bool) {
        // It runs in a shell of its own.
        if end == End::Pipe {
            return;
        }
        let is_certain = !matches!(self.before, End::Or | End::Pipe)
            && (end != End::Or || gives_up)
            && self.loops == 0;
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
    fn leave(&mut self, command: &SimpleCommand) {
        self.before = command.end;
        for _ in 0..command.closes {
            let mut of = self.around.pop();
            while of.as_ref().is_some_and(|of| of.kind != Kind::Subshell) {
                of = self.around.pop();
            }
            if let Some(of) = of {
                (self.folder, self.begun_in) = (of.folder, of.begun_in);
                (self.doubt, self.loops) = (of.doubt, of.loops);
            }
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
