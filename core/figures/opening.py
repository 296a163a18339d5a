"""Initial selection of a page: the step, token or candidate of a run that it opens with."""

from __future__ import annotations

import heapq

from ..decoding.beam.compare import greedy_path
from ..decoding.record.trace import Trace
from .beam.window import Node
from .speculative.words import EXTRA

# A token that a draw takes now and then, and a lead that one sees.
_RIVAL, _LEAD = 0.1, 1.5


def contested_step(trace: Trace) -> int:
    """Return the index of the first step at which three tokens have a tenth of the probability each
    and the likeliest leads clearly.

    Without such a step it is the step with the highest entropy, among those whose likeliest token
    has a tenth if there are any: elsewhere all bars are equally small.
    """
    steps = trace.token_steps
    tops = [heapq.nlargest(3, (c.raw_prob for c in step.candidates)) for step in steps]
    for at, top in enumerate(tops):
        if len(top) == 3 and top[2] >= _RIVAL and top[0] >= _LEAD * top[1]:
            return at
    visible = [at for at, top in enumerate(tops) if top and top[0] >= _RIVAL]
    return max(visible or range(len(steps)), key=lambda at: steps[at].entropy, default=0)


def telling_token(trace: Trace) -> tuple[int, int] | None:
    """Return the first token that a random number rejected, else the first rejected token, else the
    first token.
    """
    places = ((at, step.rejected_at) for at, step in enumerate(trace.rounds))
    rejected = [(at, place) for at, place in places if place is not None]
    by_chance = [key for key in rejected if trace.rounds[key[0]].drafted[key[1]].accept_prob > 0]
    if rejected:
        return (by_chance or rejected)[0]
    return (0, telling_place(trace, 0)) if trace.rounds else None


def telling_place(trace: Trace, at: int) -> int:
    """Return the place of a round's rejected token, else of its first drafted token, else of the
    target's.
    """
    step = trace.rounds[at]
    if step.rejected_at is not None:
        return step.rejected_at
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
