"""Validation rules for a stored lab step, beyond its fields' types."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from ...decoding.autoregressive.config import Sampling
from ...decoding.lab.types import KnobBoundaries, LabExample, LabStep, Rolls, Sweep
from ...decoding.record.layout import RecordLayout, Rules
from ...decoding.record.steps import TokenStep
from ...decoding.record.trace import Trace
from ...decoding.serial import KINDS
from ...decoding.shaping.config import KNOB_RANGES
from ...decoding.shaping.orders import TRANSFORMERS
from ...language import N_, Message
from ..lab import CODECS, MAX_ROLL
from .trace import RULES_IN_ANY_ORDER


def _stages_differ(step: TokenStep) -> None:
    names = [stage.name for stage in step.stages]
    if names[0] != "raw" or names[-1] != "final" or len(set(names)) != len(names):
        raise ValueError(N_("a step's stages must begin with raw, end with final and differ"))


def _is_one_drawn_step(trace: Trace) -> None:
    is_one = len(trace.steps) == 1 and isinstance(trace.steps[0], TokenStep)
    if not is_one or not isinstance(trace.config, Sampling) or not trace.prompt_ids:
        raise ValueError(N_("a step of the lab is one of sampling after at least one token"))


def _is_of_its_order(step: LabStep) -> None:
    stages = [stage.name for stage in step.step.stages]
    names = [name for name in stages if name not in ("raw", "argmax", "final")]
    if names != [name for name in step.order.processors if name in names]:
        raise ValueError(N_("the stages stand in another order than the library runs them"))
    if step.crossing is not None and (
        "top_p" not in stages or len(step.crossing.probs) != len(stages)
    ):
        raise ValueError(N_("the crossing of top-p has not one probability for each stage"))
    if step.lowered is not None and "dry_multiplier" not in stages:
        raise ValueError(N_("DRY lowers a token at a step where it doesn't act"))
    if not {*step.skipped} <= {*TRANSFORMERS.processors}:
        raise ValueError(N_("it leaves out a knob that the lab doesn't have"))


def _rises(flips: KnobBoundaries) -> None:
    if flips.name not in KNOB_RANGES:
        raise ValueError(N_("it is no knob of the lab"))
    ends = [end for piece in flips.pieces for end in (piece.low, piece.high)]
    if any(left > right for left, right in pairwise(ends)):
        raise ValueError(N_("the pieces of a knob's range don't rise"))


def _adds_up(rolls: Rolls) -> None:
    if sum(bin_.rolls for bin_ in rolls.bins) != rolls.total:
        raise ValueError(N_("the bins don't hold as many rolls as were thrown"))


def _is_a_table(sweep: Sweep) -> None:
    width = len(sweep.temperatures)
    rows: list[Sequence[float]] = [sweep.entropies, sweep.kept, *sweep.probs]
    if len(sweep.probs) != len(sweep.candidates) or any(len(row) != width for row in rows):
        raise ValueError(N_("the sweep has not one number for each token and temperature"))


def _has_its_place(example: LabExample) -> None:
    if example.index >= len(example.step.trace.prompt_ids):
        raise ValueError(N_("the step lies further on than there are tokens before it"))
    if not 0 <= example.step.throw - example.index <= MAX_ROLL:
        raise ValueError(
            Message("the throw is not among the {most} that follow the step's own", most=MAX_ROLL)
        )
    for cut in example.cuts:
        if cut.name not in KNOB_RANGES or len(cut.keeps) != len(example.step.step.candidates):
            raise ValueError(N_("a cut is of no knob, or has not one mark for each candidate"))
    if len({flip.name for flip in example.flips}) != len(example.flips):
        raise ValueError(N_("a knob is listed twice"))


RULES: Rules = {
    **RULES_IN_ANY_ORDER,
    TokenStep: (*RULES_IN_ANY_ORDER[TokenStep], _stages_differ),
    Trace: (_is_one_drawn_step, *RULES_IN_ANY_ORDER[Trace]),
    LabStep: (_is_of_its_order,),
    KnobBoundaries: (_rises,),
    Rolls: (_adds_up,),
    Sweep: (_is_a_table,),
    LabExample: (_has_its_place,),
}


@cache
def lab_layout() -> RecordLayout[LabExample]:
    """Return the validated layout of a lab step's file."""
    return RecordLayout(LabExample, CODECS, RULES, KINDS)
