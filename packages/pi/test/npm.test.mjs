// Can the npm packages be installed into an empty place, run there, and found by pi?
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { lacking, makeHome, node, pack, piOf, Rpc } from "./pi.mjs";

const binary = process.env.SESSIONARY_BIN;
const why =
  lacking() ?? (spawnSync("npm", ["--version"]).error ? "npm is not installed" : undefined);

describe("npm packages", { skip: why }, () => {
  let place;
  let installed;
  before(() => {
    place = makeHome(40);
    const out = join(place.home, "out");
    execFileSync(process.execPath, [
      join(dirname(pack), "cli/pack.mjs"),
      out,
      `linux-x64=${binary}`,
    ]);
    const archives = readdirSync(out).map((name) => join(out, name));
    assert.equal(archives.length, 3, String(archives));
    installed = join(place.home, "installed");
    mkdirSync(installed);
    // As pi installs them: peers are the host's own.
    const args = [
      "install",
      "--offline",
      "--ignore-scripts",
      "--legacy-peer-deps",
      "--no-audit",
      "--no-fund",
      "--prefix",
      installed,
      ...archives,
    ];
    execFileSync("npm", args, { env: { HOME: place.home, PATH: process.env.PATH }, stdio: "pipe" });
  });
  after(() => place.close());

  const run = (...args) => {
    const env = { HOME: place.home, PATH: dirname(node) };
    return spawnSync(node, [join(installed, "node_modules/.bin/sessionary"), ...args], {
      env,
      cwd: place.cwd,
      encoding: "utf8",
    });
  };

  test("the launcher runs the program, and ends as it does", () => {
    const version = execFileSync(binary, ["--version"], { encoding: "utf8" });
    assert.equal(run("--version").stdout, version);
    assert.equal(run("list", "--all", "--limit", "3").status, 0);
    assert.match(run("search", "question 21").stdout, /question 21/);
    assert.equal(run("search", "nowheretobefound").status, 1);
    assert.equal(run("frobnicate").status, 2);
    assert.match(
      run("resume", "--print", "019b8d5e-7c80-7000-8000-000000000021").stdout,
      /pi --session/,
    );
    assert.match(run("completions", "bash").stdout, /complete/);
  });

  test("the packages hold what they need, and no tests", () => {
    const files = (name) =>
      readdirSync(join(installed, "node_modules/@sessionary", name), { recursive: true });
    assert.ok(files("pi").includes("src/index.ts"));
    assert.ok(!files("pi").some((name) => name.startsWith("test")));
    assert.ok(files("cli-linux-x64").includes("bin/sessionary"));
    for (const name of ["pi", "cli", "cli-linux-x64"])
      assert.ok(files(name).includes("LICENSE-MIT"), name);
  });

  test("pi finds the binary beside the package, and never takes the launcher", async () => {
    const extension = join(installed, "node_modules/@sessionary/pi");
    const [program, ...script] = piOf("1.5");
    const env = { ...place.env, SESSIONARY_BIN: "" };
    execFileSync(program, [...script, "install", extension], {
      env,
      cwd: place.cwd,
      stdio: "pipe",
    });
    const settings = join(place.home, ".pi/agent/settings.json");
    assert.ok(existsSync(settings));
    const rpc = new Rpc("1.5", place, [], { SESSIONARY_BIN: "" }, []);
    rpc.select = (options) => options.find((one) => one.includes("question 17:"));
    const asked = rpc.until((one) => one.method === "select");
    await rpc.type('/find "question 17"');
    await asked;
    const { data } = await rpc.ask({ type: "get_state" });
    assert.match(data.sessionFile, /000017\.jsonl$/);
    await rpc.close();
    // A package alone, with npm's launcher on the PATH.
    const launcher = join(installed, "node_modules/.bin");
    const alone = { SESSIONARY_BIN: "", PATH: `${launcher}:${place.env.PATH}` };
    execFileSync(program, [...script, "remove", extension], { env, cwd: place.cwd, stdio: "pipe" });
    const other = new Rpc("1.5", place, [], alone, ["-e", join(pack, "src/index.ts")]);
    const missing = other.until((one) => one.method === "notify");
    await other.type("/find question");
    assert.match((await missing).message, /sessionary is not installed/);
    await other.close();
  });
});
