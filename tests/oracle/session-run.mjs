// Runs scripts of session operations with a real agent: node session-run.mjs PACKAGE_DIR SCRIPTS.jsonl HOME OUT.jsonl
// One line of answers a script: what each operation gave, what the session says of itself, every file that is left.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ids, load, state } from './session-state.mjs';

const [folder, scripts, home, out] = process.argv.slice(2).map((path) => resolve(path));
process.env.TZ = 'UTC';
process.env.PI_CODING_AGENT_DIR = home;

// The clock stands still but between operations, and ids are drawn the same everywhere.
const RealDate = Date;
let now = 0;
globalThis.Date = class extends RealDate {
  constructor(...given) { super(...(given.length ? given : [now])); }
  static now() { return now; }
};
const chance = new Ids().install();

const { SessionManager, convertToLlm } = await load(folder);

function run(script) {
  const root = join(home, 'sessions');
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  now = script.start;
  chance.calls = 0;
  const results = [];
  const sessions = [];
  const ids = [];
  let manager;
  const id = (at) => (at === null ? null : at < 0 || !ids.length ? 'nothing!' : ids[at % ids.length]);
  const operations = {
    create: (o) => { manager = o.dir ? SessionManager.create(o.cwd, join(home, 'sessions', o.dir)) : SessionManager.create(o.cwd); },
    inMemory: (o) => { manager = SessionManager.inMemory(o.cwd); },
    newSession: (o) => { manager.newSession(o.parent === undefined ? undefined : { parentSession: o.parent }); },
    message: (o) => manager.appendMessage(o.message),
    thinking: (o) => manager.appendThinkingLevelChange(o.level),
    model: (o) => manager.appendModelChange(o.provider, o.model),
    compaction: (o) => manager.appendCompaction(o.summary, id(o.first) ?? undefined, o.tokens, o.details, o.fromHook),
    custom: (o) => manager.appendCustomEntry(o.customType, o.data),
    customMessage: (o) => manager.appendCustomMessageEntry(o.customType, o.content, o.display, o.details),
    name: (o) => manager.appendSessionInfo(o.name),
    label: (o) => manager.appendLabelChange(id(o.target), o.label),
    usage: (o) => manager.appendUsage(o.kind, o.provider, o.model, o.usage, o.note).id,
    contextEdit: (o) => manager.appendContextEdit(id(o.target), o.content === undefined ? null : { content: o.content }),
    branch: (o) => { manager.branch(id(o.target)); },
    resetLeaf: () => { manager.resetLeaf(); },
    branchWithSummary: (o) => manager.branchWithSummary(id(o.target), o.summary, o.details, o.fromHook),
    branched: (o) => { manager.createBranchedSession(id(o.target)); },
    fork: (o) => { manager = SessionManager.forkFrom(manager.getSessionFile(), o.cwd); },
    reopen: () => { if (existsSync(manager.getSessionFile() ?? '')) manager.setSessionFile(manager.getSessionFile()); },
    continue: (o) => { manager = SessionManager.continueRecent(o.cwd); },
  };
  for (const operation of script.operations) {
    now += operation.after;
    let result;
    try {
      result = operations[operation.op](operation) ?? null;
      if (result) ids.push(result);
    } catch (error) {
      result = 'error';
    }
    if (!sessions.includes(manager.getSessionId())) sessions.push(manager.getSessionId());
    results.push([result, manager.getLeafId() ?? null]);
  }
  const files = {};
  for (const name of readdirSync(root, { recursive: true }).sort()) {
    if (name.endsWith('.jsonl')) files[name] = readFileSync(join(root, name), 'utf8');
  }
  return JSON.stringify({ results, state: state(manager, convertToLlm), files, sessions });
}

const answers = readFileSync(scripts, 'utf8').trimEnd().split('\n').map((line) => {
  const script = JSON.parse(line);
  try {
    return run(script);
  } catch (error) {
    return JSON.stringify({ fails: String(error?.stack ?? error) });
  }
});
writeFileSync(out, answers.join('\n') + '\n');
process.exit(0);
