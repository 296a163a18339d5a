"""Texts of the lab's figures: short stage names, captions, values of knobs."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

from ...decoding.autoregressive.config import Sampling
from ...decoding.counting import nth
from ...decoding.lab.types import Continuations, LabStep
from ...decoding.methods import choice_words
from ...decoding.shaping.config import SETTINGS
from ...language import tr
from ..base.labels import (
    plain_name,
    setting_words,
    settings_caption,
    shaping_value,
    stage_name,
    with_prompt,
)
from ..base.paper import SCREEN, Paper


def short_name(stage: str) -> str:
    """Return a stage's name in at most eleven letters; plain text."""
    name = tr(SETTINGS[stage].label).lower() if stage in SETTINGS else stage_name(stage)
    return name[:11]


def number(value: float) -> str:
    """Return a knob's value: a whole number in full, others with at most four significant
    digits.
    """
    return f"{value:.0f}" if value == int(value) else _plain(f"{value:.4g}")


def _plain(text: str) -> str:
    """Return a number without an exponent, unless only zeros would remain."""
    return f"{Decimal(text):f}" if abs(float(text)) >= 1e-7 else text


def number_within(edge: float, low: float, high: float, digits: int = 4) -> str:
    """Return an interval's end as `number`, rounded towards the inside, with more digits if
    needed.
    """
    if edge == int(edge):
        return number(edge)
    for more in range(digits, 17):
        unit = 10.0 ** (math.floor(math.log10(abs(edge))) - more + 1)
        texts = (f"{near:.{more}g}" for near in (edge, edge - unit, edge + unit))
        inside = next((text for text in texts if low <= float(text) <= high), None)
        if inside is not None:
            return _plain(inside)
    return _plain(repr(edge))


def setting(stage: str, lab: LabStep) -> str:
    """Return a stage's value; empty without one. Plain text."""
    value = getattr(lab.config.shaping, stage, None)
    if value is None or isinstance(value, int | float):
        return "" if value is None else number(value)
    return shaping_value(stage, value)


def lab_caption(lab: LabStep, paper: Paper = SCREEN) -> str:
    """Return the origin of a lab step: model, settings, order, seed and draw number; plain text.

    Settings that the order's library lacks are left out.
    """
    off = {name: SETTINGS[name].off for name in lab.skipped}
    made = replace(
        lab.trace, config=replace(lab.config, shaping=replace(lab.config.shaping, **off))
    )
    roll = tr("roll {roll}", roll=nth(lab.throw))
    order = tr("order of {library}", library=lab.order.label)
    return " · ".join((settings_caption(made, paper), roll, order))


def continuations_caption(grown: Continuations, paper: Paper = SCREEN) -> str:
    """Return the settings of several continuations; plain text."""
    config = grown.config
    seeds = [row.seed for row in grown.sampled if row.seed is not None]
    span = (
        tr("seeds {first} to {last}, each from roll 1", first=seeds[0], last=seeds[-1])
        if len(seeds) > 1
        else tr("seed {seed}, from roll 1", seed=config.seed)
    )
    shaping = config.shaping
    parts = [
        plain_name(grown.model_id, 80),
        tr("sampling"),
        *[setting_words(name, shaping) for name in shaping.active(SETTINGS)],
    ]
    if config.draw != Sampling().draw:
        parts.append(tr("draw {method}", method=choice_words("draw", config.draw)))
    most = tr("{tokens} tokens at most", tokens=config.max_new_tokens)
    caption = " · ".join([*parts, most, span])
    return with_prompt(caption, grown.text_before, paper)
