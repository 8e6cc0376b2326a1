// Keeps a copy of the view `sessions`: copy.mjs CATALOGUE
//
// This is how a picker or a binding lives with the catalogue. It polls, and a poll that finds nothing new costs one PRAGMA.
// For the test it answers each line on its standard input with whether its copy equals the view.
import { DatabaseSync } from "node:sqlite";
import { statSync } from "node:fs";
import { createInterface } from "node:readline";

const path = process.argv[2];
let db, inode, version, index, seq;
const copy = new Map();
const did = { polls: 0, changed: 0, gone: 0, whole: 0 };

function poll() {
  did.polls += 1;
  // A rebuild refills the same file; only one that was damaged is replaced.
  const { ino } = statSync(path);
  if (ino !== inode) {
    db?.close();
    db = new DatabaseSync(path, { readOnly: true });
    db.exec("PRAGMA busy_timeout = 5000");
    [inode, version, index] = [ino];
  }
  // Moves when another connection has committed.
  const { data_version } = db.prepare("PRAGMA data_version").get();
  if (data_version === version) return;
  // One transaction: the feed and the rows it speaks of are of the same moment.
  db.exec("BEGIN");
  try {
    const { index_id, first_change, last_change } = db
      .prepare("SELECT index_id, first_change, last_change FROM freshness").get();
    if (index_id !== index || first_change > seq + 1) {
      copy.clear();
      for (const row of db.prepare("SELECT * FROM sessions").all()) copy.set(row.session, row);
      did.whole += 1;
    } else {
      const one = db.prepare("SELECT * FROM sessions WHERE session = ?");
      for (const { session } of db.prepare("SELECT DISTINCT session FROM changes WHERE seq > ?").all(seq)) {
        const row = one.get(session);
        if (row) did.changed += 1, copy.set(session, row);
        else did.gone += 1, copy.delete(session);
      }
    }
    [index, seq, version] = [index_id, last_change, data_version];
  } finally {
    db.exec("COMMIT");
  }
}

const text = (rows) => JSON.stringify([...rows].sort((a, b) => a.session - b.session));

setInterval(poll, 5);
for await (const _ of createInterface({ input: process.stdin })) {
  poll();
  const there = db.prepare("SELECT * FROM sessions").all();
  const equal = text(copy.values()) === text(there);
  console.log(JSON.stringify({ equal, sessions: there.length, ...did }));
}
process.exit(0);
