"""Controls that all pages share: model, prompt, seed and the export of figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from core.decoding.record.trace import Trace
from core.language import N_
from pages.ui import platform
from pages.ui.platform.slot import Slot
from pages.ui.resources import models, prompts
from pages.ui.widgets.controls import figure_choices
from pages.ui.widgets.controls.control import Number, Read, Text, Toggle, declare, load, value
from pages.ui.widgets.controls.options import Menu

MAX_PROMPT = 20_000
# Key of the session's state: an example was picked, and the next drawn page may run it.
RUN_EXAMPLE = "run_example"
MAX_SEED = 2**31 - 1
SEED = Number("seed", N_("Seed"), 16, 0, MAX_SEED, width="stretch", field="seed",
    help=N_("The same seed, model, prompt and settings give the same run."))  # fmt: skip
RUN_ROWS = declare(
    Menu("model", N_("Model"), models.DEFAULT_MODEL,
        lambda: {name: name for name in models.options()},
        free=models.free_choice,
        help=N_("An embedded model, or type a local folder or a Hugging Face hub id. Any "
            "decoder-only model with safetensors weights works, and most GGUF files: "
            "type the path. A model on a server is typed as "
            "vllm:http://HOST:8000#MODEL, llamacpp:http://HOST:8080 or "
            "openai:https://HOST#MODEL.")),
    Text("prompt", N_("Prompt"), prompts.examples()[0].prompt, height=120, max_chars=MAX_PROMPT,
        placeholder=N_("Write what the model should continue.")),
    Toggle("chat", N_("Chat template"), False,
        help=N_("Send the prompt as a user's message, in the markup that the model was "
            "trained on.")),
    Text("system", N_("System prompt"), "", height=80, max_chars=MAX_PROMPT,
        placeholder=N_("Optional: how the model should answer.")),
    SEED,
)  # fmt: skip
ROWS = RUN_ROWS + figure_choices.ROWS
# Names that the runs of a page have in common.
_COMMON = frozenset(row.key for row in figure_choices.ROWS)


def slots(prefixes: Sequence[str]) -> list[Slot]:
    """Return the slots of a page whose runs each have their own model, prompt and seed."""
    return [Slot(prefix, _COMMON) for prefix in prefixes]


def seed_row(acts: Callable[[Read], bool]) -> Number:
    """Return the seed's row for a page whose runs don't always use the seed."""
    return replace(SEED, acts=acts)


def model(read: Read = value) -> str:
    """Return the model's name."""
    return str(read("model")).strip()


def chat(read: Read = value) -> bool:
    """Return whether the prompt goes through the chat template."""
    return bool(read("chat")) and models.has_chat_template(str(read("model"))) is not False


def control_values(trace: Trace) -> dict[str, Any]:
    """Return the sidebar's values for a trace, by key; a file may not make the app load a model."""
    model = {"model": trace.model_id} if models.is_embedded(trace.model_id) else {}
    return {"prompt": trace.prompt[:MAX_PROMPT], "chat": False, **model}


def use_example(example: prompts.Example) -> None:
    """Set the prompt to an example, in a callback; the page then runs it."""
    st.session_state[platform.key(RUN_EXAMPLE)] = models.is_at_hand(model())
    load({key: getattr(example, key) for key in ("prompt", "chat", "system")})
