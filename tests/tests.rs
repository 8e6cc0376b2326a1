//! One binary for all integration tests.
//!
//! - `addresses`: by what sessions and entries are named where people read it
//! - `agents`: what the real agents of other vendors wrote, against a stub that kept a ledger
//! - `agentuse`: its folders against what was expected of them by hand
//! - `answers`: order, pages, places and reasons of hits
//! - `archive`: what an agent deletes is still there, and what is forgotten is not
//! - `archived_rows`: the same of rows that an agent deletes from its database
//! - `background`: who indexes the words after an answer
//! - `blame`: which session wrote a line, touched a file, made a commit
//! - `cli`: what the command prints, in a sandbox home
//! - `codex`: what a fork inherits, and rollouts that move, are cut or compressed
//! - `contract`: the documented views are the real ones
//! - `copilot`: GitHub Copilot CLI's sessions: two files each, subagents inside
//! - `corpus`: the synthetic sessions of the benches are what they claim to be
//! - `crash`: a sync killed at random moments
//! - `crates`: which crate knows which
//! - `crowd`: twenty readers and four writers on one index
//! - `damage`: noise in any page of the catalogue
//! - `databases`: agents' databases, followed without their agents noticing
//! - `demo`: made-up sessions to try the command on, of which nothing is left
//! - `dialects`: each agent's way to read the same lines, against its own package
//! - `documents`: links, examples and form of README.md and docs/
//! - `door`: what a program gets that uses the library
//! - `exclusion`: nothing of what is excluded is on the disk
//! - `export`: what leaves is whole, and does nothing
//! - `failpoints`: a process that ends, or a disk that fails, at every step of the commit protocol
//! - `faults`: a full disk, too few open files, folders that may not be written
//! - `feed`: who reads the feed of changes learns of all
//! - `findable`: every word of a corpus is found, whatever part of it is indexed
//! - `first_day`: what a new user meets
//! - `first_pages`: a page of a list that reads no more than it shows
//! - `foreign`: sessions of other machines, which are read and not written
//! - `formats`: every fixture read, cut and folded
//! - `gemini`, `qwen`: stores of Gemini CLI and Qwen Code against what was expected of them by hand
//! - `fuzzing`: mutated files, records and queries
//! - `habits`: what people habitually type, from the query to the answer
//! - `healing`: what changed within a file is read again, whoever meets it
//! - `help`: what every `--help` teaches
//! - `histories`: random writers, syncs and kills against an index made from scratch
//! - `hostile`: sessions made to act on a terminal or to lead elsewhere
//! - `induscode`: induscode's transcripts, written again from the first line on
//! - `kept`: the archive holds what files held, whatever happened to them, to it and to its indexes
//! - `leaf`: every answer agrees where a session stands
//! - `links`: symbolic links are followed within the roots
//! - `lines`: a program that talks to `serve` and `mcp`
//! - `listing`: what `list` sorts, filters and pages
//! - `locks`: locks of other programs, a writer that is waited for, limits of the system
//! - `mcp`: what an agent sees of earlier sessions, and what it does not
//! - `nearby`: a part of a branch, of which no more is read
//! - `not_read`: what lies on the machine and is not read is said
//! - `opencode`: OpenCode: the cases of its rows, and sessions in JSON documents
//! - `older_hashes`: what an older version stored is looked at again
//! - `openclaw`: OpenClaw: rows of its databases and the files of the time before
//! - `oracle`: our list and trees against the real agents'
//! - `packages`: what people install, installed into an empty place and run
//! - `pi_extensions`: what extensions of pi write beside and below its sessions
//! - `pi_package`: what the package for pi does in the real pi
//! - `picked`: what becomes of a session that is picked
//! - `picker`: how the picker looks on a terminal, and how it leaves it
//! - `places`: where in its session's tree a hit stands
//! - `problems`: what cannot be read is said, and hides nothing
//! - `provisional`: what is listed while files are still being read
//! - `reads`: every answer is of one state of the files, whoever writes meanwhile
//! - `real_agents`: the packages that tests compare with, and how one is run
//! - `rebuilds`: damaged catalogues and words by other rules are rebuilt beside the answers
//! - `redaction`: keys and tokens left out of what others read
//! - `relevance`: judged queries find their target
//! - `repositories`: checkouts of one remote are one repository, however its address is written
//! - `reports`: the views for reports, and the documented queries over them
//! - `resume`: a session goes on where it was
//! - `rooms`: which room of the library uses which
//! - `roots`: which folders the index holds, under which names, and how they are forgotten
//! - `rules`: what is left out is left out by every program that opens the index
//! - `safety`: what SECURITY.md promises
//! - `scale`: what a full disk and a giant session do
//! - `scoped_sync`: the index follows one file that was written, looking at no other
//! - `searching`: what `search` prints
//! - `secrets`: which sessions hold keys, and never which keys
//! - `serve`: what other programs are answered, in lines of JSON
//! - `session`: what a session of ours keeps safe
//! - `session_oracle`: a session of ours against the real agents'
//! - `setup`: how an agent gets the tools of `mcp`, and what its skill says
//! - `sharing`: what leaves a machine is whole, but for secrets
//! - `shells`: what a shell offers while one types
//! - `surroundings`: a program opens what its user's command opens
//! - `team`: `sessionary team` runs the program that shares
//! - `terminal`: what a person meets whom a command asks something, or gives much to read
//! - `tools`: sqlite3, Python, Datasette, DuckDB and Node read the catalogue while it is written
//! - `tour`: what the documents show, command by command
//! - `typing`: letters, other names and slips
//! - `verifying`: `verify` tells the truth while others write
//! - `watching`: a live watcher against real files and notifications
//! - `whole_lists`: pages of random questions are together the whole answer
//! - `words`: how many files the words have, whose they are, and what stands in them
//! - `wrapping`: where lines end that are longer than the terminal
//! - `writing`: what the commands that write a session write
//!
//! `sandbox` and `store` hold no tests: they are the home in which the others run the command, and
//! an agent's store with its index.
#[cfg(unix)]
mod addresses;
#[cfg(target_os = "linux")]
mod agents;
mod agentuse;
mod answers;
mod archive;
mod archived_rows;
#[cfg(target_os = "linux")]
mod background;
mod blame;
#[cfg(unix)]
mod browser;
mod claude;
// The home folder is what these tests look at; Windows asks the system for it, not a variable.
#[cfg(unix)]
mod cli;
mod codex;
#[cfg(unix)]
mod confined;
mod contract;
#[cfg(unix)]
mod copilot;
mod corpus;
mod crash;
mod crates;
#[cfg(target_os = "linux")]
mod crowd;
#[cfg(unix)]
mod damage;
mod databases;
#[cfg(unix)]
mod demo;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod dialects;
#[cfg(unix)]
mod documents;
mod door;
mod exclusion;
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
mod first_pages;
#[cfg(unix)]
mod foreign;
mod formats;
mod fuzzing;
mod gemini;
#[cfg(unix)]
mod habits;
mod healing;
#[cfg(unix)]
mod help;
mod here;
mod histories;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
mod induscode;
mod kept;
mod leaf;
#[cfg(unix)]
mod line_types;
#[cfg(unix)]
mod lines;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod listing;
#[cfg(target_os = "linux")]
mod locks;
#[cfg(unix)]
mod mcp;
mod naming;
#[cfg(unix)]
mod nearby;
mod not_read;
mod older_hashes;
mod openclaw;
mod opencode;
// The real agents need a newer Node than most machines have; the one installed beside them is for
// this platform.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod oracle;
mod packages;
mod pages;
mod parents;
#[cfg(unix)]
mod pi_extensions;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod pi_package;
#[cfg(target_os = "linux")]
mod picked;
// The shell, `setsid` and /proc are those of Linux.
#[cfg(target_os = "linux")]
mod picker;
mod places;
#[cfg(unix)]
mod problems;
mod provisional;
mod qwen;
#[cfg(unix)]
mod reads;
#[cfg(unix)]
mod real_agents;
mod rebuilds;
#[cfg(unix)]
mod redaction;
mod relevance;
#[cfg(unix)]
mod reports;
#[cfg(unix)]
mod repositories;
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
// A small file system needs a mount of its own.
#[cfg(target_os = "linux")]
mod scale;
mod scoped_sync;
#[cfg(unix)]
mod searching;
#[cfg(unix)]
mod secrets;
mod serve;
mod session;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod session_oracle;
#[cfg(unix)]
mod setup;
#[cfg(unix)]
mod sharing;
#[cfg(unix)]
mod shells;
mod store;
#[cfg(target_os = "linux")]
mod surroundings;
#[cfg(unix)]
mod team;
// `script` makes a terminal.
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(unix)]
mod time_zones;
// Installed by `tests/tools/install.sh`, for this platform.
#[cfg(target_os = "linux")]
mod tools;
#[cfg(unix)]
mod tour;
#[cfg(unix)]
mod typing;
#[cfg(unix)]
mod verifying;
mod watching;
mod whole_lists;
mod words;
#[cfg(unix)]
mod wrapping;
#[cfg(unix)]
mod writing;

// The tokenizer's written rules, read a second time beside its own tests, name the types so.
use sessionary::model;
