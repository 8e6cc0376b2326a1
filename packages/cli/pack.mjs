// Makes the npm packages of built binaries:
//   node packages/cli/pack.mjs OUT linux-x64=target/dist/sessionary [darwin-arm64=FILE ...]
// OUT gets a .tgz for the launcher, for each platform that is given, and for the pi package, all of
// the version in Cargo.toml. A platform that is not given is one that npm does not find and leaves
// out. PLATFORM:team=BINARY is a build of `sessionary-team`, a package that people install for
// themselves.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const packages = dirname(dirname(fileURLToPath(import.meta.url)));
const repository = dirname(packages);
const [out, ...builds] = process.argv.slice(2);
const launcher = JSON.parse(readFileSync(join(packages, "cli/package.json"), "utf8"));
const prefix = `${launcher.name}-`;
const platforms = Object.keys(launcher.optionalDependencies).map((name) =>
  name.slice(prefix.length),
);

function fail(why) {
  console.error(
    `pack: ${why}\nusage: node pack.mjs OUT PLATFORM=BINARY...; platforms: ${platforms.join(", ")}`,
  );
  process.exit(2);
}

if (!out || builds.length === 0) fail("nothing to pack");
const binaries = builds.map((build) => {
  const at = build.indexOf("=");
  const [named, binary] = [build.slice(0, at), build.slice(at + 1)];
  const [platform, which] = named.split(":");
  if (!platforms.includes(platform) || ![undefined, "team"].includes(which))
    fail(`${build}: no such platform`);
  return { platform, which, binary: resolve(binary) };
});

const cargo = readFileSync(join(repository, "Cargo.toml"), "utf8");
const version = /^version = "([^"]+)"/m.exec(cargo)?.[1] ?? fail("Cargo.toml has no version");
for (const file of ["cli/package.json", "pi/package.json"]) {
  const own = JSON.parse(readFileSync(join(packages, file), "utf8"));
  const all = [
    own.version,
    ...Object.values(own.optionalDependencies ?? {}),
    own.dependencies?.[launcher.name],
  ];
  for (const one of all.filter(Boolean)) {
    if (one !== version) fail(`packages/${file} says ${one}, and Cargo.toml ${version}`);
  }
}

const target = resolve(out);
mkdirSync(target, { recursive: true });
const made = mkdtempSync(join(tmpdir(), "sessionary-npm-"));
try {
  for (const name of ["cli", "pi"]) pack(copyIn(join(made, name), name));
  for (const { platform, which, binary } of binaries) {
    const folder = join(made, which ?? "", platform);
    pack((which ? teamIn : platformIn)(folder, platform, binary));
  }
} finally {
  rmSync(made, { recursive: true, force: true });
}

/** A package as it stands here, without its tests. */
function copyIn(folder, name) {
  const own = join(packages, name);
  cpSync(own, folder, { recursive: true, filter: (path) => path !== join(own, "test") });
  licences(folder);
  return folder;
}

function platformIn(folder, platform, binary) {
  const { description } = launcher;
  return programIn(folder, { platform, binary, name: prefix + platform, description }, "sessionary");
}

/** No launcher installs it; npm puts the program itself on the PATH. */
function teamIn(folder, platform, binary) {
  const description = "Share the sessions of chosen repositories between machines and people";
  const name = `@sessionary/team-${platform}`;
  return programIn(folder, { platform, binary, name, description }, "sessionary-team", true);
}

function programIn(folder, { platform, binary, name, description }, called, isCommand = false) {
  const [os, cpu] = platform.split("-");
  const file = os === "win32" ? `${called}.exe` : called;
  mkdirSync(join(folder, "bin"), { recursive: true });
  const program = join(folder, "bin", file);
  copyFileSync(binary, program);
  chmodSync(program, 0o755);
  licences(folder);
  const about = {
    name,
    version,
    description: `${description} (${platform})`,
    license: launcher.license,
    ...(isCommand ? { bin: { [called]: `bin/${file}` } } : {}),
    os: [os],
    cpu: [cpu],
    files: ["bin", "LICENSE-*"],
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(about, null, 2)}\n`);
  return folder;
}

function licences(folder) {
  for (const name of ["LICENSE-MIT", "LICENSE-APACHE"])
    copyFileSync(join(repository, name), join(folder, name));
}

function pack(folder) {
  const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", target];
  const name = execFileSync("npm", args, { cwd: folder, encoding: "utf8" }).trim();
  console.log(join(target, name));
}
