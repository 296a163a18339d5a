"""Scripted models that think, whose next token follows from the last one alone."""

from __future__ import annotations

from collections.abc import Mapping

from core.decoding.reasoning.calculator import CALL_MARKS
from core.decoding.record.trace import Trace
from core.models.scripted import END, ScriptedModel

WORDS = "q a b c d Wait , . 4 2 1 8 0 / * error".split()
TOKENS = (END, "<think>", "</think>", "<call>", "<result>", "</result>", *WORDS)
FAINT = 1e-7
ID = {token: at for at, token in enumerate(TOKENS)}
THINKS = {
    "q": "4",
    "<think>": "a",
    "a": "b",
    "b": "c",
    "c": "</think>",
    "Wait": ",",
    ",": "b",
    "</think>": "4",
    "4": ".",
    ".": END,
}


def thinker(**changes: str) -> ScriptedModel:
    """A model that thinks "abc" and answers "4."; `changes` say what else follows a token."""
    return following({**THINKS, **changes})


def following(chain: Mapping[str, str | Mapping[str, float]]) -> ScriptedModel:
    """After a token comes the one that `chain` names, or those with these probabilities."""
    script = {(): _row({END: 1.0})}
    for token, after in chain.items():
        script[(ID[token],)] = _row({after: 1.0} if isinstance(after, str) else after)
    return ScriptedModel(script, tokens=TOKENS)


def special(model: ScriptedModel) -> ScriptedModel:
    """The same model with the marks of calls as special tokens, which add no text."""
    plain = model.token_bytes
    model.token_bytes = lambda token: b"" if TOKENS[token] in CALL_MARKS else plain(token)
    return model


def _row(probs: Mapping[str, float]) -> list[float]:
    """Every other token is possible, hardly: what is forced must not be ruled out."""
    faint = FAINT * (len(TOKENS) - len(probs))
    return [probs.get(token, 0.0) * (1 - faint) or FAINT for token in TOKENS]


def written(trace: Trace) -> str:
    """The run with its forced tokens in brackets, neighbours of one kind together."""
    parts = []
    for step in trace.token_steps:
        text = TOKENS[step.token_id]
        parts.append(f"[{text}]" if step.origin == "forced" else text)
    return "".join(parts)
