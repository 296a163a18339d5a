"""Warning below the text for a prompt outside of a built-in model's domain, with an example."""

from __future__ import annotations

from functools import partial
from math import log

import streamlit as st

from core.decoding.record.characters import is_byte_part
from core.decoding.record.trace import Trace
from core.language import N_, tr
from core.models.packaged import PACKAGED, is_installed
from pages.ui import platform, registry
from pages.ui.resources import models, prompts
from pages.ui.run import shared
from pages.ui.run.display import install_model
from pages.ui.run.view import View
from pages.ui.widgets.controls import control

# Threshold in nats per prompt token. Measured (25 November): of the 16 example prompts the least
# likely has 6.5 in the target (4.7 in the draft), the next 5.7; of 24 everyday questions without a
# chat template 22 have more (21).
OUTSIDE = 6.6
# Fewest tokens for a meaningful mean.
_FEWEST = 3
_LEAST_PROB = 1e-12
WORDS = N_(
    "This prompt lies outside the small model's world, which is stories, "
    "lists, short facts and sums: it finds the words unlikely, and what it "
    "writes means little."
)


def surprisal(trace: Trace) -> float | None:
    """Return the prompt's mean surprisal after its first token in nats; None for too few tokens."""
    step = trace.prompt_step
    probs = [p.next_prob for p in step.positions if p.next_prob is not None] if step else []
    if len(probs) < _FEWEST:
        return None
    return -sum(log(max(prob, _LEAST_PROB)) for prob in probs) / len(probs)


def is_outside(trace: Trace) -> bool:
    """Return whether the prompt lies outside a built-in model's domain."""
    if not models.is_embedded(trace.model_id):
        return False
    # The later bytes of a character are nearly certain, so their mean surprisal says nothing.
    positions = trace.prompt_step.positions if trace.prompt_step else ()
    if 2 * sum(is_byte_part(position.text) for position in positions) > len(positions):
        return True
    mean = surprisal(trace)
    return mean is not None and mean > OUTSIDE


def draw(view: View, trace: Trace) -> None:
    """Draw the warning with an example that works and, on one's own machine, a larger model."""
    own_prompt = view.reads or registry.page_of(trace.config.method).own_prompt
    if own_prompt or not is_outside(trace):
        return
    with st.container(
        key=platform.key("outside"), horizontal=True, vertical_alignment="center", gap="small"
    ):
        st.text(tr(WORDS), width="stretch")
        st.button(
            tr("Show an example"),
            key=platform.key("outside_example"),
            type="tertiary",
            on_click=partial(shared.use_example, prompts.examples(trace.model_id)[0]),
        )
        for name in PACKAGED if models.free_choice() else ():
            if is_installed(name):
                st.button(
                    tr("Try {name}", name=name),
                    key=platform.key(f"outside_{name}"),
                    type="tertiary",
                    on_click=partial(_use_model, name),
                )
            else:
                install_model.draw(view, name, key="outside_install")


def _use_model(name: str) -> None:
    control.load({"model": name})
    st.session_state[platform.key(shared.RUN_EXAMPLE)] = True
