// Where was it said? Hits in pi's sessions, as the overlay and the dialog show them.
import { ask } from "./child.ts";

/** A search reads what is not indexed yet, which may be much the first time. */
const QUIET_MS = 20_000;
const FIELDS =
  "entry,role,kind,tool,time_ms,place,snippet," +
  "session.path,session.id,session.title,session.cwd,session.host";

export interface Hit {
  /** The machine that its session was copied from; of what is found there is none. */
  host?: string;
  path: string;
  title: string;
  cwd: string;
  /** The entry's id, or `L` and its line where it has none. */
  entry: string;
  /** Who said it: a role, a tool, or the kind of the entry. */
  by: string;
  timeMs?: number;
  /** Not on the branch on which its session stands. */
  isAside: boolean;
  snippet: string;
}

export interface Found {
  hits: Hit[];
  /** All matches there are. */
  total: number;
}

/** Other machines: what pi would write into a copy of theirs, the next copy undoes. */
const others = new Set<string>();

/** Looks for what somebody types, finished or not. */
export async function search(query: string, limit: number, signal?: AbortSignal): Promise<Found> {
  for (;;) {
    const without = [...others];
    const found = await once(ofPi(query, without), limit, signal);
    const hosts = found.hits.flatMap(({ host }) => (host ? [host] : []));
    const unknown = hosts.filter((host) => !without.includes(host));
    if (unknown.length === 0) return found;
    for (const host of unknown) others.add(host);
  }
}

async function once(query: string, limit: number, signal?: AbortSignal): Promise<Found> {
  const args = [
    "search",
    "--json",
    // pi would begin an empty session where a file is gone.
    "--only-live",
    "--fields",
    FIELDS,
    "--limit",
    String(limit),
    "--",
    query,
  ];
  let found: Found = { hits: [], total: 0 };
  await ask(args, { signal, quietMs: QUIET_MS, oneLine: true }, (line) => {
    found = read(JSON.parse(line));
  });
  return found;
}

/** The query, of pi's sessions on this machine alone: others cannot be switched to. */
function ofPi(query: string, without: string[]): string {
  const hasChoices = /\bOR\b|\|/.test(query);
  const hosts = without.map((host) => `-host:"${host}" `).join("");
  return hasChoices ? `agent:pi ${hosts}(${query})` : `agent:pi ${hosts}${query}`;
}

function read(answer: any): Found {
  const hits = answer.sessions.flatMap(({ session, hits }: any) =>
    hits.map((hit: any): Hit => ({
      host: session.host ?? undefined,
      path: session.path,
      title: session.title,
      cwd: session.cwd,
      entry: hit.entry,
      by: hit.tool ?? hit.role ?? hit.kind,
      timeMs: hit.time_ms ?? undefined,
      // Some agents have no branches.
      isAside: Boolean(hit.place) && hit.place !== "active",
      snippet: hit.snippet.replace(/\s+/g, " ").trim(),
    })),
  );
  return { hits, total: answer.total };
}

/** How long ago that was, in two or three signs. */
export function age(timeMs: number | undefined, now = Date.now()): string {
  if (timeMs === undefined) return "";
  const minutes = Math.max(0, Math.floor((now - timeMs) / 60_000));
  const units: [number, string][] = [
    [525_600, "y"],
    [43_200, "mo"],
    [10_080, "w"],
    [1440, "d"],
    [60, "h"],
  ];
  const [size, unit] = units.find(([size]) => minutes >= size) ?? [1, "m"];
  return `${Math.floor(minutes / size)}${unit}`;
}
