"""First difference of two runs and its cause, from their traces and, if given, the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, Protocol

from ..config import MethodConfig
from ..counting import nth
from ..errors import ConfigError
from ..record.servers import SERVERS
from ..record.steps import TokenStep
from ..record.trace import Trace
from ..shaping.config import PENALTIES, Shaping
from ..validation import brief
from .types import PartedToken, Parting, SettingDifference

# Less probable tokens are not compared: rounding changes their logarithm most.
_FAINT = 1e-4
# Rounding error of a logit, for each unit of the largest logit (measured: up to 1e-5 in float32,
# 0.05 in bfloat16). An unknown type is a server's: it has 16 bits or more.
_EPSILONS = {"float64": 1e-12, "float32": 1.2e-5, "float16": 8 * 2.0**-10}
_COARSE = 8 * 2.0**-7
# Settings that change the record or the computation, but no probability.
_OF_DICE = frozenset({"seed", "draw", "acceptance"})
_WITHOUT_EFFECT = frozenset({"top_candidates", "use_cache", "max_new_tokens", "stop_strings"})


class StepAgain(Protocol):
    """A step of a run that can be recomputed by the model (`deciding.step_again`)."""

    def token_under(self, config: MethodConfig) -> int | None:
        """Return the token that the step emits under other settings; None if unknown."""

    def gap(self, one: int, other: int) -> float:
        """Return the distance of two tokens' raw log-probabilities, in nats."""


def compare(
    left: Trace,
    right: Trace,
    again: Callable[[int], StepAgain] | None = None,
    *,
    read: Sequence[Trace] = (),
) -> Parting:
    """Find the first token that differs between two runs, and its cause.

    Args:
        again: returns a step of the left run by its index; without it, no setting is exchanged, and
            the margin is unknown for runs without single-token steps.
        read: both runs as single steps, for runs whose own steps emit several tokens: their
            probabilities are compared.
    """
    left_read, right_read = read or (left, right)
    settings = tuple(setting_differences(left.config, right.config))
    if left.prompt_ids != right.prompt_ids:
        return Parting(0, "input", _input_words(left, right), settings)
    at = first_difference(left.token_ids, right.token_ids)
    rounding = _largest_difference(left_read, right_read, at)
    if at is None:
        words = f"All {len(left.token_ids)} tokens are equal."
        if rounding is not None:
            bound = max(_bound(left_read), _bound(right_read))
            words += f" {_difference_words(left, right, rounding, bound)}"
        return Parting(None, "same", words, settings, rounding=rounding)
    if at == min(len(left.token_ids), len(right.token_ids)):
        shorter, longer = sorted((left, right), key=lambda trace: len(trace.token_ids))
        words = (
            f"The first {at} tokens are equal; there one run ends by {shorter.finish_reason}, the "
            f"other one goes on to {len(longer.token_ids)} tokens."
        )
        return Parting(at, "length", words, settings, rounding=rounding)
    pair = step_at(left_read, at), step_at(right_read, at)
    rivals = _rival(left, pair, at), _rival(right, pair, at)
    step = None if again is None else again(at)
    one, other = rivals
    probs = (one.left_prob, other.left_prob), (one.right_prob, other.right_prob)
    gaps = [abs(math.log(a) - math.log(b)) for a, b in probs if a and b]
    margin = min(gaps, default=None)
    if margin is None and step is not None:
        margin = step.gap(left.token_ids[at], right.token_ids[at])
    parting = Parting(at, "model", "", settings, rivals, margin, rounding)
    bound = max(_bound(left_read), _bound(right_read))
    return _with_cause(parting, left, right, step, bound)


def first_difference(left: Sequence[int], right: Sequence[int]) -> int | None:
    """Return the index of the first token that differs, or where one sequence ends; None if
    equal.
    """
    shared = min(len(left), len(right))
    at = next((at for at in range(shared) if left[at] != right[at]), shared)
    return None if at == len(left) == len(right) else at


def setting_differences(left: MethodConfig, right: MethodConfig) -> Iterator[SettingDifference]:
    """Yield every differing setting of both methods: the method first, settings of the shaping
    last.
    """
    if left.method != right.method:
        yield SettingDifference("method", left.method, right.method)
    parts: tuple[tuple[Any, Any], ...] = ((left, right), (left.shaping, right.shaping))
    for one, other in parts:
        for name in (f.name for f in fields(one) if f.name != "shaping"):
            if getattr(other, name, value := getattr(one, name)) != value:
                yield SettingDifference(name, value, getattr(other, name))


def number_type(trace: Trace) -> str:
    """Return a run's number type in words; a server's is a guess from its answers."""
    if not trace.dtype:
        return "unknown number type"
    guessed = ", guessed from the server’s answers" if SERVERS & trace.versions.keys() else ""
    return f"{trace.dtype}{guessed}"


def draws(config: MethodConfig) -> bool:
    """Return whether a run with these settings draws its tokens."""
    return bool(getattr(config, "draws", config.can_draw)) and config.shaping.temperature > 0


def step_at(trace: Trace, at: int) -> TokenStep | None:
    """Return the step that emitted token `at`; None if the run's steps emit several tokens."""
    steps = trace.token_steps
    return steps[at] if at < len(steps) else None


def _with_cause(
    parting: Parting, left: Trace, right: Trace, again: StepAgain | None, bound: float
) -> Parting:
    at, rounding = parting.at or 0, parting.rounding
    step = f"token {nth(at)}"
    steps = [s for s in (step_at(left, at), step_at(right, at)) if s is not None]
    if any(s.origin == "forced" for s in steps):
        words = f"At {step} a run did not choose: its token was put in the place of its own pick."
        return parting._replace(cause="given", reason=words)
    if rounding is not None and rounding > bound:
        return parting._replace(reason=_model_words(left, right, parting, bound))
    greedy = not any(draws(run.config) for run in (left, right))
    acting = [
        d
        for d in parting.settings
        if d.name not in _WITHOUT_EFFECT and not (greedy and d.name in _OF_DICE)
    ]
    if not acting:
        return _of_numbers(parting, left, right)
    if greedy and _is_same_rule(left, right, acting) and (parting.margin or math.inf) <= 2 * bound:
        words = (
            f"Both runs take the most probable token, and here two are {parting.margin:.2g} nats "
            "apart: scoring several tokens in one forward pass rounds otherwise than one token at "
            "a time, which decides such a tie."
        )
        return parting._replace(cause="rounding", reason=words)
    if [d.name for d in acting] == ["seed"]:
        words = (
            f"Until {step} both dice fell on the same tokens. There seed {acting[0].left} and seed "
            f"{acting[0].right} fall on different ones."
        )
        return parting._replace(cause="dice", reason=words)
    words = _setting_words(left, right, at, acting, again)
    return parting._replace(cause="settings", reason=words)


def _is_same_rule(left: Trace, right: Trace, acting: Sequence[SettingDifference]) -> bool:
    """Return whether both runs take the most probable token under the same penalties."""
    rules = {trace.config.method for trace in (left, right)}
    shaped = any(d.name in PENALTIES or d.name == "min_new_tokens" for d in acting)
    return rules <= {"greedy", "sampling", "speculative"} and not shaped


def _of_numbers(parting: Parting, left: Trace, right: Trace) -> Parting:
    """Return the cause for runs with equal settings and noise: rounding, or other probabilities."""
    drawn = step_at(left, parting.at or 0)
    if parting.margin is None or parting.rounding is None:
        words = "The settings are the same; the runs did not record both tokens' probabilities."
        return parting._replace(reason=words)
    if parting.margin > 2 * parting.rounding and drawn is not None and drawn.origin == "argmax":
        words = (
            f"The two tokens are {parting.margin:.2g} nats apart, and the runs' log-probabilities "
            f"differ by at most {parting.rounding:.2g} nats: rounding does not explain it."
        )
        return parting._replace(reason=words)
    kinds = dict.fromkeys(number_type(trace) for trace in (left, right))
    words = (
        f"The two tokens are {parting.margin:.2g} nats apart. The same log-probabilities differ "
        f"by up to {parting.rounding:.2g} nats between the runs ({' and '.join(kinds)}), which "
        "decides such a tie."
    )
    if drawn is not None and drawn.origin == "sampled":
        words = (
            "The drawn number lies at the border of the two tokens' shares: a difference of "
            f"{parting.rounding:.2g} nats in a log-probability moves the border past it."
        )
    return parting._replace(cause="rounding", reason=words)


def _setting_words(
    left: Trace,
    right: Trace,
    at: int,
    acting: Sequence[SettingDifference],
    again: StepAgain | None,
) -> str:
    """Return which setting decides the token; a page lists the differing settings by itself."""
    if again is None and len(acting) == 1:
        return f"Only {acting[0].words} can have decided it: no other setting that acts differs."
    if again is None or left.config.method != right.config.method:
        names = [d.words for d in acting]
        return f"Each of these may have decided it: {', '.join(names)}."
    rival = right.token_ids[at]
    pairs = ((d, _exchanged_or_none(left.config, d)) for d in acting)
    alone = [d.words for d, config in pairs if config and again.token_under(config) == rival]
    if alone:
        return (
            f"At this token {' or '.join(alone)} alone decides it: with B's value A emits B's "
            "token."
        )
    return "No single setting decides this token: only several together."


def _exchanged_or_none(config: MethodConfig, difference: SettingDifference) -> MethodConfig | None:
    """Return `exchanged`; None if the value can't stand beside the other settings."""
    try:
        return exchanged(config, difference)
    except ConfigError:
        return None


def exchanged(config: MethodConfig, difference: SettingDifference) -> MethodConfig:
    """Return the settings with one value taken from the other run."""
    if difference.name in Shaping.__dataclass_fields__:
        change: dict[str, Any] = {difference.name: difference.right}
        return replace(config, shaping=replace(config.shaping, **change))
    return replace(config, **{difference.name: difference.right})


def _input_words(left: Trace, right: Trace) -> str:
    at = first_difference(left.prompt_ids, right.prompt_ids) or 0
    where = f"The prompts' tokens differ from token {nth(at)} on"
    if left.rendered_prompt == right.rendered_prompt:
        return (
            f"{where}, and their texts are equal: another tokenizer, or a token such as "
            "beginning-of-sequence that one side adds."
        )
    if left.prompt == right.prompt:
        return f"{where}: the same words, written by another chat template."
    return f"{where}: the prompts are different texts."


def _difference_words(left: Trace, right: Trace, rounding: float, bound: float) -> str:
    """Return the difference of the log-probabilities of two runs with the same tokens."""
    if not rounding:
        return "Their recorded log-probabilities are equal too."
    kinds = " and ".join(dict.fromkeys(number_type(trace) for trace in (left, right)))
    more = "more" if rounding > bound else "no more"
    return (
        f"Their log-probabilities differ by up to {rounding:.2g} nats, {more} than "
        f"rounding does ({bound:.2g} nats; {kinds})."
    )


def _model_words(left: Trace, right: Trace, parting: Parting, bound: float) -> str:
    names = dict.fromkeys(
        f"{brief(trace.model_id)} ({number_type(trace)})" for trace in (left, right)
    )
    return (
        f"Up to token {nth(parting.at or 0)} the runs' log-probabilities of the same tokens "
        f"differ by {parting.rounding:.2g} nats, more than rounding does ({bound:.2g}): "
        f"{' and '.join(names)} give other probabilities."
    )


def _rival(trace: Trace, pair: Sequence[TokenStep | None], at: int) -> PartedToken:
    token_id = trace.token_ids[at]
    recorded = [
        next((c for c in step.candidates if c.token_id == token_id), None) if step else None
        for step in pair
    ]
    text = next((c.text for c in recorded if c is not None), f"#{token_id}")
    left, right = (c.raw_prob if c is not None else None for c in recorded)
    return PartedToken(token_id, text, left, right)


def _largest_difference(left: Trace, right: Trace, at: int | None) -> float | None:
    """Return the largest difference of the runs' log-probabilities over their common prefix, in
    nats.
    """
    last = None if at is None else at + 1
    steps = list(zip(left.token_steps[:last], right.token_steps[:last], strict=False))
    pairs = [pair for one, other in steps for pair in ((one, other), (other, one))]
    return max((_difference(one, other) for one, other in pairs), default=None)


def _difference(one: TokenStep, other: TokenStep) -> float:
    """Return the largest difference over a step's probable tokens; for a token that the other step
    lacks, a lower bound.
    """
    probs = {c.token_id: c.raw_prob for c in other.candidates}
    # An unlisted token has at most the probability of the last ranked token.
    ranked = (c.raw_prob for at, c in enumerate(other.candidates) if c.rank == nth(at))
    rest = min(ranked, default=1.0)
    largest = 0.0
    for candidate in one.candidates:
        twin = probs.get(candidate.token_id)
        if candidate.raw_prob > _FAINT and (twin is None or twin > _FAINT):
            apart = math.log(candidate.raw_prob) - math.log(max(twin or rest, _FAINT))
            largest = max(largest, apart if twin is None else abs(apart))
    return largest


def _bound(trace: Trace) -> float:
    """Return the largest change of a log-probability of this run by rounding, in nats."""
    logits = [abs(c.logit) for step in trace.token_steps for c in step.candidates]
    return _EPSILONS.get(trace.dtype, _COARSE) * max([1.0, *filter(math.isfinite, logits)])
