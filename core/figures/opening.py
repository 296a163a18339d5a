"""Initial selection of a page: the step, token or candidate of a run that it opens with."""

from __future__ import annotations

from core.decoding.beam.compare import greedy_path
from core.decoding.record.trace import Trace
from core.figures.beam.window import Node
from core.figures.speculative.words import EXTRA


def most_open_step(trace: Trace) -> int:
    """Return the index of the step with the highest entropy."""
    steps = trace.token_steps
    return max(range(len(steps)), key=lambda at: steps[at].entropy, default=0)


def telling_token(trace: Trace) -> tuple[int, int] | None:
    """Return the first token that a random number rejected, else the first rejected token, else the
    first token.
    """
    rejected = [(at, len(s.accepted)) for at, s in enumerate(trace.rounds) if s.recovered]
    by_chance = [key for key in rejected if trace.rounds[key[0]].drafted[key[1]].accept_prob > 0]
    if rejected:
        return (by_chance or rejected)[0]
    return (0, telling_place(trace, 0)) if trace.rounds else None


def telling_place(trace: Trace, at: int) -> int:
    """Return the place of a round's rejected token, else of its first drafted token, else of the
    target's.
    """
    step = trace.rounds[at]
    if step.recovered:
        return len(step.accepted)
    return 0 if step.drafted else EXTRA


def telling_node(trace: Trace) -> Node | None:
    """Return the node where greedy decoding's path left the beam, else where the winner left it,
    else the end.
    """
    steps = trace.beam_steps
    if not steps:
        return None
    greedy = greedy_path(trace)
    if greedy is not None and greedy.end == "pruned":
        return greedy.step, steps[greedy.step].candidates.index(greedy.path[-1])
    if greedy is not None and greedy.parted_at is not None:
        lost = greedy.path[greedy.parted_at]
        return greedy.parted_at, steps[greedy.parted_at].candidates.index(lost)
    return len(steps) - 1, 0
