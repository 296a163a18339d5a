"""Whether a seed's noise draws the candidates that a search says it drew."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from core.decoding.beam.config import BeamSearch
from core.decoding.beam.types import BeamStep
from core.decoding.record.trace import Trace
from core.decoding.shaping.draws import draw_noise, new_generator

# Nats below the best candidate; sums further below may have no probability in float32.
_FAINT = 45.0


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A step's draw as it is recorded.

    Args:
        state: of the generator before it.
        best: the highest sum of a candidate.
        last: the lowest sum + noise of a candidate; -inf where fewer than K are listed.
        rounding: what float32 may do to a sum, nats.
    """

    state: Tensor
    best: float
    last: float
    rounding: float


class DrawOrder:
    """The noise of every draw once more, against the recorded candidates.

    `torch.multinomial` without replacement takes the K highest of p / E with E exponential, so the
    candidates are those with the highest ln p - ln E in falling order.

    Attributes:
        disorder: for each step by how much, in nats, a later candidate lies above an earlier one;
            infinite where the ranks are not those of a draw.
    """

    def __init__(self, trace: Trace[BeamSearch], vocab_size: int, most: int) -> None:
        self._beams, self._vocab = trace.config.num_beams, vocab_size
        self._size = self._beams * vocab_size
        self._most = min(most, self._size)
        self._draws: list[_Drawn] = []
        self.disorder: list[tuple[float, int]] = []
        generator = new_generator(trace.config.seed)
        for index, step in enumerate(trace.beam_steps):
            state = generator.get_state()
            noise = draw_noise("multinomial", generator, self._size)
            self._draws.append(self._drawn(step, index, state, noise))

    def _drawn(self, step: BeamStep, index: int, state: Tensor, noise: Tensor) -> _Drawn:
        listed = [c for c in step.candidates if c.parent < self._beams]
        places = [c.parent * self._vocab + c.token_id for c in listed]
        sums = torch.tensor([c.cum_logprob for c in listed], dtype=torch.float64)
        scores = sums - noise[places].double().log()
        best = float(sums.max()) if listed else -math.inf
        rounding = torch.finfo(torch.float32).eps * float(sums.abs().max()) if listed else 0.0
        clear = torch.nonzero(sums > best - _FAINT).flatten().tolist()
        wrong = any(listed[at].rank != at + 1 for at in range(clear[-1] + 1 if clear else 0))
        rises = float(scores[clear].diff().max()) - rounding if len(clear) > 1 else 0.0
        fits = len(listed) == len(step.candidates) and len(step.groups) <= self._beams
        self.disorder.append((math.inf if wrong or not fits else max(0.0, rises), index))
        full = len(listed) >= self._most
        return _Drawn(state, best, float(scores.min()) if full else -math.inf, rounding)

    def excess(self, step: BeamStep, index: int, row: int, sums: Tensor, near: Tensor) -> float:
        """By how much, in nats, a token of a row that wasn't drawn lies above the last that was.

        Args:
            sums: `[vocab]`, of the row's paths with each token; -inf where it is removed.
            near: `[vocab]`, tokens that the run may have removed by rounding.
        """
        drawn = self._draws[index]
        others = (sums > drawn.best - _FAINT) & ~near
        others[[c.token_id for c in step.candidates if c.parent == row]] = False
        if row >= self._beams or not bool(others.any()):
            return 0.0
        generator = torch.Generator()
        generator.set_state(drawn.state)
        noise = draw_noise("multinomial", generator, self._size)
        own = noise[row * self._vocab : (row + 1) * self._vocab]
        highest = float((sums - own.double().log())[others].max())
        return max(0.0, highest - drawn.last - drawn.rounding)
