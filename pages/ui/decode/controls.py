"""The Decode page's controls and the config that they describe; each strategy adds its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from core.decoding.config import MethodConfig
from core.decoding.errors import ConfigError
from core.decoding.shaping.bias import MAX_BIAS
from core.decoding.trace import Trace
from core.decoding.validation import brief
from pages.ui.decode.strategies import STRATEGIES, strategy_of
from pages.ui.run.request import Request, from_sidebar
from pages.ui.shell import sidebar
from pages.ui.widgets.control import (
    KNOB_ROWS,
    Choice,
    Number,
    Read,
    Text,
    Toggle,
    arguments,
    declare,
    draw,
    load,
    reached,
    value,
)
from pages.ui.widgets.knob import KNOBS

MAX_TOKENS = 2000
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\\\": "\\"}
# Which token a text is, by model and text, as runs found it out; forgotten when they are so many.
_TOKENS: dict[tuple[str, str], int] = {}
_MOST_TOKENS = 10_000


def stop_strings(text: str) -> tuple[str, ...]:
    """One stop string a line; `\\n` and `\\t` stand for the characters."""
    lines = (line.replace("\\n", "\n").replace("\\t", "\t") for line in text.splitlines())
    return tuple(line for line in lines if line)


def bias_lines(text: str) -> list[tuple[int | str, float]]:
    """Tokens with what is added to their logits, one a line: `token text = number`, `#id = number`.

    One space before the last `=` belongs to the line, every other one to the token.

    Raises:
        ConfigError: a line of another form, or a number that is none from -100 to 100.
    """
    return [_bias_line(line) for line in text.split("\n") if line.strip()]


def _bias_line(line: str) -> tuple[int | str, float]:
    left, _, number = line.rpartition("=")
    token = left.removesuffix(" ") or left
    try:
        bias = float(number)
    except ValueError:
        bias = float("nan")
    if not token or not -MAX_BIAS <= bias <= MAX_BIAS:
        raise ConfigError(
            f"A line of the logit bias is a token, = and a number from {-MAX_BIAS:g} to "
            f"{MAX_BIAS:g}, got {brief(line)}; write it as in the help of the field."
        )
    if found := re.fullmatch(r"\s*#([0-9]{1,9})\s*", token):
        return int(found[1]), bias
    return re.sub(r"\\[nt\\]", lambda escape: _ESCAPES[escape[0]], token), bias


def token_of(model: Any, text: str) -> int:
    """The one token of a loaded model that adds just this text, or has it as its name.

    Raises:
        ConfigError: it is several tokens, or none.
    """
    raw, ids = text.encode(), model.encode(text)

    def is_it(token: int) -> bool:
        own = model.token_bytes(token)
        return bool(own == raw or (not own and model.token_text(token) == text))

    # A tokenizer may put a space before every text: then it never gives some tokens by themselves.
    found = next(filter(is_it, (*ids, *range(model.vocab_size))), None)
    if found is None:
        parts = " + ".join(repr(model.token_text(token)) for token in ids[:8])
        raise ConfigError(
            f"The logit bias takes single tokens, and {brief(text)} is none of this model's "
            f"({parts or 'nothing'}): give each token a line, or name it as #id."
        )
    return found


def _known_biases(text: str) -> tuple[tuple[int, float], ...]:
    """The biases by token ids, as far as they are known without the model.

    Raises:
        ConfigError: as `bias_lines`; a text that no run has looked up.
    """
    return tuple((_known_token(token), bias) for token, bias in bias_lines(text))


def _known_token(token: int | str) -> int:
    found = token if isinstance(token, int) else _TOKENS.get((sidebar.model(), token))
    if found is None:
        raise ConfigError(
            f"Press Run: only the loaded model can tell which token of its own {brief(token)} is."
        )
    return found


def _written(biases: Iterable[tuple[int, float]]) -> str:
    """Biases as the field takes them."""
    # The shortest digits that are read as the same number.
    return "\n".join(f"#{token} = {repr(bias).removesuffix('.0')}" for token, bias in biases)


@dataclass(frozen=True, slots=True)
class BiasedRequest(Request):
    """A run whose logit bias names tokens by their text, which takes the model to look up."""

    biases: tuple[tuple[int | str, float], ...] = ()

    def config_for(self, model: Any) -> MethodConfig:
        """The settings with the bias by token ids."""
        pairs = tuple((self._look_up(model, token), bias) for token, bias in self.biases)
        return replace(self.config, shaping=replace(self.config.shaping, logit_bias=pairs))

    def _look_up(self, model: Any, token: int | str) -> int:
        if isinstance(token, int):
            return token
        if len(_TOKENS) >= _MOST_TOKENS:
            _TOKENS.clear()
        found = _TOKENS[self.model, token] = token_of(model, token)
        return found


# What every strategy has.
COMMON = declare(
    Number("tokens", "New tokens", 40, 1, MAX_TOKENS, short=True, field="max_new_tokens"),
    Text("stop", "Stop strings", "", height=80, field="stop_strings", to_field=stop_strings,
        from_field=lambda stops: "\n".join(stop.replace("\n", "\\n") for stop in stops),
        placeholder="One a line; \\n is a line break",
        help="The run ends with the token that completes one of them."),
    Text("bias", "Logit bias", "", height=80, field="shaping.logit_bias", to_field=_known_biases,
        from_field=_written, placeholder=" the = -5\n#383 = -5",
        help="What is added to the logits of single tokens, from -100 to 100. One a line: a "
        "token's text, or # and its id, then = and the number. A space before a word is part of "
        "the token; \\n is a line break."),
    Toggle("cache", "KV cache", True, field="use_cache",
        help="Without it the whole text goes through the model at every step: slower, same "
        "result."),
)  # fmt: skip
declare(
    Choice("method", "Strategy", "sampling", {key: s.label for key, s in STRATEGIES.items()}),
    Choice("color", "Colour by", "probability",
        {"probability": "Probability", "entropy": "Entropy", "rank": "Rank",
         "surprisal": "Surprisal"}),
)  # fmt: skip


def config(read: Read = value) -> MethodConfig:
    """The config that the controls describe; `read` gives a control's value by its key."""
    chosen = STRATEGIES[read("method")]
    acting = {knob.key for knob in KNOBS if chosen.config.can_draw or not knob.sampling_only}
    knob_rows = (row for row in KNOB_ROWS if row.key in acting)
    return chosen.config(**arguments((*COMMON, *chosen.rows, *knob_rows), read))


def request() -> Request:
    """What Run asks for under the controls as they are."""
    asked = from_sidebar(config(lambda key: "" if key == "bias" else value(key)))
    return BiasedRequest(
        asked.model,
        asked.prompt,
        asked.config,
        chat=asked.chat,
        system=asked.system,
        biases=tuple(bias_lines(value("bias"))),
    )


def load_controls(trace: Trace) -> None:
    """Set the controls to what the run was made with, as far as they reach."""
    said = {**sidebar.said_by(trace), "method": trace.config.method}
    rows = (*COMMON, *strategy_of(trace.config).rows, *KNOB_ROWS)
    load(reached(rows, trace.config, said))


def method() -> None:
    """Strategy, length, and what is rarely touched."""
    draw("method", label_visibility="collapsed")
    draw("tokens", *STRATEGIES[value("method")].beside)
    with st.popover("More settings", icon=":material/tune:"):
        for strategy in STRATEGIES.values():
            draw(*strategy.more)
        draw("stop", "bias", "cache")


def color() -> None:
    """What the colour of the generated tokens stands for."""
    draw("color")


def knobs() -> None:
    """The numbers that shape a step's distribution, in one row."""
    can_draw = STRATEGIES[value("method")].config.can_draw
    with st.container(key="knobs"):
        columns = st.columns(len(KNOBS), gap="small")
    for column, knob in zip(columns, KNOBS, strict=True):
        with column:
            draw(knob.key, disabled=knob.sampling_only and not can_draw)
