// Opens a session with pi, asks for its context and appends: node session.mjs PACKAGE_DIR FILE. One
// line of JSON.
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, file] = process.argv.slice(2).map((path) => resolve(path));
const { SessionManager } = await import(pathToFileURL(join(folder, 'dist/core/session-manager.js')));
const start = performance.now();
const session = SessionManager.open(file);
const messages = session.buildSessionContext().messages.length;
const open_ms = performance.now() - start;
const entries = session.getEntries().length;
const appends = [];
for (let i = 0; i < 51; i++) {
  const start = performance.now();
  session.appendMessage({ role: 'user', content: 'And now the tests', timestamp: Date.now() });
  appends.push(performance.now() - start);
}
appends.sort((a, b) => a - b);
console.log(JSON.stringify({ open_ms, append_ms: appends[25], entries, messages }));
process.exit(0);
