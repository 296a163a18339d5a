"""Log-probabilities of one token, read from a distribution."""

from __future__ import annotations

import torch
from torch import Tensor

from core.decoding.loop.recording import ranked_ids
from core.decoding.protocol import LanguageModel
from core.decoding.shaping.known import known_distribution
from core.decoding.shaping.stages import Distribution, raw_distribution
from core.server.api.errors import ApiError
from core.server.api.logprobs import NEVER, TokenLogprobs


def read_raw(model: LanguageModel, row: Tensor, token_id: int, count: int) -> TokenLogprobs:
    """A token in the model's own distribution, of logits `[vocab]`.

    Raises:
        ApiError: its server names other tokens of this place only.
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
    """A token in a distribution, with its `count` most probable ones; removed tokens never."""
    own = distribution.log_probs_of(torch.tensor([token_id]))[0]
    places = ranked_ids(distribution.logits, count) if count else []
    ids = places if distribution.ids is None else distribution.ids[places].tolist()
    top = distribution.log_probs_of(torch.tensor(ids, dtype=torch.long)) if ids else []
    return TokenLogprobs(token_id, max(own, NEVER), tuple(ids), tuple(top))


def certain(token_id: int, count: int) -> TokenLogprobs:
    """A token that nothing else could have been; `count` as of `read`."""
    only = (token_id,) if count else ()
    return TokenLogprobs(token_id, 0.0, only, (0.0,) * len(only))
