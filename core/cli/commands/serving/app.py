"""Command `app`: serve the pages, as `streamlit run app.py` does in the repository."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from ....decoding.errors import ConfigError
from ....installation import ROOT, require_extra


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "options",
        nargs="*",
        metavar="OPTION",
        help="options of Streamlit, after --, such as: app -- --server.port 8600",
    )


def run(args: Namespace) -> int:
    """Replace this process by Streamlit's.

    There the package is imported as `core`, from the folder of app.py; the working folder is not
    searched, since it may hold modules of the same names.
    """
    require_extra("streamlit", "app", ConfigError)
    sys.stdout.flush()
    command = (sys.executable, "-P", "-m", "streamlit", "run", str(ROOT / "app.py"), *args.options)
    os.execv(sys.executable, command)
