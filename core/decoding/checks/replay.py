"""Whether the settings, applied to logits of an independent forward, give a step's stages.

The logits differ from the run's own by rounding, and a token that stood next to a cut may now stand
on its other side. So each cut is held to what was recorded: as many tokens, and the filter's own
condition met to within the tolerance of the logits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from core.decoding.checks.filter_cuts import MASS_TOLERANCE
from core.decoding.checks.forwards import rank_fits, rival_is_missing
from core.decoding.config import MethodConfig
from core.decoding.counting import nth
from core.decoding.record.trace import Stage, TokenStep
from core.decoding.shaping.config import RESCALING, SETTINGS, Shaping
from core.decoding.shaping.spec import FloorCut, MassCut, RankCut, Seen
from core.decoding.shaping.stage import NamedNoise, StepContext
from core.decoding.shaping.stages import penalties, processors_of, warper_names

# Probabilities smaller than this are compared with a floor no further.
_LEAST = 1e-12


def seen_in(logits: Tensor) -> Seen:
    """What a floor may depend on, in `[vocab]` logits that leave at least one token."""
    probs, alive = logits.softmax(-1), logits[logits > -math.inf]
    entropy = float(torch.special.entr(probs).sum())
    return Seen(float(probs.max()), entropy, float(alive.std(correction=0)))


def replayed_fault(
    logits: Tensor,
    step: TokenStep,
    config: MethodConfig,
    previous_ids: Sequence[int],
    eos_ids: Sequence[int],
    tolerance: float,
    noise: Tensor | None,
) -> str:
    """The first difference between a step's stages and the settings applied to `[vocab]` logits.

    Args:
        logits: of an independent forward.
        tolerance: how far these may be from the run's own, in nats.
        noise: the run's, at this step; None where nothing was drawn by its own dice.
    """
    most = config.top_candidates
    if not rank_fits(logits, step.token_id, step.chosen.rank, tolerance):
        return f"step {nth(step.index)}: the model ranks the token elsewhere"
    if rival_is_missing(logits, step.candidates[:most], most, tolerance):
        return f"step {nth(step.index)}: a token that is more probable is missing"
    ids = torch.tensor([candidate.token_id for candidate in step.candidates])
    rows = [*_rows(logits.double(), step, config, previous_ids, eos_ids, tolerance)]
    for stage, row in zip(step.stages, rows, strict=False):
        if row is None:
            return f"step {nth(step.index)}: {stage.name} doesn't cut there"
        if fault := _difference(stage, row, ids):
            return f"step {nth(step.index)}: {stage.name} leaves {fault}"
    if step.compared is None and rows[-1] is not None and not _picks(rows[-1], step, noise):
        return f"step {nth(step.index)}: the draw gives another token"
    return ""


class _StageRow(NamedTuple):
    """Logits `[vocab]` after a stage, -inf where removed; `near` marks tokens next to a cut."""

    logits: Tensor
    tolerance: float
    removed_mass: float = 0.0
    near: Tensor | None = None
    near_mass: float = 0.0


def _rows(
    logits: Tensor,
    step: TokenStep,
    config: MethodConfig,
    previous_ids: Sequence[int],
    eos_ids: Sequence[int],
    tolerance: float,
) -> Iterator[_StageRow | None]:
    """A row for every stage up to the draw; None where the recorded cut can't be made."""
    shaping = config.shaping
    held_back = eos_ids if step.index < config.min_new_tokens else []
    processors = dict(penalties(shaping, previous_ids, held_back))
    noise = NamedNoise(getattr(config, "seed", 0), step.index)
    context = StepContext(previous_ids, len(previous_ids) - step.index, noise)
    replayed = [n for n in warper_names(shaping) if SETTINGS[n].cut is None]
    processors |= processors_of(shaping, replayed, context)
    yield (row := _StageRow(logits, tolerance))
    for stage in step.stages[1:-1]:
        before, name = row, stage.name
        if name in ("argmax", "forced"):
            return
        if name in RESCALING and name in processors:
            stretch = SETTINGS[name].stretch(getattr(shaping, name))
            row = _StageRow(processors[name](before.logits), before.tolerance * stretch)
        elif name in processors:
            row = _without(before, processors[name](before.logits))
        elif cut := _cut(before, stage, shaping):
            row = cut
        else:
            yield None
            return
        yield row


def _without(before: _StageRow, logits: Tensor, near: Tensor | None = None) -> _StageRow:
    removed = 1 - (torch.logsumexp(logits, -1) - torch.logsumexp(before.logits, -1)).exp()
    near_mass = 0.0 if near is None else float(before.logits.softmax(-1)[near].sum())
    return _StageRow(logits, before.tolerance, float(removed), near, near_mass)


def _picks(row: _StageRow, step: TokenStep, noise: Tensor | None) -> bool:
    """Return whether argmax or the noise picks the token, or the one that it was forced over."""
    picked = step.token_id if step.instead_of is None else step.instead_of
    logits, slack = row.logits, MASS_TOLERANCE + 4 * row.tolerance + 2 * row.near_mass
    if step.draw.method == "forced":
        return True
    if not 0 <= picked < len(logits):
        return False
    if step.draw.interval is not None:
        return interval_fits(logits.softmax(-1), picked, step.draw.interval, slack)
    scores = logits if noise is None else logits.log_softmax(-1) - noise.double().log()
    if row.near is not None:
        scores = scores.masked_fill(
            row.near.index_fill(0, torch.tensor([picked]), False), -math.inf
        )
    return bool(scores[picked] >= scores.max() - slack)


def interval_fits(
    probs: Tensor, token_id: int, interval: tuple[float, float], slack: float
) -> bool:
    """Return whether a token's interval begins where the more probable tokens of `[vocab]` end.

    Args:
        slack: by which sums may be off, and probabilities in proportion.
    """
    lowest, highest = interval_starts(probs, token_id, slack)
    return lowest <= interval[0] <= highest


def interval_starts(probs: Tensor, token_id: int, slack: float) -> tuple[float, float]:
    """Between which numbers a token's interval begins, in `[vocab]` probabilities.

    Args:
        slack: as of `interval_fits`.
    """
    own, ratio = float(probs[token_id]), math.exp(min(slack, 1.0))
    surely = float(probs[probs > own * ratio].sum())
    perhaps = float(probs[probs >= own / ratio].sum()) - own
    return surely - slack, perhaps + slack


class _Edge(NamedTuple):
    """Where a recorded cut falls among probabilities; `firm` tokens are surely on its upper side.

    `mass` is of the kept tokens, `firm_mass` of the firm ones; `lowest` is the least probable kept
    token, `following` the most probable removed one; `tolerance` is in nats.
    """

    alive: int
    kept: int
    firm: int
    mass: float
    firm_mass: float
    lowest: float
    following: float
    tolerance: float

    def at_count(self, wanted: int) -> bool:
        wanted = min(wanted, self.alive)
        return self.kept == wanted or self.firm < wanted < self.kept

    def at_mass(self, wanted: float) -> bool:
        slack = MASS_TOLERANCE + 4 * self.tolerance
        return self.firm_mass - slack <= wanted <= self.mass + slack

    def at_floor(self, wanted: float, sway: float) -> bool:
        slack = (4 + sway) * self.tolerance
        above = wanted * (1 + slack) + _LEAST
        below = wanted * (1 - slack) - _LEAST
        return (self.kept == 1 or self.lowest >= below) and self.following <= above


def _fits(rule: RankCut | MassCut | FloorCut, value: Any, edge: _Edge, logits: Tensor) -> bool:
    """Whether a setting's value puts its cut of `[vocab]` logits at the recorded edge."""
    if isinstance(rule, RankCut):
        return edge.at_count(value)
    if isinstance(rule, MassCut):
        return edge.at_mass(value)
    return edge.at_floor(rule.level(value, seen_in(logits)), rule.sway(value))


def _cut(before: _StageRow, stage: Stage, shaping: Shaping) -> _StageRow | None:
    """The row cut so that as many tokens stay as were recorded; None where that cut is wrong."""
    logits, rule = before.logits, SETTINGS[stage.name].cut if stage.name in SETTINGS else None
    alive = int((logits > -math.inf).sum())
    if rule is None or not 1 <= stage.kept <= alive:
        return None
    probs = logits.softmax(-1)
    # Typical tokens are those whose surprisal is nearest to the entropy.
    typical = isinstance(rule, MassCut) and rule.first == "typical"
    key = -(-probs.log() - seen_in(logits).entropy).abs() if typical else logits
    order = torch.topk(key, min(stage.kept + 1, alive)).indices
    kept = order[: stage.kept]
    # Two logits and an entropy make a distance: its error is larger than theirs.
    near = (key - key[kept[-1]]).abs() <= 4 * before.tolerance
    firm = kept[~near[kept]]
    edge = _Edge(
        alive,
        stage.kept,
        len(firm),
        float(probs[kept].sum()),
        float(probs[firm].sum()),
        float(probs[kept[-1]]),
        float(probs[order[stage.kept :]].sum()),
        before.tolerance,
    )
    if not _fits(rule, getattr(shaping, stage.name), edge, logits):
        return None
    row = torch.full_like(logits, -math.inf).scatter_(0, kept, logits[kept])
    return _without(before, row, near)


def _difference(stage: Stage, row: _StageRow, ids: Tensor) -> str:
    """In which of its numbers a stage differs from the row, empty where in none."""
    slack = MASS_TOLERANCE + 4 * row.tolerance + row.near_mass
    if stage.kept != int((row.logits > -math.inf).sum()):
        return "another number of tokens"
    if abs(stage.removed_mass - row.removed_mass) > slack:
        return "another mass"
    probs = (row.logits[ids] - torch.logsumexp(row.logits, -1)).exp()
    differs = (probs - torch.tensor(stage.probs, dtype=torch.float64)).abs() > slack
    if row.near is not None:
        differs &= ~row.near[ids]
    return "other probabilities" if bool(differs.any()) else ""
