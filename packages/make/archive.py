"""What is in the archive that people download, and in which order?"""

import gzip
import io
import subprocess
import tarfile
import zipfile

COMPLETIONS = {
    "bash": "sessionary.bash",
    "zsh": "_sessionary",
    "fish": "sessionary.fish",
    "powershell": "sessionary.ps1",
    "elvish": "sessionary.elv",
}
# No file is younger than the oldest time that a zip can hold: the same input gives the same bytes.
TIME = 315532800  # 1980-01-01T00:00:00Z
ZIP_TIME = (1980, 1, 1, 0, 0, 0)


def texts(runs, folder):
    """Completions and manual pages, as the program that runs here prints them."""
    made = {}
    for shell, name in COMPLETIONS.items():
        printed = subprocess.run([runs, "completions", shell], check=True, capture_output=True)
        made[f"completions/{name}"] = printed.stdout
    subprocess.run([runs, "man", "--to", folder], check=True, capture_output=True)
    for page in sorted(folder.iterdir()):
        made[f"man/{page.name}"] = page.read_bytes()
    return made


def documents(repository):
    """What a reader of the README follows its links to."""
    names = ["README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE-APACHE", "LICENSE-MIT"]
    files = [repository / name for name in names]
    files += [path for path in (repository / "docs").rglob("*") if path.is_file()]
    return {path.relative_to(repository).as_posix(): path.read_bytes() for path in files}


def about_team(repository):
    """What the archive of `sessionary-team` holds beside it."""
    names = ["docs/team.md", "SECURITY.md", "LICENSE-APACHE", "LICENSE-MIT"]
    return {name: (repository / name).read_bytes() for name in names}


def write(out, name, files, program, binary):
    """The .tar.gz, for Windows the .zip, with one folder inside."""
    held = {**files, program: binary.read_bytes()}
    members = [(f"{name}/{path}", held[path], path == program) for path in sorted(held)]
    if program.endswith(".exe"):
        path = out / f"{name}.zip"
        with zipfile.ZipFile(path, "w") as made:
            for member in members:
                add_to_zip(made, *member)
        return path
    path = out / f"{name}.tar.gz"
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 6, file, TIME) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as made:
            for member, data, runs in members:
                about = tarfile.TarInfo(member)
                about.size, about.mtime, about.mode = len(data), TIME, 0o755 if runs else 0o644
                made.addfile(about, io.BytesIO(data))
    return path


def add_to_zip(made, name, data, runs=False):
    about = zipfile.ZipInfo(name, ZIP_TIME)
    about.compress_type = zipfile.ZIP_DEFLATED
    about.create_system = 3  # Unix, so that the mode counts
    about.external_attr = (0o100755 if runs else 0o100644) << 16
    made.writestr(about, data, compresslevel=6)
