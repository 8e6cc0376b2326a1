"""Which platforms are there, and what is each called elsewhere?"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Platform:
    """`target` is Rust's name for it, `wheel` pip's; its key in PLATFORMS is npm's."""

    target: str
    wheel: str
    program: str = "sessionary"


# The builds for Linux are static: they need no C library, so that glibc's age does not matter.
PLATFORMS = {
    "linux-x64": Platform(
        "x86_64-unknown-linux-musl",
        "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    ),
    "linux-arm64": Platform(
        "aarch64-unknown-linux-musl",
        "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    ),
    "darwin-x64": Platform("x86_64-apple-darwin", "macosx_10_12_x86_64"),
    "darwin-arm64": Platform("aarch64-apple-darwin", "macosx_11_0_arm64"),
    "win32-x64": Platform("x86_64-pc-windows-msvc", "win_amd64", "sessionary.exe"),
}
