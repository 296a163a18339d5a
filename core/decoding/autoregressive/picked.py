"""A pick with the distributions that led to it, and tokens that take its place."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from ...language import Message
from ..errors import DecodingError
from ..protocol import LanguageModel
from ..record.steps import ForcedAs, Phase
from ..shaping.draws import Pick
from ..shaping.long_rows import Ranking
from ..shaping.stages import Distribution


class Picked(NamedTuple):
    """A pick with the distributions that led to it; times in seconds.

    `top` ranks the candidates of the first distribution if all of its tokens are known.
    `second_seconds` is the time of a second forward.
    """

    pick: Pick
    stages: list[Distribution]
    shaping_seconds: float
    draw_seconds: float
    top: Ranking | None = None
    second_seconds: float = 0.0


class ForcedToken(NamedTuple):
    """A forced token, its `[vocab]` logits, and the pick that it replaces; None if nothing was
    picked.
    """

    token_id: int
    reason: ForcedAs | None
    phase: Phase
    logits: Tensor
    picked: Picked | None


def cannot_force(model: LanguageModel, token_id: int) -> DecodingError:
    """Error for a forced token to which the model gives no probability."""
    return DecodingError(
        Message(
            "The model rules out the token {token!r}, which is to be forced; give "
            "another token or text.",
            token=model.token_text(token_id),
        )
    )


def all_on(token_id: int, before: Distribution) -> Distribution:
    """Return a stage that gives a forced token probability 1, whatever its probability was."""
    ids = torch.tensor([token_id])
    removed_mass = max(0.0, -math.expm1(before.log_probs_of(ids)[0]))
    return Distribution("forced", ids, torch.zeros(1), torch.ones(1), 0.0, 1, removed_mass)
