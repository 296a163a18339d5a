"""Validation rules for an untrusted trace file, beyond its fields' types: its parts are consistent.

The fields and their bounds are declared with the records, in `core.decoding.record.trace` and in
the methods' `types`. A method's config class checks its settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from ...decoding.config import DrawMethod
from ...decoding.counting import listed
from ...decoding.methods import method_of
from ...decoding.record.layout import RecordLayout, Rules
from ...decoding.record.notes import DRAWS_UNKNOWN
from ...decoding.record.steps import (
    Candidate,
    Draw,
    PromptPosition,
    PromptStep,
    TokenStep,
)
from ...decoding.record.trace import Trace
from ...decoding.serial import CODECS, KINDS, RECORD_RULES
from ...decoding.shaping.config import STAGES
from ...language import N_, Message
from . import beam, diffusion, speculative

_DRAW_FIELDS: dict[str, set[str]] = {
    "argmax": set(),
    "forced": set(),
    "server": set(),
    "inverse_cdf": {"uniform", "interval"},
    "gumbel": {"scores"},
    "multinomial": {"scores"},
}
_HAS, _AND = N_("a draw by {method} has {expected}, nothing else"), N_("{one} and {other}")
# Draws of a recorded run of transformers' `generate`; a note tells that its seed is unknown.
_MAY_BE_UNKNOWN: DrawMethod = "multinomial"


def _listed_once(candidates: Sequence[Candidate]) -> None:
    if not candidates:
        raise ValueError(N_("there is no candidate"))
    if len({c.token_id for c in candidates}) != len(candidates):
        raise ValueError(N_("a candidate is listed twice"))


def _next_is_whole(position: PromptPosition) -> None:
    token, prob, rank = position.next_token_id, position.next_prob, position.next_rank
    # A server may not name this token: then only its id is known.
    if (prob is None) != (rank is None) or (token is None and prob is not None):
        raise ValueError(N_("the next token lacks its id, probability or rank"))


def _fields_of_its_method(draw: Draw) -> None:
    names = {name for name in ("uniform", "interval", "scores") if getattr(draw, name) is not None}
    if names != _DRAW_FIELDS[draw.method]:
        expected = listed(sorted(_DRAW_FIELDS[draw.method]) or [N_("no numbers")], _AND)
        raise ValueError(Message(_HAS, method=draw.method, expected=expected))


def _fields_or_unknown(draw: Draw) -> None:
    if draw != Draw(_MAY_BE_UNKNOWN):
        _fields_of_its_method(draw)


def _forced_is_whole(step: TokenStep) -> None:
    forced = step.origin == "forced"
    if forced != (step.forced_as is not None) or (step.instead_of is not None and not forced):
        raise ValueError(N_("only a forced token has a reason to be forced, and needs one"))
    if forced != (step.stages[-2].name == "forced"):
        raise ValueError(N_("the stage forced belongs to a forced token, and to no other"))
    if (step.draw.method == "forced") != (forced and step.instead_of is None):
        raise ValueError(N_("a forced token was drawn exactly where it took a picked one's place"))


def _rows_agree(step: TokenStep) -> None:
    rows = len(step.candidates)
    if all(c.token_id != step.token_id for c in step.candidates):
        raise ValueError(N_("the chosen token is not among the candidates"))
    if any(len(stage.probs) != rows for stage in step.stages):
        raise ValueError(N_("a stage has not one probability for each candidate"))
    if step.draw.scores is not None and len(step.draw.scores) != rows:
        raise ValueError(N_("the draw has not one score for each candidate"))
    seconds = (stage.second for stage in step.stages if stage.second is not None)
    if any(len(second.probs) != rows for second in seconds):
        raise ValueError(N_("a second forward has not one probability for each candidate"))


def _stages_in_order(step: TokenStep) -> None:
    names = [stage.name for stage in step.stages]
    if names[0] != "raw" or names[-1] != "final":
        raise ValueError(N_("a step's stages must begin with raw and end with final"))
    places = [STAGES.index(name) for name in names]
    if any(before >= after for before, after in pairwise(places)):
        raise ValueError(N_("a step's stages stand in another order than shaping runs them"))
    argmax_is_drawn(step)


def argmax_is_drawn(step: TokenStep) -> None:
    """Raise ValueError unless the argmax stage is present exactly if the draw is argmax."""
    if any(stage.name == "argmax" for stage in step.stages) != (step.draw.method == "argmax"):
        raise ValueError(N_("the stage argmax belongs to a draw by argmax, and to no other"))


def _highest_score_is_chosen(step: TokenStep) -> None:
    compared = step.compared
    if compared is None:
        return
    if len({token.token_id for token in compared}) != len(compared):
        raise ValueError(N_("a token was compared twice"))
    if max(compared, key=lambda token: token.score).token_id != step.token_id:
        raise ValueError(N_("the chosen token has not the highest score of those compared"))


def _steps_are_the_method_s(trace: Trace) -> None:
    method = trace.config.method
    kind, compares = method_of(trace.config).step, method_of(trace.config).compares
    if not all(isinstance(step, PromptStep | kind) for step in trace.steps):
        raise ValueError(N_("a step is of another method than the settings"))
    if method != "reasoning" and any(step.phase == "thinking" for step in trace.token_steps):
        raise ValueError(N_("only a reasoning run thinks"))
    if any(step.forced_as not in (None, *trace.config.forces) for step in trace.token_steps):
        raise ValueError(
            Message(
                "{method} forces no token for a reason that a step gives",
                method=Message(trace.config.words),
            )
        )
    if any((step.compared is not None) != compares for step in trace.token_steps):
        raise ValueError(N_("a step compares tokens exactly where its method does"))
    record = type(trace.method_record)
    if record is not method_of(trace.config).record and trace.method_record != record():
        raise ValueError(N_("it holds results of another method"))


def _draws_are_known(trace: Trace) -> None:
    unknown = any(step.draw == Draw(_MAY_BE_UNKNOWN) for step in trace.token_steps)
    if unknown and DRAWS_UNKNOWN not in trace.notes:
        raise ValueError(Message(_HAS, method=_MAY_BE_UNKNOWN, expected="scores"))


def _steps_fit_the_run(trace: Trace) -> None:
    if any(isinstance(step, PromptStep) for step in trace.steps[1:]):
        raise ValueError(N_("the prompt's step must come first and only once"))
    last = trace.steps[-1] if trace.steps else None
    ended = last is not None and not isinstance(last, PromptStep) and last.finish_reason is not None
    if ended and trace.finish_reason == "cancelled":
        raise ValueError(N_("a cancelled run can't have a last step that ended it"))


RULES: Rules = {
    **RECORD_RULES,
    tuple[Candidate, ...]: (_listed_once,),
    PromptPosition: (_next_is_whole,),
    Draw: (_fields_or_unknown,),
    TokenStep: (_forced_is_whole, _rows_agree, _stages_in_order, _highest_score_is_chosen),
    **beam.STEP_RULES,
    **speculative.STEP_RULES,
    **diffusion.STEP_RULES,
    Trace: (
        _steps_are_the_method_s,
        *beam.TRACE_RULES,
        *speculative.TRACE_RULES,
        *diffusion.TRACE_RULES,
        _draws_are_known,
        _steps_fit_the_run,
    ),
}
# Rules for a step that was shaped in another library's order.
RULES_IN_ANY_ORDER: Rules = {
    **RULES,
    Draw: (_fields_of_its_method,),
    TokenStep: (_forced_is_whole, _rows_agree, argmax_is_drawn, _highest_score_is_chosen),
}


@cache
def trace_layout() -> RecordLayout[Trace]:
    """Return the validated layout of a trace file."""
    return RecordLayout(Trace, CODECS, RULES, KINDS)
