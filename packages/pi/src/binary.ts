// Where is the program? The one that was installed with this package, else the one on the PATH.
// It is always the platform's binary: npm's launcher would cost a tenth of a second each time.
import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, isAbsolute, join } from "node:path";

const NAME = process.platform === "win32" ? "sessionary.exe" : "sessionary";

/** What a message says where there is none. */
export const MISSING =
  "sessionary is not installed: install @sessionary/cli beside this package, " +
  "or put `sessionary` on the PATH";

let found: string | undefined;

/** The program's path; `undefined`: there is none. $SESSIONARY_BIN names another one. */
export function binary(): string | undefined {
  const named = process.env.SESSIONARY_BIN;
  if (named) return isProgram(named) ? named : undefined;
  // One that was removed meanwhile is looked for again.
  if (found === undefined || !isProgram(found)) found = candidates().find(isProgram);
  return found;
}

function* candidates(): Generator<string> {
  const installed = ofPackage();
  if (installed) yield installed;
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    // A folder of the project could hold anything.
    if (isAbsolute(folder)) yield join(folder, NAME);
  }
}

/** The binary in the package for this platform, which @sessionary/cli depends on. */
function ofPackage(): string | undefined {
  try {
    const launcher = createRequire(import.meta.url).resolve("@sessionary/cli/package.json");
    const platform = `@sessionary/cli-${process.platform}-${process.arch}`;
    return createRequire(launcher).resolve(`${platform}/bin/${NAME}`);
  } catch {
    return undefined;
  }
}

/** Whether it can be run, and is no script: that would be npm's launcher. */
function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    if (!statSync(path).isFile()) return false;
    const file = openSync(path, "r");
    try {
      const start = Buffer.alloc(2);
      return readSync(file, start, 0, 2, 0) === 2 && start.toString("latin1") !== "#!";
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}
