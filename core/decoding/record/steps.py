"""Steps of one sequence: the prompt step, and token steps with their stages and draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias

from ...language import N_
from ..config import MAX_CANDIDATES, DrawMethod, Ended
from ..shaping.config import STAGES
from ..validation import ShortRepr
from .bounds import (
    MAX_NUMBER,
    MAX_STEPS,
    Bounds,
    ByColumn,
    FiniteNumber,
    Index,
    LeftOut,
    Nats,
    OneOf,
    Prob,
    Rank,
    Seconds,
    ShortText,
    TokenId,
    Uniform,
)
from .compared import ComparedTokens

StageName: TypeAlias = Annotated[str, OneOf(STAGES)]

FinishReason: TypeAlias = Literal["eos", "stop", "length", "cancelled"]
# What ended a run, as a noun.
ENDED_BY: dict[FinishReason, str] = {
    "eos": N_("the model"),
    "stop": N_("a stop string"),
    "length": N_("its length"),
    "cancelled": N_("cancellation"),
}
Origin: TypeAlias = Literal["argmax", "sampled", "forced", "server"]
Phase: TypeAlias = Literal["answer", "thinking"]
ForcedAs: TypeAlias = Literal["think_start", "think_end", "wait", "result", "given"]


class Candidate(NamedTuple):
    """A token with its numbers at a step.

    `text` is the display text: a part of a character is shown as bytes (`<E2><98>`). `logit` and
    `raw_prob` are the model's, before any shaping; `prob` is the probability in the final
    distribution; `removed_by` names the stage that removed the token, None if no stage did.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", Greedy(max_new_tokens=8))
        >>> best = trace.token_steps[0].candidates[0]
        >>> best.text, best.rank, round(best.raw_prob, 2)
        (',', 1, 1.0)
    """

    token_id: TokenId
    text: ShortText
    rank: Rank
    logit: FiniteNumber
    raw_prob: Prob
    prob: Prob
    removed_by: StageName | None = None


# The most probable tokens and the chosen token.
_Rows = Bounds(max_length=MAX_CANDIDATES + 1)
Candidates: TypeAlias = Annotated[tuple[Candidate, ...], ByColumn(), _Rows]


class MarkedToken(NamedTuple):
    """Numbers of a watermark at a step, all from 0 to 1.

    `score` is the emitted token's by the detector: 1 for a green token and 0 for another, or the
    mean g-value. `before` and `after` are the mean score of a draw before and after the stage.
    """

    score: Prob
    before: Prob
    after: Prob


class Second(NamedTuple):
    """A second forward at a step.

    `probs[i]` is the probability of the step's `candidates[i]` in it. `layer` is the layer whose
    output the head read; None for a whole model.
    """

    probs: Annotated[tuple[Prob, ...], _Rows]
    layer: Annotated[Index | None, LeftOut(lambda second: second.layer is None)] = None


class Stage(NamedTuple):
    """One named distribution between the logits and the draw.

    `probs[i]` belongs to the step's `candidates[i]`; `tail_mass` is the mass of all other tokens,
    measured over the vocabulary, so that `sum(probs) + tail_mass` is 1. `kept` is the number of
    tokens that are not removed; `removed_mass` is the mass that this stage removed from the
    previous distribution. `noise` is the stage's own uniform number, derived from seed, name and
    step. `state` is the number that a sampler took over from the step before (mirostat's mu).
    `mark` holds the numbers of a watermark's stage, `second` those of a second forward that the
    stage contrasts with.

    Example:
        >>> model = load_model("embedded:target")
        >>> config = Sampling(max_new_tokens=1, shaping=Shaping(temperature=0.5, top_k=3))
        >>> step = collect(model, "Once upon a time", config).token_steps[0]
        >>> [(stage.name, stage.kept) for stage in step.stages]
        [('raw', 4096), ('temperature', 4096), ('top_k', 3), ('final', 3)]
    """

    name: StageName
    probs: Annotated[tuple[Prob, ...], _Rows]
    tail_mass: Prob
    kept: Rank
    removed_mass: Prob
    noise: Annotated[Uniform | None, LeftOut(lambda stage: stage.noise is None)] = None
    state: Annotated[FiniteNumber | None, LeftOut(lambda stage: stage.state is None)] = None
    mark: Annotated[MarkedToken | None, LeftOut(lambda stage: stage.mark is None)] = None
    second: Annotated[Second | None, LeftOut(lambda stage: stage.second is None)] = None

    @property
    def unchanged(self) -> Stage:
        """The same distribution, as the last stage `final`."""
        same = self._replace(name="final", removed_mass=0.0, noise=None, state=None)
        return same._replace(mark=None, second=None)


class Draw(NamedTuple):
    """Draw of the token.

    `argmax` has no numbers. `inverse_cdf` has the `uniform` number in [0, 1) and the `interval` of
    the cumulative distribution that contains it (tokens by falling probability, ties by id).
    `gumbel` and `multinomial` have `scores`, one for each candidate (log-probability plus Gumbel
    noise; None for a removed token); the highest score of the vocabulary wins. `forced` has no
    numbers, as nothing was drawn; neither has `server`, where the server drew.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", Sampling(seed=7, max_new_tokens=1))
        >>> draw = trace.token_steps[0].draw
        >>> draw.method, draw.interval[0] <= draw.uniform < draw.interval[1]
        ('inverse_cdf', True)
    """

    method: DrawMethod | Literal["argmax", "forced", "server"]
    uniform: Uniform | None = None
    interval: tuple[Prob, Prob] | None = None
    scores: Annotated[tuple[FiniteNumber | None, ...], _Rows] | None = None


class StepSeconds(NamedTuple):
    """Seconds of a step's parts; the first step's `forward` is 0 if the prompt step counts it."""

    forward: Seconds
    shaping: Seconds
    draw: Seconds

    @property
    def total(self) -> float:
        return self.forward + self.shaping + self.draw


class Step(ShortRepr):
    """Base class of steps; a method's own step is a subclass that its registry row names."""

    __slots__ = ()
    kind: ClassVar[str]

    @property
    def token_ids(self) -> tuple[int, ...]:
        """Tokens that the step finally emitted."""
        return ()

    @property
    def finish_reason(self) -> Ended | None:
        """Finish reason; set on the last step of a run that ended by itself."""
        return None

    @property
    def duration(self) -> float:
        """Seconds of the whole step."""
        seconds: Any = getattr(self, "seconds", 0.0)
        total: float = getattr(seconds, "total", seconds)
        return total


@dataclass(frozen=True, slots=True)
class MethodRecord:
    """Base class of a method's own data of a run; empty for most methods."""


NO_RECORD = MethodRecord()


class RunTokens(NamedTuple):
    """Generated ids of a run, and the method's own data."""

    token_ids: tuple[int, ...]
    record: MethodRecord = NO_RECORD


def emitted_tokens(steps: Sequence[Step], *_: object) -> RunTokens:
    """Return the run's tokens for a method whose steps emit them finally."""
    return RunTokens(tuple(token_id for step in steps for token_id in step.token_ids))


@dataclass(frozen=True, slots=True, repr=False)
class PromptPosition(ShortRepr):
    """Prediction of the model after one prompt token.

    `next_*` describe the token that follows in the prompt; None at the last position.
    """

    index: Index
    token_id: TokenId
    text: ShortText
    entropy: Nats
    candidates: Candidates
    next_token_id: TokenId | None = None
    next_prob: Prob | None = None
    next_rank: Rank | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PromptStep(Step):
    """Prompt processing: one forward over the prompt, recorded at every position.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", Greedy(max_new_tokens=8))
        >>> step = trace.prompt_step
        >>> [position.text for position in step.positions]
        ['Once', ' upon', ' a', ' time']
    """

    kind: ClassVar[str] = "prompt"

    seconds: Seconds
    positions: Annotated[tuple[PromptPosition, ...], Bounds(max_length=MAX_STEPS)]


_NotForced = LeftOut(lambda step: step.forced_as is None)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TokenStep(Step):
    """A step that emitted one token.

    Args:
        index: 0 for the first generated token.
        candidates: the model's most probable tokens by rank; the chosen token is always included.
        entropy: entropy of the raw distribution, nats.
        tail_mass: raw mass of all tokens outside the candidates.
        surprisal: -ln(raw probability of the chosen token), nats.
        stages: the named distributions, `raw` first and `final` last.
        text: what this token added to the running text; empty while a character is incomplete.
        finish_reason: set on the last step of a run that ended by itself.
        forced_as: reason for a forced token (origin `forced`); None if the model chose it.
        instead_of: the token that `draw` picked, if a forced token replaced it.
        compared: tokens that the method compared by its own score.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", Greedy(max_new_tokens=8))
        >>> step = trace.token_steps[1]
        >>> step.text, round(step.entropy, 2), round(step.surprisal, 2)
        (' there', 1.96, 0.66)
    """

    kind: ClassVar[str] = "token"

    index: Index
    token_id: TokenId
    text: ShortText
    candidates: Candidates
    entropy: Nats
    tail_mass: Prob
    surprisal: Annotated[float, Bounds(ge=-0.001, le=MAX_NUMBER)]
    origin: Origin
    phase: Phase
    forced_as: Annotated[ForcedAs | None, _NotForced] = None
    instead_of: Annotated[TokenId | None, _NotForced] = None
    draw: Draw
    stages: Annotated[tuple[Stage, ...], Bounds(min_length=2, max_length=len(STAGES))]
    seconds: StepSeconds
    finish_reason: Ended | None = None
    compared: Annotated[ComparedTokens | None, LeftOut(lambda step: step.compared is None)] = None

    @property
    def token_ids(self) -> tuple[int, ...]:
        """The emitted token, as a tuple."""
        return (self.token_id,)

    @property
    def states(self) -> dict[str, float]:
        """The samplers' states at this step, by setting."""
        return {stage.name: stage.state for stage in self.stages if stage.state is not None}

    @property
    def chosen(self) -> Candidate:
        """The candidate that was emitted."""
        for candidate in self.candidates:
            if candidate.token_id == self.token_id:
                return candidate
        raise LookupError(f"step {self.index} doesn't hold its own token {self.token_id}")
