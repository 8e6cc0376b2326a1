// How is the program asked? One process a question; its answer is taken line by line, and it is
// ended when nobody waits for it any more.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { binary, MISSING } from "./binary.ts";

const NEWLINE = 10;

export interface Asking {
  /** Where it runs. */
  cwd?: string;
  /** Ends it. */
  signal?: AbortSignal;
  /** It is given up when it says nothing for so many milliseconds. */
  quietMs: number;
  /** Its answer is one line: it is not waited for after that. */
  oneLine?: boolean;
  /** What it is told, a line. */
  input?: string;
}

/** Asks sessionary, and hands on each line of its answer. Exit code 1 says that there is none. */
export function ask(
  args: string[],
  { cwd, signal, quietMs, oneLine, input }: Asking,
  take: (line: string) => void,
): Promise<void> {
  const program = binary();
  if (program === undefined) return Promise.reject(new Error(MISSING));
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    });
    // It may have ended before it reads.
    child.stdin.on("error", () => {});
    child.stdin.end(input === undefined ? "" : `${input}\n`);
    let complaint = "";
    let pieces: Buffer[] = [];
    let over = false;
    const end = (error?: unknown, isEnded = false) => {
      if (over) return;
      over = true;
      clearTimeout(patience);
      signal?.removeEventListener("abort", abort);
      if (!isEnded) letGo(child, error !== undefined);
      error === undefined ? resolve() : reject(error);
    };
    const abort = () => end(signal?.reason);
    const patience = setTimeout(
      () => end(new Error(`sessionary said nothing for ${quietMs} ms`)),
      quietMs,
    );
    signal?.addEventListener("abort", abort, { once: true });
    child.stdout.on("data", (chunk: Buffer) => {
      if (over) return;
      patience.refresh();
      try {
        let from = 0;
        for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
          pieces.push(chunk.subarray(from, at));
          const line = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
          pieces = [];
          from = at + 1;
          take(line.toString("utf8"));
          if (oneLine) return end();
        }
        if (from < chunk.length) pieces.push(chunk.subarray(from));
      } catch (error) {
        end(error);
      }
    });
    child.stderr.on("data", (chunk: Buffer) => {
      complaint = (complaint + chunk).slice(-2000);
    });
    child.on("error", (error) => end(error, true));
    child.on("close", (code) => {
      const isAnswer = (code === 0 || code === 1) && pieces.length === 0;
      end(
        isAnswer ? undefined : new Error(reason(complaint) || `sessionary ended with ${code}`),
        true,
      );
    });
  });
}

/** What the program says is wrong. Asked for JSON, it says that in JSON, on the last line. */
function reason(complaint: string): string {
  const said = complaint.trim();
  try {
    return JSON.parse(said.slice(said.lastIndexOf("\n") + 1)).error.message ?? said;
  } catch {
    return said;
  }
}

/** Waits for a process no longer. One that has answered may still index what it found. */
function letGo(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
  isToEnd: boolean,
): void {
  if (isToEnd) child.kill();
  child.stdin.destroy();
  child.stdout.destroy();
  child.stderr.destroy();
  child.unref();
}
