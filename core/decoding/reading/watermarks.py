"""Detection of a watermark in a run's own record; torch-free."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..record.steps import MarkedToken
from ..record.trace import Trace
from ..shaping.config import WATERMARKS, Shaping

# From this number of tokens on, a detector's verdict is worth something.
ENOUGH = 200
# Score from which transformers' detector calls a text marked.
THRESHOLD = 3.0
# Bias of a green list that is only looked for; the detector reads its key, not this number.
DETECTED_BIAS = 1.0


class Opening(NamedTuple):
    """Beginning of a text that was read, whose tokens have no recorded score.

    Args:
        prompt_tokens: number of the prompt's tokens that belong to the text.
        scores: green (1) or not (0) for each token that the green list's detector counts before the
            first recorded score.
    """

    prompt_tokens: int = 0
    scores: tuple[float, ...] = ()


NO_OPENING = Opening()


class Detection(NamedTuple):
    """Scores of a text's tokens, and the detector's verdict as the text grows.

    Args:
        name: setting of the watermark.
        expected: mean score of a text without the watermark.
        marks: recorded numbers of each step; None if the stage didn't act.
        scored: whether the detector counts a token: the tokens before it that are hashed stand in
            the text, and (SynthID) not for the second time.
        counts: number of scored tokens up to each token.
        means: mean score up to each token; None without a scored token.
        z_scores: standard deviations of the mean above the expected one; None as of `means`.
    """

    name: str
    expected: float
    marks: tuple[MarkedToken | None, ...]
    scored: tuple[bool, ...]
    counts: tuple[int, ...]
    means: tuple[float | None, ...]
    z_scores: tuple[float | None, ...]

    @property
    def p_values(self) -> tuple[float | None, ...]:
        """Probabilities that a text without the watermark has each score or more."""
        return tuple(None if z is None else p_value(z) for z in self.z_scores)

    @property
    def z_score(self) -> float | None:
        """Score of the whole text."""
        return self.z_scores[-1] if self.z_scores else None

    @property
    def p_value(self) -> float | None:
        """Probability that a text without the watermark has this score or more."""
        return None if self.z_score is None else p_value(self.z_score)


def p_value(z_score: float) -> float:
    """Return the upper tail of the normal distribution, as transformers' `WatermarkDetector`."""
    return 0.5 * math.erfc(z_score / math.sqrt(2))


def detections(trace: Trace, opening: Opening = NO_OPENING) -> tuple[Detection, ...]:
    """Return a detection for each watermark of the run's settings.

    Args:
        opening: beginning of a text that was read; by default the detector reads the generated
            tokens alone, as transformers advises.
    """
    shaping = trace.config.shaping
    ids = [step.token_id for step in trace.token_steps]
    return tuple(
        detect(
            ids,
            [
                next((stage.mark for stage in step.stages if stage.name == name), None)
                for step in trace.token_steps
            ],
            name,
            shaping,
            opening if name == "watermark_bias" else NO_OPENING,
        )
        for name in shaping.active(WATERMARKS)
    )


def detect(
    ids: Sequence[int],
    marks: Sequence[MarkedToken | None],
    name: str,
    shaping: Shaping,
    opening: Opening = NO_OPENING,
) -> Detection:
    """Return the detection of one watermark, given the numbers of each token."""
    green = name == "watermark_bias"
    scored = [
        mark is not None and counts
        for mark, counts in zip(
            marks, _counted(ids, name, shaping, opening.prompt_tokens), strict=True
        )
    ]
    expected = shaping.watermark_ratio if green else 0.5
    # Coins of one token: one if green or not, else one for each layer.
    coins = 1 if green else min(shaping.synthid_depth, len(shaping.synthid_keys))
    counts, means, z_scores = list[int](), list[float | None](), list[float | None]()
    total, count = math.fsum(opening.scores), len(opening.scores)
    for mark, counted in zip(marks, scored, strict=True):
        if mark is not None and counted:
            total, count = total + mark.score, count + 1
        counts.append(count)
        means.append(total / count if count else None)
        spread = math.sqrt(count * expected * (1 - expected) / coins)
        z_scores.append((total - expected * count) / spread if count else None)
    return Detection(
        name, expected, tuple(marks), tuple(scored), tuple(counts), tuple(means), tuple(z_scores)
    )


def hashed_before(shaping: Shaping) -> int:
    """Return the number of tokens before a token that the green list's detector hashes with it."""
    return shaping.watermark_context - (shaping.watermark_scheme == "selfhash")


def _counted(ids: Sequence[int], name: str, shaping: Shaping, prompt_tokens: int) -> Iterator[bool]:
    """Yield for each token whether the detector counts it."""
    if name == "watermark_bias":
        yield from (at + prompt_tokens >= hashed_before(shaping) for at in range(len(ids)))
        return
    width = shaping.synthid_ngram - 1
    remembered, counts = deque[tuple[int, ...]](), Counter[tuple[int, ...]]()
    for at in range(len(ids)):
        context = tuple(ids[at - width : at]) if at >= width else None
        yield context is not None and not counts[context]
        if context is not None:
            remembered.append(context)
            counts[context] += 1
            if len(remembered) > shaping.synthid_history:
                counts[remembered.popleft()] -= 1
