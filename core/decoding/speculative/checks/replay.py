"""Replay of a trace's rounds: scored and verified again with logits of independent forwards."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from ....language import N_, Message
from ...checks.common import MASS_TOLERANCE, TINY
from ...checks.forwards import stretched
from ...checks.nearby_rows import NearbyRows
from ...checks.same_record import difference
from ...constraints.grammar import masks_of
from ...protocol import LanguageModel
from ...record.masks import Mask
from ...record.trace import Trace
from ...shaping.draws import interval_of
from ...shaping.step import StepShaper
from ..acceptance import typical_threshold
from ..block import BlockNumbers, block_probs, residual_weight
from ..config import Speculative
from ..distributions import Rows
from ..rounds import positions_of
from ..tree.shape import path_to
from ..tree.verifying import compared_rows, remaining_rows
from ..types import DraftRound, DraftToken, ExtraToken, PairCandidate

# Faults of the target's candidates, then of the draft's.
_LEFT_OUT = (
    N_("a more probable token of the target is left out"),
    N_("a more probable token of the draft is left out"),
)


class Side(NamedTuple):
    """One model's part of a round.

    Args:
        logits: `[n, vocab]` logits of an independent forward, after the last emitted token and each
            drafted token.
        shaper: shaper of the logits.
        tolerance: largest difference of a log-probability from the run's, in nats.
        column: the candidates' attribute that holds this model's probabilities.
    """

    logits: Tensor
    shaper: StepShaper
    tolerance: float
    column: str


class RoundReplay:
    """A round as the engine would record it for any rows of logits near the independent ones."""

    def __init__(
        self,
        trace: Trace[Speculative],
        step: DraftRound,
        sides: Sequence[Side],
        model: LanguageModel,
    ) -> None:
        """Create the replay; `sides` are the target's, then the draft's if that model is given."""
        self._config, self._step, self._model = trace.config, step, model
        self._ids = [*trace.prompt_ids, *trace.token_ids[: step.start]]
        self._drafted = [token.token_id for token in step.drafted]
        self._after = [*step.predicted_after]
        if not step.parents:
            self._after = [*range(-1, len(step.drafted))]
        else:
            taken = [parent + 1 for parent in self._after]
            self._whole = sides[0].logits
            sides = [
                side._replace(logits=side.logits[taken[: None if at == 0 else len(step.drafted)]])
                for at, side in enumerate(sides)
            ]
        self._sides = sides
        self._nearby = [[self._near(side, at) for at in range(len(side.logits))] for side in sides]

    @property
    def _drawn_at(self) -> int:
        """The position, in the order of the candidates, of the target's own token."""
        rejected = self._step.rejected_at
        return len(self._drafted) if rejected is None else rejected

    def fault(self) -> str:
        """Describe the first number that the settings don't give; empty if they give all."""
        rows = [torch.stack([row.moved() for row in near]) for near in self._nearby]
        drafted = len(self._drafted)
        if len(rows[0]) < len(positions_of(self._step)) or any(
            len(side_rows) < drafted for side_rows in rows
        ):
            return N_("more was drafted than a context window holds")
        if fault := self._listing_fault(rows):
            return fault
        again = [self._again(rows)]
        if self._difference(again):
            again += [self._again(edge) for edge in self._edges(rows)]
        if self._step.draft_end == "no_token" and len(rows) > 1 and not self._step.parents:
            ahead = self._probabilities(self._sides[1], rows[1])[drafted : drafted + 1]
            if bool(ahead.any()):
                return N_("the draft had a token left")
        field = self._difference(again)
        return field and Message("the settings give another {field}", field=field)

    def _near(self, side: Side, at: int) -> NearbyRows:
        """Return the rows that the run may have had at a position."""
        row, positions = side.logits[at], positions_of(self._step)
        shown = positions[at] if at < len(positions) else ()
        raw = {c.token_id: getattr(c, side.column) or 0.0 for c in shown}
        norm = float(row.logsumexp(-1))
        recorded = {token: math.log(prob) + norm for token, prob in raw.items() if prob > TINY}
        listed = sorted(recorded, key=lambda token: (-raw[token], token))
        return NearbyRows(row, recorded, listed[: self._config.top_candidates], side.tolerance)

    def _edges(self, rows: Sequence[Tensor]) -> Iterator[list[Tensor]]:
        """Yield the rows of one model at the edges of the tolerance, and those of both at its
        ends.
        """
        edges = []
        for side, near, side_rows in zip(self._sides, self._nearby, rows, strict=True):
            likely = [probs.nonzero().flatten() for probs in self._probabilities(side, side_rows)]
            each = [row.edges([ids]) for row, ids in zip(near, likely, strict=True)]
            edges.append([torch.stack(edge) for edge in zip(*each, strict=True)])
        ends = ([side_rows, *moved[:2]] for side_rows, moved in zip(rows, edges, strict=True))
        yield from map(list, product(*ends))
        for at, moved in enumerate(edges):
            yield from ([*rows[:at], edge, *rows[at + 1 :]] for edge in moved[2:])

    def _probabilities(self, side: Side, rows: Tensor) -> Tensor:
        """Return `[n, vocab]` probabilities; 0 everywhere in a row without tokens."""
        paths = [path_to(self._step.tree, node) for node in self._after[: len(rows)]]
        ids = [[*self._ids, *(self._drafted[at] for at in path)] for path in paths]
        start = self._step.start
        shaped = side.shaper.rows(rows, ids, [start + len(path) for path in paths])
        if side.shaper.draws:
            return shaped.softmax(-1).nan_to_num(nan=0.0)
        best, places = shaped.max(-1, keepdim=True)
        return torch.zeros_like(shaped).scatter_(1, places, (best > -math.inf).float())

    def _again(self, rows: Sequence[Tensor]) -> DraftRound:
        """Return the round with every number recomputed from the rows."""
        step, raw = self._step, [side_rows.softmax(-1) for side_rows in rows]
        shaped = [self._probabilities(*pair) for pair in zip(self._sides, rows, strict=True)]
        if not self._config.source.draws:
            shaped.append(
                F.one_hot(torch.tensor(self._drafted, dtype=torch.long), rows[0].shape[-1])
            )
        if step.parents:
            shaped = self._of_siblings(shaped)
        pairs = [self._pairs(at, raw, shaped) for at in range(len(positions_of(step)))]
        tokens = (
            self._token(at, shaped)._replace(candidates=pairs[at])
            for at in range(len(step.drafted))
        )
        again = replace(step, drafted=self._blocks(tuple(tokens), shaped))
        if step.masks:
            again = replace(again, masks=self._masks(rows[0]))
        if step.recovered is not None:
            return replace(again, recovered=self._extra(step.recovered, shaped))
        if step.bonus is not None:
            bonus = self._extra(step.bonus, shaped)._replace(candidates=pairs[-1])
            return replace(again, bonus=bonus)
        return again

    def _masks(self, rows: Tensor) -> tuple[Mask, ...]:
        """Return what the constraint allows after the last emitted token and each drafted one."""
        shaper = self._sides[0].shaper
        if self._step.parents:
            rows = self._whole
            paths = [path_to(self._step.tree, node) for node in range(-1, len(self._drafted))]
            ids = [[*self._ids, *(self._drafted[at] for at in path)] for path in paths]
            shaper.rows(rows, ids, [self._step.start + len(path) for path in paths])
        return masks_of(self._model, rows, shaper.allowed)

    def _of_siblings(self, shaped: list[Tensor]) -> list[Tensor]:
        """Return the distributions that siblings are verified with, from those of their position.

        If only the draft knows them, later siblings have rows of NaN.
        """
        step, config, count = self._step, self._config, len(self._drafted)
        tree = step.tree
        here = Rows(shaped[0][:count], [])
        if len(shaped) == 1 and config.draft_draws:
            first = [at == 0 or tree[at - 1] != parent for at, parent in enumerate(tree)]
            hidden = torch.full_like(shaped[0][:count], math.nan)
            compared = torch.where(torch.tensor(first)[:, None], shaped[0][:count], hidden)
            return [torch.cat([compared, shaped[0][count:]])]
        draft = shaped[1] if len(shaped) > 1 else shaped[0]
        drawn = remaining_rows(draft[:count], self._drafted, tree, config)
        rows = here  # No rejection changes a one-hot row.
        if self._sides[0].shaper.draws:
            rows = compared_rows(here, Rows(drawn, []), self._drafted, tree, config.acceptance)
        assert rows.probs is not None
        return [torch.cat([rows.probs, shaped[0][count:]]), drawn]

    def _blocks(
        self, tokens: tuple[DraftToken, ...], shaped: Sequence[Tensor]
    ) -> tuple[DraftToken, ...]:
        """Return the tokens with the numbers of block verification."""
        if self._config.acceptance != "block" or len(shaped) == 1:
            return tokens
        probs, blocks = block_probs([(t.draft_prob, t.target_prob) for t in tokens]), []
        for at, prob in enumerate(probs, 1):
            excess = None
            if at < len(probs):
                excess = float((prob * shaped[0][at] - shaped[1][at]).clamp(min=0).sum())
            blocks.append(BlockNumbers(prob, excess))
        return tuple(t._replace(block=b) for t, b in zip(tokens, blocks, strict=True))

    def _pairs(
        self, at: int, raw: Sequence[Tensor], shaped: Sequence[Tensor]
    ) -> tuple[PairCandidate, ...]:
        """Return a position's candidates; the draft has no numbers at the bonus token."""
        models = 2 if at < len(self._drafted) else 1
        columns: dict[str, Tensor] = dict(
            zip(("target_prob", "draft_prob"), shaped[:models], strict=False)
        )
        columns |= zip(("target_raw_prob", "draft_raw_prob"), raw[:models], strict=False)
        pairs = []
        for candidate in positions_of(self._step)[at]:
            probs: dict[str, Any] = {
                name: float(rows[at, candidate.token_id]) for name, rows in columns.items()
            }
            pairs.append(candidate._replace(**probs))
        return tuple(pairs)

    def _token(self, at: int, shaped: Sequence[Tensor]) -> DraftToken:
        token, (target, *draft) = self._step.drafted[at], [rows[at] for rows in shaped]
        token_id, interval = token.token_id, interval_of(target, token.token_id)
        token = token._replace(target_prob=float(target[token_id]))
        if self._step.masks and (allowed := self._sides[0].shaper.allowed) is not None:
            token = token._replace(refused=not allowed[at, token_id])
        for draft_row in draft:
            mass = float((target - draft_row).clamp(min=0).sum())
            token = token._replace(draft_prob=float(draft_row[token_id]), residual_mass=mass)
            if token.draft_interval is not None:
                token = token._replace(draft_interval=interval_of(draft_row, token_id))
        if token.interval is not None:
            token = token._replace(interval=interval)
        elif self._config.acceptance == "exact" and token.uniform is not None:
            token = token._replace(passed=interval[0] <= token.uniform < interval[1])
        if token.threshold is not None:
            bounds = self._config.posterior_threshold, self._config.posterior_alpha
            entropy = float(torch.special.entr(target).sum())
            token = token._replace(threshold=typical_threshold(entropy, *bounds))
        return token

    def _extra(self, token: ExtraToken, shaped: Sequence[Tensor]) -> ExtraToken:
        """Return the target's own token with the distribution from which it was drawn."""
        at, token_id = self._drawn_at, token.token_id
        target = drawn_from = shaped[0][at]
        token = token._replace(target_prob=float(target[token_id]))
        if self._step.recovered is not None and self._config.acceptance == "typical":
            token = token._replace(token_id=int(target.argmax()))
        if self._step.recovered is not None and len(shaped) > 1:
            token = token._replace(draft_prob=float(shaped[1][at, token_id]))
        if self._step.recovered is not None and self._config.acceptance in ("speculative", "block"):
            if len(shaped) == 1:
                return token
            weight = residual_weight([token.block for token in self._step.drafted], at)
            excess = (weight * target - shaped[1][at]).clamp(min=0)
            drawn_from = excess / excess.sum() if excess.any() else target
        token = token._replace(prob=float(drawn_from[token_id]))
        if token.interval is None:
            return token
        return token._replace(interval=interval_of(drawn_from, token_id))

    def _difference(self, again: Sequence[DraftRound]) -> str:
        """Return the first field in which the round differs from the recomputed ones."""
        step, slacks = self._step, [MASS_TOLERANCE]
        for side in self._sides:
            slacks.append(MASS_TOLERANCE + 2 * stretched(side.tolerance, side.shaper.shaping))
        others = [replace(round_again, recovered=None) for round_again in again]
        field = difference(replace(step, recovered=None), others, max(slacks))
        if field or step.recovered is None:
            return field
        # The residual of two rows has their errors divided by its mass.
        rejected = step.drafted[self._drawn_at]
        mass = rejected.residual_mass
        if self._config.acceptance == "block" and self._drawn_at:
            before = step.drafted[self._drawn_at - 1].block
            mass = mass if before is None else before.excess or 0.0
        share = mass if self._config.acceptance in ("speculative", "block") else 1.0
        recovered = [round_again.recovered for round_again in again]
        return difference(step.recovered, recovered, max(slacks) / max(TINY, share), "recovered")

    def _listing_fault(self, rows: Sequence[Tensor]) -> str:
        """Describe a missing most probable token of either model, or a listed token that doesn't
        belong.
        """
        step, extra = self._step, self._step.extra
        for at, candidates in enumerate(positions_of(step)):
            listed = {candidate.token_id for candidate in candidates}
            allowed = {*self._drafted[at : at + 1]}
            allowed |= {extra.token_id} if extra and at == self._drawn_at else set()
            models = rows if at < len(step.drafted) else rows[:1]
            for side_rows, fault in zip(models, _LEFT_OUT, strict=False):
                count = min(self._config.top_candidates, side_rows.shape[-1])
                least = side_rows[at].topk(count)[0][-1]
                above = {*(side_rows[at] > least).nonzero().flatten().tolist()}
                reaching = {*(side_rows[at] >= least).nonzero().flatten().tolist()}
                if not above <= listed or len(reaching & listed) < count:
                    return fault
                allowed |= reaching
            whole = not self._config.source.draws or len(rows) > 1
            if whole and not listed <= allowed:
                return N_("a token is listed that neither model finds probable")
        return ""
