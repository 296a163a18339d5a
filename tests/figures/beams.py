"""Beam searches over a small vocabulary, for tests of what is drawn from one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

from core import BeamSearch, Trace, check, collect
from core.models.scripted import END, ScriptedModel
from tests.figures.traces import HOSTILE, WORDS

_PLAIN = (END, *WORDS[:47])
_HOSTILE = (END, *(text for text in HOSTILE if text), *WORDS[:20])


def beam_model(*, hostile: bool = False, seed: int = 0) -> ScriptedModel:
    """A model whose probabilities depend on the last three tokens."""
    tokens = _HOSTILE if hostile else _PLAIN

    def row(ids: tuple[int, ...]) -> list[float]:
        dice = random.Random(f"{seed} {ids[-3:]}")
        # The end is possible, and seldom likely.
        return [dice.gauss(-0.5, 0.6), *(dice.gauss(0, 1.5) for _ in tokens[1:])]

    return ScriptedModel(row, tokens=tokens, given="logits", model_id="embedded:target")


@cache
def make_search(
    num_beams: int = 4,
    steps: int = 12,
    *,
    hostile: bool = False,
    model_seed: int = 0,
    ends: int = 1,
    **settings: object,
) -> Trace:
    """A proved search of a model whose first `ends` tokens end a run."""
    config = BeamSearch(num_beams=num_beams, max_new_tokens=steps, **settings)  # type: ignore[arg-type]
    model = beam_model(hostile=hostile, seed=model_seed)
    model.eos_ids = frozenset(range(ends))
    run = collect(model, [1, 2, 3], config)
    return run.with_checks(tuple(check(run)))


def backpointers(trace: Trace) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    """The edges of the tree, read off the stored candidates without the code under test."""
    edges, rows = set(), [(-1, group) for group in range(len(trace.beam_steps[0].groups))]
    for at, step in enumerate(trace.beam_steps):
        edges |= {(rows[c.parent], (at, place)) for place, c in enumerate(step.candidates)}
        rows = _rows(at, [c.row for c in step.candidates])
    return edges


def _rows(at: int, taken: Sequence[int | None]) -> list[tuple[int, int]]:
    return [(at, taken.index(row)) for row in range(sum(row is not None for row in taken))]
