// What an opened session says of itself, as one line of JSON whose text can be compared: see tests/session_oracle/.
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sessionManager } from './world.mjs';

/** Ids drawn as tests/session_oracle/script.rs draws them, from the beginning. */
export class Ids {
  calls = 0;
  /** Every so manieth id is not free. */
  constructor(clash = 7) { this.clash = clash; }
  random() {
    const n = this.calls++;
    const key = this.clash && n % this.clash === this.clash - 1 ? n - 1 : n;
    const first = (Math.imul(key + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');
    return `${first}-0000-4000-8000-${String(n).padStart(12, '0')}`;
  }
  /** Puts these ids in the place of chance. */
  install() {
    crypto.randomUUID = () => this.random();
    syncBuiltinESMExports();
    return this;
  }
}

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

/** Text as Rust can hold it. */
const wellFormed = (text) => text?.toWellFormed() ?? null;

export function state(manager, convertToLlm) {
  const entries = manager.getEntries();
  const answer = { header: manager.getHeader(), entries, leaf: manager.getLeafId() ?? null };
  if (circular(entries)) return { ...answer, circular: true };
  answer.branch = manager.getBranch().map((entry) => entry.id);
  // Of entries that share an id pi's tree has the last one again and again, and no other is a child; ours has each.
  const twins = new Set(entries.map((entry) => entry.id)).size !== entries.length;
  answer.tree = twins ? null : [];
  const open = twins ? [] : manager.getTree().map((node) => [node, 0]).reverse();
  while (open.length) {
    const [node, depth] = open.pop();
    answer.tree.push([node.entry.id ?? null, depth, wellFormed(node.label), node.labelTimestamp ?? null]);
    for (const child of [...node.children].reverse()) open.push([child, depth + 1]);
  }
  answer.labels = entries.map((entry) => wellFormed(manager.getLabel(entry.id)));
  answer.children = twins ? null : manager.getChildren(null).map((entry) => entry.id);
  answer.name = wellFormed(manager.getSessionName());
  const context = manager.buildSessionContext();
  answer.context = context.messages;
  answer.thinking = context.thinkingLevel;
  answer.model = context.model;
  answer.llm = convertToLlm(context.messages);
  answer.id = manager.getSessionId();
  answer.cwd = manager.getCwd();
  return answer;
}
