"""Read the log-probabilities of a token from the logits that it was chosen from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import torch
from torch import Tensor

from ....decoding.autoregressive.config import Sampling
from ....decoding.autoregressive.engine import Picker
from ....decoding.beam.candidates import less_taken, shaper_of
from ....decoding.beam.config import BeamSearch
from ....decoding.config import MethodConfig
from ....decoding.protocol import LanguageModel
from ....decoding.shaping.known import known_distribution
from ....decoding.shaping.long_rows import ranked
from ....decoding.shaping.stages import Distribution, raw_distribution
from ....decoding.speculative.config import Speculative
from ..answer.logprobs import NEVER, TokenLogprobs
from ..errors import ApiError
from ..request.plan import LogprobsOptions

# Methods that emit one token per step, from the logits of the last forward.
STEPWISE = ("greedy", "sampling", "reasoning", "contrastive_decoding")
# Arguments: the token's index in the run, logits `[vocab]`, the ids before it, its id.
TokenReader: TypeAlias = Callable[[int, Tensor, Sequence[int], int], TokenLogprobs]
# Returns the tokens that earlier groups took at a step, by the step's index.
Taken: TypeAlias = Callable[[int], Sequence[int]]


def reader_of(
    model: LanguageModel,
    config: MethodConfig,
    options: LogprobsOptions,
    taken: Taken = lambda _: (),
    answer_from: Callable[[], int | None] = lambda: 0,
) -> TokenReader:
    """Return the function that reads a run's log-probabilities.

    Raw ones are the model's own. Final ones are those that the method chose by. Sampling: the
    distribution of the draw. Beam search: the score that each token adds to its path, in nats; with
    penalties this is no distribution, as in transformers. Speculative decoding with draws: the
    target's distribution, which the verification reproduces. Methods without draws: probability 1
    for the chosen token.

    Args:
        answer_from: returns the number of tokens before the answer; None while the run thinks.
    """
    count = options.count(model.vocab_size)
    if options.mode == "raw":
        return lambda _index, row, _ids, token_id: read_raw(model, row, token_id, count)
    if isinstance(config, BeamSearch):
        return _scores(model, config, taken, count)
    if config.method in STEPWISE:
        drawn = config.chooser
    elif isinstance(config, Speculative) and config.shaping.temperature > 0:
        drawn = Sampling(
            max_new_tokens=config.max_new_tokens,
            min_new_tokens=config.min_new_tokens,
            shaping=config.shaping,
        )
    else:
        return lambda _index, _row, _ids, token_id: certain(token_id, count)
    # It has its own random generator; the stages before the draw are those of the run.
    picker = Picker(model, drawn)

    def chosen_by(index: int, row: Tensor, ids: Sequence[int], token_id: int) -> TokenLogprobs:
        picker.shaper.answer_from = answer_from()
        picked = picker.pick(index, row, ids)
        if picked.pick.token_id == token_id:
            picker.take(picked, token_id)
        return read(picked.stages[-1], token_id, count)

    return chosen_by


def _scores(model: LanguageModel, config: BeamSearch, taken: Taken, count: int) -> TokenReader:
    shaper = shaper_of(model, config)

    def final(index: int, row: Tensor, ids: Sequence[int], token_id: int) -> TokenLogprobs:
        log_probs = torch.log_softmax(row, dim=-1)
        before = less_taken(log_probs[None], config.diversity_penalty, taken(index))
        scores = shaper.rows(before, [ids], [index])[0]
        top = ranked(scores, count).ids if count else []
        score = max(float(scores[token_id]), NEVER)
        return TokenLogprobs(token_id, score, tuple(top), tuple(scores[top].tolist()))

    return final


def read_raw(model: LanguageModel, row: Tensor, token_id: int, count: int) -> TokenLogprobs:
    """Return a token's log-probabilities under the model, from logits `[vocab]`.

    Raises:
        ApiError: the model's server doesn't name this token at this position.
    """
    known = getattr(model, "known", None)
    if known is None:
        return read(raw_distribution(row), token_id, count)
    if bool(row[token_id].isnan()):
        raise ApiError(
            f"The server of {model.model_id} names {known} tokens of each step, and "
            f"{model.token_text(token_id)!r} is none of them here, so its log-probability isn't "
            "known; leave log-probabilities out.",
            param="logprobs",
        )
    return read(known_distribution(row), token_id, count)


def read(distribution: Distribution, token_id: int, count: int) -> TokenLogprobs:
    """Return a token's log-probability (`NEVER` if removed) and the `count` likeliest tokens."""
    logprob = distribution.log_probs_of(torch.tensor([token_id]))[0]
    places = ranked(distribution.logits, count).ids if count else []
    ids = places if distribution.ids is None else distribution.ids[places].tolist()
    top = distribution.log_probs_of(torch.tensor(ids, dtype=torch.long)) if ids else []
    return TokenLogprobs(token_id, max(logprob, NEVER), tuple(ids), tuple(top))


def certain(token_id: int, count: int) -> TokenLogprobs:
    """Return log-probabilities of a token with probability 1; `count` as in `read`."""
    only = (token_id,) if count else ()
    return TokenLogprobs(token_id, 0.0, only, (0.0,) * len(only))
