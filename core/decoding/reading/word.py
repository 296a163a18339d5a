"""Probability that a model continues with a word, before each token of a text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress

import torch
from torch import Tensor

from ...language import N_, Message
from ..errors import ConfigError, PromptError
from ..loop.run import read_again
from ..loop.text import encode_continuation, spells
from ..protocol import LanguageModel
from ..record.trace import Trace
from ..requirements import require_all_tokens, require_models
from ..validation import brief
from .types import MOST_WORD_TOKENS, FollowedWord, WordSpelling


class _StoppedError(Exception):
    """Ends the forward passes early."""


def spellings_of(model: LanguageModel, word: str) -> tuple[tuple[int, ...], ...]:
    """Return the token ids of a word with a space before it, and of the word alone.

    Raises:
        ConfigError: an empty word, one that the tokenizer can't write, or one of too many tokens.
    """
    word = word.strip()
    if not word:
        raise ConfigError(N_("The word is empty: write one."))
    written = (_tokens_of(model, text) for text in (f" {word}", word))
    found = tuple(dict.fromkeys(filter(None, written)))
    if not found:
        raise ConfigError(
            Message("This model's tokens can't write the word {given}.", given=brief(word))
        )
    longest = max(map(len, found))
    if longest > MOST_WORD_TOKENS:
        raise ConfigError(
            Message(
                "The word {given} has {longest} tokens; give one of at most {most_word_tokens}.",
                given=brief(word),
                longest=longest,
                most_word_tokens=MOST_WORD_TOKENS,
            )
        )
    return found


def _tokens_of(model: LanguageModel, text: str) -> tuple[int, ...]:
    """Return the tokens that add just this text; empty if the tokenizer can't write it."""
    with suppress(PromptError):
        ids = tuple(encode_continuation(model, text))
        if spells(model, ids, text):
            return ids
    return ()


def follow_word(
    model: LanguageModel,
    trace: Trace,
    word: str,
    *,
    should_stop: Callable[[], bool] | None = None,
) -> FollowedWord | None:
    """Return the probability of a word before each token of a run's text; None if stopped.

    It is the product of the raw probabilities of the word's tokens. One forward of the text gives
    the first token's, and a forward at each position those of all further tokens.

    Args:
        should_stop: asked before each forward.

    Raises:
        ConfigError: as `spellings_of`; or the model's server names only the likeliest tokens.
    """
    require_models(model)
    require_all_tokens(model, N_("a word along a text"), N_("take another model"))
    spellings = spellings_of(model, word)

    def go_on() -> None:
        if should_stop is not None and should_stop():
            raise _StoppedError

    try:
        logprobs = _first_tokens(model, trace, spellings, go_on)
        if any(len(ids) > 1 for ids in spellings):
            _add_further_tokens(model, trace, spellings, logprobs, go_on)
    except _StoppedError:
        return None
    return FollowedWord(
        word.strip(),
        tuple(
            WordSpelling(
                spells(model, ids, f" {word.strip()}"),
                ids,
                tuple(map(model.token_text, ids)),
                tuple(column),
            )
            for ids, column in zip(spellings, logprobs, strict=True)
        ),
    )


def _first_tokens(
    model: LanguageModel,
    trace: Trace,
    spellings: Sequence[tuple[int, ...]],
    go_on: Callable[[], None],
) -> list[list[float | None]]:
    """Return for each spelling the log-probability of its first token at each step."""
    columns: list[list[float | None]] = [[] for _ in spellings]
    before = len(trace.prompt_ids) - 1

    def read(at: int, logits: Tensor) -> None:
        go_on()
        for row in logits[max(0, before - at) :]:
            total = float(torch.logsumexp(row.double(), -1))
            for column, ids in zip(columns, spellings, strict=True):
                column.append(float(row[ids[0]]) - total)

    if trace.token_ids:
        read_again(model, trace, trace.token_ids[:-1], read)
    return columns


def _add_further_tokens(
    model: LanguageModel,
    trace: Trace,
    spellings: Sequence[tuple[int, ...]],
    logprobs: list[list[float | None]],
    go_on: Callable[[], None],
) -> None:
    """Add the log-probabilities of all tokens after the first.

    The context holds the whole text and loses its last token step by step, so that each position
    costs one forward of the word's tokens for each spelling.
    """
    window = model.context_window or math.inf
    go_on()
    context = model.start([*trace.prompt_ids, *trace.token_ids[:-1]])
    for step in reversed(range(len(trace.token_ids))):
        for column, ids in zip(logprobs, spellings, strict=True):
            if len(ids) == 1:
                continue
            if context.length + len(ids) - 1 > window:
                column[step] = None
                continue
            go_on()
            rows = torch.log_softmax(context.extend(ids[:-1])[0].double(), -1)
            context.rollback(len(ids) - 1)
            so_far = column[step]
            if so_far is not None:
                further = (float(row[after]) for row, after in zip(rows, ids[1:], strict=True))
                column[step] = so_far + math.fsum(further)
        if step:
            context.rollback(1)
