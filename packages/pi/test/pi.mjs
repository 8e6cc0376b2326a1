// The real pi, started without an account and with a home of its own: over its RPC mode, or at a
// terminal of tmux.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeSessions } from "./sessions.mjs";

export const here = dirname(fileURLToPath(import.meta.url));
export const pack = dirname(here);
export const modules = process.env.PI_MODULES ?? join(here, "node_modules");
export const VERSIONS = ["0.87", "1.5"];
export const node = join(modules, "node-22/bin/node");
const PATIENCE_MS = 60_000;
/** The package, and what asks it from within. */
export const EXTENSIONS = ["-e", join(pack, "src/index.ts"), "-e", join(here, "probe.ts")];

/** The command that starts this version. */
export function piOf(version) {
  const folder = join(modules, `pi-${version}`);
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return [node, join(folder, bin.pi)];
}

/** A home with generated sessions; `close` removes it. */
export function makeHome(count = 0) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "sessionary-pi-")));
  const sessions = join(home, ".pi/agent/sessions");
  const cwd = join(home, "code");
  mkdirSync(sessions, { recursive: true });
  mkdirSync(cwd);
  if (count > 0) makeSessions(sessions, count, cwd);
  const env = {
    HOME: home,
    PATH: `${dirname(node)}:/usr/bin:/bin`,
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    SESSIONARY_BIN: process.env.SESSIONARY_BIN ?? "",
    ANTHROPIC_API_KEY: "made-up",
    // Nothing works on in the background when a test is over.
    CI: "true",
  };
  const close = () => rmSync(home, { recursive: true, force: true, maxRetries: 20 });
  return { home, sessions, cwd, env, close };
}

/** pi's RPC mode. `select` answers its dialogs: given the offers it returns one of them. */
export class Rpc {
  #rest = "";
  #asked = 0;
  #waiting = [];
  lines = [];
  select = (options) => options[0];

  constructor(version, place, args = [], env = {}, extensions = EXTENSIONS) {
    const [program, ...script] = piOf(version);
    this.child = spawn(program, [...script, "--mode", "rpc", "--offline", ...extensions, ...args], {
      cwd: place.cwd,
      env: { ...place.env, ...env },
    });
    this.ended = new Promise((done) => this.child.on("exit", done));
    this.complaints = "";
    this.child.stderr.on("data", (data) => (this.complaints += data));
    this.child.stdout.on("data", (data) => this.#take(data));
  }

  #take(data) {
    this.#rest += data;
    const lines = this.#rest.split("\n");
    this.#rest = lines.pop();
    for (const line of lines.filter(Boolean)) {
      const message = JSON.parse(line);
      this.lines.push(message);
      if (message.type === "extension_ui_request" && message.method === "select") {
        this.send({
          type: "extension_ui_response",
          id: message.id,
          value: this.select(message.options),
        });
      }
      this.#waiting = this.#waiting.filter(
        ({ wanted, done }) => !(wanted(message) && (done(message), true)),
      );
    }
  }

  send(message) {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** The first message from now on that is wanted. */
  until(wanted) {
    return new Promise((done, failed) => {
      const why = () =>
        failed(
          new Error(
            `pi did not say it: ${this.complaints}\n${this.lines
              .slice(-5)
              .map((one) => JSON.stringify(one))
              .join("\n")}`,
          ),
        );
      const patience = setTimeout(why, PATIENCE_MS);
      this.#waiting.push({ wanted, done: (message) => (clearTimeout(patience), done(message)) });
    });
  }

  /** Sends a command and waits for its response. */
  async ask(message) {
    const id = String(++this.#asked);
    const answer = this.until((one) => one.type === "response" && one.id === id);
    this.send({ ...message, id });
    return answer;
  }

  /** Types a line, and waits until pi has taken it. */
  async type(message) {
    const { success, error } = await this.ask({ type: "prompt", message });
    if (!success) throw new Error(error);
  }

  /** What a command of the probe found. */
  async probe(name, place, ...args) {
    const out = join(place.home, `${name}-${++this.#asked}.json`);
    const done = this.until(
      (one) => one.method === "notify" && one.message === `probe ${name} done`,
    );
    await this.type([`/probe-${name}`, out, ...args].join(" "));
    await done;
    const answer = JSON.parse(readFileSync(out, "utf8"));
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  /** Where pi stands, once that is so. */
  async stands(place, wanted) {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      const where = await this.probe("where", place);
      if (wanted(where)) return where;
      if (Date.now() > end) throw new Error(`pi stands elsewhere: ${JSON.stringify(where)}`);
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  async close() {
    this.child.stdin.end();
    const patience = setTimeout(() => this.child.kill("SIGKILL"), 3000);
    await this.ended;
    clearTimeout(patience);
  }
}

let terminals = 0;

/** A terminal of tmux, on a server of its own, in which a command runs. */
export class Terminal {
  constructor(place, command) {
    // A server that was told to end may still be there.
    this.socket = join(place.home, `tmux-${++terminals}.socket`);
    this.env = { PATH: "/usr/bin:/bin", TERM: "xterm-256color", LANG: "C.UTF-8", HOME: place.home };
    const variables = Object.entries(place.env).flatMap(([name, value]) => [
      "-e",
      `${name}=${value}`,
    ]);
    this.#tmux(
      "-f",
      "/dev/null",
      "new-session",
      "-d",
      "-x",
      "120",
      "-y",
      "40",
      "-c",
      place.cwd,
      ...variables,
      "--",
      ...command,
    );
    this.#tmux("set-option", "-g", "remain-on-exit", "on");
  }

  #tmux(...args) {
    return execFileSync("tmux", ["-S", this.socket, ...args], { env: this.env, encoding: "utf8" });
  }

  /** Keys as tmux names them. */
  keys(...keys) {
    this.#tmux("send-keys", ...keys);
  }

  type(text) {
    this.#tmux("send-keys", "-l", text);
  }

  screen() {
    return this.#tmux("capture-pane", "-p");
  }

  /**
   * Waits until pi has started. It draws its screen before that, and refuses what is entered;
   * what it does last is to name the terminal after its directory.
   */
  async started(place, patienceMs = PATIENCE_MS) {
    const named = ` - ${basename(place.cwd)}`;
    const end = Date.now() + patienceMs;
    while (!this.#tmux("display-message", "-p", "#{pane_title}").trimEnd().endsWith(named)) {
      if (Date.now() > end) throw new Error(`pi does not start:\n${this.screen()}`);
      await new Promise((done) => setTimeout(done, 30));
    }
  }

  /** The screen, once it shows this. */
  async shows(pattern, patienceMs = PATIENCE_MS) {
    const end = Date.now() + patienceMs;
    for (;;) {
      const screen = this.screen();
      if (pattern.test(screen)) return screen;
      if (Date.now() > end) throw new Error(`${pattern} is not shown:\n${screen}`);
      await new Promise((done) => setTimeout(done, 30));
    }
  }

  close() {
    try {
      this.#tmux("kill-server");
    } catch {
      // It is gone already.
    }
  }
}

/** Why the tests cannot run here; `undefined`: they can. */
export function lacking() {
  if (!process.env.SESSIONARY_BIN) return "SESSIONARY_BIN names no sessionary";
  if (!existsSync(node)) return "pi is not installed: sh packages/pi/test/install.sh";
  return undefined;
}
