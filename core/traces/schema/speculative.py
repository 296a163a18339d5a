"""Validation rules for stored speculative decoding: complete rounds in order."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.record.layout import Rules
from ...decoding.record.trace import Trace
from ...decoding.speculative.rounds import outcome_fault
from ...decoding.speculative.types import DraftRound, DraftToken, ExtraToken, PairCandidate
from ...language import N_


def _listed_once(candidates: Sequence[PairCandidate]) -> None:
    if len({c.token_id for c in candidates}) != len(candidates):
        raise ValueError(N_("a candidate is listed twice"))


def _whole_draft(token: DraftToken) -> None:
    if all(c.token_id != token.token_id for c in token.candidates):
        raise ValueError(N_("the drafted token is not among the candidates"))
    if (token.draft_uniform is None) != (token.draft_interval is None):
        raise ValueError(N_("a draft's uniform number and its interval belong together"))
    if any(c.draft_prob is None for c in token.candidates):
        raise ValueError(N_("a candidate at a drafted position lacks the draft's probability"))


def _whole_extra(token: ExtraToken) -> None:
    if (token.uniform is None) != (token.interval is None):
        raise ValueError(N_("a uniform number and its interval belong together"))


def _outcomes_in_order(step: DraftRound) -> None:
    if fault := outcome_fault(step):
        raise ValueError(fault)
    accepted = len(step.accepted)
    extras = sum(extra is not None for extra in (step.recovered, step.bonus))
    if len(step.texts) != accepted + extras or not step.texts:
        raise ValueError(N_("a round has not one text for each token that it emits"))
    if len(step.masks) not in (0, len(step.drafted) + 1):
        raise ValueError(N_("there is not one mask for each scored position"))
    if extras == 0 and step.finish_reason is None:
        raise ValueError(N_("a round without a token of the target's must end the run"))


def _rounds_in_order(trace: Trace) -> None:
    """Require that the rounds make up the tokens, and that only the last one ends the run."""
    rounds, emitted = trace.rounds, 0
    for index, step in enumerate(rounds):
        if step.index != index or step.start != emitted:
            raise ValueError(N_("the rounds are not numbered from 0 by the tokens before them"))
        if step.finish_reason is not None and index + 1 < len(rounds):
            raise ValueError(N_("a round before the last one ended the run"))
        emitted += len(step.token_ids)
    if rounds and tuple(token for step in rounds for token in step.token_ids) != trace.token_ids:
        raise ValueError(N_("the rounds' tokens are not the trace's"))


STEP_RULES: Rules = {
    tuple[PairCandidate, ...]: (_listed_once,),
    DraftToken: (_whole_draft,),
    ExtraToken: (_whole_extra,),
    DraftRound: (_outcomes_in_order,),
}
TRACE_RULES = (_rounds_in_order,)
