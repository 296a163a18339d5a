"""Ready-made pairs: two runs that differ in one thing, made in one press."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st

from core.decoding.errors import DecodingError, ModelError, PromptError
from core.language import N_, tr
from pages.ui import platform
from pages.ui.compare import controls, elsewhere, state
from pages.ui.compare.pair_requests import (
    Requests,
    both_models,
    cache_on_off,
    greedy_and_beam,
    number_types,
    speculation_off_on,
    template_off_on,
    two_temperatures,
)
from pages.ui.compare.state import LEFT, RIGHT, SLOTS, PairView, SessionRun
from pages.ui.decode.methods.strategies import STRATEGIES
from pages.ui.platform import slot
from pages.ui.platform.slot import Slot
from pages.ui.resources import models
from pages.ui.run import address, cost, jobs, named_run
from pages.ui.run.display import bar
from pages.ui.run.request import Request
from pages.ui.widgets.controls import link
from pages.ui.widgets.controls.control import Read, in_words, value

# In the address: the ready-made pair of a link.
PAIR = "pair"
# Number type in which a GGUF file is computed, and its original with it.
_COMMON_TYPE = "float32"
_PRESS_AGAIN = N_("This link compares a GGUF file with its original: press that pair to run both.")


class ReadyPair(NamedTuple):
    """A ready-made pair: its label, its help, and its two requests for the controls of side A.

    Args:
        method: method of side A's controls, for a pair that needs this one; empty for any.
        needs: returns why it can't be made with a model; empty if it can.
    """

    label: str
    help: str
    make: Callable[[Request], Requests]
    needs: Callable[[str], str] = lambda _: ""
    method: str = ""

    def requests(self, read: Read) -> Requests:
        """Return both requests for the controls of the current slot.

        Raises:
            DecodingError: the controls describe no run, or the prompt is empty.
        """
        base = controls.RUN_CONTROLS.request(
            lambda key: self.method if self.method and key == "method" else read(key)
        )
        if not base.prompt.strip():
            raise PromptError(bar.empty_prompt())
        return self.make(replace(base, given=()))


def _server(base: Request) -> Requests:
    here, server = elsewhere.here_and_server(base.model)
    return replace(base, model=here), replace(base, model=server)


def _gguf(base: Request) -> Requests:
    """Return both requests, once the original of the file is known."""
    found = PairView.current().original
    if found is None or found.name != elsewhere.first_gguf(base.model)[0]:
        raise ModelError(_PRESS_AGAIN)
    file, original = (
        replace(base, model=name, dtype=_COMMON_TYPE) for name in (found.name, found.where)
    )
    return file, original


PAIRS = {
    "temperatures": ReadyPair(
        N_("Two temperatures"),
        N_("Temperature 1 and 0.5 on the same dice."),
        two_temperatures,
        method="sampling",
    ),
    "models": ReadyPair(
        N_("Target and draft"),
        N_("The same settings and dice on both embedded models."),
        both_models,
    ),
    "beam": ReadyPair(
        N_("Greedy and beam"), N_("Greedy decoding and a beam search of width 4."), greedy_and_beam
    ),
    "template": ReadyPair(
        N_("Template off and on"),
        N_("The prompt as it is, and in the model's chat template."),
        template_off_on,
        lambda model: (
            tr("This model has no chat template.")
            if models.has_chat_template(model) is False
            else ""
        ),
    ),
    "cache": ReadyPair(
        N_("Cache on and off"),
        N_("With the KV cache, and with the whole text at every step."),
        cache_on_off,
    ),
    "dtype": ReadyPair(
        N_("float32 and bfloat16"),
        N_("The same run with weights of two number types."),
        number_types,
        lambda model: tr("A server has one number type.") if models.is_on_server(model) else "",
    ),
    "server": ReadyPair(
        N_("Here and on a server"),
        N_(
            "The same request to the model on this machine, and to one behind an "
            "OpenAI-style API: a server that was used lately, else this app’s own "
            "endpoint."
        ),
        _server,
    ),
    "gguf": ReadyPair(
        N_("A GGUF and what it was made from"),
        N_(
            "The same request to a GGUF file and to the model that it was made from, "
            "both computed in float32: they differ by the quantization alone."
        ),
        _gguf,
    ),
    "speculation": ReadyPair(
        N_("Speculation off and on"),
        N_("Greedy decoding, and the same with a draft model: the tokens must be the same."),
        speculation_off_on,
        lambda model: (
            ""
            if models.may_have_embedded_tokens(model)
            else tr("The embedded draft has other tokens than this model.")
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
                tr(ready.label),
                key=platform.key(f"pair_{name}"),
                help=needs or tr(ready.help),
                disabled=bool(needs),
                on_click=partial(_press, ready),
            )
        st.button(
            tr("Example"),
            key=platform.key("pair_example"),
            help=tr("The two stored runs that the page opens with."),
            on_click=_show_example,
        )
        if PairView.current().active("original"):
            st.text(tr("Looking for the original…"), width="content")


def _press(ready: ReadyPair) -> None:
    if ready.make is _gguf:
        _find_original()
    else:
        _start(ready, value)
    st.rerun()


def _find_original() -> None:
    """Start to look for the model that the GGUF file of side A was made from."""
    pair = PairView.current()
    pair.original = None
    pair.drop("original")
    try:
        with slot.use(SLOTS[0]):
            name, file = elsewhere.first_gguf(str(value("model")))
    except DecodingError as error:
        _refuse(error)
        return
    pair.begin("original", elsewhere.find_original(name, file))


@platform.critical()
def run_found() -> None:
    """Run a GGUF file and its original as soon as that is known, before the page is drawn."""
    pair = PairView.current()
    if error := pair.failures.pop("original", ""):
        _refuse(elsewhere.NeedsModelError(error, RIGHT))
        st.rerun()
    if not pair.found or pair.original is None:
        return
    pair.found = False
    if pair.original.at_hand:
        _start(PAIRS["gguf"], value)
    else:
        _start(PAIRS["gguf"], value, SLOTS[:1])
        _refuse(elsewhere.to_download(pair.original))
        st.rerun()


def _refuse(error: DecodingError) -> None:
    """Say why a pair isn't made, at the set-up of the side that lacks a model."""
    prefix = getattr(error, "side", LEFT)
    for place, side in zip(SLOTS, state.sides(), strict=True):
        is_its = place.prefix == prefix
        side.failure = in_words(error) if is_its else ""
        if is_its and isinstance(error, elsewhere.NeedsModelError):
            with slot.use(place):
                controls.open_setup()


def _start(ready: ReadyPair, read: Read, begun: Sequence[Slot] = SLOTS) -> None:
    """Set the controls of both sides to the pair, and start the runs of the slots in `begun`."""
    try:
        requests = _requests(ready, read)
    except DecodingError as error:
        _refuse(error)
        return
    for place, side, request in zip(SLOTS, state.sides(), requests, strict=True):
        with slot.use(place):
            side.drop("decode")
            side.failure = ""
            controls.load_request(request)
            if place in begun:
                side.begin("decode", jobs.decode(request))
                side.request = request


def _requests(ready: ReadyPair, read: Read) -> Requests:
    with slot.use(SLOTS[0]):
        return ready.requests(read)


def _show_example() -> None:
    """Show the two stored runs at their first difference."""
    PairView.current().shown = ()
    address.write(PAIR, None)
    for place, side in zip(SLOTS, state.sides(), strict=True):
        with slot.use(place):
            example = side.load_example()
            if example is not None:
                state.put(side, SessionRun(tr("Example"), example, None, "example"))


def linked() -> str:
    """Return the name of the pair that both sides show or make and that only its name can link, as
    a side's controls don't reach its settings; empty for any other two runs.
    """
    asked = tuple(side.request for side in state.sides())
    requests = [request for request in asked if request is not None]
    methods = {request.config.method for request in requests}
    if methods <= STRATEGIES.keys() and not any(request.dtype for request in requests):
        return ""
    for name, ready in PAIRS.items():
        with suppress(DecodingError):
            if asked == _requests(ready, value):
                return name
    return ""


@platform.critical()
def begin_restoring() -> None:
    """Start the pair that a link names, before anything of the page is drawn.

    As for the run of a link, its models must be built in, and much work waits for a press.
    """
    ready = PAIRS.get(st.query_params.get(PAIR, ""))
    both = state.sides()
    if ready is None or all(side.restored for side in both):
        return
    for side in both:
        side.restored = True
    try:
        requests = _requests(ready, link.opened_with)
    except DecodingError as error:
        both[0].failure = in_words(error)
        return
    tokens = sum(cost.tokens_of(request.config) for request in requests)
    if not all(models.is_embedded(name) for request in requests for name in request.models):
        unknown = (models.unknown(name) for request in requests for name in request.models)
        both[0].failure = next(filter(None, unknown), named_run.NEEDS_RUN)
    elif awaits_press := cost.awaited(tokens, ready.label):
        both[0].failure = awaits_press
    else:
        _start(ready, link.opened_with)


def write_address() -> None:
    """Let the address name the pair where only its name can link it."""
    if any(side.request is not None for side in state.sides()):
        address.write(PAIR, linked() or None)
