// Sessions as pi writes them, with what its lists have to cope with; the same ones every time.
//   makeSessions(folder, count, base): `folder` is pi's sessions folder, `base` has the directories
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const WORDS = (
  "linker retry budget parser token index error build await session branch compile cache socket " +
  'window "quoted" back\\slash path/to/file.rs naïve 日本 🦀 — tab\there \u0085'
).split(" ");

/** Random numbers that are the same every time. */
function chance(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

const say = (random, words) =>
  Array.from({ length: words }, () => WORDS[random(WORDS.length)]).join(" ");

/** The name of the folder that pi gives a working directory. */
export const folderOf = (cwd) => `--${cwd.replace(/^\//, "").replace(/[/:]/g, "-")}--`;

/** A session with a question, its answers and what else its number asks for. */
function session(number, cwd, start, random) {
  let now = start;
  let parent = null;
  let count = 0;
  const id = `019b8d5e-7c80-7000-8000-${String(number).padStart(12, "0")}`;
  const iso = () => new Date((now += 1 + random(20_000))).toISOString();
  const created = iso();
  const header = { type: "session", version: 3, id, timestamp: created, cwd };
  if (number % 7 === 3) header.parentSession = `/gone/${number}.jsonl`;
  if (number % 41 === 7) header.timestamp = "no time";
  if (number % 43 === 11) delete header.cwd;
  const lines = [JSON.stringify(header)];
  const add = (entry) => {
    const own = (number * 4096 + count++).toString(16).padStart(8, "0");
    lines.push(JSON.stringify({ ...entry, id: own, parentId: parent, timestamp: iso() }));
    parent = own;
  };
  const message = (role, content, more = {}) =>
    add({ type: "message", message: { role, content, timestamp: now, ...more } });
  const answer = {
    api: "stub",
    provider: "stub",
    model: "stub",
    stopReason: "stop",
    usage: {
      input: 1,
      output: 2,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 3,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
  };
  const turns = number % 29 === 5 ? 0 : 1 + random(4);
  for (let turn = 0; turn < turns; turn++) {
    const asked =
      turn === 0 ? `question ${number}: ${say(random, 4)}` : say(random, 3 + random(20));
    message("user", turn % 2 ? asked : [{ type: "text", text: asked }]);
    message(
      "assistant",
      [
        { type: "thinking", thinking: say(random, 9) },
        { type: "text", text: say(random, 30) },
      ],
      answer,
    );
    message("toolResult", [{ type: "text", text: say(random, 50) }], {
      toolCallId: "c",
      toolName: "bash",
      isError: false,
    });
  }
  if (number % 5 === 0) add({ type: "session_info", name: `  named ${number} ${say(random, 2)} ` });
  if (number % 35 === 0) add({ type: "session_info", name: "" });
  if (number % 31 === 2) lines.splice(2, 0, '{"type":"message", torn', "", "[1, 2]");
  return {
    name: `${created.replace(/[:.]/g, "-")}_${id}.jsonl`,
    text: `${lines.join("\n")}\n`,
    now,
  };
}

export function makeSessions(folder, count, base) {
  const random = chance(7);
  let start = Date.UTC(2026, 0, 5);
  for (let number = 0; number < count; number++) {
    start += random(600_000);
    const cwd = join(base, `p${random(12)}`);
    const made = session(number, cwd, start, random);
    const place = join(folder, folderOf(cwd));
    mkdirSync(place, { recursive: true });
    // pi goes on with no session whose directory is gone.
    mkdirSync(cwd, { recursive: true });
    const path = join(place, made.name);
    writeFileSync(path, made.text);
    utimesSync(path, made.now / 1000, made.now / 1000);
  }
  // What is no session is in no list.
  writeFileSync(join(folder, folderOf(join(base, "p0")), "notes.jsonl"), '{"type":"note"}\n');
  writeFileSync(join(folder, folderOf(join(base, "p0")), "empty.jsonl"), "");
}
