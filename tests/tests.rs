//! One binary for all integration tests.
//!
//! - `agentuse`: its folders against what was expected of them by hand
//! - `answers`: order, pages, places and reasons of hits
//! - `asked`: what is answered while the files are looked at
//! - `background`: who indexes the words after an answer
//! - `cli`: what the command prints, in a sandbox home
//! - `contract`: the documented views are the real ones
//! - `crash`: a sync killed at random moments
//! - `crates`: which crate knows which
//! - `crowd`: twenty readers and four writers on one index
//! - `damaged`: noise in any page of the catalogue
//! - `demo`: made-up sessions to try the command on, of which nothing is left
//! - `dialects`: each agent's way to read the same lines, against its own package
//! - `excluded`: nothing of what is excluded is on the disk
//! - `failpoints`: a process that ends, or a disk that fails, at every step of the commit protocol
//! - `faults`: a full disk, too few open files, folders that may not be written
//! - `export`: what leaves is whole, and does nothing
//! - `feed`: who reads the feed of changes learns of all
//! - `findable`: every word of a corpus is found, whatever part of it is indexed
//! - `formats`: every fixture read, cut and folded
//! - `healing`: what changed within a file is read again, whoever meets it
//! - `hostile`: sessions made to act on a terminal or to lead elsewhere
//! - `leaf`: every answer agrees where a session stands
//! - `links`: symbolic links are followed within the roots
//! - `listing`: what `list` sorts, filters and pages
//! - `fuzzing`: mutated files, records and queries
//! - `help`: what every `--help` teaches
//! - `histories`: random writers, syncs and kills against an index made from scratch
//! - `locked`: locks of other programs, a writer that is waited for, limits of the system
//! - `oracle`: our list and trees against the real agents'
//! - `reads`: every answer is of one state of the files, whoever writes meanwhile
//! - `rooms`: which room of the library uses which
//! - `redaction`: keys and tokens left out of what others read
//! - `relevance`: judged queries find their target
//! - `reports`: the views for reports, and the documented queries over them
//! - `safety`: what SECURITY.md promises
//! - `session`: what a session of ours keeps safe
//! - `session_oracle`: a session of ours against the real agents'
//! - `scale`: what a full disk and a giant session do
//! - `scoped`: the index follows one file that was written, looking at no other
//! - `tools`: sqlite3, Python, Datasette, DuckDB and Node read the catalogue while it is written
//! - `places`: where in its session's tree a hit stands
//! - `provisional`: what is listed while files are still being read
//! - `resume`: a session goes on where it was
//! - `first_day`: what a new user meets
//! - `terminal`: what a person meets whom a command asks something
//! - `searching`: what `search` prints
//! - `tour`: what the documents show, command by command
//! - `documents`: links, examples and form of README.md and docs/
//! - `unread`: what cannot be read is said, and hides nothing
//! - `verifying`: `verify` tells the truth while others write
//! - `watching`: a live watcher against real files and notifications
//! - `words`: how many files the words have, whose they are, and what stands in them
//! - `writing`: what the commands that write a session write
mod agentuse;
mod answers;
// `script` makes a terminal.
#[cfg(unix)]
mod asked;
#[cfg(target_os = "linux")]
mod background;
// The home folder is what these tests look at; Windows asks the system for it, not a variable.
#[cfg(unix)]
mod cli;
mod contract;
mod corpus;
mod crash;
mod crates;
#[cfg(target_os = "linux")]
mod crowd;
#[cfg(unix)]
mod damaged;
#[cfg(unix)]
mod demo;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod dialects;
#[cfg(unix)]
mod documents;
mod door;
mod excluded;
#[cfg(unix)]
mod export;
#[cfg(feature = "failpoints")]
mod failpoints;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(unix)]
mod feed;
mod findable;
#[cfg(unix)]
mod first_day;
mod formats;
mod fuzzing;
mod healing;
#[cfg(unix)]
mod help;
mod histories;
#[cfg(unix)]
mod hostile;
mod leaf;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod listing;
#[cfg(target_os = "linux")]
mod locked;
#[cfg(unix)]
mod reports;
// The real agents need a newer Node than most machines have; the one installed beside them is for
// this platform.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod oracle;
mod places;
mod provisional;
#[cfg(unix)]
mod reads;
#[cfg(unix)]
mod redaction;
mod relevance;
#[cfg(unix)]
mod resume;
mod rooms;
#[cfg(unix)]
mod roots;
mod rules;
#[cfg(unix)]
mod safety;
#[cfg(unix)]
mod sandbox;
mod scoped;
#[cfg(unix)]
mod searching;
mod session;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod session_oracle;
// A small file system needs a mount of its own.
#[cfg(target_os = "linux")]
mod scale;
// Installed by `tests/tools/install.sh`, for this platform.
#[cfg(target_os = "linux")]
mod surroundings;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(target_os = "linux")]
mod tools;
#[cfg(unix)]
mod tour;
#[cfg(unix)]
mod unread;
#[cfg(unix)]
mod verifying;
mod watching;
mod words;
#[cfg(unix)]
mod writing;

// The tokenizer's written rules, read a second time beside its own tests, name the types so.
use sessionary::model;
