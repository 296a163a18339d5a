"""Requests for runs that the server samples, and readers of its answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...decoding.by_engine.config import NO_BUDGET, ByEngine
from ...decoding.by_engine.engine import ServerToken
from ...decoding.errors import ConfigError, LostModelError
from ...decoding.shaping.config import SETTINGS, parts_of
from ...language import Message
from .address import KINDS
from .rows import Said, require_numbers

# The app's settings with their names on each kind of server; the server has no others.
_COUNTED = ("frequency_penalty", "presence_penalty")
_OPENAI = {name: name for name in ("temperature", "top_p", *_COUNTED)}
_VLLM = {name: name for name in ("top_k", "min_p", "repetition_penalty")} | _OPENAI
# llama.cpp's frequency and presence penalties count the prompt too, which it can't leave out.
_OF_LLAMACPP = (
    *("top_k", "min_p", "typical_p", "top_n_sigma", "temperature", "top_p"),
    *("xtc_probability", "dry_multiplier", "mirostat"),
)
_LLAMACPP = {name: name for first in _OF_LLAMACPP for name in (first, *parts_of(first))}
_SETTINGS = {
    "openai": _OPENAI,
    "vllm": _VLLM,
    "llamacpp": _LLAMACPP | {"repetition_penalty": "repeat_penalty"},
}
# More tokens than a text has.
_LONGEST_TEXT = 2**20
# Bytes of an event without its candidates.
_BYTES_OF_EVENT = 2_048


def asked_settings(kind: str, config: ByEngine) -> dict[str, Any]:
    """Return all settings of the request, so that none falls back to the server's default.

    Args:
        kind: a key of `KINDS`.

    Raises:
        ConfigError: the server lacks a setting.
    """
    names, shaping = _SETTINGS[kind], config.shaping
    stray = [name for name in shaping.active(SETTINGS) if name not in {*names, "logit_bias"}]
    if stray:
        lacking = SETTINGS[stray[0]].name
        if kind == "llamacpp" and stray[0] in _COUNTED:
            lacking += " of the generated text alone"
        offered = ", ".join(SETTINGS[name].name for name in names if not SETTINGS[name].part_of)
        raise ConfigError(
            Message(
                "A server of {kinds} has no {lacking}: switch it off, or take "
                "sampling, which is done here ({offered} and a logit bias are the "
                "server's).",
                kinds=KINDS[kind],
                lacking=lacking,
                offered=offered,
            )
        )
    if config.min_new_tokens and kind != "vllm":
        raise ConfigError(
            Message("A server of {kinds} has no min_new_tokens: set it to 0.", kinds=KINDS[kind])
        )
    if config.thinking_token_budget != NO_BUDGET and kind != "vllm":
        raise ConfigError(
            Message("A server of {kinds} has no thinking budget: set it to -1.", kinds=KINDS[kind])
        )
    settings: dict[str, Any] = {theirs: getattr(shaping, name) for name, theirs in names.items()}
    if kind == "llamacpp":
        settings |= dict.fromkeys(_COUNTED, 0.0)
        if not shaping.top_n_sigma:
            settings["top_n_sigma"] = -1.0
        if not shaping.dry_sequence_breakers:
            # A list without texts is refused; no text holds this one.
            settings["dry_sequence_breakers"] = ["\x00"]
        if shaping.dry_penalty_last_n < 0:
            # Newer servers take no -1 for the whole text.
            settings["dry_penalty_last_n"] = _LONGEST_TEXT if shaping.dry_multiplier else 0
    return {**settings, "seed": config.seed, "stop": list(config.stop_strings)}


def most_bytes(limit: int, count: int, of_entry: int) -> int:
    """Return the byte limit for `limit` events with `count` candidates of `of_entry` bytes each."""
    return 2**20 + limit * (_BYTES_OF_EVENT + (count + 1) * of_entry)


def tokens_of(answers: Iterator[Said], vocab_size: int, label: str) -> Iterator[ServerToken]:
    """Yield the emitted tokens; the first entry of each answer is the token itself.

    Raises:
        LostModelError: a number is invalid, or a token is unknown.
    """
    for answer in answers:
        require_numbers(answer, label)
        if not all(0 <= token_id < vocab_size for token_id in answer.ids):
            raise LostModelError(
                Message(
                    "The server of {label} emits tokens beyond the {vocab_size:,} of "
                    "its vocabulary; check the tokenizer.",
                    label=label,
                    vocab_size=vocab_size,
                )
            )
        if max(answer.values) > 0.001:
            raise LostModelError(
                Message(
                    "The server of {label} gives log-probabilities above 0; check the server.",
                    label=label,
                )
            )
        yield ServerToken(answer.ids[0], dict(zip(answer.ids, answer.values, strict=True)))
