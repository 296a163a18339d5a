"""Rows of an evaluation: question, way of decoding, verdict and cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from ...decoding.decode import collect
from ...decoding.errors import (
    DecodingError,
    EvaluationError,
    LoadingStoppedError,
    LostModelError,
)
from ...decoding.loop.text import join_prompt
from ...decoding.protocol import LanguageModel
from ...decoding.reasoning.config import Reasoning
from ...decoding.reasoning.split import split_reply
from ...decoding.reasoning.transcript import pieces_of, read_run
from ...decoding.record.steps import Step
from ...decoding.record.trace import Trace
from ...decoding.speculative.config import Speculative
from ...models.stopping import ShouldStop, never
from ..questions.asking import as_text
from ..questions.types import Question
from ..runner import Place
from ..scoring.reference import ReferenceScore, score_reference
from .asking import draft_ids_for, has_template, ids_for
from .counted import Counted, OwnPrompt
from .derived import judged
from .types import (
    EvaluationPlan,
    EvaluationRow,
    Way,
    failed_row,
)

Models = Mapping[str, LanguageModel]


class Rewards(Protocol):
    """A model that scores replies, such as a `RewardModel`."""

    @property
    def revision(self) -> str: ...

    def score(self, question: str, replies: Sequence[str], /) -> Sequence[float | None]: ...


def evaluation_rows(
    models: Models,
    plan: EvaluationPlan,
    rewards: Rewards | None,
    on_step: Callable[[Step], object] | None,
    places: Sequence[Place],
    should_stop: ShouldStop = never,
) -> Iterator[EvaluationRow]:
    """Yield the rows of these runs, each when its run has ended.

    A run that its model, draft, template or settings refuse, or that its server breaks off, has a
    row with the reason; the other runs continue.

    Args:
        models: every model and draft of the plan, by name.
        rewards: the plan's reward model; rows have no reward without one.
        on_step: called with each step of each run.
        should_stop: called after every step; a stopped run has no row.

    Raises:
        EvaluationError: a server no longer answers.
    """
    runners = _Runners(models, plan, on_step, should_stop)
    for key, name, sample in places:
        question, way = plan.question(key), plan.way(name)
        if should_stop():
            return
        try:
            row = runners.row(way, question, sample)
        except (LostModelError, EvaluationError) as error:
            raise EvaluationError(error.args[0]) from None
        except DecodingError as error:
            if should_stop() or isinstance(error, LoadingStoppedError):
                return
            yield failed_row(name, key, sample, str(error))
            continue
        if row is None:
            return
        row = judged(row, way, question, plan.metrics)
        if rewards is not None:
            row = replace(row, reward=rewards.score(question.asked, [row.text])[0])
        yield row


class _Runners:
    """Wrapped models of a plan, shared by its runs."""

    def __init__(
        self,
        models: Models,
        plan: EvaluationPlan,
        on_step: Callable[[Step], object] | None,
        should_stop: Callable[[], bool],
    ) -> None:
        self._models, self._on_step, self._should_stop = models, on_step, should_stop
        self._references: dict[tuple[str, tuple[int, ...], str], ReferenceScore | None] = {}
        self._asked = ""
        self._targets = {way.model: Counted(models[way.model]) for way in plan.ways}
        self._prompts = {way.draft: OwnPrompt(models[way.draft]) for way in plan.ways if way.draft}
        self._drafts = {name: Counted(prompt.as_model()) for name, prompt in self._prompts.items()}

    def row(self, way: Way, question: Question, sample: int) -> EvaluationRow | None:
        """Return the row of one run without a verdict; None if it was stopped.

        Raises:
            DecodingError: the run failed or was broken off (LostModelError: by its server).
        """
        target, draft = self._targets[way.model], self._drafts.get(way.draft)
        ids = ids_for(self._models[way.model], question, way.system, way.use_chat_template)
        if draft is not None:
            draft_ids = draft_ids_for(draft.as_model(), question, way, ids)
            self._prompts[way.draft].read(ids, draft_ids)
            draft.reset()
        target.reset()
        trace = collect(
            target.as_model(),
            ids,
            way.config_of(sample),
            draft=draft.as_model() if draft else None,
            on_step=self._on_step,
            should_stop=self._should_stop,
            prompt_text=question.asked,
        )
        if trace.finish_reason == "cancelled":
            if not self._should_stop() and trace.notes:
                raise DecodingError(trace.notes[-1].words)
            return None
        reference = self._reference(way, ids, question)
        rounds = trace.rounds if isinstance(trace.config, Speculative) else ()
        return EvaluationRow(
            way=way.name,
            question=question.key,
            sample=sample,
            reply=reply_of(trace, self._models[way.model]),
            text=written_out(trace, self._models[way.model]),
            right=False,
            counted="",
            f1=0.0,
            reference_logprob=reference.logprob if reference else None,
            reference_tokens=reference.tokens if reference else 0,
            leaks=(),
            prompt_tokens=len(trace.prompt_ids),
            tokens=len(trace.token_ids),
            forwards=target.forwards,
            draft_forwards=draft.forwards if draft else target.early_forwards or 0,
            drafted=sum(len(round_.drafted) for round_ in rounds),
            accepted=sum(len(round_.accepted) for round_ in rounds),
            finish_reason=trace.finish_reason,
            seconds=trace.timings.total,
            mean_logprob=_mean_logprob(trace),
        )

    def _reference(self, way: Way, ids: list[int], question: Question) -> ReferenceScore | None:
        """Return the reference answer's log-likelihood, cached for all runs of a prompt."""
        if question.key != self._asked:
            self._asked = question.key
            self._references.clear()
        answer = question.answers[0]
        place = (way.model, tuple(ids), answer)
        if place not in self._references:
            model = self._models[way.model]
            chat = way.use_chat_template and has_template(model)
            prompt = ids if chat else as_text(question.asked, way.system)
            self._references[place] = score_reference(model, prompt, answer)
        return self._references[place]


def _mean_logprob(trace: Trace) -> float | None:
    """Return the mean log-probability of the tokens; None if steps emit several tokens."""
    steps = trace.token_steps
    if not steps or len(steps) != len(trace.token_ids):
        return None
    return -sum(step.surprisal for step in steps) / len(steps)


def reply_of(trace: Trace, model: LanguageModel) -> str:
    """Return the answer without the thinking; empty if the thinking never ended."""
    if isinstance(trace.config, Reasoning):
        return read_run(pieces_of(trace.token_steps), trace.config).answer.strip()
    return split_reply(model, trace.prompt_ids, trace.token_ids).answer.strip()


def written_out(trace: Trace, model: LanguageModel) -> str:
    """Return the generated text with special tokens, except those that end a run."""
    return join_prompt(model, [token for token in trace.token_ids if token not in model.eos_ids])
