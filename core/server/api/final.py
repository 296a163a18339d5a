"""Final log-probabilities of methods whose steps are not made of one forward's logits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import torch
from torch import Tensor

from core.decoding.autoregressive.config import Sampling
from core.decoding.autoregressive.engine import Picker
from core.decoding.beam.candidates import less_taken, shaper_of
from core.decoding.beam.config import BeamSearch
from core.decoding.config import MethodConfig
from core.decoding.loop.recording import ranked_ids
from core.decoding.protocol import LanguageModel
from core.decoding.speculative.config import Speculative
from core.server.api.logprobs import NEVER, TokenLogprobs
from core.server.api.reading import certain, read

# Of a token: its index in the run, logits `[vocab]`, the ids before it, its id, how many beside it.
Final: TypeAlias = Callable[[int, Tensor, Sequence[int], int, int], TokenLogprobs]
# The tokens that the groups before a path's own took at a step, by the step's index.
Taken: TypeAlias = Callable[[int], Sequence[int]]


def final_of(model: LanguageModel, config: MethodConfig, taken: Taken = lambda _: ()) -> Final:
    """How the final log-probabilities of a run are read.

    A beam search: what each token adds to the score of its path, nats; where penalties act they
    are no distribution, as in transformers. Speculative decoding that draws: the target's
    distribution, which the verification holds the draft to. Where nothing is drawn the choice is
    certain.
    """
    if isinstance(config, BeamSearch):
        return _scores(model, config, taken)
    if isinstance(config, Speculative) and config.shaping.temperature > 0:
        return _drawn_from(model, config)
    return lambda _index, _row, _ids, token_id, count: certain(token_id, count)


def _drawn_from(model: LanguageModel, config: Speculative) -> Final:
    as_sampled = Sampling(
        max_new_tokens=config.max_new_tokens,
        min_new_tokens=config.min_new_tokens,
        shaping=config.shaping,
        seed=config.seed,
    )
    # Draws from a generator of its own; the stages before the draw are those of the target.
    picker = Picker(model, as_sampled)

    def final(
        index: int, row: Tensor, ids: Sequence[int], token_id: int, count: int
    ) -> TokenLogprobs:
        return read(picker.pick(index, row, ids).stages[-1], token_id, count)

    return final


def _scores(model: LanguageModel, config: BeamSearch, taken: Taken) -> Final:
    shaper = shaper_of(model, config)

    def final(
        index: int, row: Tensor, ids: Sequence[int], token_id: int, count: int
    ) -> TokenLogprobs:
        log_probs = torch.log_softmax(row, dim=-1)
        before = less_taken(log_probs[None], config.diversity_penalty, taken(index))
        scores = shaper.rows(before, [ids], [index])[0]
        top = ranked_ids(scores, count) if count else []
        own = max(float(scores[token_id]), NEVER)
        return TokenLogprobs(token_id, own, tuple(top), tuple(scores[top].tolist()))

    return final
