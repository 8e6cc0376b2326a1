// One file's tree as an agent builds it, in a small form. Posts one answer a path, then null.
// Agents loop for ever on some cycles; those are recognised before asking.
import { parentPort, workerData } from 'node:worker_threads';
import { sessionManager } from './world.mjs';

const { SessionManager, loadEntriesFromFile } = await sessionManager(workerData.agent);

/** Whether walking parents from `start` (or from any entry) comes by the same entry twice. */
function circular(byId, start) {
  const seen = new Set();
  for (let current = byId.get(start); current; current = current.parentId ? byId.get(current.parentId) : undefined) {
    if (seen.has(current)) return true;
    seen.add(current);
  }
  return false;
}

function tree(path) {
  let header;
  try {
    // Old agents overwrite what they cannot read.
    const loaded = loadEntriesFromFile(path);
    if (loaded.length === 0) return { opens: false };
    header = loaded[0];
  } catch {
    return { opens: false };
  }
  const before = header.version ?? 1;
  let manager;
  try {
    manager = SessionManager.open(path);
  } catch {
    return { opens: false };
  }
  const entries = manager.getEntries();
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  // Migration gives random ids to entries that had none: those are named by their place among the entries.
  const places = new Map(before < 2 ? entries.map((entry, i) => [entry.id, `#${i}`]) : []);
  const shown = (id) => places.get(id) ?? (typeof id === 'string' ? id.toWellFormed() : id ?? null);
  const answer = { opens: true, version: before, entries: entries.length, leaf: shown(manager.getLeafId()), name: manager.getSessionName()?.toWellFormed() ?? null };
  if (circular(byId, manager.getLeafId())) answer.branch = 'circular';
  else answer.branch = manager.getBranch().map((entry) => shown(entry.id));
  if (byId.size !== entries.length && [...byId.keys()].some((id) => circular(byId, id))) return { ...answer, nodes: 'circular' };
  answer.nodes = [];
  const open = manager.getTree().map((node) => [node, 0]).reverse();
  while (open.length) {
    if (answer.nodes.length > 20_000) return { ...answer, nodes: 'too many' };
    const [node, depth] = open.pop();
    answer.nodes.push([shown(node.entry.id), shown(node.entry.parentId), depth, ...(node.label === undefined ? [] : [String(node.label).toWellFormed()])]);
    for (const child of [...node.children].reverse()) open.push([child, depth + 1]);
  }
  return answer;
}

for (const path of workerData.paths) {
  let answer;
  try {
    answer = tree(path);
  } catch (error) {
    answer = { opens: true, fails: String(error?.message ?? error).split('\n')[0] };
  }
  parentPort.postMessage(answer);
}
parentPort.postMessage(null);
