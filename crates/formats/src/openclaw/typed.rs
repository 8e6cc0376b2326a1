//! What of a user's message did a person type? OpenClaw puts into it who sent it and when, what
//! else the model has to know, and sends messages of its own.

/// What the model is told beside the message stands between these.
const CONTEXT: (&str, &str) = (
    "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>",
    "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>",
);

/// How messages begin that nobody typed: of tasks that are due, and of a session's start.
const OWN: [&str; 2] = ["[cron:", "A new session was started via /new or /reset"];

/// A message taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Message {
    /// What is left, which a person typed unless the message is the program's own.
    pub typed: String,
    /// What the program put in, in order.
    pub put_in: Vec<String>,
}

impl Message {
    pub fn of(text: &str) -> Message {
        let mut message = Message::default();
        let left = message.without_context(text);
        let left = message.without_sender(left.trim_start());
        message.typed = left.trim().to_owned();
        message
    }

    /// Whether nobody typed any of it.
    pub fn is_own(&self) -> bool {
        let is_empty = self.typed.is_empty() && !self.put_in.is_empty();
        is_empty || OWN.iter().any(|begin| self.typed.starts_with(begin))
    }

    fn without_context(&mut self, text: &str) -> String {
        let mut left = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once(CONTEXT.0)
            && let Some((inside, behind)) = behind.split_once(CONTEXT.1)
        {
            left.push_str(before);
            self.put_in.push(inside.trim().to_owned());
            rest = behind;
        }
        left.push_str(rest);
        left
    }

    /// Without `Sender (untrusted metadata):` and what follows it in a fence, and without the time
    /// in brackets.
    fn without_sender<'t>(&mut self, text: &'t str) -> &'t str {
        let mut rest = text;
        while let Some((block, behind)) = untrusted(rest) {
            self.put_in.push(block.to_owned());
            rest = behind.trim_start();
        }
        let Some((time, behind)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        else {
            return rest;
        };
        match is_time(time) {
            true => {
                self.put_in.push(time.to_owned());
                behind
            }
            false => rest,
        }
    }
}

/// `LABEL (untrusted …): ```json … ```` at the beginning, and what follows.
fn untrusted(text: &str) -> Option<(&str, &str)> {
    const LONGEST_LABEL: usize = 80;
    let fence = text.find("```")?;
    let label = text[..fence].trim_end().strip_suffix("):")?;
    let (name, inside) = label.rsplit_once(" (")?;
    let is_label = label.len() <= LONGEST_LABEL
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && !name.contains('\n')
        && inside.starts_with("untrusted");
    let end = fence + 3 + text[fence + 3..].find("```").filter(|_| is_label)? + 3;
    Some(text.split_at(end))
}

/// `Fri 2026-04-10 11:02 GMT+1`
fn is_time(text: &str) -> bool {
    let mut words = text.split(' ');
    let is_like = |word: Option<&str>, pattern: &str| {
        word.is_some_and(|word| {
            word.len() == pattern.len()
                && word
                    .bytes()
                    .zip(pattern.bytes())
                    .all(|(byte, like)| match like {
                        b'0' => byte.is_ascii_digit(),
                        b'a' => byte.is_ascii_alphabetic(),
                        like => byte == like,
                    })
        })
    };
    let is_day = is_like(words.next(), "aaa") && is_like(words.next(), "0000-00-00");
    let time = words.next();
    is_day && (is_like(time, "00:00") || is_like(time, "00:00:00"))
}
