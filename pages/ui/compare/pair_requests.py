"""Both requests of a ready-made pair, made from the request of side A's controls."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from core.decoding.autoregressive.config import Greedy
from core.decoding.beam.config import BeamSearch
from core.decoding.config import MethodConfig
from core.decoding.shaping.config import Shaping
from core.decoding.speculative.config import Speculative
from pages.ui.resources import models
from pages.ui.run.request import Request

_TARGET, _DRAFT = models.DEFAULT_MODEL, "embedded:draft"
Requests: TypeAlias = tuple[Request, Request]


def with_config(base: Request, config: MethodConfig, **changes: object) -> Request:
    return replace(base, config=config, **changes)  # type: ignore[arg-type]


def greedy_of(base: Request) -> Greedy:
    config = base.config
    return Greedy(max_new_tokens=config.max_new_tokens, stop_strings=config.stop_strings)


def two_temperatures(base: Request) -> Requests:
    hot, cold = (
        replace(base.config, shaping=replace(base.config.shaping, temperature=temperature))
        for temperature in (1.0, 0.5)
    )
    return with_config(base, hot), with_config(base, cold)


def both_models(base: Request) -> Requests:
    return replace(base, model=_TARGET), replace(base, model=_DRAFT)


def greedy_and_beam(base: Request) -> Requests:
    greedy = greedy_of(base)
    search = BeamSearch(
        num_beams=4, max_new_tokens=greedy.max_new_tokens, stop_strings=greedy.stop_strings
    )
    return with_config(base, greedy), with_config(base, search)


def template_off_on(base: Request) -> Requests:
    return replace(base, chat=False, system=""), replace(base, chat=True)


def cache_on_off(base: Request) -> Requests:
    on, off = (replace(base.config, use_cache=use) for use in (True, False))
    return with_config(base, on), with_config(base, off)


def number_types(base: Request) -> Requests:
    return replace(base, dtype="float32"), replace(base, dtype="bfloat16")


def speculation_off_on(base: Request) -> Requests:
    greedy = greedy_of(base)
    speculative = Speculative(
        max_new_tokens=greedy.max_new_tokens,
        stop_strings=greedy.stop_strings,
        shaping=Shaping(temperature=0.0),
    )
    return with_config(base, greedy), with_config(base, speculative, draft=_DRAFT)
