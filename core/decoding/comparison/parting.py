"""First difference of two runs and its cause, from their traces and, if given, the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, Protocol

from ...language import N_, Message
from ..config import MethodConfig
from ..counting import listed, nth, sentences
from ..errors import ConfigError
from ..record.steps import ENDED_BY, TokenStep
from ..record.trace import Trace
from ..shaping.config import PENALTIES, Shaping
from .reasons import difference_words, first_difference, input_words, model_words, number_types
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
        return Parting(0, "input", input_words(left, right), settings)
    at = first_difference(left.token_ids, right.token_ids)
    rounding = _largest_difference(left_read, right_read, at)
    if at is None:
        words = Message("All {count} tokens are equal.", count=len(left.token_ids))
        if rounding is not None:
            bound = max(_bound(left_read), _bound(right_read))
            words = sentences(words, difference_words(left, right, rounding, bound))
        return Parting(None, "same", words, settings, rounding=rounding)
    if at == min(len(left.token_ids), len(right.token_ids)):
        shorter, longer = sorted((left, right), key=lambda trace: len(trace.token_ids))
        words = Message(
            "The first {equal} tokens are equal; there one run is ended by {end}, the other one "
            "goes on to {count} tokens.",
            equal=at,
            end=Message(ENDED_BY[shorter.finish_reason]),
            count=len(longer.token_ids),
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
    steps = [s for s in (step_at(left, at), step_at(right, at)) if s is not None]
    if any(s.origin == "forced" for s in steps):
        words = Message(
            "At token {token} a run did not choose: its token was put in the place of its own "
            "pick.",
            token=nth(at),
        )
        return parting._replace(cause="given", reason=words)
    if rounding is not None and rounding > bound:
        return parting._replace(reason=model_words(left, right, parting, bound))
    greedy = not any(draws(run.config) for run in (left, right))
    idle = _idle(left.config) & _idle(right.config)
    acting = [
        d
        for d in parting.settings
        if d.name not in _WITHOUT_EFFECT | idle and not (greedy and d.name in _OF_DICE)
    ]
    if not acting:
        return _of_numbers(parting, left, right)
    if greedy and _is_same_rule(left, right, acting) and (parting.margin or math.inf) <= 2 * bound:
        words = Message(
            "Both runs take the most probable token, and here two are {margin:.2g} "
            "nats apart: scoring several tokens in one forward pass rounds "
            "otherwise than one token at a time, which decides such a tie.",
            margin=parting.margin,
        )
        return parting._replace(cause="rounding", reason=words)
    if [d.name for d in acting] == ["seed"]:
        words = Message(
            "Until token {token} both dice fell on the same tokens. There seed {left} and "
            "seed {right} fall on different ones.",
            token=nth(at),
            left=acting[0].left,
            right=acting[0].right,
        )
        return parting._replace(cause="dice", reason=words)
    reason = _setting_words(left, right, at, acting, again)
    return parting._replace(cause="settings", reason=reason)


def _idle(config: MethodConfig) -> frozenset[str]:
    """Return the settings that don't act beside the config's others."""
    return getattr(config, "idle", frozenset())


def _is_same_rule(left: Trace, right: Trace, acting: Sequence[SettingDifference]) -> bool:
    """Return whether both runs take the most probable token under the same penalties."""
    rules = {trace.config.method for trace in (left, right)}
    shaped = any(d.name in PENALTIES or d.name == "min_new_tokens" for d in acting)
    return rules <= {"greedy", "sampling", "speculative"} and not shaped


def _of_numbers(parting: Parting, left: Trace, right: Trace) -> Parting:
    """Return the cause for runs with equal settings and noise: rounding, or other probabilities."""
    drawn = step_at(left, parting.at or 0)
    if parting.margin is None or parting.rounding is None:
        words = N_("The settings are the same; the runs did not record both tokens' probabilities.")
        return parting._replace(reason=words)
    if parting.margin > 2 * parting.rounding and drawn is not None and drawn.origin == "argmax":
        words = Message(
            "The two tokens are {margin:.2g} nats apart, and the runs' "
            "log-probabilities differ by at most {rounding:.2g} nats: rounding "
            "does not explain it.",
            margin=parting.margin,
            rounding=parting.rounding,
        )
        return parting._replace(reason=words)
    words = Message(
        "The two tokens are {margin:.2g} nats apart. The same log-probabilities "
        "differ by up to {rounding:.2g} nats between the runs ({kinds}), which "
        "decides such a tie.",
        margin=parting.margin,
        rounding=parting.rounding,
        kinds=number_types(left, right),
    )
    if drawn is not None and drawn.origin == "sampled":
        words = Message(
            "The drawn number lies at the border of the two tokens' shares: a "
            "difference of {rounding:.2g} nats in a log-probability moves the "
            "border past it.",
            rounding=parting.rounding,
        )
    return parting._replace(cause="rounding", reason=words)


def _setting_words(
    left: Trace,
    right: Trace,
    at: int,
    acting: Sequence[SettingDifference],
    again: StepAgain | None,
) -> str:
    """Return which setting decides the token; a page lists the differing settings by itself.

    What a verification draws follows from the draft and the tokens before it in its round: a single
    step of the target doesn't repeat it.
    """
    if any(run.rounds and draws(run.config) for run in (left, right)):
        again = None
    if again is None and len(acting) == 1:
        return Message(
            "Only {setting} can have decided it: no other setting that acts differs.",
            setting=Message(acting[0].words),
        )
    if again is None or left.config.method != right.config.method:
        names = [d.words for d in acting]
        return Message("Each of these may have decided it: {settings}.", settings=listed(names))
    rival = right.token_ids[at]
    pairs = ((d, _exchanged_or_none(left.config, d)) for d in acting)
    alone = [d.words for d, config in pairs if config and again.token_under(config) == rival]
    if alone:
        return Message(
            "At this token {settings} alone decides it: with B's value A emits B's token.",
            settings=listed(alone, N_("{one} or {other}")),
        )
    return Message("No single setting decides this token: only several together.")


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


def _rival(trace: Trace, pair: Sequence[TokenStep | None], at: int) -> PartedToken:
    token_id = trace.token_ids[at]
    recorded = [
        next((c for c in step.candidates if c.token_id == token_id), None) if step else None
        for step in pair
    ]
    rounds = [text for step in trace.rounds for text in step.texts]
    unrecorded = rounds[at] if at < len(rounds) else f"#{token_id}"
    text = next((c.text for c in recorded if c is not None), unrecorded)
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
