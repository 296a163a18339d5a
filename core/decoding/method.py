"""Row of a decoding method in the registry; each method's row is in its own folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .config import MethodConfig
from .record.notes import Note
from .record.steps import MethodRecord, RunTokens, Step, TokenStep, emitted_tokens

Config = TypeVar("Config", bound=MethodConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class Method(Generic[Config]):
    """A method's row of the registry. Functions that need torch are named as "module:function".

    Args:
        config: class of its settings; it holds the method's name.
        engine: `(model, prompt_ids, config)`, followed by `draft` for a method with a draft model;
            yields the steps of a run.
        against_model: description of its checks against the model, for the reader of a proof.
        self_checks: `(trace) -> list[Check]`; the first check says whether the others could run.
        model_checks: `(trace, model)`, followed by `draft` for a method with a draft model.
        step: class of its steps, besides the `PromptStep`.
        record: class of its own data of a run.
        reads_prompt: whether it records the model's predictions in the prompt.
        takes_known: whether it works with a model that names only the likeliest tokens.
        known: number of tokens of a step that a trace knows, from the config and the number of
            tokens that the model names; None for all.
        takes_given: whether the last argument of its engine is the ids of the first generated
            tokens.
        compares: whether each step records the tokens that it compared by its own score.
        rows: number of sequences that a step runs through its models, from the config.
        outcome: `(steps, config, draft)` with the draft model or None; returns the run's tokens and
            own data.
        told: returns the own data that the model tells after a run in its thread; None if the steps
            have all of it.
        notes: returns notes that explain choices made for the user.
        require_draft: raises ConfigError if the draft's id (None without a draft) doesn't suit the
            config; None for a method without a draft model.
        reference: settings of transformers' `GenerationConfig` for the same run, without shaping;
            None if `generate` lacks the method or draw.
    """

    config: type[Config]
    engine: str
    against_model: str
    self_checks: str = f"{__package__}.checks.trace_checks:self_checks"
    model_checks: str = f"{__package__}.checks.model_checks:model_checks"
    step: type[Step] = TokenStep
    record: type[MethodRecord] = MethodRecord
    reads_prompt: bool = True
    takes_known: bool = False
    known: Callable[[Config, int | None], int | None] = lambda _, most: most
    takes_given: bool = False
    compares: bool = False
    rows: Callable[[Config], int] = lambda _: 1
    outcome: Callable[[Sequence[Step], Config, Any], RunTokens] = emitted_tokens
    told: Callable[[Any], MethodRecord] | None = None
    notes: Callable[[Config], tuple[Note, ...]] = lambda _: ()
    require_draft: Callable[[Config, str | None], None] | None = None
    reference: Callable[[Config], dict[str, Any] | None] = lambda _: None

    @property
    def name(self) -> str:
        """Name in a config's `method`, in trace files and in `--method`."""
        return self.config.method

    @property
    def words(self) -> str:
        """Name in a sentence."""
        return self.config.words
