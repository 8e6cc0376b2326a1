// What does somebody see at a terminal? /resume with our lists, and /find with its overlay.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { EXTENSIONS, lacking, makeHome, piOf, Terminal, VERSIONS } from "./pi.mjs";

const why = lacking() ?? (spawnSync("tmux", ["-V"]).error ? "tmux is not installed" : undefined);

/** A terminal with pi, once it is ready for input. */
async function start(version, place) {
  const terminal = new Terminal(place, [...piOf(version), "--offline", ...EXTENSIONS]);
  await terminal.started(place);
  return terminal;
}

/** Types a command, and sends it once it stands there. Enter is lost on a pi that is busy. */
async function send(terminal, command) {
  const typed = command.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  terminal.type(command);
  await terminal.shows(new RegExp(typed));
  for (let tries = 1; tries <= 3; tries++) {
    terminal.keys("Enter");
    const isTaken = terminal.shows(new RegExp(`^(?![^]*${typed})`), 10_000);
    if (await isTaken.then(() => true, () => false)) return;
  }
}

/** Asks the probe in the terminal where pi stands. */
async function where(terminal, place, name) {
  const out = join(place.home, name);
  // A question that was gone to stands in the editor.
  terminal.keys("C-u");
  await send(terminal, `/probe-where ${out}`);
  await terminal.shows(/probe where done/);
  return JSON.parse(readFileSync(out, "utf8"));
}

for (const version of VERSIONS) {
  describe(`pi ${version} at a terminal`, { skip: why }, () => {
    test("/resume shows the rows, and its own search works on them", async () => {
      const place = makeHome(60);
      const terminal = await start(version, place);
      try {
        await send(terminal, "/resume");
        await terminal.shows(/Resume Session \(Current Folder\)/);
        terminal.keys("Tab");
        await terminal.shows(/◉ All/);
        terminal.type('"question 33:"');
        await terminal.shows(/question 33:/);
        terminal.keys("Enter");
        await terminal.shows(/Resumed session/);
        const { header, ownLists } = await where(terminal, place, "resumed.json");
        assert.equal(ownLists.listAll, 0, "pi's own code was not asked");
        assert.ok(header.id.endsWith("000033"));
      } finally {
        terminal.close();
        place.close();
      }
    });

    test("/find asks with every key, goes to a hit and forks there", async () => {
      const place = makeHome(60);
      const terminal = await start(version, place);
      try {
        await send(terminal, '/find "question 2');
        await terminal.shows(/enter go there · alt\+enter fork there/);
        await terminal.shows(/[1-9]\d* match/);
        terminal.type('1"');
        await terminal.shows(/1 match\b/);
        const found = await terminal.shows(/▶ .*question 21:/);
        assert.ok(!/question 22:/.test(found), found);
        terminal.keys("Enter");
        await terminal.shows(/Resumed session[^]*question 21:/);
        const { header, leaf } = await where(terminal, place, "found.json");
        assert.ok(header.id.endsWith("000021"));
        assert.equal(leaf, null);
      } finally {
        terminal.close();
        place.close();
      }
    });

    test("Alt-Enter forks at the hit", async () => {
      const place = makeHome(60);
      const terminal = await start(version, place);
      const count = () =>
        readdirSync(place.sessions, { recursive: true }).filter((name) => name.endsWith(".jsonl"))
          .length;
      try {
        const before = count();
        await send(terminal, "/find budget role:assistant");
        await terminal.shows(/▶ /);
        terminal.keys("M-Enter");
        await terminal.shows(/Resumed session/);
        const { header, said } = await where(terminal, place, "forked.json");
        assert.ok(header.parentSession?.endsWith(".jsonl"), JSON.stringify(header));
        assert.equal(said.at(-1), "assistant");
        assert.equal(count(), before + 1);
      } finally {
        terminal.close();
        place.close();
      }
    });
  });
}
