"""Which platforms are there, by npm's names, and what is each called by pip?"""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Platform:
    """What pip calls it, and what the program is called there."""

    wheel: str
    program: str = "sessionary"
    package: str = "sessionary"

    def team(self):
        """The same for the program that shares sessions."""
        program = self.program.replace("sessionary", "sessionary-team")
        return replace(self, program=program, package="sessionary-team")


# The builds for Linux are static: they need no C library, of whatever kind and age.
PLATFORMS = {
    "linux-x64": Platform("manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"),
    "linux-arm64": Platform("manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"),
    "darwin-x64": Platform("macosx_10_12_x86_64"),
    "darwin-arm64": Platform("macosx_11_0_arm64"),
    "win32-x64": Platform("win_amd64", "sessionary.exe"),
}
