// Who makes pi's session lists? sessionary, from its index; pi itself wherever that fails. The rows
// are those that pi would make, in its order, so nothing that shows them has to know.
import { join, isAbsolute, resolve } from "node:path";
import { getAgentDir, type SessionInfo, SessionManager } from "@earendil-works/pi-coding-agent";
import { ask } from "./child.ts";

/** After so long without a row pi makes the list itself: it would be at work already. */
const QUIET_MS = 2000;
/** Once there are rows, their texts may take longer: pi's own code would read more for them. */
const TEXT_MS = 15_000;

type Progress = (loaded: number, total: number, partial?: SessionInfo[]) => void;
type Lists = Pick<typeof SessionManager, "list" | "listAll">;
type List = (...given: unknown[]) => Promise<SessionInfo[]>;

/** What stood there before, and what stands there by us. */
interface Taken {
  own: Lists;
  ours?: Lists;
}

/** Puts our lists in the place of pi's. Loaded once more, it replaces its former self. */
export function takeOver(): void {
  const key = Symbol.for("sessionary.lists");
  const host = SessionManager as unknown as Lists & { [key: symbol]: Taken | undefined };
  const taken: Taken = host[key] ?? { own: { list: host.list, listAll: host.listAll } };
  // What another extension put over ours calls ours already.
  const isOnTop =
    !taken.ours || (host.list === taken.ours.list && host.listAll === taken.ours.listAll);
  if (!isOnTop) return;
  taken.ours = lists(taken.own);
  host[key] = taken;
  Object.assign(host, taken.ours);
}

function lists(own: Lists): Lists {
  const of = (name: keyof Lists, given: unknown[]) => () =>
    (own[name] as unknown as List).apply(SessionManager, given);
  const list: List = (...given) => {
    const [cwd, folder, progress, signal] = given as [string, string?, Progress?, AbortSignal?];
    return listed(ofFolder(cwd, folder), of("list", given), progress, signal);
  };
  const listAll: List = (...given) => {
    const folder = typeof given[0] === "string" ? given[0] : undefined;
    const progress = given.find((one) => typeof one === "function") as Progress | undefined;
    const signal = given.find((one) => one instanceof AbortSignal);
    return listed(ofAll(folder), of("listAll", given), progress, signal);
  };
  return { list, listAll } as unknown as Lists;
}

/** The folder with a folder for each working directory. */
const sessions = () => join(resolve(getAgentDir()), "sessions");

/** The question for `list`; `undefined`: pi is to read the path as it does. */
function ofFolder(cwd: string, folder?: string): string[] | undefined {
  if (!isAbsolute(cwd) || (folder && !isAbsolute(folder))) return undefined;
  const name = `--${resolve(cwd)
    .replace(/^[/\\]/, "")
    .replace(/[/\\:]/g, "-")}--`;
  const isUsual = !folder || resolve(folder) === join(sessions(), name);
  return [...ofAll(isUsual ? undefined : folder)!, "--in", cwd];
}

/** The question for `listAll`. */
function ofAll(folder?: string): string[] | undefined {
  if (folder && !isAbsolute(folder)) return undefined;
  const where = folder ? ["--session-dir", resolve(folder)] : ["--sessions", sessions()];
  // As pi's own list shows it: nothing is redacted.
  return ["list", "--as", "pi", "--jsonl", "--reveal", ...where];
}

async function listed(
  question: string[] | undefined,
  own: () => Promise<SessionInfo[]>,
  progress?: Progress,
  signal?: AbortSignal,
): Promise<SessionInfo[]> {
  if (question === undefined) return own();
  signal?.throwIfAborted();
  try {
    const bare = await rows(question, QUIET_MS, signal);
    progress?.(bare.length, bare.length, bare);
    const found = bare.length ? await rows([...question, "--with-text"], TEXT_MS, signal) : bare;
    if (found.length > 0) return found;
  } catch {
    // Whatever it was, pi does not depend on it.
  }
  signal?.throwIfAborted();
  // Where there is nothing to list, that takes no time.
  return own();
}

async function rows(
  question: string[],
  quietMs: number,
  signal?: AbortSignal,
): Promise<SessionInfo[]> {
  const found: SessionInfo[] = [];
  await ask(question, { signal, quietMs }, (line) => found.push(row(line)));
  return found;
}

/** A row as pi makes it: with all of its members, in its order, whether they are defined or not. */
function row(line: string): SessionInfo {
  const read = JSON.parse(line);
  return {
    path: read.path,
    id: read.id,
    cwd: read.cwd,
    name: read.name,
    parentSessionPath: read.parentSessionPath,
    created: new Date(read.created ?? Number.NaN),
    modified: new Date(read.modified),
    messageCount: read.messageCount,
    firstMessage: read.firstMessage,
    allMessagesText: read.allMessagesText,
  };
}
