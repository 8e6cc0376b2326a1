// Runs a real agent in a home of its own; run.sh starts it where there is no network but the loopback:
//
//   node run.mjs AGENT HOME hold               holds scripted conversations with the stub
//   node run.mjs AGENT HOME remember PROGRAM   takes the tools of PROGRAM, and asks what was decided
//   node run.mjs AGENT HOME start WORD...      is started with these words, without a stub
//
// Prints what the agent printed that was started so; else a line of JSON: what was run, the exit
// codes, and where the stub's ledger lies.
import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const modules = process.env.AGENTS ?? join(here, "node_modules");
const piModules = process.env.PI ?? join(here, "../../packages/pi/test/node_modules");
const [agent, home, verb, ...words] = process.argv.slice(2);
const work = join(home, "code", "parser");
const ledger = join(home, "ledger.jsonl");
const node = join(modules, "node-26/bin/node");
const KEY = "made-up-key";

const plan = (question, ...steps) => `${question} [[${steps.join(" || ")}]]`;
const tool = (name, input) => `tool:${name}:${JSON.stringify(input)}`;

// How each is started; `port` is the stub's. `shell` is its tool for commands, and `helper` what
// starts another agent of it. `ours` begins its names for the tools of `sessionary mcp`; where models
// are not told of these at first, `finder` is its tool that tells of them, and `caller` calls one of
// them by another tool of its own.
const AGENTS = {
  claude: {
    command: [join(modules, "claude/claude")],
    variables: (port) => ({
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      ANTHROPIC_API_KEY: `sk-ant-${KEY}`,
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      IS_SANDBOX: "1",
    }),
    ask: (prompt) => ["-p", "--dangerously-skip-permissions", prompt],
    resume: (id, prompt) => ["-p", "--dangerously-skip-permissions", "--resume", id, prompt],
    fork: (id, prompt) => ["-p", "--dangerously-skip-permissions", "--resume", id, "--fork-session", prompt],
    shell: (command) => tool("Bash", { command, description: "A command" }),
    helper: (prompt) =>
      tool("Agent", { description: "Look", prompt, subagent_type: "general-purpose", run_in_background: false }),
    ours: "mcp__sessionary__",
    finder: "ToolSearch",
    sessions: () => stems(".claude/projects", /^([0-9a-f-]{36})\.jsonl$/),
  },
  codex: {
    command: [join(modules, "codex/vendor/x86_64-unknown-linux-musl/bin/codex")],
    variables: () => ({ STUB_KEY: KEY }),
    prepare: (port) => {
      mkdirSync(join(home, ".codex"), { recursive: true });
      writeFileSync(
        join(home, ".codex/config.toml"),
        `model = "stub-1"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[feedback]
enabled = false
[model_providers.stub]
name = "stub"
base_url = "http://127.0.0.1:${port}/v1"
wire_api = "responses"
env_key = "STUB_KEY"
request_max_retries = 0
stream_max_retries = 0
`,
      );
    },
    ask: (prompt) => ["exec", "--skip-git-repo-check", prompt],
    resume: (id, prompt) => ["exec", "--skip-git-repo-check", "resume", id, prompt],
    fork: (id, prompt) => ["exec", "--skip-git-repo-check", "fork", id, prompt],
    shell: (cmd) => tool("exec_command", { cmd }),
    helper: (message) => tool("multi_agent_v1/spawn_agent", { message, agent_type: "default" }),
    ours: "mcp__sessionary/",
    sessions: () => stems(".codex/sessions", /^rollout-.*?-([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl$/),
  },
  copilot: {
    command: [join(modules, "copilot/copilot")],
    variables: (port) => ({
      COPILOT_PROVIDER_TYPE: "openai",
      COPILOT_PROVIDER_BASE_URL: `http://127.0.0.1:${port}/v1`,
      COPILOT_PROVIDER_API_KEY: KEY,
      COPILOT_MODEL: "m1",
    }),
    ask: (prompt) => ["--allow-all-tools", "-p", prompt],
    resume: (id, prompt) => ["--allow-all-tools", `--resume=${id}`, "-p", prompt],
    shell: (command) => tool("bash", { command, description: "A command" }),
    helper: (prompt) => tool("task", { name: "look", description: "Look", prompt, agent_type: "explore", mode: "sync" }),
    ours: "sessionary-",
    sessions: () => stems(".copilot/session-state", /^([0-9a-f]{8}-[0-9a-f-]{27})$/),
  },
  gemini: {
    command: [node, join(modules, "gemini/bundle/gemini.js")],
    variables: (port) => ({
      GEMINI_API_KEY: KEY,
      GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}`,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
    prepare: () => {
      const settings = { security: { auth: { selectedType: "gemini-api-key" } } };
      mkdirSync(join(home, ".gemini"), { recursive: true });
      writeFileSync(join(home, ".gemini/settings.json"), JSON.stringify(settings));
    },
    // Without a model named it asks one which model to ask.
    ask: (prompt) => ["--yolo", "-m", "gemini-2.5-flash", "-p", prompt],
    resume: (id, prompt) => ["--yolo", "-m", "gemini-2.5-flash", "--resume", id, "-p", prompt],
    shell: (command) => tool("run_shell_command", { command }),
    helper: (prompt) => tool("invoke_agent", { agent_name: "codebase_investigator", prompt }),
    ours: "mcp_sessionary_",
    sessions: () =>
      files(".gemini/tmp", /^session-.*\.jsonl$/).map((file) => JSON.parse(firstLine(file)).sessionId),
  },
  opencode: {
    command: [join(modules, "opencode/bin/opencode")],
    variables: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" }),
    prepare: (port) => {
      const options = { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: KEY };
      const stub = { npm: "@ai-sdk/openai-compatible", name: "stub", options, models: { m1: { name: "m1" } } };
      const models = { model: "stub/m1", small_model: "stub/m1" };
      const settings = { autoupdate: false, share: "disabled", provider: { stub }, ...models };
      mkdirSync(join(home, ".config/opencode"), { recursive: true });
      writeFileSync(join(home, ".config/opencode/opencode.json"), JSON.stringify(settings));
    },
    ask: (prompt) => ["run", prompt],
    resume: (id, prompt) => ["run", "-s", id, prompt],
    fork: (id, prompt) => ["run", "-s", id, "--fork", prompt],
    shell: (command) => tool("bash", { command, description: "A command" }),
    helper: (prompt) => tool("task", { description: "Look", prompt, subagent_type: "general" }),
    ours: "sessionary_",
    sessions: () => {
      const list = run(["session", "list", "--format", "json"]);
      return JSON.parse(list.stdout || "[]").map(({ id }) => id);
    },
  },
  pi: {
    command: [join(piModules, "node-22/bin/node"), join(piModules, "pi-1.5/dist/bundle/cli.js")],
    variables: () => ({ CI: "true" }),
    prepare: (port) => {
      const models = [{ id: "m1", name: "m1", contextWindow: 100_000, maxTokens: 1000 }];
      const stub = { baseUrl: `http://127.0.0.1:${port}/v1`, api: "openai-completions", apiKey: KEY, models };
      mkdirSync(join(home, ".pi/agent"), { recursive: true });
      writeFileSync(join(home, ".pi/agent/models.json"), JSON.stringify({ providers: { stub } }));
      // Its models call the tools of servers from scripts, which takes a module that is not installed
      // here, or look them up with this one.
      writeFileSync(join(home, ".pi/agent/settings.json"), JSON.stringify({ defaultTools: ["+tool_search"] }));
    },
    ask: (prompt) => ["--offline", "--provider", "stub", "--model", "m1", "-p", prompt],
    ours: "mcp__sessionary__",
    finder: "tool_search",
    sessions: () => stems(".pi/agent/sessions", /^.*_([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl$/),
  },
  qwen: {
    command: [node, join(modules, "qwen/cli.js")],
    variables: (port) => ({
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      OPENAI_MODEL: "m1",
    }),
    ask: (prompt) => ["--yolo", "-p", prompt],
    resume: (id, prompt) => ["--yolo", "--resume", id, "-p", prompt],
    fork: (id, prompt) => ["--yolo", "--resume", id, "--fork-session", "-p", prompt],
    shell: (command) => tool("run_shell_command", { command, is_background: false }),
    helper: (prompt) => tool("agent", { description: "Look", prompt, subagent_type: "general-purpose" }),
    ours: "mcp__sessionary__",
    finder: "tool_search",
    caller: (name, input) => tool("tool_call", { name, arguments: input }),
    sessions: () => stems(".qwen/projects", /^([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl$/),
  },
};

const one = AGENTS[agent];
let variables;

function files(below, name) {
  try {
    const all = readdirSync(join(home, below), { recursive: true, withFileTypes: true });
    return all.filter((file) => name.test(file.name)).map((file) => join(file.parentPath, file.name));
  } catch {
    return [];
  }
}

const stems = (below, name) => files(below, name).map((file) => file.match(/[^/]+$/)[0].match(name)[1]);
const firstLine = (file) => readFileSync(file, "utf8").split("\n", 1)[0];

// Nothing of this machine's own surroundings reaches the agent.
function run(words, seconds = 90, signal = "SIGKILL") {
  const [program, ...before] = one.command;
  return spawnSync(program, [...before, ...words], {
    cwd: work,
    env: variables,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: seconds * 1000,
    killSignal: signal,
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
}

const surroundings = (port) => ({ PATH: `${dirname(node)}:/usr/bin:/bin`, HOME: home, TERM: "xterm", ...one.variables(port) });

if (verb === "start") {
  variables = surroundings(0);
  const { status, stdout, stderr } = run(words);
  writeFileSync(1, stdout);
  writeFileSync(2, stderr);
  process.exit(status ?? 1);
}

mkdirSync(work, { recursive: true });
closeSync(openSync(ledger, "a"));
const stub = spawn(process.execPath, [join(here, "stub.mjs"), ledger], { stdio: ["ignore", "pipe", "inherit"] });
const port = await new Promise((done) => stub.stdout.once("data", (port) => done(`${port}`.trim())));
variables = surroundings(port);
one.prepare?.(port);

const runs = [];
// Runs one conversation, and names the session that it made.
function hold(what, words, seconds, signal) {
  const before = new Set(one.sessions());
  const { status, signal: ended, stderr, stdout } = run(words, seconds, signal);
  const session = one.sessions().find((id) => !before.has(id)) ?? null;
  runs.push({ what, session, status, ended, stderr: stderr.slice(-400), stdout: stdout.slice(-400) });
  return session;
}

function holdAll() {
  const first = hold("ask", one.ask(plan("Why does the quince pump rattle?", `think: Perhaps a bearing. && ${one.shell("echo zyxwv")}`, "text: The bearing of the quince pump is worn.")));
  if (first) {
    hold("resume", one.resume(first, plan("And the gasket?", "text: The gasket holds for another year.")));
    if (one.fork) hold("fork", one.fork(first, plan("Take the brass one instead.", "text: Brass wears more slowly.")));
  }
  hold("tool error", one.ask(plan("List the shed.", one.shell("ls /no-such-shed"), "text: There is no shed here.")));
  hold("refused", one.ask(plan("Will the model refuse walnuts?", "http:400")));
  hold("interrupted", one.ask(plan("Wait for the kettle.", "wait:60000 && text: It boils.")), 8, "SIGINT");
  hold("helper", one.ask(plan("Send somebody to the attic.", one.helper("Look for the lantern."), "wait:3000 && text: The lantern was in the attic.")));
}

// The agent takes the tools as `setup` tells it to, and asks what another agent's session decided.
function remember(program) {
  const bin = join(home, "bin");
  const words = one.command.map((word) => `'${word}'`);
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, agent), `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`, { mode: 0o755 });
  const env = { ...variables, PATH: `${bin}:${variables.PATH}` };
  const { status, stdout, stderr } = spawnSync(program, ["setup", agent, "--yes"], { cwd: work, env, encoding: "utf8" });
  runs.push({ what: "setup", status, stdout, stderr });
  const question = "What did we decide about the cider press?";
  const ours = (name, input) => (one.caller ?? tool)(one.ours + name, input);
  const wanted = ["search_sessions", "show_entry"].map((name) => one.ours + name);
  const find = one.finder ? [tool(one.finder, { query: `select:${wanted}`, max_results: 5 })] : [];
  const search = ours("search_sessions", { query: question });
  const show = ours("show_entry", { address: "ADDRESS" });
  hold("remember", one.ask(plan(question, ...find, search, show, "text: So that is settled.")));
}

if (verb === "hold") holdAll();
else remember(...words);

stub.kill();
console.log(JSON.stringify({ agent, ledger, runs }));
