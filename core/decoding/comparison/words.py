"""Differences of two runs in words: their models, prompts and settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...language import N_, Message
from ..by_engine.told import told_of
from ..counting import listed
from ..record.trace import Trace
from ..shaping.config import PENALTIES, SETTINGS
from .parting import draws, setting_differences
from .reasons import number_type
from .types import SettingDifference


class NamedDifference(NamedTuple):
    """A difference of two runs: its name, and its value in each run; plain text."""

    name: str
    left: str
    right: str


def differences(left: Trace, right: Trace) -> Iterator[NamedDifference]:
    """Yield what differs in models, prompts and settings, what the models read first."""
    rows: list[tuple[str, Any, Any]] = [
        (N_("model"), left.model_id, right.model_id),
        (N_("version of the model"), left.model_revision, right.model_revision),
        (N_("number type"), number_type(left), number_type(right)),
        (N_("draft model"), left.draft_id, right.draft_id),
        (N_("prompt"), left.prompt, right.prompt),
    ]
    if left.prompt == right.prompt:
        rows += [
            (N_("text that the model reads"), left.rendered_prompt, right.rendered_prompt),
            (N_("tokens of the prompt"), len(left.prompt_ids), len(right.prompt_ids)),
        ]
    yield from (_named(SettingDifference(*row)) for row in rows if row[1] != row[2])
    told = _told(left), _told(right)
    if told[0] != told[1]:
        yield NamedDifference(N_("the server's speculation"), *told)
    greedy = not any(draws(run.config) for run in (left, right))
    for difference in setting_differences(left.config, right.config):
        name = difference.name
        if name not in SETTINGS or name in PENALTIES or not greedy:
            yield _named(difference)  # Any other one changes no token of either run.


def differences_words(left: Trace, right: Trace) -> Message:
    """Return the differences of two runs in one sentence."""
    named = [
        Message("{name} ({left} | {right})", name=Message(name), left=one, right=other)
        for name, one, other in differences(left, right)
    ]
    if not named:
        return Message("Model, prompt and settings are the same.")
    return Message("They differ in {differences}.", differences=listed(named))


def _told(trace: Trace) -> str:
    told = told_of(trace.method_record)
    return Message("none told") if told is None else told.words


def _named(difference: SettingDifference) -> NamedDifference:
    return NamedDifference(difference.words, *difference.shown)
