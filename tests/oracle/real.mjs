// Real sessions as version 3: node real.mjs CORPUS OUT [MODULES]
// Copies the real version 1 files of CORPUS, lets the agents themselves migrate the copies, and goes on with them:
// branches, labels, names, summaries, forks. An empty or absent CORPUS gives nothing.
import { copyFileSync, existsSync, mkdirSync, readdirSync, utimesSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AGENTS, World, sessionManager } from './world.mjs';

const [corpus, out, modules = join(dirname(fileURLToPath(import.meta.url)), 'node_modules')] = process.argv.slice(2);
const home = resolve(out);
const source = corpus && resolve(corpus);
const found = source && existsSync(source) ? readdirSync(source).filter((name) => name.endsWith('.jsonl')).sort() : [];
process.env.TZ = 'UTC';
process.env.PI_CODING_AGENT_DIR = home;
process.chdir('/');

const w = new World(3, Date.UTC(2026, 1, 1)).install();
const agents = [];
for (const agent of AGENTS) agents.push(await sessionManager(join(resolve(modules), agent)));
const folder = join(home, 'sessions', '--real--');
mkdirSync(folder, { recursive: true });

function timed(path) {
  const time = w.tick() / 1000;
  utimesSync(path, time, time);
}

/** Branches, labels and names as a person using /tree and /name leaves them. */
function goOn(manager) {
  const entries = manager.getEntries().map((entry) => entry.id).filter(Boolean);
  const at = (share) => entries[Math.floor((entries.length - 1) * share)];
  const say = (role, content) => (w.tick(), manager.appendMessage({ role, content, timestamp: w.now, ...(role === 'assistant' ? { provider: 'p', model: 'm' } : {}) }));
  manager.appendLabelChange(at(0.3), 'checkpoint');
  manager.branch(at(0.5));
  say('user', 'what if we tried it the other way? 別の方法');
  say('assistant', [{ type: 'text', text: 'Then the other way it is.' }]);
  w.tick();
  manager.branchWithSummary(at(0.2), 'Tried the other way.');
  manager.appendLabelChange(at(0.3), undefined);
  manager.appendLabelChange(at(0.2), 'retry');
  say('user', 'third try');
  w.tick();
  manager.appendCompaction('All of the above.', at(0.9), 100_000);
  say('assistant', 'done');
  manager.appendSessionInfo('  real session  ');
}

let made = 0;
for (const [i, name] of found.entries()) {
  const untouched = join(folder, name);
  copyFileSync(join(source, name), untouched);
  timed(untouched);
  made++;
  for (const [j, { SessionManager }] of agents.entries()) {
    if (j !== i % agents.length && j !== agents.length - 1) continue;
    const migrated = join(folder, `${basename(name, '.jsonl')}-migrated-${AGENTS[j]}.jsonl`);
    copyFileSync(join(source, name), migrated);
    const manager = SessionManager.open(migrated);
    goOn(manager);
    timed(migrated);
    manager.createBranchedSession(manager.getEntries().at(Math.floor(manager.getEntries().length * 0.7)).id);
    timed(manager.getSessionFile());
    const fork = SessionManager.forkFrom(j ? migrated : untouched, '/home/ada/forked');
    timed(fork.getSessionFile());
    made += 3;
  }
}
console.log(`real: ${found.length} files, ${made} sessions made of them`);
