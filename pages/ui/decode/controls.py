"""Every control of the app, declared once: its name in the URL, its interval, its words."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from html import escape
from typing import Any

import streamlit as st

from core.decoding.autoregressive.config import Greedy, Sampling
from core.decoding.config import MethodConfig
from pages.ui import registry
from pages.ui.run.request import Request
from pages.ui.shell import models, prompts
from pages.ui.widgets.knob import KNOBS, draw_knob, shaping_of

MAX_PROMPT = 20_000
MAX_TOKENS = 2000
MAX_SEED = 2**31 - 1
# The address holds the words on the right: that is how Streamlit binds options.
METHODS = {"sampling": "Sampling", "greedy": "Greedy"}
DRAWS = {
    "inverse_cdf": "Inverse CDF",
    "gumbel": "Gumbel",
    "multinomial": "Multinomial",
}
COLORS = {
    "probability": "Probability",
    "entropy": "Entropy",
    "rank": "Rank",
    "surprisal": "Surprisal",
}


DEFAULTS: dict[str, Any] = {
    "model": models.DEFAULT_MODEL,
    "prompt": prompts.examples()[0].prompt,
    "chat": False,
    "system": "",
    "seed": 16,
    "method": "sampling",
    "tokens": 40,
    "draw": "inverse_cdf",
    "stop": "",
    "cache": True,
    "color": "probability",
    **{knob.key: knob.default for knob in KNOBS},
}


def value(key: str, own: dict[str, Any] | None = None) -> Any:
    """What a control says now; its default before it was drawn, or where it was emptied.

    `own` holds the defaults of a page's own controls, beside those that several pages share.
    """
    found = st.session_state.get(key)
    if found is not None:
        return found
    return own[key] if own and key in own else DEFAULTS[key]


def clean_address() -> None:
    """Forget numbers of the address that are infinite or none, at which a whole-number field fails.

    A field reads the address that its run began with, so the page begins again.
    """
    wrong = [key for key in st.query_params if key not in registry.TEXTS and not _usable(key)]
    for key in wrong:
        del st.query_params[key]
    if wrong:
        st.rerun()


def _usable(key: str) -> bool:
    try:
        return math.isfinite(float(st.query_params[key]))
    except ValueError:
        return True  # a word; the control that it is for falls back to its default


def config(read: Callable[[str], Any] = value) -> MethodConfig:
    """The config that the controls describe; `read` gives a control's value by its key."""
    greedy = read("method") == "greedy"
    shaping = shaping_of(KNOBS, read)
    if greedy:
        shaping = shaping.penalties_only()
    common: dict[str, Any] = {
        "max_new_tokens": int(read("tokens")),
        "stop_strings": stop_strings(str(read("stop"))),
        "use_cache": bool(read("cache")),
        "shaping": shaping,
    }
    if greedy:
        return Greedy(**common)
    return Sampling(seed=int(read("seed")), draw=read("draw"), **common)


def stop_strings(text: str) -> tuple[str, ...]:
    """One stop string a line; `\\n` and `\\t` stand for the characters."""
    lines = (line.replace("\\n", "\n").replace("\\t", "\t") for line in text.splitlines())
    return tuple(line for line in lines if line)


def request() -> Request:
    """What Run asks for under the controls as they are."""
    return request_for(config())


def request_for(asked: MethodConfig, draft: str = "") -> Request:
    """The sidebar's model and prompt under a config, with a draft model where it needs one."""
    return Request(
        model=str(value("model")).strip(),
        prompt=str(value("prompt")),
        config=asked,
        chat=bool(value("chat")) and models.has_chat_template(str(value("model"))) is not False,
        system=str(value("system")),
        draft=draft,
    )


def sidebar(*, prompt: bool = True) -> None:
    """Model, prompt, chat template and seed: what the pages share.

    Args:
        prompt: off on a page that asks questions of its own.
    """
    _model()
    if prompt:
        _prompt()
        _chat()
        _hint()
    _seed()


def _model() -> None:
    st.selectbox(
        "Model",
        models.options(),
        key="model",
        bind="query-params",
        persist_state="session",
        accept_new_options=True,
        help="An embedded model, or type a local folder or a Hugging Face hub id. "
        "Any decoder-only model with safetensors weights works.",
    )


def _prompt() -> None:
    with st.container(key="prompt-field", gap=None):
        st.menu_button(
            "Examples",
            [example.label for example in prompts.examples()],
            key="example_prompt",
            type="tertiary",
            on_click=_use_example,
        )
        st.text_area(
            "Prompt",
            DEFAULTS["prompt"],
            key="prompt",
            bind="query-params",
            persist_state="session",
            height=120,
            max_chars=MAX_PROMPT,
            placeholder="Write what the model should continue.",
        )


def _hint() -> None:
    example = prompts.shown(str(value("prompt")), bool(value("chat")), str(value("system")))
    if example is not None:
        st.html(f'<p class="de-hint">{escape(example.look_for)}</p>')


def _use_example() -> None:
    example = prompts.named(st.session_state.get("example_prompt"))
    if example is not None:
        for key in ("prompt", "chat", "system"):
            st.session_state[key] = getattr(example, key)


def _chat() -> None:
    has_template = models.has_chat_template(str(value("model")))
    st.toggle(
        "Chat template",
        DEFAULTS["chat"],
        key="chat",
        bind="query-params",
        persist_state="session",
        disabled=has_template is False,
        help="This model has no chat template."
        if has_template is False
        else "Send the prompt as a user's message, in the markup that the model was trained on.",
    )
    if value("chat") and has_template is not False:
        st.text_area(
            "System prompt",
            DEFAULTS["system"],
            key="system",
            bind="query-params",
            persist_state="session",
            height=80,
            max_chars=MAX_PROMPT,
            placeholder="Optional: how the model should answer.",
        )


def _seed() -> None:
    with st.container(
        key="seed-row", horizontal=True, wrap=False, vertical_alignment="bottom", gap="small"
    ):
        st.number_input(
            "Seed",
            0,
            MAX_SEED,
            DEFAULTS["seed"],
            1,
            key="seed",
            bind="query-params",
            persist_state="session",
            help="The same seed, model, prompt and settings give the same run.",
        )
        st.button(
            "New seed",
            icon=":material/casino:",
            key="new_seed",
            help="Another seed, another run.",
            on_click=_new_seed,
        )


def _new_seed() -> None:
    st.session_state["seed"] = secrets.randbelow(100_000)


def method() -> None:
    """Greedy or sampling, the length, and what is rarely touched."""
    st.segmented_control(
        "Strategy",
        list(METHODS),
        label_visibility="collapsed",
        format_func=METHODS.__getitem__,
        default=DEFAULTS["method"],
        required=True,
        key="method",
        bind="query-params",
        persist_state="session",
    )
    st.number_input(
        "New tokens",
        1,
        MAX_TOKENS,
        DEFAULTS["tokens"],
        1,
        key="tokens",
        bind="query-params",
        persist_state="session",
        width=150,
    )
    with st.popover("More settings", icon=":material/tune:"):
        _more()


def _more() -> None:
    st.selectbox(
        "Draw",
        list(DRAWS),
        format_func=DRAWS.__getitem__,
        key="draw",
        bind="query-params",
        persist_state="session",
        disabled=value("method") == "greedy",
        help="How a token is picked from the final distribution. Inverse CDF shows its dice; "
        "multinomial draws exactly as transformers does.",
    )
    st.text_area(
        "Stop strings",
        DEFAULTS["stop"],
        key="stop",
        bind="query-params",
        persist_state="session",
        height=80,
        placeholder="One a line; \\n is a line break",
        help="The run ends with the token that completes one of them.",
    )
    st.toggle(
        "KV cache",
        DEFAULTS["cache"],
        key="cache",
        bind="query-params",
        persist_state="session",
        help="Without it the whole text goes through the model at every step: slower, same result.",
    )


def color() -> None:
    """What the colour of the generated tokens stands for."""
    st.segmented_control(
        "Colour by",
        list(COLORS),
        format_func=COLORS.__getitem__,
        default=DEFAULTS["color"],
        required=True,
        key="color",
        bind="query-params",
        persist_state="session",
    )


def knobs() -> None:
    """The numbers that shape a step's distribution, in one row."""
    greedy = value("method") == "greedy"
    with st.container(key="knobs"):
        columns = st.columns(len(KNOBS), gap="small")
    for column, knob in zip(columns, KNOBS, strict=True):
        with column, st.container(key=f"knob-{knob.key}", gap=None):
            draw_knob(knob, disabled=greedy and knob.sampling_only)
