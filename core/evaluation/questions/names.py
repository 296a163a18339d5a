"""Names of question and problem sets in the reader's language.

A file holds the name in English, as it was made.
"""

from __future__ import annotations

import re

from ...language import N_, Message

_NAMES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), template)
    for pattern, template in (
        (
            r"stopped after (?P<done>\d+) of (?P<total>\d+), (?P<name>.+)",
            N_("stopped after {done} of {total}, {name}"),
        ),
        (r"(?P<name>.+), (?P<count>\d+) of (?P<total>\d+)", N_("{name}, {count} of {total}")),
        (
            r"chains of (?P<steps>[\d,]+) steps, seed (?P<seed>\d+)",
            N_("chains of {steps} steps, seed {seed}"),
        ),
        (r"hard sums, seed (?P<seed>\d+)", N_("hard sums, seed {seed}")),
        (
            r"(?P<count>\d+) held-out chains of (?P<low>\d+) to (?P<high>\d+) sums · "
            r"(?P<positions>\d+) positions in one block",
            N_(
                "{count} held-out chains of {low} to {high} sums · {positions} positions in one "
                "block"
            ),
        ),
        (r"own:facts", N_("own facts")),
        (r"own:sums", N_("own sums")),
        (r"own:lists", N_("own lists")),
        (r"own:mixed", N_("own facts, sums and lists")),
        (r"problems from a file", N_("problems from a file")),
        (r"questions of a file", N_("questions of a file")),
    )
)


def set_words(name: str) -> str:
    """Return a set's name as a declared text; another name, such as that of a user's file, as it
    is.
    """
    for pattern, template in _NAMES:
        if match := pattern.fullmatch(name):
            values = match.groupdict()
            if "name" in values:
                values["name"] = set_words(values["name"])
            return Message(template, **values) if values else Message(template)
    return name
