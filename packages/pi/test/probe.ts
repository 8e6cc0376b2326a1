// An extension for tests: it asks pi's lists from within, ours and pi's own, and says where pi
// stands. Its commands write what they found as JSON into the file that they are given.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type ExtensionAPI, SessionManager } from "@earendil-works/pi-coding-agent";
import { ask } from "../src/child.ts";
import { takeOver } from "../src/take-over.ts";

const FIELDS = [
  "path",
  "id",
  "cwd",
  "name",
  "parentSessionPath",
  "created",
  "modified",
  "messageCount",
  "firstMessage",
  "allMessagesText",
];
const host = SessionManager as any;
const taken = () => host[Symbol.for("sessionary.lists")];

/** Differences between two lists, in any field, in order, or in how a row is made. */
function differences(own: any[], ours: any[]): string[] {
  const found = own.length === ours.length ? [] : [`${own.length} rows, ours ${ours.length}`];
  for (const [at, row] of own.entries()) {
    const other = ours[at] ?? {};
    if (Object.keys(row).join() !== Object.keys(other).join())
      found.push(`${at}: ${Object.keys(other)}`);
    for (const field of FIELDS) {
      const [a, b] = [row[field], other[field]].map((one) =>
        one instanceof Date ? `date ${one.getTime()}` : one,
      );
      if (a !== b) found.push(`${row.path}: ${field}: ${a} / ${b}`);
    }
  }
  return found;
}

async function timed<T>(run: () => Promise<T>): Promise<[T, number]> {
  const start = performance.now();
  return [await run(), performance.now() - start];
}

/** Asks both for a list with these arguments. */
async function both(name: "list" | "listAll", before: unknown[]) {
  const [own, ownMs] = await timed<any[]>(() => taken().own[name].call(SessionManager, ...before));
  let first: any[] | undefined;
  let firstMs = 0;
  const start = performance.now();
  const progress = (_loaded: number, _total: number, partial?: any[]) => {
    first ??= partial;
    firstMs ||= performance.now() - start;
  };
  const [ours, oursMs] = await timed<any[]>(() => host[name](...before, progress));
  const bare = (first ?? []).map((row) => ({ ...row, allMessagesText: "" }));
  const wanted = own.map((row) => ({ ...row, allMessagesText: "" }));
  const isEmpty = first?.every((row) => row.allMessagesText === "") ?? false;
  const found = [...differences(own, ours), ...differences(wanted, bare)];
  if (!isEmpty) found.push("the first paint has text");
  return { rows: own.length, found, ownMs, oursMs, firstMs };
}

/** How often pi's own lists were asked. */
const ownLists: Record<string, number> = { list: 0, listAll: 0 };

function countOwnLists(): void {
  const { own } = taken();
  for (const name of ["list", "listAll"]) {
    const list = own[name];
    own[name] = (...given: unknown[]) => (ownLists[name]++, list.apply(SessionManager, given));
  }
}

export default function probe(pi: ExtensionAPI): void {
  countOwnLists();
  const command = (name: string, run: (args: string[], ctx: any) => Promise<unknown>) =>
    pi.registerCommand(`probe-${name}`, {
      description: "for tests",
      handler: async (args, ctx) => {
        const [out, ...more] = args.split(" ");
        const answer = await run(more, ctx).catch((error) => ({
          error: String(error?.stack ?? error),
        }));
        writeFileSync(out, JSON.stringify(answer));
        ctx.ui.notify(`probe ${name} done`, "info");
      },
    });
  // Every list there is: of all, of each directory, of one folder with and without its directory.
  command("lists", async (flat) => {
    const all = await both("listAll", []);
    const answers = [all];
    const dirs = new Set<string>(
      (await taken().own.listAll()).map((row: any) => row.cwd).filter(Boolean),
    );
    const [first] = dirs;
    for (const cwd of [...dirs, "/nobody/was/here"])
      answers.push(await both("list", [cwd, undefined]));
    for (const folder of flat) {
      answers.push(await both("listAll", [folder]), await both("list", [first, folder]));
    }
    return {
      all,
      lists: answers.length,
      found: answers.flatMap((one) => one.found),
      rows: answers.map((one) => one.rows),
    };
  });
  command("time", async () => both("listAll", []));
  command("guard", async () => {
    const before = taken().own.listAll;
    takeOver();
    const isKept = taken().own.listAll === before && host.listAll === taken().ours.listAll;
    // Whoever comes after us stays on top.
    const ours = host.listAll;
    const theirs = async () => [];
    host.listAll = theirs;
    takeOver();
    const staysOnTop = host.listAll === theirs;
    host.listAll = ours;
    return { isKept, staysOnTop, isOurs: host.listAll !== before };
  });
  // What becomes of a program that hangs, and of one that answers nonsense.
  command("trouble", async ([sleeper, babbler]) => {
    const own = await taken().own.listAll();
    const runs = (seconds: string) =>
      execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
        .split("\n")
        .filter((line) => line.endsWith(` ${seconds}`)).length;
    const settled = (promise: Promise<unknown>) =>
      promise.then(
        () => "resolved",
        (error) => String(error?.message ?? error),
      );
    const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
    const usual = process.env.SESSIONARY_BIN;
    try {
      process.env.SESSIONARY_BIN = sleeper;
      const [silent, silentMs] = await timed(() =>
        settled(ask(["987001"], { quietMs: 300 }, () => {})),
      );
      const given = new AbortController();
      const waiting = settled(ask(["987002"], { quietMs: 60_000, signal: given.signal }, () => {}));
      await pause(200);
      const before = runs("987002");
      given.abort(new Error("given up"));
      const aborted = await waiting;
      await pause(200);
      const left = runs("987001") + runs("987002");
      process.env.SESSIONARY_BIN = babbler;
      const babble = differences(own, await host.listAll());
      process.env.SESSIONARY_BIN = sleeper;
      const refused = differences(own, await host.listAll());
      const stopped = new AbortController();
      stopped.abort();
      const early = await settled(host.listAll(() => {}, stopped.signal));
      return { silent, silentMs, before, aborted, left, babble, refused, early, rows: own.length };
    } finally {
      process.env.SESSIONARY_BIN = usual;
    }
  });
  command("where", async (_none, ctx) => {
    const file = ctx.sessionManager.getSessionFile();
    const header = existsSync(file) ? JSON.parse(readFileSync(file, "utf8").split("\n")[0]) : {};
    const branch = ctx.sessionManager.getBranch();
    const messages = branch.filter((entry: any) => entry.type === "message");
    return {
      ownLists,
      file,
      header,
      leaf: ctx.sessionManager.getLeafId(),
      said: messages.map((entry: any) => entry.message.role),
    };
  });
}
