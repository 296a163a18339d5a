"""Sidebar: model, prompt, chat template, system prompt and seed, which the pages share."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import streamlit as st

from core.decoding.counting import counted
from core.decoding.errors import ConfigError
from core.language import LANGUAGES, N_, tr
from core.models.gguf.cache import cached_bytes, empty_cache
from core.models.loading.memory import in_words
from pages.ui import platform
from pages.ui.platform import reader
from pages.ui.resources import models, prompts
from pages.ui.run import shared
from pages.ui.widgets.controls.control import (
    draw,
    load,
    value,
)
from pages.ui.widgets.controls.link import refused_models, report

_LANGUAGE = "language-menu"


def refuse_models(view: Callable[[], Any]) -> None:
    """Refuse to run a link whose model this server doesn't offer, and say so on the page.

    Args:
        view: gives the session's view of the page.
    """
    if refused_models():
        view().failure = models.NOT_OFFERED
        st.query_params.pop(platform.key("run"), None)


def show(*, prompt: bool = True, model: bool = True, below_model: Callable[[str], None]) -> None:
    """Draw the sidebar's controls.

    Args:
        prompt: draw the prompt's controls; False on a page with its own questions.
        model: draw the model's controls; False on a page with its own menu of models.
        below_model: draws the offers for the chosen model.
    """
    if model:
        _model(below_model)
    if prompt:
        prompt_fields()
    _seed()


def language() -> None:
    """Draw the menu of languages."""
    st.selectbox(
        tr("Language"),
        LANGUAGES,
        list(LANGUAGES).index(reader.language()),
        format_func=LANGUAGES.__getitem__,
        key=_LANGUAGE,
        on_change=lambda: reader.choose(st.session_state[_LANGUAGE]),
    )


def _model(below_model: Callable[[str], None]) -> None:
    with st.container(key="model-field", gap=None):
        _cache()
        if models.free_choice():
            draw("model")
        else:
            draw("model", help=N_("The models that this server offers."))
    if hint := models.hint(shared.model()):
        st.html(f'<p class="de-hint">{escape(tr(hint))}</p>')
    below_model(shared.model())
    _server_key()


def prompt_fields() -> None:
    """Draw the prompt, the chat template, and the hint at an example's effect."""
    _prompt()
    _chat()
    _hint()


def _prompt() -> None:
    with st.container(key="prompt-field", gap=None):
        examples = prompts.examples(shared.model())
        labels = [tr(example.label) for example in examples]
        st.menu_button(
            tr("Examples"),
            list(range(len(examples))),
            format_func=labels.__getitem__,
            key="example_prompt",
            type="tertiary",
            on_click=_use_example,
            args=(examples,),
        )
        draw("prompt")


def _server_key() -> None:
    """Draw the field of a server's key, which is in no address, no trace and no picture."""
    where = shared.model()
    origin = models.wants_key_of(where)
    if not origin:
        return
    st.text_input(
        tr("Key of the server"),
        type="password",
        key="server_key",
        max_chars=500,
        autocomplete="off",
        placeholder=tr("One is set") if models.has_key(where) else tr("Only where it asks for one"),
        help=tr(
            "Kept in memory until the app ends, and sent to {origin} alone.", origin=escape(origin)
        ),
        on_change=_use_key,
    )


def _use_key() -> None:
    try:
        models.take_key(shared.model(), str(st.session_state.pop("server_key", "")))
    except ConfigError as error:
        report(error.shown)


def _cache() -> None:
    """Draw the size of converted GGUF files on one's own disk, and the button that removes them."""
    count, size = cached_bytes() if models.free_choice() else (0, 0)
    if not size:
        return
    with (
        st.popover(tr("Cache"), type="tertiary", key="model_cache"),
        st.container(key="gguf-cache"),
    ):
        words = tr(
            "GGUF cache: {models}, {size}", models=counted(count, "model"), size=in_words(size)
        )
        st.html(f'<p class="de-hint">{words}</p>')
        st.button(
            tr("Empty the cache"),
            key="empty_gguf_cache",
            type="tertiary",
            help=tr("Remove the converted GGUF files; the next load of one converts it again."),
            on_click=_empty_cache,
        )


def _empty_cache() -> None:
    empty_cache()


def _hint() -> None:
    example = prompts.shown(
        str(value("prompt")), bool(value("chat")), str(value("system")), shared.model()
    )
    if example is not None:
        st.html(f'<p class="de-hint">{escape(tr(example.look_for))}</p>')


def _use_example(examples: Sequence[prompts.Example]) -> None:
    place = st.session_state.get("example_prompt")
    if place is not None:
        shared.use_example(examples[place])


def _chat() -> None:
    if models.has_chat_template(str(value("model"))) is False:
        draw("chat", disabled=True, help=N_("This model has no chat template."))
    else:
        draw("chat")
    if shared.chat():
        draw("system")


def _seed() -> None:
    with st.container(
        key="seed-row", horizontal=True, wrap=False, vertical_alignment="bottom", gap="small"
    ):
        draw("seed")
        st.button(
            tr("Draw a new seed"),
            icon=":material/casino:",
            key="new_seed",
            help=tr("Another seed gives another run."),
            on_click=_new_seed,
        )


def _new_seed() -> None:
    load({"seed": secrets.randbelow(100_000)})
