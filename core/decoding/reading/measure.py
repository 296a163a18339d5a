"""Measurements of models along given tokens: pinned tokens, and the divergence of two models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from ...language import N_, Message
from ..comparison.readings import divergence_of, logits_before, require_same_tokens
from ..errors import ConfigError
from ..loop.run import read_again
from ..loop.text import single_token
from ..protocol import LanguageModel
from ..record.trace import Trace
from ..requirements import in_dtype, require_all_tokens, require_models
from ..shaping.long_rows import count_above, count_equal
from ..shaping.settings.bias import token_in
from .read import text_ids
from .types import MOST_PINS, ModelDivergence, PinnedToken, TokenDivergence


def pins_in(model: LanguageModel, texts: Sequence[str]) -> tuple[int, ...]:
    """Return the ids of pinned tokens, each given as `#id` or as its text.

    Raises:
        ConfigError: too many tokens, a text that is no single token, or an id of no token.
    """
    find = partial(single_token, model, taker="list of pinned tokens")
    ids = tuple(dict.fromkeys(token_in(text, find) for text in texts if text))
    if len(ids) > MOST_PINS:
        raise ConfigError(
            Message(
                "At most {most_pins} tokens are followed at once, got {ids}.",
                most_pins=MOST_PINS,
                ids=len(ids),
            )
        )
    for token_id in ids:
        if not 0 <= token_id < model.vocab_size:
            raise ConfigError(
                Message(
                    "A pinned token is #{token_id}, and this model's tokens go from #0 "
                    "to #{vocab_size}; give one of them.",
                    token_id=token_id,
                    vocab_size=model.vocab_size - 1,
                )
            )
    return ids


class _StoppedError(Exception):
    """Ends a forward between two pieces of its text."""


def pinned(
    model: LanguageModel,
    trace: Trace,
    token_ids: Sequence[int],
    *,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[PinnedToken, ...]:
    """Return the probability and rank of tokens at each step of a run, by one forward over it.

    Args:
        token_ids: of `pins_in`.
        should_stop: asked for each piece of the text; True ends the forward, and the result is
            empty.

    Raises:
        ConfigError: the model's server names only the likeliest tokens.
    """
    require_models(model)
    require_all_tokens(model, N_("a pinned token"), N_("take another model"))
    rows = list[tuple[Tensor, Tensor]]()
    first, places = len(trace.prompt_ids) - 1, torch.tensor(list(token_ids), dtype=torch.long)

    def read(at: int, logits: Tensor) -> None:
        if should_stop is not None and should_stop():
            raise _StoppedError
        for row in logits[max(0, first - at) :]:
            pinned_logits = row[places]
            logprobs = pinned_logits.double() - torch.logsumexp(row.double(), dim=-1)
            ties = [count_equal(row[:place], row[place]) for place in places.tolist()]
            higher = [count_above(row, row[place]) for place in places.tolist()]
            ranks = [1 + int(a) + int(b) for a, b in zip(higher, ties, strict=True)]
            rows.append((logprobs, torch.tensor(ranks)))

    if token_ids and trace.token_ids:
        try:
            read_again(model, trace, trace.token_ids[:-1], read)
        except _StoppedError:
            return ()
    return tuple(
        PinnedToken(
            token_id,
            model.token_text(token_id),
            # A token that the model itself rules out has no logarithm.
            tuple(value if value > -torch.inf else None for value in column),
            tuple(int(ranks[at]) for _, ranks in rows),
            (None,) * len(rows),
        )
        for at, token_id in enumerate(token_ids)
        for column in [[float(logprobs[at]) for logprobs, _ in rows]]
    )


def diverging(
    first: LanguageModel,
    second: LanguageModel | str,
    text: str | Sequence[int],
    *,
    names: tuple[str, str] | None = None,
    on_tokens: Callable[[int], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> ModelDivergence:
    """Read a text with two models at once and compare their predictions before each token.

    Vocabularies of different lengths are compared over the shorter one; the rest is padding.

    Args:
        second: another model, or a number type for the first one's weights.
        names: of the models; by default with their number types.
        on_tokens: called with the number of tokens compared so far.
        should_stop: True ends the reading early.

    Raises:
        PromptError: as `text_ids`.
        ConfigError: the models have different tokens.
    """
    if isinstance(second, str):
        second = in_dtype(first, second)
    require_same_tokens(first, second)
    ids = text_ids(first, text)
    text_ids(second, ids)
    tokens = list[TokenDivergence]()
    rows = logits_before((first, second), (ids[:1], ids[:1]), ids[1:])
    for at, pair in enumerate(rows, start=1):
        one, other = (torch.log_softmax(row.double(), dim=-1) for row in pair)
        tokens.append(_compared(first, at, ids[at], one, other))
        if on_tokens is not None:
            on_tokens(len(tokens))
        if should_stop is not None and should_stop():
            break
    shown = names or (f"{first.model_id} ({first.dtype})", f"{second.model_id} ({second.dtype})")
    return ModelDivergence(shown, tuple(tokens))


def _compared(
    model: LanguageModel, at: int, token_id: int, one: Tensor, other: Tensor
) -> TokenDivergence:
    """Compare `[vocab]` log-probabilities."""
    divergence = divergence_of(one, other)
    favourites = int(one.argmax()), int(other.argmax())
    return TokenDivergence(
        at,
        token_id,
        model.token_text(token_id),
        divergence.left,
        divergence.variation,
        favourites,
        (model.token_text(favourites[0]), model.token_text(favourites[1])),
        (-float(one[token_id]), -float(other[token_id])),
    )
