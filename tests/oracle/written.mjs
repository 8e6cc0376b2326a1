// Sessions as the real session managers write them: every kind of entry, branches, labels, names, forks.
import { existsSync } from 'node:fs';
import { assistant, bash, blocks, model, name, rare, text, toolResult, usage, user } from './content.mjs';

export const CWDS = [
  '/home/ada/proj', '/home/ada/proj', '/home/ada/proj', '/home/ada/other', '/a:b/c', '/a/b-c', '/a-b/c', '/', '/日本 語/é',
  '/home/ada/with space/x.y_z', '/home/ada/trailing/', '//x/y/', '/srv/\\back', '/tmp/🎉', '/home/ada/proj/sub', 'C:\\Users\\me\\proj',
];

const ids = (manager) => manager.getEntries().map((entry) => entry.id).filter((id) => typeof id === 'string');

/** One entry, or one move of the leaf. */
function step(w, manager) {
  w.tick();
  const known = ids(manager);
  const roll = w.int(100);
  if (roll < 24) return manager.appendMessage(user(w));
  if (roll < 46) return manager.appendMessage(assistant(w));
  if (roll < 60) return manager.appendMessage(toolResult(w));
  if (roll < 64) return manager.appendMessage(bash(w));
  if (roll < 67) return manager.appendMessage(rare(w));
  if (roll < 69) return manager.appendThinkingLevelChange(w.pick(['off', 'low', 'high']));
  if (roll < 71) return manager.appendModelChange(...model(w));
  if (roll < 75) return manager.appendSessionInfo(name(w));
  if (roll < 78) return manager.appendCustomEntry('state', w.chance(30) ? undefined : { note: text(w, 5), n: w.int(9) });
  if (roll < 81) return manager.appendCustomMessageEntry('reminder', blocks(w), w.chance(50), w.chance(30) ? { k: text(w, 3) } : undefined);
  if (known.length === 0) return;
  const target = w.pick(known);
  if (roll < 86) return manager.appendLabelChange(target, w.chance(75) ? text(w, 3) : w.pick([undefined, '', '  ']));
  if (roll < 89) return manager.appendCompaction(text(w, 30), target, w.int(200_000), w.chance(40) ? { readFiles: ['a.rs'], modifiedFiles: ['b.rs'] } : undefined, w.chance(20));
  if (roll < 93) return manager.branch(target);
  if (roll < 96) return manager.branchWithSummary(w.chance(10) ? null : target, text(w, 20), w.chance(30) ? { n: 1 } : undefined, w.chance(20));
  if (roll < 97) return manager.resetLeaf();
  if (manager.appendUsage && roll < 98) return manager.appendUsage('compaction', ...model(w), usage(w), w.chance(50) ? 'note' : undefined);
  const editable = manager.appendContextEdit ? manager.getBranch().filter((entry) => entry.type === 'custom_message' || ['user', 'assistant', 'toolResult'].includes(entry.message?.role)) : [];
  if (editable.length) return manager.appendContextEdit(w.pick(editable).id, w.chance(30) ? null : { content: text(w, 5) });
}

function steps(w, manager, most) {
  for (let n = w.int(most); n > 0; n--) {
    try {
      step(w, manager);
    } catch (error) {
      // A version may refuse what another wrote (a compaction over an odd message); it then has written nothing.
      if (error instanceof ReferenceError) throw error;
    }
  }
}

/** A new session and sometimes forks of it. Returns nothing: what matters is on disk. */
export function writeSession(w, agents, earlier) {
  const { SessionManager } = w.pick(agents);
  const cwd = w.pick(CWDS);
  w.tick();
  const manager = SessionManager.create(cwd);
  if (w.chance(12)) manager.newSession({ id: `${w.pick(['Run', 'run', 'my.id', 'a_b', 'A-1'])}${w.hex(4)}`, parentSession: earlier.length && w.chance(50) ? w.pick(earlier) : undefined });
  if (w.chance(20)) manager.appendMessage(rare(w));
  if (w.chance(92)) manager.appendMessage(user(w));
  w.tick();
  if (w.chance(95)) manager.appendMessage(assistant(w));
  steps(w, manager, w.chance(3) ? 120 : 22);
  const file = manager.getSessionFile();
  if (!existsSync(file)) return;
  earlier.push(file);

  if (w.chance(15)) {
    // Another version goes on with it.
    const again = w.pick(agents).SessionManager.open(file);
    steps(w, again, 8);
  }
  if (w.chance(12)) {
    const fork = w.pick(agents).SessionManager.open(file);
    const known = ids(fork);
    if (known.length) {
      w.tick();
      fork.createBranchedSession(w.pick(known));
      steps(w, fork, 6);
      if (existsSync(fork.getSessionFile())) earlier.push(fork.getSessionFile());
    }
  }
  if (w.chance(8)) {
    w.tick();
    const fork = w.pick(agents).SessionManager.forkFrom(w.pick(earlier), w.pick(CWDS));
    steps(w, fork, 6);
    earlier.push(fork.getSessionFile());
  }
}
