// Writes generated sessions: node generate.mjs OUT SEED COUNT [MODULES]
// OUT/sessions is the sessions folder of an agent whose folder is OUT. The same seed gives the same bytes, but for the
// path of OUT, which forks name as their parent.
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AGENTS, World, sessionManager } from './world.mjs';
import { SHAPES, TIED_NAMES, ordinary, tied } from './raw.mjs';
import { writeSession } from './written.mjs';

const [out, seed, count, modules = join(dirname(fileURLToPath(import.meta.url)), 'node_modules')] = process.argv.slice(2);
if (!count) {
  console.error('usage: generate.mjs OUT SEED COUNT [MODULES]');
  process.exit(2);
}
const home = resolve(out);
const sessions = join(home, 'sessions');
process.env.TZ = 'UTC';
process.env.PI_CODING_AGENT_DIR = home;
mkdirSync(sessions, { recursive: true });
process.chdir('/'); // relative and foreign cwds resolve against it

const w = new World(Number(seed)).install();
const agents = [];
for (const agent of AGENTS) agents.push(await sessionManager(join(resolve(modules), agent)));

const regular = (folder) => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name)).sort();
const files = () => regular(sessions).filter((path) => path.endsWith('.jsonl'));

function put(folder, name, content) {
  const path = join(sessions, folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}
const stamp = () => w.iso().replace(/[:.]/g, '-');

// Damaged and odd files: every shape in all its variants, and at least a few times; round by round, so that the
// variants of one shape lie apart in time.
const FEW = 4;
const rounds = Object.fromEntries(Object.keys(SHAPES).map((shape) => [shape, FEW]));
for (w.round = 0; w.round < Math.max(...Object.values(rounds)); w.round++) {
  for (const [shape, make] of Object.entries(SHAPES)) {
    if (w.round >= rounds[shape]) continue;
    w.tick();
    w.rounds = FEW;
    put('--home-ada-raw--', `${stamp()}_${shape}-${w.round}.jsonl`, make(w));
    rounds[shape] = w.rounds;
  }
}

// The order among equals.
const fixed = new Map();
for (const [group, times] of [['same-mtime', [1]], ['two-mtimes', [1, 2]]]) {
  TIED_NAMES.forEach((name, i) => {
    const path = put(`--home-ada-ties-${group}--`, `2026-01-05T09-00-00-000Z_${name}.jsonl`, tied(w, 1767690000000 + group.length));
    fixed.set(path, 1768000000 + times[i % times.length]);
  });
}
// A modified time that falls back to the file's own, between two milliseconds.
for (const [i, part] of [0.0004, 0.0005, 0.0006, 0.9999].entries()) {
  fixed.set(put('--home-ada-ties-mtime--', `fraction-${i}.jsonl`, '{"type":"session","id":"f","cwd":"/home/ada/ties"}\n'), 1768100000 + i + part);
}

// Places and names that agents look at or pass over.
put('.', 'loose.jsonl', ordinary(w));
put('--home-ada-places--/sub', 'deeper.jsonl', ordinary(w));
put('--home-ada-places--', 'UPPER.JSONL', ordinary(w));
put('--home-ada-places--', '.jsonl', ordinary(w));
put('--home-ada-places--', 'copy.jsonl.bak', ordinary(w));
put('--home-ada-places--', 'name with space ü 日本.jsonl', ordinary(w));
put('not encoded', 'any-folder-counts.jsonl', ordinary(w, '/not/encoded'));
put('.hidden', 'hidden-folder.jsonl', ordinary(w, '/hidden'));
mkdirSync(join(sessions, '--home-ada-places--', 'folder.jsonl'), { recursive: true });
mkdirSync(join(sessions, '--home-ada-empty--'), { recursive: true });
put('../elsewhere', 'linked-file.jsonl', ordinary(w, '/linked/file'));
put('../elsewhere/folder', 'in-linked-folder.jsonl', ordinary(w, '/linked/folder'));
symlinkSync('../../elsewhere/linked-file.jsonl', join(sessions, '--home-ada-places--', 'link.jsonl'));
symlinkSync('nowhere.jsonl', join(sessions, '--home-ada-places--', 'dangling.jsonl'));
symlinkSync('../elsewhere/folder', join(sessions, '--linked--'));

// The rest by the agents themselves.
const earlier = [];
let written = files().length;
for (let n = 0; written < Number(count); n++) {
  writeSession(w, agents, earlier);
  if (n % 50 === 49) written = files().length;
}

// File times tell nothing about message times; some are equal.
const shared = Array.from({ length: 5 }, () => 1767700000 + w.int(1e7));
for (const path of [...regular(sessions), ...regular(join(home, 'elsewhere'))]) {
  const time = fixed.get(path) ?? (w.chance(12) ? w.pick(shared) : 1767700000 + w.int(1e7) + w.int(1000) / 1000);
  utimesSync(path, time, time);
}
console.log(`generated ${files().length} files, seed ${seed}`);
