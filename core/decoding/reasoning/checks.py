"""Checks of a reasoning trace's budget, from its file and with its model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import NamedTuple

from torch import Tensor

from ...language import N_, Message
from ..autoregressive.engine import Picker
from ..autoregressive.picked import ForcedToken, Picked
from ..checks import model_checks as token_model_checks
from ..checks import trace_checks
from ..checks.common import count
from ..checks.token_replay import record_picked
from ..counting import at_step, nth
from ..errors import DecodingError
from ..protocol import LanguageModel
from ..record.steps import TokenStep
from ..record.trace import Check, Trace
from .calculator import END_RESULT, call_at_end, result_of
from .config import Reasoning
from .controller import BudgetController
from .transcript import Piece, ReasoningSummary, pieces_of, read_run


class _Run(NamedTuple):
    """A trace with the values that these checks use."""

    pieces: tuple[Piece, ...]
    reading: ReasoningSummary
    config: Reasoning


def self_checks(trace: Trace[Reasoning]) -> list[Check]:
    """Return the checks of single tokens, and the checks of the budget."""
    checks = trace_checks.self_checks(trace)
    if not checks[0].passed:
        return checks
    pieces = pieces_of(trace.token_steps)
    run = _Run(pieces, read_run(pieces, trace.config), trace.config)
    return checks + [count(name, list(faults(run)), detail) for name, faults, detail in _CHECKS]


def model_checks(trace: Trace[Reasoning], model: LanguageModel) -> list[Check]:
    """Return the checks of single tokens that need the model, and a replay of the budget's
    rules.
    """

    def record(picker: Picker, step: TokenStep, row: Tensor, picked: Picked | None) -> TokenStep:
        if step.forced_as is None:
            return record_picked(picker, step, row, picked)
        forced = ForcedToken(step.token_id, step.forced_as, step.phase, row, picked)
        return picker.record_forced(step.index, forced, 0.0, step.text, step.finish_reason)

    checks = token_model_checks.model_checks(trace, model, record)
    return [*checks, _decided_again(trace, model)] if checks[0].passed else checks


def _phase_faults(run: _Run) -> Iterator[str]:
    order = [phase for phase, _ in groupby(piece.phase for piece in run.pieces)]
    if order not in ([], ["thinking"], ["answer"], ["thinking", "answer"]):
        yield N_("thinking comes after the answer")
    if order[:2] == ["thinking", "answer"] and not run.reading.closed:
        yield N_("the answer begins before the closing mark")
    if not run.config.think_end and "thinking" in order:
        yield N_("a run without marks can't think")


def _budget_faults(run: _Run) -> Iterator[str]:
    _, reading, config = run
    spent, most = reading.thinking_tokens, config.max_thinking_tokens
    if spent > most:
        yield Message(
            "{spent} thinking tokens are more than the budget of {most}", spent=spent, most=most
        )
    if reading.closed_by_budget and spent != most:
        yield Message(
            "the close was forced after {spent} thinking tokens, the budget is {most}",
            spent=spent,
            most=most,
        )
    if reading.answer_tokens > config.max_answer_tokens:
        yield Message(
            "{answer_tokens} answer tokens are more than {max_answer_tokens}",
            answer_tokens=reading.answer_tokens,
            max_answer_tokens=config.max_answer_tokens,
        )
    if reading.waits > config.ignore_end:
        yield Message(
            "{waits} attempts to stop were replaced, {ignore_end} may be",
            waits=reading.waits,
            ignore_end=config.ignore_end,
        )
    by_model = reading.closed and not reading.closed_by_budget
    # A token has at least one byte, and some tokenizers begin a text with one more token.
    fits = spent + len(config.wait_text.encode()) + 1 <= most
    if by_model and reading.waits < config.ignore_end and fits:
        yield N_("an attempt to stop thinking was let through")


def _forced_faults(run: _Run) -> Iterator[str]:
    """Yield sequences of forced tokens that differ from what the settings force; an end or the
    bound may cut them.
    """
    pieces, at = run.pieces, 0
    while at < len(pieces):
        why, start = pieces[at].forced_as, at
        at += 1
        while at < len(pieces) and pieces[at].forced_as == why and pieces[at].instead_of is None:
            at += 1
        cut = at == len(pieces) or pieces[at].forced_as == "think_end"
        if why and (fault := _group_fault(pieces[start:at], pieces[:start], run.config, cut=cut)):
            yield at_step(start, fault)


def _group_fault(
    group: tuple[Piece, ...], before: tuple[Piece, ...], config: Reasoning, *, cut: bool
) -> str:
    why = group[0].forced_as
    if (group[0].instead_of is not None) != (why in ("think_end", "wait")):
        return N_("only a closing mark and a wait take a picked token's place")
    if why == "think_start" and before:
        return N_("the opening mark does not come first")
    written = "".join(p.visible for p in before if p.phase == group[0].phase)
    expression = call_at_end(written) if why == "result" else None
    if why == "result" and (expression is None or not config.calculator):
        return N_("a result was put in without a call")
    texts = {"".join(piece.visible for piece in group), "".join(piece.text for piece in group)}
    expected = {
        "think_start": config.think_start,
        "think_end": config.think_end,
        "wait": config.wait_text,
        "result": result_of(expression or "") + END_RESULT,
    }.get(why or "wait")
    if expected is None:
        return N_("a token was given, which reasoning does not do")
    if expected in texts or (cut and any(expected.startswith(text) for text in texts)):
        return ""
    return Message("the forced text is not the {why}'s", why=why)


def _answered_faults(run: _Run) -> Iterator[str]:
    """Yield calls without their result, unless a bound came first."""
    for call in run.reading.calls:
        after = run.pieces[call.last + 1 : call.last + 2]
        if not call.result and after and after[0].forced_as != "think_end":
            yield Message("step {last}: a call has no result", last=nth(call.last))


_CHECKS: tuple[tuple[str, Callable[[_Run], Iterator[str]], str], ...] = (
    ("thinking_first", _phase_faults, N_("phases out of order")),
    ("budget_kept", _budget_faults, N_("bounds that were passed")),
    ("forced_texts", _forced_faults, N_("forced texts that differ")),
    ("calls_answered", _answered_faults, N_("calls without one")),
)


def _decided_again(trace: Trace[Reasoning], model: LanguageModel) -> Check:
    """Check that the rules, replayed over the model's picks, force the same tokens for the same
    reasons.
    """
    name, fault = "decided_again", ""
    try:
        fault = _decision_fault(trace, model)
    except DecodingError as error:
        fault = error.args[0]
    return count(name, [fault] if fault else [], N_("steps that differ"))


def _decision_fault(trace: Trace[Reasoning], model: LanguageModel) -> str:
    controller = BudgetController(model, trace.prompt_ids, trace.config)
    for step in trace.token_steps:
        picked = step.token_id if step.instead_of is None else step.instead_of
        decision = controller.decide(picked if controller.asks else None)
        text, reason = controller.after(decision)
        seen = (step.token_id, step.phase, step.forced_as, step.instead_of)
        if tuple(decision) != seen or (step.text, step.finish_reason) != (text, reason):
            return at_step(step.index, N_("the rules lead to another token, phase or end"))
    return ""
