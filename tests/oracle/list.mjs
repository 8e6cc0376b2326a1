// What a real agent lists: node list.mjs PACKAGE_DIR SESSIONS_ROOT OUT.json
// Agents write while they list and open (folders, final newlines, migrations, whole files), so all of it is done on
// copies with the times of the originals; paths in the answer are relative to SESSIONS_ROOT.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { sessionManager } from './world.mjs';

const [folder, root, out] = process.argv.slice(2);
if (!out) {
  console.error('usage: list.mjs PACKAGE_DIR SESSIONS_ROOT OUT.json');
  process.exit(2);
}
const agent = resolve(folder);
const original = dirname(resolve(root));
const result = resolve(out);
const home = realpathSync(mkdtempSync(join(tmpdir(), 'oracle-')));
for (const part of ['sessions', 'elsewhere']) {
  if (existsSync(join(original, part))) execFileSync('cp', ['-a', join(original, part), home]);
}
const sessions = join(home, 'sessions');
process.env.TZ = 'UTC';
process.env.PI_CODING_AGENT_DIR = home;
process.chdir('/');
const { SessionManager } = await sessionManager(agent);

const wellFormed = (value) => (typeof value === 'string' ? value.toWellFormed() : value ?? null);
const time = (date) => (Number.isNaN(date.getTime()) ? null : date.getTime());
const row = (session) => ({
  path: relative(sessions, session.path),
  id: typeof session.id === 'string' ? session.id.toWellFormed() : JSON.stringify(session.id) ?? '',
  cwd: wellFormed(session.cwd),
  name: wellFormed(session.name),
  parentSessionPath: wellFormed(session.parentSessionPath),
  created: time(session.created),
  modified: time(session.modified),
  messageCount: session.messageCount,
  firstMessage: wellFormed(session.firstMessage),
  allMessagesText: wellFormed(session.allMessagesText),
});

const all = await SessionManager.listAll();
const folders = {};
for (const cwd of [...new Set(all.map((session) => session.cwd).filter(Boolean))].sort()) {
  folders[cwd.toWellFormed()] = (await SessionManager.list(cwd)).map((session) => relative(sessions, session.path));
}

/** The trees, one file after the other beside this thread: an agent that never comes back is given up. */
function trees(paths) {
  const answer = {};
  let next = 0;
  return new Promise((done, failed) => {
    const begin = () => {
      const worker = new Worker(new URL('./tree-worker.mjs', import.meta.url), { workerData: { agent, paths: paths.slice(next) } });
      let watch;
      const wait = () => {
        clearTimeout(watch);
        watch = setTimeout(async () => {
          await worker.terminate();
          answer[relative(sessions, paths[next++])] = { hangs: true };
          begin();
        }, 10_000);
      };
      worker.on('message', (tree) => {
        if (tree === null) {
          clearTimeout(watch);
          return done(answer);
        }
        answer[relative(sessions, paths[next++])] = tree;
        wait();
      });
      worker.on('error', failed);
      wait();
    };
    begin();
  });
}

const { name, version } = JSON.parse(readFileSync(join(agent, 'package.json'), 'utf8'));
const golden = {
  agent: name, version, node: process.version,
  sessions: all.map(row),
  folders,
  trees: await trees(all.map((session) => session.path)),
};
writeFileSync(result, JSON.stringify(golden, null, 1));
rmSync(home, { recursive: true, force: true });
console.log(`${version}: ${all.length} sessions, ${Object.keys(folders).length} directories, ${Object.values(golden.trees).filter((tree) => tree.nodes).length} trees`);
process.exit(0);
