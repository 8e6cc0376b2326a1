//! What of a file is new, and may it be sent?

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use sessionary::index::SharedFile;
use sessionary::redact::redacted;
use sessionary::share::SharedBytes;
use sessionary::with_causes;

use super::taking_back::ids;
use super::{Push, PushedSession};
use crate::block;
use crate::error::{Error, Problem};
use crate::manifest::{self, LARGEST, Manifest, Place, RAW, Source, TOO_LARGE};
use crate::names::{check_agent, check_path, check_session};
use crate::sessions::Sessions;

/// What changed less than so long ago may change again without another size or time.
const SETTLED_MS: i64 = 2_000;
/// So long after its last change a file whose end was not given is asked for it no more.
const AT_REST_MS: i64 = 2 * 60_000;

/// Why a file is not sent whose manifest could not leave out a secret.
const IS_NAMED_SO: &str = "its path or the id of its session holds a key or a token";
/// Why one is not of which there is nothing that may be sent.
const IS_UNFINISHED: &str =
    "it is damaged or being written; what was sent of it before stays in the store";

impl Push<'_> {
    /// A file whose manifest says no more than the file itself does. What is `said` of directories
    /// is kept there: most sessions share theirs with others.
    pub(super) fn masked(
        &self,
        mut file: SharedFile,
        said: &mut HashMap<String, String>,
    ) -> SharedFile {
        let cwd = file
            .cwd
            .take()
            .map(|cwd| match (self.options.raw, said.get(&cwd)) {
                (true, _) => cwd,
                (false, Some(said)) => said.clone(),
                (false, None) => {
                    let masked = redacted(&cwd).unwrap_or_else(|| cwd.clone());
                    said.insert(cwd, masked.clone());
                    masked
                }
            });
        file.cwd = cwd;
        file
    }

    /// Whether a manifest may say this path and this id.
    pub(super) fn may_say(&self, path: &str, session: &str) -> bool {
        self.options.raw || redacted(path).is_none() && redacted(session).is_none()
    }

    /// Whether a file may be sent.
    fn check(&self, file: &SharedFile) -> Result<(), &'static str> {
        check_agent(&file.agent)?;
        check_path(&file.path)?;
        check_session(&file.session)?;
        if !self.may_say(&file.path, &file.session) {
            return Err(IS_NAMED_SO);
        }
        match file.bytes > LARGEST {
            true => Err(TOO_LARGE),
            false => Ok(()),
        }
    }

    fn problem(&mut self, file: &SharedFile, why: impl ToString) {
        let problem = problem_with(&Place::of(&file.agent, &file.path), &file.session, why);
        self.pushed.problems.push(problem);
    }

    /// Send what is new of a file.
    pub(super) fn file(&mut self, file: &SharedFile, sessions: &Sessions) -> Result<(), Error> {
        let place = Place::of(&file.agent, &file.path);
        // It was checked by the same rules when it was sent.
        let before = self.there.get(&place);
        if before.is_some_and(|before| is_current(before, file, &self.form) && self.has_all(before))
        {
            return Ok(());
        }
        if let Err(why) = self.check(file) {
            self.problem(file, why);
            return Ok(());
        }
        let had_bytes = before.is_some_and(|before| before.bytes() > 0);
        let Some(shared) = self.given(file, had_bytes, sessions) else {
            return Ok(());
        };
        let before = self.there.get(&place);
        let known = before.map_or(&[][..], |before| &before.parts);
        let parts = block::parts(&shared.bytes, known, &self.key);
        for (part, bytes) in &parts {
            self.block(part, bytes)?;
        }
        let rest = if shared.unfinished == 0 {
            SETTLED_MS
        } else {
            AT_REST_MS
        };
        let source = Source {
            bytes: file.bytes,
            form: self.form.clone(),
            settled: file.modified_ms.saturating_add(rest) < now_ms(),
        };
        let manifest = Manifest {
            version: manifest::VERSION,
            host: self.host.to_owned(),
            place,
            session: file.session.clone(),
            repository: file.repository.clone(),
            cwd: file.cwd.clone(),
            modified_ms: file.modified_ms,
            parts: parts.iter().map(|(part, _)| part.clone()).collect(),
            source,
        };
        if let Some((_, maker)) = &mut self.rows {
            maker.write(&manifest, parts.iter().map(|(_, bytes)| *bytes))?;
        }
        self.manifest(manifest, shared.redactions as u64)
    }

    /// What a file says that is sent in the place of what was sent before, if that `had_bytes`.
    /// `None`: nothing; where there is a reason, it is a problem.
    fn given(
        &mut self,
        file: &SharedFile,
        had_bytes: bool,
        sessions: &Sessions,
    ) -> Option<SharedBytes> {
        let why = match sessions.bytes(file, self.options.raw) {
            // It has gone since it was listed.
            Ok(None) => return None,
            Err(error) => with_causes(&error),
            Ok(Some(shared)) if shared.bytes.len() as u64 > LARGEST => TOO_LARGE.to_owned(),
            // Readers would put an empty file in the place of their good copy.
            Ok(Some(shared)) if shared.bytes.is_empty() && (had_bytes || shared.unfinished > 0) => {
                IS_UNFINISHED.to_owned()
            }
            Ok(Some(shared)) => return Some(shared),
        };
        self.problem(file, why);
        None
    }

    fn has_all(&self, manifest: &Manifest) -> bool {
        let mut parts = manifest.parts.iter();
        parts.all(|part| self.blocks.contains(&part.id))
    }

    fn manifest(&mut self, manifest: Manifest, redactions: u64) -> Result<(), Error> {
        self.unread.remove(&manifest.place);
        let before = self.there.insert(manifest.place.clone(), manifest.clone());
        if before.as_ref() == Some(&manifest) {
            return Ok(());
        }
        if let Some(before) = &before {
            self.bundles.remove(before);
            if before.source.form == RAW && manifest.source.form != RAW {
                self.may_go.extend(ids(before).cloned());
            }
        }
        self.bundles.add(&manifest);
        // It may differ from the one before by what was read for it alone.
        let is_news = before.is_none_or(|before| before.parts != manifest.parts);
        if is_news {
            self.count(&manifest, redactions);
        }
        self.batch.manifests.push(manifest);
        self.send_if_full()
    }

    fn count(&mut self, manifest: &Manifest, redactions: u64) {
        let sessions = &mut self.pushed.sessions;
        let id = (manifest.place.agent.clone(), manifest.session.clone());
        let at = *self.by_session.entry(id).or_insert(sessions.len());
        if at == sessions.len() {
            sessions.push(PushedSession {
                agent: manifest.place.agent.clone(),
                session: manifest.session.clone(),
                repository: manifest.repository.clone(),
                files: 0,
                bytes: 0,
                redactions: 0,
            });
        }
        sessions[at].files += 1;
        sessions[at].bytes += manifest.bytes();
        sessions[at].redactions += redactions;
    }
}

/// What is wrong with a file of a session.
pub(super) fn problem_with(place: &Place, session: &str, why: impl ToString) -> Problem {
    let mut what = place.to_string();
    if let Some(redacted) = redacted(session) {
        // Within a path a secret is not always known for one.
        what = what.replace(session, &redacted);
    }
    let what = redacted(&what).unwrap_or(what);
    Problem::new(what, why)
}

/// Whether a file is still what its manifest was made from.
fn is_current(before: &Manifest, file: &SharedFile, form: &str) -> bool {
    before.source.settled
        && before.source.bytes == file.bytes
        && before.source.form == form
        && before.modified_ms == file.modified_ms
        && before.session == file.session
        && before.repository == file.repository
        && before.cwd == file.cwd
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}
