"""What the model that made a trace says about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import torch
from torch import Tensor

from core.decoding.autoregressive.config import drawn_by
from core.decoding.checks.common import VALUE_TOLERANCE, count, worst
from core.decoding.checks.expected import expected_draw
from core.decoding.checks.forwards import (
    candidate_error,
    entropy_of,
    largest_logit,
    logit_tolerance,
    nan_first,
    position_error,
)
from core.decoding.checks.known_tokens import candidates_again
from core.decoding.checks.run_text import run_text_faults
from core.decoding.checks.token_replay import RecordAgain, TokenReplay, record_picked
from core.decoding.config import Ended, MethodConfig
from core.decoding.counting import nth
from core.decoding.loop.ending import Ending, eos_rows
from core.decoding.loop.notes import doubled_start, run_notes, tokens_read
from core.decoding.loop.prompt import read_again, token_limit
from core.decoding.loop.text import TextStream
from core.decoding.protocol import LanguageModel, offers
from core.decoding.record.trace import Check, TokenStep, Trace
from core.decoding.shaping.draws import draw_noise, new_generator
from core.decoding.validation import brief

_COARSE = {"bfloat16": torch.bfloat16, "float16": torch.float16}
# What is left of a number in a file, of its own size.
_FILE_DIGITS = 1e-6


class HasReference(Protocol):
    """A model that can say what another implementation emits (transformers' `generate`)."""

    def reference_token_ids(
        self, prompt_ids: Sequence[int], config: MethodConfig
    ) -> list[int] | None:
        """Generated ids; None where the config can't be compared."""
        ...


def model_checks(
    trace: Trace, model: LanguageModel, record: RecordAgain = record_picked
) -> list[Check]:
    """The checks that need the model; one failed check alone where the trace can't be its own."""
    fits = _fits(trace, model)
    if not fits.passed:
        return [fits]
    rescored = (
        _rescored(trace, model, record) if trace.known is None else [asked_again(trace, model)]
    )
    checks = [fits, texts(trace, model), *rescored, _noise(trace, model)]
    reference = _reference(trace, model)
    return [*checks, *([reference] if reference else [])]


def _fits(trace: Trace, model: LanguageModel) -> Check:
    """Ids, lengths, revision and end of the run are possible with this model."""
    steps = trace.token_steps
    ids = {step.token_id for step in steps} | {c.token_id for s in steps for c in s.candidates}
    faults = fit_faults(trace, model, ids) + ending_faults(trace, model)
    if tuple(step.token_id for step in steps) != trace.token_ids:
        faults.append("steps and tokens don't belong together")
    methods = {step.draw.method for step in steps if step.draw.method != "forced"}
    if methods - {expected_draw(trace)[1]}:
        faults.append("a draw is not that of the settings")
    held_back = trace.config.min_new_tokens if eos_rows(model) else 0
    for step in (s for s in steps if s.draw.method not in ("forced", "server")):
        holds = any(stage.name == "min_new_tokens" for stage in step.stages)
        if holds != (step.index < held_back):
            faults.append(f"step {nth(step.index)}: min_new_tokens holds back another way")
    return count("the trace can be this model's", faults, "contradictions")


def fit_faults(trace: Trace, model: LanguageModel, ids: Iterable[int]) -> list[str]:
    """What no trace of this model holds, whatever its method.

    Args:
        ids: of the method's own steps.
    """
    faults, known = note_faults(trace, model), {*ids, *trace.prompt_ids, *trace.token_ids}
    known.update(*trace.config.shaping.token_ids().values())
    for position in trace.prompt_step.positions if trace.prompt_step else ():
        known |= {position.token_id, *(c.token_id for c in position.candidates)}
    if not all(0 <= token < model.vocab_size for token in known):
        faults.append(f"a token id is outside the vocabulary of {model.vocab_size}")
    if not trace.prompt_ids:
        faults.append("there is no prompt")
    window, length = model.context_window, len(trace.prompt_ids) + len(trace.token_ids)
    if window is not None and length > window:
        faults.append(f"{length} tokens don't fit into the context window of {window}")
    if trace.known != trace.config.known_by(getattr(model, "known", None)):
        faults.append("the server names another number of tokens of a step than it did")
    if not made_by(trace, model):
        faults.append("the trace was made by another model, or another version of it")
    if not is_of_dtype(trace.dtype, model):
        faults.append(
            f"the run's weights are said to be {brief(trace.dtype)}, here they are {model.dtype}"
        )
    elif not faults and _is_finer(trace, model):
        faults.append(f"its logits are no numbers of {model.dtype}")
    return faults


def is_of_dtype(said: str, model: LanguageModel) -> bool:
    """Whether weights said to be of a dtype can be the model's; true where either is unknown."""
    return not said or not model.dtype or said == model.dtype


def _is_finer(trace: Trace, model: LanguageModel) -> bool:
    """Whether logits were recorded that are finer than the model's: of weights of another dtype."""
    kind = _COARSE.get(model.dtype)
    if kind is None or trace.known is not None:
        return False
    prompt = trace.prompt_step.positions if trace.prompt_step else ()
    shown = [*(at.candidates for at in prompt), *(at.candidates for at in trace.token_steps)]
    found = [c.logit for candidates in shown for c in candidates]
    recorded = torch.tensor([x for x in found if math.isfinite(x)], dtype=torch.float64)
    own = model.start(trace.prompt_ids[:1], use_cache=False).logits.double()
    if not torch.equal(own.to(kind).double(), own):
        return False
    apart = (recorded.to(kind).double() - recorded).abs()
    return bool((apart > _FILE_DIGITS * recorded.abs().clamp(min=1)).any())


def made_by(trace: Trace, model: LanguageModel) -> bool:
    """Return whether the model made the trace: by its revision, else by its name."""
    if trace.model_revision:
        return trace.model_revision == model.revision
    return trace.model_id == model.model_id


def ending_faults(trace: Trace, model: LanguageModel) -> list[str]:
    """List contradictions between the end that tokens and settings give and the recorded one."""
    faults, ends = [], list[Ended | None]()
    if not trace.token_ids and trace.finish_reason != "cancelled":
        faults.append("a run that was not cancelled has emitted no token")
    if trace.config.has_own_bound:  # Its rules are run again.
        return faults
    ending = Ending(model, trace.config, token_limit(model, trace.prompt_ids, trace.config))
    ends += [ending.after(at, token)[1] for at, token in enumerate(trace.token_ids)]
    said = None if trace.finish_reason == "cancelled" else trace.finish_reason
    if any(ends[:-1]):
        faults.append(f"the run goes on after token {nth(_first(ends))}, where it ends")
    elif ends and ends[-1] != said:
        by = f"by {ends[-1]}" if ends[-1] else "not"
        faults.append(f"with its last token the run ends {by}, and it says {trace.finish_reason}")
    return faults


def _first(ends: Sequence[Ended | None]) -> int:
    return next(at for at, reason in enumerate(ends) if reason)


def note_faults(trace: Trace, model: LanguageModel) -> list[str]:
    """Notes that neither the settings nor the run give, and those that are missing.

    Only why a server was lost, which ends a run as cancelled, can't be found again.
    """
    emitted = tokens_read(trace.token_ids, trace.steps)
    due = run_notes(model, trace.config, trace.prompt_ids, emitted)
    known = {*due, *doubled_start(model, trace.rendered_prompt, trace.prompt_ids)}
    faults = [f"a note is missing: {brief(note)}" for note in due if note not in trace.notes]
    others = [note for note in trace.notes if note not in known]
    if len(others) > (trace.finish_reason == "cancelled") or len(set(trace.notes)) < len(
        trace.notes
    ):
        faults.append("a note says what neither the settings nor the run give")
    return faults


def texts(trace: Trace, model: LanguageModel) -> Check:
    """Whether the texts of tokens, prompt and run are what the model's tokenizer makes of them."""
    faults = run_text_faults(trace, model)
    for step, text in zip(trace.token_steps, step_texts(trace, model), strict=True):
        if step.text != text or any(
            c.text != model.token_text(c.token_id) for c in step.candidates
        ):
            faults.append(f"step {nth(step.index)}: a text is not its token's")
    return count("the tokenizer decodes the tokens to the text", faults, "differences")


def step_texts(trace: Trace, model: LanguageModel) -> list[str]:
    """What each token adds to the text, what is left of a character at the end included."""
    stream = TextStream(model)
    texts = [stream.push(token) for token in trace.token_ids]
    if texts and trace.finish_reason != "cancelled":
        texts[-1] += stream.flush()
    return texts


def _rescored(trace: Trace, model: LanguageModel, record: RecordAgain) -> list[Check]:
    """One forward over prompt and tokens without a cache, against every recorded number."""
    steps, prompt, first = trace.token_steps, trace.prompt_step, len(trace.prompt_ids) - 1
    ids, deviations, faults = [*trace.prompt_ids, *trace.token_ids[:-1]], [0.0], [""]
    replay = TokenReplay(trace, model, record)
    largest = max([1.0, *(abs(c.logit) for step in steps for c in step.candidates)])

    def compare(at: int, logits: Tensor) -> None:
        nonlocal largest
        largest = max(largest, largest_logit(logits))
        tolerance = logit_tolerance(trace, model, largest)
        for row, own in enumerate(logits, start=at):
            if prompt is not None and row < len(prompt.positions):
                deviations.append(position_error(own, prompt.positions[row], tolerance))
            if 0 <= row - first < len(steps):
                step = steps[row - first]
                deviations.append(_step_error(own, step))
                faults.append(replay.fault(step, own, ids[: row + 1], tolerance))

    read_again(model, trace, trace.token_ids[:-1], compare)
    detail = f"largest difference of logits and entropies over {len(ids)} positions, uncached"
    tolerance = logit_tolerance(trace, model, largest)
    return [
        worst("an independent forward gives the same numbers", deviations, tolerance, detail),
        count(
            "its logits and the settings give the same stages", [*filter(None, faults)], "faults"
        ),
    ]


def _dice(trace: Trace, model: LanguageModel) -> Iterator[Tensor]:
    """The noise of each drawn step in turn."""
    if sampling := drawn_by(trace.config):
        generator = new_generator(sampling.seed)
        while True:
            yield draw_noise(sampling.draw, generator, model.vocab_size)


def asked_again(trace: Trace, model: LanguageModel) -> Check:
    """`candidates_again` within what two forwards may differ by."""
    largest = max([1.0, *(abs(c.logit) for step in trace.token_steps for c in step.candidates)])
    return candidates_again(trace, model, logit_tolerance(trace, model, largest))


def _step_error(logits: Tensor, step: TokenStep) -> float:
    log_probs = torch.log_softmax(logits.double(), dim=-1)
    entropy = entropy_of(log_probs)
    surprisal = -float(log_probs[step.token_id])
    numbers = (abs(entropy - step.entropy), abs(surprisal - step.surprisal))
    return max(*numbers, candidate_error(logits, step.candidates), key=nan_first)


def _noise(trace: Trace, model: LanguageModel) -> Check:
    """The Gumbel noise in every score is what the seed gives that token."""
    sampling, deviations = drawn_by(trace.config), [0.0]
    detail = "largest relative deviation of a score from ln p + noise (none is added in this draw)"
    if sampling and sampling.draw != "inverse_cdf":
        detail = "largest relative deviation of a score from ln p + noise"
        drawn = (s for s in trace.token_steps if s.draw.method != "forced")
        for step, dice in zip(drawn, _dice(trace, model), strict=False):
            probs = step.stages[-3 if step.origin == "forced" else -1].probs
            noise = -dice.log()
            scored = zip(step.candidates, probs, step.draw.scores or (), strict=False)
            for candidate, prob, score in scored:
                if score is not None and prob > 0:
                    expected = math.log(prob) + float(noise[candidate.token_id])
                    deviations.append(abs(score - expected) / max(1.0, abs(score)))
    return worst("the noise is that of the seed", deviations, VALUE_TOLERANCE, detail)


def _reference(trace: Trace, model: LanguageModel) -> Check | None:
    if not offers(model, HasReference) or trace.finish_reason == "cancelled":
        return None
    expected = model.reference_token_ids(trace.prompt_ids, trace.config)
    if expected is None:
        return None

    def gap_at(at: int) -> tuple[float, float]:
        return _near_tie(trace, at, expected), _largest_logit(trace, at)

    name = "transformers' generate emits the same tokens"
    return same_tokens(name, trace, model, expected, gap_at)


def same_tokens(
    name: str,
    trace: Trace,
    model: LanguageModel,
    expected: Sequence[int],
    gap_at: Callable[[int], tuple[float, float]],
) -> Check:
    """A check of the trace's tokens against others, which allows them to part at a near tie.

    Args:
        gap_at: of the place where they part, how far apart the two tokens are there, in nats, and
            the largest logit.
    """
    own = list(trace.token_ids)
    if expected == own:
        return Check(name, True, 0.0, 0.0, f"{len(own)} of {len(own)} tokens are equal")
    shared = min(len(expected), len(own))
    at = next((i for i in range(shared) if expected[i] != own[i]), shared)
    gap, largest = gap_at(at)
    detail = f"first difference at token {at + 1}; there the two tokens are {gap:.2g} nats apart"
    return worst(name, [gap], 2 * logit_tolerance(trace, model, largest), detail)


def _largest_logit(trace: Trace, at: int) -> float:
    step = trace.token_steps[min(at, len(trace.token_steps) - 1)]
    return max(abs(candidate.logit) for candidate in step.candidates)


def _near_tie(trace: Trace, at: int, expected: Sequence[int]) -> float:
    """How far apart the two tokens are where they were chosen, in nats; infinite if unknown."""
    if at >= len(expected) or at >= len(trace.token_ids):
        return math.inf
    step = trace.token_steps[at]
    places = {c.token_id: place for place, c in enumerate(step.candidates)}
    own, other = places[step.token_id], places.get(expected[at])
    if other is None:
        return math.inf
    if step.draw.scores is not None:
        scores = step.draw.scores[own], step.draw.scores[other]
        return math.inf if None in scores else abs((scores[0] or 0.0) - (scores[1] or 0.0))
    before = step.stages[-3].probs
    if before[own] <= 0 or before[other] <= 0:
        return math.inf
    return abs(math.log(before[own]) - math.log(before[other]))
