// How long do pi's lists take, its own and ours, in the same pi?
//   SESSIONARY_BIN=… node packages/pi/test/bench.mjs AGENT [ROUNDS]
// AGENT is a folder as ~/.pi/agent, with `sessions` in it. First both lists are asked from within
// pi, in turn, and each row compared. Then /resume is opened at a terminal of tmux and Tab pressed,
// with the package and without it, in turn.
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { EXTENSIONS, lacking, makeHome, piOf, Rpc, Terminal, VERSIONS } from "./pi.mjs";

const [agent, rounds = "5"] = process.argv.slice(2);
const why = lacking() ?? (agent ? undefined : "no folder is named");
if (why) throw new Error(why);
const program = process.env.SESSIONARY_BIN;

const span = (numbers) => {
  const sorted = numbers.map(Math.round).sort((a, b) => a - b);
  return `${sorted[0]} to ${sorted.at(-1)} (median ${sorted[sorted.length >> 1]})`;
};

/** Runs as often as is asked for, one after the other. */
async function repeated(run) {
  const found = [];
  while (found.length < Number(rounds)) found.push(await run());
  return found;
}

/** From Tab until /resume has all rows, and until it has their texts as well. */
async function resumed(version, place, extensions, count) {
  const terminal = new Terminal(place, [...piOf(version), "--offline", ...extensions]);
  const until = async (pattern) => {
    while (!pattern.test(terminal.screen())) await new Promise((done) => setTimeout(done, 2));
    return performance.now();
  };
  try {
    await terminal.started(place);
    terminal.type("/resume");
    await terminal.shows(/\/resume/);
    terminal.keys("Enter");
    await terminal.shows(/Resume Session[^]*No sessions/);
    const start = performance.now();
    terminal.keys("Tab");
    const rows = (await until(new RegExp(`\\(1/${count}\\)`))) - start;
    return { rows, all: (await until(/◉ All/)) - start };
  } finally {
    terminal.close();
  }
}

for (const version of VERSIONS) {
  const place = makeHome();
  place.env.PI_CODING_AGENT_DIR = resolve(agent);
  execFileSync(program, ["sync"], { env: place.env, stdio: "ignore" });
  const rpc = new Rpc(version, place);
  await rpc.probe("time", place);
  const lists = await repeated(() => rpc.probe("time", place));
  await rpc.close();
  const different = lists.flatMap(({ found }) => found);
  if (different.length > 0) throw new Error(`other rows: ${different.slice(0, 3)}`);
  const of = (all, name) => span(all.map((one) => one[name]));
  console.log(`pi ${version}, ${lists[0].rows} sessions, ms`);
  console.log(`  its own list             ${of(lists, "ownMs")}`);
  console.log(`  ours, without text       ${of(lists, "firstMs")}`);
  console.log(`  times as fast            ${span(lists.map((one) => one.ownMs / one.firstMs))}`);
  console.log(`  ours, with text as well  ${of(lists, "oursMs")}`);
  const shown = await repeated(async () => ({
    own: await resumed(version, place, [], lists[0].rows),
    ours: await resumed(version, place, EXTENSIONS, lists[0].rows),
  }));
  for (const whose of ["own", "ours"]) {
    const times = shown.map((one) => one[whose]);
    console.log(`  /resume, ${whose}: all rows ${of(times, "rows")}; ready ${of(times, "all")}`);
  }
  place.close();
}
