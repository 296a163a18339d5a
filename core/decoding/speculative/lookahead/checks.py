"""Checks of lookahead decoding's windows, from the file and from the model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import torch

from ....language import N_
from ...checks.common import count, worst
from ...checks.forwards import largest_logit, logit_tolerance
from ...counting import at_round
from ...protocol import LanguageModel
from ...record.trace import Check, Trace
from ..config import Speculative
from ..scoring import tree_rows
from .window import GuessWindow, filler, first_levels, moved, parents_of, window_reach

WindowEnds = Callable[[GuessWindow, GuessWindow], Collection[int]]
"""`ends(before, window)`: the predicted tokens that ended the text."""


def windows(trace: Trace[Speculative]) -> Check:
    """Check that each round's guesses follow from the window of the round before."""

    def ends(before: GuessWindow, window: GuessWindow) -> set[int]:
        # Only the model knows the ends: here they are the predictions that were replaced.
        pairs = zip(before.predicted, window.levels[-1], strict=False)
        return {
            token_id
            for at, (token_id, guess) in enumerate(pairs)
            if guess != token_id and guess == filler(trace.prompt_ids, at)
        }

    return count("lookahead_windows", _faults(trace, ends), N_("windows that differ"))


def windows_again(trace: Trace[Speculative], model: LanguageModel) -> list[Check]:
    """Check with the model that a window ends where its context does, and that each prediction is
    the most probable token of an independent forward; if a window is wrong, only that failed check.
    """
    faults, config, room = _faults(trace, lambda *_: model.eos_ids), trace.config, None
    if model.context_window is not None:
        room = model.context_window - len(trace.prompt_ids) - window_reach(config)
    for step in trace.rounds:
        if (room is None or step.start <= room) != (step.window is not None):
            faults.append(at_round(step.index, N_("a window is missing, or has no room")))
    followed = count("lookahead_windows_again", faults, N_("windows that differ"))
    if not followed.passed:
        return [followed]
    detail = N_("distance of a predicted token's logit from the largest, over its tolerance")
    return [followed, worst("lookahead_predictions", _errors(trace, model), 1.0, detail)]


def _faults(trace: Trace[Speculative], ends: WindowEnds) -> list[str]:
    config, before, faults = trace.config, None, list[str]()
    for step in trace.rounds:
        window = step.window
        if window is None:
            continue
        expected = first_levels(trace.prompt_ids, config)
        if before is not None:
            expected = moved(before, trace.prompt_ids, config, ends(before, window))
        if window.levels != expected:
            faults.append(
                at_round(step.index, N_("the guesses don't follow from the window before"))
            )
            return faults
        before = window
    return faults


def _errors(trace: Trace[Speculative], model: LanguageModel) -> Iterator[float]:
    """Yield, for each prediction, its logit's distance from the largest in units of the tolerance.

    A path of the window is a row of its own.
    """
    ids, context = [*trace.prompt_ids, *trace.token_ids], None
    for step in trace.rounds:
        if step.window is None:
            continue
        end = len(trace.prompt_ids) + step.start
        if context is None:
            context = model.start(ids[:end], use_cache=trace.config.use_cache)
        elif context.length < end:
            context.extend(ids[context.length : end])
        levels, predicted = step.window
        guesses = [token_id for level in levels for token_id in level]
        first = len(guesses) - len(predicted)
        rows = tree_rows(context.length, guesses, parents_of(levels), first)
        read = context.branch([0] * len(rows)).extend([row.token_ids for row in rows])
        logits = torch.stack([read[at, row.reads[0]] for at, row in enumerate(rows)])
        tolerance = 2 * logit_tolerance(trace, model, largest_logit(logits))
        chosen = logits.gather(1, torch.tensor(predicted)[:, None])[:, 0]
        yield from ((logits.amax(-1) - chosen) / tolerance).tolist()
