//! Which rows has a catalogue of the files that some manifests name?
//!
//! A store that is asked in SQL keeps the rows of the contract beside the blocks. They are made
//! from the bytes that the manifests name and from nothing else, by the code that catalogues the
//! copies of whoever pulls them: the files are written into a folder, catalogued there, and
//! removed. So what was left out of the bytes is in no row either.
//!
//! The files of a session's id are a *bundle*: their rows are made together, and replaced together.
//! By its *seal*, a hash of what they are made from, it is known whether they are the newest ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, FileTimes};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use ring::digest;
use sessionary::format::{FORMATS, agent_called};
use sessionary::index::{Column, Table, Values};
use sessionary::locations::foreign_roots;
use sessionary::{CONTRACT_VERSION, Config, Index};

use crate::block::hex;
use crate::error::Error;
use crate::files::{self, Readers};
use crate::manifest::{Manifest, Place};
use crate::repositories;

/// Files of so many bytes are catalogued at once.
const FULL: u64 = 32 << 20;
/// Other versions of this program may make other rows.
const MADE_BY: &str = env!("CARGO_PKG_VERSION");

/// Whose files are a bundle.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BundleKey {
    /// The agent's name.
    pub agent: String,
    /// The id of its session.
    pub session: String,
}

impl BundleKey {
    /// Of the bundle to which the file of this manifest belongs.
    pub fn of(manifest: &Manifest) -> BundleKey {
        BundleKey {
            agent: manifest.place.agent.clone(),
            session: manifest.session.clone(),
        }
    }
}

/// A bundle whose rows are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// Whose it is.
    pub key: BundleKey,
    /// Of what its rows were made.
    pub seal: String,
    /// Its files.
    pub places: Vec<Place>,
}

/// The rows of some bundles.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    /// Which ones.
    pub bundles: Vec<Bundle>,
    /// Every table. A row whose file is of none of the bundles is of one that was not completed.
    pub tables: Vec<Table>,
}

/// A hash of what the rows of these manifests are made from.
pub fn seal<'a>(manifests: impl Iterator<Item = &'a Manifest>) -> String {
    let mut hash = digest::Context::new(&digest::SHA256);
    hash.update(format!("{MADE_BY} {CONTRACT_VERSION}").as_bytes());
    for of in manifests {
        let parts: Vec<&str> = of.parts.iter().map(|part| part.id.as_str()).collect();
        let said = (&of.place, &of.session, &of.repository, &of.cwd);
        let text = serde_json::to_vec(&(said, of.modified_ms, parts)).unwrap_or_default();
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(&text);
    }
    hex(hash.finish().as_ref())
}

/// The file that says what the working directory of a session is whose file stands at this place.
pub fn beside(place: &Place) -> Option<Place> {
    let agent = agent_called(&place.agent);
    let format = agent.map_or(&*place.agent, |agent| agent.format);
    let format = FORMATS.iter().find(|of| of.about().name == format)?;
    let path = format.cwd_beside(Path::new(&place.path))?;
    Some(Place {
        agent: place.agent.clone(),
        path: path.to_str()?.replace(std::path::MAIN_SEPARATOR, "/"),
    })
}

/// A folder in which rows are being made.
pub struct RowMaker {
    /// Below which the host's folder is, as below the folder of the team.
    folder: PathBuf,
    host: String,
    /// The files that were written.
    written: BTreeMap<Place, Manifest>,
    bytes: u64,
    bundles: Vec<Bundle>,
}

impl RowMaker {
    /// For files of this host, in a folder that is nobody else's, and is removed in the end.
    pub fn begin(folder: &Path, host: &str) -> io::Result<RowMaker> {
        let maker = RowMaker {
            folder: folder.to_path_buf(),
            host: host.to_owned(),
            written: BTreeMap::new(),
            bytes: 0,
            bundles: Vec::new(),
        };
        // One that was killed has left its files.
        maker.remove()?;
        files::make_folder(folder, Readers::Owner)?;
        Ok(maker)
    }

    /// Whether the file of this manifest was written, as it says.
    pub fn has(&self, manifest: &Manifest) -> bool {
        self.written.get(&manifest.place) == Some(manifest)
    }

    /// Write the file of a manifest, which says these bytes one after the other.
    pub fn write<'a>(
        &mut self,
        manifest: &Manifest,
        bytes: impl Iterator<Item = &'a [u8]>,
    ) -> Result<(), Error> {
        let name = format!("{}/{}", self.host, manifest.place);
        let written = files::below(&self.folder, &name, Some(Readers::Owner)).and_then(|path| {
            files::remove(&path)?;
            let mut file = File::create_new(&path)?;
            for bytes in bytes {
                file.write_all(bytes)?;
            }
            let since = u64::try_from(manifest.modified_ms).unwrap_or_default();
            let modified = UNIX_EPOCH.checked_add(Duration::from_millis(since));
            file.set_times(FileTimes::new().set_modified(modified.unwrap_or(UNIX_EPOCH)))
        });
        written.map_err(Error::at(&self.folder.join(&name)))?;
        self.bytes += manifest.bytes();
        let place = manifest.place.clone();
        self.written.insert(place, manifest.clone());
        Ok(())
    }

    /// All files of a bundle were written.
    pub fn complete(&mut self, bundle: Bundle) {
        self.bundles.retain(|of| of.key != bundle.key);
        self.bundles.push(bundle);
    }

    /// Whether the rows should be taken before more is written.
    pub fn is_full(&self) -> bool {
        self.bytes >= FULL
    }

    /// The rows of the bundles that are complete; the files are removed. `None`: there are none.
    pub fn take(&mut self) -> Result<Option<Rows>, Error> {
        let mut rows = None;
        if !self.bundles.is_empty() {
            self.name_repositories()?;
            let config = Config::new(self.folder.join("none"), foreign_roots(&self.folder));
            let mut tables = Index::of_roots(&config)?.tables()?;
            self.forget_folder(&mut tables);
            rows = Some(Rows {
                bundles: std::mem::take(&mut self.bundles),
                tables,
            });
        }
        self.written.clear();
        self.bytes = 0;
        self.remove()
            .and_then(|()| files::make_folder(&self.folder, Readers::Owner))
            .map_err(Error::at(&self.folder))?;
        Ok(rows)
    }

    /// Say of which repositories the sessions are.
    fn name_repositories(&self) -> Result<(), Error> {
        let text = serde_json::to_vec(&repositories::of(self.written.values()));
        let folder = self.folder.join(&self.host);
        // Where no file was written, it is missing.
        let made = files::make_folder(&folder, Readers::Owner);
        let path = folder.join(repositories::FILE);
        made.and_then(|()| fs::write(&path, text.unwrap_or_default()))
            .map_err(Error::at(&path))
    }

    /// Where the files were is nothing that rows say: their paths begin with the host.
    fn forget_folder(&self, tables: &mut [Table]) {
        let folder = format!("{}{}", self.folder.display(), std::path::MAIN_SEPARATOR);
        let named = |table: &&mut Table| ["_sources", "_sessions", "_strays"].contains(&table.name);
        let columns = tables.iter_mut().filter(named);
        for column in columns.flat_map(|table| &mut table.columns) {
            let (Values::Texts(texts), "root_path" | "path" | "hidden" | "unread" | "reason") =
                (&mut column.values, column.name)
            else {
                continue;
            };
            for text in texts.iter_mut().flatten() {
                *text = text.replace(&folder, "");
                if cfg!(windows) && ["root_path", "path"].contains(&column.name) {
                    *text = text.replace('\\', "/");
                }
            }
        }
    }

    fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for RowMaker {
    fn drop(&mut self) {
        // What cannot be removed now the next one removes.
        let _ = self.remove();
    }
}

impl Rows {
    /// The bundle of each row of a table that names files, by its number; `None`: of none of these.
    pub fn bundles_of(&self, table: &Table) -> Vec<Option<usize>> {
        let of_place: BTreeMap<(&str, &str), usize> = (self.bundles.iter().enumerate())
            .flat_map(|(number, bundle)| bundle.places.iter().map(move |place| (place, number)))
            .map(|(place, number)| ((&*place.agent, &*place.path), number))
            .collect();
        let (roots, names) = (texts(table, "root_path"), texts(table, "relative"));
        let rows = roots.iter().zip(names);
        rows.map(|(root, name)| {
            let (_, agent) = root.as_deref()?.split_once('/')?;
            let mut name = name.as_deref()?;
            // Of a document that stands for rows, a session's source is below the file.
            loop {
                if let Some(number) = of_place.get(&(agent, name)) {
                    return Some(*number);
                }
                name = name.rsplit_once('/')?.0;
            }
        })
        .collect()
    }

    /// The table of this name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}

/// The texts of a column; nothing where there is none.
fn texts<'a>(table: &'a Table, name: &str) -> &'a [Option<String>] {
    match column(table, name) {
        Some(Values::Texts(texts)) => texts,
        _ => &[],
    }
}

/// The whole numbers of a column; nothing where there is none.
pub fn integers<'a>(table: &'a Table, name: &str) -> &'a [Option<i64>] {
    match column(table, name) {
        Some(Values::Integers(numbers)) => numbers,
        _ => &[],
    }
}

fn column<'a>(table: &'a Table, name: &str) -> Option<&'a Values> {
    let found = table.columns.iter().find(|column| column.name == name);
    found.map(|Column { values, .. }| values)
}

/// Which files a bundle consists of, kept for all bundles of a host.
#[derive(Debug, Default)]
pub struct Bundles(BTreeMap<BundleKey, BTreeSet<Place>>);

impl Bundles {
    /// Those of these manifests.
    pub fn of<'a>(manifests: impl Iterator<Item = &'a Manifest>) -> Bundles {
        let mut bundles = Bundles::default();
        manifests.for_each(|of| bundles.add(of));
        bundles
    }

    /// A manifest has come.
    pub fn add(&mut self, manifest: &Manifest) {
        let places = self.0.entry(BundleKey::of(manifest)).or_default();
        places.insert(manifest.place.clone());
    }

    /// A manifest has gone.
    pub fn remove(&mut self, manifest: &Manifest) {
        let key = BundleKey::of(manifest);
        if let Some(places) = self.0.get_mut(&key) {
            places.remove(&manifest.place);
            if places.is_empty() {
                self.0.remove(&key);
            }
        }
    }

    /// Whose there are.
    pub fn keys(&self) -> impl Iterator<Item = &BundleKey> {
        self.0.keys()
    }

    /// The files of one.
    pub fn places(&self, key: &BundleKey) -> Vec<Place> {
        let places = self.0.get(key).into_iter().flatten();
        places.cloned().collect()
    }
}
