"""Validation rules for a stored beam search: candidates, their tree, paths."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...decoding.beam.config import BeamSearch
from ...decoding.beam.types import BeamCandidate, BeamStep
from ...decoding.record.layout import Rules
from ...decoding.record.trace import Trace
from ...language import N_


def _listed_once(candidates: Sequence[BeamCandidate]) -> None:
    if len({(c.parent, c.token_id) for c in candidates}) != len(candidates):
        raise ValueError(N_("a candidate is listed twice"))


def _rows_of_survivors(candidates: Sequence[BeamCandidate]) -> None:
    if any((c.fate == "kept") != (c.row is not None) for c in candidates):
        raise ValueError(N_("a kept candidate takes a row of the next beam, and no other does"))
    rows = sorted(c.row for c in candidates if c.row is not None)
    if rows != list(range(len(rows))):
        raise ValueError(N_("the kept candidates' rows are not numbered from 0 without a gap"))
    if any(c.fate == "finished" and c.ended is None for c in candidates):
        raise ValueError(N_("a path finished that nothing ended"))


def _numbers_for_every_row(step: BeamStep) -> None:
    rows = len(step.groups)
    if any(c.parent >= rows for c in step.candidates):
        raise ValueError(N_("a candidate's parent is no row of its beam"))
    if len(step.entropies) != rows or any(len(table) != rows for table in step.kept_logprobs):
        raise ValueError(N_("a table has not one number for each row of the beam"))
    if len(step.masks) not in (0, rows):
        raise ValueError(N_("there is not one mask for each row of the beam"))
    if len(step.kept_logprobs) != len(step.kept):
        raise ValueError(N_("the table has not one row for each kept candidate"))
    if len(step.finished_texts) != len(step.finished):
        raise ValueError(N_("there is not one text for each finished candidate"))


def _a_tree(trace: Trace) -> None:
    """Require that every beam consists of the previous step's kept candidates."""
    steps = trace.beam_steps
    groups = trace.config.num_beam_groups if isinstance(trace.config, BeamSearch) else 1
    for step in steps:
        if any(group >= groups for group in step.groups):
            raise ValueError(N_("a row belongs to a group that the settings don't have"))
    if steps and steps[0].groups != tuple(range(groups)):
        raise ValueError(N_("the first beam must hold the prompt once for each group"))
    for before, after in pairwise(steps):
        survivors = tuple(map(before.group_of, before.kept))
        # The survivors of finished groups come last and are not extended.
        ended = tuple(group for group in survivors if group not in after.groups)
        if after.groups + ended != survivors:
            raise ValueError(N_("a step's beam is not what the step before it kept"))


def _paths(trace: Trace) -> None:
    """Require that every hypothesis is a path of the tree."""
    steps = trace.beam_steps if trace.hypotheses else ()
    links = [{(c.parent, c.token_id, c.row) for c in step.candidates} for step in steps]
    for hypothesis in trace.hypotheses:
        if len(hypothesis.parents) != len(hypothesis.token_ids) or len(hypothesis.token_ids) > len(
            steps
        ):
            raise ValueError(N_("a hypothesis has not one parent for each token, or is too long"))
        path = zip(
            hypothesis.parents, hypothesis.token_ids, [*hypothesis.parents[1:], None], strict=True
        )
        if any(link not in known for link, known in zip(path, links, strict=False)):
            raise ValueError(N_("a hypothesis is no path of the tree"))


STEP_RULES: Rules = {
    tuple[BeamCandidate, ...]: (_listed_once, _rows_of_survivors),
    BeamStep: (_numbers_for_every_row,),
}
TRACE_RULES = (_a_tree, _paths)
