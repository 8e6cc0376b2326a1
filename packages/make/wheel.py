"""How does pip install a program that is already built? As a file of the wheel's `scripts`."""

import base64
import hashlib
import zipfile

from archive import add_to_zip


def write(out, repository, version, platform, binary):
    """The .whl: the program, the licences, and what the standard asks for about them."""
    name = f"{platform.package.replace('-', '_')}-{version}"
    about = f"{name}.dist-info"
    tags = [f"py3-none-{one}" for one in platform.wheel.split(".")]
    files = {
        f"{name}.data/scripts/{platform.program}": binary.read_bytes(),
        f"{about}/METADATA": metadata(repository, version, platform.package),
        f"{about}/WHEEL": "\n".join(
            ["Wheel-Version: 1.0", "Generator: sessionary", "Root-Is-Purelib: false"]
            + [f"Tag: {tag}" for tag in tags]
            + [""]
        ).encode(),
    }
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"]:
        files[f"{about}/licenses/{licence}"] = (repository / licence).read_bytes()
    record = f"{about}/RECORD"
    lines = [f"{path},sha256={digest(data)},{len(data)}" for path, data in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()

    path = out / f"{name}-py3-none-{platform.wheel}.whl"
    with zipfile.ZipFile(path, "w") as made:
        for member, data in files.items():
            add_to_zip(made, member, data, "/scripts/" in member)
    return path


SUMMARIES = {
    "sessionary": "Find and read back every session you ever had with a coding agent",
    "sessionary-team": "Share the sessions of chosen repositories between machines and people",
}


def metadata(repository, version, package):
    texts = {"sessionary": "packages/make/wheel.md", "sessionary-team": "docs/team.md"}
    description = (repository / texts[package]).read_text()
    return f"""Metadata-Version: 2.4
Name: {package}
Version: {version}
Summary: {SUMMARIES[package]}
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-APACHE
License-File: LICENSE-MIT
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{description}""".encode()


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
