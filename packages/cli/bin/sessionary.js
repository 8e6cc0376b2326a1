#!/usr/bin/env node
// Runs the program, which npm has installed as the package for this platform. Programs that run
// sessionary often should run that binary itself: starting Node takes longer than most answers.
const { spawn } = require("node:child_process");
const { isatty } = require("node:tty");

const platform = `@sessionary/cli-${process.platform}-${process.arch}`;
const name = process.platform === "win32" ? "sessionary.exe" : "sessionary";

let program;
try {
  program = require.resolve(`${platform}/bin/${name}`);
} catch {
  console.error(
    `sessionary: ${platform} is not installed. Either npm left optional dependencies out ` +
      "(`npm install --include=optional @sessionary/cli`), or there is no build for this " +
      "platform: `cargo install sessionary` makes one.",
  );
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`sessionary: ${program}: ${error.message}`);
  process.exit(2);
});
const passedOn = ["SIGTERM", "SIGHUP"];
// A terminal sends Ctrl-C to both of us: the program decides what it means. Whoever starts us
// without one sends it to us alone. (`process.stdin` would change what the program reads from.)
if (isatty(0)) process.on("SIGINT", () => {});
else passedOn.push("SIGINT");
for (const signal of passedOn) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  // Whoever waits for us sees the same end.
  for (const one of ["SIGINT", ...passedOn]) process.removeAllListeners(one);
  process.kill(process.pid, signal);
});
