"""Numbers of canvas steps again, from an independent forward."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from ...language import N_, Message
from ..checks.common import count, worst
from ..checks.forwards import (
    candidate_error,
    entropy_of,
    largest_logit,
    log_error,
    logit_tolerance,
    nan_first,
)
from ..checks.token_replay import SAME_STAGES, TokenReplay, record_picked
from ..counting import at_step, counted
from ..protocol import LanguageModel
from ..record.steps import TokenStep
from ..record.trace import Check, Trace
from .config import Diffusion
from .order import draw_uniform
from .types import OPEN_CANDIDATES, CanvasStep, OpenCandidate, OpenPosition


class _TokenReplay(TokenReplay):
    """Replay of filled positions, with the number that the seed gives each at its step."""

    step = 0

    def _noise_of(self, step: TokenStep) -> Tensor | None:
        config = self._trace.require(Diffusion).config
        uniform = draw_uniform(config, self.step, step.index)
        return torch.tensor(uniform, dtype=torch.float64)


class CanvasReplay:
    """Deviations and faults of a run's steps, collected step by step."""

    def __init__(self, trace: Trace[Diffusion], model: LanguageModel) -> None:
        self._trace, self._model = trace, model
        self._tokens = _TokenReplay(trace, model, record_picked)
        self.deviations, self.faults, self._largest = [0.0], list[str](), 1.0

    @property
    def _tolerance(self) -> float:
        """Tolerance of a logit; guidance adds the errors of its two forwards."""
        guidance = 1 + 2 * self._trace.config.cfg_scale
        return logit_tolerance(self._trace, self._model, self._largest) * guidance

    def widen(self, logits: Tensor) -> float:
        """Take in the logits of a step and return the tolerance of a logit."""
        self._largest = max(self._largest, largest_logit(logits))
        return self._tolerance

    def filled(
        self, at: int, step: TokenStep, row: Tensor, before: Sequence[int], tolerance: float
    ) -> None:
        """Replay a position that step `at` filled, from its `[vocab]` logits."""
        self._tokens.step = at
        self.deviations.append(candidate_error(row, step.candidates))
        self.faults.append(self._tokens.fault(step, row, before, tolerance))

    def texts(self, step: CanvasStep) -> None:
        """Compare the texts of a step's tokens with the model's."""
        tokens = [(token.token_id, token.text) for token in step.candidates]
        tokens += [(token.token_id, token.text) for token in step.open]
        tokens += [(token.token_id, token.text) for token in step.canvas]
        if any(text != self._model.token_text(token_id) for token_id, text in tokens):
            self.faults.append(at_step(step.index, N_("a text is not its token's")))

    def checks(self) -> list[Check]:
        """Return the checks of all steps."""
        steps = counted(len(self._trace.steps), "step")
        detail = Message(
            "largest difference of log-probabilities and entropies over {steps}", steps=steps
        )
        return [
            worst("canvas_again", self.deviations, 2 * self._tolerance, detail),
            count(SAME_STAGES, [*filter(None, self.faults)], "faults"),
        ]


def position_error(
    opened: OpenPosition, listed: Sequence[OpenCandidate], logits: Tensor, fewest: int
) -> float:
    """Return the largest deviation of an open position's numbers from `[vocab]` logits, in nats;
    infinite if it has fewer candidates than recorded ones have.

    Args:
        fewest: number of recorded candidates, if the model gives so many tokens a probability.
    """
    log_probs = torch.log_softmax(logits.double(), dim=-1)
    errors = [
        abs(entropy_of(log_probs) - opened.entropy),
        log_error(float(log_probs[opened.token_id]), opened.prob),
        *(log_error(float(log_probs[c.token_id]), c.prob) for c in listed),
        *_ranking_errors(log_probs, listed, fewest),
    ]
    return max(errors, key=nan_first)


def _ranking_errors(
    log_probs: Tensor, listed: Sequence[OpenCandidate], fewest: int
) -> Iterator[float]:
    """Yield the distance of each listed probability from the one of its rank in the vocabulary."""
    alive = int((log_probs > -math.inf).sum())
    highest = torch.topk(log_probs, min(OPEN_CANDIDATES, alive))[0].tolist()
    if not min(fewest, len(highest)) <= len(listed) <= len(highest):
        yield math.inf
    for value, candidate in zip(highest, listed, strict=False):
        yield log_error(value, candidate.prob)
