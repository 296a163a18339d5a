"""Checks of a trace of single tokens against the model that made it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import torch
from torch import Tensor

from ...language import N_, Message
from ..autoregressive.config import drawn_by
from ..config import Ended, MethodConfig
from ..counting import at_step, nth
from ..errors import DecodingError
from ..loop.run import doubled_start, read_again, run_notes, token_limit
from ..loop.same_model import is_finer, is_of_dtype, made_by
from ..loop.second import second_forwards
from ..loop.text import Ending, TextStream
from ..methods import method_of
from ..protocol import LanguageModel, offers
from ..record.notes import DRAWS_UNKNOWN, tells_making
from ..record.steps import ENDED_BY
from ..record.trace import Check, Trace
from ..shaping.draws import draw_noise
from ..validation import brief
from .common import VALUE_TOLERANCE, count, worst
from .expected import expected_draw
from .forwards import (
    candidate_error,
    entropy_of,
    largest_logit,
    logit_tolerance,
    nan_first,
    position_error,
)
from .known_tokens import asked_again
from .run_text import run_text_faults
from .token_replay import SAME_STAGES, RecordAgain, TokenReplay, record_picked


class HasReference(Protocol):
    """A model with a reference implementation, transformers' `generate`."""

    def reference_token_ids(
        self, prompt_ids: Sequence[int], config: MethodConfig, given: Mapping[int, int] = ...
    ) -> list[int] | None:
        """Return the ids that the reference generates; None if the runs can't be compared.

        Args:
            given: tokens that replace the reference's own choice, by step.
        """
        ...


def model_checks(
    trace: Trace, model: LanguageModel, record: RecordAgain = record_picked
) -> list[Check]:
    """Return the checks that need the model; if it can't have made the trace, only that failed
    check.
    """
    fits = _fits(trace, model)
    if not fits.passed:
        return [fits]
    rescored = _rescored if trace.known is None else asked_again
    checks = [fits, texts(trace, model), *rescored(trace, model, record), _noise(trace, model)]
    reference = _reference(trace, model, record)
    return [*checks, *([reference] if reference else [])]


def _fits(trace: Trace, model: LanguageModel) -> Check:
    """Check that ids, lengths, revision and end of the run are possible with this model."""
    steps = trace.token_steps
    ids = {step.token_id for step in steps} | {c.token_id for s in steps for c in s.candidates}
    faults = fit_faults(trace, model, ids) + ending_faults(trace, model)
    try:
        second_forwards(model, trace.config.chooser)
    except DecodingError as error:
        faults.append(error.args[0])
    if tuple(step.token_id for step in steps) != trace.token_ids:
        faults.append(N_("steps and tokens don't belong together"))
    methods = {step.draw.method for step in steps if step.draw.method != "forced"}
    if methods - {expected_draw(trace)[1]}:
        faults.append(N_("a draw is not that of the settings"))
    return count("fits_model", faults, N_("contradictions"))


def fit_faults(trace: Trace, model: LanguageModel, ids: Iterable[int]) -> list[str]:
    """List contents that no trace of this model can have, whatever its method.

    Args:
        ids: token ids in the method's own steps.
    """
    faults, known = note_faults(trace, model), {*ids, *trace.prompt_ids, *trace.token_ids}
    known.update(*trace.config.shaping.token_ids().values())
    for position in trace.prompt_step.positions if trace.prompt_step else ():
        known |= {position.token_id, *(c.token_id for c in position.candidates)}
    if not all(0 <= token < model.vocab_size for token in known):
        faults.append(
            Message(
                "a token id is outside the vocabulary of {vocab_size}", vocab_size=model.vocab_size
            )
        )
    if not trace.prompt_ids:
        faults.append(N_("there is no prompt"))
    window, length = model.context_window, len(trace.prompt_ids) + len(trace.token_ids)
    if window is not None and length > window:
        faults.append(
            Message(
                "{length} tokens don't fit into the context window of {window}",
                length=length,
                window=window,
            )
        )
    if trace.known != method_of(trace.config).known(trace.config, getattr(model, "known", None)):
        faults.append(N_("the server names another number of tokens of a step than it did"))
    if not made_by(trace, model):
        faults.append(N_("the trace was made by another model, or another version of it"))
    if not is_of_dtype(trace.dtype, model):
        faults.append(
            Message(
                "the run's weights are said to be {given}, here they are {dtype}",
                given=brief(trace.dtype),
                dtype=model.dtype,
            )
        )
    elif not faults and is_finer(trace, model):
        faults.append(Message("its logits are no numbers of {dtype}", dtype=model.dtype))
    return faults


def ending_faults(trace: Trace, model: LanguageModel) -> list[str]:
    """List contradictions between the recorded end and the end that tokens and settings give."""
    faults, ends = list[str](), list[Ended | None]()
    if not trace.token_ids and trace.finish_reason != "cancelled":
        faults.append(N_("a run that was not cancelled has emitted no token"))
    if trace.config.has_own_bound:  # Its rules are replayed instead.
        return faults
    ending = Ending(model, trace.config, token_limit(model, trace.prompt_ids, trace.config))
    ends += [ending.after(at, token)[1] for at, token in enumerate(trace.token_ids)]
    reason = None if trace.finish_reason == "cancelled" else trace.finish_reason
    if any(ends[:-1]):
        first = next(at for at, end in enumerate(ends) if end)
        faults.append(
            Message("the run goes on after token {first}, where it ends", first=nth(first))
        )
    elif ends and ends[-1] != reason:
        words, end = N_("the run doesn't end with its last token, and it says by {said}"), ""
        if ends[-1]:
            words = N_("with its last token the run is ended by {end}, and it says by {said}")
            end = Message(ENDED_BY[ends[-1]])
        faults.append(Message(words, end=end, said=Message(ENDED_BY[trace.finish_reason])))
    return faults


def note_faults(trace: Trace, model: LanguageModel) -> list[str]:
    """List notes that follow neither from the settings nor from the run, and missing notes.

    The reason why a server was lost, which ends a run as cancelled, the rows and threads of one of
    many runs, and that a run was recorded can't be derived again.
    """
    due = run_notes(model, trace.config, trace.prompt_ids, trace.token_ids, trace.steps)
    known = {*due, *doubled_start(model, trace.rendered_prompt, trace.prompt_ids)}
    faults: list[str] = [
        Message("a note is missing: {given}", given=brief(note.words))
        for note in due
        if note not in trace.notes
    ]
    others = [note for note in trace.notes if note not in known and not tells_making(note)]
    if len(others) > (trace.finish_reason == "cancelled") or len(set(trace.notes)) < len(
        trace.notes
    ):
        faults.append(N_("a note says what neither the settings nor the run give"))
    return faults


def texts(trace: Trace, model: LanguageModel) -> Check:
    """Check that the model's tokenizer gives the texts of tokens, prompt and run."""
    faults = run_text_faults(trace, model)
    stream = TextStream(model)
    added = [stream.push(token) for token in trace.token_ids]
    if added and trace.finish_reason != "cancelled":
        added[-1] += stream.flush()
    for step, text in zip(trace.token_steps, added, strict=True):
        if step.text != text or any(
            c.text != model.token_text(c.token_id) for c in step.candidates
        ):
            faults.append(at_step(step.index, N_("a text is not its token's")))
    return count("tokenizer_text", faults, "differences")


def _rescored(trace: Trace, model: LanguageModel, record: RecordAgain) -> list[Check]:
    """Compare one forward over prompt and tokens, without a cache, with every recorded number."""
    steps, prompt, first = trace.token_steps, trace.prompt_step, len(trace.prompt_ids) - 1
    ids, deviations, faults = [*trace.prompt_ids, *trace.token_ids[:-1]], [0.0], [""]
    replay = TokenReplay(trace, model, record)
    largest = max([1.0, *(abs(c.logit) for step in steps for c in step.candidates)])

    def compare(at: int, logits: Tensor) -> None:
        nonlocal largest
        largest = max(largest, largest_logit(logits))
        tolerance = logit_tolerance(trace, model, largest)
        for row, again in enumerate(logits, start=at):
            if prompt is not None and row < len(prompt.positions):
                deviations.append(position_error(again, prompt.positions[row], tolerance))
            if 0 <= row - first < len(steps):
                step = steps[row - first]
                log_probs = torch.log_softmax(again.double(), dim=-1)
                numbers = (
                    abs(entropy_of(log_probs) - step.entropy),
                    abs(-float(log_probs[step.token_id]) - step.surprisal),
                    candidate_error(again, step.candidates),
                )
                deviations.append(max(numbers, key=nan_first))
                faults.append(replay.fault(step, again, ids[: row + 1], tolerance))

    read_again(model, trace, trace.token_ids[:-1], compare)
    detail = Message(
        "largest difference of logits and entropies over {ids} positions, uncached", ids=len(ids)
    )
    tolerance = logit_tolerance(trace, model, largest)
    return [
        worst("forward_again", deviations, tolerance, detail),
        count(SAME_STAGES, [*filter(None, faults)], "faults"),
    ]


def _noise(trace: Trace, model: LanguageModel) -> Check:
    """Check that the Gumbel noise in every score is the one that the seed gives."""
    sampling, deviations = drawn_by(trace.config.chooser), [0.0]
    detail = N_(
        "largest relative deviation of a score from ln p + noise (none is added in this draw)"
    )
    if sampling and sampling.draw != "inverse_cdf":
        detail = N_("largest relative deviation of a score from ln p + noise")
        generator = torch.Generator().manual_seed(sampling.seed)
        for step in (s for s in trace.token_steps if s.draw.method != "forced"):
            probs = step.stages[-3 if step.origin == "forced" else -1].probs
            noise = -draw_noise(sampling.draw, generator, model.vocab_size).log()
            scored = zip(step.candidates, probs, step.draw.scores or (), strict=False)
            for candidate, prob, score in scored:
                if score is not None and prob > 0:
                    expected = math.log(prob) + float(noise[candidate.token_id])
                    deviations.append(abs(score - expected) / max(1.0, abs(score)))
    return worst("noise_of_seed", deviations, VALUE_TOLERANCE, detail)


def _reference(trace: Trace, model: LanguageModel, record: RecordAgain) -> Check | None:
    if not offers(model, HasReference) or trace.finish_reason == "cancelled":
        return None
    if DRAWS_UNKNOWN in trace.notes:
        return None
    given = {step.index: step.token_id for step in trace.token_steps if step.origin == "forced"}
    expected = model.reference_token_ids(trace.prompt_ids, trace.config, given)
    if expected is None:
        return None

    steps = trace.token_steps

    def gap_at(at: int) -> tuple[float, float]:
        step = steps[min(at, len(steps) - 1)]
        gap, largest = _near_tie(trace, at, expected), max(abs(c.logit) for c in step.candidates)
        if math.isinf(gap) and record is record_picked and at < min(len(expected), len(steps)):
            logits = model.start(trace.prompt_ids + trace.token_ids[:at], use_cache=False).logits[
                -1
            ]
            tolerance = logit_tolerance(trace, model, largest)
            # Rounding at a filter's threshold decides between tokens that are no near tie.
            pair = (expected[at], trace.token_ids[at])
            if TokenReplay(trace, model, record).may_emit(at, logits, tolerance, pair):
                gap = 0.0
        return gap, largest

    name = "generate_tokens"
    return same_tokens(name, trace, model, expected, gap_at)


def same_tokens(
    name: str,
    trace: Trace,
    model: LanguageModel,
    expected: Sequence[int],
    gap_at: Callable[[int], tuple[float, float]],
) -> Check:
    """Compare the trace's tokens with others; they may part at a near tie.

    Args:
        gap_at: returns, for the index where they part, the distance of the two tokens in nats and
            the largest logit.
    """
    token_ids = list(trace.token_ids)
    if expected == token_ids:
        return Check(
            name,
            True,
            0.0,
            0.0,
            Message("{token_ids} of {token_ids} tokens are equal", token_ids=len(token_ids)),
        )
    shared = min(len(expected), len(token_ids))
    at = next((i for i in range(shared) if expected[i] != token_ids[i]), shared)
    gap, largest = gap_at(at)
    detail = Message(
        "first difference at token {at}; there the two tokens are {gap:.2g} nats apart",
        at=at + 1,
        gap=gap,
    )
    return worst(name, [gap], 2 * logit_tolerance(trace, model, largest), detail)


def _near_tie(trace: Trace, at: int, expected: Sequence[int]) -> float:
    """Return the distance of the two tokens at that step, in nats; infinite if unknown."""
    if at >= len(expected) or at >= len(trace.token_ids):
        return math.inf
    step = trace.token_steps[at]
    places = {c.token_id: place for place, c in enumerate(step.candidates)}
    chosen, rival = places[step.token_id], places.get(expected[at])
    if rival is None:
        return math.inf
    if step.draw.scores is not None:
        scores = step.draw.scores[chosen], step.draw.scores[rival]
        return math.inf if None in scores else abs((scores[0] or 0.0) - (scores[1] or 0.0))
    before = step.stages[-3].probs
    if before[chosen] <= 0 or before[rival] <= 0:
        return math.inf
    return abs(math.log(before[chosen]) - math.log(before[rival]))
