"""Makes every package of programs that are already built:

    python3 packages/make OUT linux-x64=target/x86_64-unknown-linux-gnu/dist/sessionary

OUT gets, for each PLATFORM=PROGRAM, an archive with completions and manual pages, a wheel and an
npm package; npm's launcher and the package for pi; and SHA256SUMS of all. One of the programs must
run here: it prints the completions and the manual pages. PLATFORM:team=PROGRAM is a build of
`sessionary-team`, which goes into packages of its own: who does not share installs none.
"""

import sys

sys.dont_write_bytecode = True  # nothing is left beside these files

import hashlib
import pathlib
import re
import subprocess
import tempfile

import archive
import wheel
from platforms import PLATFORMS

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent


def fail(why):
    sys.exit(f"make: {why}\n\n{__doc__}\nplatforms: {', '.join(PLATFORMS)}")


def runs_here(program):
    """What it says of its version, or nothing where it is another platform's."""
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True)
    except OSError:
        return None
    return said.stdout.partition("\n")[0] if said.returncode == 0 else None


def main():
    if len(sys.argv) < 3:
        fail("nothing to make")
    out = pathlib.Path(sys.argv[1]).resolve()
    programs, teams = {}, {}
    for build in sys.argv[2:]:
        name, _, path = build.partition("=")
        name, _, which = name.partition(":")
        is_known = name in PLATFORMS and which in ("", "team")
        if not is_known or not pathlib.Path(path).is_file():
            fail(f"{build}: no such platform, or no such file")
        (teams if which else programs)[name] = pathlib.Path(path).resolve()

    version = re.search(r'^version = "(.+)"', (REPOSITORY / "Cargo.toml").read_text(), re.M)[1]
    said = {path: runs_here(path) for path in programs.values()}
    runs = next((path for path, one in said.items() if one), None)
    if runs is None:
        fail("none of these programs runs here")
    if said[runs] != f"sessionary {version}":
        fail(f"{runs} says {said[runs]}, and Cargo.toml {version}")

    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        fail(f"{out} holds files already")
    with tempfile.TemporaryDirectory() as folder:
        files = {**archive.documents(REPOSITORY), **archive.texts(runs, pathlib.Path(folder))}
    for name, path in programs.items():
        platform = PLATFORMS[name]
        archive.write(out, f"sessionary-{version}-{name}", files, platform.program, path)
        wheel.write(out, REPOSITORY, version, platform, path)
    for name, path in teams.items():
        platform = PLATFORMS[name].team()
        about = archive.about_team(REPOSITORY)
        archive.write(out, f"sessionary-team-{version}-{name}", about, platform.program, path)
        wheel.write(out, REPOSITORY, version, platform, path)
    npm = ["node", REPOSITORY / "packages/cli/pack.mjs", out]
    subprocess.run(
        [
            *npm,
            *(f"{name}={path}" for name, path in programs.items()),
            *(f"{name}:team={path}" for name, path in teams.items()),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )

    made = sorted(out.iterdir())
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made]
    (out / "SHA256SUMS").write_text("".join(sums))
    for path in [*made, out / "SHA256SUMS"]:
        print(path)


main()
