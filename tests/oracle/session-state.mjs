// What an opened session says of itself, as one line of JSON whose text can be compared: see tests/session_oracle/.
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { sessionManager } from './world.mjs';

/** The session manager of an agent, and what it makes of messages. */
export async function load(folder) {
  const manager = await sessionManager(folder);
  const messages = await import(pathToFileURL(join(folder, 'dist/core/messages.js')));
  return { ...manager, convertToLlm: messages.convertToLlm };
}

/** Whether walking parents from an entry comes by the same entry twice: agents never come back from that. */
function circular(entries) {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const done = new Set();
  for (const entry of byId.values()) {
    const seen = new Set();
    let current = entry;
    while (current && !done.has(current)) {
      if (seen.has(current)) return true;
      seen.add(current);
      current = current.parentId ? byId.get(current.parentId) : undefined;
    }
    for (const each of seen) done.add(each);
  }
  return false;
}

export function state(manager, convertToLlm) {
  const entries = manager.getEntries();
  const answer = { header: manager.getHeader(), entries, leaf: manager.getLeafId() ?? null };
  if (circular(entries)) return { ...answer, circular: true };
  answer.branch = manager.getBranch().map((entry) => entry.id);
  answer.tree = [];
  const open = manager.getTree().map((node) => [node, 0]).reverse();
  while (open.length) {
    const [node, depth] = open.pop();
    answer.tree.push([node.entry.id ?? null, depth, node.label ?? null, node.labelTimestamp ?? null]);
    for (const child of [...node.children].reverse()) open.push([child, depth + 1]);
  }
  answer.labels = entries.map((entry) => manager.getLabel(entry.id) ?? null);
  answer.children = manager.getChildren(null).map((entry) => entry.id);
  answer.name = manager.getSessionName() ?? null;
  const context = manager.buildSessionContext();
  answer.context = context.messages;
  answer.thinking = context.thinkingLevel;
  answer.model = context.model;
  answer.llm = convertToLlm(context.messages);
  answer.id = manager.getSessionId();
  answer.cwd = manager.getCwd();
  return answer;
}
