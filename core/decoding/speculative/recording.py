"""Record of one round: every drafted token with its numbers, and the target's own token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from ..config import Ended
from ..protocol import LanguageModel
from .candidates import Position, read_positions
from .config import Speculative
from .distributions import Rows, join, residual_masses
from .drafters.proposal import Proposal
from .tree.shape import chain
from .types import DraftToken, ExtraToken, Outcome, PairCandidate
from .verification import EmittedByTarget, Verification


class RoundVerdict(NamedTuple):
    """Outcome of a round; `extra` follows the accepted tokens, unless one of them ended the run.

    `path` has the indices of the accepted tokens.
    """

    outcomes: list[Outcome]
    extra: EmittedByTarget | None
    texts: list[str]
    reason: Ended | None
    path: list[int]

    @property
    def accepted(self) -> int:
        return len(self.path)

    @property
    def rejected_at(self) -> int | None:
        """Index of the rejected token that `extra` replaces; None if it replaces none."""
        rejected = [at for at, outcome in enumerate(self.outcomes) if outcome == "rejected"]
        return rejected[-1] if rejected and rejected[-1] > max(self.path, default=-1) else None


class ScoredDraft(NamedTuple):
    """A proposal with the target's distributions and the verifications.

    Args:
        logits: the target's, after the last emitted token and after each drafted token.
        rows: their distributions.
        compared: distribution that each drafted token is verified against; that of its position,
            but for siblings in a tree.
    """

    proposal: Proposal
    logits: Tensor
    rows: Rows
    compared: Rows
    verifications: list[Verification]
    cache_before: int
    cache_peak: int

    @property
    def tree(self) -> Sequence[int]:
        """Parent of each drafted token."""
        parents = self.proposal.parents
        return chain(len(self.proposal.token_ids)) if parents is None else parents


def record(
    model: LanguageModel,
    config: Speculative,
    scored: ScoredDraft,
    verdict: RoundVerdict,
    allowed: Tensor | None,
) -> tuple[list[DraftToken], ExtraToken | None]:
    """Return the round's tokens as the trace records them.

    Args:
        allowed: what the constraint allows after the last emitted token and each drafted token.
    """
    proposal, extra, replaced = scored.proposal, verdict.extra, verdict.rejected_at
    drawn = (extra.drawn.token_id,) if extra else ()
    count = len(proposal.token_ids)
    positions = [
        Position(row, row, (token_id, *(drawn if row == replaced else ())))
        for row, token_id in enumerate(proposal.token_ids)
    ]
    logits, rows = scored.logits, scored.compared
    has_bonus = extra is not None and replaced is None
    if has_bonus:
        positions.append(Position(count, None, drawn))
    if proposal.parents is not None:
        end = verdict.path[-1] + 1 if verdict.path else 0
        logits = logits[[*(parent + 1 for parent in proposal.parents), *([end] * has_bonus)]]
        rows = join([rows, *([scored.rows.at(end)] * has_bonus)])
    candidates = read_positions(
        model, positions, logits, rows, proposal.logits, proposal.rows, config.top_candidates
    )
    masses = residual_masses(scored.compared, proposal.rows)
    tokens = [
        _draft_token(model, scored, row, verdict.outcomes[row], masses[row], candidates[row])
        for row in range(count)
    ]
    if allowed is not None:
        tokens = [
            token._replace(refused=not allowed[parent + 1, token.token_id])
            for token, parent in zip(tokens, scored.tree, strict=True)
        ]
    if extra is None:
        return tokens, None
    listed = candidates[count if replaced is None else replaced]
    pair = next(c for c in listed if c.token_id == extra.drawn.token_id)
    emitted = ExtraToken(
        token_id=pair.token_id,
        text=pair.text,
        prob=extra.drawn.prob,
        target_prob=pair.target_prob,
        draft_prob=pair.draft_prob,
        uniform=extra.uniform,
        interval=extra.drawn.interval if extra.uniform is not None else None,
        candidates=listed if replaced is None else (),
    )
    return tokens, emitted


def _draft_token(
    model: LanguageModel,
    scored: ScoredDraft,
    row: int,
    outcome: Outcome,
    mass: float,
    candidates: tuple[PairCandidate, ...],
) -> DraftToken:
    proposal, verification = scored.proposal, scored.verifications[row]
    token_id = proposal.token_ids[row]
    return DraftToken(
        token_id=token_id,
        text=model.token_text(token_id),
        draft_prob=verification.draft_prob,
        target_prob=verification.target_prob,
        accept_prob=verification.accept_prob,
        uniform=verification.uniform,
        passed=verification.passed,
        outcome=outcome,
        residual_mass=mass,
        candidates=candidates,
        draft_uniform=proposal.uniforms[row],
        draft_interval=proposal.intervals[row],
        interval=verification.interval,
        threshold=verification.threshold,
        block=verification.block,
    )
