"""The app with pseudo-localisation in place of Japanese: `python -m tests.language.pseudo_app run`
has the arguments of `streamlit run`."""

from __future__ import annotations

import sys

from streamlit.web.cli import main

from core.language import catalogue, message
from tests.language.pseudo import Pseudo


def pseudo(_: str) -> Pseudo:
    """Return the catalogue of every language."""
    return Pseudo()


catalogue.catalogue = message.catalogue = pseudo  # type: ignore[assignment]
if __name__ == "__main__":
    sys.exit(main(prog_name="streamlit"))
