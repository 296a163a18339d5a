"""One position of a round, for its figure and its table."""

from __future__ import annotations

from dataclasses import dataclass

from ...decoding.record.trace import Trace
from ...decoding.speculative.types import DraftRound, DraftToken, ExtraToken, PairCandidate
from .words import EXTRA, Kind, extra_kind, rule_of, token_at


@dataclass(frozen=True)
class VerifiedPosition:
    """A position to draw; `place` is the requested place, `position` the position in the round."""

    trace: Trace
    at: int
    place: int
    step: DraftRound
    position: int
    drafted: DraftToken | None
    extra: ExtraToken | None
    candidates: tuple[PairCandidate, ...]

    @property
    def residual_mass(self) -> float:
        """Mass of the residual; 0 if the rule has none."""
        return (
            self.drafted.residual_mass
            if self.drafted and (rule_of(self.trace) == "speculative")
            else 0.0
        )

    def kind_of(self, candidate: PairCandidate) -> Kind | None:
        """Return the outcome of a token at this position; None for a token that was neither drafted
        nor emitted.
        """
        if self.drafted is not None and candidate.token_id == self.drafted.token_id:
            return self.drafted.outcome
        if self.extra is not None and candidate.token_id == self.extra.token_id:
            return extra_kind(self.step)
        return None


def position_at(trace: Trace, at: int, place: int) -> VerifiedPosition | None:
    """Return a round's token by its place; None if there is none."""
    if token_at(trace, at, place) is None:
        return None
    step = trace.rounds[at]
    index = step.rejected_at if place == EXTRA else place
    drafted = None if index is None else step.drafted[index]
    extra = step.extra if index == step.rejected_at else None
    position = len(step.accepted) if index is None else step.depths[index]
    shown = extra if drafted is None else drafted
    assert shown is not None
    return VerifiedPosition(trace, at, place, step, position, drafted, extra, shown.candidates)


def shown_candidates(found: VerifiedPosition, count: int) -> list[PairCandidate]:
    """Return the most probable tokens of either model, by falling target_prob."""
    named = {token.token_id for token in (found.drafted, found.extra) if token is not None}
    others = sorted(
        (c for c in found.candidates if c.token_id not in named),
        key=lambda c: -max(c.target_prob, c.draft_prob or 0.0),
    )
    # Nothing is shown for a probability of 0 in both.
    others = [c for c in others if max(c.target_prob, c.draft_prob or 0.0) > 0]
    keep = named | {c.token_id for c in others[: max(0, count - len(named))]}
    chosen = [c for c in found.candidates if c.token_id in keep]
    return sorted(chosen, key=lambda c: (-c.target_prob, -(c.draft_prob or 0.0)))
