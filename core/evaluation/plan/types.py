"""Plan and rows of an evaluation: frozen values, without torch and pandas."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields, replace
from typing import Annotated, TypeAlias

from pydantic import ConfigDict, PlainSerializer, PlainValidator

from ...decoding.config import MethodConfig
from ...decoding.errors import ConfigError
from ...decoding.methods import config_from_dict, config_to_dict
from ...decoding.record.steps import FinishReason
from ...decoding.speculative.config import Speculative
from ...decoding.validation import ShortRepr, brief
from ...language import N_, Message
from ..questions.types import Question, QuestionSet
from ..runner import Place
from ..scoring.metrics import DEFAULT_METRICS, require_metrics
from ..types import require_possible

DEFAULT_MODEL = "embedded:target"
MAX_WAYS, MAX_SAMPLES, MAX_ROWS = 60, 100, 100_000
MAX_NAME, MAX_SYSTEM = 120, 4_000
StoredConfig: TypeAlias = Annotated[
    MethodConfig, PlainValidator(config_from_dict), PlainSerializer(config_to_dict)
]


@dataclass(frozen=True, slots=True)
class Way:
    """One way of decoding: a model, its prompt format, and its decoding settings.

    Args:
        name: unique name of the way, in figures and rows.
        model: argument of `load_model`.
        draft: the draft model of speculative decoding; empty for none.
        use_chat_template: True for a conversation, False for plain text.
        draft_use_chat_template: the same for the draft's prompt; None for the target's ids.
        system: the system prompt; without a template it precedes the question.
        samples: runs of each question, with the config's seed, `+ 1`, ...; 1 unless it draws.

    Raises:
        ConfigError: no name, a setting without effect, or too many samples.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    name: str
    config: StoredConfig
    model: str = DEFAULT_MODEL
    draft: str = ""
    use_chat_template: bool = True
    draft_use_chat_template: bool | None = None
    system: str = ""
    samples: int = 1

    def __post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > MAX_NAME:
            raise ConfigError(
                Message("A way needs a name of at most {max_name} characters.", max_name=MAX_NAME)
            )
        if not 1 <= self.samples <= MAX_SAMPLES or (self.samples > 1 and not draws(self.config)):
            raise ConfigError(
                Message(
                    "Way {given}: samples must be 1 where nothing is drawn, else 1 to "
                    "{max_samples}, got {samples}.",
                    given=brief(self.name),
                    max_samples=MAX_SAMPLES,
                    samples=self.samples,
                )
            )
        if len(self.system) > MAX_SYSTEM:
            raise ConfigError(
                Message(
                    "Way {given}: system has more than {max_system:,} characters.",
                    given=brief(self.name),
                    max_system=MAX_SYSTEM,
                )
            )
        drafts = isinstance(self.config, Speculative) and self.config.source.needs_draft
        if drafts != bool(self.draft):
            words = N_("Way {given} has no use for a draft; see its config's drafter.")
            if drafts:
                words = N_("Way {given} needs a draft; see its config's drafter.")
            raise ConfigError(Message(words, given=brief(self.name)))
        reads_prompt = drafts and self.config.drafter == "model"  # type: ignore[attr-defined]
        if not reads_prompt and self.draft_use_chat_template is not None:
            raise ConfigError(
                Message(
                    "Way {given}: draft_use_chat_template acts where a second model drafts.",
                    given=brief(self.name),
                )
            )

    def config_of(self, sample: int) -> MethodConfig:
        """Return the config of one of its samples."""
        if not draws(self.config):
            return self.config
        return replace(self.config, seed=self.config.seed + sample)  # type: ignore[attr-defined,call-arg]


def draws(config: MethodConfig) -> bool:
    """Return True if another seed may give another text."""
    if "seed" not in {field.name for field in fields(config)}:
        return False
    heat = max(config.shaping.temperature, getattr(config, "draft_temperature", None) or 0.0)
    return bool(getattr(config, "draws", heat > 0))


@dataclass(frozen=True, slots=True, repr=False)
class EvaluationPlan(ShortRepr):
    """Everything that determines an evaluation's rows, except their seconds.

    Args:
        metrics: names of the metrics; a reply is right if one of them accepts it.
        revisions: a digest of each model's weights by its name; empty before they are loaded.
        reward: name of the reward model for every reply, for `load_reward_model`; or none.

    Raises:
        ConfigError: nothing to run, a duplicate name of a way, or more than `MAX_ROWS` runs.
    """

    questions: QuestionSet
    ways: tuple[Way, ...]
    metrics: tuple[str, ...] = DEFAULT_METRICS
    revisions: tuple[tuple[str, str], ...] = ()
    reward: str = ""

    def __post_init__(self) -> None:
        require_metrics(self.metrics)
        if not self.questions.questions or not 1 <= len(self.ways) <= MAX_WAYS:
            raise ConfigError(
                Message(
                    "An evaluation needs a question and 1 to {max_ways} ways.", max_ways=MAX_WAYS
                )
            )
        for what, names in (
            (Message("ways"), [way.name for way in self.ways]),
            (Message("questions"), [question.key for question in self.questions.questions]),
        ):
            name, times = Counter(names).most_common(1)[0]
            if times > 1:
                raise ConfigError(
                    Message(
                        "{times} {what} have the name {given}; give each its own.",
                        times=times,
                        what=what,
                        given=brief(name),
                    )
                )
        if self.total > MAX_ROWS:
            raise ConfigError(
                Message(
                    "An evaluation has at most {max_rows:,} runs, this one {total:,}: "
                    "take fewer questions, ways or samples.",
                    max_rows=MAX_ROWS,
                    total=self.total,
                )
            )

    @property
    def total(self) -> int:
        """Number of rows of a complete evaluation."""
        return len(self.questions.questions) * sum(way.samples for way in self.ways)

    @property
    def places(self) -> list[Place]:
        """All runs, question by question."""
        return [
            (question.key, way.name, sample)
            for question in self.questions.questions
            for way in self.ways
            for sample in range(way.samples)
        ]

    @property
    def models(self) -> tuple[str, ...]:
        """Names of all models and drafts, each once."""
        names = [name for way in self.ways for name in (way.model, way.draft) if name]
        return tuple(dict.fromkeys(names))

    def way(self, name: str) -> Way:
        """Return the way with this name; raise KeyError if there is none."""
        return {way.name: way for way in self.ways}[name]

    def question(self, key: str) -> Question:
        """Return the question with this key; raise KeyError if there is none."""
        return {question.key: question for question in self.questions.questions}[key]


@dataclass(frozen=True, slots=True)
class EvaluationRow:
    """One question decoded in one way; the columns of the data frame.

    Args:
        sample: index of the run, from 0, if one question is decoded several times in the same way.
        reply: judged text: the text after the thinking, without special tokens.
        text: all generated text, with special tokens.
        right, counted, f1: as in `scoring.metrics.Score`.
        reference_logprob: log-probability of the first reference answer after the target's
            prompt, in nats; None if it doesn't fit into the context window.
        reference_tokens: number of tokens in that sum.
        leaks: template text in `text`, as `(first character, end, kind)`.
        prompt_tokens, tokens: number of tokens in the target's prompt, and emitted.
        forwards, draft_forwards: forwards of target and draft, including the prompt's; one of an
            early exit counts as its share of the target's layers.
        drafted, accepted: draft tokens proposed and accepted; 0 without a draft.
        seconds: duration of the run, without loading and scoring.
        mean_logprob: mean over the emitted tokens, in nats; None for methods without it.
        reward: score of `text` by the plan's reward model; None without one.
        failure: reason why the run failed, a sentence; empty on success. The other fields of a
            failed run have no meaning.
    """

    way: str
    question: str
    sample: int
    reply: str
    text: str
    right: bool
    counted: str
    f1: float
    reference_logprob: float | None
    reference_tokens: int
    leaks: tuple[tuple[int, int, str], ...]
    prompt_tokens: int
    tokens: int
    forwards: int
    draft_forwards: int | float
    drafted: int
    accepted: int
    finish_reason: FinishReason
    seconds: float
    mean_logprob: float | None = None
    reward: float | None = None
    failure: str = ""

    @property
    def place(self) -> Place:
        """Question, way and sample of the run."""
        return self.question, self.way, self.sample

    def __post_init__(self) -> None:
        counts = (self.prompt_tokens, self.tokens, self.forwards, self.draft_forwards)
        require_possible(self.seconds, *counts)
        require_possible(self.drafted, self.accepted, self.drafted - self.accepted)
        if self.reference_logprob is not None and self.reference_tokens < 1:
            raise ConfigError(
                N_(
                    "A row must have reference_tokens of 1 or more where it has a "
                    "reference_logprob."
                )
            )


def failed_row(way: str, question: str, sample: int, failure: str) -> EvaluationRow:
    """Return the row of a failed run."""
    return EvaluationRow(
        way, question, sample, "", "", False, "", 0.0, None, 0, (), 0, 0, 0, 0, 0, 0, "cancelled",
        0.0, failure=failure,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(ShortRepr):
    """A plan and its rows so far, complete or not."""

    plan: EvaluationPlan
    rows: tuple[EvaluationRow, ...] = ()

    @property
    def complete(self) -> bool:
        return len(self.rows) == self.plan.total
