"""Differences of two runs in words: their models, prompts and settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from core.decoding.comparison.parting import draws, setting_differences
from core.decoding.record.trace import Trace
from core.decoding.shaping.config import PENALTIES, SETTINGS
from core.decoding.validation import shortened

_LONGEST = 60


class NamedDifference(NamedTuple):
    """What differs, and its value in each run; plain text."""

    name: str
    left: str
    right: str


def differences(left: Trace, right: Trace) -> Iterator[NamedDifference]:
    """Yield what differs in models, prompts and settings, what the models read first."""
    rows: list[tuple[str, Any, Any]] = [
        ("model", left.model_id, right.model_id),
        ("version of the model", left.model_revision, right.model_revision),
        ("number type", left.dtype, right.dtype),
        ("draft model", left.draft_id, right.draft_id),
        ("prompt", left.prompt, right.prompt),
    ]
    if left.prompt == right.prompt:
        rows += [
            ("text that the model reads", left.rendered_prompt, right.rendered_prompt),
            ("tokens of the prompt", len(left.prompt_ids), len(right.prompt_ids)),
        ]
    yield from (_named(*row) for row in rows if row[1] != row[2])
    greedy = not any(draws(run.config) for run in (left, right))
    for name, one, other in setting_differences(left.config, right.config):
        if name in SETTINGS and name not in PENALTIES and greedy:
            continue  # It changes no token of either run.
        words = SETTINGS[name].name if name in SETTINGS else name.replace("_", " ")
        yield _named(words, one, other)


def differences_words(left: Trace, right: Trace) -> str:
    """Return the differences of two runs in one sentence."""
    found = [f"{name} ({one} | {other})" for name, one, other in differences(left, right)]
    if not found:
        return "Model, prompt and settings are the same."
    return f"They differ in {', '.join(found)}."


def _named(name: str, left: Any, right: Any) -> NamedDifference:
    return NamedDifference(name, _shown(left), _shown(right))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    return shortened(str(value), _LONGEST) or "none"
