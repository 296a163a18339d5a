"""Runs of one prompt by several methods: their tokens on equal terms, and their costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from ..beam.compare import hypothesis_text, winner_candidates
from ..beam.replay import best_row
from ..config import MethodConfig
from ..errors import DecodingError
from ..lab.types import RowToken
from ..record.characters import whole_characters
from ..record.trace import Trace
from ..speculative.types import DraftRound
from .types import sharing_prompt

if TYPE_CHECKING:
    from ..protocol import LanguageModel


class Cost(NamedTuple):
    """Totals of a run.

    Args:
        logprob: log-probability of the generated tokens under the unshaped model, nats.
        forwards: model calls, the prompt's included.
        rows: sequences that these calls computed in total.
        draft_forwards: calls of the draft model, the prompt's included; 0 without one.
        seconds: of the whole run.
    """

    logprob: float
    tokens: int
    forwards: int
    rows: int
    draft_forwards: int
    seconds: float


def tokens_of(trace: Trace) -> tuple[RowToken, ...]:
    """Return a run's tokens with their probabilities, by whatever method; of a search the tokens
    of its best path, found by the stored parents."""
    if trace.beam_steps:
        return tuple(_of_search(trace))
    if trace.rounds:
        return tuple(token for step in trace.rounds for token in _of_round(step))
    return tuple(
        RowToken(step.token_id, step.chosen.text, step.chosen.raw_prob, step.chosen.prob)
        for step in trace.token_steps
    )


def whole_text(trace: Trace) -> str:
    """Return a run's text; bytes that form no character appear as `<EC>`."""
    if winner := next(iter(trace.hypotheses), None):
        return hypothesis_text(trace.beam_steps, winner)
    tokens = tokens_of(trace)[: -1 if trace.finish_reason == "eos" else None]
    return whole_characters(trace.text, [token.text for token in tokens])


def _of_search(trace: Trace) -> Iterator[RowToken]:
    steps = trace.beam_steps
    winner = next(iter(trace.hypotheses), None)
    for candidate in winner_candidates(steps, winner) if winner else best_row(steps):
        prob = math.exp(candidate.raw_logprob)
        yield RowToken(candidate.token_id, candidate.text, prob, prob)


def _of_round(step: DraftRound) -> Iterator[RowToken]:
    pairs = [(token.token_id, token.candidates) for token in step.accepted]
    if (extra := step.extra) is not None:
        # A recovered token is among the candidates of the rejected one.
        rejected = () if step.rejected_at is None else step.drafted[step.rejected_at].candidates
        pairs.append((extra.token_id, extra.candidates or rejected))
    for token_id, candidates in pairs:
        found = next(c for c in candidates if c.token_id == token_id)
        yield RowToken(token_id, found.text, found.target_raw_prob, found.target_prob)


def cost_of(trace: Trace) -> Cost:
    """Return the totals of a run."""
    tokens = tokens_of(trace)
    forwards = rows = len(trace.token_steps)
    draft_forwards = 0
    if trace.beam_steps:
        forwards = len(trace.beam_steps)
        rows = 1 + sum(len(step.groups) for step in trace.beam_steps[1:])
    elif trace.rounds:
        forwards = rows = 1 + len(trace.rounds)
        drafted = sum(step.depth for step in trace.rounds)
        draft_forwards = 1 + drafted if trace.draft_id else 0
    return Cost(
        sum(math.log(token.raw_prob) if token.raw_prob > 0 else -math.inf for token in tokens),
        len(tokens),
        forwards,
        rows,
        draft_forwards,
        trace.timings.total,
    )


def send_methods(
    model: LanguageModel,
    prompt: str | Sequence[int],
    configs: Sequence[MethodConfig],
    *,
    on_trace: Callable[[int, Trace], object],
    draft: LanguageModel | None = None,
    prompt_text: str | None = None,
    on_tokens: Callable[[int], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[str, ...]:
    """Run the prompt with each of these settings, one after another, and hold no trace.

    Args:
        draft: the draft model of the runs that take one.
        on_trace: receives the place of each run's settings, and the run with its own checks.
        on_tokens: called after each step with the number of steps of the run under way.
        should_stop: asked after each step; True ends the run under way as cancelled, and no other
            run begins.

    Returns:
        For each of the settings the sentence why the model can't run them; empty if it ran them.

    Raises:
        DecodingError: the first error, if the model runs none of them.
    """
    from ..check import collect_checked
    from ..methods import method_of

    errors: list[DecodingError | None] = []
    made: list[Trace] = []
    for place, config in enumerate(configs):
        if should_stop is not None and should_stop():
            break
        try:
            trace = collect_checked(
                model,
                prompt,
                config,
                draft=draft if method_of(config).require_draft else None,
                on_step=_counting(on_tokens),
                should_stop=should_stop,
                prompt_text=prompt_text,
            )
        except DecodingError as error:
            errors.append(error)
            continue
        errors.append(None)
        made.append(sharing_prompt(trace, made))
        on_trace(place, made[-1])
    if errors and not made and errors[0] is not None:
        raise errors[0]
    return tuple(error.args[0] if error else "" for error in errors)


def _counting(on_tokens: Callable[[int], object] | None) -> Callable[[object], object] | None:
    """Return the function that receives the steps of a run and reports their number."""
    if on_tokens is None:
        return None
    counter = count(1)
    return lambda _: on_tokens(next(counter))
