"""The controls of the page Read: the text, the model's own text, and the second model."""

from __future__ import annotations

from typing import Any

from core.decoding.autoregressive.config import Greedy, Sampling
from core.decoding.beam.config import BeamSearch
from core.decoding.config import MethodConfig
from core.decoding.errors import PromptError
from core.decoding.reading.types import text_of
from core.decoding.record.trace import Trace
from core.decoding.record.tree import RunTree
from core.language import N_, Message
from pages.ui.resources import models
from pages.ui.run import shared
from pages.ui.run.figures import pins  # noqa: F401  Declares its control.
from pages.ui.run.request import Request, RunControls
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import Number, Read, Text, declare, value
from pages.ui.widgets.controls.options import Menu, Segments

EXAMPLE = (
    "Once upon a time, there was a little boy named Tom. He had a red kite. "
    "One windy day, the kite flew over the lake, and a whale ate it."
)
NUMBER_TYPES = {
    "bfloat16": N_("The same model in bfloat16"),
    "float16": N_("The same model in float16"),
}
# Of beam search, and of Holtzman et al. 2020 the same in spirit: wide enough to lose all surprise.
_BEAMS = 8


def _others() -> dict[str, str]:
    return {**NUMBER_TYPES, **{name: name for name in models.options()}}


_TEXT = declare(
    Text("read_text", N_("Text"), EXAMPLE, height=96, max_chars=shared.MAX_PROMPT,
        placeholder=N_("Paste or write the text that the model should read.")),
)  # fmt: skip
declare(
    Segments("read_color", N_("Colour by"), "surprisal",
        {"surprisal": N_("Surprisal"), "probability": N_("Probability"), "entropy": N_("Entropy"),
         "rank": N_("Rank")}),
    Text("word", N_("Word"), "kite", max_chars=60, width=280,
        help=N_("A word, of several tokens too. Each place has the probability that the "
            "model goes on with it, with or without a space before it.")),
    Number("opening", N_("Opening, tokens"), 8, 1, 2_000, short=True,
        help=N_("So many first tokens are the text's own; the model goes on from there.")),
    Segments("writer", N_("The model writes by"), "beam",
        {"beam": N_("Beam search"), "greedy": N_("Greedy"), "sampling": N_("Sampling")}),
    Segments("own_axis", N_("Axis"), "surprisal",
        {"surprisal": N_("Surprisal"), "probability": N_("Probability")}),
    Menu("other_model", N_("Compare with"), "bfloat16", _others, free=models.free_choice, width=360,
        help=N_("Another number type, or another model with the same tokenizer: a "
            "quantized one against what it was made from.")),
)  # fmt: skip


def config(read: Read = value) -> MethodConfig:  # noqa: ARG001
    """Return the settings of a reading; its length follows from the text."""
    return Greedy()


def request(read: Read = value) -> Request:
    """Return what Run asks for, by the controls as they are or as `read` gives them.

    Raises:
        PromptError: the text is empty.
    """
    text = str(read("read_text"))
    if not text.strip():
        raise PromptError(Message("The text is empty: write or paste at least two words."))
    return Request(shared.model(read), text, config(read), reads=True)


def writing_config(length: int) -> MethodConfig:
    """Return how the model goes on after the opening, by so many tokens at most."""
    writer, length = str(value("writer")), max(1, length)
    if writer == "beam":
        return BeamSearch(max_new_tokens=length, num_beams=_BEAMS)
    if writer == "sampling":
        return Sampling(max_new_tokens=length, seed=int(value("seed")))
    return Greedy(max_new_tokens=length)


def control_values(trace: Trace) -> dict[str, Any]:
    """Return the control values that describe a reading, by key."""
    said = shared.control_values(trace)
    return {"read_text": text_of(trace)[: shared.MAX_PROMPT]} | {
        key: held for key, held in said.items() if key == "model"
    }


def load_controls(content: Trace | RunTree) -> None:
    """Set the controls to the text and the model of a reading."""
    if isinstance(content, Trace):
        control.load(control_values(content))


def draw() -> None:
    """Draw the text."""
    control.draw("read_text")


RUN_CONTROLS = RunControls(_TEXT, config, control_values, request)
