//! What does a disk full of sessions look like? Writes synthetic pi sessions, the same bytes for
//! the same arguments.
//!
//! The shares of bytes follow a measured corpus: tool-result text 42 %, images 21 %, tool-call
//! arguments 9 %, thinking 5 %, signatures 5 %, assistant text 4 %, user text 0.5 %, the rest JSON.
//! Sizes of files and of texts are log-normal, so a few sessions hold most of the bytes.

// The benchmark and the crash test each use a part of this file.
#![allow(dead_code)]

use std::fs::{self, File, FileTimes};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[path = "vocabulary.rs"]
mod vocabulary;
use vocabulary::{Vocabulary, base64, hex};

/// Raised when the same arguments yield other bytes, so that kept corpora are made again.
pub const REVISION: u32 = 1;
/// A word that stands in [`Written::rare_entries`] user messages and nowhere else.
pub const RARE: &str = "xylographic";
/// A part of [`RARE`].
pub const RARE_PART: &str = "ylograph";
/// A regular expression that [`RARE`] matches, and no literal that every match holds.
pub const RARE_PATTERN: &str = "[w-x][x-y][k-l][n-o][f-g][q-r][a-b][o-p][g-h][h-i][b-c]";
/// A word that about every third tool result has.
pub const COMMON: &str = "error";
/// Two common words beside each other.
pub const PHRASE: &str = "return error";

/// 2025-01-01T00:00:00Z in ms; sessions spread over the year after it.
const FIRST_DAY: i64 = 1_735_689_600_000;
const YEAR: i64 = 365 * 86_400_000;
/// Sessions that share one project folder.
const FILES_A_PROJECT: usize = 20;
/// A written-out buffer is emptied when it is this long.
const FLUSH: usize = 1 << 20;

/// What to write.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// All files together, to within a line a file.
    pub bytes: u64,
    /// Number of sessions; 0 = as many as give the measured mean of 557 KB.
    pub files: usize,
    /// Other seeds give other sessions.
    pub seed: u64,
}

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CorpusSize {
    /// All files together.
    pub bytes: u64,
    /// Sessions.
    pub files: usize,
    /// Lines, headers among them.
    pub lines: u64,
    /// User messages that hold [`RARE`].
    pub rare_entries: u64,
    /// Bytes a kind of content, in the order of [`SHARES`].
    pub shares: [u64; 7],
}

/// The names of [`Written::shares`] with the measured share of each.
pub const SHARES: [(&str, f64); 7] = [
    ("tool results", 0.42),
    ("images", 0.21),
    ("arguments", 0.09),
    ("thinking", 0.05),
    ("signatures", 0.05),
    ("assistant text", 0.04),
    ("user text", 0.005),
];
const RESULT: usize = 0;
const IMAGE: usize = 1;
const ARGUMENTS: usize = 2;
const THINKING: usize = 3;
const SIGNATURE: usize = 4;
const ASSISTANT: usize = 5;
const USER: usize = 6;

impl CorpusSize {
    fn add(&mut self, other: &CorpusSize) {
        self.bytes += other.bytes;
        self.files += other.files;
        self.lines += other.lines;
        self.rare_entries += other.rare_entries;
        for (sum, part) in self.shares.iter_mut().zip(other.shares) {
            *sum += part;
        }
    }
}

/// One session to be written.
struct Plan {
    path: PathBuf,
    project: usize,
    seed: u64,
    id: String,
    bytes: u64,
    start_ms: i64,
    rare: bool,
}

/// Writes the corpus below `root`, as `root/--proj-N--/<time>_<id>.jsonl`.
pub fn write(root: &Path, spec: Spec) -> io::Result<CorpusSize> {
    let plans = plan(root, spec);
    for plan in &plans {
        if let Some(folder) = plan.path.parent() {
            fs::create_dir_all(folder)?;
        }
    }
    let words = Vocabulary::new(spec.seed);
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Ok(CorpusSize::default()));
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut sum = CorpusSize::default();
                let mut failed = None;
                while let Some(plan) = plans.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match session(plan, &words) {
                        Ok(one) => sum.add(&one),
                        Err(error) => {
                            failed = Some(io::Error::new(
                                error.kind(),
                                format!("{}: {error}", plan.path.display()),
                            ));
                            break;
                        }
                    }
                }
                let mut total = total
                    .lock()
                    .unwrap_or_else(|poisoned| poisoned.into_inner());
                match (failed, &mut *total) {
                    (Some(error), _) => *total = Err(error),
                    (None, Ok(total)) => total.add(&sum),
                    (None, Err(_)) => {}
                }
            });
        }
    });
    total
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// One more line for a session: a user message that holds `word`, newer than all others.
pub fn appended_line(number: u32, word: &str) -> String {
    let ms = FIRST_DAY + 2 * YEAR + i64::from(number) * 1000;
    let mut time = Vec::new();
    iso(&mut time, ms, false);
    format!(
        "{{\"type\":\"message\",\"id\":\"{number:08x}\",\"parentId\":null,\"timestamp\":\"{}\",\"message\":{{\"role\":\"user\",\
         \"content\":[{{\"type\":\"text\",\"text\":\"appended later: {word}\"}}],\"timestamp\":{ms}}}}}\n",
        String::from_utf8_lossy(&time)
    )
}

fn plan(root: &Path, spec: Spec) -> Vec<Plan> {
    let files = match spec.files {
        0 => (spec.bytes / 557_000).max(4) as usize,
        files => files,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(spec.seed ^ 0x5e55_1014);
    let weights: Vec<f64> = (0..files).map(|_| lognormal(&mut rng, 1.0, 1.5)).collect();
    let sum: f64 = weights.iter().sum();
    let rare = [files / 4, files / 2, files * 3 / 4];
    let projects = files.div_ceil(FILES_A_PROJECT);
    weights
        .into_iter()
        .enumerate()
        .map(|(number, weight)| {
            let start_ms = FIRST_DAY + rng.random_range(0..YEAR);
            let project = rng.random_range(0..projects);
            let (high, low) = (rng.next_u64(), rng.next_u64());
            // A version 7 UUID: 48 bits of time, then the version, the variant and random bits.
            let id = format!(
                "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
                start_ms >> 16,
                start_ms & 0xffff,
                high & 0xfff,
                0x8000 | (high >> 16) & 0x3fff,
                low & 0xffff_ffff_ffff
            );
            let mut time = Vec::new();
            iso(&mut time, start_ms, true);
            let name = format!("{}_{id}.jsonl", String::from_utf8_lossy(&time));
            Plan {
                path: root.join(format!("--proj-{project}--")).join(name),
                project,
                seed: rng.next_u64(),
                id,
                bytes: ((weight / sum * spec.bytes as f64) as u64).max(2_000),
                start_ms,
                rare: rare.contains(&number),
            }
        })
        .collect()
}

fn session(plan: &Plan, words: &Vocabulary) -> io::Result<CorpusSize> {
    let file = File::create(&plan.path)?;
    let mut writer = Writer {
        file,
        out: Vec::with_capacity(FLUSH + FLUSH / 4),
        rng: ChaCha8Rng::seed_from_u64(plan.seed),
        words,
        ids: Vec::new(),
        leaf: None,
        ms: plan.start_ms,
        cjk: false,
        left: plan.bytes as i64,
        written: CorpusSize {
            files: 1,
            ..CorpusSize::default()
        },
        compacted: 0,
    };
    writer.cjk = writer.chance(0.05);
    writer.header(plan);
    writer.entry("model_change");
    writer.put(",\"provider\":\"anthropic\",\"modelId\":\"claude-opus-4-5\"}");
    writer.end()?;
    writer.entry("thinking_level_change");
    writer.put(",\"thinkingLevel\":\"medium\"}");
    writer.end()?;
    writer.user(plan.rare)?;
    let mut turns = 0;
    loop {
        for _ in 0..writer.rng.random_range(3..14) {
            writer.assistant_and_result()?;
            if writer.left <= 0 {
                writer.flush()?;
                let end = UNIX_EPOCH + Duration::from_millis(writer.ms as u64);
                writer.file.set_times(FileTimes::new().set_modified(end))?;
                return Ok(writer.written);
            }
        }
        turns += 1;
        writer.between_turns(turns)?;
        writer.user(false)?;
    }
}

/// The state of a session being written.
struct Writer<'a> {
    file: File,
    out: Vec<u8>,
    rng: ChaCha8Rng,
    words: &'a Vocabulary,
    ids: Vec<u32>,
    leaf: Option<u32>,
    ms: i64,
    cjk: bool,
    left: i64,
    written: CorpusSize,
    compacted: u64,
}

impl Writer<'_> {
    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn chance(&mut self, share: f64) -> bool {
        (self.rng.next_u32() as f64) < share * u32::MAX as f64
    }

    /// A length around `median`, at most what is left of the session.
    fn length(&mut self, median: f64, sigma: f64, most: usize) -> usize {
        (lognormal(&mut self.rng, median, sigma) as usize)
            .clamp(8, most)
            .min(self.left.max(64) as usize)
    }

    fn text(&mut self, kind: usize, bytes: usize) {
        let start = self.out.len();
        self.words
            .text(&mut self.out, &mut self.rng, bytes, self.cjk);
        self.written.shares[kind] += (self.out.len() - start) as u64;
    }

    fn base64(&mut self, kind: usize, bytes: usize) {
        base64(&mut self.out, &mut self.rng, bytes);
        self.written.shares[kind] += bytes as u64;
    }

    fn number(&mut self, number: i64) {
        // Writing into memory does not fail.
        let _ = write!(self.out, "{number}");
    }

    fn header(&mut self, plan: &Plan) {
        self.put("{\"type\":\"session\",\"version\":3,\"id\":\"");
        self.put(&plan.id);
        self.put("\",\"timestamp\":\"");
        iso(&mut self.out, plan.start_ms, false);
        self.put("\",\"cwd\":\"/proj/");
        self.number(plan.project as i64);
        self.put("\"}\n");
        self.written.lines += 1;
    }

    /// Begins an entry of `kind` below the leaf and makes it the leaf.
    fn entry(&mut self, kind: &str) {
        self.ms += self.rng.random_range(200..20_000);
        let id = self.rng.next_u32();
        self.put("{\"type\":\"");
        self.put(kind);
        self.put("\",\"id\":\"");
        hex(&mut self.out, id.into(), 8);
        self.put("\",\"parentId\":");
        match self.leaf {
            None => self.put("null"),
            Some(parent) => {
                self.put("\"");
                hex(&mut self.out, parent.into(), 8);
                self.put("\"");
            }
        }
        self.put(",\"timestamp\":\"");
        iso(&mut self.out, self.ms, false);
        self.put("\"");
        self.ids.push(id);
        self.leaf = Some(id);
    }

    /// Ends a line.
    fn end(&mut self) -> io::Result<()> {
        self.put("\n");
        self.written.lines += 1;
        if self.out.len() >= FLUSH {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.out)?;
        self.written.bytes += self.out.len() as u64;
        self.out.clear();
        Ok(())
    }

    /// Ends a message with its time.
    fn end_message(&mut self, start: usize) -> io::Result<()> {
        self.put(",\"timestamp\":");
        self.number(self.ms);
        self.put("}}");
        self.left -= (self.out.len() - start) as i64;
        self.end()
    }

    fn user(&mut self, rare: bool) -> io::Result<()> {
        let start = self.out.len();
        self.entry("message");
        self.put(",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"");
        if rare {
            self.put(RARE);
            self.put(" ");
            self.written.rare_entries += 1;
        }
        let bytes = self.length(170.0, 1.1, 20_000);
        self.text(USER, bytes);
        self.put("\"}]");
        self.end_message(start)
    }

    fn assistant_and_result(&mut self) -> io::Result<()> {
        let start = self.out.len();
        self.entry("message");
        self.put(",\"message\":{\"role\":\"assistant\",\"content\":[");
        if self.chance(0.6) {
            self.put("{\"type\":\"thinking\",\"thinking\":\"");
            let bytes = self.length(420.0, 0.95, 30_000);
            self.text(THINKING, bytes);
            self.put("\",\"thinkingSignature\":\"");
            let bytes = self.rng.random_range(300..1_000);
            self.base64(SIGNATURE, bytes);
            self.put("\"},");
        }
        if self.chance(0.6) {
            self.put("{\"type\":\"text\",\"text\":\"");
            let bytes = self.length(290.0, 1.05, 20_000);
            self.text(ASSISTANT, bytes);
            self.put("\"},");
        }
        let call = self.rng.next_u64();
        let tool = self.call(call);
        self.put("}}],\"api\":\"anthropic-messages\",\"provider\":\"anthropic\",\"model\":\"claude-opus-4-5\",\"usage\":{\"input\":");
        let (input, output) = (
            self.rng.random_range(1..9),
            self.rng.random_range(40..4_000),
        );
        let (read, write) = (
            self.rng.random_range(0..150_000),
            self.rng.random_range(100..9_000),
        );
        // Writing into memory does not fail.
        let _ = write!(
            self.out,
            "{input},\"output\":{output},\"cacheRead\":{read},\"cacheWrite\":{write},\"totalTokens\":{},\"cost\":{{\"input\":{:.6},\
             \"output\":{:.6},\"cacheRead\":{:.6},\"cacheWrite\":{:.6},\"total\":{:.6}}}}},\"stopReason\":\"toolUse\"",
            input + output + read + write,
            input as f64 * 5e-6,
            output as f64 * 25e-6,
            read as f64 * 5e-7,
            write as f64 * 625e-8,
            input as f64 * 5e-6
                + output as f64 * 25e-6
                + read as f64 * 5e-7
                + write as f64 * 625e-8,
        );
        self.end_message(start)?;

        let start = self.out.len();
        self.entry("message");
        self.put(",\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"toolu_");
        hex(&mut self.out, call, 16);
        self.put("\",\"toolName\":\"");
        self.put(tool);
        self.put("\",\"content\":[{\"type\":\"text\",\"text\":\"");
        let bytes = self.length(1_550.0, 1.25, 50_000);
        self.text(RESULT, bytes);
        self.put("\"}");
        if self.chance(0.019) {
            let bytes = lognormal(&mut self.rng, 75_000.0, 0.8).clamp(20_000.0, 800_000.0) as usize;
            // A short session is not made long by one picture.
            if (bytes as i64) < self.left {
                self.put(",{\"type\":\"image\",\"data\":\"");
                self.base64(IMAGE, bytes / 4 * 4);
                self.put("\",\"mimeType\":\"image/png\"}");
            }
        }
        let failed = self.chance(0.06);
        self.put(if failed {
            "],\"isError\":true"
        } else {
            "],\"isError\":false"
        });
        self.end_message(start)
    }

    /// Writes a tool call up to its last argument and names the tool.
    fn call(&mut self, call: u64) -> &'static str {
        let drawn = self.rng.next_u32() % 100;
        let tool = match drawn {
            0..45 => "bash",
            45..70 => "read",
            70..88 => "edit",
            _ => "write",
        };
        self.put("{\"type\":\"toolCall\",\"id\":\"toolu_");
        hex(&mut self.out, call, 16);
        self.put("\",\"name\":\"");
        self.put(tool);
        self.put("\",\"arguments\":{\"");
        if tool == "bash" {
            self.put("command\":\"");
            let bytes = self.length(110.0, 0.9, 8_000);
            self.text(ARGUMENTS, bytes);
            self.put("\"");
            return tool;
        }
        self.put("path\":\"src/");
        for part in ["/", ".rs\""] {
            let drawn = self.rng.next_u32();
            self.words.word(&mut self.out, drawn);
            self.put(part);
        }
        let texts: &[(&str, f64)] = match tool {
            "edit" => &[("oldText", 380.0), ("newText", 450.0)],
            "write" => &[("content", 2_100.0)],
            _ => &[],
        };
        for (name, median) in texts {
            self.put(",\"");
            self.put(name);
            self.put("\":\"");
            let bytes = self.length(*median, 0.95, 60_000);
            self.text(ARGUMENTS, bytes);
            self.put("\"");
        }
        tool
    }

    /// What happens between two turns: a name, a label, a compaction, a branch, a command of the
    /// user's own.
    fn between_turns(&mut self, turns: u32) -> io::Result<()> {
        if turns == 1 && self.chance(0.2) {
            self.entry("session_info");
            self.put(",\"name\":\"");
            self.words.text(&mut self.out, &mut self.rng, 24, self.cjk);
            self.put("\"}");
            self.end()?;
        }
        if self.chance(0.02) {
            let target = self.ids[self.rng.random_range(0..self.ids.len())];
            self.entry("label");
            self.put(",\"targetId\":\"");
            hex(&mut self.out, target.into(), 8);
            self.put("\",\"label\":\"");
            self.words.text(&mut self.out, &mut self.rng, 12, false);
            self.put("\"}");
            self.end()?;
        }
        if self.chance(0.03) {
            let start = self.out.len();
            self.entry("message");
            self.put(
                ",\"message\":{\"role\":\"bashExecution\",\"command\":\"cargo test\",\"output\":\"",
            );
            let bytes = self.length(900.0, 1.0, 30_000);
            self.text(RESULT, bytes);
            self.put("\",\"exitCode\":0,\"cancelled\":false,\"truncated\":false");
            self.end_message(start)?;
        }
        if self.chance(0.02) {
            self.ms += 500;
            self.entry("custom");
            self.put(",\"customType\":\"todo\",\"data\":{\"open\":");
            let open = self.rng.random_range(0..9);
            self.number(open);
            self.put("}}");
            self.end()?;
        }
        if self.written.bytes - self.compacted > 1_200_000 {
            self.compacted = self.written.bytes;
            let kept = self.ids[self.ids.len() - self.ids.len().min(40)];
            self.entry("compaction");
            self.put(",\"summary\":\"");
            self.words
                .text(&mut self.out, &mut self.rng, 3_000, self.cjk);
            self.put("\",\"firstKeptEntryId\":\"");
            hex(&mut self.out, kept.into(), 8);
            self.put("\",\"tokensBefore\":180000}");
            self.end()?;
        }
        if self.chance(0.04) {
            let left = self.leaf;
            self.leaf = Some(self.ids[self.rng.random_range(0..self.ids.len())]);
            if let (Some(left), true) = (left, self.chance(0.5)) {
                self.entry("branch_summary");
                self.put(",\"fromId\":\"");
                hex(&mut self.out, left.into(), 8);
                self.put("\",\"summary\":\"");
                self.words.text(&mut self.out, &mut self.rng, 900, self.cjk);
                self.put("\"}");
                self.end()?;
            }
        }
        Ok(())
    }
}

/// A draw from a log-normal distribution (Box and Muller).
fn lognormal(rng: &mut ChaCha8Rng, median: f64, sigma: f64) -> f64 {
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    let normal = (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos();
    median * (sigma * normal).exp()
}

/// Appends a time as ISO 8601, or as pi writes it in a file name.
fn iso(out: &mut Vec<u8>, ms: i64, in_name: bool) {
    let (days, rest) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    // Days to a date of the Gregorian calendar, counted in eras of 400 years from a March.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second, milli) = (
        rest / 3_600_000,
        rest / 60_000 % 60,
        rest / 1_000 % 60,
        rest % 1_000,
    );
    let (colon, dot) = if in_name { ('-', '-') } else { (':', '.') };
    // Writing into memory does not fail.
    let _ = write!(
        out,
        "{year:04}-{month:02}-{day:02}T{hour:02}{colon}{minute:02}{colon}{second:02}{dot}{milli:03}Z"
    );
}
