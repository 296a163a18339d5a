"""Folders of the distribution, and its dependencies from the requirements files.

`requirements.txt` begins with the library's packages; a line `# [NAME]` begins those of an extra.
The versions there are the tested ones: an environment of the user's may have newer ones of the
same major version, but for the extra `app`, which relies on Streamlit's internals.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

NAME = "decoding_explorer"
APP = f"{NAME}.app"
FOLDERS = {NAME: "core", APP: ".", f"{APP}.core": "deploy/core", f"{APP}.pages": "pages"}


class BuildPy(build_py):
    """Of the repository's own folder, build `app.py` alone."""

    def find_package_modules(self, package, package_dir):
        modules = super().find_package_modules(package, package_dir)
        return [module for module in modules if package != APP or module[1] == "app"]


def packages() -> list[str]:
    below = {NAME: "core", f"{APP}.pages": "pages"}
    inner = [f"{name}.{found}" for name, folder in below.items() for found in find_packages(folder)]
    return [*FOLDERS, *inner]


def pins(file: str) -> dict[str, list[str]]:
    """Return the pinned packages of a file by their section; the first section is empty."""
    sections, section = defaultdict(list), ""
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        if title := re.fullmatch(r"# \[(\w+)\]", line):
            section = title[1]
        elif "==" in line and not line.startswith("#"):
            sections[section].append(line.strip())
    return sections


def from_tested(pin: str) -> str:
    """Return a package from its pinned version to the end of that major version."""
    name, version = pin.split("==")
    return f"{name}>={version},<{int(version.split('.')[0]) + 1}"


def extras(sections: dict[str, list[str]]) -> dict[str, list[str]]:
    own = {name: [from_tested(pin) for pin in lines] for name, lines in sections.items() if name}
    # The app uses all other sections too.
    own["app"] = [*sections["app"], *(pin for name in own if name != "app" for pin in own[name])]
    for name in ("figures", "ray"):
        more = [from_tested(pin) for pin in pins(f"requirements-{name}.txt")[""]]
        own[name] = [*own.get(name, []), *more]
    return own


SECTIONS = pins("requirements.txt")
setup(
    packages=packages(),
    package_dir=FOLDERS,
    package_data={
        "": ["py.typed", "*.pyi", "*.typ", "*.js", "*.css", "*.html"],
        APP: [
            ".streamlit/config.toml",
            "requirements-smollm2.txt",
            "assets/**/*",
            "training/evaluation/questions/*.txt",
        ],
    },
    include_package_data=False,
    install_requires=[from_tested(pin) for pin in SECTIONS[""]],
    extras_require=extras(SECTIONS),
    cmdclass={"build_py": BuildPy},
)
