"""Folders of the project's files, and the command of its user, in the repository and installed.

The wheel holds `core` as `decoding_explorer`, and a copy of the repository's other folders in
`decoding_explorer/app`; there a package `core` stands for it, in the app's own process.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

PACKAGE = Path(str(files(__package__)))
_APP = PACKAGE / "app"
# Folder of app.py, pages and assets.
ROOT = _APP if _APP.is_dir() else PACKAGE.parent
ASSETS = ROOT / "assets"
INSTALLED = __package__ != "core" or ROOT == _APP
COMMAND = "decoding-explorer" if INSTALLED else "python -m core"
# Folder where another process finds the package under the name that it has in this one.
IMPORT_FOLDER = ROOT if __package__ == "core" else PACKAGE.parent


def pip_command(extra: str) -> str:
    """Return the command that installs the packages of an extra."""
    if INSTALLED:
        return f"pip install 'decoding-explorer[{extra}]'"
    own = f"requirements-{extra}.txt"
    return f"pip install -r {own if (ROOT / own).exists() else 'requirements.txt'}"


def require_extra(module: str, extra: str, error: type[Exception]) -> None:
    """Raise an error, with the command that installs an extra, if its module is missing."""
    if find_spec(module) is None:
        # The catalogues' folder follows from this module.
        from .language import Message

        raise error(
            Message(
                "The package {package} isn't installed: {command}.",
                package=module,
                command=pip_command(extra),
            )
        )


def source_name(path: Path) -> str | None:
    """Return the name of a source file in the repository; None for another project's file.

    The package's files are `core/...` under each of its names.
    """
    if path.is_relative_to(PACKAGE) and not path.is_relative_to(_APP):
        return f"core/{path.relative_to(PACKAGE).as_posix()}"
    if path.is_relative_to(ROOT) and "site-packages" not in path.relative_to(ROOT).parts:
        return path.relative_to(ROOT).as_posix()
    return None
