"""`python -m pages.ui.home.example FILE`: make the stored runs of Home."""

from __future__ import annotations

import argparse
import logging
import sys

from core.decoding.errors import DecodingError
from core.decoding.files import unwritable, write_file
from core.decoding.record.trace import Trace
from core.traces.many_file import many_jsonl
from pages.ui.home.controls import requests
from pages.ui.widgets.controls.control import row_of


def make_example() -> list[Trace]:
    """Return the runs that Run makes with the controls' defaults."""
    from core import load_model
    from core.decoding.many.methods import send_methods

    asked = requests(lambda key: row_of(key).default)
    model = load_model(asked[0].model)
    draft = load_model(next(request.draft for request in asked if request.draft))
    made: dict[int, Trace] = {}
    # The first forward passes of a process are slow: the second round is stored.
    for _ in range(2):
        send_methods(
            model,
            asked[0].prompt,
            [request.config for request in asked],
            draft=draft,
            on_trace=made.__setitem__,
        )
    return list(made.values())


def main() -> int:
    """Write the stored runs of Home; return 2 on failure."""
    logging.disable(logging.WARNING)  # Streamlit warns that no page runs.
    name = "python -m pages.ui.home.example"
    parser = argparse.ArgumentParser(prog=name, description=main.__doc__)
    parser.add_argument("file", help="where to write them, a trace a line")
    args = parser.parse_args()
    try:
        write_file(args.file, many_jsonl(make_example()))
    except (DecodingError, OSError) as error:
        sentence = unwritable(args.file, error) if isinstance(error, OSError) else error
        print(f"{name}: {sentence}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
