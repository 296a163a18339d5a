"""Row of a decoding method in the registry; each method's row is in its own folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from core.decoding.config import MethodConfig
from core.decoding.record.notes import Note
from core.decoding.record.steps import MethodRecord, RunTokens, Step, TokenStep, emitted_tokens

Config = TypeVar("Config", bound=MethodConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class Method(Generic[Config]):
    """A row of the registry. Functions that need torch are named as "module:function".

    Args:
        config: the class of its settings, which has the method's name and its words.
        engine: `(model, prompt_ids, config)`, with `draft` behind them where a draft takes part;
            yields the steps of a run.
        against_model: what the checks against the model do, for the reader of a proof.
        self_checks: `(trace) -> list[Check]`; the first says whether the others could be made.
        model_checks: `(trace, model)`, with `draft` behind them where a draft takes part.
        step: the class of its steps, the `PromptStep` aside.
        record: the class of its own data of a run.
        reads_prompt: whether it records what the model predicted in the prompt.
        takes_known: whether it can do with a model that names only the likeliest tokens.
        known: how many tokens of a step a trace knows, by the config and how many the model names;
            None for all.
        takes_given: whether its engine takes, last, the ids of the first generated tokens.
        compares: whether each of its steps holds the tokens that it compared by a score of its own.
        rows: how many sequences a step runs through its models, by the config.
        outcome: `(steps, config, draft)`, the draft model or None; the run's tokens and own data.
        notes: they explain choices made for the user.
        require_draft: raises ConfigError unless the draft's id (None without one) suits the
            config; None for a method without a draft model.
        reference: the settings of transformers' `GenerationConfig` for the same run, shaping left
            out; None where its `generate` has no such method or draw.
    """

    config: type[Config]
    engine: str
    against_model: str
    self_checks: str = "core.decoding.checks.trace_checks:self_checks"
    model_checks: str = "core.decoding.checks.model_checks:model_checks"
    step: type[Step] = TokenStep
    record: type[MethodRecord] = MethodRecord
    reads_prompt: bool = True
    takes_known: bool = False
    known: Callable[[Config, int | None], int | None] = lambda _, most: most
    takes_given: bool = False
    compares: bool = False
    rows: Callable[[Config], int] = lambda _: 1
    outcome: Callable[[Sequence[Step], Config, Any], RunTokens] = emitted_tokens
    notes: Callable[[Config], tuple[Note, ...]] = lambda _: ()
    require_draft: Callable[[Config, str | None], None] | None = None
    reference: Callable[[Config], dict[str, Any] | None] = lambda _: None

    @property
    def name(self) -> str:
        """Name as in a config's `method`, a trace file and `--method`."""
        return self.config.method

    @property
    def words(self) -> str:
        """Its name in a sentence."""
        return self.config.words
