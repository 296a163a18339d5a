"""Ready-made pairs: two runs that differ in one thing, made in one press."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeAlias

import streamlit as st

from core.decoding.autoregressive.config import Greedy, Sampling
from core.decoding.beam.config import BeamSearch
from core.decoding.config import MethodConfig
from core.decoding.errors import DecodingError
from core.decoding.shaping.config import Shaping
from core.decoding.speculative.config import Speculative
from pages.ui import platform
from pages.ui.compare import controls, state
from pages.ui.compare.state import SLOTS
from pages.ui.platform import slot
from pages.ui.resources import models
from pages.ui.run import jobs
from pages.ui.run.request import Request
from pages.ui.widgets.controls.control import in_words, value

_TARGET, _DRAFT = models.DEFAULT_MODEL, "embedded:draft"
Requests: TypeAlias = tuple[Request, Request]


class ReadyPair(NamedTuple):
    """A ready-made pair: its label, its help, and its two requests for the controls of side A.

    Args:
        needs: returns why it can't be made with a model; empty if it can.
    """

    label: str
    help: str
    make: Callable[[Request], Requests]
    needs: Callable[[str], str] = lambda _: ""


def _with(base: Request, config: MethodConfig, **changes: object) -> Request:
    return replace(base, config=config, **changes)  # type: ignore[arg-type]


def _greedy(base: Request) -> Greedy:
    config = base.config
    return Greedy(max_new_tokens=config.max_new_tokens, stop_strings=config.stop_strings)


def _temperatures(base: Request) -> Requests:
    config = base.config if isinstance(base.config, Sampling) else Sampling()
    hot = replace(config.shaping, temperature=1.0)
    cold = replace(config.shaping, temperature=0.5)
    return _with(base, replace(config, shaping=hot)), _with(base, replace(config, shaping=cold))


def _models(base: Request) -> Requests:
    return replace(base, model=_TARGET), replace(base, model=_DRAFT)


def _beam(base: Request) -> Requests:
    greedy = _greedy(base)
    search = BeamSearch(
        num_beams=4, max_new_tokens=greedy.max_new_tokens, stop_strings=greedy.stop_strings
    )
    return _with(base, greedy), _with(base, search)


def _template(base: Request) -> Requests:
    return replace(base, chat=False, system=""), replace(base, chat=True)


def _cache(base: Request) -> Requests:
    on, off = (replace(base.config, use_cache=use) for use in (True, False))
    return _with(base, on), _with(base, off)


def _speculation(base: Request) -> Requests:
    greedy = _greedy(base)
    speculative = Speculative(
        max_new_tokens=greedy.max_new_tokens,
        stop_strings=greedy.stop_strings,
        shaping=Shaping(temperature=0.0),
    )
    return _with(base, greedy), _with(base, speculative, draft=_DRAFT)


PAIRS = {
    "temperatures": ReadyPair(
        "Two temperatures",
        "Temperature 1 and 0.5 on the same dice.",
        _temperatures,
    ),
    "models": ReadyPair(
        "Target and draft", "The same settings and dice on both embedded models.", _models
    ),
    "beam": ReadyPair("Greedy and beam", "Greedy decoding and a beam search of width 4.", _beam),
    "template": ReadyPair(
        "Template off and on",
        "The prompt as it is, and in the model's chat template.",
        _template,
        lambda model: (
            "This model has no chat template." if models.has_chat_template(model) is False else ""
        ),
    ),
    "cache": ReadyPair(
        "Cache on and off", "With the KV cache, and with the whole text at every step.", _cache
    ),
    "speculation": ReadyPair(
        "Speculation off and on",
        "Greedy decoding, and the same with a draft model: the tokens must be the same.",
        _speculation,
        lambda model: (
            ""
            if models.may_have_embedded_tokens(model)
            else "The embedded draft has other tokens than this model."
        ),
    ),
}


def draw() -> None:
    """Draw a button for each pair; side A's controls give all that the pair leaves open."""
    with slot.use(SLOTS[0]):
        model = str(value("model"))
    with st.container(
        key=platform.key("ready-pairs"), horizontal=True, vertical_alignment="center", gap="small"
    ):
        for name, ready in PAIRS.items():
            needs = ready.needs(model)
            st.button(
                ready.label,
                key=platform.key(f"pair_{name}"),
                help=needs or ready.help,
                disabled=bool(needs),
                on_click=partial(_start, ready),
            )


def _start(ready: ReadyPair) -> None:
    """Start both runs, and set the controls of both sides to them."""
    left = state.sides()[0]
    try:
        with slot.use(SLOTS[0]):
            base = replace(controls.RUN_CONTROLS.request(value), given=())
    except DecodingError as error:
        left.failure = in_words(error)
        return
    for place, side, request in zip(SLOTS, state.sides(), ready.make(base), strict=True):
        with slot.use(place):
            side.drop("decode")
            side.failure = ""
            controls.load_request(request)
            side.begin("decode", jobs.decode(request))
            side.request = request
    st.rerun()
