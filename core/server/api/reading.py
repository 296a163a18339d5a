"""Log-probabilities of one token, read from a distribution."""

from __future__ import annotations

import torch

from core.decoding.loop.recording import ranked_ids
from core.decoding.shaping.stages import Distribution
from core.server.api.logprobs import NEVER, TokenLogprobs


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
