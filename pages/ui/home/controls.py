"""Controls of Home, and the request of each run, as the page of its method makes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.decoding.many.types import ManyRuns
from core.language import N_
from pages.ui import registry
from pages.ui.registry import Page
from pages.ui.resources import models
from pages.ui.run import shared
from pages.ui.run.changed import controls_of
from pages.ui.run.request import Request
from pages.ui.widgets.controls.control import Number, Read, declare, load, row_of, value

DICE = 3
(LENGTH,) = declare(
    Number("home_tokens", N_("New tokens"), 20, 4, 40, short=True,
        help=N_("Every decoder writes at most so many tokens.")),
)  # fmt: skip
_OF_PROMPT = frozenset({"model", "prompt", "chat", "system"})
# The controls that the runs depend on, by key.
BY_KEY = {row.key: row for row in (*shared.RUN_ROWS, LENGTH)}


def load_controls(many: ManyRuns) -> None:
    """Set the controls to the prompt, the length and the first seed of a file's runs."""
    first = many.traces[0]
    seeds = [config.seed for config in (t.config for t in many.traces) if hasattr(config, "seed")]
    values = {**shared.control_values(first), LENGTH.key: LENGTH.fit(first.config.max_new_tokens)}
    load({**values, **({"seed": seeds[0]} if seeds else {})})


def requests(read: Read = value) -> tuple[Request, ...]:
    """Return the requests of greedy decoding, of sampling with each of the dice, of beam search and
    of speculative decoding.

    Each is what Run on its page asks for with this prompt and length and the page's defaults.

    Raises:
        ConfigError: a wrong setting.
    """
    return tuple(
        controls_of(page).request(_reader(page, settings, read)) for page, settings in _runs(read)
    )


def _runs(read: Read) -> Iterator[tuple[Page, Mapping[str, Any]]]:
    """Yield the page of each run, and its controls' values that differ from the defaults."""
    yield registry.DECODE, {"method": "greedy"}
    for at in range(DICE):
        seed = (int(read("seed")) + at) % (shared.MAX_SEED + 1)
        yield registry.DECODE, {"method": "sampling", "seed": seed}
    yield registry.page_of("beam"), {"beam_stop": ""}
    fits = models.may_have_embedded_tokens(shared.model(read))
    draft = {} if fits else {"draft": "prompt_lookup"}
    yield registry.page_of("speculative"), {"temperature": 0.0, **draft}


def _reader(page: Page, settings: Mapping[str, Any], read: Read) -> Read:
    """Return the function that gives the values of a page's controls for a run of Home."""
    length = next(row.key for row in controls_of(page).rows if row.field == "max_new_tokens")
    values = {length: read(LENGTH.key), **settings}

    def value_of(key: str) -> Any:
        if key in _OF_PROMPT:
            return read(key)
        return values[key] if key in values else row_of(key).default

    return value_of
