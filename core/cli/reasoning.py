"""Reasoning with a token budget on the command line: the answer starts on a new line."""

from __future__ import annotations

from argparse import SUPPRESS, Namespace, _ArgumentGroup
from dataclasses import replace
from typing import Any

from ..decoding.errors import ConfigError
from ..decoding.reasoning.calculator import CALL_MARKS
from ..decoding.reasoning.config import LEVELS, Reasoning
from ..decoding.reasoning.transcript import pieces_of, read_run
from ..decoding.record.steps import Phase, Step, TokenStep
from ..decoding.record.trace import Trace
from ..language import N_, Message, tr
from .method import MethodOptions, option

_MARKS_HELP = {
    "think_start": N_("the mark that opens the thinking (default: the model's own)"),
    "think_end": N_("the mark that closes it (default: the model's own)"),
}


def _add(group: _ArgumentGroup) -> None:
    for name, text in _MARKS_HELP.items():
        group.add_argument(option(name), default=SUPPRESS, metavar="MARK", help=text)
    named = tr(", ").join(f"{name} {budget}" for name, budget in LEVELS.items())
    text = Message("the thinking budget by name: {names}", names=named)
    group.add_argument("--level", choices=list(LEVELS), default=SUPPRESS, help=text)


def _values(args: Namespace, settings: dict[str, Any]) -> dict[str, Any]:
    values = dict(settings)
    if "level" in args:
        if "max_thinking_tokens" in values:
            raise ConfigError(
                N_("--level is a thinking budget too; leave --max-thinking-tokens out.")
            )
        values["max_thinking_tokens"] = LEVELS[args.level]
    if args.max_new_tokens is None:
        names = ("max_thinking_tokens", "max_answer_tokens")
        bounds = Reasoning(**{name: values[name] for name in names if name in values})
        values["max_new_tokens"] = max(bounds.max_new_tokens, bounds.room)
    return values


def _with_marks(model: Any, config: Reasoning, args: Namespace) -> Reasoning:
    """Return the config with the model's own marks, unless the options set marks."""
    if any(name in args for name in _MARKS_HELP):
        return config
    marks = model.think_marks
    return replace(config, think_start=marks.start, think_end=marks.end)


def _instruction(model: Any, args: Namespace) -> str:
    """Return the instruction for a model without thinking marks; else ""."""
    return "" if any(name in args for name in _MARKS_HELP) else str(model.think_marks.instruction)


class _Printer:
    _phase: Phase = "answer"

    def __call__(self, step: Step) -> None:
        if isinstance(step, TokenStep):
            begins = (self._phase, step.phase) == ("thinking", "answer")
            self._phase = step.phase
            mark = step.chosen.text if step.chosen.text in CALL_MARKS else ""
            print("\n" * begins + (mark or step.text), end="", flush=True)


def _notes(trace: Trace[Reasoning]) -> tuple[str, ...]:
    """Return notes on the calculator's calls, if the calculator was on."""
    from ..evaluation.scoring.answers import find_answer
    from ..evaluation.slips import slips

    if not trace.config.calculator:
        return ()
    read = read_run(pieces_of(trace.token_steps), trace.config)
    if not read.calls:
        return (N_("The model made no call: every digit is its own."),)
    return slips(trace.prompt, read.calls, find_answer(read.answer))


OPTIONS = MethodOptions(
    by_hand=[*_MARKS_HELP, "level"],
    add=_add,
    values=_values,
    fit=_with_marks,
    instruction=_instruction,
    printer=_Printer,
    notes=_notes,
)
