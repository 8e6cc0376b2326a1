// Opens session files with a real agent: node session-open.mjs PACKAGE_DIR FILES.txt OUT.jsonl
// FILES.txt names one file a line; agents write while they open, so each is opened as a copy. One line of answer a file.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Ids, load, state } from './session-state.mjs';

const [folder, list, out] = process.argv.slice(2).map((path) => resolve(path));
process.env.TZ = 'UTC';
const home = mkdtempSync(join(tmpdir(), 'oracle-'));
process.env.PI_CODING_AGENT_DIR = home;
// While it migrates, pi does not look whether an id is free.
const chance = new Ids(0).install();
const { SessionManager, loadEntriesFromFile, convertToLlm } = await load(folder);

const answers = readFileSync(list, 'utf8').trimEnd().split('\n').map((path) => {
  const copy = join(home, 'session.jsonl');
  copyFileSync(path, copy);
  chance.calls = 0;
  try {
    // Old agents overwrite what they cannot read.
    if (loadEntriesFromFile(copy).length === 0) return JSON.stringify({ opens: false });
    return JSON.stringify(state(SessionManager.open(copy), convertToLlm));
  } catch (error) {
    return JSON.stringify({ fails: String(error?.message ?? error).split('\n')[0] });
  }
});
writeFileSync(out, answers.join('\n') + '\n');
rmSync(home, { recursive: true, force: true });
process.exit(0);
