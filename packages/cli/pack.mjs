// Makes the npm packages of built binaries:
//   node packages/cli/pack.mjs OUT linux-x64=target/dist/sessionary [darwin-arm64=FILE ...]
// OUT gets a .tgz for the launcher, for each platform that is given, and for the pi package, all of
// the version in Cargo.toml. A platform that is not given is one that npm does not find and leaves
// out.
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
  const [platform, binary] = [build.slice(0, at), build.slice(at + 1)];
  if (!platforms.includes(platform)) fail(`${build}: no such platform`);
  return { platform, binary: resolve(binary) };
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
  for (const { platform, binary } of binaries)
    pack(platformIn(join(made, platform), platform, binary));
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
  const [os, cpu] = platform.split("-");
  mkdirSync(join(folder, "bin"), { recursive: true });
  const program = join(folder, "bin", os === "win32" ? "sessionary.exe" : "sessionary");
  copyFileSync(binary, program);
  chmodSync(program, 0o755);
  licences(folder);
  const { description, license } = launcher;
  const about = {
    name: prefix + platform,
    version,
    description: `${description} (${platform})`,
    license,
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
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", target];
  const name = execFileSync(npm, args, { cwd: folder, encoding: "utf8" }).trim();
  console.log(join(target, name));
}
