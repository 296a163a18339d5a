"""Actions on a request: open its run on another page, or send it again with other settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from core.decoding.autoregressive.config import Sampling
from core.decoding.counting import nth
from core.decoding.methods import config_to_dict
from core.decoding.record.trace import Trace
from core.figures.base.labels import visible_token
from core.figures.base.records import candidate_labels
from core.language import N_, Message, tr
from core.models.places import DEFAULT_DRAFT
from core.server.api.answer.parts import AnswerPart
from core.server.api.endpoints import ENDPOINTS
from core.server.api.errors import ApiError
from core.server.api.history import Record
from core.server.api.request import formats, vllm_fields
from pages.ui import registry
from pages.ui.hosting import endpoint
from pages.ui.requests.state import RequestsView
from pages.ui.resources import models
from pages.ui.run import shared
from pages.ui.run.display import go_on
from pages.ui.run.files import save
from pages.ui.widgets.controls import control

# What says how to decode, in any endpoint's body; and what acts on streams only.
_SETTINGS = {
    *("decoding", "temperature", "top_p", "seed", "stop", "logit_bias", "stream", "stream_options"),
    *("reasoning", "reasoning_effort", "logprobs_mode", *vllm_fields.SETTINGS_NAMES),
    *(name for row in ENDPOINTS.values() for name in row.limits),
}
# What any method takes over from the request's own settings.
_SHARED = ("max_new_tokens", "min_new_tokens", "stop_strings")
_TEMPERATURES = {"cool": 0.3, "hot": 1.5}
_WORDS = {
    "greedy": N_("Greedy"),
    "beam": N_("Beam search, 4 beams"),
    "embedded_draft": N_("Speculative, the embedded draft"),
    "prompt_lookup": N_("Speculative, prompt lookup"),
    **{name: Message("Temperature {heat:g}", heat=heat) for name, heat in _TEMPERATURES.items()},
}


def send(view: RequestsView, kind: Any, body: Mapping[str, Any], beside: str = "") -> None:
    """Send a request from the page, through the same door as a client's, and look at it.

    Raises:
        ApiError: what is wrong with it, or no room for it.
    """
    from core.server.api.submit import recorded, submit

    if view.owner is None:
        raise ApiError(Message("Type your key first."), status=401)
    service = endpoint.service()
    owner = view.owner
    accepted = recorded(service, owner, partial(submit, service, kind, body, owner))
    accepted.start(service, _nobody_reads).leave()
    view.choose(accepted.record.id, beside)


def _nobody_reads(part: AnswerPart) -> None:
    """The page looks at the record instead."""


def draw(view: RequestsView, record: Record | None, trace: Trace) -> None:
    """The row of what can be done.

    Args:
        record: None for the example.
    """
    with st.container(key="request-acts", horizontal=True, gap="small"):
        page = registry.page_of(trace.config.method)
        _open_button(page, partial(_open, page, trace, record))
        if page is registry.DECODE and trace.token_steps:
            open_it = partial(_open_in_lab, view, trace)
            _open_button(registry.page_of("lab"), open_it, tr("Open this step in the lab"))
        if trace.token_steps:
            open_it = partial(registry.OPEN_INSIDE, trace, view.selected)
            _open_button(registry.INSIDE, open_it, tr("Open this step on the Inside page"))
            if go_on.is_possible(trace):
                _another_token(view, trace)
        if record is not None and record.configs:
            st.menu_button(
                tr("The same request with"),
                list(variants(record)),
                format_func=_WORDS.__getitem__,
                key="variant",
                on_click=_send_variant,
                args=(view, record),
            )


def _another_token(view: RequestsView, trace: Trace) -> None:
    """Draw the menu that goes on from the selected step with another candidate, on Decode."""
    step = view.step
    popover = st.popover(
        tr("Another token"), icon=":material/alt_route:", key="request-fork", on_change="rerun"
    )
    if step is None or not popover.open:
        return
    labels = candidate_labels(step)
    with popover:
        st.text(
            tr(
                "In place of {token} at step {step}",
                token=visible_token(step.chosen.text, 24),
                step=nth(step.index),
            )
        )
        key = f"request_token_{view.number}_{step.index}"
        st.selectbox(tr("Candidate"), list(labels), format_func=labels.__getitem__, key=key)
        go_on.button(
            trace,
            lambda: (*trace.token_ids[: step.index], st.session_state[key]),
            key="request_go_on",
            may_load=bool(labels) and view.may_load(str(control.value("model"))),
        )


def _open_button(page: registry.Page, open_it: Callable[[], None], label: str = "") -> None:
    st.button(
        label or tr("Open in {title}", title=tr(page.title)),
        key=f"open-{page.name}",
        icon=":material/open_in_new:",
        on_click=open_it,
    )


def _open(page: registry.Page, trace: Trace, record: Record | None) -> None:
    """The page shows the run, and its controls would ask for it again."""
    save.turn_to(page, trace, source="request")
    if record is not None:
        control.load(conversation(record))


def conversation(record: Record) -> dict[str, Any]:
    """Return the sidebar's values for a conversation of one message; empty for a longer one."""
    body, system = record.body, ""
    if record.endpoint == "chat":
        messages = [(message.get("role"), message.get("content")) for message in body["messages"]]
    elif record.endpoint == "responses" and not body.get("previous_response_id"):
        instructions = body.get("instructions")
        messages = [("system", instructions)] if instructions else []
        messages.append(("user", body["input"]))
    else:
        return {}
    if len(messages) == 2 and messages[0][0] in ("system", "developer"):
        system = messages.pop(0)[1]
    texts = [system, *(text for _, text in messages)]
    whole = all(isinstance(text, str) and len(text) <= shared.MAX_PROMPT for text in texts)
    if len(messages) != 1 or messages[0][0] != "user" or not whole:
        return {}
    return {"chat": True, "system": system}


def _open_in_lab(view: RequestsView, trace: Trace) -> None:
    """The lab looks at the step that is selected on Decode."""
    page = registry.DECODE
    page.view().open(trace, source="request")
    page.view().select(view.selected)
    page.load_controls(trace)
    st.session_state["go_to_lab"] = True


def variants(record: Record) -> dict[str, dict[str, Any]]:
    """Other ways of decoding a request, by their keys: each the JSON of a config."""
    settings_of_run = config_to_dict(record.configs[0])
    shared = {name: settings_of_run[name] for name in _SHARED if name in settings_of_run}
    settings_by_name: dict[str, dict[str, Any]] = {
        "greedy": {"method": "greedy"},
        "beam": {"method": "beam", "num_beams": 4},
    }
    if models.is_embedded(record.model):
        settings_by_name["embedded_draft"] = {"method": "speculative", "draft": DEFAULT_DRAFT}
    # It needs no second model, so that it fits any.
    settings_by_name["prompt_lookup"] = {"method": "speculative", "drafter": "prompt_lookup"}
    drawn: dict[str, Any] = (
        settings_of_run if isinstance(record.configs[0], Sampling) else {"method": "sampling"}
    )
    for name, heat in _TEMPERATURES.items():
        shaping = {**drawn.get("shaping", {}), "temperature": heat}
        shaping.pop("constraint", None)
        settings_by_name[name] = {**drawn, "shaping": shaping}
    # A format or tools stay in the body; the endpoint refuses what is said twice.
    constraint = settings_of_run["shaping"].get("constraint")
    if constraint and not record.body.keys() & {*formats.NAMES, "tools"}:
        for settings in settings_by_name.values():
            settings["shaping"] = {**settings.get("shaping", {}), "constraint": constraint}
    return {name: {**shared, **settings} for name, settings in settings_by_name.items()}


def _send_variant(view: RequestsView, record: Record) -> None:
    decoding = variants(record).get(str(st.session_state.get("variant")))
    if decoding is None:
        return
    shared_body = {name: held for name, held in record.body.items() if name not in _SETTINGS}
    try:
        send(view, record.endpoint, {**shared_body, "decoding": decoding}, record.id)
    except ApiError as error:
        view.failure = error.shown
