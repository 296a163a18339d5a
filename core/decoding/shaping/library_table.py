"""Table of samplers and libraries, as `docs/samplers.md` holds it; torch-free.

`python -m core.decoding.shaping.library_table > docs/samplers.md` writes the page.
"""

from __future__ import annotations

from ...language import N_
from .config import LISTED, SETTINGS, TABLED, parts_of
from .orders import ORDERS

_INTRODUCTION = """# Samplers

The Sampling lab, Decode, the command line and trace files have {count} samplers and the constraint.
Guidance, DoLa and contrastive decoding need a second forward at each step, so the lab, which holds
one step, lacks them. A number is the sampler's place in the order of the library; a dash means that
the library lacks it. Runs use transformers' order, with the others between them. A proof with the
model runs every sampler again; tests compare each with the code that its source names where it can
be run (transformers' classes, llama.cpp's functions), else with its formula in plain Python.
"""


def library_table() -> list[list[str]]:
    """Return the rows of the table, the head first."""
    orders = list(ORDERS.values())
    rows = [[N_("sampler"), *(order.label for order in orders), N_("why not in all")]]
    for name in TABLED:
        places = [str(o.own.index(name) + 1) if name in o.own else "–" for o in orders]
        rows.append([_label(name), *places, SETTINGS[name].absent])
    return rows


def _label(name: str) -> str:
    """Return a sampler's name with its fields, as the command line and files name them."""
    fields = ", ".join(f"`{field}`" for field in (name, *parts_of(name)))
    return f"{SETTINGS[name].name} ({fields})"


def document() -> str:
    """Return the page as Markdown."""
    sources = [["sampler", "source of formula and ties", "effect"]]
    sources += [[SETTINGS[n].name, SETTINGS[n].source, SETTINGS[n].help] for n in TABLED]
    orders = [["library", "order read in", "note", "a sampler that it lacks"]]
    orders += [[o.label, o.source, o.note, o.otherwise] for o in ORDERS.values()]
    parts = [
        _INTRODUCTION.format(count=len(LISTED)),
        _markdown(library_table()),
        "## Sources\n",
        _markdown(sources),
        "## Libraries\n",
        _markdown(orders),
    ]
    return "\n".join(parts)


def _markdown(rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(row)} |\n" for row in rows]
    return "".join([lines[0], "|---" * len(rows[0]), "|\n", *lines[1:]])


if __name__ == "__main__":
    print(document(), end="")
